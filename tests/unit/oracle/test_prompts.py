"""The oracle's prompts as a judge sees them: kept in full, so that every change of a word is a decision.

After a wanted change: `UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/oracle/test_prompts.py`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.briefs import brief, dimensions
from tests.support.injections import CANARY, injections
from tests.support.shown import assert_as_kept, fields_of_reply, mark_of, outside, poisoned
from touchstone.judges import prompts
from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import Fenced
from touchstone.judges.prompts import prompt_of
from touchstone.oracle.dimensions import DimensionsReply
from touchstone.oracle.gate import GateReply
from touchstone.oracle.horizontal import HorizontalReply
from touchstone.oracle.material import DigestReply
from touchstone.oracle.model import FIXED
from touchstone.oracle.replies import IndividualReply
from touchstone.text.language import Language

SNAPSHOTS = Path(__file__).parent / "snapshots"
DIMENSIONS = [one.model_dump(include={"id", "name", "description"}) for one in dimensions()]
TASK = {"description": brief().description, "criteria": list(brief().acceptance_criteria)}
FAULTS = ["The first thing is missing.", "The second thing\nis there 2 times."]
DIGESTS = ['criterion_1: It names its source. "by the consortium"', 'criterion_2: It advises. "thin earlier"']
SECTION = {"section": "Apples grew well in every valley.", "number": 2, "sections": 3, "most": 15, "most_a_topic": 3}
OURS = Fenced("What it asks.")
"""Words of the project's own, which stand outside the fences."""
ENTRIES = [
    {"label": "A", "band": "B", "evidence": "the best in ten years", "submission": "It was so.", "digests": []},
    {"label": "B", "band": "C", "evidence": "", "submission": "", "digests": DIGESTS},
]
VALUES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "dimensions": {
        case: {
            **TASK,
            "fixed": [{"id": Fenced(key), "description": OURS} for key in FIXED],
            "least": 1,
            "most": 3,
            "least_percent": 10,
            "name_chars": 60,
            "faults": faults,
        }
        for case, faults in (("whole", []), ("again", FAULTS))
    },
    "gate": {
        case: {
            **TASK,
            "submission": "" if digests else "The harvest of 2025 was the best in ten years.",
            "digests": digests,
            "words": 10,
            "characters": 37,
            "paragraphs": 1,
            "faults": faults,
        }
        for case, digests, faults in (
            ("whole", [], []),
            ("again", [], FAULTS),
            ("long", DIGESTS, []),
            ("long_again", DIGESTS, FAULTS),
        )
    },
    "digest": {
        case: {**TASK, **SECTION, "dimensions": DIMENSIONS, "faults": faults}
        for case, faults in (("whole", []), ("again", FAULTS))
    },
    "individual": {
        case: {
            **TASK,
            "dimensions": DIMENSIONS,
            "submission": "" if digests else "The harvest of 2025 was the best in ten years.",
            "digests": digests,
            "suggestions": 2,
            "faults": faults,
        }
        for case, digests, faults in (
            ("whole", [], []),
            ("again", [], FAULTS),
            ("long", DIGESTS, []),
            ("long_again", DIGESTS, FAULTS),
        )
    },
    "horizontal": {
        case: {"description": TASK["description"], "dimension": DIMENSIONS[0], "entries": ENTRIES, "faults": faults}
        for case, faults in (("whole", []), ("again", FAULTS))
    },
}
REPLIES: Mapping[str, type[JudgeReply]] = {
    "dimensions": DimensionsReply,
    "gate": GateReply,
    "digest": DigestReply,
    "individual": IndividualReply,
    "horizontal": HorizontalReply,
}
LANGUAGES: tuple[Language, ...] = ("en", "zh")
CASES = [(name, case, language) for name in VALUES for case in VALUES[name] for language in LANGUAGES]


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_prompt_is_what_it_was(name: str, case: str, language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "new_mark", lambda: "0123456789abcdef")
    assert_as_kept(
        prompt_of("touchstone.oracle", name, language, **VALUES[name][case]),
        SNAPSHOTS / f"{name}.{case}.{language}.txt",
    )


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_prompt_explains_every_field_of_its_reply(name: str, case: str, language: Language) -> None:
    system = prompt_of("touchstone.oracle", name, language, **VALUES[name][case]).system
    fields = set(fields_of_reply(REPLIES[name].model_json_schema()))
    assert len(fields) > len(REPLIES[name].model_fields)
    assert [field for field in fields if f"`{field}`" not in system] == []


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_no_two_prompts_carry_the_same_mark_and_both_are_one_question(name: str, case: str, language: Language) -> None:
    first, second = (prompt_of("touchstone.oracle", name, language, **VALUES[name][case]) for _ in range(2))
    assert first.user != second.user
    assert (first.version, first.digest) == (second.version, second.digest)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_asked_again_is_another_question_with_the_faults_in_a_fence(name: str, language: Language) -> None:
    first, again = (prompt_of("touchstone.oracle", name, language, **VALUES[name][case]) for case in ("whole", "again"))
    assert first.system == again.system.replace(mark_of(again.system), mark_of(first.system))
    assert first.digest != again.digest
    for line in "\n".join(FAULTS).splitlines():
        assert line in again.user
        assert line not in outside(again.user)


OF_A_CLOSED_FORM = ("id", "label", "band")


@pytest.mark.parametrize(("name", "case", "language"), [one for one in CASES if one[1].endswith("again")])
def test_a3_no_text_leaves_its_fence_in_any_prompt(name: str, case: str, language: Language) -> None:
    broke_out = []
    for text in injections():
        rendered = prompt_of(
            "touchstone.oracle", name, language, **poisoned(dict(VALUES[name][case]), text, own=OF_A_CLOSED_FORM)
        )
        if CANARY in outside(rendered.user) or CANARY in rendered.system:
            broke_out.append(text)
    assert broke_out == []


def test_every_prompt_of_the_job_is_looked_at_here_in_both_languages() -> None:
    folder = Path(prompts.__file__).parents[1] / "oracle" / "prompts"
    assert {file.name for file in folder.iterdir()} == {
        f"{name}.{language}.md" for name in VALUES for language in LANGUAGES
    }
