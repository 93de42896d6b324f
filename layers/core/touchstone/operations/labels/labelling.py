"""Labels that people give to verdicts, and the judge cards that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.errors import InputError, NotFoundError
from touchstone.records.labels import Label
from touchstone.references import Reference
from touchstone.statistics.card_views import JudgeCardView, JudgeSummary, shown_cards
from touchstone.statistics.tallies import Sample
from touchstone.statistics.thresholds import wanted_agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from touchstone.clock import Clock
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.records import Answers, Labels, Measurements, Statistics, Submissions, Tasks
    from touchstone.records.thresholds import Thresholds
    from touchstone.statistics.tallies import Judged
    from touchstone.surfaces.names import MetricName

    type Reading = Callable[[str, str, str], Judged]
    """Gives the verdict on a thing, from its tenant, its record's id and its name in the record."""


class Labelling:
    """Stores labels of things that were judged.

    `readings` gives, for each kind of verdict, the function that reads the verdict. `counted` is called when a label
    has changed the counts of its judges. Every method raises `InputError` for an unknown kind, `NotFoundError` for what
    this tenant does not have, and `StoreError`.
    """

    def __init__(
        self,
        labels: Labels,
        readings: Mapping[str, Reading],
        *,
        tenant: str,
        clock: Clock,
        counted: Callable[[], None] = lambda: None,
    ) -> None:
        self._labels = labels
        self._readings = readings
        self._tenant = tenant
        self._clock = clock
        self._counted = counted

    def label(self, *, kind: str, record_id: str, item: str, label: str, by: str, sample: Sample = "chosen") -> Label:
        """Store a label in place of an earlier one of the same person; `by` is the id of the token that gave it.

        A repeat changes nothing. `sample` says how the thing came to be labelled: `random` if it was drawn from all
        verdicts, `unsure` if it was drawn from those that were not sure, `chosen` if nobody drew it.

        Raises `InputError` for a label that this kind does not have, and `ConflictError` while there is no verdict yet.
        """
        judged = self._judged(kind, record_id, item)
        if label not in judged.classes:
            raise InputError(f"A label of this kind is one of {', '.join(judged.classes)}.", where="label")
        kept = self._labels.put(
            Label(
                tenant=self._tenant,
                kind=kind,
                record_id=record_id,
                item=item,
                label=label,
                verdict=judged.verdict,
                confidence=judged.confidence,
                judge=judged.judge,
                labelled_by=by,
                labelled_at=self._clock(),
                sample=sample,
                votes=judged.votes,
                rated_as=judged.rated_as,
            )
        )
        self._count(kind)
        return kept

    def remove(self, *, kind: str, record_id: str, item: str) -> None:
        """Remove a label. If there is none, nothing happens, except that the thing must exist."""
        # No thing has an empty name, and no key of the table may be empty.
        if not item or not self._labels.remove(tenant=self._tenant, kind=kind, record_id=record_id, item=item):
            self._judged(kind, record_id, item)
        else:
            self._count(kind)

    def _count(self, kind: str) -> None:
        if kind in _held_to_thresholds():
            self._counted()

    def _judged(self, kind: str, record_id: str, item: str) -> Judged:
        if kind not in self._readings:
            raise InputError(
                f"Verdicts that can be labelled are of the kinds {', '.join(self._readings)}.", where="kind"
            )
        return self._readings[kind](self._tenant, record_id, item)


def readings_of(
    *,
    answers: Callable[[], Answers],
    measurements: Callable[[], Measurements],
    tasks: Callable[[], Tasks],
    submissions: Callable[[], Submissions],
) -> dict[str, Reading]:
    """The function that reads the verdicts of each kind. A store is opened when it is first needed."""
    from touchstone.answers.labelling import KIND, judged_attempt
    from touchstone.oracle import labelling as gates
    from touchstone.surfaces.labelling import CLASSES, judged_item

    def criterion(tenant: str, record_id: str, item: str) -> Judged:
        ref = gates.submission_ref(tenant, record_id)
        submission = submissions().get(ref)
        return gates.judged_criterion(tasks().get(Reference(tenant, "task", ref.task_id)), submission, item)

    def attempt(tenant: str, record_id: str, item: str) -> Judged:
        return judged_attempt(answers().get(Reference(tenant, "answer", record_id)), item)

    def of(metric: MetricName) -> Reading:
        def reading(tenant: str, record_id: str, item: str) -> Judged:
            return judged_item(measurements().get(Reference(tenant, "measurement", record_id)), metric, item)

        return reading

    return {KIND: attempt, gates.KIND: criterion, **{metric: of(metric) for metric in CLASSES}}


