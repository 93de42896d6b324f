"""The expected turns of a model and their cost, as ranges, before an audit begins.

How an agent works on a case is not known beforehand. The low end of a range is an agent that writes all scripts at once
and correctly. The high end is an agent that looks around for each script and writes it twice. Each turn sends
everything again that was said before, so the input grows with the square of the turns. At the low end, the repeated
input comes from the provider's cache.
"""

import math
from collections.abc import Iterable
from datetime import date

from touchstone.audits.agent.bounds import MAX_RUNS_PER_TURN, Bounds
from touchstone.audits.case import AuditCase
from touchstone.clock import system_clock
from touchstone.judges.questions import cost_usd
from touchstone.judges.registry import Model
from touchstone.strict import Strict
from touchstone.usage import Usage

PROMPT_TOKENS = 2_000
"""Tokens of the prompt and of the descriptions of the tools."""
READ_TOKENS = (400, 3_000)
"""Tokens that the results of a turn's calls add to the input of the next turn, at the low and the high end. The high
end is all that a tool may answer."""
SAID_TOKENS = (300, 3_000)
"""Tokens that a model writes in a turn, at the low and the high end: scripts, and its thoughts before them."""
BEGINNING_AND_END = 2
LOOKS = 4
TURNS_PER_OPTION = 3
"""Most turns for one option: a look, a script, and the same script corrected."""


class AuditEstimate(Strict):
    """What an audit is expected to take.

    `turns` and `cost_usd` are ranges (lowest, highest). `cost_usd` is null if the price of the model is not known.
    """

    cases: int
    options: int
    turns: tuple[int, int]
    cost_usd: tuple[float, float] | None


def estimate_of(
    cases: Iterable[AuditCase], model: Model | None, *, bounds: Bounds, on: date | None = None
) -> AuditEstimate:
    """Estimate an audit of `cases` by `model` (None: its price is not known).

    `on` is the day whose prices hold, in UTC; None: today.
    """
    day = on or system_clock().date()
    plain = [sum(option.catch_all is None for option in case.options) for case in cases]
    least = [min(bounds.turns, BEGINNING_AND_END + math.ceil(count / MAX_RUNS_PER_TURN)) for count in plain]
    most = [min(bounds.turns, LOOKS + TURNS_PER_OPTION * count) for count in plain]
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
    """The cost of a case of `turns` turns in US dollars; None if the price of the model is not known.

    `end` is 0 for the low end of the range and 1 for the high end.
    """
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
