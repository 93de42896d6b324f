"""Leases: a name has at most one holder at a time. Each lease has a number that only grows."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from touchstone.errors import ConflictError
from touchstone.records.keys import Key, part
from touchstone.records.table import OfTable, update

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A name that is held until a moment. `fence` grows with each new holder: a holder with a smaller one has lost it.

    `asked` is how often word had been left for the name's holders when the lease was acquired.
    """

    name: str
    owner: str
    fence: int
    until: datetime
    asked: int


class Leases(OfTable):
    """The leases of this deployment. Raises `StoreError` if the store fails."""

    def acquire(self, name: str, *, owner: str, seconds: float) -> Lease | None:
        """Take the name for `seconds`; None while another owner holds it. The same owner gets it again, prolonged."""
        now = self._clock()
        return self._hold(
            name,
            owner,
            now + timedelta(seconds=seconds),
            expression="ADD fence :one SET lease_owner = :owner, lease_until = :until",
            condition="attribute_not_exists(lease_until) OR lease_until <= :now OR lease_owner = :owner",
            values={":one": 1, ":now": _number(now)},
        )

    def ask(self, name: str) -> bool:
        """Leave word for the name's present holder, who learns of it on release. False if nobody holds the name."""
        asked = update(
            self._table,
            "ask for the lease",
            _key(name),
            "ADD asked :one",
            condition="lease_until > :now",
            values={":one": 1, ":now": _number(self._clock())},
        )
        return asked is not None

    def renew(self, lease: Lease, *, seconds: float) -> Lease:
        """Prolong a lease that is still held. Raises `ConflictError` if another owner has taken the name."""
        renewed = self._hold(
            lease.name,
            lease.owner,
            self._clock() + timedelta(seconds=seconds),
            expression="SET lease_until = :until",
            condition="lease_owner = :owner AND fence = :fence",
            values={":fence": lease.fence},
        )
        if renewed is None:
            raise ConflictError(f"The lease {lease.name} is held by somebody else now.")
        return renewed

    def release(self, lease: Lease) -> None:
        """Give the name back; nothing happens if it is not held any more. The fence stays, so that it only grows."""
        self._let_go(lease, "lease_owner = :owner AND fence = :fence", {})

    def release_unless_asked(self, lease: Lease) -> bool:
        """Give the name back, unless word was left since it was acquired. False if it is still held for that reason."""
        unasked = "(attribute_not_exists(asked) OR asked = :asked)"
        return self._let_go(lease, f"lease_owner = :owner AND fence = :fence AND {unasked}", {":asked": lease.asked})

    def _let_go(self, lease: Lease, condition: str, values: dict[str, Any]) -> bool:
        released = update(
            self._table,
            "release the lease",
            _key(lease.name),
            "REMOVE lease_owner, lease_until",
            condition=condition,
            values={":owner": lease.owner, ":fence": lease.fence, **values},
        )
        return released is not None

    def _hold(
        self, name: str, owner: str, until: datetime, *, expression: str, condition: str, values: dict[str, Any]
    ) -> Lease | None:
        named = {":owner": owner, ":until": _number(until), **values}
        held = update(self._table, "hold the lease", _key(name), expression, condition=condition, values=named)
        if held is None:
            return None
        asked = int(str(held.get("asked", 0)))
        return Lease(name=name, owner=owner, fence=int(str(held["fence"])), until=until, asked=asked)


def _number(moment: datetime) -> int:
    """A moment as microseconds since 1970: a whole number, so that the comparison in the table is exact."""
    return (moment - _EPOCH) // _MICROSECOND


def _key(name: str) -> Key:
    return {"pk": f"LEASE#{part(name)}", "sk": "LEASE"}
