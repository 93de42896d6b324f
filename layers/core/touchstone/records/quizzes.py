"""How quizzes that are made or checked are stored, listed and found."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from touchstone.attempts import LEASE
from touchstone.judges.spends import count_unpriced, known_cost, models_of, providers_of
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
    """One line of a list of quizzes.

    `chapter` is the id of the chapter, null for a check without one. `questions` and `violations` are those of the
    attempt that is returned; they are 0 until the quiz is over. `cost_usd` is the sum of the known prices of all calls
    so far in US dollars, null for a quiz stored before this was kept. `title` is the title of the chapter, or for a
    check without one the first question, in at most 160 characters; it is null before it is known. `language` is the
    language of the questions, null if nobody asked for one. `models` and `providers` are those that were asked so far.
    Quizzes that an earlier release stored have none of these fields here until they change.
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
"""The filters and texts by which quizzes are found."""


class QuizQuery(ListQuery):
    """The filters of a list of quizzes. A filter that is null excludes nothing; all given filters must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["generating", "checking", "clean", "violations", "unchecked", "failed", "unfinished", "ended"] | None,
        Field(description="The state. `unfinished`: `generating` or `checking`. `ended`: any other state."),
    ] = None
    kind: Annotated[
        RunKind | None,
        Field(description="Whether the quiz was made (`generate`), or somebody's own quiz was checked (`check`)."),
    ] = None
    curriculum: Annotated[ShortText | None, Field(description="The id of the curriculum.")] = None
    chapter: Annotated[ShortText | None, Field(description="The id of the chapter.")] = None
    language: Annotated[LanguageTag | None, Field(description="The language of the questions.")] = None
    model: Annotated[ShortText | None, Field(description="The exact name of a model that was asked.")] = None
    provider: Annotated[ShortText | None, Field(description="A provider whose model was asked.")] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(description="Words. Each must be in a question, in a choice or in the chapter's title."),
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
        unpriced_calls=count_unpriced(run.spends),
        created_at=run.created_at,
        finished_at=run.finished_at,
        title=None if title is None else beginning(title),
        language=run.weakness.ui_language if run.weakness else run.request.ui_language,
        models=models_of(run.spends),
        providers=providers_of(run.spends),
    )


def _due(run: QuizRun) -> datetime | None:
    """When the quiz should be over. If nobody has begun it: when the process that took it has certainly ended."""
    if run.over:
        return None
    # A quiz that nobody has begun may wait for its turn as long as the function that took it lives.
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
