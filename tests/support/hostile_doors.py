"""Doors through which a stranger's text reaches functions that take more than texts, with the most that they admit.

Functions that take texts alone need no door here: they are found, and fed as they stand (`hostile_functions`).
"""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from tests.support import hostile_jobs as jobs
from tests.support.hostile import Door

COMPARED = 100_000
"""`touchstone.checks.equivalence.decision.TEXT_LIMIT`."""
SUBMISSION = 1_000_000
"""`MAX_SUBMISSION_CHARS` and `MAX_MARKDOWN_CHARS`: no other door admits a longer text that is scanned."""
SUMMARY = 50_000
UPLOAD = 5_000_000
"""`touchstone.quizzes.tables.MAX_CHARS`."""
GIFT = 2_000_000
"""`touchstone.cli.commands.exchange.MAX_GIFT_BYTES`."""
PART_ID = 128
"""Of material, and of its parts: no other text of an experiment's report is a stranger's at every place."""
PART = 20_000
"""A question, a choice, a card, a problem, an answer: `MAX_TEXT_CHARS`."""


def _named(module: str, name: str, *more: Any, **named: Any) -> Callable[[], Door]:
    return lambda: partial_of(getattr(import_module(f"touchstone.{module}"), name), *more, **named)


def partial_of(function: Callable[..., object], *more: Any, **named: Any) -> Door:
    """The function of a text alone; `more` comes behind it."""
    return lambda text: function(text, *more, **named)


def _quiz(module: str, name: str) -> Callable[[], Door]:
    def opened() -> Door:
        from touchstone.material import Question, Quiz

        check = getattr(import_module(f"touchstone.{module}"), name)

        def door(text: str) -> None:
            shown = f"Q {text[:-2]}"
            question = Question(
                id="q1", kind="single_choice", question_text=shown, choices=(shown, text, "B"), answers=(text,)
            )
            found = check(Quiz(questions=(question,)))
            _ = list(found) if hasattr(found, "__next__") else found

        return door

    return opened


def _deck(module: str, name: str) -> Callable[[], Door]:
    def opened() -> Door:
        from touchstone.material import Deck, Flashcard

        measure = getattr(import_module(f"touchstone.{module}"), name)

        def door(text: str) -> None:
            shown = f"Q {text[:-2]}"
            cards = (Flashcard(id="c1", front=shown, back=shown), Flashcard(id="c2", front=shown, back="B"))
            measure(Deck(cards=cards), language="en")

        return door

    return opened


