"""quiz_clarity: is each question clear, and can it be understood by itself?

Score: the share of CLEAR questions among the questions that were judged, as a percentage (0-100); None if none was
judged. AMBIGUOUS: a reader who knows the matter could rightly read the question in two ways. CONTEXT_DEPENDENT: it
cannot be answered without something that it does not show (a figure, "the text above", another question). Item-writing
guides name both flaws first (Haladyna, Downing & Rodriguez 2002, "A review of multiple-choice item-writing guidelines",
guidelines 6-10).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from touchstone.judges.calls import JudgeReply, grouped
from touchstone.material import Question, Quiz
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import MetricResult
from touchstone.surfaces.numbered import ClassVerdict, Numbers, ask_each, labelled, verdict_faults, verdict_label
from touchstone.together import gather_all

A_CALL = 10
"""Most questions in one call."""
CALL_CHARS = 45_000
"""Most characters of questions and choices in one call. If questions are long, fewer share a call."""
TOKENS_A_QUESTION = 160

type ClarityLabel = Literal["CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"]
VALUES: Mapping[str, float] = {"CLEAR": 1.0, "AMBIGUOUS": 0.0, "CONTEXT_DEPENDENT": 0.0, "ERROR": 0.0}
"""ERROR: the question asks nothing that could be answered, since it is cut off or garbled."""
INSTEAD = "say how to make it clear"
"""What a suggestion is asked to say."""


class QuestionClarity(ClassVerdict):
    """What a judge says of one question, by its number in the call."""

    label: ClarityLabel


class ClarityReply(JudgeReply):
    """What a judge says of all questions of a call, in whatever order."""

    questions: list[QuestionClarity]


async def quiz_clarity(quiz: Quiz, measuring: Measuring) -> MetricResult:
    """Measure a quiz. Questions whose call failed are unscored; the other questions count."""
    groups = grouped(quiz.questions, _chars, most=CALL_CHARS, count=A_CALL)
    return Labelled.of(await gather_all(_judged(group, measuring) for group in groups)).result("quiz_clarity")


def _chars(question: Question) -> int:
    return len(question.question_text) + sum(map(len, question.choices))


async def _judged(group: Sequence[Question], measuring: Measuring) -> Labelled:
    reply = await ask_each(
        measuring,
        "quiz_clarity",
        ClarityReply,
        things=Numbers(ids=tuple(one.id for one in group), noun="Question"),
        entries=lambda reply: reply.questions,
        faults_of=lambda verdict: verdict_faults(verdict, "question", VALUES, instead=INSTEAD),
        tokens_each=TOKENS_A_QUESTION,
        values={"questions": [{"text": one.question_text, "choices": list(one.choices)} for one in group]},
    )
    return labelled(reply, lambda item, verdict: verdict_label(item, verdict, VALUES))
