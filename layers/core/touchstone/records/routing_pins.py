"""Which provider solves which subject: the tenant's pins, and since when which provider is chosen by the data."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from touchstone.answers.providers import ProviderChoice
from touchstone.aws import ConditionFailedError, store_faults
from touchstone.errors import InputError
from touchstone.records.keys import CHOICE, Key, of_tenant, part
from touchstone.records.table import OfTable, partition

MAX_SUBJECT_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A pin. `at` is when it was set, None for one of an earlier release."""

    provider: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedChoice:
    """The provider that is chosen without pins since a moment (UTC), and the choice `before` it.

    `before` is None if no choice had been noted.
    """

    choice: ProviderChoice
    since: datetime
    before: ProviderChoice | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """All pins and noted choices of a tenant, by subject."""

    pins: Mapping[str, Pinned]
    choices: Mapping[str, NotedChoice]

    @property
    def providers(self) -> dict[str, str]:
        """The pinned providers, by subject."""
        return {subject: pinned.provider for subject, pinned in self.pins.items()}

    @property
    def noted(self) -> dict[str, ProviderChoice]:
        """The latest noted choices, by subject."""
        return {subject: noted.choice for subject, noted in self.choices.items()}


class RoutingPins(OfTable):
    """The pins and noted choices of all tenants. Raises `StoreError` if the store fails."""

    def read(self, tenant: str) -> Routing:
        """All pins and noted choices of a tenant, by one query."""
        pins: dict[str, Pinned] = {}
        choices: dict[str, NotedChoice] = {}
        for item in partition(self._table, "the routing pins", of_tenant(tenant, "ROUTING")):
            subject, at = str(item["subject"]), item.get("at")
            if str(item["sk"]).startswith(CHOICE):
                choice, before = _choice_of(item["choice"]), item["before"]
                since = datetime.fromisoformat(item["since"])
                noted = NotedChoice(choice=choice, since=since, before=None if before is None else _choice_of(before))
                choices[subject] = noted
            else:
                moment = None if at is None else datetime.fromisoformat(at)
                pins[subject] = Pinned(provider=str(item["provider"]), at=moment)
        return Routing(pins=pins, choices=choices)

    def pin(self, *, tenant: str, subject: str, provider: str) -> None:
        """Let this provider answer a subject's problems from now on; replaces an earlier pin."""
        item = {**_key(tenant, subject), "subject": subject, "provider": provider, "at": self._clock().isoformat()}
        with store_faults("store the routing pin"):
            self._table.put_item(Item=item)

    def unpin(self, *, tenant: str, subject: str) -> None:
        """Leave the choice for a subject to the data again; nothing happens if it was not pinned."""
        with store_faults("remove the routing pin"):
            self._table.delete_item(Key=_key(tenant, subject))

    def note(self, *, tenant: str, subject: str, choice: ProviderChoice, before: ProviderChoice | None) -> None:
        """Note that `choice` is made without pins from now on; if it was noted already, its first moment stays."""
        written = {"provider": choice.provider, "why": choice.why}
        try:
            with store_faults("note the choice of a provider"):
                self._table.put_item(
                    Item={
                        "pk": of_tenant(tenant, "ROUTING"),
                        "sk": f"{CHOICE}{part(subject)}",
                        "subject": subject,
                        "choice": written,
                        "since": self._clock().isoformat(),
                        "before": None if before is None else {"provider": before.provider, "why": before.why},
                    },
                    ConditionExpression="attribute_not_exists(pk) OR #choice <> :choice",
                    ExpressionAttributeNames={"#choice": "choice"},
                    ExpressionAttributeValues={":choice": written},
                )
        except ConditionFailedError:
            return


def _choice_of(item: Mapping[str, str]) -> ProviderChoice:
    return ProviderChoice(provider=item["provider"], why=item["why"])  # type: ignore[arg-type] # as `note` wrote it


def _key(tenant: str, subject: str) -> Key:
    if not 1 <= len(subject) <= MAX_SUBJECT_CHARS:
        raise InputError(f"A subject has 1 to {MAX_SUBJECT_CHARS} characters.", where="subject")
    return {"pk": of_tenant(tenant, "ROUTING"), "sk": part(subject)}
