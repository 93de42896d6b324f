"""Quizzes that are made or checked."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from touchstone.attempts import LEASE
from touchstone.judges.spends import known_cost, models_of, providers_of, unpriced
from touchstone.quizzes.curriculum import Chapter, LanguageTag
from touchstone.quizzes.run import QuizRun, RunKind, RunState
from touchstone.records.jobs import Job, JobStore
from touchstone.records.list_query import (
    CostFrom,
    CostTo,
    Findable,
    LineFilter,
    ListQuery,
    SearchText,
    ShortText,
    beginning,
    standing,
)
from touchstone.strict import Strict


class QuizSummary(Strict):
    """One line of a list of quizzes. `chapter` is its id, null for a check without one.

    `questions` and `violations` are of the attempt that is handed out, and of a quiz that is not over 0. `cost_usd` is
    the known prices of all calls so far, None where it was stored before that was kept. `title` is the chapter's, or
    of a check without one the first question, in 160 characters at most; null before it is known. `language` is the
    one of its questions, null where nobody asked for one. `models` and `providers` are those that were asked so far.
    Quizzes that an earlier release stored have none of these here until they change.
    """

    id: str
    kind: RunKind
    state: RunState
    curriculum: str | None
    chapter: str | None
    questions: int
    violations: int
    attempts: int
    cost_usd: float | None = None
    unpriced_calls: int = 0
    created_at: datetime
    finished_at: datetime | None
    title: str | None = None
    language: LanguageTag | None = None
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()


def _texts(run: QuizRun) -> Iterator[str | None]:
    yield _title(run)
    for attempt in run.attempts:
        for question in attempt.quiz.questions:
            yield question.question_text
            yield from question.choices


FINDABLE = Findable[QuizRun, QuizSummary](
    filters={
        "status": LineFilter(of=lambda line: standing(line.state, over=line.finished_at is not None)),
        "kind": LineFilter(of=lambda line: (line.kind,)),
        "curriculum": LineFilter(of=lambda line: (line.curriculum,)),
        "chapter": LineFilter(of=lambda line: (line.chapter,)),
        "language": LineFilter(of=lambda line: (line.language,), field="language"),
        "model": LineFilter(of=lambda line: line.models, field="models"),
        "provider": LineFilter(of=lambda line: line.providers, field="providers"),
    },
    said=lambda line: (line.title,),
    texts=_texts,
)
"""By what quizzes are found."""


class QuizQuery(ListQuery):
    """Which quizzes a list shows. What is left out (null) leaves out nothing; all that is given must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["generating", "checking", "clean", "violations", "unchecked", "failed", "unfinished", "ended"] | None,
        Field(description="How far they are; `unfinished`: the first two, `ended`: the others."),
    ] = None
    kind: Annotated[RunKind | None, Field(description="Whether they were made, or somebody's own checked.")] = None
    curriculum: Annotated[ShortText | None, Field(description="The id of the curriculum.")] = None
    chapter: Annotated[ShortText | None, Field(description="The id of the chapter.")] = None
    language: Annotated[LanguageTag | None, Field(description="The language of their questions.")] = None
    model: Annotated[ShortText | None, Field(description="A model that was asked, to the letter.")] = None
    provider: Annotated[ShortText | None, Field(description="Whose model was asked.")] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(description="Words of which each stands in a question, a choice or the chapter's title."),
    ] = None


def _title(run: QuizRun) -> str | None:
    chapter = run.request.chapter
    if run.content is not None:
        return run.content.chapter.title
    if isinstance(chapter, Chapter):
        return chapter.title
    return run.attempts[0].quiz.questions[0].question_text if run.attempts and run.attempts[0].quiz.questions else None


def _summary(run: QuizRun) -> QuizSummary:
    made = run.made if run.over else None
    chapter = run.request.chapter
    title = _title(run)
    return QuizSummary(
        id=run.id,
        kind=run.kind,
        state=run.state,
        curriculum=run.request.curriculum,
        chapter=chapter.id if isinstance(chapter, Chapter) else chapter,
        questions=len(made.quiz.questions) if made and made.quiz else 0,
        violations=len(made.violations) if made else 0,
        attempts=len(run.attempts),
        cost_usd=known_cost(run.spends),
        unpriced_calls=unpriced(run.spends),
        created_at=run.created_at,
        finished_at=run.finished_at,
        title=None if title is None else beginning(title),
        language=run.weakness.ui_language if run.weakness else run.request.ui_language,
        models=models_of(run.spends),
        providers=providers_of(run.spends),
    )


def _due(run: QuizRun) -> datetime | None:
    """When it should be over; of one that nobody began, when whoever took it is certainly gone."""
    if run.over:
        return None
    # One that nobody began may wait for its turn, as long as the function lives that took it.
    left_until = run.left_until if run.waiting is None else run.waiting.left_until
    return left_until or run.deadline or run.created_at + LEASE


type Quizzes = JobStore[QuizRun, QuizSummary]
QUIZ = Job(
    kind="quiz",
    plural="quizzes",
    model=QuizRun,
    asked=lambda run: run.request.model_dump_json(),
    line=QuizSummary,
    summary=_summary,
    due=_due,
)
"""How quizzes are stored."""
