"""A quiz as the tables of its page: what a learner would get, and how it was made, version by version."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from functions.pages.tables import Column, Row, Table, Value, fact
from touchstone.material import Question, Quiz
from touchstone.quizzes.model import RULES, Attempt, MadeQuiz, Rule, Unanswered, Violation
from touchstone.quizzes.run import QuizRun
from touchstone.quizzes.texts import places_of
from touchstone.quizzes.view import QuizView

CLIPPED_CHARS = 200
"""How much is repeated of a text that is wrong as a whole."""
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


def fact_of(run: QuizRun) -> Table:
    """What was asked for, what came of it, and what it took."""
    quiz = QuizView.of(run)
    shown = {"id", "kind", "state", "curriculum", "chapter", "learner", "ui_language", "attempt", "stopped"}
    shown |= {"tokens", "cost_usd", "created_at", "finished_at"}
    weak = () if run.weakness is None else run.weakness.weak_points
    row: dict[str, Value] = {
        **quiz.model_dump(include=shown),
        "chapter_title": None if run.content is None else run.content.chapter.title,
        "weak_points": "\n".join(point.item for point in weak) or None,
    }
    for name, why in (("unchecked", quiz.unchecked), ("failed", quiz.failed)):
        row[name] = None if why is None else why.reason
        row[f"{name}_details"] = None if why is None else "\n".join(why.details) or None
    return fact("quiz", row)


def questions_of(quiz: Quiz | None, violations: Sequence[Violation]) -> Table:
    """The questions with their key; parts of which there are several stand one a line."""
    rows = [_question(question, violations) for question in (quiz.questions if quiz else ())]
    columns = (
        Column(name="question", shown="code"),
        Column(name="question_kind", shown="word", words="question_kind"),
        Column(name="question_text", shown="sent"),
        Column(name="choices", shown="sent"),
        Column(name="key", shown="sent"),
        Column(name="explanation", shown="sent"),
        Column(name="target"),
        Column(name="readings", shown="sent"),
        Column(name="violations", shown="number"),
    )
    return Table(name="questions", columns=columns, rows=rows)


def _question(question: Question, violations: Sequence[Violation]) -> Row:
    return {
        "question": question.id,
        "question_kind": question.kind,
        "question_text": question.question_text,
        "choices": "\n".join(question.choices) or None,
        "key": "\n".join(question.answers) or None,
        "explanation": question.explanation,
        "target": question.target,
        "readings": "\n".join(f"{one.hanzi} {one.pinyin}" for one in question.readings) or None,
        "violations": sum(one.question_id == question.id for one in violations),
    }


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


def rules_of(versions: Sequence[Version]) -> Table:
    """What became of each rule in each version."""
    columns = (
        Column(name="version", shown="number"),
        Column(name="rule", shown="word", words="rule"),
        Column(name="rule_state", shown="word", words="rule_state"),
        Column(name="violations", shown="number"),
        Column(name="because", shown="word", words="skip"),
        Column(name="details", shown="sent"),
    )
    return Table(name="rules", columns=columns, rows=[row for one in versions for row in one.rules])


def violations_of(versions: Sequence[Version]) -> Table:
    """What was found in each version: where, in which words, and what to write instead."""
    columns = (
        Column(name="version", shown="number"),
        Column(name="question", shown="code"),
        Column(name="rule", shown="word", words="rule"),
        Column(name="place", shown="code"),
        Column(name="said", shown="sent"),
        Column(name="detail", shown="sent"),
        Column(name="suggestion", shown="sent"),
        Column(name="decided_by", shown="word", words="decided_by"),
        Column(name="finding", shown="code"),
    )
    return Table(name="violations", columns=columns, rows=[row for one in versions for row in one.violations])


def _rule(run: QuizRun, made: MadeQuiz, attempt: Attempt, rule: Rule) -> Row:
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


def _state(attempt: Attempt, rule: Rule, found: int) -> RuleState:
    if rule not in attempt.checks_run:
        return "not_applied"
    if found:
        return "broken"
    return "check_alone" if rule == "curriculum_alignment" and not attempt.judged else "held"


def _why_not(run: QuizRun, made: MadeQuiz, attempt: Attempt, rule: Rule) -> NotApplied | Unanswered:
    """Why a rule was not applied to an attempt, or not by the judge."""
    if LOOKED_INTO in attempt.checks_run:
        if rule == "question_language":
            asked = run.request.ui_language if run.weakness is None else run.weakness.ui_language
            return "no_language" if asked is None else "unknown_language"
        if rule == "curriculum_alignment" and rule not in attempt.checks_run:
            return "no_chapter"
    if attempt.structural:
        return "structure"
    if not run.over:
        return "in_work"
    return made.unchecked or made.failed or "unknown"


def _found(attempt: Attempt) -> Iterator[Row]:
    places = {question.id: dict(places_of(question)) for question in attempt.quiz.questions}
    for one in attempt.violations:
        yield {
            "version": attempt.number,
            "question": one.question_id,
            "rule": one.rule,
            "place": one.field,
            "said": _said(one, places),
            "detail": one.detail,
            "suggestion": one.suggestion,
            "decided_by": one.decided_by,
            "finding": one.finding,
        }


def _said(violation: Violation, places: Places) -> str | None:
    """The words that are wrong; None where it is the question, or the quiz, as a whole."""
    text = places.get(violation.question_id or "", {}).get(violation.field or "")
    if text is None:
        return None
    if violation.span is not None:
        return text[slice(*violation.span)] or None
    return text if len(text) <= CLIPPED_CHARS else f"{text[:CLIPPED_CHARS]}…"
