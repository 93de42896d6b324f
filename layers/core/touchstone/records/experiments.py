"""How experiments and their pairs are stored, listed and found."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from touchstone.aws import Table
from touchstone.judges.spends import cost_to_show, count_unpriced, known_cost
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, counts_pk, shard_of, writes_of
from touchstone.records.jobs import Job, JobStore
from touchstone.records.judge_counts import calls_of, counts_of, judge_sk
from touchstone.records.keys import PAIR, of_tenant
from touchstone.records.list_query import (
    CostFrom,
    CostTo,
    Findable,
    LineFilter,
    ListQuery,
    SearchText,
    ShortText,
    standing,
)
from touchstone.records.lists import all_of
from touchstone.records.parts import PartKind, Parts
from touchstone.records.versioned import Versioned
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.strict import Strict
from touchstone.surfaces.experiments.conclusion import Overall
from touchstone.surfaces.experiments.pair_work import (
    CARDS_OF_CALLS,
    JudgeCount,
    PairCounts,
    PairKept,
    PairSums,
    PairWork,
    orders_of,
)
from touchstone.surfaces.experiments.record import ExperimentRecord, ExperimentState
from touchstone.surfaces.names import Surface


def sums_of(kept: PairKept) -> PairSums:
    """The sums of all tries of a pair, from everything that they brought."""
    return PairSums(
        cost_usd=known_cost(kept.paid) or 0.0, unpriced_calls=count_unpriced(kept.paid), counts=pair_counts(kept)
    )


def pair_counts(kept: PairKept) -> PairCounts:
    """The counts of all tries of a pair, from everything that they brought."""
    calls = calls_of(kept.paid, CARDS_OF_CALLS)
    orders: dict[JudgeKey, CardTally] = {}
    for run in kept.result.runs:
        for key, tally in orders_of(run.preference).items():
            orders[key] = orders.get(key, CardTally()) + tally
    swapped = _judge_counts(orders)
    return PairCounts(
        calls=_judge_counts(calls),
        sent=sum(tally.answered + tally.unreadable + tally.failed for tally in calls.values()),
        orders=next(iter(swapped), None),
        others=swapped[1:],
    )


def counted_pair(pair: PairWork) -> Iterator[Increment]:
    """What a pair adds to the counters now: its calls, and once it is over whether its preference survived the swap."""
    counts = pair.counts
    orders = (counts.orders, *counts.others) if pair.over and counts.orders is not None else ()
    sums: dict[JudgeKey, dict[str, int]] = {}
    for one in (*counts.calls, *orders):
        key = JudgeKey(model=one.model, tier=one.tier, prompt_version=one.prompt_version, kind=one.kind)
        # Calls and orders of one judge have no sum in common.
        sums[key] = sums.get(key, {}) | one.sums
    pk = counts_pk(pair.tenant, shard_of(pair.id))
    for key, add in sums.items():
        yield Increment(pk=pk, sk=judge_sk(key), add=add)


def _judge_counts(tallies: Mapping[JudgeKey, CardTally]) -> tuple[JudgeCount, ...]:
    return tuple(
        JudgeCount(
            model=key.model, tier=key.tier, prompt_version=key.prompt_version, kind=key.kind, sums=counts_of(tally)
        )
        for key, tally in tallies.items()
    )


class ExperimentSummary(Strict):
    """One line of a list of experiments.

    `name`, `surface`, `a`, `b` and `pairs` are null until the experiment was read, and `headline` until it is done.
    `cost_usd` is what the calls cost in US dollars, without the `unpriced_calls`. It is known once the experiment is
    over; it is null before, if no call had a known price, and for experiments that ended before this was kept.
    """

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
    cost_usd: float | None = None
    unpriced_calls: int = 0


FINDABLE = Findable[ExperimentRecord, ExperimentSummary](
    filters={
        "status": LineFilter(of=lambda line: standing(line.state, over=line.finished_at is not None)),
        "surface": LineFilter(of=lambda line: (line.surface,)),
        "variant": LineFilter(of=lambda line: (line.a, line.b)),
        "verdict": LineFilter(of=lambda line: (line.verdict,)),
    },
    said=lambda line: (line.name, line.a, line.b, line.headline),
)
"""The filters and texts by which experiments are found."""


class ExperimentQuery(ListQuery):
    """The filters of a list of experiments. A filter that is null excludes nothing; all given filters must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["waiting", "measuring", "done", "failed", "unfinished", "ended"] | None,
        Field(description="The state. `unfinished`: `waiting` or `measuring`. `ended`: `done` or `failed`."),
    ] = None
    surface: Annotated[Surface | None, Field(description="The kind of material that the variants make.")] = None
    variant: Annotated[ShortText | None, Field(description="The name of one of the two variants.")] = None
    verdict: Annotated[Overall | None, Field(description="The verdict of the experiment.")] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(description="Words. Each must be in the name, in a variant's name or in the conclusion."),
    ] = None


def _summary(record: ExperimentRecord) -> ExperimentSummary:
    plan = record.plan
    return ExperimentSummary(
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
        cost_usd=None if record.cost_usd is None else cost_to_show(record.cost_usd, record.unpriced_calls),
        unpriced_calls=record.unpriced_calls,
    )


type Experiments = JobStore[ExperimentRecord, ExperimentSummary]
EXPERIMENT = Job(
    kind="experiment",
    plural="experiments",
    model=ExperimentRecord,
    asked=lambda one: f"{one.content_hash}\n{one.use_cache}",
    line=ExperimentSummary,
    summary=_summary,
    due=lambda one: one.due,
)
"""How experiments are stored."""


type Pairs = Parts[PairWork]
PAIRS = PartKind(
    name="pair",
    model=PairWork,
    prefix=PAIR,
    new=lambda whole, number, at: PairWork(tenant=whole.tenant, experiment_id=whole.id, number=number, at=at),
    counter_writes=writes_of(counted_pair),
)
"""How pairs are stored. A pair ends once, and the same transaction adds it to the experiment's progress."""


def counted_experiments(table: Table, artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What the pairs of all experiments of a tenant add to the counters; each pair is read again."""
    pairs = Versioned(PAIRS.stored(), table, artifacts, pause=time.sleep)
    for experiment in all_of(table, "the experiments", scope=of_tenant(tenant, "EXPERIMENTS")):
        for item in PAIRS.items(table, str(experiment["pk"])):
            yield from counted_pair(pairs.of_item(tenant, item).record)
