"""The base of what steps are given and return. Each job's context adds the stores and judges that its steps use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError
from touchstone.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from touchstone.judges.spends import Spend
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.records.traces import Traces
    from touchstone.references import JobKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What every step is given. `paid` is called with the spends of calls that were paid for.

    `traces` stores what judges were asked and what they replied; None: nothing is stored.
    """

    tenant: str
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    clock: Clock = system_clock
    traces: Traces | None = None

    def ref(self, kind: JobKind, record_id: str, task_id: str = "") -> Reference:
        """The reference to a record of the tenant."""
        return Reference(self.tenant, kind, record_id, task_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """How far a step came: the `state` by which its machine branches, and until when the machine waits (UTC).

    `until` None: no wait. `reason` says why the try of this step brought nothing, or not all; None if it brought all,
    or made no try. `list_key` is the whole key of the list that the machine's map reads next, None if there is none.
    """

    state: str
    until: datetime | None = None
    reason: str | None = None
    list_key: str | None = None


def any_threshold(thresholds: Callable[[], JudgeThresholds]) -> bool:
    """Whether labels give a threshold for a judge. False if they cannot be read: the work itself reports that."""
    try:
        return bool(thresholds())
    except StoreError:
        return False
