"""A task from its creation to its final result: what is stored of it, and the steps by which it changes.

    drafting ─ lock ─> open ─┬─ win ───────────────────────────────────────────────> final      fastest_first
       │                     ├─ end without a winner ──────────────────────────────> final      fastest_first
       └ give up ─> failed   └─ end ─> scoring ─ rank ─> challenge ─ settle ─> … ─ finalise ─> final   quality_first

Every step is a pure function of the record and the moment. One that finds its work done returns the very same record,
so that whatever is delivered twice changes nothing; one that the state does not allow raises `ConflictError`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from touchstone.errors import ConflictError, InputError
from touchstone.oracle.model import Brief, Dimension, Strict, TaskPath
from touchstone.oracle.ranking import Place

LONGEST_CONTEST = timedelta(days=366)
"""From creation to deadline: a state machine lives a year, and a contest needs less."""
LONGEST_CHALLENGE = timedelta(days=30)

type TaskState = Literal["drafting", "open", "scoring", "challenge", "final", "failed"]
"""`drafting`: its dimensions are being made. `failed`: they could not be (see `failure`), and nothing was accepted.
`scoring`: the deadline has passed, and submissions are being compared. `challenge`: the ranking may be challenged."""


class TaskRequest(Strict):
    """A task to be created. `owner` is the party who asks for the work, by the tenant's own name for it.

    `deadline` (with a time zone) ends the submissions. `challenge_seconds` is how long a ranking may be challenged,
    0 to 30 days; a `fastest_first` task is paid when it closes and has no such time.
    """

    brief: Brief
    path: TaskPath
    owner: Annotated[str, Field(min_length=1, max_length=128)]
    deadline: AwareDatetime
    challenge_seconds: Annotated[int, Field(ge=0, le=int(LONGEST_CHALLENGE.total_seconds()))] = 72 * 3600


class Task(Strict):
    """A task as it is stored. Times are UTC.

    `dimensions` are empty until they are locked. `winner` is the winning submission's id, None while there is none and
    in the end where nobody won. `places` are the ranking of a contest, empty before it.
    """

    tenant: str
    id: str
    request: TaskRequest
    state: TaskState = "drafting"
    created_at: datetime
    deadline: datetime
    dimensions: tuple[Dimension, ...] = ()
    failure: str | None = None
    closed_at: datetime | None = None
    winner: str | None = None
    places: tuple[Place, ...] = ()
    challenge_until: datetime | None = None
    final_at: datetime | None = None

    @property
    def contest(self) -> bool:
        """Whether the best at the deadline wins, and not the first that passes."""
        return self.request.path == "quality_first"

    @property
    def takes_challenges(self) -> bool:
        """Whether its ranking may be challenged now."""
        return self.state == "challenge"


def new_task(request: TaskRequest, *, tenant: str, task_id: str, now: datetime) -> Task:
    """The record of a task that was just asked for. Raises `InputError` for a deadline that is past or too far."""
    return Task(
        tenant=tenant,
        id=task_id,
        request=request,
        created_at=now,
        deadline=_deadline(request.deadline, created_at=now, now=now),
    )


def locked(task: Task, dimensions: Sequence[Dimension]) -> Task:
    """The task with its dimensions, open for submissions; they never change again."""
    if task.state != "drafting":
        return task
    return task.model_copy(update={"dimensions": tuple(dimensions), "state": "open"})


def given_up(task: Task, failure: str) -> Task:
    """The task whose dimensions nobody could make; nothing was submitted to it."""
    if task.state != "drafting":
        return task
    return task.model_copy(update={"state": "failed", "failure": failure})


def with_deadline(task: Task, deadline: datetime, *, now: datetime) -> Task:
    """The task with another deadline, earlier or later, which must lie ahead as the one before must.

    Raises `InputError` for a moment that is past or too far, `ConflictError` once submissions have ended.
    """
    if task.state not in {"drafting", "open"} or now >= task.deadline:
        raise ConflictError("The deadline has passed; it cannot be moved any more.")
    moved = _deadline(deadline, created_at=task.created_at, now=now)
    return task if moved == task.deadline else task.model_copy(update={"deadline": moved})


def check_open(task: Task, now: datetime) -> None:
    """Raise `ConflictError` where the task takes no submission at this moment. The deadline itself is too late."""
    match task.state:
        case "open" if now < task.deadline:
            return
        case "drafting":
            raise ConflictError("The task's dimensions are being made; submit when it is open.")
        case "failed":
            raise ConflictError("The task could not be set up and takes no submissions; create it anew.")
        case _:
            raise ConflictError("The task takes no more submissions.")


def won(task: Task, submission_id: str, *, now: datetime) -> Task:
    """The `fastest_first` task closed by the first submission that passed; a later one finds it closed.

    A submission that came before the deadline may win after it, as long as nobody ended the task.
    """
    if task.contest:
        raise ConflictError("A contest is decided at its deadline.")
    if task.state != "open":
        return task
    return task.model_copy(update={"state": "final", "winner": submission_id, "closed_at": now, "final_at": now})


def ended(task: Task, *, now: datetime) -> Task:
    """The task after its deadline: a contest goes on to be scored, any other ends without a winner."""
    if task.state != "open":
        return task
    if now < task.deadline:
        raise ConflictError("The deadline has not come yet.")
    if task.contest:
        return task.model_copy(update={"state": "scoring", "closed_at": now})
    return task.model_copy(update={"state": "final", "closed_at": now, "final_at": now})


def ranked(task: Task, places: Sequence[Place], *, now: datetime) -> Task:
    """The contest with its ranking, which may be challenged from now on; the first of it wins."""
    if task.state != "scoring":
        return task
    until = now + timedelta(seconds=task.request.challenge_seconds)
    return _placed(task, places).model_copy(update={"state": "challenge", "challenge_until": until})


def reranked(task: Task, places: Sequence[Place]) -> Task:
    """The contest with the ranking that a challenge brought. Raises `ConflictError` once the result is final."""
    if not task.takes_challenges:
        raise ConflictError("The result is not open to challenges; it does not change any more.")
    return _placed(task, places)


def finalised(task: Task, *, now: datetime) -> Task:
    """The contest whose challenge period is over. Raises `ConflictError` before its end."""
    if task.state == "final":
        return task
    if task.state != "challenge" or task.challenge_until is None or now < task.challenge_until:
        raise ConflictError("The result may still be challenged.")
    return task.model_copy(update={"state": "final", "final_at": now})


def _placed(task: Task, places: Sequence[Place]) -> Task:
    winner = places[0].submission_id if places else None
    return task.model_copy(update={"places": tuple(places), "winner": winner})


def _deadline(deadline: datetime, *, created_at: datetime, now: datetime) -> datetime:
    if deadline <= now:
        raise InputError("The deadline is past; give one that lies ahead.", where="deadline")
    if deadline - created_at > LONGEST_CONTEST:
        raise InputError(f"The deadline is too far; a task runs {LONGEST_CONTEST.days} days at most.", where="deadline")
    return deadline
