"""quiz_answer_correctness: is the marked answer of each question right, and is every distractor wrong?

Score (the "good rate"): the share of CORRECT questions among the questions that were judged, as a percentage (0-100);
None if none was judged. All questions have the same weight. A question is

- CORRECT: the marked answer is right, and no other choice is;
- INCORRECT_ANSWER: the marked answer, or a part of it, is wrong, or cannot be chosen;
- INCORRECT_DISTRACTOR: the marked answer is right, and so is a choice that is not marked;
- ERROR: no verdict is possible: no answer is marked, or more than may be, or neither the source nor settled knowledge
  decides it.

A program decides first what it can decide without a judge: a missing key, a key outside the choices, several keys where
one is due, a distractor that reads as the key. All other questions are judged with one call each. The judge is not told
the key, so that it cannot lean on the marked answer: it says of each answer by itself whether it is right, and the
label follows from its verdicts and the key. It is shown the passage that the question was made from, or, if there is
none, the passages of the source that are nearest to it. Wrong keys, and questions with several right choices or none,
are what an audit of a published benchmark found in it (Gema et al. 2024, "Are we done with MMLU?").
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.judges.calls import MOST_FAULTS, JudgeReply
from touchstone.judges.fence import contains_verbatim
from touchstone.judges.spends import BY_CHECKS
from touchstone.judges.sureness import Confidence
from touchstone.material import Question, Quiz, Source
from touchstone.material.source import sections_of
from touchstone.surfaces.flaws.keys import key_flaws
from touchstone.surfaces.flaws.model import Flaw, reason_and_advice
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.numbered import Numbered, Numbers, ask_each, is_blank
from touchstone.surfaces.options import key_of, shortened, shown, truth
from touchstone.text.language import Language
from touchstone.together import gather_all

PIECE_CHARS = 2_000
"""The longest piece of a source, some paragraphs. A piece is shown or left out as a whole."""
SHOWN_CHARS = 12_000
"""Most characters shown with one question. A shorter source is shown whole."""

_WORD = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]{3,}|\d+(?:\.\d+)?|[\u3400-\u9fff\uf900-\ufaff]+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Pieces:
    """A source in pieces, with the places of the pieces in which each term occurs."""

    pieces: tuple[str, ...]
    places: Mapping[str, frozenset[int]]

    def near(self, text: str) -> tuple[str, ...]:
        """The pieces that have most in common with a text, in the source's order; all pieces of a short source.

        A shared term counts more the fewer pieces have it (the inverse document frequency of Spärck Jones 1972). A
        piece that shares no term is not shown.
        """
        if sum(map(len, self.pieces)) <= SHOWN_CHARS:
            return self.pieces
        scores: dict[int, float] = defaultdict(float)
        for term in set(_terms(text)) & self.places.keys():
            rarity = math.log(1 + len(self.pieces) / len(self.places[term]))
            for place in self.places[term]:
                scores[place] += rarity
        shown: list[int] = []
        room = SHOWN_CHARS
        for place, _ in sorted(scores.items(), key=lambda one: (-one[1], one[0])):
            if len(self.pieces[place]) <= room:
                shown.append(place)
                room -= len(self.pieces[place])
        return tuple(self.pieces[place] for place in sorted(shown))


def pieces_of(source: Source | None) -> Pieces:
    """A source in pieces; no pieces without a source."""
    pieces = tuple(piece for piece in sections_of(source.text, most=PIECE_CHARS) if piece.strip()) if source else ()
    places: dict[str, set[int]] = defaultdict(set)
    if sum(map(len, pieces)) > SHOWN_CHARS:
        for place, piece in enumerate(pieces):
            for term in _terms(piece):
                places[term].add(place)
    return Pieces(pieces, {term: frozenset(found) for term, found in places.items()})


def _terms(text: str) -> Iterator[str]:
    """The terms of a text: words, numbers, and pairs of neighbouring Chinese characters."""
    for found in _WORD.findall(text.casefold()):
        if _HAN.match(found) and len(found) > 1:
            yield from (found[start : start + 2] for start in range(len(found) - 1))
        else:
            yield found


TOKENS_AN_ANSWER = 240

type CorrectnessLabel = Literal["CORRECT", "INCORRECT_ANSWER", "INCORRECT_DISTRACTOR", "ERROR"]
_WITHOUT_JUDGE: Mapping[str, CorrectnessLabel] = {
    "NO_KEY": "ERROR",
    "SEVERAL_KEYS": "ERROR",
    "KEY_OUTSIDE_CHOICES": "INCORRECT_ANSWER",
    "DUPLICATE_OPTIONS": "INCORRECT_DISTRACTOR",
}
_SUGGESTIONS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "mark": "Mark “{text}” as the key.",
        "true_false": "Mark the statement as “{text}”.",
        "rewrite": "Replace “{text}” in the key by an answer that is right.",
        "reword": "Reword “{text}” so that it is wrong, or add it to the key.",
        "decide": "Reword the question so that what it is made from decides it.",
    },
    "zh": {
        "mark": "把“{text}”标为答案。",
        "true_false": "把这个陈述标为“{text}”。",
        "rewrite": "把答案中的“{text}”换成正确的答案。",
        "reword": "改写“{text}”使它成为错误的选项，或把它加进答案。",
        "decide": "改写题目，使出题所据的内容能够断定它。",
    },
}


class AnswerVerdict(Numbered):
    """What a judge says of one answer, by its number in the call."""

    evidence: str | None
    reason: str
    verdict: Literal["RIGHT", "WRONG", "CANNOT_TELL"]
    confidence: Confidence


class AnswersReply(JudgeReply):
    """What a judge says of all answers to a question, in whatever order."""

    answers: list[AnswerVerdict]


async def quiz_answer_correctness(quiz: Quiz, source: Source | None, measuring: Measuring) -> MetricResult:
    """Measure a quiz. `source` None: questions without a passage of their own are judged by settled knowledge.

    Questions whose call failed are unscored; the other questions count.
    """
    pieces = pieces_of(source)

    async def label(question: Question) -> Labelled:
        if (by_checks := decided(question, measuring.language)) is not None:
            return Labelled(items=(by_checks.model_copy(update={"judge": BY_CHECKS}),))
        if question.chunk and shown(question.chunk):
            return await _judged(question, (question.chunk,), measuring)
        asked = "\n".join((question.question_text, *question.choices, *question.answers))
        return await _judged(question, pieces.near(asked), measuring)

    return Labelled.of(await gather_all(map(label, quiz.questions))).result("quiz_answer_correctness")


def decided(question: Question, language: Language) -> ItemLabel | None:
    """The label of a question that needs no judge; None if the question needs one."""
    key = key_of(question)
    flaws = list(key_flaws(question, key))
    if question.chosen and key.again:
        values: dict[str, str | int] = {
            "first": key.right[0] + 1,
            "second": key.again[0] + 1,
            "text": key.choices[key.again[0]],
        }
        flaws.append(Flaw(label="DUPLICATE_OPTIONS", values=values))
    if not flaws:
        return None
    reason, suggestion = reason_and_advice(flaws[0], language)
    return _item(question, _WITHOUT_JUDGE[flaws[0].label], reason, suggestion)


async def _judged(question: Question, passages: Sequence[str], measuring: Measuring) -> Labelled:
    answers = _answers(question)
    reply = await ask_each(
        measuring,
        "quiz_answer_correctness",
        AnswersReply,
        things=Numbers(ids=tuple(answers), noun="Answer"),
        entries=lambda reply: reply.answers,
        faults_of=lambda one: _faults(one, passages),
        tokens_each=TOKENS_AN_ANSWER,
        values={
            "kind": question.kind,
            "question": question.question_text,
            "answers": list(answers.values()),
            "passages": list(passages),
        },
    )
    if reply.unscored:
        details = tuple(dict.fromkeys(detail for one in reply.unscored for detail in one.details))[:MOST_FAULTS]
        lost = UnscoredItem(item=question.id, reason=reply.unscored[0].reason, details=details, judge=reply.judge)
        return Labelled(unscored=(lost,), spends=reply.spends)
    label = _label(question, answers, reply.entries, measuring.language).model_copy(update={"judge": reply.judge})
    return Labelled(items=(label,), spends=reply.spends)


def _answers(question: Question) -> Mapping[str, str]:
    """The answers to be judged, by their place among the choices or wordings. A statement has one: that it is true."""
    match question.kind:
        case "true_false":
            return {"0": "true"}
        case "fill_in_the_blank":
            given = [answer for answer in dict.fromkeys(question.answers) if shown(answer)]
        case _:
            given = list(question.choices)
    return {str(place): text for place, text in enumerate(given) if shown(text)}


def _label(
    question: Question, answers: Mapping[str, str], entries: Mapping[str, AnswerVerdict], language: Language
) -> ItemLabel:
    """The label of a question, by the verdicts on its answers and by its key."""
    if question.kind == "true_false":
        return _statement(question, entries["0"], language)
    marked = {str(place) for place in key_of(question).right} if question.chosen else set(answers)
    others = [place for place in answers if place not in marked]
    right = [place for place in others if entries[place].verdict == "RIGHT"]
    sentences = _SUGGESTIONS[language]

    def lowest_confidence(*places: str) -> float:
        return min(entries[place].confidence for place in places if place in entries)

    for place in answers:
        if place in marked and entries[place].verdict == "WRONG":
            wrong = sentences["rewrite"].format(text=shortened(answers[place]))
            better = sentences["mark"].format(text=shortened(answers[right[0]])) if right else wrong
            return _of(question, "INCORRECT_ANSWER", answers[place], entries[place], better)
    if right:
        reword = sentences["reword"].format(text=shortened(answers[right[0]]))
        return _of(
            question,
            "INCORRECT_DISTRACTOR",
            answers[right[0]],
            entries[right[0]],
            reword,
            lowest_confidence=lowest_confidence(*marked),
        )
    for place in answers:
        if entries[place].verdict == "CANNOT_TELL":
            return _of(
                question,
                "ERROR",
                answers[place],
                entries[place],
                sentences["decide"],
                lowest_confidence=lowest_confidence(*answers),
            )
    first = next(place for place in answers if place in marked)
    return _of(question, "CORRECT", answers[first], entries[first], None, lowest_confidence=lowest_confidence(*answers))


def _statement(question: Question, entry: AnswerVerdict, language: Language) -> ItemLabel:
    """The label of a statement. Its one answer is that it is true."""
    if entry.verdict == "CANNOT_TELL":
        return _of(question, "ERROR", None, entry, _SUGGESTIONS[language]["decide"])
    value = entry.verdict == "RIGHT"
    if next(truth(answer) for answer in question.answers if shown(answer)) is value:
        return _of(question, "CORRECT", None, entry, None)
    word = {"en": ("false", "true"), "zh": ("错", "对")}[language][value]
    return _of(question, "INCORRECT_ANSWER", None, entry, _SUGGESTIONS[language]["true_false"].format(text=word))


def _of(
    question: Question,
    label: CorrectnessLabel,
    answer: str | None,
    entry: AnswerVerdict,
    suggestion: str | None,
    *,
    lowest_confidence: float = 1.0,
) -> ItemLabel:
    """A label that rests on the verdict on one answer.

    `lowest_confidence` is the judge's lowest confidence in other answers it rests on.
    """
    reason = entry.reason.strip() if answer is None else f"“{shortened(answer)}”: {entry.reason.strip()}"
    item = _item(question, label, reason, suggestion, evidence=entry.evidence)
    return item.model_copy(update={"confidence": min(entry.confidence, lowest_confidence)})


def _item(
    question: Question, label: CorrectnessLabel, reason: str, suggestion: str | None, *, evidence: str | None = None
) -> ItemLabel:
    return ItemLabel(
        item=question.id,
        label=label,
        value=1.0 if label == "CORRECT" else 0.0,
        reason=reason,
        evidence=evidence,
        suggestion=suggestion,
    )


def _faults(one: AnswerVerdict, passages: Sequence[str]) -> Iterator[str]:
    """What breaks the rules in one answer's entry, each fault in one sentence."""
    if is_blank(one.reason):
        yield f"The reason of answer {one.number} is blank."
    if one.evidence is not None and not any(contains_verbatim(one.evidence, passage) for passage in passages):
        yield (
            f"The evidence of answer {one.number} does not occur in the passages; copy a piece of one exactly, or give "
            "null."
        )
