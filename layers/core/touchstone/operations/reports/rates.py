"""The rates of right answers as shown to a tenant: page by page, however many names there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from touchstone.answers.providers import MIN_SAMPLES
from touchstone.operations.reports.budgets import View
from touchstone.records.keys import of_tenant
from touchstone.records.lists import Page, page_of
from touchstone.statistics.corrected import CorrectedRate
from touchstone.statistics.intervals import wilson_interval

if TYPE_CHECKING:
    from touchstone.records import Rates, Tally

MOST = 1_000
"""The most rates or subjects in one response. Even with the longest names, and every character of them escaped, they
stay below the 6 MB that a function may answer. A tenant's own subjects are some hundred at most."""

type Tallies = Mapping[tuple[str, str], Tally]
"""The tallies by name (of a provider or model) and by what it was tried on (a subject or difficulty)."""


class RateView(View):
    """How often answers were right, among those that were decided.

    `rate` is 0–1; `lower` and `upper` are its Wilson interval of 95 %. All three are null if nothing was decided.
    `corrected` is the rate that people would find if they had decided everything, with its interval and the number of
    further labels that would halve it. It is null if there are too few labels.
    """

    name: str
    of: str
    decided: int
    correct: int
    skipped: int
    rate: float | None
    lower: float | None
    upper: float | None
    corrected: CorrectedRate | None = None


class RatesReport(View):
    """Correctness by provider and subject (used by the routing), by model and subject, and by model and difficulty.

    The three lists form one sequence; each is sorted by name. `cursor` leads to the part that follows this one; it is
    null at the end.
    """

    min_samples: int
    provider_subject: tuple[RateView, ...]
    model_subject: tuple[RateView, ...]
    model_difficulty: tuple[RateView, ...]
    cursor: str | None


def rates_report(rates: Rates, *, tenant: str, limit: int = MOST, cursor: str | None = None) -> RatesReport:
    """At most `limit` of a tenant's rates with their intervals, from all three lists together.

    Raises `InputError` for a cursor of another list.
    """
    kinds = (rates.provider_subject, rates.model_subject, rates.model_difficulty)
    every = ((kind, pair) for kind, tallies in enumerate(kinds) for pair in tallies)
    placed = sorted((_sorted_by(str(kind), *pair), kind, pair) for kind, pair in every)
    part = page_of(placed, key=lambda each: each[0], scope=of_tenant(tenant, "RATES"), limit=limit, cursor=cursor)
    shown: tuple[list[RateView], ...] = ([], [], [])
    for _, kind, pair in part.items:
        shown[kind].append(_rate(pair, kinds[kind][pair]))
    return RatesReport(
        min_samples=MIN_SAMPLES,
        provider_subject=tuple(shown[0]),
        model_subject=tuple(shown[1]),
        model_difficulty=tuple(shown[2]),
        cursor=part.cursor,
    )


def rates_page(tallies: Tallies, *, scope: str, limit: int, cursor: str | None) -> Page[RateView]:
    """At most `limit` rates of one kind, sorted by name. Raises `InputError` for a cursor that is not of `scope`."""
    placed = sorted(tallies, key=lambda pair: _sorted_by(*pair))
    part = page_of(placed, key=lambda pair: _sorted_by(*pair), scope=scope, limit=limit, cursor=cursor)
    return Page(tuple(_rate(pair, tallies[pair]) for pair in part.items), part.cursor)


def _sorted_by(*names: str) -> str:
    """One text for several names.

    Texts sort as the names do, one after the other, and different names never share a text.
    """
    return "\0\0".join(name.replace("\0", "\0\1") for name in names)


def _rate(pair: tuple[str, str], tally: Tally) -> RateView:
    interval = wilson_interval(tally.correct, tally.decided) if tally.decided else None
    return RateView(
        name=pair[0],
        of=pair[1],
        decided=tally.decided,
        correct=tally.correct,
        skipped=tally.skipped,
        rate=tally.rate,
        lower=None if interval is None else interval[0],
        upper=None if interval is None else interval[1],
        corrected=tally.corrected,
    )
