"""The parts of jobs, in their job's partition. Each step of a part is added to the job's progress, once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from touchstone.aws import Table
from touchstone.parts import Part, PartsProgress
from touchstone.records.keys import Key, key_of
from touchstone.records.table import Action, Item, OfKind, partition, read
from touchstone.records.versioned import RecordKind, Versioned
from touchstone.references import Reference

PROGRESS = "PROGRESS"
"""The sort key of the progress of a job's parts."""
_BILLION = 1_000_000_000
"""Costs are added up as whole billionths of a dollar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKind[P: Part]:
    """How the parts of one kind of job are stored.

    `name` is their noun in sentences. `prefix` begins their sort keys, and their numbers follow. `new` makes a part
    that nobody has begun. `sums` are counted in the progress beside what every part counts. `counter_writes` are
    further writes that a change brings with it.
    """

    name: str
    model: type[P]
    prefix: str
    new: Callable[[Reference, int, datetime], P]
    sums: Callable[[P], Mapping[str, int]] = lambda _: {}
    counter_writes: Callable[[P | None, P], Sequence[Action]] = lambda _before, _after: ()

    def key(self, whole: Reference, number: int) -> Key:
        """The key of a part. Raises `NotFoundError` for a text that cannot be an id."""
        return {**key_of(whole), "sk": f"{self.prefix}{number:05}"}

    def stored(self) -> RecordKind[P]:
        """How each part is stored."""
        return RecordKind(
            name=self.name,
            model=self.model,
            key=lambda one: self.key(one.whole, one.number),
            asked=lambda one: str(one.number),
            derived=lambda _: {},
            counter_writes=lambda before, after: (self._counted(before, after), *self.counter_writes(before, after)),
        )

    def items(self, table: Table, pk: str) -> Iterator[Item]:
        """The items of a job's parts that have begun, strongly consistent."""
        return partition(table, f"the {self.name}s", pk, begins=self.prefix)

    def _counted(self, before: P | None, after: P) -> Action:
        """The write that adds a step of a part to the progress of its job."""
        cost = after.cost_usd - (0.0 if before is None else before.cost_usd)
        adds = {
            "done": int(after.over and not (before is not None and before.over)),
            "cost": round(cost * _BILLION),
            "unpriced": after.unpriced_calls - (0 if before is None else before.unpriced_calls),
        }
        earlier = {} if before is None else self.sums(before)
        adds |= {name: now - earlier.get(name, 0) for name, now in self.sums(after).items()}
        until = None if after.over else after.attempts.not_before
        return {
            "Update": {
                "Key": _progress_key(after.whole),
                "UpdateExpression": (
                    f"ADD {', '.join(f'{name} :{name}' for name in adds)} "
                    "SET #at = :at, #until = :until, because = :because"
                ),
                "ExpressionAttributeNames": {"#at": "at", "#until": "until"},
                "ExpressionAttributeValues": {
                    **{f":{name}": add for name, add in adds.items()},
                    ":at": after.at.isoformat(),
                    ":until": None if until is None else until.isoformat(),
                    ":because": after.because,
                },
            }
        }


class Parts[P: Part](OfKind[PartKind[P]]):
    """The parts of all jobs of one kind. Raises the same errors as `JobStore`."""

    @cached_property
    def _records(self) -> Versioned[P]:
        return Versioned(self.how.stored(), self._table, self._artifacts, pause=self._pause)

    def progress(self, whole: Reference) -> PartsProgress:
        """The progress of a job's parts."""
        item = read(self._table, _progress_key(whole), f"the progress of the {whole.kind}")
        return PartsProgress() if item is None else _progress_of(item)

    def over(self, whole: Reference) -> dict[int, P]:
        """The parts of a job that are over, by their number, strongly consistent."""
        return {one.number: one for one in self._begun(whole) if one.over}

    def get(self, whole: Reference, number: int) -> P:
        """A part that has begun, strongly consistent."""
        return self._records.read(whole.tenant, self.how.key(whole, number)).record

    def open(self, whole: Reference) -> dict[int, P]:
        """The parts of a job that have begun and are not over, by their number, strongly consistent."""
        return {one.number: one for one in self._begun(whole) if not one.over}

    def last_retry_at(self, whole: Reference) -> datetime | None:
        """When the last of the open parts may be tried again; None if no open part waits.

        A part is open if it has begun and is not over.
        """
        moments = (one.attempts.not_before for one in self._begun(whole) if not one.over)
        return max((each for each in moments if each is not None), default=None)

    def begin(self, whole: Reference, number: int) -> tuple[P, bool]:
        """Begin a try at a part. The flag says whether this caller may make it: of many at once exactly one."""
        key = self.how.key(whole, number)
        if self._records.find(whole.tenant, key) is None:
            self._records.insert(self.how.new(whole, number, self._clock()))
        return self._records.begin(whole.tenant, key, lambda one: one.begun(now=self._clock()))

    def change(self, part: P, step: Callable[[P], P]) -> P:
        """Apply `step`, as `JobStore.change` does."""
        return self._records.change(part.tenant, self.how.key(part.whole, part.number), step)

    def _begun(self, whole: Reference) -> Iterator[P]:
        items = self.how.items(self._table, key_of(whole)["pk"])
        return (self._records.of_item(whole.tenant, item).record for item in items)


def _progress_key(whole: Reference) -> Key:
    return {**key_of(whole), "sk": PROGRESS}


def _progress_of(item: Item) -> PartsProgress:
    return PartsProgress(
        done=int(item["done"]),
        turns=int(item.get("turns", 0)),
        cost_usd=int(item["cost"]) / _BILLION,
        unpriced_calls=int(item.get("unpriced", 0)),
        at=datetime.fromisoformat(item["at"]),
        until=None if item["until"] is None else datetime.fromisoformat(item["until"]),
        because=item["because"],
    )