def keep_thresholds(thresholds: Thresholds, statistics: Statistics, *, tenant: str) -> None:
    """Store the thresholds that follow from the present labels, where the code that asks judges reads them."""
    thresholds.keep(tenant, lambda: counted_thresholds(statistics, tenant=tenant), wanted=wanted_agreement())


def read_thresholds(thresholds: Thresholds, statistics: Callable[[], Statistics], *, tenant: str) -> JudgeThresholds:
    """The thresholds of a tenant's judges: as stored, or recounted if the wanted agreement was changed since.

    The recount is not stored: a verification has no permission to write it. The next label stores it.
    """
    kept = thresholds.read(tenant, wanted=wanted_agreement())
    return counted_thresholds(statistics(), tenant=tenant) if kept is None else kept


def counted_thresholds(statistics: Statistics, *, tenant: str) -> JudgeThresholds:
    """The thresholds of the judges with enough labels: each is sure from a confidence on, or never."""
    return _thresholds_of(judge_cards(statistics, tenant=tenant))


def _thresholds_of(cards: Iterable[JudgeCardView]) -> JudgeThresholds:
    from touchstone.judges.sureness import SureFrom

    kinds = _held_to_thresholds()
    return {
        (one.model, one.prompt_version): SureFrom(
            confidence=one.threshold.confidence,
            labels=one.threshold.labels,
            wanted=one.threshold.wanted,
            card=one.id,
            version=one.threshold_version,
            silent_below=one.threshold.silent_below,
        )
        for one in cards
        if one.kind in kinds and one.tier is not None and one.threshold.state != "not_enough_labels"
    }


def _held_to_thresholds() -> frozenset[str]:
    """The kinds of verdicts whose judges have thresholds. No two of these kinds share a prompt."""
    from touchstone.answers.labelling import KIND
    from touchstone.oracle import labelling as gates
    from touchstone.surfaces.labelling import CLASSES

    return frozenset({KIND, gates.KIND, *CLASSES})


def judge_cards(statistics: Statistics, *, tenant: str) -> tuple[JudgeCardView, ...]:
    """The cards of all judges of a tenant.

    They come from counters, so the reads do not grow with the number of labels.
    """
    return shown_cards(statistics.judges(tenant), wanted=wanted_agreement())


def followed_cards(statistics: Statistics, thresholds: Thresholds, *, tenant: str) -> tuple[JudgeCardView, ...]:
    """The cards of all judges of a tenant. Verifications follow their thresholds from now on, if they did not already.

    The stored thresholds are out of date if no label came since the wanted agreement was changed, or since thresholds
    are stored at all. Then they are counted once more and stored. Otherwise this costs one more read.
    """
    cards = judge_cards(statistics, tenant=tenant)
    if thresholds.read(tenant, wanted=wanted_agreement()) != _thresholds_of(cards):
        keep_thresholds(thresholds, statistics, tenant=tenant)
    return cards


def judge_card(statistics: Statistics, thresholds: Thresholds, *, tenant: str, card_id: str) -> JudgeCardView:
    """One card, as in `followed_cards`. Raises `NotFoundError` if this tenant has no card with this id."""
    found = next((one for one in followed_cards(statistics, thresholds, tenant=tenant) if one.id == card_id), None)
    if found is None:
        raise NotFoundError("There is no judge card with this id.")
    return found


def judge_summaries(statistics: Statistics, thresholds: Thresholds, *, tenant: str) -> tuple[JudgeSummary, ...]:
    """The cards of all judges of a tenant, one line each, as in `followed_cards`."""
    return tuple(JudgeSummary.of(one) for one in followed_cards(statistics, thresholds, tenant=tenant))
