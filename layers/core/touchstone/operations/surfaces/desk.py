"""What the steps of one tenant's measurements work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from touchstone.judges.base import Judge
    from touchstone.judges.spends import Spend
    from touchstone.records import Measurements


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringDesk:
    """One tenant's measurements and judges.

    `judge` gives the judge of a measurement. Its argument tells whose replies it may be answered with: None, all that
    the tenant's judges gave; else those alone that were given for this record, so that its second try pays nothing
    twice and yet nothing that was said before it counts. It raises `SettingsError` where nobody can be asked. `paid` is
    told of calls that were paid for.
    """

    tenant: str
    measurements: Measurements
    judge: Callable[[str | None], Judge]
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    clock: Clock = system_clock
