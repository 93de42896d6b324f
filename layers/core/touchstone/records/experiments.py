"""Experiments and their pairs: a pair ends once, and what it adds to the experiment's progress is counted with it."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from touchstone.attempts import TryEnd
from touchstone.clock import Clock, system_clock
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, action_of, changes
from touchstone.records.cursors import Page
from touchstone.records.keys import PAIR, experiment_key, of_tenant, pair_key, progress_key, record_of, sortable
from touchstone.records.lists import all_of, due_until, newest
from touchstone.records.pair_counts import counted_pair
from touchstone.records.table import Action, Item, query, read
from touchstone.records.versioned import Kind, Versioned
from touchstone.strict import Strict
from touchstone.surfaces.experiments import pair_work as pairs
from touchstone.surfaces.experiments import record as steps
from touchstone.surfaces.experiments.conclusion import Overall
from touchstone.surfaces.experiments.counting import PairCounts
from touchstone.surfaces.experiments.pair_work import PairProgress, PairWork
from touchstone.surfaces.experiments.record import ExperimentRecord, ExperimentState, Plan
from touchstone.surfaces.measurement import Unmeasured
from touchstone.surfaces.model import Surface

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

UNFINISHED = "EXPERIMENT#unfinished"
"""The partition of the `deferred` index where experiments that are not over are, of all tenants."""
_BILLION = 1_000_000_000
"""Costs are added up as whole billionths of a dollar."""


class ExperimentSummary(Strict):
    """One line of a list of experiments. What names it is null until it was read, `headline` until it is done."""

    id: str
    state: ExperimentState
    name: str | None
    surface: Surface | None
    a: str | None
    b: str | None
    pairs: int | None
    created_at: datetime
    finished_at: datetime | None
    verdict: Overall | None
    headline: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedExperiment:
    """An experiment that is not over."""

    tenant: str
    experiment_id: str


class Experiments:
    """The records of experiments.

    Every method raises `NotFoundError` for an id that this tenant does not have, and `StoreError` where the store
    fails; all are safe to repeat, and a repeat returns the record as it is stored by then.
    """

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._records = Versioned(EXPERIMENT, table, artifacts, pause=pause)
        self._pairs = Versioned(PAIR_KIND, table, artifacts, pause=pause)
        self._clock = clock

    def create(
        self, *, tenant: str, experiment_id: str, content_key: str, content_hash: str, use_cache: bool
    ) -> ExperimentRecord:
        """Store a new experiment; a repeat returns the stored one, however far it has come.

        Raises `ConflictError` where the id belongs to another request.
        """
        return self._records.insert(
            ExperimentRecord(
                tenant=tenant,
                id=experiment_id,
                created_at=self._clock(),
                content_key=content_key,
                content_hash=content_hash,
                use_cache=use_cache,
            )
        )

    def get(self, *, tenant: str, experiment_id: str) -> ExperimentRecord:
        """The record of an experiment."""
        return self._records.read(tenant, experiment_key(tenant, experiment_id)).record

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[ExperimentSummary]:
        """A tenant's experiments, newest first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        scope = of_tenant(tenant, "EXPERIMENTS")
        items, after = newest(self._table, "the experiments", scope=scope, limit=limit, cursor=cursor)
        summaries = (ExperimentSummary.model_validate_json(str(item["summary"])) for item in items)
        return Page(items=tuple(summaries), cursor=after)

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[UnfinishedExperiment, ...]:
        """Experiments of all tenants that were begun longer ago than `older_than` and are not over, oldest first.

        Read from an index: one that ended a moment ago may still be among them.
        """
        moment = self._clock() - older_than
        found = due_until(self._table, "unfinished experiments", kind=UNFINISHED, moment=moment, limit=limit)
        owners = (record_of(str(item["pk"])) for item in found)
        return tuple(UnfinishedExperiment(tenant=tenant, experiment_id=one) for tenant, one in owners)

    def plan(self, record: ExperimentRecord, plan: Plan) -> ExperimentRecord:
        """Keep what an experiment is about; a repeat keeps the first."""
        return self._step(record, lambda one: steps.planned(one, plan))

    def conclude(self, record: ExperimentRecord, *, verdict: Overall, headline: str) -> ExperimentRecord:
        """Keep what an experiment came to; a repeat keeps the first."""
        return self._step(record, lambda one: steps.concluded(one, verdict, headline, now=self._clock()))

    def fail(self, record: ExperimentRecord, why: str) -> ExperimentRecord:
        """Keep that an experiment came to nothing, and why."""
        return self._step(record, lambda one: steps.failed(one, why, now=self._clock()))

    def progress(self, *, tenant: str, experiment_id: str) -> PairProgress:
        """How far its pairs are."""
        item = read(self._table, progress_key(tenant, experiment_id), "the progress of the experiment")
        return PairProgress() if item is None else _progress_of(item)

    def over(self, *, tenant: str, experiment_id: str) -> frozenset[int]:
        """The numbers of the pairs that are over, strongly consistent."""
        return frozenset(one.number for one in self._of(tenant, experiment_id) if one.over)

    def carried_until(self, *, tenant: str, experiment_id: str) -> datetime | None:
        """When the last of its pairs that are not over may be tried again; None where none has begun that is not."""
        moments = (one.attempts.not_before for one in self._of(tenant, experiment_id) if not one.over)
        return max((each for each in moments if each is not None), default=None)

    def begin(self, *, tenant: str, experiment_id: str, number: int) -> tuple[PairWork, bool]:
        """Begin a try at a pair, and whether it may be made: of many at once exactly one may."""
        key = pair_key(tenant, experiment_id, number)
        if self._pairs.find(tenant, key) is None:
            new = PairWork(tenant=tenant, experiment_id=experiment_id, number=number, at=self._clock())
            self._pairs.insert(new)
        return self._pairs.begin(tenant, key, lambda one: pairs.pair_begun(one, now=self._clock()))

    def put_back(
        self,
        pair: PairWork,
        *,
        why: Unmeasured,
        until: datetime,
        ended: TryEnd,
        cost_usd: float,
        counts: PairCounts | None = None,
        unpriced_calls: int = 0,
    ) -> PairWork:
        """Keep that a try left something unscored, and why; `ended` is what it tells of the work."""

        def step(one: PairWork) -> PairWork:
            return pairs.pair_put_back(
                one,
                why,
                until=until,
                ended=ended,
                cost_usd=cost_usd,
                now=self._clock(),
                counts=counts,
                unpriced_calls=unpriced_calls,
            )

        return self._pair_step(pair, step)

    def end(
        self,
        pair: PairWork,
        *,
        why: Unmeasured | None,
        cost_usd: float,
        counts: PairCounts | None = None,
        unpriced_calls: int = 0,
    ) -> PairWork:
        """Keep that a pair is over; `why` something of it is unscored, None where nothing is."""

        def step(one: PairWork) -> PairWork:
            return pairs.pair_over(
                one, why, cost_usd=cost_usd, now=self._clock(), counts=counts, unpriced_calls=unpriced_calls
            )

        return self._pair_step(pair, step)

    def _step(self, record: ExperimentRecord, step: Callable[[ExperimentRecord], ExperimentRecord]) -> ExperimentRecord:
        return self._records.change(record.tenant, EXPERIMENT.key(record), step)

    def _of(self, tenant: str, experiment_id: str) -> Iterator[PairWork]:
        """The pairs of an experiment that anybody began, strongly consistent."""
        found = _pair_items(self._table, experiment_key(tenant, experiment_id)["pk"])
        return (self._pairs.of_item(tenant, item).record for item in found)

    def _pair_step(self, pair: PairWork, step: Callable[[PairWork], PairWork]) -> PairWork:
        return self._pairs.change(pair.tenant, PAIR_KIND.key(pair), step)


