"""A tenant's share of a quota: whatever one tenant does, and however calls interleave, the others have theirs."""

from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clocks import StandingClock
from touchstone.budgets.account import SEND_MARGIN, WINDOW_SECONDS, DayTally, QuotaKey, QuotaState
from touchstone.budgets.days import day_of, next_reset
from touchstone.budgets.decision import RELEASE_BEFORE_RESET, Granted, QuotaRules, Refused, decide
from touchstone.budgets.ledger import Change, Reservation, TenantShare
from touchstone.budgets.memory import MemoryQuotas
from touchstone.budgets.usage import QuotaUsage
from touchstone.errors import InputError, MinuteQuotaError, QuotaExceededError, TenantShareError
from touchstone.judges.base import Purpose, QuotaLimits

KEY = QuotaKey("gemini", "gemini-3.5-flash-lite", "default")
NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
RESET = next_reset("gemini", NOON)
RELEASE = RESET - RELEASE_BEFORE_RESET
TENANTS = ("acme", "bona", "corp")


class Died(BaseException):
    """A function that ends without a word."""


class SharedBook(MemoryQuotas):
    """Accounts in memory, with shares; `between` runs after a tenant's account was written and before that of all."""

    def __init__(self, clock: StandingClock, share: float) -> None:
        super().__init__(clock=clock, fresh_share=0.0)
        self._tenant_share = TenantShare(fraction=share, several=lambda: True)
        self.between: Callable[[], None] | None = None

    def _change(self, key: QuotaKey, change: Change, **names: Any) -> datetime:
        if key.tenant is None and self.between is not None:
            between, self.between = self.between, None
            between()
        return super()._change(key, change, **names)


ends = st.sampled_from(["sent", "sent", "sent", "given back", "died", "interrupted", "interrupted"])
attempts = st.lists(
    st.tuples(
        st.one_of(st.just(0.0), st.floats(0, 3), st.floats(50, 70), st.floats(0, 3600)),  # seconds since the one before
        st.sampled_from(TENANTS),
        st.sampled_from(["fresh", "backlog"]),
        ends,
    ),
    max_size=50,
)


class Deployment:
    """Tenants that ask; `sent` are the calls that were made."""

    def __init__(self, start: datetime, limits: QuotaLimits, share: float) -> None:
        self.clock = StandingClock(start)
        self.book = SharedBook(self.clock, share)
        self.limits = limits
        self.sent: dict[str, list[datetime]] = defaultdict(list)

    def own(self, tenant: str) -> QuotaUsage:
        """What a tenant used of its share."""
        usage = self.book.share_usage(KEY, self.limits, tenant=tenant)
        assert usage is not None
        return usage

    def has_room(self, tenant: str) -> bool:
        """Whether both accounts have a unit left and no day begins or ends just now."""
        whole, own = self.book.usage(KEY, self.limits), self.own(tenant)
        near = [abs(whole.now - edge) <= SEND_MARGIN for edge in (whole.resets_at, whole.resets_at - timedelta(days=1))]
        return not any(near) and 0 not in (whole.left, whole.left_this_minute, own.left, own.left_this_minute)

    def ask(
        self, tenant: str, purpose: Purpose = "fresh", *, between: Callable[[], None] | None = None
    ) -> Reservation | None:
        """Ask for a unit; `between` happens after the tenant's account was written and before that of all."""
        expected = self.has_room(tenant)
        self.book.between = between
        try:
            unit = self.book.reserve(KEY, self.limits, purpose=purpose, tenant=tenant)
        except QuotaExceededError:
            assert not expected or between is not None, "who has room in its own account and in that of all is served"
            return None
        finally:
            self.book.between = None
        self.sent[tenant].append(unit.reserved_at)
        return unit

    def ask_and_die(self, tenant: str) -> None:
        """Ask in a function that is killed between the two accounts."""

        def die() -> None:
            raise Died

        with suppress(Died):
            self.ask(tenant, between=die)

    def ask_while(self, tenant: str, other: str) -> None:
        """Ask while another tenant does."""

        def also() -> None:
            self.ask(other)

        self.ask(tenant, between=also)

    def all_sent(self) -> list[datetime]:
        """The calls of all tenants."""
        return [at for calls in self.sent.values() for at in calls]


