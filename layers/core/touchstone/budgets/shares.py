"""What one tenant may use of a quota that all tenants of a deployment share."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from touchstone.errors import InputError
from touchstone.judges.base import Limits

DEFAULT_TENANT_SHARE = 0.5
"""Half of a day and half of a minute: whatever one tenant does, the other half is for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShare:
    """The part of every quota that one tenant may use: `fraction`, above 0 and at most 1, which is all of it.

    `several` tells whether the deployment has more than one tenant; one that is alone may use everything. Raises
    `InputError` for a fraction out of range.
    """

    fraction: float
    several: Callable[[], bool]

    def __post_init__(self) -> None:
        """Check the fraction."""
        if not 0.0 < self.fraction <= 1.0:
            raise InputError(
                f"A tenant's share of a quota must be above 0 and at most 1, not {self.fraction}.", where="tenant_share"
            )

    @property
    def binds(self) -> bool:
        """Whether any tenant must leave something for others."""
        return self.fraction < 1.0 and self.several()

    def of(self, limits: Limits) -> Limits:
        """One tenant's part of what holds for all: rounded up, so that it is one unit at least, where there is any."""
        return Limits(per_day=self._part(limits.per_day), per_minute=self._part(limits.per_minute))

    def _part(self, limit: int | None) -> int | None:
        if limit is None or limit <= 0:
            return limit
        return max(1, math.ceil(limit * self.fraction - 1e-9))  # 0.1 × 30 is 3.000…04 in floating point
