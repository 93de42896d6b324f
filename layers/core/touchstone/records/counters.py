"""Counters of a tenant: how what its records count for is added, so that each sum is exact at all times.

The counters of a tenant are at all times the sum of what its records count for. A change of a record writes the
*difference* of what it counts for before and after in the same transaction, so a redelivery, a crash or a retry cannot
count anything twice. What a kind of record counts for is said beside that kind: for answers in `answer_counters`.
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from touchstone.errors import SettingsError
from touchstone.records.judge_counts import counts_of, judge_sk
from touchstone.records.keys import of_tenant, part
from touchstone.records.table import Action
from touchstone.statistics.tallies import CardTally, JudgeKey, RatedAs

COUNT_SHARDS, MOST_COUNT_SHARDS = 4, 32
"""The least (default) and the most shards of a tenant's counters. A partition takes 1,000 write units a second and a
finished answer costs about 16 on the counters: 4 shards carry 240 answers a second for one tenant, and make collisions
of two transactions on one counter four times rarer. A deployment may set more shards."""
SHARDS_SETTING = "TOUCHSTONE_COUNT_SHARDS"
PROVIDER = "PROVIDER#"
"""The prefix of the sort keys of providers' rates."""
DRAWN, CHOSEN = "drawn", "chosen"
"""The prefixes of the sums of labels in a rate's counter (verdict and label follow): of things that were drawn at
random, and of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Increment:
    """What is added to one counter item. `labels` are attributes that all increments of this item set alike."""

    pk: str
    sk: str
    add: Mapping[str, int]
    labels: Mapping[str, str] = field(default_factory=dict)


def changes(before: Iterable[Increment], after: Iterable[Increment]) -> tuple[Increment, ...]:
    """What to add to the counters if contributions change from `before` to `after`, each item at most once."""
    old = {(each.pk, each.sk): each for each in before}
    new = {(each.pk, each.sk): each for each in after}
    found = (_change(old.get(key), new.get(key)) for key in {**old, **new})
    return tuple(change for change in found if change is not None)


def writes_of[R](counted: Callable[[R], Iterable[Increment]]) -> Callable[[R | None, R], tuple[Action, ...]]:
    """The counter writes of a change of a record (`RecordKind.counter_writes`), from what a record counts for."""

    def writes(before: R | None, after: R) -> tuple[Action, ...]:
        return tuple(map(action_of, changes(() if before is None else counted(before), counted(after))))

    return writes


def counted_tallies(tenant: str, record_id: str, tallies: Mapping[JudgeKey, CardTally]) -> Iterator[Increment]:
    """What a record adds to judges' counters, as increments."""
    pk = counts_pk(tenant, shard_of(record_id))
    for key, tally in tallies.items():
        yield Increment(pk=pk, sk=judge_sk(key), add=counts_of(tally))


def action_of(increment: Increment) -> Action:
    """The write of one increment, as part of a transaction."""
    names = {f"#a{n}": name for n, name in enumerate(increment.add)}
    values: dict[str, object] = {f":a{n}": value for n, value in enumerate(increment.add.values())}
    expression = "ADD " + ", ".join(f"#a{n} :a{n}" for n in range(len(increment.add)))
    if increment.labels:
        names |= {f"#l{n}": name for n, name in enumerate(increment.labels)}
        values |= {f":l{n}": value for n, value in enumerate(increment.labels.values())}
        expression += " SET " + ", ".join(f"#l{n} = :l{n}" for n in range(len(increment.labels)))
    return {
        "Update": {
            "Key": {"pk": increment.pk, "sk": increment.sk},
            "UpdateExpression": expression,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
    }


def count_shards() -> int:
    """How many shards the counters of each tenant have. All of them are read.

    The number may grow from one day to the next. A change of a record that was counted before then counts in another
    shard; only the sum over all shards has a meaning. If the number shrinks, the other shards are not read before a
    recount.
    """
    told = os.environ.get(SHARDS_SETTING, str(COUNT_SHARDS))
    if not (told.isascii() and told.isdecimal()) or not COUNT_SHARDS <= int(told) <= MOST_COUNT_SHARDS:
        raise SettingsError(
            f"{SHARDS_SETTING} is {told[:20]!r}; it may be a whole number from {COUNT_SHARDS} to {MOST_COUNT_SHARDS}."
        )
    return int(told)


def shard_of(record_id: str) -> int:
    """The shard in which a record counts."""
    return zlib.crc32(record_id.encode()) % count_shards()


def counts_pk(tenant: str, shard: int) -> str:
    """The partition of one shard of a tenant's counters."""
    return of_tenant(tenant, "COUNTS", str(shard))


def rate_sks(rated_as: RatedAs) -> Iterator[str]:
    """The sort keys of the counters that hold how often answers with this provider, model and subject are right."""
    provider, model, subject = part(rated_as.provider), part(rated_as.model), rated_as.subject
    if subject is not None:
        yield f"{PROVIDER}{provider}#{part(subject)}"
    if subject is not None and model:
        yield f"MODEL#{model}#SUBJECT#{part(subject)}"
    if rated_as.difficulty is not None and model:
        yield f"MODEL#{model}#DIFFICULTY#{rated_as.difficulty}"


def label_counts(verdict: str, label: str, *, at_random: bool) -> dict[str, int]:
    """What a label adds to the rates that its verdict counts for; `at_random`: its thing was drawn at random."""
    return {f"{DRAWN if at_random else CHOSEN}#{part(verdict)}#{part(label)}": 1}


def deferred_pk(record_id: str) -> str:
    """The partition in which a record counts among the deferred evaluations of all tenants."""
    return f"BACKLOG#{zlib.crc32(record_id.encode()) % COUNT_SHARDS}"


def deferred_pks() -> tuple[str, ...]:
    """All partitions of the count of deferred evaluations. They are the same however many shards tenants have."""
    return tuple(f"BACKLOG#{shard}" for shard in range(COUNT_SHARDS))


def summed(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The sums by name of what two increments add."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _change(old: Increment | None, new: Increment | None) -> Increment | None:
    if old is None:
        return new
    add = summed({} if new is None else new.add, {name: -value for name, value in old.add.items()})
    if not any(add.values()):
        return None
    return Increment(pk=old.pk, sk=old.sk, add=add, labels=(new or old).labels)
