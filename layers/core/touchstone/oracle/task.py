"""A task from its creation to its final result: what is stored of it, and the steps by which it changes.

    drafting ─ lock ─> open ─┬─ win ─────────────────────────────────────> final     fastest_first
       │                     └─ end ─> scoring ─┬─ win, or nobody won ───> final     fastest_first
       └ give up ─> failed                      └─ rank ─> challenge ───> final     quality_first

Every step is a pure function of the record and the moment. One that finds its work done returns the very same record,
so that whatever is delivered twice changes nothing; one that the state does not allow raises `ConflictError`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator
from pydantic_core import PydanticCustomError

from touchstone.attempts import Attempts, TryEnd, When
from touchstone.errors import ConflictError, InputError
from touchstone.judges.base import JudgeCount, PanelSize
from touchstone.judges.spends import Spend
from touchstone.oracle.model import Brief, Dimension, Party, TaskPath
from touchstone.oracle.ranking import Place, winner_of
from touchstone.references import Reference
from touchstone.strict import Strict

LONGEST_CONTEST = timedelta(days=330)
"""From creation to deadline: what carries a task lives a year, and the challenge period is to fit into it."""
LONGEST_CHALLENGE = timedelta(days=30)
MAX_CHALLENGES = 20
"""Challenges to one ranking by others than the authors: each may have all finalists compared again, a dozen calls."""
CHALLENGES_A_PARTY = 3
"""Those of one party to the places of others, so that none uses up what all may."""
MAX_DEADLINE_MOVES = 50
"""Each leaves an execution asleep until the deadline before it."""

type TaskState = Literal["drafting", "open", "scoring", "challenge", "final", "failed"]
"""`drafting`: its dimensions are being made. `failed`: they could not be (see `failure`), and nothing was accepted.
`scoring`: the deadline has passed, and what came before it is judged. `challenge`: the ranking may be challenged."""


class TaskRequest(Strict):
    """A task to be created. `owner` is the party who asks for the work, by the tenant's own name for it.

    `deadline` (with a time zone) ends the submissions. `challenge_seconds` is how long a ranking may be challenged,
    0 to 30 days; a `fastest_first` task is paid when it closes and has no such time. `judges` is how many check the
    acceptance criteria of each submission: 1 (a second only where the first is not as sure as labels ask of it), 2 or 3
    of different providers, of whom more than half must agree, or `until_sure`, one after the other until one is sure.
    `scoring_judges` is how many score it and compare a contest's finalists: of 2 or 3 the median counts. A challenge is
    scored by one of a provider that is none of theirs. `when` says how: `cheap` lets the scorings of a contest go by a
    provider's batch, at a part of the price, as long as the deadline leaves the time for it. Criteria are always
    checked at once, and several judges always score at once: both with `cheap` are refused.
    """

    brief: Brief
    path: TaskPath
    owner: Party
    deadline: AwareDatetime
    challenge_seconds: Annotated[int, Field(ge=0, le=int(LONGEST_CHALLENGE.total_seconds()))] = 72 * 3600
    judges: JudgeCount = 1
    scoring_judges: PanelSize = 1
    when: When = "now"

    @model_validator(mode="after")
    def _can_wait(self) -> Self:
        if self.when == "cheap" and self.path != "quality_first":
            raise PydanticCustomError(
                "cannot_wait", "of {path} tasks each scoring is waited for; leave `when` out", {"path": self.path}
            )
        if self.when == "cheap" and self.scoring_judges > 1:
            raise PydanticCustomError(
                "panels_are_asked_at_once", "several judges score at once; leave `when` out, or `scoring_judges`"
            )
        return self


class Task(Strict):
    """A task as it is stored. Times are UTC.

    `deadline` is the one that holds, after `deadline_moves` moves. `dimensions` are empty until they are locked;
    `drafting` counts the tries to make them, and `failure` is why the last of them brought none, None where one did.
    `winner` is the winning submission's id, None while there is none and in the end where nobody won. `places` are the
    ranking of a contest, empty before it. `carried_until` is when whoever carries the closed task looks at it again,
    None before. `challenges` counts those to the places of others' work, and `undecided` are the ids of those that
    wait for a decision, in the order of their arrival. `spends` are the judge calls that the dimensions cost.
    """

    tenant: str
    id: str
    request: TaskRequest
    state: TaskState = "drafting"
    created_at: datetime
    deadline: datetime
    deadline_moves: Annotated[int, Field(ge=0)] = 0
    dimensions: tuple[Dimension, ...] = ()
    drafting: Attempts = Attempts()
    failure: str | None = None
    closed_at: datetime | None = None
    winner: str | None = None
    places: tuple[Place, ...] = ()
    challenge_until: datetime | None = None
    carried_until: datetime | None = None
    challenges: Annotated[int, Field(ge=0)] = 0
    undecided: tuple[str, ...] = ()
    final_at: datetime | None = None
    spends: tuple[Spend, ...] = ()

    @property
    def ref(self) -> Reference:
        """The reference to it."""
        return Reference(self.tenant, "task", self.id)

    @property
    def contest(self) -> bool:
        """Whether the best at the deadline wins, and not the first that passes."""
        return self.request.path == "quality_first"


def new_task(request: TaskRequest, *, tenant: str, task_id: str, now: datetime) -> Task:
    """The record of a task that was just asked for. Raises `InputError` for a deadline that is past or too far."""
    return Task(
        tenant=tenant,
        id=task_id,
        request=request,
        created_at=now,
        deadline=_deadline(request.deadline, created_at=now, now=now),
    )


def draft_begun(task: Task, *, now: datetime) -> Task:
    """The task with one more try to make its dimensions; the very same where that is not to be tried now."""
    if task.state != "drafting" or (begun := task.drafting.begun(now=now)) is None:
        return task
    return task.model_copy(update={"drafting": begun})


def draft_put_back(task: Task, failure: str, *, until: datetime, ended: TryEnd, spends: Sequence[Spend] = ()) -> Task:
    """The task whose dimensions are to be tried again, not before `until`, since `failure`."""
    if task.state != "drafting":
        return task
    drafting = task.drafting.put_back(until=until, ended=ended)
    return task.model_copy(update={"drafting": drafting, "failure": failure, "spends": (*task.spends, *spends)})


def locked(task: Task, dimensions: Sequence[Dimension], *, spends: Sequence[Spend] = ()) -> Task:
    """The task with its dimensions, open for submissions; they never change again."""
    if task.state != "drafting":
        return task
    return task.model_copy(
        update={
            "dimensions": tuple(dimensions),
            "state": "open",
            "failure": None,
            "spends": (*task.spends, *spends),
        }
    )


def given_up(task: Task, failure: str, *, spends: Sequence[Spend] = ()) -> Task:
    """The task whose dimensions nobody could make; nothing was submitted to it."""
    if task.state != "drafting":
        return task
    return task.model_copy(update={"state": "failed", "failure": failure, "spends": (*task.spends, *spends)})


def with_deadline(task: Task, deadline: datetime, *, now: datetime) -> Task:
    """The task with another deadline, earlier or later, which must lie ahead as the one before must.

    Raises `InputError` for a moment that is past or too far, `ConflictError` once submissions have ended.
    """
    if now >= task.deadline:
        raise ConflictError("The deadline has passed; it cannot be moved any more.")
    if task.state not in {"drafting", "open"}:
        raise ConflictError("The task is over; its deadline cannot be moved any more.")
    moved = _deadline(deadline, created_at=task.created_at, now=now)
    if moved == task.deadline:
        return task
    if task.deadline_moves >= MAX_DEADLINE_MOVES:
        raise ConflictError(f"The deadline was moved {MAX_DEADLINE_MOVES} times, which is all that it can be.")
    return task.model_copy(update={"deadline": moved, "deadline_moves": task.deadline_moves + 1})


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


def carried(task: Task, until: datetime) -> Task:
    """The closed task that somebody carries on, who looks at it again at `until` at the latest."""
    if task.state not in {"scoring", "challenge"} or (task.carried_until is not None and task.carried_until >= until):
        return task
    return task.model_copy(update={"carried_until": until})


def won(task: Task, submission_id: str, *, now: datetime) -> Task:
    """The `fastest_first` task closed by the first submission that passed; a later one finds it closed.

    A submission that came before the deadline may win after it, as long as the task is not final.
    """
    if task.contest:
        raise ConflictError("A contest is decided at its deadline.")
    if task.state not in {"open", "scoring"}:
        return task
    closed = task.closed_at or now
    return task.model_copy(update={"state": "final", "winner": submission_id, "closed_at": closed, "final_at": now})


def ended(task: Task, *, now: datetime) -> Task:
    """The task after its deadline: nothing is handed in any more, and what was is judged to its end."""
    if task.state != "open":
        return task
    if now < task.deadline:
        raise ConflictError("The deadline has not come yet.")
    return task.model_copy(update={"state": "scoring", "closed_at": now})


def nobody_won(task: Task, *, now: datetime) -> Task:
    """The `fastest_first` task to which nothing was handed in that passes."""
    if task.contest:
        raise ConflictError("A contest ends with its ranking.")
    if task.state != "scoring":
        return task
    return task.model_copy(update={"state": "final", "final_at": now})


def ranked(task: Task, places: Sequence[Place], *, now: datetime, spends: Sequence[Spend] = ()) -> Task:
    """The contest with its ranking, which may be challenged from now on; the first of it wins.

    `spends` are the calls that compared its finalists.
    """
    if task.state != "scoring":
        return task
    until = now + timedelta(seconds=task.request.challenge_seconds)
    return _placed(task, places).model_copy(
        update={"state": "challenge", "challenge_until": until, "spends": (*task.spends, *spends)}
    )


def challenged(task: Task, challenge_id: str, *, own: bool = False, now: datetime) -> Task:
    """The contest with one more challenge to its ranking. Raises `ConflictError` where it takes none.

    `own`: an author's to the place of its own work, which is always taken.
    """
    if challenge_id in task.undecided:
        return task
    if not task.contest:
        raise ConflictError("A task of this path is paid when it closes; its result cannot be challenged.")
    if task.state in {"drafting", "open", "scoring", "failed"}:
        raise ConflictError("There is no ranking yet that could be challenged.")
    if task.state == "final" or task.challenge_until is None or now >= task.challenge_until:
        raise ConflictError("The time for challenges is over; the result does not change any more.")
    if not own and task.challenges >= MAX_CHALLENGES:
        raise ConflictError(f"This ranking was challenged {MAX_CHALLENGES} times, which is all that it can be.")
    return task.model_copy(
        update={"challenges": task.challenges + (not own), "undecided": (*task.undecided, challenge_id)}
    )


def decided(task: Task, challenge_id: str, places: Sequence[Place] | None) -> Task:
    """The contest after a decision on a challenge. `places`: the ranking that it brought; None: the one before stands.

    Nothing changes where the challenge was decided already, and once the result is final.
    """
    if task.state != "challenge" or challenge_id not in task.undecided:
        return task
    left = tuple(one for one in task.undecided if one != challenge_id)
    placed = task if places is None else _placed(task, places)
    return placed.model_copy(update={"undecided": left})


def finalised(task: Task, *, now: datetime) -> Task:
    """The contest whose challenge period is over. Raises `ConflictError` before, and while a challenge is undecided."""
    if task.state == "final":
        return task
    if task.state != "challenge" or task.challenge_until is None or now < task.challenge_until:
        raise ConflictError("The result may still be challenged.")
    if task.undecided:
        raise ConflictError("A challenge to the ranking is not decided yet.")
    return task.model_copy(update={"state": "final", "final_at": now})


def _placed(task: Task, places: Sequence[Place]) -> Task:
    return task.model_copy(update={"places": tuple(places), "winner": winner_of(places)})


def _deadline(deadline: datetime, *, created_at: datetime, now: datetime) -> datetime:
    if deadline <= now:
        raise InputError("The deadline is past; give one that lies ahead.", where="deadline")
    if deadline - created_at > LONGEST_CONTEST:
        raise InputError(f"The deadline is too far; a task runs {LONGEST_CONTEST.days} days at most.", where="deadline")
    return deadline.astimezone(UTC)
