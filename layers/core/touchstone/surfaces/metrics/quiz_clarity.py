"""quiz_clarity: is each question clear, and can it be understood by itself?

Score: the share of CLEAR questions among the questions that were judged, as a percentage (0-100); None if none was
judged. AMBIGUOUS: a reader who knows the matter could rightly read the question in two ways. CONTEXT_DEPENDENT: it
cannot be answered without something that it does not show (a figure, "the text above", another question). Item-writing
guides name both flaws first (Haladyna, Downing & Rodriguez 2002, "A review of multiple-choice item-writing guidelines",
guidelines 6-10).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.judges.sureness import Confidence
from touchstone.material import Question, Quiz
from touchstone.surfaces.measuring import Labelled, Measuring, grouped
from touchstone.surfaces.model import ItemLabel, MetricResult, result
from touchstone.surfaces.numbered import Numbered, Numbers, ask_each, is_blank, labelled
from touchstone.together import gather_all

A_CALL = 10
"""Most questions in one call."""
CALL_CHARS = 45_000
"""Most characters of questions and choices in one call. If questions are long, fewer share a call."""
BASE_OUTPUT_TOKENS, TOKENS_A_QUESTION = 512, 160

type ClarityLabel = Literal["CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"]
VALUES: Mapping[ClarityLabel, float] = MappingProxyType(
    {"CLEAR": 1.0, "AMBIGUOUS": 0.0, "CONTEXT_DEPENDENT": 0.0, "ERROR": 0.0}
)
"""ERROR: the question asks nothing that could be answered, since it is cut off or garbled."""


class QuestionClarity(Numbered):
    """What a judge says of one question, by its number in the call."""

    reason: str
    label: ClarityLabel
    confidence: Confidence
    suggestion: str | None


class ClarityReply(JudgeReply):
    """What a judge says of all questions of a call, in whatever order."""

    questions: list[QuestionClarity]


async def quiz_clarity(quiz: Quiz, measuring: Measuring) -> MetricResult:
    """Measure a quiz. Questions whose call failed are unscored; the other questions count."""
    groups = grouped(quiz.questions, _chars, most=CALL_CHARS, count=A_CALL)
    found = await gather_all(_judged(group, measuring) for group in groups)
    return result(
        "quiz_clarity",
        tuple(item for one in found for item in one.items),
        unscored=tuple(item for one in found for item in one.unscored),
        spends=tuple(spend for one in found for spend in one.spends),
    )


def _chars(question: Question) -> int:
    return len(question.question_text) + sum(map(len, question.choices))


async def _judged(group: Sequence[Question], measuring: Measuring) -> Labelled:
    reply = await ask_each(
        measuring,
        "quiz_clarity",
        ClarityReply,
        things=Numbers(ids=tuple(one.id for one in group), noun="Question"),
        entries=lambda reply: reply.questions,
        faults_of=_faults,
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_A_QUESTION * len(group),
        values={"questions": [{"text": one.question_text, "choices": list(one.choices)} for one in group]},
    )
    return labelled(reply, _label)


def _label(item: str, entry: QuestionClarity) -> ItemLabel:
    return ItemLabel(
        item=item,
        label=entry.label,
        value=VALUES[entry.label],
        reason=entry.reason.strip(),
        confidence=entry.confidence,
        suggestion=None if entry.label == "CLEAR" else entry.suggestion,
    )


def _faults(one: QuestionClarity) -> Iterator[str]:
    """What breaks the rules in one question's entry, each fault in one sentence."""
    if is_blank(one.reason):
        yield f"The reason of question {one.number} is blank."
    if one.label != "CLEAR" and is_blank(one.suggestion):
        yield f"The suggestion of question {one.number} is missing; say how to make it clear."
