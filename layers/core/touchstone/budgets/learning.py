"""What a refused call teaches about a quota, or about a model that the provider serves to nobody.

What the provider says counts more than the configuration: free tiers shrink overnight, and other programs share an
account.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta

from touchstone.budgets.account import (
    MAX_BLOCK,
    MAX_REFUSALS_PER_MINUTE,
    REFUSED_FOR,
    QuotaState,
    Refusals,
    pause_at,
    recently_refused,
)
from touchstone.errors import DayQuotaError, MinuteQuotaError, UnavailableModelError

type LearnableError = DayQuotaError | MinuteQuotaError | UnavailableModelError
"""Failures that tell something about all calls to come, and not only about the call that failed."""

LEARNED_MINUTE_FOR = timedelta(days=1)
"""How long a named limit a minute holds. To try the configured limit again costs one refused call a day."""
FIRST_PAUSE = timedelta(seconds=10)
"""The pause after a refusal that advises none. It doubles with every probe that is refused too."""
PROBE = 1
"""What a named limit of 0 is kept as: one call a window, which finds out when the quota is above 0 again."""


def learned_from(
    state: QuotaState, error: LearnableError, *, reservation: str = "", reserved_on: date, now: datetime
) -> QuotaState:
    """The account after the provider refused the call of `reservation`, made on its day `reserved_on`.

    A refusal that arrives after midnight is about the day that is over, and does not block the new day.
    """
    learned = state.learned
    watched = {other: until for other, until in state.watched.items() if other != reservation}
    state = replace(state, watched=watched)
    match error:
        case DayQuotaError():
            if error.limit is not None:
                learned = replace(learned, per_day=max(PROBE, error.limit), per_day_on=state.day)
            if reserved_on != state.day:
                return replace(state, learned=learned)
            state = replace(state, tally=replace(state.tally, exhausted=True))
        case MinuteQuotaError(limit=int(limit)):
            learned = replace(learned, per_minute=max(PROBE, limit), per_minute_until=now + LEARNED_MINUTE_FOR)
    return replace(state, learned=learned, refusals=_refused_once_more(state, error, now=now))


def _refused_once_more(state: QuotaState, error: LearnableError, *, now: datetime) -> Refusals:
    """The refusals with the refusal of `error` added.

    A refusal that comes during a pause is of a call that was in flight when the pause began, and is no failed probe.
    The provider's advice is followed at the first refusal of a row; after that only if it is longer than our own pause.
    In any case the pause is so long that the probe after it is one of at most `MAX_REFUSALS_PER_MINUTE` refused calls
    in a minute.
    """
    before, held = state.refusals, pause_at(state, now)
    in_a_row = 0 if before is None else before.in_a_row
    if held is None or in_a_row == 0:
        in_a_row += 1
    at = (*(() if before is None else recently_refused(before, now)), now)[-MAX_REFUSALS_PER_MINUTE:]
    grown = FIRST_PAUSE * 2 ** min(in_a_row - 1, 10)
    asked = timedelta(seconds=min(MAX_BLOCK.total_seconds(), max(0.0, error.retry_after or 0.0)))
    advised_at_first = in_a_row == 1 and error.retry_after is not None
    until = now + (asked if advised_at_first else min(MAX_BLOCK, max(grown, asked)))
    if len(at) == MAX_REFUSALS_PER_MINUTE:
        until = max(until, at[0] + REFUSED_FOR)
    if held is not None:
        until = max(until, held.until)
    barred = isinstance(error, UnavailableModelError)
    return Refusals(at=at, in_a_row=in_a_row, until=until, why=str(error), barred=barred)
