"""A challenge to a contest's ranking: the submission that it names is scored again, by another provider.

    waiting ─ score again ─> waiting ─┬─ another place follows ─> upheld       the new scores and ranking count
                                      ├─ the same place ────────> rejected     everything stands
                                      └─ nobody could judge ────> unresolved   everything stands, and it is said so

The challenger's reason is for people. No judge is shown it, so that nobody can argue a score up. Steps are pure. A step
that finds its work done returns the very same record.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from touchstone.attempts import Attempts, TryEnd
from touchstone.judges.spends import Spend, count_unpriced, known_cost, tokens_of
from touchstone.oracle.model import IndividualScoring, JudgeOpinion, Party, Unjudged, not_blank
from touchstone.oracle.passages import Passage
from touchstone.oracle.ranking import Place
from touchstone.references import Reference
from touchstone.strict import Strict

MAX_REASON_CHARS = 4_000

type ChallengeState = Literal["waiting", "upheld", "rejected", "unresolved"]


class ChallengeRequest(Strict):
    """A challenge to be made.

    `challenger` is a party of the task, by the name that the tenant uses for it. `reason` is a text for people.
    """

    challenger: Party
    submission_id: Annotated[str, Field(min_length=1, max_length=64)]
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARS), AfterValidator(not_blank)]


class Challenge(Strict):
    """A challenge as it is stored. Times are UTC.

    `provider` scores the submission again; it is chosen once, and None before. `scoring` is what it said of the
    submission by itself, None before; it is computed from `readings` and `passages`. `finalists` are those that must be
    compared again because of the challenge; empty if there are none. `places` is the new ranking, stored with the
    decision; empty if the earlier one stands. `failure` says why nobody could judge. `carried_until` is when the
    carrier of the challenge looks at it again; None before it is carried. `settled`: the task and its submissions were
    updated by the decision, and nothing is left to do.
    """

    tenant: str
    task_id: str
    id: str
    challenger: str
    submission_id: str
    reason: str
    created_at: datetime
    state: ChallengeState = "waiting"
    provider: str | None = None
    attempts: Attempts = Attempts()
    scoring: IndividualScoring | None = None
    readings: tuple[JudgeOpinion, ...] = ()
    passages: tuple[Passage, ...] = ()
    finalists: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    failure: Unjudged | None = None
    carried_until: datetime | None = None
    decided_at: datetime | None = None
    settled: bool = False
    spends: tuple[Spend, ...] = ()

    @property
    def ref(self) -> Reference:
        """The reference to the challenge."""
        return Reference(self.tenant, "challenge", self.id, self.task_id)


class ChallengeView(Strict):
    """A challenge as a party of its task sees it.

    `unscored` is why nobody could judge the submission again, null if somebody could. `because` says it in sentences,
    empty if there is nothing to say. `provider` is the provider that scored again, and `new_total` the new total of the
    submission; both are null until the challenge is decided. `tokens` and `cost_usd` (US dollars, known prices only)
    are what the challenge took.
    """

    id: str
    task_id: str
    challenger: str
    submission_id: str
    reason: str
    state: ChallengeState
    created_at: datetime
    decided_at: datetime | None
    provider: str | None
    new_total: float | None
    unscored: str | None
    because: tuple[str, ...]
    tokens: int
    cost_usd: float | None
    unpriced_calls: int

    @classmethod
    def of(cls, challenge: Challenge) -> "ChallengeView":
        """The view of a challenge. The second opinion is shown once the challenge is decided."""
        judged = challenge.scoring if challenge.state in {"upheld", "rejected"} else None
        failure = challenge.failure if challenge.state == "unresolved" else None
        return cls(
            id=challenge.id,
            task_id=challenge.task_id,
            challenger=challenge.challenger,
            submission_id=challenge.submission_id,
            reason=challenge.reason,
            state=challenge.state,
            created_at=challenge.created_at,
            decided_at=challenge.decided_at,
            provider=challenge.provider if challenge.state != "waiting" else None,
            new_total=None if judged is None else judged.penalized_total,
            unscored=failure.reason if failure is not None else None,
            because=failure.details if failure is not None else (),
            tokens=tokens_of(challenge.spends),
            cost_usd=known_cost(challenge.spends),
            unpriced_calls=count_unpriced(challenge.spends),
        )


def begun(challenge: Challenge, *, now: datetime) -> Challenge:
    """The challenge with one more try to score again. The very same record if no try may begin now."""
    if challenge.state != "waiting" or challenge.scoring is not None:
        return challenge
    attempts = challenge.attempts.begun(now=now)
    return challenge if attempts is None else challenge.model_copy(update={"attempts": attempts})


def put_back(challenge: Challenge, why: Unjudged, *, until: datetime, ended: TryEnd) -> Challenge:
    """The challenge after a try that brought no result. The next try begins at `until` or later."""
    if challenge.state != "waiting":
        return challenge
    attempts = challenge.attempts.put_back(until=until, ended=ended)
    return challenge.model_copy(update={"attempts": attempts, "failure": why})


def carried(challenge: Challenge, until: datetime) -> Challenge:
    """The challenge with a note that its carrier looks at it again at `until` at the latest."""
    late = challenge.carried_until is not None and challenge.carried_until >= until
    if challenge.state != "waiting" or late:
        return challenge
    return challenge.model_copy(update={"carried_until": until})


def chosen(challenge: Challenge, provider: str) -> Challenge:
    """The challenge with the provider that scores again.

    The first one stays, for every question that the challenge causes.
    """
    if challenge.state != "waiting" or challenge.provider is not None:
        return challenge
    return challenge.model_copy(update={"provider": provider})


def rescored(
    challenge: Challenge,
    scoring: IndividualScoring,
    *,
    readings: Sequence[JudgeOpinion],
    passages: Sequence[Passage],
) -> Challenge:
    """The challenge with the second opinion on its submission. The first one counts."""
    if challenge.state != "waiting" or challenge.scoring is not None:
        return challenge
    found = {"scoring": scoring, "readings": tuple(readings), "passages": tuple(passages)}
    return challenge.model_copy(update={**found, "attempts": Attempts(), "failure": None})


def to_compare(challenge: Challenge, finalists: Sequence[str]) -> Challenge:
    """The challenge with the finalists that must be compared again because of it. A repeat changes nothing."""
    if challenge.state != "waiting" or challenge.finalists == tuple(finalists):
        return challenge
    return challenge.model_copy(update={"finalists": tuple(finalists)})


def decided(
    challenge: Challenge,
    state: Literal["upheld", "rejected"],
    *,
    places: Sequence[Place] = (),
    now: datetime,
) -> Challenge:
    """The challenge with its decision and, if it is upheld, the new ranking. The first decision counts."""
    if challenge.state != "waiting":
        return challenge
    return challenge.model_copy(update={"state": state, "places": tuple(places), "decided_at": now, "failure": None})


def unresolved(challenge: Challenge, why: Unjudged, *, now: datetime) -> Challenge:
    """The challenge that nobody could judge, with the reason. The ranking stands."""
    if challenge.state != "waiting":
        return challenge
    return challenge.model_copy(update={"state": "unresolved", "failure": why, "decided_at": now})


def settled(challenge: Challenge) -> Challenge:
    """The decided challenge after the task and its submissions were updated: nothing is left to do."""
    if challenge.state == "waiting" or challenge.settled:
        return challenge
    return challenge.model_copy(update={"settled": True})