def _both(module: str, name: str) -> Callable[[], Door]:
    return lambda: lambda text: getattr(import_module(f"touchstone.{module}"), name)(text, text[: len(text) // 2])


def _csv() -> Door:
    from touchstone.spreadsheets import as_csv

    return lambda text: as_csv(("text",), ((text,),))


def _located() -> Door:
    from touchstone.json_places import located

    return lambda text: located(json.dumps({"text": text}))


def _verbatim() -> Door:
    from touchstone.judges.fence import contains_verbatim

    return lambda text: contains_verbatim("no such quote", text)


def _compared() -> Door:
    from touchstone.checks import equivalent

    return lambda text: (equivalent(text, "12 cm"), equivalent("12 cm", text), equivalent(text, text[::-1]))


def _worded() -> Door:
    from touchstone.answers.words import differ_in_words

    return lambda text: (differ_in_words(text, "Ruby"), differ_in_words("Ruby", text, problem=text))


def _definitions(suffix: str) -> Callable[[], Door]:
    def opened() -> Door:
        from touchstone.audits.loading import load_text

        return lambda text: load_text(f"- id: c1\n  question: {text}", name=f"cases.{suffix}")

    return opened


def _columns() -> Door:
    from touchstone.quizzes.uploads import curriculum_of_csv

    def door(text: str) -> None:
        header = ",".join(f"meaning_{number}" for number in range(len(text) // 16))
        curriculum_of_csv(f"chapter,kind,item,{header}\n1,word,x", curriculum="c", title="t")

    return door


def _json_of(module: str, name: str, around: str) -> Callable[[], Door]:
    """A reader of JSON, with the text as one of its strings."""
    return lambda: lambda text: getattr(import_module(f"touchstone.{module}"), name)(around % json.dumps(text))


def _line() -> Door:
    from touchstone.operations.batches.lines import parse_line

    return lambda text: (
        parse_line(json.dumps({"kind": "verify", "problem": text, "answer": "1"}).encode()),
        parse_line(text.encode(errors="replace")),
    )


def _junit() -> Door:
    from touchstone.cli.screens.junit import Case, Suite, junit

    return lambda text: junit(
        [Suite(name="quiz", cases=(Case(group="g", name="n", outcome="failed", sentence=text, details=text),))]
    )


DOORS: Mapping[str, tuple[int, Callable[[], Door]]] = {
    "contains_verbatim": (SUBMISSION, _verbatim),
    "normalised": (SUBMISSION, _named("text", "normalised", "NFKC")),
    "as_csv": (SUBMISSION, _csv),
    "located": (SUBMISSION // 6, _located),
    "find_language_mismatch in Japanese": (PART, _named("checks", "find_language_mismatch", "ja")),
    "similarity": (PART, _both("answers.retrieval", "similarity")),
    "validate_structure": (PART, _quiz("quizzes", "validate_structure")),
    "find_traditional": (PART, _quiz("quizzes.content", "find_traditional")),
    "quiz_item_flaws": (PART, _quiz("surfaces.metrics.quiz_item_flaws", "quiz_item_flaws")),
    "junit": (SUMMARY, _junit),
    "a line of a batch": (SUBMISSION, _line),
    "definitions in YAML": (SUBMISSION, _definitions("yaml")),
    "definitions in JSON": (SUBMISSION, _definitions("json")),
    "curriculum_of_csv with columns of its own": (UPLOAD, _columns),
    "curriculum_of_json": (
        SUBMISSION,
        _json_of("quizzes.uploads", "curriculum_of_json", '{"id": "c", "title": %s, "volumes": []}'),
    ),
    "differ_in_words": (PART, _worded),
    "equivalent": (COMPARED, _compared),
    "prove_answer of a problem": (PART, _named("checks", "prove_answer", "12")),
    "prove_answer of a problem as its answer": (PART, _both("checks", "prove_answer")),
    "flashcard_answer_leakage": (PART, _deck("surfaces.metrics.flashcard_answer_leakage", "flashcard_answer_leakage")),
    "flashcard_duplication": (PART, _deck("surfaces.metrics.flashcard_duplication", "flashcard_duplication")),
    "explain": (COMPARED, _both("checks", "explain")),
    "an error of Gemini": (SUBMISSION, jobs.gemini_errors),
    "an error of OpenAI": (SUBMISSION, jobs.openai_errors),
    "an error of Anthropic": (SUBMISSION, jobs.anthropic_errors),
    "a provider's reply": (SUBMISSION, jobs.provider_replies),
    "what a judge quotes of a submission": (SUBMISSION // 2, jobs.found_by_a_judge),
    "a submission handed in": (SUBMISSION, jobs.handed_in),
    "verify": (PART, jobs.verified),
    "solve": (PART, jobs.solved),
    "a request that is refused": (SUBMISSION, jobs.refused),
    "evaluate_summary": (SUMMARY, jobs.evaluated_summary),
    "evaluate_quiz": (PART, jobs.evaluated_quiz),
    "evaluate_flashcards": (PART, jobs.evaluated_flashcards),
    "apply_checks": (PART, jobs.checked_quiz),
    "cards_of": (UPLOAD, jobs.card_table),
    "a quiz and cards for other tools": (PART, jobs.exchanged),
    "a quiz in GIFT": (GIFT, jobs.gift_file),
    "a file of definitions in YAML": (SUBMISSION, jobs.yaml_file),
    "a file of definitions in JSON": (SUBMISSION, jobs.json_file),
    "courses and learners": (UPLOAD // 10, jobs.course_files),
    "an audit's report": (PART, jobs.audit_report),
    "an experiment's report": (PART_ID, jobs.experiment_report),
    "prove_answer of an answer": (PART, jobs.proved),
    "the page of an answer": (PART, jobs.answer_page),
}
"""By the name of the function: the size, and what opens it."""
