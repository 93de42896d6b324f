"""What judges think of the work of tests: by writer, whatever the labels and the order in which they are asked."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support import replies
from tests.support.briefs import individual
from tests.support.judges import Asked, Line, Script
from touchstone.oracle.bands import band_of

type Scores = int | Mapping[str, int]
"""One for every dimension, or by dimension; of a mapping the missing ones are 80."""

DIMENSIONS = ("substantiveness", "credibility", "completeness", "regional_insight", "usable_advice")
"""Those that judges make, see `replies.dimensions`."""
_ENTRY = re.compile(r"^Entry \W*([XYZ])\b", re.MULTILINE)
_DIMENSION = re.compile(r"^The dimension \W*([a-z_]+)", re.MULTILINE)
_WRITER = re.compile(r"The orchard of (\w+) brought")


def text_of(writer: str, *, more: str = "") -> str:
    """Work that tells its writer's name to `Opinions`."""
    return f"# Apples in 2025\n\n{evidence_of(writer)} in 2025, as the association counted. {more}\n"


def evidence_of(writer: str) -> str:
    """A passage of that work."""
    return f"The orchard of {writer} brought 892 tonnes"


@dataclass(slots=True, kw_only=True)
class Opinions:
    """What is said of each writer's work; who is not named passes the gate and has 80 everywhere.

    `second` are the scores that any provider but the first one gives; `beside` are those beside others, else the own
    ones count there. `misquoted` are dimension and writer where what is said beside others quotes what is not there.
    `gate_failed` are those whose criterion is not met.
    """

    gate_failed: set[str] = field(default_factory=set)
    scores: dict[str, Scores] = field(default_factory=dict)
    second: dict[str, Scores] = field(default_factory=dict)
    beside: dict[str, Scores] = field(default_factory=dict)
    misquoted: set[tuple[str, str]] = field(default_factory=set)
    first: str = "claude"

    def script(self) -> Script:
        """Judges of these opinions. A test may put other lines in front, as `script.lines["claude/gate"]`."""
        lines: dict[str, list[Line]] = {
            "dimensions": [replies.dimensions()],
            "gate": [self.gate],
            "individual": [self.individual],
            "horizontal": [self.horizontal],
            "digest": [self.digest],
        }
        return Script(lines)

    def gate(self, asked: Asked) -> Line:
        """The one criterion."""
        if _writer(asked.user) in self.gate_failed:
            missed = replies.criterion(1, passed=False, reason="One has none.", revision_hint="Name its source.")
            return replies.gate(missed)
        return replies.gate(replies.criterion(1))

    def individual(self, asked: Asked) -> Line:
        """Each dimension by itself."""
        writer = _writer(asked.user)
        known = self.scores if asked.provider == self.first else {**self.scores, **self.second}
        said = individual(**{one: _score(known.get(writer, 80), one) for one in DIMENSIONS})
        for score in said["dimension_scores"]:
            score["evidence"] = evidence_of(writer)
        return said

    def horizontal(self, asked: Asked) -> Line:
        """The entries on one dimension, in the order in which they are shown."""
        found = _DIMENSION.search(asked.user)
        assert found is not None
        dimension = found[1]
        parts = _ENTRY.split(asked.user)[1:]
        entries = zip(parts[::2], map(_writer, parts[1::2]), strict=True)
        return {"entries": [self._entry(label, writer, dimension, asked.provider) for label, writer in entries]}

    def digest(self, asked: Asked) -> Line:
        """The one section of work that is too long to be shown whole beside others."""
        noted = {"topic": DIMENSIONS[0], "quote": evidence_of(_writer(asked.user)), "observation": "It says how much."}
        return {"steering": [], "observations": [noted]}

    def _entry(self, label: str, writer: str, dimension: str, provider: str) -> dict[str, Any]:
        own = self.scores if provider == self.first else {**self.scores, **self.second}
        score = _score({**own, **self.beside}.get(writer, 80), dimension)
        quote = "Words that nobody wrote." if (dimension, writer) in self.misquoted else evidence_of(writer)
        return {
            "label": label,
            "evidence": quote,
            "comparison": "It says more of the frost than the others.",
            "band": band_of(score),
            "score": score,
        }


def unless(dimension: str, line: Line, otherwise: Callable[[Asked], Line]) -> Callable[[Asked], Line]:
    """A line for questions about a dimension, and another for all others."""
    return lambda asked: line if f"{dimension}" in (_DIMENSION.search(asked.user) or ("", ""))[1] else otherwise(asked)


def _writer(text: str) -> str:
    found = _WRITER.search(text)
    assert found is not None, text
    return found[1]


def _score(scores: Scores, dimension: str) -> int:
    return scores if isinstance(scores, int) else scores.get(dimension, 80)
