"""The rules of a quota, for any sequence of calls at any time."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from touchstone.budgets.account import (
    CAUTION_PERIOD,
    MAX_REFUSALS_PER_MINUTE,
    PROBE_FOR,
    SEND_MARGIN,
    WINDOW_SECONDS,
    DayTally,
    Learned,
    QuotaState,
    Refusals,
    released,
    settled,
)
from touchstone.budgets.days import day_of, next_reset
from touchstone.budgets.decision import (
    RECHECK_PAUSE,
    RELEASE_BEFORE_RESET,
    SEND_WITHIN,
    SLOW_START_CALLS,
    Granted,
    QuotaRules,
    Refused,
    decide,
    effective_limits,
    kept_for_fresh,
)
from touchstone.budgets.ledger import learned_from
from touchstone.errors import DayQuotaError, MinuteQuotaError, UnavailableModelError
from touchstone.judges.base import Purpose, QuotaLimits

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
TODAY = date(2026, 11, 21)
SKEW = 0.5
"""Seconds by which the clocks of two machines may be off; with `SEND_WITHIN` it stays inside `SEND_MARGIN`."""

edges = st.sampled_from(
    [datetime(2026, 3, 9, 7, tzinfo=UTC), datetime(2026, 11, 2, 8, tzinfo=UTC), datetime(2026, 11, 2, 0, tzinfo=UTC)]
)
purposes = st.sampled_from(["fresh", "backlog"])
attempts = st.lists(
    st.tuples(
        st.one_of(st.floats(0, 3), st.floats(50, 70), st.floats(0, 3600)),  # seconds since the attempt before
        st.floats(-SKEW, SKEW),
        st.floats(0, SEND_WITHIN.total_seconds(), exclude_max=True),  # seconds from reservation to call
        purposes,
    ),
    max_size=60,
)


def rules_of(provider: str = "gemini", *, fresh_share: float = 0.1, **limits: int) -> QuotaRules:
    return QuotaRules(provider=provider, limits=QuotaLimits(**limits), fresh_share=fresh_share)


@given(
    edge=edges,
    offset=st.one_of(st.floats(-600, 60), st.floats(-8, 2)),
    tried=attempts,
    provider=st.sampled_from(["gemini", "openai"]),
    per_day=st.one_of(st.integers(1, 3), st.integers(1, 25)),
    per_minute=st.integers(1, 6),
    fresh_share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
@example(
    edge=datetime(2026, 3, 9, 7, tzinfo=UTC),
    offset=-2,
    tried=[(0, 0, 3.5, "fresh"), (8, 0, 0, "fresh")],  # reserved before midnight, sent after it
    provider="gemini",
    per_day=1,
    per_minute=2,
    fresh_share=0.0,
)
def test_i3_no_60_seconds_and_no_day_see_more_calls_than_the_limit(
    *,
    edge: datetime,
    offset: float,
    tried: list[tuple[float, float, float, Purpose]],
    provider: str,
    per_day: int,
    per_minute: int,
    fresh_share: float,
) -> None:
    rules = rules_of(provider, per_day=per_day, per_minute=per_minute, fresh_share=fresh_share)
    now = edge + timedelta(seconds=offset)
    state, sent = QuotaState(day=day_of(provider, now)), []
    for gap, skew, delay, purpose in tried:
        now += timedelta(seconds=gap)
        decision = decide(state, now + timedelta(seconds=skew), rules=rules, purpose=purpose)
        if isinstance(decision, Granted):
            state = decision.state
            sent.append(now + timedelta(seconds=delay))
    window = timedelta(seconds=WINDOW_SECONDS)
    assert all(sum(first <= other <= first + window for other in sent) <= per_minute for first in sent)
    assert all(count <= per_day for count in Counter(day_of(provider, at) for at in sent).values())


@given(
    now=st.datetimes(datetime(2026, 3, 1), datetime(2026, 3, 15), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive
    ago=st.dictionaries(st.integers(-70, 0), st.integers(1, 5), max_size=8),
    used=st.integers(0, 12),
    backlog_used=st.integers(0, 12),
    purpose=purposes,
    blocked=st.floats(0, 700),
)
def test_a_refusal_names_the_very_moment_at_which_a_unit_is_free(
    *, now: datetime, ago: dict[int, int], used: int, backlog_used: int, purpose: Purpose, blocked: float
) -> None:
    second = int(now.timestamp())
    state = QuotaState(
        day=day_of("gemini", now),
        tally=DayTally(used=used, backlog_used=min(used, backlog_used)),
        seconds={second + at: count for at, count in ago.items()},
        refusals=Refusals(in_a_row=1, until=now + timedelta(seconds=blocked), why="busy"),
    )
    rules = rules_of(per_day=10, per_minute=4, fresh_share=0.3)
    decision = decide(state, now, rules=rules, purpose=purpose)
    if isinstance(decision, Refused):
        just_before = decision.until - timedelta(microseconds=1)
        assert isinstance(decide(state, max(now, just_before), rules=rules, purpose=purpose), Refused)
        assert isinstance(decide(state, decision.until, rules=rules, purpose=purpose), Granted)


@given(st.lists(st.tuples(st.booleans(), purposes), max_size=30))
def test_i2_what_is_released_was_never_counted(steps: list[tuple[bool, Purpose]]) -> None:
    state, kept = QuotaState(day=TODAY), Counter[Purpose]()
    for give_back, purpose in steps:
        decision = decide(state, NOON, rules=rules_of(), purpose=purpose)
        assert isinstance(decision, Granted)
        state = decision.state
        if give_back:
            state = released(state, day=TODAY, second=int(NOON.timestamp()), purpose=purpose)
        else:
            kept[purpose] += 1
    assert (state.tally.used, state.tally.backlog_used) == (kept.total(), kept["backlog"])
    assert sum(state.seconds.values()) == kept.total()


def test_releasing_more_than_was_reserved_never_goes_below_zero() -> None:
    state = released(QuotaState(day=TODAY), day=TODAY, second=0, purpose="backlog")
    assert state.tally == DayTally()


def test_the_backlog_gets_the_fresh_share_two_hours_before_the_reset() -> None:
    rules, state = rules_of(per_day=250), QuotaState(day=TODAY, tally=DayTally(used=225, backlog_used=225))
    release = next_reset("gemini", NOON) - RELEASE_BEFORE_RESET
    assert decide(state, NOON, rules=rules, purpose="backlog") == Refused(window="day", until=release)
    assert isinstance(decide(state, NOON, rules=rules, purpose="fresh"), Granted)
    assert isinstance(decide(state, release, rules=rules, purpose="backlog"), Granted)


@pytest.mark.parametrize(
    ("per_day", "share", "fresh_used", "kept"),
    [(250, 0.1, 0, 25), (250, 0.1, 10, 15), (250, 0.1, 40, 0), (100, 0.29, 0, 29), (9, 0.1, 0, 0), (20, 0.0, 0, 0)],
)
def test_what_is_kept_for_fresh_requests(per_day: int, share: float, fresh_used: int, kept: int) -> None:
    tally = DayTally(used=fresh_used + 7, backlog_used=7)
    assert kept_for_fresh(per_day, tally, fresh_share=share) == kept


def test_a_limit_of_zero_lets_nothing_through() -> None:
    reset = next_reset("gemini", NOON)
    by_day = decide(QuotaState(day=TODAY), NOON, rules=rules_of(per_day=0), purpose="fresh")
    assert by_day == Refused(window="day", until=reset + SEND_MARGIN)
    by_minute = decide(QuotaState(day=TODAY), NOON, rules=rules_of(per_minute=0), purpose="fresh")
    assert isinstance(by_minute, Refused)
    assert by_minute.window == "minute"
    assert by_minute.until > NOON


def test_without_limits_everything_is_let_through_and_counted() -> None:
    state = QuotaState(day=TODAY)
    for _ in range(1000):
        decision = decide(state, NOON, rules=rules_of(), purpose="fresh")
        assert isinstance(decision, Granted)
        state = decision.state
    assert state.tally.used == 1000


def test_a_learned_limit_only_ever_lowers_the_configured_one() -> None:
    learned = Learned(per_day=500, per_day_on=TODAY, per_minute=3, per_minute_until=NOON + timedelta(hours=1))
    state = QuotaState(day=TODAY, learned=learned)
    rules = rules_of(per_day=250, per_minute=10)
    assert effective_limits(state, NOON, rules=rules) == QuotaLimits(per_day=250, per_minute=3)
    later = NOON + timedelta(days=7)
    assert effective_limits(state, later, rules=rules) == rules.limits
    assert effective_limits(state, NOON, rules=rules_of()) == QuotaLimits(per_day=500, per_minute=3)


def test_seconds_of_a_clock_that_was_set_ahead_do_not_count() -> None:
    tomorrow = int(NOON.timestamp()) + 86_400
    refusals = Refusals(in_a_row=0, until=NOON + timedelta(days=1), why="busy")
    state = QuotaState(day=TODAY, seconds={tomorrow: 10}, refusals=refusals)
    assert isinstance(decide(state, NOON, rules=rules_of(per_minute=1), purpose="fresh"), Granted)


def taken(state: QuotaState, now: datetime, reservation: str, *, slow_start: bool = False) -> QuotaState | Refused:
    """The account with one unit more, or why there is none."""
    rules = QuotaRules(provider="compatible", limits=QuotaLimits(), slow_start=slow_start)
    decision = decide(state, now, rules=rules, purpose="fresh", reservation=reservation)
    return decision.state if isinstance(decision, Granted) else decision


calls = st.lists(
    st.tuples(
        st.one_of(st.just(0.0), st.floats(0, 15), st.floats(50, 700)),  # seconds since the attempt before
        st.floats(0, PROBE_FOR.total_seconds(), exclude_max=True),  # seconds until the provider answers
        st.sampled_from(["refused", "refused", "answered", "broken"]),
        st.one_of(st.none(), st.floats(0, 1000)),  # the pause that it asks for
    ),
    max_size=80,
)


@given(tried=calls)
@example(tried=[(0.0, 1.0, "refused", 1.0)] * 40)
@example(tried=[(0.0, 0.0, "refused", None), *[(10.0, 4.0, "answered", None), *[(0.0, 4.0, "refused", 1.0)] * 9] * 5])
def test_r24_once_it_has_refused_a_call_a_provider_refuses_three_at_most_in_any_60_seconds(
    tried: list[tuple[float, float, str, float | None]],
) -> None:
    """Whatever it says and does: all that may be refused are in flight or were refused in the minute before."""
    now = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
    state = learned_from(QuotaState(day=TODAY), MinuteQuotaError("full"), reserved_on=TODAY, now=now)
    sent_of_refused, open_calls = [now], list[tuple[datetime, str, datetime, str, float | None]]()
    for number, (gap, seconds, outcome, asked) in enumerate(tried):
        now += timedelta(seconds=gap)
        for call in sorted(each for each in open_calls if each[0] <= now):
            ended, reservation, sent, how, pause = call
            open_calls.remove(call)
            if how == "refused":
                error = MinuteQuotaError("busy", retry_after=pause)
                state = learned_from(state, error, reservation=reservation, reserved_on=TODAY, now=ended)
                sent_of_refused.append(sent)
            else:
                state = settled(state, reservation, ended, answered=how == "answered")
        decision = taken(state, now, f"{number:03}")
        if isinstance(decision, QuotaState):
            state = decision
            if f"{number:03}" in state.watched:  # what is not, was asked long after the last refusal
                open_calls.append((now + timedelta(seconds=seconds), f"{number:03}", now, outcome, asked))
    window = timedelta(seconds=WINDOW_SECONDS)
    for first in sent_of_refused:
        assert sum(first <= other <= first + window for other in sent_of_refused) <= MAX_REFUSALS_PER_MINUTE


def test_one_probe_at_a_time_asks_until_it_is_answered_or_long_on_its_way() -> None:
    state = learned_from(QuotaState(day=TODAY), UnavailableModelError("gone"), reserved_on=TODAY, now=NOON)
    assert state.refusals is not None
    now = state.refusals.until
    probing = taken(state, now, "probe")
    assert isinstance(probing, QuotaState)
    waits = taken(probing, now, "other")
    assert waits == Refused(window="minute", until=now + RECHECK_PAUSE, why="gone", barred=True, in_flight=True)
    assert isinstance(taken(probing, now + PROBE_FOR, "other"), QuotaState)
    following = taken(settled(probing, "probe", now, answered=False), now, "other")
    assert isinstance(following, QuotaState)
    assert isinstance(taken(following, now, "a third"), Refused), "none was answered: they ask one at a time still"
    mended = settled(probing, "probe", now, answered=True)
    for number in range(MAX_REFUSALS_PER_MINUTE - 1):  # one was refused within the minute
        following = taken(mended, now, str(number))
        assert isinstance(following, QuotaState)
        mended = following
    assert isinstance(taken(mended, now, "one too many"), Refused)
    assert isinstance(taken(mended, NOON + CAUTION_PERIOD, "after the care"), QuotaState)


def test_after_a_spent_day_one_call_finds_out_whether_there_is_a_new_one() -> None:
    state = learned_from(QuotaState(day=TODAY), DayQuotaError("spent"), reserved_on=TODAY, now=NOON)
    held = taken(state, NOON, "too early")
    assert held == Refused(window="day", until=next_reset("compatible", NOON) + SEND_MARGIN, why="spent")
    state = taken(state.on_day(TODAY + timedelta(days=1), DayTally()), held.until, "probe")  # type: ignore[assignment]
    assert isinstance(taken(state, held.until, "other"), Refused)
    assert isinstance(taken(settled(state, "probe", held.until, answered=True), held.until, "other"), QuotaState)


@pytest.mark.parametrize(("made", "at_once"), [(0, 3), (24, 3), (80, 10), (320, 40)])
def test_a_slow_start_has_an_eighth_of_what_was_made_in_flight(made: int, at_once: int) -> None:
    state, granted = QuotaState(day=TODAY, tally=DayTally(used=made)), 0
    while granted < 100 and isinstance(found := taken(state, NOON, str(granted), slow_start=True), QuotaState):
        state, granted = found, granted + 1
    assert granted == at_once


def test_a_slow_start_is_over_and_nothing_is_waited_for_once_a_provider_has_proven_itself() -> None:
    state = taken(QuotaState(day=TODAY, tally=DayTally(used=SLOW_START_CALLS)), NOON, "one", slow_start=True)
    assert isinstance(state, QuotaState)
    assert state.watched == {}
