"""The comparisons of contests' finalists, one record for each dimension, in their task's partition of the table.

What a comparison counts for its judges, its calls and the pairs that changed places, follows from its record alone:
every change of the record writes the difference of its counts in the same transaction.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from touchstone.aws import Table
from touchstone.oracle import comparison as steps
from touchstone.oracle.comparison import CARDS_OF_CALLS, DimensionComparison, orders_of
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, counted_tallies, writes_of
from touchstone.records.judge_counts import calls_of
from touchstone.records.keys import COMPARISON, comparison_key, key_of, of_tenant
from touchstone.records.lists import all_of
from touchstone.records.table import OfKind, partition
from touchstone.records.versioned import RecordKind, Versioned
from touchstone.references import Reference


class Comparisons(OfKind[RecordKind[DimensionComparison]]):
    """The comparisons of all contests.

    `round_id` is the contest's own (`RANKING_ROUND_ID`) or a challenge's id. Every method raises `NotFoundError` for a
    record that this tenant does not have, and `StoreError` if the store fails. All methods are safe to repeat.
    """

    @cached_property
    def _records(self) -> Versioned[DimensionComparison]:
        return Versioned(self.how, self._table, self._artifacts, pause=self._pause)

    def begin_round(
        self, task: Reference, *, round_id: str, dimensions: Sequence[str], finalists: Sequence[str]
    ) -> None:
        """Store the comparisons that a round must make; a repeat leaves the comparisons that have begun.

        Raises `ConflictError` if the same round was begun with other finalists.
        """
        now = self._clock()
        for dimension in dimensions:
            self._records.insert(
                DimensionComparison(
                    tenant=task.tenant,
                    task_id=task.id,
                    round_id=round_id,
                    dimension=dimension,
                    finalists=tuple(finalists),
                    created_at=now,
                )
            )

    def of_round(self, task: Reference, *, round_id: str) -> tuple[DimensionComparison, ...]:
        """The comparisons of all dimensions of a round, strongly consistent; empty if the round was not begun."""
        found = partition(self._table, "the comparisons", key_of(task)["pk"], begins=f"{COMPARISON}{round_id}#")
        return tuple(self._records.of_item(task.tenant, item).record for item in found)

    def begin(self, task: Reference, *, round_id: str, dimension: str) -> tuple[DimensionComparison, bool]:
        """Begin a try at a dimension. The flag says whether this caller may make it: of many at once exactly one."""
        return self._records.begin(
            task.tenant, comparison_key(task, round_id, dimension), lambda one: steps.begun(one, now=self._clock())
        )

    def change(
        self, comparison: DimensionComparison, step: Callable[[DimensionComparison], DimensionComparison]
    ) -> DimensionComparison:
        """Take a pure step of a comparison, and return the record after it."""
        return self._records.change(comparison.tenant, self.how.key(comparison), step)


def _counted(comparison: DimensionComparison) -> Iterator[Increment]:
    """What a comparison adds to its judges' counters: every call, and once it is over the pairs of its finalists."""
    tallies = calls_of(comparison.spends, CARDS_OF_CALLS, also=orders_of(comparison).items())
    return counted_tallies(comparison.tenant, f"{comparison.task_id}#{comparison.id}", tallies)


COMPARISON_KIND = RecordKind(
    name="comparison",
    model=DimensionComparison,
    key=lambda one: comparison_key(Reference(one.tenant, "task", one.task_id), one.round_id, one.dimension),
    asked=lambda one: "\n".join(one.finalists),
    derived=lambda _: {},
    counter_writes=writes_of(_counted),
)
"""How comparisons are stored."""


def counted_comparisons(table: Table, artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What the comparisons of all contests of a tenant add to the counters; each comparison is read again."""
    records = Versioned(COMPARISON_KIND, table, artifacts, pause=time.sleep)
    for task in all_of(table, "the tasks", scope=of_tenant(tenant, "TASKS")):
        for item in partition(table, "the comparisons", str(task["pk"]), begins=COMPARISON):
            yield from _counted(records.of_item(tenant, item).record)
