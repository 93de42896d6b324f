"""The deletion of a tenant: nobody can log in any more, all its data is removed, and removed again later.

Work that runs while the records go finds no record at its next step and ends. It may still store something until then,
for at most as long as a function lives. So the deletion looks again after that time, and removes the tenant itself only
when such a look finds nothing. The tenant's own item says how far the deletion is, so that another run continues it.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import batched

from touchstone.clock import Clock, system_clock
from touchstone.records import Tenants, Tokens
from touchstone.records.belongings import Belongings
from touchstone.records.objects import TenantObjects
from touchstone.records.removal import Removal

STILL_UNDER_WAY = timedelta(minutes=16)
"""How long after a removal something may still be stored: a function, and a link for an upload, live 15 minutes at
most. The minute more allows for clocks that differ."""
SIDE_BY_SIDE = 16
"""How many partitions are removed at the same time."""
_AT_ONCE = SIDE_BY_SIDE * 16

type Show = Callable[[int, str], None]
"""A callback that is told how many things were removed so far, and of what kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """How far a deletion is. `removed` counts what this run removed, by kind.

    `again_at` is when the next look is due (UTC). None if the tenant is gone.
    """

    tenant: str
    removed: Mapping[str, int]
    again_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """Deletes tenants. Every method is safe to repeat, and raises `StoreError` if a store fails."""

    tenants: Tenants
    tokens: Tokens
    belongings: Belongings
    removal: Removal
    objects: TenantObjects
    clock: Clock = system_clock

    def run(self, tenant: str, *, show: Show) -> Deleted:
        """Continue a deletion as far as possible now; the first run begins it.

        Raises `NotFoundError` if there is no such tenant.
        """
        marked = self.tenants.begin_deletion(tenant)
        removed: Counter[str] = Counter()
        again_at = _due(marked.emptied_at)
        # Tokens go first: after that, no new work can begin in the tenant's name.
        removed["tokens"] += self.tokens.remove_all(tenant)
        if again_at is None or again_at <= self.clock():
            self._empty(tenant, removed, show)
            if again_at is not None and not removed.total():
                self.removal.rest(tenant)
                self.tenants.remove(tenant)
                return Deleted(tenant=tenant, removed={}, again_at=None)
            again_at = _due(self.tenants.mark_emptied(tenant).emptied_at)
        return Deleted(tenant=tenant, removed=+removed, again_at=again_at)

    def _empty(self, tenant: str, removed: Counter[str], show: Show) -> None:
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for some in batched(self.belongings.partitions(tenant), _AT_ONCE, strict=False):
                for found in pool.map(lambda pk: self.removal.partition(tenant, pk), some):
                    removed.update(found)
                    show(removed.total(), "records")
        objects = self.objects.remove(tenant)
        removed["objects"] += objects
        show(removed.total(), "objects")


def _due(emptied_at: datetime | None) -> datetime | None:
    return None if emptied_at is None else emptied_at + STILL_UNDER_WAY
