"""quiz_clarity: is each question clear, and does it stand by itself?

Score: the share of CLEAR questions among those that were judged, as a percentage (0-100); None where none was. A
question is AMBIGUOUS where a reader who knows the matter could rightly read it in two ways, and CONTEXT_DEPENDENT where
it cannot be answered without something that it does not show (a figure, "the text above", another question). Both are
flaws that item-writing guides name first (Haladyna, Downing & Rodriguez 2002, "A review of multiple-choice item-writing
guidelines", guidelines 6-10).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.judges.checked import Checked
from touchstone.judges.fence import visible
from touchstone.material import Question, Quiz
from touchstone.surfaces.measuring import Labelled, Measuring, label_all, not_labelled
from touchstone.surfaces.model import ItemLabel, MetricResult, result

A_CALL = 10
"""Questions judged with one call."""
BASE_OUTPUT_TOKENS, TOKENS_A_QUESTION = 512, 160

type ClarityLabel = Literal["CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"]
VALUES: Mapping[ClarityLabel, float] = MappingProxyType(
    {"CLEAR": 1.0, "AMBIGUOUS": 0.0, "CONTEXT_DEPENDENT": 0.0, "ERROR": 0.0}
)
"""ERROR: it asks nothing that could be answered, as it is cut off or garbled."""


class QuestionClarity(JudgeReply):
    """What a judge says of one question, by its number in the call."""

    number: int
    reason: str
    label: ClarityLabel
    suggestion: str | None


class ClarityReply(JudgeReply):
    """What a judge says of all questions of a call, in whatever order."""

    questions: list[QuestionClarity]


async def quiz_clarity(quiz: Quiz, measuring: Measuring) -> MetricResult:
    """Measure a quiz. Questions whose call failed are unscored, and the others count."""

    async def label(group: Sequence[Question]) -> Labelled:
        found = await measuring.ask(
            "quiz_clarity",
            ClarityReply,
            lambda reply: list(_faults(reply, len(group))),
            max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_A_QUESTION * len(group),
            questions=[{"text": one.question_text, "choices": list(one.choices)} for one in group],
        )
        if not isinstance(found, Checked):
            return not_labelled([one.id for one in group], found)
        said = {one.number: one for one in found.value.questions}
        items = tuple(_label(question, said[place]) for place, question in enumerate(group, start=1))
        return Labelled(items=items, spends=found.spends)

    labelled = await label_all(quiz.questions, label, a_call=A_CALL)
    return result("quiz_clarity", labelled.items, unscored=labelled.unscored, spends=labelled.spends)


def _label(question: Question, said: QuestionClarity) -> ItemLabel:
    return ItemLabel(
        item=question.id,
        label=said.label,
        value=VALUES[said.label],
        reason=said.reason.strip(),
        suggestion=said.suggestion,
    )


def _faults(reply: ClarityReply, questions: int) -> Iterator[str]:
    """What breaks the rules in a judge's reply, each fault in one sentence; nothing where all is well."""
    times = Counter(one.number for one in reply.questions)
    for number in range(1, questions + 1):
        if times[number] != 1:
            yield f"Question {number} is there {times[number]} times; judge every question exactly once."
    if any(not 1 <= number <= questions for number in times):
        yield f"A number belongs to no question; they are numbered 1 to {questions}."
    for one in reply.questions:
        if not visible(one.reason).strip():
            yield f"The reason of question {one.number} is blank."
        if one.label != "CLEAR" and not visible(one.suggestion or "").strip():
            yield f"The suggestion of question {one.number} is missing; say how to make it clear."
