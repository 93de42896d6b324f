"""Every label of a metric says who gave it, though several models answered its questions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from tests.support import clarity, coverage, faithfulness
from tests.support.judges import Line, Script
from tests.support.measuring import measuring
from tests.support.quizzes import question
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError
from touchstone.judges import Judge, JudgeQuestion, Reply
from touchstone.judges.spends import BY_CHECKS, JudgedBy
from touchstone.material import Quiz, Source
from touchstone.statistics.tallies import CHECKS
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.quiz_answer_correctness import quiz_answer_correctness
from touchstone.surfaces.metrics.quiz_clarity import quiz_clarity
from touchstone.surfaces.metrics.quiz_coverage import quiz_coverage
from touchstone.surfaces.metrics.summary_faithfulness import summary_faithfulness
from touchstone.surfaces.model import ItemLabel, UnscoredItem

SECTION = "Water moves through the membrane by osmosis. Salt does not. {}"
LONG = Source(markdown=SECTION.format("Nothing else is said here. " * 1_500 + "\n\n# Later\n\nThe later one. ") * 2)


@dataclass(frozen=True, slots=True)
class Either:
    """Two judges as one: the second is asked what `second_if` says of a prompt."""

    judges: tuple[Judge, Judge]
    second_if: Callable[[str], bool]

    @property
    def provider(self) -> str:
        return self.judges[0].provider

    @property
    def model(self) -> str:
        return self.judges[0].model

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        return await self.judges[self.second_if(question.prompt.user)].ask(question, deadline=deadline)


def of_two(lines: dict[str, list[Line]], second_if: Callable[[str], bool]) -> tuple[Measuring, Script]:
    script = Script(lines)
    made = script.judges()
    judge = Either((made.get("openai", "strong"), made.get("gemini", "strong")), second_if)
    return Measuring(judge=judge, deadline=Deadline.after(5.0), language="en"), script


def models(*items: ItemLabel | UnscoredItem) -> list[str | None]:
    """How the names of their judges' models begin; None where there is no judge."""
    return [one.judge.model.split("-")[0] if one.judge else None for one in items]


async def test_each_call_gives_its_items_their_judge() -> None:
    shared, _ = of_two({"quiz_clarity": [clarity.said(*["CLEAR"] * 10)]}, lambda prompt: "Is 11 even?" in prompt)
    found = await quiz_clarity(clarity.quiz(20), shared)
    assert models(*found.items) == ["gpt"] * 10 + ["gemini"] * 10
    assert {one.judge.prompt_version for one in found.items if one.judge} == {found.spends[0].prompt_version}


async def test_what_broke_the_rules_has_its_judge_and_what_nobody_answered_has_none() -> None:
    bad: dict[str, Any] = clarity.said(*["CLEAR"] * 9, "AMBIGUOUS")
    bad["questions"][9]["suggestion"] = None
    shared, _ = of_two(
        {"openai/quiz_clarity": [bad], "gemini/quiz_clarity": [OverloadedError("503")]},
        lambda prompt: "Is 11 even?" in prompt,
    )
    found = await quiz_clarity(clarity.quiz(12), shared)
    assert models(*found.items) == ["gpt"] * 9
    assert models(*found.unscored) == ["gpt", None, None]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("SUPPORTED", "UNSUPPORTED", "gpt"),
        ("UNSUPPORTED", "SUPPORTED", "gemini"),
        ("UNSUPPORTED", "UNSUPPORTED", None),
        ("CONTRADICTED", "UNSUPPORTED", None),
    ],
)
async def test_what_one_section_settles_is_its_judges_and_what_all_settle_is_all_judges(
    first: str, second: str, expected: str | None
) -> None:
    def said(label: str) -> dict[str, Any]:
        quote = "Salt does not." if label != "UNSUPPORTED" else None
        return faithfulness.said(faithfulness.verdict(1, label, quote))

    shared, script = of_two(
        {
            "claims": [faithfulness.taken_apart(["Salt moves."], ["~It is so."], ["~So it is."])],
            "openai/summary_faithfulness": [said(first)],
            "gemini/summary_faithfulness": [said(second)],
        },
        lambda prompt: "The later one." in prompt,
    )
    found = await summary_faithfulness(faithfulness.SUMMARY, LONG, shared)
    asked = set(script.prompts())
    assert asked == {"openai/claims", "openai/summary_faithfulness", "gemini/summary_faithfulness"}
    assert models(*found.items) == [expected, "gpt", "gpt"]


@pytest.mark.parametrize(("depth", "expected"), [(3, "gpt"), (2, None)])
async def test_a_depth_that_another_group_could_have_exceeded_is_of_all_judges(depth: int, expected: str) -> None:
    many = coverage.quiz(40, "What moves in case {}? " + "Think of water. " * 100)
    shared, _ = of_two(
        {
            "openai/quiz_coverage": [coverage.said(depth, 0, 0)],
            "gemini/quiz_coverage": [coverage.said(0, 0, 0)],
        },
        lambda prompt: "case 1?" not in prompt,
    )
    found = await quiz_coverage(many, coverage.PILLARS, shared)
    assert models(*found.items) == [expected, None, None]


async def test_what_a_check_decides_is_the_checks() -> None:
    shared, script = measuring({})
    quiz = Quiz.model_validate({"questions": [question(1) | {"answers": []}]})
    (item,) = (await quiz_answer_correctness(quiz, None, shared)).items
    assert (item.judge, script.asked) == (BY_CHECKS, [])
    assert JudgedBy(model=CHECKS, prompt_version=None) == BY_CHECKS