def most_in_a_minute(sent: list[datetime]) -> int:
    window = timedelta(seconds=WINDOW_SECONDS)
    return max((sum(first <= other <= first + window for other in sent) for first in sent), default=0)


def by_day(sent: list[datetime]) -> list[int]:
    return list(Counter(day_of("gemini", at) for at in sent).values())


@given(
    hours=st.one_of(st.just(0.0), st.floats(6, 9.5), st.floats(12, 20)),  # 10 h after noon the share of the day ends
    asked=attempts,
    per_day=st.one_of(st.integers(1, 4), st.integers(1, 30)),
    per_minute=st.integers(1, 8),
    share=st.sampled_from([0.1, 0.34, 0.5, 0.9]),
)
@settings(deadline=None)
def test_a2_for_any_interleaving_all_limits_hold_and_no_tenant_passes_its_share(
    *, hours: float, asked: list[tuple[float, str, Purpose, str]], per_day: int, per_minute: int, share: float
) -> None:
    limits = QuotaLimits(per_day=per_day, per_minute=per_minute)
    house = Deployment(NOON + timedelta(hours=hours), limits, share)
    for gap, tenant, purpose, end in asked:
        house.clock.forward(seconds=gap)
        match end:
            case "died":
                house.ask_and_die(tenant)
            case "interrupted":
                house.ask_while(tenant, TENANTS[TENANTS.index(tenant) - 1])
            case _:
                unit = house.ask(tenant, purpose)
                if unit is not None and end == "given back":
                    house.book.release(unit)
                    house.sent[tenant].pop()
    own = TenantShare(fraction=share, several=lambda: True).of(limits)
    assert own.per_day is not None
    assert own.per_minute is not None
    assert all(count <= per_day for count in by_day(house.all_sent()))
    assert most_in_a_minute(house.all_sent()) <= per_minute
    for calls in house.sent.values():
        held = [at for at in calls if at < next_reset("gemini", at) - RELEASE_BEFORE_RESET]
        assert all(count <= own.per_day for count in by_day(held))
        assert most_in_a_minute(calls) <= own.per_minute


@given(st.lists(st.sampled_from(["sent", "given back", "given back twice", "refused"]), max_size=30))
def test_a2_what_is_given_back_is_given_back_to_both_accounts_once(steps: list[str]) -> None:
    limits = QuotaLimits(per_day=1000)
    house = Deployment(NOON, limits, 0.5)
    kept = 0
    for step in steps:
        if step == "refused":
            with pytest.raises(QuotaExceededError):
                house.book.reserve(KEY, QuotaLimits(per_day=0), purpose="fresh", tenant="acme")
            continue
        unit = house.book.reserve(KEY, limits, purpose="fresh", tenant="acme")
        kept += step == "sent"
        for _ in range({"sent": 0, "given back": 1, "given back twice": 2}[step]):
            house.book.release(unit)
    assert (house.book.usage(KEY, limits).used, house.own("acme").used) == (kept, kept)


def test_a2_a_refusal_by_all_between_the_two_gives_the_tenants_unit_back() -> None:
    house = Deployment(NOON, QuotaLimits(per_day=2), 0.5)
    house.ask("acme")
    house.ask_while("bona", "corp")
    assert house.book.usage(KEY, house.limits).used == 2
    assert {tenant: house.own(tenant).used for tenant in TENANTS} == {"acme": 1, "bona": 0, "corp": 1}


def test_a2_who_dies_between_the_two_has_spent_one_unit_of_its_own() -> None:
    house = Deployment(NOON, QuotaLimits(per_day=10), 0.5)
    house.ask_and_die("acme")
    assert (house.book.usage(KEY, house.limits).used, house.own("acme").used) == (0, 1)
    while house.ask("acme"):
        pass
    while house.ask("bona"):
        pass
    assert {tenant: len(sent) for tenant, sent in house.sent.items()} == {"acme": 4, "bona": 5}


