"""A quiz as the tables of its page: what a learner would get, and how it was made, version by version."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from functions.pages.tables import Column, PageTable, Row, Value, fact
from touchstone.material import Question
from touchstone.quizzes.model import RULES, MadeQuiz, QuizAttempt, Rule, Unanswered, Violation
from touchstone.quizzes.run import QuizRun
from touchstone.quizzes.texts import places_of
from touchstone.quizzes.view import QuizView

SAID_CHARS, DETAIL_CHARS = 200, 300
"""How much of a violation is told: of the words that are wrong, and of what is said of them and to be written instead.
A version has up to 1,000 violations, so that all of them stay below what a function may answer, 6 MB."""
CHOICE_CHARS = 2_000
"""How much is shown of a choice or an answer, so that a question with a hundred of them has room on a page."""
MOST_CHARS = 300_000
"""Of the questions on a page with what is wrong with them; even where each character takes six bytes, and a version's
violations stand beside them, that stays below 6 MB."""
MOST_VIOLATIONS = 100
"""Of a question, or of a version, that a page shows; its files have them all."""
LOOKED_INTO: Rule = "traditional_chinese"
"""A rule that needs nothing but the questions: where it was not applied, nobody looked into them."""

type RuleState = Literal["held", "broken", "check_alone", "not_applied"]
"""What came of a rule. `check_alone`: its check found nothing, and the judge, who decides it too, had no say."""
type NotApplied = Literal["no_language", "unknown_language", "no_chapter", "structure", "in_work", "unknown"]
"""Why a rule was not applied, where that is not for a model that gave nothing."""
type Places = Mapping[str, Mapping[str, str]]
"""The texts of each question, by where they stand in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a quiz: what became of each rule, and what was found in it. `judged`: a judge had its say."""

    number: int
    handed_out: bool
    judged: bool
    rules: Sequence[Row]
    violations: Sequence[Row]


def facts_of(run: QuizRun) -> tuple[PageTable, PageTable]:
    """What was asked for, what came of it, and what it took; and the weak points that it was to dwell on."""
    quiz = QuizView.of(run)
    shown = {"id", "kind", "state", "curriculum", "chapter", "learner", "ui_language", "attempt", "stopped"}
    shown |= {"tokens", "cost_usd", "unpriced_calls", "created_at", "finished_at"}
    row: dict[str, Value] = {
        **quiz.model_dump(include=shown),
        "chapter_title": None if run.content is None else run.content.chapter.title,
    }
    for name, why in (("unchecked", quiz.unchecked), ("failed", quiz.failed)):
        row[name] = None if why is None else why.reason
        row[f"{name}_details"] = None if why is None else "\n".join(why.details) or None
    return fact("quiz", row), _weak_points(run)


def _weak_points(run: QuizRun) -> PageTable:
    weak = () if run.weakness is None else run.weakness.weak_points
    columns = (Column(name="item", shown="sent"), Column(name="error_rate", shown="share"))
    return PageTable(name="weak_points", columns=columns, rows=[point.model_dump() for point in weak])


def questions_of(attempt: QuizAttempt | None, *, first: int, most: int | None) -> PageTable:
    """The questions of a version from the one at place `first` on, with their key: as many as have room.

    `most`: no more than so many, None: no such bound. Parts of which there are several stand one a line.
    """
    questions = attempt.quiz.questions if attempt else ()
    wrong: defaultdict[str | None, list[Row]] = defaultdict(list)
    for one, found in zip(attempt.violations, _found(attempt), strict=True) if attempt else ():
        wrong[one.question_id].append(found)
    rows: list[Row] = []
    left = MOST_CHARS
    for question in questions[first:][:most]:
        row = _question(question, len(wrong[question.id]))
        left -= sum(map(_chars, (row, *wrong[question.id][:MOST_VIOLATIONS])))
        if rows and left < 0:
            break
        rows.append(row)
    after = first + len(rows)
    columns = (
        Column(name="question", shown="code"),
        Column(name="question_kind", shown="word", words="question_kind"),
        Column(name="question_text", shown="sent"),
        Column(name="choices", shown="sent"),
        Column(name="key", shown="sent"),
        Column(name="explanation", shown="sent", detail=True),
        Column(name="target", detail=True),
        Column(name="readings", shown="sent", detail=True),
        Column(name="violations", shown="number"),
    )
    return PageTable(name="questions", columns=columns, rows=rows, next=str(after) if after < len(questions) else None)


def _question(question: Question, violations: int) -> Row:
    return {
        "question": question.id,
        "question_kind": question.kind,
        "question_text": question.question_text,
        "choices": "\n".join(cut(choice, CHOICE_CHARS) for choice in question.choices) or None,
        "key": "\n".join(cut(answer, CHOICE_CHARS) for answer in question.answers) or None,
        "explanation": question.explanation,
        "target": question.target,
        "readings": "\n".join(f"{one.hanzi} {one.pinyin}" for one in question.readings) or None,
        "violations": violations,
    }


def _chars(row: Row) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str))


def cut(text: str, most: int) -> str:
    """The beginning of a text, with an ellipsis where there is more."""
    return text if len(text) <= most else f"{text[:most]}…"


def versions_of(run: QuizRun, made: MadeQuiz) -> tuple[Version, ...]:
    """All versions in their order, with every rule: applied or not, and why not."""
    return tuple(
        Version(
            number=attempt.number,
            handed_out=run.over and attempt.number == made.attempt,
            judged=attempt.judged,
            rules=[_rule(run, made, attempt, rule) for rule in RULES],
            violations=list(_found(attempt)),
        )
        for attempt in run.attempts
    )


def rules_of(versions: Sequence[Version]) -> PageTable:
    """What became of each rule in each version."""
    columns = (
        Column(name="version", shown="number"),
        Column(name="rule", shown="word", words="rule"),
        Column(name="rule_state", shown="word", words="rule_state"),
        Column(name="violations", shown="number"),
        Column(name="because", shown="word", words="skip"),
        Column(name="details", shown="sent"),
    )
    return PageTable(name="rules", columns=columns, rows=[row for one in versions for row in one.rules])


def violations_of(versions: Sequence[Version]) -> PageTable:
    """What was found in each version: where, in which words, and what to write instead."""
    columns = (
        Column(name="version", shown="number", detail=True),
        Column(name="question", shown="code"),
        Column(name="rule", shown="word", words="rule"),
        Column(name="place", shown="code", detail=True),
        Column(name="said", shown="sent"),
        Column(name="detail", shown="sent"),
        Column(name="suggestion", shown="sent"),
        Column(name="decided_by", shown="word", words="decided_by", detail=True),
        Column(name="finding", shown="code", detail=True),
    )
    return PageTable(name="violations", columns=columns, rows=[row for one in versions for row in one.violations])


def _rule(run: QuizRun, made: MadeQuiz, attempt: QuizAttempt, rule: Rule) -> Row:
    found = sum(one.rule == rule for one in attempt.violations)
    state = _state(attempt, rule, found)
    why = None if state in {"held", "broken"} else _why_not(run, made, attempt, rule)
    word, details = (why.reason, why.details) if isinstance(why, Unanswered) else (why, ())
    return {
        "version": attempt.number,
        "rule": rule,
        "rule_state": state,
        "violations": None if state == "not_applied" else found,
        "because": word,
        "details": "\n".join(details) or None,
    }


def _state(attempt: QuizAttempt, rule: Rule, found: int) -> RuleState:
    if rule not in attempt.checks_run:
        return "not_applied"
    if found:
        return "broken"
    return "check_alone" if rule == "curriculum_alignment" and not attempt.judged else "held"


def _why_not(run: QuizRun, made: MadeQuiz, attempt: QuizAttempt, rule: Rule) -> NotApplied | Unanswered:
    """Why a rule was not applied to an attempt, or not by the judge."""
    if LOOKED_INTO in attempt.checks_run:
        if rule == "question_language":
            asked = run.request.ui_language if run.weakness is None else run.weakness.ui_language
            return "no_language" if asked is None else "unknown_language"
        if rule == "curriculum_alignment" and rule not in attempt.checks_run:
            return "no_chapter"
        coming = False
    else:  # of a quiz of somebody's own a program looks into all of it, whatever its structure
        coming = run.kind == "check" and not run.over and rule != "pedagogical_quality"
    if attempt.structural and not coming:
        return "structure"
    if not run.over:
        return "in_work"
    return made.unchecked or made.failed or "unknown"


def _found(attempt: QuizAttempt) -> Iterator[Row]:
    places = {question.id: dict(places_of(question)) for question in attempt.quiz.questions}
    for one in attempt.violations:
        yield {
            "version": attempt.number,
            "question": one.question_id,
            "rule": one.rule,
            "place": one.field,
            "said": _said(one, places),
            "detail": cut(one.detail, DETAIL_CHARS),
            "suggestion": one.suggestion and cut(one.suggestion, DETAIL_CHARS),
            "decided_by": one.decided_by,
            "finding": one.finding,
        }


def _said(violation: Violation, places: Places) -> str | None:
    """The words that are wrong; None where it is the question, or the quiz, as a whole."""
    text = places.get(violation.question_id or "", {}).get(violation.field or "")
    if text is None:
        return None
    return cut(text if violation.span is None else text[slice(*violation.span)], SAID_CHARS) or None
