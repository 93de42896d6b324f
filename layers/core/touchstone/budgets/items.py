"""A quota's account as items of the table: `CURRENT`, one `DAY#<date>` for every day that is over, `RELEASED#<id>`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from touchstone.budgets.decision import Learned, QuotaState, Refusals, Tally

CURRENT = "CURRENT"
DAY_PREFIX = "DAY#"
RELEASED_PREFIX = "RELEASED#"
KEEP_DAYS = 100
"""How long the tally of a day is kept for showing: a quarter and a little."""
KEEP_RELEASED = timedelta(days=2)
"""A unit can only be given back on its own day; after that its mark has no use."""


@dataclass(frozen=True, slots=True)
class QuotaKey:
    """Whose quota: a provider's, for one model and one account.

    `tenant` names whose share of it; None: all of it.
    """

    provider: str
    model: str
    account: str
    tenant: str | None = None

    @property
    def pk(self) -> str:
        """The partition key. A `#` inside a name is escaped, so that two keys never meet.

        A share has a partition of its own: a tenant that asks without end wears out no item that others need.
        """
        share = () if self.tenant is None else ("T", self.tenant)
        names = (self.provider, self.model, self.account, *share)
        return "#".join(("QUOTA", *(name.replace("%", "%25").replace("#", "%23") for name in names)))

    def __str__(self) -> str:
        """For people: `gemini gemini-3.5-flash-lite (default)`."""
        return f"{self.provider} {self.model} ({self.account})"

    def share_of(self, tenant: str) -> "QuotaKey":
        """The key of a tenant's share."""
        return replace(self, tenant=tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A state as it was read. `version` 0: nothing is stored yet.

    `writer` is the id of the last write, by which a writer whose reply was lost recognises its own. `archive` is the
    tally of a day that is over and must be kept with the next write.
    """

    state: QuotaState
    version: int = 0
    writer: str | None = None
    archive: tuple[date, Tally] | None = None


def current_item(key: QuotaKey, state: QuotaState, *, version: int, writer: str) -> dict[str, Any]:
    """The item that holds `state`."""
    learned = state.learned
    return {
        "pk": key.pk,
        "sk": CURRENT,
        **_listed(key),
        "version": version,
        "writer": writer,
        "day": state.day.isoformat(),
        **_tally_fields(state.tally),
        "seconds": {str(second): count for second, count in state.seconds.items()},
        "learned_day": learned.per_day,
        "learned_day_on": None if learned.per_day_on is None else learned.per_day_on.isoformat(),
        "learned_minute": learned.per_minute,
        "learned_minute_until": _text(learned.per_minute_until),
        "blocked_until": None if state.refusals is None else _text(state.refusals.until),
        "refusals": None if state.refusals is None else _refusals_item(state.refusals),
        "watched": {reservation: _text(until) for reservation, until in state.watched.items()},
    }


def stored_from(item: Mapping[str, Any]) -> Stored:
    """The state that an item holds."""
    learned_on = item["learned_day_on"]
    state = QuotaState(
        day=date.fromisoformat(item["day"]),
        tally=tally_from(item),
        seconds={int(second): int(count) for second, count in item["seconds"].items()},
        learned=Learned(
            per_day=_whole(item["learned_day"]),
            per_day_on=None if learned_on is None else date.fromisoformat(learned_on),
            per_minute=_whole(item["learned_minute"]),
            per_minute_until=_moment(item["learned_minute_until"]),
        ),
        refusals=_refusals_from(item),
        watched={one: datetime.fromisoformat(until) for one, until in item.get("watched", {}).items()},
    )
    return Stored(state=state, version=int(item["version"]), writer=item["writer"])


def _refusals_item(refusals: Refusals) -> dict[str, Any]:
    return {
        "at": [moment.isoformat() for moment in refusals.at],
        "in_a_row": refusals.in_a_row,
        "why": refusals.why,
        "barred": refusals.barred,
    }


def _refusals_from(item: Mapping[str, Any]) -> Refusals | None:
    """The refusals in an item. One of an earlier release has a moment alone, or with it why nobody is served."""
    kept, barred, until = item.get("refusals"), item.get("barred"), _moment(item["blocked_until"])
    if barred is not None:
        return Refusals(in_a_row=1, until=datetime.fromisoformat(barred["until"]), why=barred["why"], barred=True)
    if until is None:
        return None
    if kept is None:
        return Refusals(in_a_row=1, until=until, why="The provider asked for a pause.")
    return Refusals(
        at=tuple(datetime.fromisoformat(moment) for moment in kept["at"]),
        in_a_row=int(kept["in_a_row"]),
        until=until,
        why=kept["why"],
        barred=kept["barred"],
    )


def day_item(key: QuotaKey, day: date, tally: Tally) -> dict[str, Any]:
    """The item that keeps the tally of a day that is over."""
    over = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return {
        "pk": key.pk,
        "sk": DAY_PREFIX + day.isoformat(),
        "day": day.isoformat(),
        **_tally_fields(tally),
        "expires_at": int((over + timedelta(days=KEEP_DAYS)).timestamp()),
    }


def released_item(key: QuotaKey, reservation_id: str, now: datetime) -> dict[str, Any]:
    """The mark that a unit was given back, so that it is given back once."""
    return {
        "pk": key.pk,
        "sk": RELEASED_PREFIX + reservation_id,
        "expires_at": int((now + KEEP_RELEASED).timestamp()),
    }


def tally_from(item: Mapping[str, Any]) -> Tally:
    """The tally in an item of the current or of an earlier day."""
    return Tally(used=int(item["used"]), backlog_used=int(item["backlog_used"]), exhausted=bool(item["exhausted"]))


def _listed(key: QuotaKey) -> dict[str, str]:
    """The attributes that list a tenant's share among all that the tenant has; none for an account of all.

    They stay as they are from write to write, so that the index is written once.
    """
    return {} if key.tenant is None else {"gsi1pk": f"T#{key.tenant}#SHARES", "gsi1sk": key.pk}


def _tally_fields(tally: Tally) -> dict[str, Any]:
    return {"used": tally.used, "backlog_used": tally.backlog_used, "exhausted": tally.exhausted}


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)