def test_what_nobody_used_is_free_for_everyone_two_hours_before_the_reset() -> None:
    house = Deployment(NOON, QuotaLimits(per_day=10, per_minute=6), 0.5)
    for _ in range(2):
        for _ in range(3):
            house.ask("acme")
        house.clock.forward(minutes=2)
    assert len(house.sent["acme"]) == 5
    with pytest.raises(TenantShareError, match="share of acme in the day's quota of gemini") as refused:
        house.book.reserve(KEY, house.limits, purpose="fresh", tenant="acme")
    assert (refused.value.window, refused.value.until) == ("day", RELEASE)
    house.clock.now = RELEASE - timedelta(milliseconds=1)
    assert house.ask("acme") is None
    house.clock.now = RELEASE
    for _ in range(5):
        house.ask("acme")
    assert len(house.sent["acme"]) == 8, "the share of the minute still holds"
    house.clock.forward(minutes=2)
    for _ in range(5):
        house.ask("acme")
    assert len(house.sent["acme"]) == 10
    with pytest.raises(QuotaExceededError) as spent:
        house.book.reserve(KEY, house.limits, purpose="fresh", tenant="acme")
    assert spent.value.reason == "quota"


def test_a_full_quota_is_said_to_be_full_for_all() -> None:
    house = Deployment(NOON, QuotaLimits(per_day=2), 0.5)
    house.ask("acme")
    house.ask("bona")
    for tenant in ("acme", "corp"):
        with pytest.raises(QuotaExceededError) as refused:
            house.book.reserve(KEY, house.limits, purpose="fresh", tenant=tenant)
        assert refused.value.reason == "quota"


def test_a_share_follows_the_limit_that_the_provider_named() -> None:
    house = Deployment(NOON, QuotaLimits(per_minute=10), 0.5)
    assert (house.own("acme").limit, house.own("acme").per_minute) == (None, 5)
    house.book.learn(house.book.reserve(KEY, house.limits, purpose="fresh"), MinuteQuotaError("cut", limit=4))
    assert (house.own("acme").limit, house.own("acme").per_minute) == (None, 2)


def test_no_share_binds_where_no_limit_is_known() -> None:
    house = Deployment(NOON, QuotaLimits(), 0.5)
    unit = house.book.reserve(KEY, QuotaLimits(), purpose="fresh", tenant="acme")
    assert unit.share is None
    assert house.book.share_usage(KEY, QuotaLimits(), tenant="acme") is None


def test_whoever_asks_for_no_tenant_meets_no_share() -> None:
    house = Deployment(NOON, QuotaLimits(per_day=4), 0.5)
    assert [house.book.reserve(KEY, house.limits, purpose="fresh").share for _ in range(4)] == [None] * 4


@pytest.mark.parametrize(
    ("limit", "share", "part"),
    [(1000, 0.5, 500), (15, 0.5, 8), (1, 0.5, 1), (250, 0.001, 1), (30, 0.1, 3), (7, 1.0, 7), (0, 0.5, 0)],
)
def test_a_share_is_rounded_up_to_one_unit_at_least(limit: int, share: float, part: int) -> None:
    shares = TenantShare(fraction=share, several=lambda: True)
    assert shares.of(QuotaLimits(per_day=limit, per_minute=limit)) == QuotaLimits(per_day=part, per_minute=part)
    assert shares.of(QuotaLimits()) == QuotaLimits()


def test_one_tenant_alone_and_a_share_of_everything_leave_nothing_to_others() -> None:
    asked = []

    def several() -> bool:
        asked.append(True)
        return len(asked) > 1

    shares = TenantShare(fraction=0.5, several=several)
    assert (shares.binds, shares.binds) == (False, True)
    assert not TenantShare(fraction=1.0, several=several).binds
    assert len(asked) == 2, "where one may use everything nobody counts the tenants"


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.01, float("nan")])
def test_a_share_out_of_range_is_refused(fraction: float) -> None:
    with pytest.raises(InputError, match="above 0 and at most 1"):
        TenantShare(fraction=fraction, several=lambda: True)


def test_a_share_of_the_day_says_when_it_ends() -> None:
    rules = QuotaRules(provider="gemini", limits=QuotaLimits(per_day=5, per_minute=3), until_release=True)
    state = QuotaState(day=day_of("gemini", NOON), tally=DayTally(used=5))
    assert decide(state, NOON, rules=rules, purpose="fresh") == Refused(window="day", until=RELEASE)
    assert isinstance(decide(state, RELEASE, rules=rules, purpose="fresh"), Granted)
