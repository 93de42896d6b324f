"""One case of a deployment's audit: what the work on it needs, and how far it is. Nothing here has a key.

Each step, a turn of the agent or proofs of an earlier audit, is a try of its own. Steps of the record are pure; one
that finds its work done returns the very same record.
"""

from datetime import datetime

from touchstone.attempts import Attempts, TryEnd
from touchstone.audits.case import BlindCase
from touchstone.audits.report import StoredProof
from touchstone.parts import Part
from touchstone.references import Reference
from touchstone.strict import Strict


class CaseTask(Strict):
    """What the work on one case needs; nothing of its key. `before` are the proofs of an earlier audit, if any."""

    number: int
    case: BlindCase
    before: tuple[StoredProof, ...] | None = None


class Again(Strict):
    """What an earlier audit's proofs come to now, in their order, as far as they were run.

    `stands`: all were, and every option stands as it did; None as long as they were not all run.
    """

    proofs: tuple[StoredProof, ...] = ()
    stands: bool | None = None


class CaseWork(Part):
    """One case of an audit and how far it is.

    `turns` are the agent's so far. `failure` is why the last try brought no turn, None where it did.
    """

    audit_id: str
    turns: int = 0
    failure: str | None = None

    @property
    def whole(self) -> Reference:
        """The audit."""
        return Reference(self.tenant, "audit", self.audit_id)

    @property
    def because(self) -> str | None:
        """Why its last try brought no turn."""
        return self.failure


def case_went_on(case: CaseWork, *, turns: int, cost_usd: float, now: datetime, unpriced_calls: int = 0) -> CaseWork:
    """The case after a step that brought something: the next may begin at once, with all its tries before it.

    `turns`, `cost_usd` and `unpriced_calls` are those of all its steps so far.
    """
    if case.over:
        return case_over(case, None, turns=turns, cost_usd=cost_usd, now=now, unpriced_calls=unpriced_calls)
    changes = {
        "attempts": Attempts(),
        "turns": max(case.turns, turns),
        "cost_usd": max(case.cost_usd, cost_usd),
        "unpriced_calls": max(case.unpriced_calls, unpriced_calls),
        "failure": None,
        "at": now,
    }
    return case.model_copy(update=changes)


def case_put_back(
    case: CaseWork,
    why: str,
    *,
    until: datetime,
    ended: TryEnd,
    cost_usd: float,
    now: datetime,
    unpriced_calls: int = 0,
) -> CaseWork:
    """The case after a try that brought no turn, to be tried again not before `until`."""
    if case.over:
        return case_over(case, None, turns=case.turns, cost_usd=cost_usd, now=now, unpriced_calls=unpriced_calls)
    attempts = case.attempts.put_back(until=until, ended=ended)
    changes = {
        "attempts": attempts,
        "failure": why,
        "cost_usd": max(case.cost_usd, cost_usd),
        "unpriced_calls": max(case.unpriced_calls, unpriced_calls),
        "at": now,
    }
    return case.model_copy(update=changes)


def case_over(
    case: CaseWork, why: str | None, *, turns: int, cost_usd: float, now: datetime, unpriced_calls: int = 0
) -> CaseWork:
    """The case that is over; `why` its last try brought nothing, None where it did."""
    if case.over and cost_usd <= case.cost_usd and unpriced_calls <= case.unpriced_calls:
        return case
    changes = {
        "over": True,
        "failure": case.failure if case.over else why,
        "turns": max(case.turns, turns),
        "cost_usd": max(case.cost_usd, cost_usd),
        "unpriced_calls": max(case.unpriced_calls, unpriced_calls),
        "at": now,
    }
    return case.model_copy(update=changes)
