"""One case of a deployment's audit: the input of the work on it, and its progress. Nothing here holds a key.

Each step of the work, a turn of the agent or the proofs of an earlier audit, is a try of its own. Changes of the record
are pure functions. One that finds its work done returns the very same record.
"""

from datetime import datetime

from touchstone.attempts import BATCHED, Attempts, TryEnd
from touchstone.audits.case import BlindCase
from touchstone.audits.report import StoredProof
from touchstone.judges.batches import BatchReply
from touchstone.judges.spends import Spend
from touchstone.parts import Part
from touchstone.references import Reference
from touchstone.strict import Strict


class CaseTask(Strict):
    """The input of the work on one case; it holds nothing of the key.

    `before` are the proofs of an earlier audit, if any.
    """

    number: int
    case: BlindCase
    before: tuple[StoredProof, ...] | None = None


class RecheckState(Strict):
    """The present results of an earlier audit's proofs, in their order, as far as they were run.

    `stands`: whether every option stands as it did. None until all proofs were run.
    """

    proofs: tuple[StoredProof, ...] = ()
    stands: bool | None = None


class BatchTurn(Strict):
    """What a provider's batch brought for a case's first turn, under its `address`.

    `spends` are the calls that were paid for it.
    """

    address: str
    provider: str
    reply: BatchReply
    spends: tuple[Spend, ...]

    @property
    def usable(self) -> bool:
        """Whether the batch brought a turn, and not only failures."""
        return any(spend.failure is None for spend in self.spends)


class CaseWork(Part):
    """One case of an audit and its progress.

    `turns` counts the agent's turns so far. `failure` says why the last try brought no turn; None if it brought one.
    A case that is `batched` has its first turn taken by a provider's batch. `brought_by` is the batch that brought
    something for the case, by our own id; `counted`: that is in the case's transcript.
    """

    audit_id: str
    turns: int = 0
    failure: str | None = None
    brought_by: str | None = None
    counted: bool = False

    @property
    def whole(self) -> Reference:
        """The reference to the audit of the case."""
        return Reference(self.tenant, "audit", self.audit_id)

    @property
    def because(self) -> str | None:
        """Why the last try brought no turn, or `BATCHED` while the case waits for its batch. None if neither is so."""
        return BATCHED if self.batched and not self.over else self.failure


def case_awaiting(case: CaseWork, *, now: datetime) -> CaseWork:
    """The case whose first turn a provider's batch is to take. The wait does not count as a try."""
    if case.over or case.hastened:
        return case
    return case.model_copy(update={"attempts": Attempts(), "failure": None, "batched": True, "at": now})


def case_batch_ended(case: CaseWork, batch_id: str | None, *, now: datetime) -> CaseWork:
    """The case for which a batch brought a turn (`batch_id` None: it brought nothing). No other batch is asked."""
    if case.hastened and case.brought_by == batch_id:
        return case
    return case.model_copy(update={"brought_by": batch_id or case.brought_by, "hastened": True, "at": now})


def case_advanced(
    case: CaseWork, *, turns: int, cost_usd: float, now: datetime, unpriced_calls: int = 0, counted: bool = False
) -> CaseWork:
    """The case after a step that brought a result. The next step may begin at once and has all its tries again.

    `turns`, `cost_usd` and `unpriced_calls` are the totals of all steps so far. `counted`: the turn that a batch
    brought is included in them.
    """
    if case.over:
        return case_over(
            case, None, turns=turns, cost_usd=cost_usd, now=now, unpriced_calls=unpriced_calls, counted=counted
        )
    changes = {"attempts": Attempts(), "failure": None, "at": now}
    return case.model_copy(update=changes | _outlay(case, turns, cost_usd, unpriced_calls, counted=counted))


def case_put_back(
    case: CaseWork,
    why: str,
    *,
    until: datetime,
    ended: TryEnd,
    cost_usd: float,
    now: datetime,
    unpriced_calls: int = 0,
    counted: bool = False,
) -> CaseWork:
    """The case after a try that brought no turn. The next try begins at `until` or later."""
    turns = case.turns
    if case.over:
        return case_over(
            case, None, turns=turns, cost_usd=cost_usd, now=now, unpriced_calls=unpriced_calls, counted=counted
        )
    changes = {"attempts": case.attempts.put_back(until=until, ended=ended), "failure": why, "at": now}
    return case.model_copy(update=changes | _outlay(case, turns, cost_usd, unpriced_calls, counted=counted))


def case_over(
    case: CaseWork,
    why: str | None,
    *,
    turns: int,
    cost_usd: float,
    now: datetime,
    unpriced_calls: int = 0,
    counted: bool = False,
) -> CaseWork:
    """The case that is over. `why` says why its last try brought no result; None if it brought one.

    A case for which a batch brought a turn stays open until that turn is `counted`.
    """
    counted = counted or case.counted
    if case.brought_by is not None and not counted and not case.over:
        return case
    outlay = _outlay(case, turns, cost_usd, unpriced_calls, counted=counted)
    if case.over and all(getattr(case, name) == value for name, value in outlay.items()):
        return case
    changes = {"over": True, "failure": case.failure if case.over else why, "at": now}
    return case.model_copy(update=changes | outlay)


def _outlay(case: CaseWork, turns: int, cost_usd: float, unpriced_calls: int, *, counted: bool) -> dict[str, object]:
    return {
        "turns": max(case.turns, turns),
        "cost_usd": max(case.cost_usd, cost_usd),
        "unpriced_calls": max(case.unpriced_calls, unpriced_calls),
        "counted": case.counted or counted,
    }
