"""A quiz, as the tables of its page: what a learner would get, and how it was made, version by version."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from functions.pages.tables import Column, PageTable, Row, Value, cut, fact, row_of
from touchstone.quizzes.model import RULES, MadeQuiz, QuizAttempt, Rule, Unanswered, Violation
from touchstone.quizzes.run import QuizRun
from touchstone.quizzes.texts import places_of
from touchstone.quizzes.view import QuizView

SAID_CHARS, DETAIL_CHARS = 200, 300
"""The most characters shown of a violation: of the wrong words, and of its detail and its suggestion each. A version
has up to 1,000 violations; all of them stay below the limit of a function's reply, 6 MB."""
CHOICE_CHARS = 2_000
"""The most characters shown of a choice or an answer, so that a question with a hundred of them fits on a page."""
MOST_CHARS = 300_000
"""The most characters of the questions on a page with their violations. Even if each takes six bytes, and a version's
violations are added, a page stays below 6 MB, the limit of a function's reply."""
MOST_VIOLATIONS = 100
"""The most violations of a question or of a version that a page shows. The exports (CSV, JSON) have all of them."""
LOOKED_INTO: Rule = "traditional_chinese"
"""A rule that needs only the questions: if it was not applied, no check has looked into them."""

type RuleState = Literal["held", "broken", "check_alone", "not_applied"]
"""The result of a rule. `check_alone`: its check found nothing, and the judge, who decides it too, was not heard."""
type NotApplied = Literal["no_language", "unknown_language", "no_chapter", "structure", "in_work", "unknown"]
"""Why a rule was not applied, if the reason is not that a model gave no reply (`Unanswered`)."""
type Places = Mapping[str, Mapping[str, str]]
"""The texts of each question, by the question's id and then by their place in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a quiz, with the result of each rule and the violations found. `judged`: a judge evaluated it."""

    number: int
    handed_out: bool
    judged: bool
    rules: Sequence[Row]
    violations: Sequence[Row]


def facts_of(run: QuizRun) -> tuple[PageTable, PageTable]:
    """Two tables: what was asked for, its result and its cost; and the weak points that the quiz was to practise."""
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
    """The questions of a version from place `first` on, with their key, within `MOST_CHARS` characters.

    `most` is the most questions; None: no such limit. Choices, answers and readings stand one per line.
    """
    questions = attempt.quiz.questions if attempt else ()
    wrong: defaultdict[str | None, list[Row]] = defaultdict(list)
    for one, found in zip(attempt.violations, _found(attempt), strict=True) if attempt else ():
        wrong[one.question_id].append(found)
    rows: list[Row] = []
    left = MOST_CHARS
    for question in questions[first:][:most]:
        row = row_of(QUESTIONS, question, violations=len(wrong[question.id]))
        left -= sum(map(_chars, (row, *wrong[question.id][:MOST_VIOLATIONS])))
        if rows and left < 0:
            break
        rows.append(row)
    after = first + len(rows)
    return PageTable(
        name="questions", columns=QUESTIONS, rows=rows, next=str(after) if after < len(questions) else None
    )


def _lines(texts: Iterable[str]) -> str | None:
    """Choices or answers, one per line; None if there are none."""
    return "\n".join(cut(text, CHOICE_CHARS) for text in texts) or None


QUESTIONS = (
    Column(name="question", of=lambda one: one.id, shown="code"),
    Column(name="question_kind", of=lambda one: one.kind, shown="word", words="question_kind"),
    Column(name="question_text", shown="sent"),
    Column(name="choices", of=lambda one: _lines(one.choices), shown="sent"),
    Column(name="key", of=lambda one: _lines(one.answers), shown="sent"),
    Column(name="explanation", shown="sent", detail=True),
    Column(name="target", detail=True),
    Column(
        name="readings",
        of=lambda one: "\n".join(f"{each.hanzi} {each.pinyin}" for each in one.readings) or None,
        shown="sent",
        detail=True,
    ),
    Column(name="violations", shown="number"),
)


def _chars(row: Row) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str))


def versions_of(run: QuizRun, made: MadeQuiz) -> tuple[Version, ...]:
    """All versions in their order. Each has every rule, with its result or the reason why it was not applied."""
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
    """The result of each rule in each version."""
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
    """The violations in each version: the place, the wrong words, and what to write instead."""
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
    """Why a rule was not applied to an attempt, or why only its check was, not the judge."""
    if LOOKED_INTO in attempt.checks_run:
        if rule == "question_language":
            asked = run.request.ui_language if run.weakness is None else run.weakness.ui_language
            return "no_language" if asked is None else "unknown_language"
        if rule == "curriculum_alignment" and rule not in attempt.checks_run:
            return "no_chapter"
        coming = False
    else:  # if the quiz is a user's own, programs check all of it, even if its structure is wrong
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
    """The wrong words; None if the question or the quiz as a whole is wrong."""
    text = places.get(violation.question_id or "", {}).get(violation.field or "")
    if text is None:
        return None
    return cut(text if violation.span is None else text[slice(*violation.span)], SAID_CHARS) or None
