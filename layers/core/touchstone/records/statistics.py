"""A tenant's statistics, read from its counters and never from its records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from touchstone.answers.labelling import RIGHT
from touchstone.answers.providers import Rate
from touchstone.aws import store_faults
from touchstone.judges.spends import cost_to_show
from touchstone.records.answer_counters import (
    COUNTED_STATES,
    DIMENSIONS,
    FIRST,
    MILLIONTHS,
    RETRY,
    approaches_pk,
    contributions,
    suggestions_pk,
)
from touchstone.records.answer_items import OfAnswers
from touchstone.records.counters import CHOSEN, DRAWN, MOST_COUNT_SHARDS, PROVIDER, Increment, count_shards, counts_pk
from touchstone.records.judge_counts import JUDGE, judge_of, tally_of
from touchstone.records.keys import of_tenant, text_of
from touchstone.records.labels import LABELS, counted_for, labels_of
from touchstone.records.lists import all_of
from touchstone.records.purges import refuse_recount
from touchstone.records.table import Item, partition, query
from touchstone.references import Reference
from touchstone.statistics.corrected import UNLABELLED, CorrectedRate, VerdictCells, corrected_rate
from touchstone.statistics.tallies import CardTally, JudgeKey, cells_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A count of verified attempts: how many were decided, how many of those were correct, and how many were skipped.

    `drawn` and `chosen` count the decided attempts that people labelled, by verdict and label: those that were drawn at
    random, and all others. `first` counts our first attempts by difficulty, as (correct, decided), and `retried` our
    later attempts. Tallies of models have neither.
    """

    decided: int
    correct: int
    skipped: int
    drawn: VerdictCells = UNLABELLED
    chosen: VerdictCells = UNLABELLED
    first: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    retried: tuple[int, int] = (0, 0)

    @property
    def rate(self) -> float | None:
        """The share of the decided attempts that are correct (0-1), None if none was decided."""
        return self.correct / self.decided if self.decided else None

    @property
    def corrected(self) -> CorrectedRate | None:
        """The rate corrected by people's labels, as if people had decided everything; None with too few labels."""
        return corrected_rate(positive=self.correct, verdicts=self.decided, sample=self.drawn, chosen=self.chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The tallies by (provider, subject), (model, subject) and (model, difficulty)."""

    provider_subject: Mapping[tuple[str, str], Tally]
    model_subject: Mapping[tuple[str, str], Tally]
    model_difficulty: Mapping[tuple[str, str], Tally]

    @property
    def of_providers(self) -> dict[tuple[str, str], Rate]:
        """The rates by (provider, subject) for the choice of a provider: without problems that others failed at."""
        return {pair: _first_rate(tally) for pair, tally in self.provider_subject.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendDay:
    """One UTC day: the number of deep evaluations, and the mean score (0–1) of each dimension."""

    day: date
    evaluations: int
    means: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The figures of one UTC day.

    `statuses` counts answers by status, `skips` counts skipped verifications by reason. `cost_usd` is in US dollars and
    leaves out the `unpriced_calls`; null if no cost is known. `batched` is the number of calls that went by a
    provider's batch, and `saved_usd` is what the batches saved, in US dollars.
    """

    day: date
    statuses: dict[str, int]
    skips: dict[str, int]
    cost_usd: float | None
    unpriced_calls: int
    batched: int = 0
    saved_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionView:
    """A suggestion for improvement, and how often it was made."""

    text: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproachView:
    """A better approach, and the answer for which it was found."""

    answer_id: str
    text: str


class Statistics(OfAnswers):
    """A tenant's aggregates. Raises `StoreError` if the store fails."""

    def rates(self, tenant: str) -> Rates:
        """Correctness rates, from the attempts of all answers that have ended."""
        found: dict[tuple[str, ...], dict[str, int]] = {}
        for prefix in (PROVIDER, "MODEL#"):
            for item in self._counts(tenant, "begins_with(sk, :low)", low=prefix):
                _add(found.setdefault(tuple(item["sk"].split("#")), {}), item)
        by_kind: dict[str, dict[tuple[str, str], Tally]] = {"PROVIDER": {}, "SUBJECT": {}, "DIFFICULTY": {}}
        for parts, sums in found.items():
            # PROVIDER#<provider>#<subject>, MODEL#<model>#SUBJECT#<subject>, MODEL#<model>#DIFFICULTY#<difficulty>
            kind = parts[0] if parts[0] == "PROVIDER" else parts[2]
            by_kind[kind][text_of(parts[1]), text_of(parts[-1])] = Tally(
                decided=sums.get("n", 0),
                correct=sums.get("correct", 0),
                skipped=sums.get("skipped", 0),
                drawn=_cells(sums, DRAWN),
                chosen=_cells(sums, CHOSEN),
                first=_first(sums),
                retried=(sums.get(f"{RETRY}#correct", 0), sums.get(f"{RETRY}#n", 0)),
            )
        return Rates(
            provider_subject=by_kind["PROVIDER"],
            model_subject=by_kind["SUBJECT"],
            model_difficulty=by_kind["DIFFICULTY"],
        )

    def trends(self, tenant: str, *, days: int) -> tuple[TrendDay, ...]:
        """Mean scores of the last `days` UTC days that have evaluations, oldest first."""
        return tuple(
            TrendDay(
                day=day,
                evaluations=sums["evaluations"],
                means={name: sums[f"sum_{name}"] / sums["evaluations"] / MILLIONTHS for name in DIMENSIONS},
            )
            for day, sums in self._days(tenant, days)
            if sums.get("evaluations")
        )

    def volume(self, tenant: str, *, days: int) -> tuple[Day, ...]:
        """Answers, skips and cost of the last `days` UTC days that have answers, oldest first."""
        return tuple(
            Day(
                day=day,
                statuses=_starting("status_", sums),
                skips=_starting("skip_", sums),
                batched=sums.get("batched", 0),
                saved_usd=sums.get("saved_micro_usd", 0) / MILLIONTHS,
                cost_usd=cost_to_show(sums["spend_micro_usd"] / MILLIONTHS, sums.get("unpriced", 0)),
                unpriced_calls=sums.get("unpriced", 0),
            )
            for day, sums in self._days(tenant, days)
            if "spend_micro_usd" in sums
        )

    def evaluations(self, tenant: str) -> dict[str, int]:
        """How many of the tenant's evaluations are in each state, for all states but `none`."""
        sums: dict[str, int] = dict.fromkeys(COUNTED_STATES, 0)
        for item in self._counts(tenant, "sk = :low", low="EVALUATIONS"):
            _add(sums, item)
        return sums

    def suggestions(self, tenant: str, *, limit: int = 20) -> tuple[SuggestionView, ...]:
        """The most frequent improvement suggestions, most frequent first."""
        with store_faults("list the suggestions"):
            found = self._table.query(
                IndexName="by_count",
                KeyConditionExpression="gsi3pk = :pk",
                ExpressionAttributeValues={":pk": suggestions_pk(tenant)},
                ScanIndexForward=False,
                Limit=limit,
            )
        return tuple(SuggestionView(text=str(item["text"]), count=int(str(item["count"]))) for item in found["Items"])

    def approaches(self, tenant: str, *, limit: int = 20) -> tuple[ApproachView, ...]:
        """The better approaches found, those of the newest answers first."""
        with store_faults("list the approaches"):
            found = self._table.query(
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": approaches_pk(tenant)},
                ScanIndexForward=False,
                Limit=limit,
            )
        return tuple(ApproachView(answer_id=str(item["sk"]), text=str(item["text"])) for item in found["Items"])

    def judges(self, tenant: str) -> dict[JudgeKey, CardTally]:
        """What was counted for each judge: labels of its verdicts, and the calls that were made to it."""
        found: dict[JudgeKey, CardTally] = {}
        for item in self._counts(tenant, "begins_with(sk, :low)", low=JUDGE):
            key = judge_of(item["sk"])
            found[key] = found.get(key, CardTally()) + tally_of(item)
        return found

    def labels(self, tenant: str) -> dict[str, int]:
        """How many things have a label, by the thing's kind."""
        found: dict[str, int] = {}
        for item in self._counts(tenant, "begins_with(sk, :low)", low=LABELS):
            kind = text_of(item["sk"].removeprefix(LABELS))
            found[kind] = found.get(kind, 0) + int(item["labels"])
        return {kind: count for kind, count in found.items() if count}

    def rebuild(self, tenant: str) -> int:
        """Count the tenant's records and labels again and replace its counters. Return how many answers there are.

        The result is the same items to the byte, except that sums that came back to zero are left out. Run this while
        nothing of this tenant is being evaluated or labelled: a count that is added while it runs would be overwritten.
        The count of all tenants' deferred evaluations is left alone, since it is no sum over one tenant's records.
        Raises `ConflictError` if records were purged, since only the counters still count them.
        """
        refuse_recount(self._table, tenant)
        from touchstone.records.comparisons import counted_comparisons  # on first use: no other method needs them
        from touchstone.records.experiments import counted_experiments
        from touchstone.records.measurements import counted_measurements
        from touchstone.records.submissions import counted_submissions

        sums: dict[tuple[str, str], Item] = {}
        records = 0
        for listed in all_of(self._table, "the answers", scope=of_tenant(tenant, "ANSWERS")):
            records += 1
            for increment in contributions(self.get(Reference(tenant, "answer", str(listed["gsi1sk"])))):
                if increment.pk.startswith(f"{of_tenant(tenant)}#"):
                    _count(sums, increment)
        for label in labels_of(self._table, tenant):
            for increment in counted_for(label):
                _count(sums, increment)
        for counted in (counted_comparisons, counted_experiments, counted_measurements, counted_submissions):
            for increment in counted(self._table, self._artifacts, tenant):
                _count(sums, increment)
        old = self.counters(tenant)
        with store_faults("rebuild the counters"), self._table.batch_writer() as batch:
            for pk, sk in old:
                if (pk, sk) not in sums:
                    batch.delete_item(Key={"pk": pk, "sk": sk})
            for item in sums.values():
                batch.put_item(Item=item)
        return records

    def counters(self, tenant: str) -> dict[tuple[str, str], Item]:
        """Every counter item of the tenant, as it stands in the table, by its key.

        This includes shards that are not in use any more, and shards that this process is not configured to read.
        """
        shards = (counts_pk(tenant, shard) for shard in range(MOST_COUNT_SHARDS))
        partitions = (*shards, suggestions_pk(tenant), approaches_pk(tenant))
        return {
            (item["pk"], item["sk"]): item for pk in partitions for item in partition(self._table, "the counters", pk)
        }

    def _counts(self, tenant: str, condition: str, **values: str) -> Iterator[Item]:
        for shard in range(count_shards()):
            yield from query(
                self._table,
                "the counters",
                KeyConditionExpression=f"pk = :pk AND {condition}",
                ExpressionAttributeValues={
                    ":pk": counts_pk(tenant, shard),
                    **{f":{name}": value for name, value in values.items()},
                },
                ConsistentRead=True,
            )

    def _days(self, tenant: str, days: int) -> list[tuple[date, dict[str, int]]]:
        today = self._clock().date()
        first = today - timedelta(days=max(1, days) - 1)
        found: dict[str, dict[str, int]] = {}
        for item in self._counts(tenant, "sk BETWEEN :low AND :high", low=f"DAY#{first}", high=f"DAY#{today}"):
            _add(found.setdefault(item["sk"].removeprefix("DAY#"), {}), item)
        return [(date.fromisoformat(day), found[day]) for day in sorted(found)]


def _add(sums: dict[str, int], item: Item) -> None:
    for name, value in item.items():
        if name not in {"pk", "sk"}:
            sums[name] = sums.get(name, 0) + int(value)


def _first(sums: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The first attempts in a provider's counter, by difficulty, as (correct, decided)."""
    named = [name.split("#")[1] for name in sums if name.startswith(f"{FIRST}#") and name.endswith("#n")]
    return {
        name: (sums.get(f"{FIRST}#{name}#correct", 0), sums[f"{FIRST}#{name}#n"])
        for name in named
        if sums[f"{FIRST}#{name}#n"]
    }


def _first_rate(tally: Tally) -> Rate:
    corrected = tally.corrected
    return Rate(
        correct=tally.correct - tally.retried[0],
        decided=tally.decided - tally.retried[1],
        by_difficulty=tally.first,
        corrected_lower=None if corrected is None else corrected.interval[0],
    )


def _cells(sums: Mapping[str, int], beginning: str) -> VerdictCells:
    """The labels in a rate's counter, whose names `label_counts` makes."""
    named = ((name.split("#"), times) for name, times in sums.items() if name.startswith(f"{beginning}#"))
    return cells_of({(text_of(verdict), text_of(label)): times for (_, verdict, label), times in named}, RIGHT)


def _count(sums: dict[tuple[str, str], Item], increment: Increment) -> None:
    item = sums.setdefault((increment.pk, increment.sk), {"pk": increment.pk, "sk": increment.sk, **increment.labels})
    for name, value in increment.add.items():
        item[name] = item.get(name, 0) + value


def _starting(prefix: str, sums: Mapping[str, int]) -> dict[str, int]:
    return {name.removeprefix(prefix): value for name, value in sums.items() if name.startswith(prefix)}
