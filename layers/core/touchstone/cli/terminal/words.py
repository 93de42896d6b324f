"""What a deployment says, in the words of the command: amounts, moments, shares and counts."""

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone import figures, usage

SHORT_CHARS = 60

type View = Mapping[str, Any]
"""A record as the API shows it."""


def is_over(view: View) -> bool:
    """Whether a record's work has ended, done or failed."""
    return bool(view.get("finished_at"))


def short(text: object) -> str | None:
    """The first `SHORT_CHARS` characters of a text, on one line; None stays None."""
    if text is None:
        return None
    line = " ".join(str(text).split())
    return line if len(line) <= SHORT_CHARS else line[: SHORT_CHARS - 1] + "…"


def percent(value: object) -> str | None:
    """A share (0–1) as a percentage; None stays None."""
    return figures.percent(value) if isinstance(value, int | float) else None


def dollars(value: object) -> str | None:
    """An amount of US dollars as people read it; None stays None."""
    return usage.dollars(value) if isinstance(value, int | float) else None


def cost_of(view: Mapping[str, Any], *, name: str = "cost_usd") -> str:
    """The cost of work as people read it. `view` has the cost in the field called `name`, and `unpriced_calls`."""
    return usage.dollars(view.get(name, 0.0), view.get("unpriced_calls") or 0)


def spent(view: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The facts about the cost of work. The view has `cost_usd`, `tokens` and, if there are any, its `spends`.

    If a provider reported an impossible usage, the report is shown with the usage that was counted in its place.
    """
    yield "cost", f"{cost_of(view)}, {view.get('tokens', 0):,} tokens"
    yield "saved by batches", dollars(view["saved_usd"]) if view.get("saved_usd") else None
    for spend in view.get("spends") or ():
        if spend.get("claimed"):
            counted = "more than one call can use, counted as its most" if spend["input_tokens"] else "no count"
            yield "usage", f"{spend['provider']} reported {spend['claimed']}: {counted}"


def moment(value: object) -> str | None:
    """A moment of the API (UTC) as people read it, in whole seconds; None stays None."""
    return None if value is None else str(value)[:19].replace("T", " ")
