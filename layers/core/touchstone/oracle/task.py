"""A task from its creation to its final result: the stored record, and the steps that change it.

    drafting ─ lock ─> open ─┬─ win ─────────────────────────────────────> final     fastest_first
       │                     └─ end ─> scoring ─┬─ win, or nobody won ───> final     fastest_first
       └ give up ─> failed                      └─ rank ─> challenge ───> final     quality_first

Every step is a pure function of the record and the moment. A step that finds its work done returns the very same
record, so that a message that is delivered twice changes nothing. A step that the state does not allow raises
`ConflictError`.
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
"""Longest time from creation to deadline. The execution that carries a task lives a year, and the challenge period must
fit into that year, too."""
LONGEST_CHALLENGE = timedelta(days=30)
MAX_CHALLENGES = 20
"""Most challenges to one ranking, not counting those of authors to the place of their own work. Each may cause a new
comparison of all finalists, which is a dozen calls."""
CHALLENGES_PER_PARTY = 3
"""Most challenges of one party to the places of others, so that no party uses up `MAX_CHALLENGES` alone."""
MAX_DEADLINE_MOVES = 50
"""Most moves of a deadline. Each move leaves behind an execution that sleeps until the earlier deadline."""

type TaskState = Literal["drafting", "open", "scoring", "challenge", "final", "failed"]
"""`drafting`: its dimensions are being made. `failed`: the dimensions could not be made (see `failure`), and no
submission was accepted. `scoring`: the deadline has passed, and the submissions that came before it are judged.
`challenge`: the ranking may be challenged."""
DECIDED: frozenset[object] = frozenset({"challenge", "final"})
"""The states in which a contest has a ranking and the parties of a task may read each other's work."""


class TaskRequest(Strict):
    """A task to be created. `owner` is the party that asks for the work, by the name that the tenant uses for it.

    `deadline` (with a time zone) ends the submissions. `challenge_seconds` is how long a ranking may be challenged: 0
    to 30 days. A `fastest_first` task has no such time, since it is paid when it closes.

    `judges` is how many judges check the acceptance criteria of each submission. 1 asks one judge, and a second only if
    the first is not as sure as the labels require. 2 or 3 asks that many, each of another provider, and more than half
    must agree. `until_sure` asks one after the other until one is sure. `scoring_judges` is how many judges score a
    submission and compare the finalists of a contest; with 2 or 3, the median counts. A challenge is scored by a
    provider that is none of theirs.

    `when` is how scorings are asked for. `cheap` lets the scorings of a contest go by a provider's batch, at a part of
    the price, as long as the deadline leaves time for it. Criteria are always checked at once. Several scoring judges
    always score at once, so several judges together with `cheap` are refused.
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

    `deadline` is the present one, after `deadline_moves` moves. `dimensions` are empty until they are locked.
    `drafting` counts the tries to make them. `failure` says why the last try made none; None if it made them. `winner`
    is the winning submission's id; None while there is no winner, and at the end if nobody won. `places` are the
    ranking of a contest, empty before there is one. `carried_until` is when the carrier of the closed task looks at it
    again; None before it is closed. `challenges` counts the challenges to the places of others' work. `undecided` are
    the ids of challenges that wait for a decision, in the order of their arrival. `spends` are the judge calls that the
    dimensions and the comparisons of the ranking cost.
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
        """The reference to the task."""
        return Reference(self.tenant, "task", self.id)

    @property
    def contest(self) -> bool:
        """Whether the best submission at the deadline wins, and not the first one that passes."""
        return self.request.path == "quality_first"


def new_task(request: TaskRequest, *, tenant: str, task_id: str, now: datetime) -> Task:
    """The record of a task that was just requested. Raises `InputError` for a deadline that is past or too far away."""
    return Task(
        tenant=tenant,
        id=task_id,
        request=request,
        created_at=now,
        deadline=_deadline(request.deadline, created_at=now, now=now),
    )


def draft_begun(task: Task, *, now: datetime) -> Task:
    """The task with one more try to make its dimensions. The very same record if no try may begin now."""
    if task.state != "drafting" or (begun := task.drafting.begun(now=now)) is None:
        return task
    return task.model_copy(update={"drafting": begun})


def draft_put_back(task: Task, failure: str, *, until: datetime, ended: TryEnd) -> Task:
    """The task after a try to make its dimensions failed with `failure`. The next try begins at `until` or later."""
    if task.state != "drafting":
        return task
    drafting = task.drafting.put_back(until=until, ended=ended)
    return task.model_copy(update={"drafting": drafting, "failure": failure})


def locked(task: Task, dimensions: Sequence[Dimension]) -> Task:
    """The task with its dimensions, open for submissions. The dimensions never change again."""
    if task.state != "drafting":
        return task
    return task.model_copy(update={"dimensions": tuple(dimensions), "state": "open", "failure": None})


def given_up(task: Task, failure: str) -> Task:
    """The task whose dimensions nobody could make. It has no submissions."""
    if task.state != "drafting":
        return task
    return task.model_copy(update={"state": "failed", "failure": failure})


def with_deadline(task: Task, deadline: datetime, *, now: datetime) -> Task:
    """The task with another deadline, earlier or later. Both the old and the new deadline must lie ahead.

    Raises `InputError` for a moment that is past or too far away, and `ConflictError` if submissions have ended or the
    deadline was moved too often.
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
    """Raise `ConflictError` if the task takes no submissions at this moment. At the deadline itself it takes none."""
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
    """The closed task with a note that its carrier looks at it again at `until` at the latest."""
    if task.state not in {"scoring", "challenge"} or (task.carried_until is not None and task.carried_until >= until):
        return task
    return task.model_copy(update={"carried_until": until})


