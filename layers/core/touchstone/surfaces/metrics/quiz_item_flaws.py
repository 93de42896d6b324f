"""quiz_item_flaws: which flaws of item writing does a program find? No judge is asked.

Score: the share of questions without a flaw, as a percentage (0-100); every question has a score. A question without a
flaw has one item, `FLAWLESS`. A question with flaws has an item for each of them, which share the weight of 1, so that
the score is the weighted mean of the items as in every metric.

The rules are those of item-writing guides that a program can decide: Haladyna, Downing & Rodriguez 2002, "A review of
multiple-choice item-writing guidelines"; Tarrant, Knierim, Hayes & Ware 2006, "The frequency of item writing flaws in
multiple-choice questions used in high stakes nursing assessments"; Moore, Nguyen, Chen & Stamper 2023, "Assessing the
quality of multiple-choice questions using GPT-4 and rule-based methods". If a rule cannot decide some wording for sure,
it says nothing: a named flaw should be a flaw.

- Any question: `NO_KEY`, `KEY_OUTSIDE_CHOICES`, `SEVERAL_KEYS`; `REPEATED_QUESTION` if an earlier one has its words and
  its key; `KEY_POSITION`, over all questions with one key if there are ten or more.
- Choices: `TOO_FEW_OPTIONS`, `BLANK_OPTION`, `DUPLICATE_OPTIONS`, `OVERLAPPING_OPTIONS`, `ALL_OF_THE_ABOVE`,
  `NONE_OF_THE_ABOVE`, `COMBINED_OPTIONS`, `NEGATIVE_STEM` (unless the negation is emphasised), `LONGEST_KEY`,
  `ABSOLUTE_WORDS` (only in distractors, and in false statements), `GRAMMATICAL_CUE` (English), `WORD_REPEAT`.
- Blanks: `ANSWER_IN_STEM`, unless the answer is a number or shorter than four letters.

What refers to other choices, ranges that overlap and negations are found in English, Chinese, German, French and
Spanish; absolute words in English and Chinese.

`DUPLICATE_OPTIONS` are choices that read the same (case, full stops, widths and white space do not count), that differ
in an article alone, or that are one number in two notations (1/2 and 50 %, 1 km and 1000 m). Accents count. What does
not count is told apart all the same where the question is about it: about spelling, capitals, punctuation, code, units
or the form of a number, or because several choices differ in nothing else. Numbers in one notation (120/80 and 150/100,
1.1 and 1.10) are compared only where the question asks for a value (a slope, a probability, 10 ÷ 4), and roots never.

A flaw makes a question worse and need not make it wrong. A question with two choices has `TOO_FEW_OPTIONS`, since half
of all guesses are right; the check of a quiz's structure (`touchstone.quizzes.structure`) finds fault only with fewer.
The key of a statement is true or false, in any of their usual words. If it says yes or no and the statement does not
offer these, it is a `KEY_OUTSIDE_CHOICES`.
"""

from collections.abc import Iterator, Sequence

from touchstone.material import Question, Quiz
from touchstone.surfaces.catalogue import text_of
from touchstone.surfaces.flaws.choices import choice_flaws
from touchstone.surfaces.flaws.keys import key_flaws, position_flaws
from touchstone.surfaces.flaws.model import Flaw, reason_and_advice
from touchstone.surfaces.flaws.questions import repeated
from touchstone.surfaces.flaws.stems import grammar_flaws, stem_flaws
from touchstone.surfaces.model import ItemLabel, MetricResult, result
from touchstone.surfaces.options import Key, key_of
from touchstone.text.language import Language, language_of


def quiz_item_flaws(quiz: Quiz, *, language: Language | None = None) -> MetricResult:
    """Measure a quiz. `language` is the language of all reasons; None: that of the quiz as a whole."""
    told = language or language_of(text_of(quiz))
    keys = {question.id: key_of(question) for question in quiz.questions}
    flaws = {question.id: list(_flaws(question, keys[question.id])) for question in quiz.questions}
    for which, flaw in (*position_flaws(quiz, keys), *repeated(quiz, keys)):
        flaws[which].append(flaw)
    items = tuple(item for question in quiz.questions for item in _items(question, flaws[question.id], told))
    return result("quiz_item_flaws", items)


def _flaws(question: Question, key: Key) -> Iterator[Flaw]:
    yield from key_flaws(question, key)
    if question.chosen:
        yield from choice_flaws(question, key)
        yield from grammar_flaws(question, key)
    yield from stem_flaws(question, key)


def _items(question: Question, flaws: Sequence[Flaw], language: Language) -> Iterator[ItemLabel]:
    if not flaws:
        reason = {"en": "No flaw was found.", "zh": "没有发现毛病。"}[language]
        yield ItemLabel(item=question.id, label="FLAWLESS", value=1.0, reason=reason)
    for flaw in flaws:
        reason, suggestion = reason_and_advice(flaw, language)
        yield ItemLabel(
            item=question.id, label=flaw.label, value=0.0, reason=reason, suggestion=suggestion, weight=1 / len(flaws)
        )
