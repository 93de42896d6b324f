"""A task as a reader sees it: everybody in its tenant sees the task itself, and its parties see the ranking as well."""

from datetime import datetime

from pydantic import Field

from touchstone.attempts import When
from touchstone.judges.base import JudgeCount
from touchstone.judges.spends import count_unpriced, known_cost, tokens_of
from touchstone.oracle.model import Brief, Dimension, TaskPath
from touchstone.oracle.ranking import Place
from touchstone.oracle.task import DECIDED, Task, TaskState
from touchstone.strict import Strict


class TaskView(Strict):
    """A task and its progress. Times are UTC.

    `dimensions` is empty until they are locked. `failure` is why there are none yet, or never will be, and
    `tried_again_at` is when they are tried again. `winner` is the id of the winning submission; it is null as long as
    there is none, and in the end if nobody won. `ranking` holds the surviving submissions, best first. It is given to
    the parties of a contest once the contest is ranked, and is null for everybody else and before that. A rank of null
    is a finalist that nobody could compare.

    `judges` is how many judges check the criteria of a submission, and `scoring_judges` how many score it. `when` is
    how the scorings of a contest are asked for. `undecided_challenges` is the number of challenges that keep the result
    open. `tokens` and `cost_usd` (US dollars, known prices only) are those of making the dimensions, and of comparing
    the finalists once the task is ranked. Each submission and each challenge has its own.
    """

    id: str
    path: TaskPath
    owner: str
    state: TaskState
    brief: Brief
    dimensions: tuple[Dimension, ...]
    failure: str | None
    tried_again_at: datetime | None
    created_at: datetime
    deadline: datetime
    challenge_seconds: int
    judges: JudgeCount
    when: When = "now"
    scoring_judges: int
    closed_at: datetime | None
    challenge_until: datetime | None
    undecided_challenges: int = Field(ge=0)
    final_at: datetime | None
    winner: str | None
    ranking: tuple[Place, ...] | None
    tokens: int = Field(ge=0)
    cost_usd: float | None = Field(ge=0.0)
    unpriced_calls: int = Field(ge=0)

    @classmethod
    def of(cls, task: Task, *, party: bool) -> "TaskView":
        """The view of a task. `party`: whether the reader owns the task or handed in a submission to it."""
        ranked = task.contest and task.state in DECIDED
        return cls(
            id=task.id,
            path=task.request.path,
            owner=task.request.owner,
            state=task.state,
            brief=task.request.brief,
            dimensions=task.dimensions,
            failure=task.failure,
            tried_again_at=task.drafting.not_before if task.state == "drafting" and task.failure else None,
            created_at=task.created_at,
            deadline=task.deadline,
            challenge_seconds=task.request.challenge_seconds,
            judges=task.request.judges,
            when=task.request.when,
            scoring_judges=task.request.scoring_judges,
            closed_at=task.closed_at,
            challenge_until=task.challenge_until,
            undecided_challenges=len(task.undecided),
            final_at=task.final_at,
            winner=task.winner,
            ranking=task.places if ranked and party else None,
            tokens=tokens_of(task.spends),
            cost_usd=known_cost(task.spends),
            unpriced_calls=count_unpriced(task.spends),
        )
