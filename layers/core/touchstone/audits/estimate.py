"""What an audit will take before it begins: turns of a model and their cost, as ranges.

How an agent goes about a case is its own affair, so that the ends of a range are those of an agent that writes all
scripts at once and has them right, and of one that looks around for each and writes it twice. What was said is sent
again with every turn: the input grows with the square of the turns. At the lower end it comes from the
provider's cache.
"""

import math
from collections.abc import Iterable
from datetime import date

from touchstone.audits.agent.bounds import MAX_RUNS_A_TURN, Bounds
from touchstone.audits.case import AuditCase
from touchstone.clock import system_clock
from touchstone.judges.questions import cost_usd
from touchstone.judges.registry import Model
from touchstone.strict import Strict
from touchstone.usage import Usage

PROMPT_TOKENS = 2_000
"""The prompt and the descriptions of the tools."""
READ_TOKENS = (400, 3_000)
"""What the results of a turn's calls add to what is sent with the next: at most all that a tool may answer."""
SAID_TOKENS = (300, 3_000)
"""What a model says in a turn: scripts, and what it thinks before."""
BEGINNING_AND_END = 2
LOOKS = 4
TURNS_AN_OPTION = 3
"""At most: a look, a script, and the same script mended."""


class AuditEstimate(Strict):
    """What an audit is expected to take. `cost_usd` is None where the model's price is not known."""

    cases: int
    options: int
    turns: tuple[int, int]
    cost_usd: tuple[float, float] | None


def estimate_of(
    cases: Iterable[AuditCase], model: Model | None, *, bounds: Bounds, on: date | None = None
) -> AuditEstimate:
    """Estimate an audit of `cases` by `model` (None: its price is not known). `on`: the day, UTC; None: today."""
    day = on or system_clock().date()
    plain = [sum(option.catch_all is None for option in case.options) for case in cases]
    least = [min(bounds.turns, BEGINNING_AND_END + math.ceil(count / MAX_RUNS_A_TURN)) for count in plain]
    most = [min(bounds.turns, LOOKS + TURNS_AN_OPTION * count) for count in plain]
    return AuditEstimate(
        cases=len(plain),
        options=sum(plain),
        turns=(sum(least), sum(most)),
        cost_usd=None if model is None else _range(model, least, most, bounds, day),
    )


def _range(model: Model, least: list[int], most: list[int], bounds: Bounds, day: date) -> tuple[float, float] | None:
    low = [_cost(model, turns, end=0, bounds=bounds, day=day) for turns in least]
    high = [_cost(model, turns, end=1, bounds=bounds, day=day) for turns in most]
    if None in low or None in high:
        return None
    return sum(cost for cost in low if cost is not None), sum(cost for cost in high if cost is not None)


def _cost(model: Model, turns: int, *, end: int, bounds: Bounds, day: date) -> float | None:
    """What a case of so many turns costs at one end of the range."""
    dollars, sent, counted = 0.0, PROMPT_TOKENS, 0
    for turn in range(turns):
        cached = sent - READ_TOKENS[end] - SAID_TOKENS[end] if end == 0 and turn else 0
        usage = Usage(input_tokens=sent, output_tokens=SAID_TOKENS[end], cached_input_tokens=max(0, cached))
        cost = cost_usd(model, usage, on=day)
        if cost is None:
            return None
        dollars += cost
        counted += sent + SAID_TOKENS[end]
        if counted >= bounds.tokens:
            break
        sent += READ_TOKENS[end] + SAID_TOKENS[end]
    return dollars
