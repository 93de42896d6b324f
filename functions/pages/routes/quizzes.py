"""Quizzes: a list, and a page for each quiz with its questions, and how they were made, version by version."""

from functools import partial

from functions.composition.stores import quizzes
from functions.pages.finding import Listing, found_at, show_found
from functions.pages.quiz import (
    CHOICE_CHARS,
    MOST_VIOLATIONS,
    facts_of,
    questions_of,
    rules_of,
    versions_of,
    violations_of,
)
from functions.pages.tables import COST, UNBOUNDED, Column, Row, calls_of, cut, place_of
from functions.pages.visit import Page, PageView, Visit, router, visit
from touchstone.errors import InputError
from touchstone.quizzes.model import MadeQuiz, QuizAttempt
from touchstone.quizzes.run import QuizRun
from touchstone.quizzes.view import QuizView
from touchstone.records import QuizSummary
from touchstone.records.quizzes import QuizQuery
from touchstone.references import Reference

QUESTIONS = 50
"""The most questions on a page: a quiz that is made has no more, a user's own quiz may have ten times as many. The
exports (CSV, JSON) hold as many as `MOST_CHARS` of `functions.pages.quiz` allows."""
STATES_WITH_QUIZ = frozenset({"clean", "violations", "unchecked"})
"""The states in which there is a quiz and it was checked at least in part."""


COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="title", to="address"),
    Column(name="quiz_kind", shown="word", words="quiz_kind"),
    Column(name="state", shown="word", words="quiz_state"),
    Column(name="violations", shown="number", to="violated"),
    *COST,
    Column(name="questions", shown="number", to="address", detail=True),
    Column(name="attempts", shown="number", to="address", detail=True),
    Column(name="seconds", shown="decimal", scale=UNBOUNDED, detail=True),
    Column(name="curriculum", shown="code", to="of_curriculum", detail=True),
    Column(name="chapter", shown="code", to="of_chapter", detail=True),
    Column(name="language", shown="code", detail=True),
    Column(name="models", detail=True),
    Column(name="providers", shown="words", words="provider", detail=True),
    Column(name="id", shown="code", to="address", detail=True),
)


@router.get("/app/quizzes")
def list_quizzes() -> Page:
    """The tenant's quizzes that the filters mean, made or checked, newest first."""
    return show_found(visit(), LISTING, quizzes())


@router.get("/app/quizzes/<quiz_id>")
def read_quiz(quiz_id: str) -> Page:
    """One quiz: its questions, their violations, and how they were made."""
    this_visit = visit()
    run = quizzes().get(Reference(this_visit.tenant, "quiz", quiz_id))
    made = run.made
    shown = _shown(this_visit, run, made)
    versions = versions_of(run, made)
    start = place_of(this_visit.query.get("cursor"))
    questions = questions_of(shown, first=start, most=QUESTIONS if this_visit.format == "html" else None)
    after = start + len(questions.rows)
    quiz = shown.quiz.questions if shown else ()
    trace = this_visit.trace_at(run.id, asked=bool(run.spends))
    given = {
        "quiz": QuizView.of(run),
        "title_of_chapter": None if run.content is None else run.content.chapter.title,
        "weak_points": () if run.weakness is None else run.weakness.weak_points,
        "shown": shown,
        "questions": quiz[start:after],
        "found": (start + 1, after, len(quiz)),
        "versions": versions,
        "most": MOST_VIOLATIONS,
        "cut": partial(cut, most=CHOICE_CHARS),
        "traced": trace is not None,
    }
    tables = (questions, rules_of(versions), violations_of(versions), calls_of(run.spends, trace))
    about = run.id if run.content is None else run.content.chapter.title
    view = PageView(
        title="quiz.title", about=about, template="quiz.html", tables=tables, facts=facts_of(run), given=given
    )
    return this_visit.show(view)


def _row(_visit: Visit, summary: QuizSummary) -> Row:
    """The row of a quiz. A quiz in work or failed has no number of violations, not even 0."""
    ended = summary.finished_at
    address = f"quizzes/{summary.id}"
    return {
        **summary.model_dump(exclude={"models", "providers"}),
        "models": ", ".join(summary.models) or None,
        "providers": ", ".join(summary.providers) or None,
        "quiz_kind": summary.kind,
        "questions": summary.questions or None,
        "violations": summary.violations if summary.state in STATES_WITH_QUIZ else None,
        "seconds": None if ended is None else (ended - summary.created_at).total_seconds(),
        "address": address,
        "violated": f"{address}#versions" if summary.violations else None,
        "of_curriculum": found_at("quizzes", {"curriculum": summary.curriculum}),
        "of_chapter": found_at("quizzes", {"curriculum": summary.curriculum, "chapter": summary.chapter}),
    }


LISTING = Listing(
    name="quizzes",
    query=QuizQuery,
    columns=COLUMNS,
    row=_row,
    words={"status": "quiz_state", "kind": "quiz_kind"},
)


def _shown(this_visit: Visit, run: QuizRun, made: MadeQuiz) -> QuizAttempt | None:
    """The version whose questions are shown: the one asked for, else the one handed out, else the last.

    None if the quiz has no version yet. Raises `InputError` if it does not have the version asked for.
    """
    asked = this_visit.query.get("version") or str((made.attempt if run.over else None) or len(run.attempts))
    found = next((one for one in run.attempts if str(one.number) == asked), None)
    if found is None and this_visit.query.get("version"):
        raise InputError(f"This quiz has {len(run.attempts)} versions, counted from 1.", where="version")
    return found
