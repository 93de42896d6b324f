"""Judge cards as people read them in a terminal; they are documents, as the API has them."""

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.cli.screen import Column, field, percent, print_facts, print_table
from touchstone.usage import NOT_KNOWN, dollars

NO_CARD = "No judge has given a verdict yet."
_MILLISECONDS = 1_000.0

type Document = Mapping[str, Any]


def print_cards(cards: Sequence[Document]) -> None:
    """A line for each judge; `cards` are in the short form."""
    columns = (
        Column(title="judge", of=field("model")),
        Column(title="tier", of=field("tier")),
        Column(title="prompt", of=field("prompt_version")),
        Column(title="verdicts", of=field("kind")),
        Column(title="labels", of=field("labels"), right=True),
        Column(title="kappa", of=_kappa),
        Column(title="ECE", of=lambda card: _figure(card["ece"]), right=True),
        Column(title="flips", of=lambda card: percent(card["flip_rate"]), right=True),
        Column(title="unreadable", of=lambda card: percent(card["unreadable_share"]), right=True),
        Column(title="latency", of=lambda card: _seconds(card["latency_ms"]), right=True),
        Column(title="a verdict", of=_cost, right=True),
        Column(title="card", of=field("id")),
    )
    print_table(columns, cards, empty=NO_CARD)


def print_card(card: Document) -> None:
    """One card, whole."""
    agreement, calibration, calls = card["agreement"], card["calibration"], card["calls"]
    undecided = f"{card['undecided']} things have a label and no verdict" if card["undecided"] else None
    print_facts(
        (
            ("judge", card["model"]),
            ("tier", card["tier"]),
            ("prompt", card["prompt_version"]),
            ("verdicts", card["kind"]),
            ("labels", card["labels"]),
            ("undecided", undecided),
            ("kappa", _kappa_of(agreement)),
            ("calibration", _calibration_of(calibration)),
            ("flips", _share(card["flips"]["rate"], card["flips"]["interval"], card["flips"]["judged"])),
            ("unreadable", _of(calls["unreadable_share"])),
            ("calls", f"{calls['calls']}, and {calls['cached']} replies from the cache"),
            ("latency", _seconds(calls["latency_ms"])),
            ("cost", dollars(calls["cost_usd"], calls["unpriced"])),
            ("a verdict", _cost(calls)),
        )
    )
    if agreement["state"] == "measured":
        _print_classes(agreement["classes"])
    if calibration["state"] == "measured":
        _print_diagram(calibration["diagram"]["bins"])


def _print_classes(classes: Sequence[Document]) -> None:
    columns = (
        Column(title="class", of=field("label")),
        Column(title="precision", of=lambda one: _of(one["precision"])),
        Column(title="recall", of=lambda one: _of(one["recall"])),
    )
    print_table(columns, classes, empty="")


def _print_diagram(bins: Sequence[Document]) -> None:
    columns = (
        Column(title="confidence", of=lambda one: f"{one['lower']:.1f} to {one['upper']:.1f}"),
        Column(title="verdicts", of=field("count"), right=True),
        Column(title="on average", of=lambda one: percent(one["confidence"]), right=True),
        Column(title="right", of=lambda one: _share(one["accuracy"], one["interval"], one["count"])),
    )
    print_table(columns, [one for one in bins if one["count"]], empty="")


def _kappa(card: Document) -> str:
    if card["state"] == "not_enough_labels":
        return "not enough labels"
    return _interval(card["kappa"], (card["kappa_lower"], card["kappa_upper"]))


def _kappa_of(agreement: Document) -> str:
    if agreement["state"] == "not_enough_labels":
        return f"not enough labels: {agreement['labels']} of {agreement['needed']}"
    return _interval(agreement["kappa"]["value"], agreement["kappa"]["interval"])


def _interval(kappa: float | None, interval: Sequence[float | None] | None) -> str:
    if kappa is None or interval is None:
        return "undefined: one class alone"
    return f"{kappa:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"


def _calibration_of(calibration: Document) -> str:
    if calibration["state"] == "not_enough_labels":
        return f"not enough labels with a confidence: {calibration['labels']} of {calibration['needed']}"
    return f"ECE {calibration['diagram']['ece']:.3f}, Brier {calibration['diagram']['brier']:.3f}"


def _of(share: Document) -> str | None:
    return _share(share["value"], share["interval"], share["of"])


def _share(value: float | None, interval: Sequence[float] | None, count: int) -> str | None:
    if value is None or interval is None:
        return None
    return f"{value:.0%} ({interval[0]:.0%} to {interval[1]:.0%}) of {count}"


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


def _seconds(milliseconds: float | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds / _MILLISECONDS:.1f} s"


def _cost(view: Document) -> str | None:
    """A verdict of a fast model costs a hundredth of a cent, so it has six decimals."""
    if (value := view["verdict_cost_usd"]) is None:
        return NOT_KNOWN if view["unpriced"] else None
    return f"${value:.6f}"
