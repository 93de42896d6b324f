"""quiz_distractor_quality: would a distractor fool somebody who did not study?

Score: the share of PLAUSIBLE distractors among the distractors that were judged, as a percentage (0-100); None if none
was judged. All distractors have the same weight, so a question with more of them counts for more. An item is named by
its question's id and its number among the choices, `q7#3`. PLAUSIBLE: learners who do not know the matter would
consider the distractor. WEAK: most learners rule it out without knowing the matter. ABSURD: nobody would choose it. A
WEAK or ABSURD distractor has a suggestion of a better one. A distractor that nobody chooses does nothing but lengthen
the question (Haladyna & Downing 1993, "How many options is enough for a multiple-choice test item?"; Tarrant, Ware &
Mohammed 2009, "An assessment of functioning and non-functioning distractors in multiple-choice questions").

Only questions with choices have distractors, and only if a choice is marked as the key. The other questions have no
item here; quiz_answer_correctness and quiz_item_flaws say what is wrong with them. Each question takes one call.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.material import Question, Quiz
from touchstone.material.choices import alike
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import MetricResult
from touchstone.surfaces.numbered import (
    ClassVerdict,
    Numbers,
    ask_each,
    is_blank,
    labelled,
    verdict_faults,
    verdict_label,
)
from touchstone.surfaces.options import key_of, shown
from touchstone.together import gather_all

TOKENS_A_DISTRACTOR = 200

type DistractorLabel = Literal["PLAUSIBLE", "WEAK", "ABSURD"]
VALUES: Mapping[str, float] = {"PLAUSIBLE": 1.0, "WEAK": 0.0, "ABSURD": 0.0}


class DistractorVerdict(ClassVerdict):
    """What a judge says of one distractor, by its number in the call."""

    label: DistractorLabel


class DistractorsReply(JudgeReply):
    """What a judge says of all distractors of a question, in whatever order."""

    distractors: list[DistractorVerdict]


async def quiz_distractor_quality(quiz: Quiz, measuring: Measuring) -> MetricResult:
    """Measure a quiz. Distractors of a question whose call failed are unscored; the other distractors count."""
    found = await gather_all(_judged(question, measuring) for question in quiz.questions if question.chosen)
    return Labelled.of(found).result("quiz_distractor_quality")


async def _judged(question: Question, measuring: Measuring) -> Labelled:
    key = key_of(question)
    texts = {f"{question.id}#{place + 1}": question.choices[place] for place in key.distractors}
    if not key.right or not texts:
        return Labelled()
    taken = {alike(choice) for choice in key.choices}
    reply = await ask_each(
        measuring,
        "quiz_distractor_quality",
        DistractorsReply,
        things=Numbers(ids=tuple(texts), noun="Distractor", texts=texts),
        entries=lambda reply: reply.distractors,
        faults_of=lambda one: _faults(one, taken),
        tokens_each=TOKENS_A_DISTRACTOR,
        values={
            "question": question.question_text,
            "key": [question.choices[place] for place in key.right],
            "distractors": list(texts.values()),
        },
    )
    return labelled(reply, lambda item, verdict: verdict_label(item, verdict, VALUES, text=texts[item]))


def _faults(one: DistractorVerdict, taken: set[str]) -> Iterator[str]:
    """What breaks the rules in one distractor's entry, each fault in one sentence. `taken` are all choices."""
    yield from verdict_faults(one, "distractor", VALUES, instead="write a better distractor")
    if one.label != "PLAUSIBLE" and not is_blank(one.suggestion) and alike(shown(one.suggestion or "")) in taken:
        yield f"The suggestion of distractor {one.number} is a choice already; write one that is not there."
