"""What a refused call teaches about a quota, or about a model that is not there for anybody.

A provider's word is better than the configuration: free tiers shrink overnight, and other programs share an account.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta

from touchstone.budgets.decision import MAX_BLOCK, Barred, QuotaState, pause_until
from touchstone.errors import DayQuotaError, MinuteQuotaError, UnavailableModelError

type Telling = DayQuotaError | MinuteQuotaError | UnavailableModelError
"""Failures that say something of every call to come, and not only of the one that failed."""

LEARNED_MINUTE_FOR = timedelta(days=1)
"""How long a named limit a minute holds; trying the configured one again costs one refused call a day."""
UNNAMED_PAUSE = timedelta(seconds=20)
"""The pause after a refusal that names neither limit nor delay."""
UNNAMED_PER_MINUTE = 3
"""… and the calls a minute that are tried after it: enough to notice the end of it, too few to be a storm."""
UNNAMED_FOR = timedelta(minutes=3)
"""… for so long, counted anew from every further refusal."""
BARRED_FOR = timedelta(minutes=3)
"""How long a provider that serves nobody is only probed, counted anew from every probe that fails. A new key or another
model has an account of its own, so this delays only what was mended at the provider."""
PROBE = 1
"""What a named limit of 0 is kept as: one call a window, which finds out when the quota is no longer 0."""


def learned_from(state: QuotaState, error: Telling, *, reserved_on: date, now: datetime) -> QuotaState:
    """The account after the provider refused a call whose unit was reserved on its day `reserved_on`.

    A refusal that arrives after midnight speaks of the day that is over, and does not block the new one.
    """
    match error:
        case DayQuotaError():
            return _learned_day(state, error.limit, over=reserved_on == state.day)
        case MinuteQuotaError():
            return _learned_minute(state, error.limit, error.retry_after, now=now)
        case UnavailableModelError():
            return replace(state, barred=Barred(until=now + BARRED_FOR, why=str(error)))


def _learned_day(state: QuotaState, limit: int | None, *, over: bool) -> QuotaState:
    learned = state.learned
    if limit is not None:
        learned = replace(learned, per_day=max(PROBE, limit), per_day_on=state.day)
    return replace(state, learned=learned, tally=replace(state.tally, exhausted=over or state.tally.exhausted))


def _learned_minute(state: QuotaState, limit: int | None, retry_after: float | None, *, now: datetime) -> QuotaState:
    learned, pause = state.learned, UNNAMED_PAUSE
    held = learned.per_minute if learned.per_minute_until is not None and now < learned.per_minute_until else None
    if limit is not None:
        learned = replace(learned, per_minute=max(PROBE, limit), per_minute_until=now + LEARNED_MINUTE_FOR)
    elif retry_after is None and (held is None or held >= UNNAMED_PER_MINUTE):
        learned = replace(learned, per_minute=UNNAMED_PER_MINUTE, per_minute_until=now + UNNAMED_FOR)
    if retry_after is not None:
        pause = timedelta(seconds=min(MAX_BLOCK.total_seconds(), max(0.0, retry_after)))
    return replace(state, learned=learned, blocked_until=max(now + pause, pause_until(state, now) or now))