def _derived(record: ExperimentRecord) -> Item:
    plan = record.plan
    summary = ExperimentSummary(
        id=record.id,
        state=record.state,
        name=plan.name if plan else None,
        surface=plan.surface if plan else None,
        a=plan.a if plan else None,
        b=plan.b if plan else None,
        pairs=plan.pairs if plan else None,
        created_at=record.created_at,
        finished_at=record.finished_at,
        verdict=record.verdict,
        headline=record.headline,
    )
    item: Item = {
        "gsi1pk": of_tenant(record.tenant, "EXPERIMENTS"),
        "gsi1sk": record.id,
        "summary": summary.model_dump_json(),
    }
    if record.finished_at is not None:
        return item
    # When its pairs go on is in its progress, which they count without writing the record.
    return item | {"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(record.created_at)}#{record.id}"}


EXPERIMENT = Kind(
    name="experiment",
    model=ExperimentRecord,
    key=lambda one: experiment_key(one.tenant, one.id),
    asked=lambda one: f"{one.content_hash}\n{one.use_cache}",
    derived=_derived,
)
"""How experiments are stored."""


def _counted(before: PairWork | None, after: PairWork) -> tuple[Action, ...]:
    """What a step of a pair adds to the progress of its experiment, and to the counters of its judges."""
    ended = after.over and not (before is not None and before.over)
    cost = after.cost_usd - (before.cost_usd if before is not None else 0.0)
    values: dict[str, Any] = {
        ":done": int(ended),
        ":cost": round(cost * _BILLION),
        ":unpriced": after.unpriced_calls - (before.unpriced_calls if before is not None else 0),
        ":at": after.at.isoformat(),
        ":until": None if after.over or after.attempts.not_before is None else after.attempts.not_before.isoformat(),
        ":because": None if after.failure is None else after.failure.reason,
    }
    return (
        {
            "Update": {
                "Key": progress_key(after.tenant, after.experiment_id),
                "UpdateExpression": (
                    "ADD done :done, cost :cost, unpriced :unpriced SET #at = :at, #until = :until, because = :because"
                ),
                "ExpressionAttributeNames": {"#at": "at", "#until": "until"},
                "ExpressionAttributeValues": values,
            }
        },
        *map(action_of, changes(() if before is None else counted_pair(before), counted_pair(after))),
    )


PAIR_KIND = Kind(
    name="pair",
    model=PairWork,
    key=lambda one: pair_key(one.tenant, one.experiment_id, one.number),
    asked=lambda one: str(one.number),
    derived=lambda _: {},
    follows=_counted,
)
"""How pairs are stored."""


def counted_experiments(table: "Table", artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What the pairs of all experiments of a tenant count, each read anew."""
    pairs = Versioned(PAIR_KIND, table, artifacts, pause=time.sleep)
    for experiment in all_of(table, "the experiments", scope=of_tenant(tenant, "EXPERIMENTS")):
        for item in _pair_items(table, str(experiment["pk"])):
            yield from counted_pair(pairs.of_item(tenant, item).record)


def _pair_items(table: "Table", pk: str) -> Iterator[Item]:
    return query(
        table,
        "the pairs",
        KeyConditionExpression="pk = :pk AND begins_with(sk, :pair)",
        ExpressionAttributeValues={":pk": pk, ":pair": PAIR},
        ConsistentRead=True,
    )


def _progress_of(item: Item) -> PairProgress:
    return PairProgress(
        done=int(item["done"]),
        cost_usd=int(item["cost"]) / _BILLION,
        unpriced_calls=int(item.get("unpriced", 0)),
        at=datetime.fromisoformat(item["at"]),
        until=None if item["until"] is None else datetime.fromisoformat(item["until"]),
        because=item["because"],
    )
