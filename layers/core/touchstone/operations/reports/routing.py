"""Which provider solves which subject: why, since when, on what evidence, and what would change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.answers.providers import (
    MIN_SAMPLES,
    ProviderChoice,
    Rate,
    Why,
    counting_rates,
    first_choice,
    next_candidate,
)
from touchstone.judges.registry import canonical_name
from touchstone.operations.reports.budgets import View
from touchstone.operations.reports.rates import MOST
from touchstone.records.keys import of_tenant
from touchstone.records.lists import page_of
from touchstone.records.routing_pins import Routing
from touchstone.statistics.intervals import wilson_interval


class ChoiceView(View):
    """A provider and why it is chosen: `data` (it has the best lower bound of its rate), `default`, or `pinned`."""

    provider: str
    why: Why


class EvidenceView(View):
    """How often a provider was right on a subject. `lower` and `upper` (0–1) are the Wilson interval of 95 %.

    If nothing was decided, `rate` is null and the interval is 0 to 1. `counts` means that the provider and the subject
    both have enough verdicts, so that the data may choose the provider. `available` means that the provider has a key.
    """

    provider: str
    decided: int
    correct: int
    rate: float | None
    lower: float
    upper: float
    counts: bool
    available: bool


class CandidateView(View):
    """The provider that would take over if there were no pin.

    It takes over after `lacks` more verdicts, if its `rate` (0–1) and the rates of the others stay the same.
    """

    provider: str
    decided: int
    rate: float
    lacks: int


class SubjectRouting(View):
    """The provider that is chosen for a subject. `provider` and `why` are null if no provider has a key.

    `since` (UTC) is when the subject was pinned. Without a pin it is when a problem was first solved by the present
    choice. It is null if the choice holds from the beginning, if the deployment itself pinned the subject, or if
    nothing was solved since the choice changed. `before` is the choice without pins that came before the last recorded
    one. `pinned` is the pinned provider, even if it has no key, and `pinned_by` says whose pin it is. `without_pin` is
    the choice if there were no pin.
    """

    subject: str
    provider: str | None
    why: Why | None
    since: datetime | None
    before: ChoiceView | None
    pinned: str | None
    pinned_by: str | None
    without_pin: ChoiceView | None
    evidence: tuple[EvidenceView, ...]
    candidate: CandidateView | None


class RoutingReport(View):
    """The routing of every subject that has a pin, data or a recorded choice.

    All other subjects go to `default`; it is null if no provider has a key. `min_samples` is how many verdicts a
    subject needs before the data decides. Subjects are sorted by name. `cursor` leads to the subjects after these; it
    is null at the end.
    """

    default: str | None
    min_samples: int
    subjects: tuple[SubjectRouting, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """What decides the choice of every subject. `everywhere` are the deployment's pins; a tenant's own pins come first.

    `rates` are grouped by subject, in the form that a choice takes, so that no subject has to be searched for.
    """

    routing: Routing
    everywhere: Mapping[str, str]
    rates: Mapping[str, Mapping[tuple[str, str], Rate]]
    available: Sequence[str]
    default: str | None
    min_samples: int

    def of(self, subject: str) -> SubjectRouting:
        """The choice for a subject, and the reasons."""
        own = self.routing.pins.get(subject)
        pinned = own.provider if own is not None else self.everywhere.get(subject)
        unpinned, choice = self._choice(subject, {}), self._choice(subject, {} if pinned is None else {subject: pinned})
        noted = self.routing.choices.get(subject)
        since = noted.since if noted is not None and noted.choice == choice else None
        if choice is not None and choice.why == "pinned":
            since = None if own is None else own.at
        return SubjectRouting(
            subject=subject,
            provider=None if choice is None else choice.provider,
            why=None if choice is None else choice.why,
            since=since,
            before=None if noted is None else _view(noted.before),
            pinned=None if pinned is None else canonical_name(pinned),
            pinned_by=None if pinned is None else "deployment" if own is None else "tenant",
            without_pin=_view(unpinned),
            evidence=tuple(self._evidence(subject)),
            candidate=None if unpinned is None else self._candidate(subject, unpinned),
        )

    def _choice(self, subject: str, pins: Mapping[str, str]) -> ProviderChoice | None:
        if self.default is None:
            return None
        return first_choice(
            subject,
            available=self.available,
            pins=pins,
            rates=self.rates.get(subject, {}),
            default=self.default,
            min_samples=self.min_samples,
        )

    def _candidate(self, subject: str, unpinned: ProviderChoice) -> CandidateView | None:
        found = next_candidate(
            subject, unpinned, available=self.available, rates=self.rates.get(subject, {}), min_samples=self.min_samples
        )
        if found is None:
            return None
        return CandidateView(provider=found.provider, decided=found.decided, rate=found.rate, lacks=found.lacks)

    def _evidence(self, subject: str) -> list[EvidenceView]:
        found = self.rates.get(subject, {})
        counting = counting_rates(subject, found, min_samples=self.min_samples)
        return [self._of_provider(name, found[name, of], counts=name in counting) for name, of in sorted(found)]

    def _of_provider(self, provider: str, rate: Rate, *, counts: bool) -> EvidenceView:
        lower, upper = wilson_interval(rate.correct, rate.decided)
        return EvidenceView(
            provider=provider,
            decided=rate.decided,
            correct=rate.correct,
            rate=rate.correct / rate.decided if rate.decided else None,
            lower=lower,
            upper=upper,
            counts=counts,
            available=provider in self.available,
        )


def routing_report(
    *,
    tenant: str,
    routing: Routing,
    everywhere: Mapping[str, str],
    rates: Mapping[tuple[str, str], Rate],
    available: Sequence[str],
    min_samples: int = MIN_SAMPLES,
    limit: int = MOST,
    cursor: str | None = None,
) -> RoutingReport:
    """The choices for a tenant's subjects, sorted by name, at most `limit` of them.

    `everywhere` are the deployment's pins, `rates` are by (provider, subject), and `available` are the providers that
    have a key, the first of which is the default. Nothing is read, so the cost does not grow with the number of
    records. Raises `InputError` for a cursor of another list.
    """
    default = available[0] if available else None
    by_subject: dict[str, dict[tuple[str, str], Rate]] = {}
    for pair, rate in rates.items():
        by_subject.setdefault(pair[1], {})[pair] = rate
    evidence = _Evidence(
        routing=routing,
        everywhere=everywhere,
        rates=by_subject,
        available=available,
        default=default,
        min_samples=min_samples,
    )
    subjects = sorted({*routing.pins, *routing.choices, *everywhere, *by_subject})
    part = page_of(subjects, key=str, scope=of_tenant(tenant, "ROUTING"), limit=limit, cursor=cursor)
    return RoutingReport(
        default=default,
        min_samples=min_samples,
        subjects=tuple(evidence.of(subject) for subject in part.items),
        cursor=part.cursor,
    )


def _view(choice: ProviderChoice | None) -> ChoiceView | None:
    return None if choice is None else ChoiceView(provider=choice.provider, why=choice.why)
