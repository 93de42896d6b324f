"""What several tests of the surfaces share: a judge that follows a script, and replies as it may give them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.judges import Asked, Line, Script
from touchstone.clock import Deadline
from touchstone.surfaces.measuring import Measuring

_FENCED = re.compile(r"⟦data \w+⟧\n(.*?)\n⟦end \w+⟧", re.DOTALL)


def measuring(lines: Mapping[str, Sequence[Line]], **changes: Any) -> tuple[Measuring, Script]:
    """What metrics share, with a judge that answers from these lines."""
    script = Script(lines)
    judge = script.judges().get("openai", "strong")
    settings: dict[str, Any] = {"judge": judge, "deadline": Deadline.after(5.0), "language": "en", **changes}
    return Measuring(**settings), script


def fenced(asked: Asked) -> list[str]:
    """The texts between fences in what a judge was asked, in order."""
    return _FENCED.findall(asked.user)


DISTRACTORS = {
    "distractors": [
        {"number": number, "reason": "So.", "label": "PLAUSIBLE", "confidence": 0.9, "suggestion": None}
        for number in (1, 2)
    ]
}
