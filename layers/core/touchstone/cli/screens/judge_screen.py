"""Judge cards as people read them in a terminal. A card is a JSON document of the API."""

from collections.abc import Sequence

from touchstone import figures
from touchstone.cli.terminal.tables import column, print_facts, print_table
from touchstone.cli.terminal.words import View, percent
from touchstone.statistics.thresholds import fewest_labels
from touchstone.usage import NOT_KNOWN, dollars

NO_CARD = "No judge has given a verdict yet."
_MILLISECONDS = 1_000.0
_SIX_DECIMALS = 0.000_01
"""The least amount (US dollars) that six decimals show well."""


def print_cards(cards: Sequence[View]) -> None:
    """Print a line for each judge. `cards` are in the short form, that of a list."""
    print_table(_CARDS, cards, empty=NO_CARD)


def print_card(card: View) -> None:
    """Print one card in full."""
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
            ("people agree", _of(card["people"])),
            ("other judges", _alpha_of(card.get("alpha"))),
            ("sure from", _threshold_of(card["threshold"])),
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
        print_table(_CLASSES, agreement["classes"], empty="")
    if any(rate["corrected"] for rate in card["rates"]):
        print_table(_RATES, card["rates"], empty="")
    if calibration["state"] == "measured":
        print_table(_BINS, [one for one in calibration["diagram"]["bins"] if one["count"]], empty="")


def _threshold_of(threshold: View) -> str:
    """The confidence from which a judge counts as sure, and the labels that show it, in one sentence."""
    wanted, labels, agreed = f"{100 * threshold['wanted']:g}%", threshold["labels"], threshold["agreed"]
    if threshold["state"] == "found":
        sure, least = threshold["confidence"], figures.percent_at_least(threshold["bound"], 1)
        return f"{sure:.2f}: people agree with {agreed} of {labels} there, in at least {least}"
    if threshold["state"] == "below_wanted":
        said = f"people agree with {agreed} of {labels}, fewer than the wanted {wanted}"
        least = threshold["silent_below"]
        return f"never: {said}" if least is None else f"not below {least:.2f}: {said}; from there on 0.8 as without"
    needed, lacking = threshold["needed"], ""
    if needed:
        untested = labels < fewest_labels(threshold["wanted"], threshold["certainty"])
        lacking = (
            f"; fewer than {needed} labels show nothing" if untested else f"; {needed} labels like these would show it"
        )
    return (
        f"not shown by labels, so 0.8 as without: people agree with {agreed} of {labels}, wanted are {wanted}{lacking}"
    )


def _alpha_of(alpha: View | None) -> str | None:
    """The agreement of this judge with others on the same items, in words.

    None if the judge was always asked alone, or if the deployment is too old to tell it.
    """
    if not alpha or not alpha["units"]:
        return None
    told = "undefined: all said the same" if alpha["value"] is None else f"alpha {_upto_1(alpha['value'])}"
    return f"{told}, over {alpha['units']} items of several judges"


def _corrected(rate: View | None) -> str | None:
    if rate is None:
        return None
    low, high = rate["interval"]
    shown, least, most = (figures.percent(one, 1) for one in (rate["rate"], low, high))
    return f"{shown} ({least} to {most}), by {rate['labels']} labels"


def _kappa(card: View) -> str:
    if card["state"] == "not_enough_labels":
        return "not enough labels"
    return _interval(card["kappa"], (card["kappa_lower"], card["kappa_upper"]))


def _kappa_of(agreement: View) -> str:
    if agreement["state"] == "not_enough_labels":
        return f"not enough labels: {agreement['labels']} of {agreement['needed']}"
    return _interval(agreement["kappa"]["value"], agreement["kappa"]["interval"])


def _interval(kappa: float | None, interval: Sequence[float | None] | None) -> str:
    if kappa is None or interval is None:
        return "undefined: one class alone"
    lower, upper = (_upto_1(bound) for bound in interval if bound is not None)
    return f"{_upto_1(kappa)} ({lower} to {upper})"


def _calibration_of(calibration: View) -> str:
    if calibration["state"] == "not_enough_labels":
        return f"not enough labels with a confidence: {calibration['labels']} of {calibration['needed']}"
    return f"ECE {_figure(calibration['diagram']['ece'])}, Brier {_figure(calibration['diagram']['brier'])}"


def _of(share: View) -> str | None:
    return _share(share["value"], share["interval"], share["of"])


def _share(value: float | None, interval: Sequence[float] | None, count: int) -> str | None:
    if value is None or interval is None:
        return None
    return f"{percent(value)} ({percent(interval[0])} to {percent(interval[1])}) of {count}"


def _figure(value: float | None) -> str | None:
    """An error of calibration (0-1)."""
    return None if value is None else figures.figure(value, 3, most=1)


def _upto_1(value: float) -> str:
    """An agreement beyond chance, which is 1 at most."""
    return figures.figure(value, 2, most=1)


def _seconds(milliseconds: float | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds / _MILLISECONDS:.1f} s"


def _cost(view: View) -> str | None:
    """The cost of a verdict. It has six decimals or more: a verdict of a fast model costs a hundredth of a cent."""
    if (value := view["verdict_cost_usd"]) is None:
        return NOT_KNOWN if view["unpriced"] else None
    return figures.usd(value) if 0 < value < _SIX_DECIMALS else f"${value:.6f}"


_CARDS = (
    column("judge", "model"),
    column("tier"),
    column("prompt", "prompt_version"),
    column("verdicts", "kind"),
    column("labels", right=True),
    column("kappa", _kappa),
    column("ECE", lambda card: _figure(card["ece"]), right=True),
    column("flips", lambda card: percent(card["flip_rate"]), right=True),
    column("unreadable", lambda card: percent(card["unreadable_share"]), right=True),
    column("latency", lambda card: _seconds(card["latency_ms"]), right=True),
    column("a verdict", _cost, right=True),
    column("card", "id"),
)
_CLASSES = (
    column("class", "label"),
    column("precision", lambda one: _of(one["precision"])),
    column("recall", lambda one: _of(one["recall"])),
)
_RATES = (
    column("class", "label"),
    column("the judge says", lambda one: _of(one["said"])),
    column("people would", lambda one: _corrected(one["corrected"])),
    column("labels to halve it", lambda one: (one["corrected"] or {}).get("to_halve"), right=True),
)
_BINS = (
    column("confidence", lambda one: f"{one['lower']:.1f} to {one['upper']:.1f}"),
    column("verdicts", "count", right=True),
    column("on average", lambda one: percent(one["confidence"]), right=True),
    column("right", lambda one: _share(one["accuracy"], one["interval"], one["count"])),
)
