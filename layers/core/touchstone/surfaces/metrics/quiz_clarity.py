"""quiz_clarity: is each question clear, and does it stand by itself?

Score: the share of CLEAR questions among those that were judged, as a percentage (0-100); None where none was. A
question is AMBIGUOUS where a reader who knows the matter could rightly read it in two ways, and CONTEXT_DEPENDENT where
it cannot be answered without something that it does not show (a figure, "the text above", another question). Both are
flaws that item-writing guides name first (Haladyna, Downing & Rodriguez 2002, "A review of multiple-choice item-writing
guidelines", guidelines 6-10).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.material import Question, Quiz
from touchstone.surfaces.measuring import Labelled, Measuring, grouped
from touchstone.surfaces.model import ItemLabel, MetricResult, result
from touchstone.surfaces.numbered import Numbered, Numbers, ask_each, is_blank, labelled

A_CALL = 10
"""Questions judged with one call."""
CALL_CHARS = 45_000
"""Most characters of questions and choices in one call: fewer questions share one where they are long."""
BASE_OUTPUT_TOKENS, TOKENS_A_QUESTION = 512, 160

type ClarityLabel = Literal["CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"]
VALUES: Mapping[ClarityLabel, float] = MappingProxyType(
    {"CLEAR": 1.0, "AMBIGUOUS": 0.0, "CONTEXT_DEPENDENT": 0.0, "ERROR": 0.0}
)
"""ERROR: it asks nothing that could be answered, as it is cut off or garbled."""


class QuestionClarity(Numbered):
    """What a judge says of one question, by its number in the call."""

    reason: str
    label: ClarityLabel
    suggestion: str | None


class ClarityReply(JudgeReply):
    """What a judge says of all questions of a call, in whatever order."""

    questions: list[QuestionClarity]


async def quiz_clarity(quiz: Quiz, measuring: Measuring) -> MetricResult:
    """Measure a quiz. Questions whose call failed are unscored, and the others count."""
    groups = grouped(quiz.questions, _chars, most=CALL_CHARS, count=A_CALL)
    found = await asyncio.gather(*(_judged(group, measuring) for group in groups))
    return result(
        "quiz_clarity",
        tuple(item for one in found for item in one.items),
        unscored=tuple(item for one in found for item in one.unscored),
        spends=tuple(spend for one in found for spend in one.spends),
    )


def _chars(question: Question) -> int:
    return len(question.question_text) + sum(map(len, question.choices))


async def _judged(group: Sequence[Question], measuring: Measuring) -> Labelled:
    heard = await ask_each(
        measuring,
        "quiz_clarity",
        ClarityReply,
        things=Numbers(ids=tuple(one.id for one in group), noun="Question"),
        entries=lambda reply: reply.questions,
        faults_of=_faults,
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_A_QUESTION * len(group),
        values={"questions": [{"text": one.question_text, "choices": list(one.choices)} for one in group]},
    )
    return labelled(heard, _label)


def _label(item: str, said: QuestionClarity) -> ItemLabel:
    return ItemLabel(
        item=item,
        label=said.label,
        value=VALUES[said.label],
        reason=said.reason.strip(),
        suggestion=None if said.label == "CLEAR" else said.suggestion,
    )


def _faults(one: QuestionClarity) -> Iterator[str]:
    """What breaks the rules in what was said of one question, each fault in one sentence."""
    if is_blank(one.reason):
        yield f"The reason of question {one.number} is blank."
    if one.label != "CLEAR" and is_blank(one.suggestion):
        yield f"The suggestion of question {one.number} is missing; say how to make it clear."
