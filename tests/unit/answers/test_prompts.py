"""The prompts as a judge sees them: kept in full, so that every change of a word is a decision.

After a wanted change: `UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/answers/test_prompts.py`.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.shown import assert_as_kept
from touchstone.answers import analysis, enrichment, evaluation
from touchstone.answers.reading import ImageReply
from touchstone.answers.solving import SolveReply
from touchstone.answers.verification import VerifyReply
from touchstone.judges import prompts
from touchstone.judges.calls import JudgeReply
from touchstone.judges.prompts import prompt_of
from touchstone.text.language import Language

SNAPSHOTS = Path(__file__).parent / "snapshots"
EXAMPLE = {"problem": "Solve 3x + 1 = 10.", "steps": "1. 3x = 9\n2. x = 3", "answer": "x = 3"}
ASKED = {"problem": "Solve 2x + 7 = 15.", "steps": "1. 2x = 8\n2. x = 4", "answer": "x = 4"}
VALUES: dict[str, dict[str, dict[str, Any]]] = {
    "verify": {
        "bare": {**ASKED, "steps": "", "finding": None, "expected": [], "tolerance": None},
        "whole": {**ASKED, "finding": "2x = 8\nan example of what a check found", "expected": [], "tolerance": None},
        "keyed": {**ASKED, "finding": None, "expected": ["four"], "tolerance": None},
        "near": {**ASKED, "steps": "", "finding": None, "expected": ["four", "4.0"], "tolerance": {"relative": 0.01}},
        "nearby": {**ASKED, "steps": "", "finding": None, "expected": ["four"], "tolerance": {"absolute": 0.5}},
        "digits": {**ASKED, "steps": "", "finding": None, "expected": ["four"], "tolerance": {"significant_digits": 3}},
    },
    "read_image": {"whole": {}},
    "analyze": {"whole": {"problem": ASKED["problem"], "most_points": analysis.MAX_KNOWLEDGE_POINTS}},
    "solve": {
        "bare": {"problem": ASKED["problem"], "knowledge_points": "", "examples": []},
        "whole": {"problem": ASKED["problem"], "knowledge_points": "linear equations", "examples": [EXAMPLE]},
    },
    "enrich": {
        status: {
            **ASKED,
            "status": status,
            "most_points": enrichment.MAX_KNOWLEDGE_POINTS,
            "most_hints": enrichment.MAX_HINTS,
        }
        for status in ("verified", "caution")
    },
    "evaluate": {
        "whole": {**ASKED, "most_suggestions": evaluation.MAX_SUGGESTIONS},
        "bare": {**ASKED, "steps": "", "most_suggestions": evaluation.MAX_SUGGESTIONS},
    },
}
CASES = [(name, case, language) for name in VALUES for case in VALUES[name] for language in ("en", "zh")]
REPLIES: dict[str, type[JudgeReply]] = {
    "verify": VerifyReply,
    "read_image": ImageReply,
    "analyze": analysis.AnalyzeReply,
    "solve": SolveReply,
    "enrich": enrichment.EnrichReply,
    "evaluate": evaluation.EvaluateReply,
}


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_prompt_is_what_it_was(name: str, case: str, language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "new_mark", lambda: "0123456789abcdef")
    assert_as_kept(
        prompt_of("touchstone.answers", name, language, **VALUES[name][case]),
        SNAPSHOTS / f"{name}.{case}.{language}.txt",
    )


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_prompt_explains_every_field_of_its_reply(name: str, case: str, language: Language) -> None:
    system = prompt_of("touchstone.answers", name, language, **VALUES[name][case]).system
    assert [field for field in REPLIES[name].model_fields if f"`{field}`" not in system] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_subjects_that_a_judge_may_name_are_those_of_its_schema(language: Language) -> None:
    system = prompt_of("touchstone.answers", "analyze", language, problem="1 + 1", most_points=8).system
    assert [subject for subject in analysis.Subject.__value__.__args__ if f"`{subject}`" not in system] == []


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_no_two_prompts_carry_the_same_mark(name: str, case: str, language: Language) -> None:
    first, second = (prompt_of("touchstone.answers", name, language, **VALUES[name][case]) for _ in range(2))
    if name != "read_image":  # which shows a picture and no text
        assert first.user != second.user
    assert (first.version, first.digest) == (second.version, second.digest)