def won(task: Task, submission_id: str, *, now: datetime) -> Task:
    """The `fastest_first` task, closed by the first submission that passed. A later winner changes nothing.

    A submission that came before the deadline may still win after it, as long as the task is not final. Raises
    `ConflictError` for a contest.
    """
    if task.contest:
        raise ConflictError("A contest is decided at its deadline.")
    if task.state not in {"open", "scoring"}:
        return task
    closed = task.closed_at or now
    return task.model_copy(update={"state": "final", "winner": submission_id, "closed_at": closed, "final_at": now})


def ended(task: Task, *, now: datetime) -> Task:
    """The task after its deadline. It takes no more submissions; those that it has are judged to the end."""
    if task.state != "open":
        return task
    if now < task.deadline:
        raise ConflictError("The deadline has not come yet.")
    return task.model_copy(update={"state": "scoring", "closed_at": now})


def nobody_won(task: Task, *, now: datetime) -> Task:
    """The `fastest_first` task after all its submissions were judged and none passed."""
    if task.contest:
        raise ConflictError("A contest ends with its ranking.")
    if task.state != "scoring":
        return task
    return task.model_copy(update={"state": "final", "final_at": now})


def ranked(task: Task, places: Sequence[Place], *, now: datetime) -> Task:
    """The contest with its ranking, which may be challenged from now on. The submission in the first place wins."""
    if task.state != "scoring":
        return task
    until = now + timedelta(seconds=task.request.challenge_seconds)
    return _placed(task, places).model_copy(update={"state": "challenge", "challenge_until": until})


def challenged(task: Task, challenge_id: str, *, own: bool = False, now: datetime) -> Task:
    """The contest with one more challenge to its ranking. Raises `ConflictError` if it takes no challenge.

    `own`: an author challenges the place of its own work. Such a challenge is taken even after `MAX_CHALLENGES` of
    others, and does not count among them.
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
    """The contest after a decision on a challenge.

    `places` is the new ranking; None if the earlier one stands. Nothing changes if the challenge was decided already,
    or if the result is final.
    """
    if task.state != "challenge" or challenge_id not in task.undecided:
        return task
    left = tuple(one for one in task.undecided if one != challenge_id)
    placed = task if places is None else _placed(task, places)
    return placed.model_copy(update={"undecided": left})


def finalised(task: Task, *, now: datetime) -> Task:
    """The contest after its challenge period.

    Raises `ConflictError` before its end, and while a challenge is undecided.
    """
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
