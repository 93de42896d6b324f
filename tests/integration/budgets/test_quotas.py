"""The providers' quotas in the table: what many functions at once, crashes and midnight must not break."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.support.clocks import StandingClock
from tests.support.drains import hourly_drains
from tests.support.table import create_table
from touchstone.budgets.account import PROBE_FOR, SEND_MARGIN, WINDOW_SECONDS, QuotaKey
from touchstone.budgets.ledger import FIRST_PAUSE, Reservation
from touchstone.budgets.quotas import CURRENT, RELEASED_PREFIX, Quotas
from touchstone.errors import DayQuotaError, InputError, MinuteQuotaError, QuotaExceededError, UnavailableModelError
from touchstone.judges.base import QuotaLimits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEY = QuotaKey("gemini", "gemini-3.5-flash-lite", "default")
NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
DEEP = QuotaLimits(per_day=250, per_minute=10)


def test_a_unit_is_counted_before_the_call(quotas: Quotas) -> None:
    reservation = quotas.reserve(KEY, DEEP, purpose="fresh")
    usage = quotas.usage(KEY, DEEP)
    assert (usage.limit, usage.used, usage.left, usage.left_this_minute) == (250, 1, 249, 9)
    assert usage.resets_at == datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
    assert reservation.reserved_at == NOON
    assert reservation.expires_at < NOON + SEND_MARGIN


def test_the_minute_says_exactly_when_a_unit_is_free(quotas: Quotas, clock: StandingClock) -> None:
    for _ in range(10):
        quotas.reserve(KEY, DEEP, purpose="fresh")
        clock.forward(seconds=1)
    with pytest.raises(QuotaExceededError) as refused:
        quotas.reserve(KEY, DEEP, purpose="fresh")
    assert refused.value.window == "minute"
    assert refused.value.until is not None
    clock.now = refused.value.until - timedelta(milliseconds=1)
    with pytest.raises(QuotaExceededError):
        quotas.reserve(KEY, DEEP, purpose="fresh")
    clock.now = refused.value.until
    quotas.reserve(KEY, DEEP, purpose="fresh")


def test_r8_the_251st_call_of_a_day_is_refused_until_the_reset(quotas: Quotas, clock: StandingClock) -> None:
    limits = QuotaLimits(per_day=250)
    for _ in range(250):
        quotas.reserve(KEY, limits, purpose="fresh")
    with pytest.raises(QuotaExceededError) as refused:
        quotas.reserve(KEY, limits, purpose="fresh")
    assert refused.value.window == "day"
    assert refused.value.until == datetime(2026, 11, 22, 8, 0, tzinfo=UTC) + SEND_MARGIN
    clock.now = refused.value.until
    assert [(day.day, day.used) for day in quotas.history(KEY)] == [(date(2026, 11, 21), 250)], "before any call, too"
    quotas.reserve(KEY, limits, purpose="fresh")
    assert [(day.day, day.used) for day in quotas.history(KEY)] == [(date(2026, 11, 22), 1), (date(2026, 11, 21), 250)]


def test_r9_a_backlog_of_1100_takes_four_whole_days_of_250_and_100(quotas: Quotas, clock: StandingClock) -> None:
    clock.now = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
    assert hourly_drains(quotas, clock, KEY, DEEP, backlog=1100, hours=120) == 1100
    assert [day.used for day in reversed(quotas.history(KEY))] == [250, 250, 250, 250, 100]


@pytest.mark.parametrize("per_minute", [10, 15])
def test_r11_twenty_workers_at_once_never_pass_the_minute(
    table: "Table", clock: StandingClock, per_minute: int
) -> None:
    limits, barrier = QuotaLimits(per_day=1000, per_minute=per_minute), threading.Barrier(20)
    tables = [boto3.resource("dynamodb", region_name="us-east-1").Table(table.name) for _ in range(20)]

    def worker(own: "Table") -> Reservation | QuotaExceededError:
        quotas = Quotas(own, clock=clock)
        barrier.wait()
        try:
            return quotas.reserve(KEY, limits, purpose="fresh")
        except QuotaExceededError as refused:
            return refused

    sent = []
    for _ in range(3):
        with ThreadPoolExecutor(20) as pool:
            outcomes = list(pool.map(worker, tables))
        sent += [outcome.reserved_at for outcome in outcomes if isinstance(outcome, Reservation)]
        refused = [outcome for outcome in outcomes if isinstance(outcome, QuotaExceededError)]
        assert len(refused) == 20 - per_minute
        assert {refusal.window for refusal in refused} == {"minute"}
        clock.now = max(refusal.until for refusal in refused if refusal.until)
    assert len(sent) == 3 * per_minute
    window = timedelta(seconds=WINDOW_SECONDS)
    assert max(sum(first <= other <= first + window for other in sent) for first in sent) == per_minute
    assert Quotas(table, clock=clock).usage(KEY, limits).used == len(sent)


def test_r11_twenty_workers_at_once_never_pass_the_day(table: "Table", clock: StandingClock) -> None:
    barrier = threading.Barrier(20)
    tables = [boto3.resource("dynamodb", region_name="us-east-1").Table(table.name) for _ in range(20)]

    def worker(own: "Table") -> bool:
        quotas = Quotas(own, clock=clock)
        barrier.wait()
        try:
            quotas.reserve(KEY, QuotaLimits(per_day=7), purpose="fresh")
        except QuotaExceededError:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(worker, tables)) == 7


def test_threads_of_one_process_take_turns_without_losing_a_try(table: "Table", clock: StandingClock) -> None:
    pauses: list[float] = []
    quotas = Quotas(table, clock=clock, sleep=pauses.append)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: quotas.reserve(KEY, QuotaLimits(per_day=20), purpose="fresh"), range(20)))
    assert (quotas.usage(KEY, QuotaLimits(per_day=20)).left, pauses) == (0, [])


RESETS = {
    "winter to summer": datetime(2026, 3, 9, 7, 0, tzinfo=UTC),
    "the day before": datetime(2026, 3, 8, 8, 0, tzinfo=UTC),
    "summer to winter": datetime(2026, 11, 2, 8, 0, tzinfo=UTC),
    "the day before that": datetime(2026, 11, 1, 7, 0, tzinfo=UTC),
}


@pytest.mark.parametrize("reset", RESETS.values(), ids=RESETS)
def test_r10_a_day_ends_at_the_providers_midnight(quotas: Quotas, clock: StandingClock, reset: datetime) -> None:
    limits = QuotaLimits(per_day=2)
    for minutes in (-61, -1):
        clock.now = reset + timedelta(minutes=minutes)
        quotas.reserve(KEY, limits, purpose="fresh")
    with pytest.raises(QuotaExceededError) as refused:
        quotas.reserve(KEY, limits, purpose="fresh")
    assert refused.value.until == reset + SEND_MARGIN
    for minutes in (1, 61):
        clock.now = reset + timedelta(minutes=minutes)
        quotas.reserve(KEY, limits, purpose="fresh")
    with pytest.raises(QuotaExceededError):
        quotas.reserve(KEY, limits, purpose="fresh")
    assert [day.used for day in quotas.history(KEY)] == [2, 2]


def test_r10_other_providers_days_end_at_utc_midnight(quotas: Quotas, clock: StandingClock) -> None:
    key, limits = QuotaKey("openai", "gpt", "default"), QuotaLimits(per_day=1)
    clock.now = datetime(2026, 3, 8, 23, 59, tzinfo=UTC)
    quotas.reserve(key, limits, purpose="fresh")
    with pytest.raises(QuotaExceededError):
        quotas.reserve(key, limits, purpose="fresh")
    clock.forward(minutes=2)
    quotas.reserve(key, limits, purpose="fresh")


@pytest.mark.parametrize("seconds", [-4.9, 0.0, 4.9])
def test_r10_nothing_is_reserved_at_the_edge_of_a_day(quotas: Quotas, clock: StandingClock, seconds: float) -> None:
    reset = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
    clock.now = reset + timedelta(seconds=seconds)
    with pytest.raises(QuotaExceededError) as refused:
        quotas.reserve(KEY, DEEP, purpose="fresh")
    assert (refused.value.window, refused.value.until) == ("minute", reset + SEND_MARGIN)


def test_a_clock_set_back_finds_the_tally_of_its_day_again(quotas: Quotas, clock: StandingClock) -> None:
    limits = QuotaLimits(per_day=3)
    quotas.reserve(KEY, limits, purpose="fresh")
    clock.forward(days=2)
    quotas.reserve(KEY, limits, purpose="fresh")
    clock.forward(days=-2)
    assert quotas.usage(KEY, limits).used == 1
    quotas.reserve(KEY, limits, purpose="fresh")
    assert [(day.day.day, day.used) for day in quotas.history(KEY)] == [(23, 1), (21, 2)]


def test_the_mark_of_a_released_unit_outlives_the_day_on_which_it_could_be_released_again(
    table: "Table", quotas: Quotas, clock: StandingClock
) -> None:
    quotas.release(quotas.reserve(KEY, DEEP, purpose="fresh"))
    (mark,) = [item for item in table.scan()["Items"] if str(item["sk"]).startswith(RELEASED_PREFIX)]
    assert float(str(mark["expires_at"])) >= (clock.now + timedelta(days=1)).timestamp()


def test_a_released_unit_is_free_at_once_and_only_once(quotas: Quotas) -> None:
    limits = QuotaLimits(per_day=5, per_minute=2)
    kept, unsent = (quotas.reserve(KEY, limits, purpose="backlog") for _ in range(2))
    for _ in range(3):
        quotas.release(unsent)
    usage = quotas.usage(KEY, limits)
    assert (usage.used, usage.backlog_used, usage.left_this_minute) == (1, 1, 1)
    quotas.release(kept)
    assert quotas.usage(KEY, limits).used == 0


def test_a_unit_of_yesterday_is_not_given_back_today(quotas: Quotas, clock: StandingClock) -> None:
    unsent = quotas.reserve(KEY, DEEP, purpose="fresh")
    clock.forward(days=1)
    quotas.reserve(KEY, DEEP, purpose="fresh")
    quotas.release(unsent)
    assert [day.used for day in quotas.history(KEY)] == [1, 1]


def test_r3_a_worker_that_dies_leaves_its_unit_spent(quotas: Quotas, clock: StandingClock) -> None:
    quotas.reserve(KEY, QuotaLimits(per_day=1), purpose="fresh")  # … and nothing more is ever heard of it
    clock.forward(hours=1)
    with pytest.raises(QuotaExceededError):
        quotas.reserve(KEY, QuotaLimits(per_day=1), purpose="fresh")


def test_r8_a_spent_day_is_believed_at_the_first_refusal(quotas: Quotas, clock: StandingClock) -> None:
    reservation = quotas.reserve(KEY, DEEP, purpose="fresh")
    quotas.learn(reservation, DayQuotaError("spent", limit=20))
    with pytest.raises(QuotaExceededError) as refused:
        quotas.reserve(KEY, DEEP, purpose="fresh")
    reset = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
    assert (refused.value.window, refused.value.until) == ("day", reset + SEND_MARGIN)
    usage = quotas.usage(KEY, DEEP)
    assert (usage.limit, usage.learned, usage.left) == (20, QuotaLimits(per_day=20), 0)
    assert usage.blocked_until == reset + SEND_MARGIN
    clock.now = reset + SEND_MARGIN
    assert quotas.usage(KEY, DEEP).left == 20


def test_a_learned_day_limit_is_tried_anew_after_a_week(quotas: Quotas, clock: StandingClock) -> None:
    quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), DayQuotaError("spent", limit=20))
    clock.forward(days=6)
    assert quotas.usage(KEY, DEEP).limit == 20
    clock.forward(days=1)
    assert quotas.usage(KEY, DEEP).limit == 250


def test_a_refusal_that_arrives_after_midnight_does_not_block_the_new_day(quotas: Quotas, clock: StandingClock) -> None:
    clock.now = datetime(2026, 11, 22, 7, 59, 50, tzinfo=UTC)
    late = quotas.reserve(KEY, DEEP, purpose="fresh")
    clock.forward(seconds=20)
    quotas.learn(late, DayQuotaError("spent"))
    quotas.reserve(KEY, DEEP, purpose="fresh")


def test_forgetting_frees_a_day_that_the_provider_had_spent(quotas: Quotas) -> None:
    quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), DayQuotaError("no credit"))
    quotas.forget(KEY)
    quotas.reserve(KEY, DEEP, purpose="fresh")
    assert quotas.usage(KEY, DEEP).learned == QuotaLimits()


def refused_minutes(
    quotas: Quotas, clock: StandingClock, error: Callable[[], MinuteQuotaError], *, minutes: int
) -> int:
    """How many calls are sent, and refused by the provider, in so many minutes by a caller that never gives up."""
    sent, end = 0, clock.now + timedelta(minutes=minutes)
    while clock.now < end:
        try:
            quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), error())
            sent += 1
        except QuotaExceededError as refused:
            clock.now = refused.until or end
    return sent


@pytest.mark.parametrize("error", [lambda: MinuteQuotaError("busy"), lambda: MinuteQuotaError("cut", limit=0)])
def test_r15_a_quota_cut_overnight_starts_no_storm(
    quotas: Quotas, clock: StandingClock, error: Callable[[], MinuteQuotaError]
) -> None:
    assert refused_minutes(quotas, clock, error, minutes=10) <= 30


def test_r15_a_model_that_is_gone_is_asked_about_ever_more_seldom(quotas: Quotas, clock: StandingClock) -> None:
    sent, said = list[int](), set[tuple[str, bool]]()
    for second in range(600):
        try:
            quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), UnavailableModelError("It is gone."))
            sent.append(second)
        except UnavailableModelError as error:
            said.add((str(error).split(" at ")[0], error.sent))
        clock.forward(seconds=1)
    assert sent == [0, 10, 30, 70, 150, 310]
    assert said == {("It is gone. Nothing was sent; the next call may be made", False)}


def test_r15_twenty_workers_at_once_send_one_probe_where_a_bar_has_lapsed(table: "Table", clock: StandingClock) -> None:
    """The first moment sees as many calls as the minute admits; every later one sees one, whoever asks."""
    limits, barrier = QuotaLimits(per_day=1000, per_minute=10), threading.Barrier(20)
    tables = [boto3.resource("dynamodb", region_name="us-east-1").Table(table.name) for _ in range(20)]

    def worker(own: "Table") -> bool:
        quotas = Quotas(own, clock=clock)
        barrier.wait()
        try:
            unit = quotas.reserve(KEY, limits, purpose="fresh")
        except (QuotaExceededError, UnavailableModelError):
            unit = None
        barrier.wait()  # the provider's word comes when all of them have asked
        if unit is not None:
            quotas.learn(unit, UnavailableModelError("It is gone."))
        return unit is not None

    sent = []
    for _ in range(4):
        with ThreadPoolExecutor(20) as pool:
            sent.append(sum(pool.map(worker, tables)))
        clock.forward(minutes=10)
    assert sent == [10, 1, 1, 1]


def test_r15_a_model_that_is_back_serves_everyone_as_soon_as_one_call_is_answered(
    quotas: Quotas, clock: StandingClock
) -> None:
    quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), UnavailableModelError("It is gone."))
    clock.now += FIRST_PAUSE
    probe = quotas.reserve(KEY, DEEP, purpose="fresh")
    with pytest.raises(UnavailableModelError, match="when one in flight has ended"):
        quotas.reserve(KEY, DEEP, purpose="backlog")
    quotas.settle(probe, answered=True)
    units = [quotas.reserve(KEY, DEEP, purpose="fresh") for _ in range(2)]
    assert all(unit.watched for unit in units)


def test_a_call_that_is_heard_of_no_more_is_waited_for_some_seconds(quotas: Quotas, clock: StandingClock) -> None:
    quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), MinuteQuotaError("busy"))
    clock.now += FIRST_PAUSE
    quotas.reserve(KEY, DEEP, purpose="fresh")  # … by a function that dies
    clock.now += PROBE_FOR
    quotas.reserve(KEY, DEEP, purpose="fresh")


def test_what_is_answered_as_always_costs_no_write(quotas: Quotas, table: "Table") -> None:
    unit = quotas.reserve(KEY, DEEP, purpose="fresh")
    assert not unit.watched
    held = table.get_item(Key={"pk": KEY.pk, "sk": CURRENT})["Item"]
    assert held["watched"] == {}


OLDER: dict[str, tuple[dict[str, Any], str]] = {
    "barred": ({"barred": {"until": "2026-11-21T20:03:00+00:00", "why": "It is gone."}}, "It is gone"),
    "blocked": ({"blocked_until": "2026-11-21T20:03:00+00:00", "barred": None}, "asked for a pause"),
    "free": ({"blocked_until": None}, ""),
}


@pytest.mark.parametrize("kind", OLDER)
def test_an_account_that_an_earlier_release_wrote_is_read(quotas: Quotas, table: "Table", kind: str) -> None:
    older, said = OLDER[kind]
    quotas.reserve(KEY, DEEP, purpose="fresh")
    item = table.get_item(Key={"pk": KEY.pk, "sk": CURRENT})["Item"]
    item = {name: value for name, value in item.items() if name not in {"refusals", "watched"}}
    table.put_item(Item={**item, **older})
    if not said:
        quotas.reserve(KEY, DEEP, purpose="fresh")
        return
    with pytest.raises((QuotaExceededError, UnavailableModelError), match=f"{said}.*20:03:00 UTC"):
        quotas.reserve(KEY, DEEP, purpose="fresh")


def test_forgetting_lets_a_model_be_asked_that_was_gone(quotas: Quotas, table: "Table") -> None:
    quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), UnavailableModelError("It is gone."))
    quotas.forget(KEY)
    quotas.reserve(KEY, DEEP, purpose="fresh")
    table.update_item(
        Key={"pk": KEY.pk, "sk": CURRENT}, UpdateExpression="REMOVE barred"
    )  # as an earlier release wrote
    quotas.reserve(KEY, DEEP, purpose="fresh")
    assert quotas.usage(KEY, DEEP).used == 3


def test_two_keys_never_share_an_account(quotas: Quotas) -> None:
    quotas.reserve(QuotaKey("a", "b#c", "d"), DEEP, purpose="fresh")
    assert quotas.usage(QuotaKey("a", "b", "c#d"), DEEP).used == 0


def test_a_share_beyond_the_whole_is_refused(table: "Table") -> None:
    with pytest.raises(InputError, match="0 to 1"):
        Quotas(table, fresh_share=1.5)


def test_two_stages_with_one_key_never_pass_its_limit_together(table: "Table", clock: StandingClock) -> None:
    """Each keeps an account of its own, and knows nothing of the other's calls: the shares add up to the limit."""
    limits = QuotaLimits(per_day=21, per_minute=None)
    other = create_table(boto3.resource("dynamodb", region_name="us-east-1"), "staging")
    sent = 0
    for stage, share in ((table, 0.7), (other, 0.3)):
        quotas = Quotas(stage, clock=clock, quota_share=share)
        assert quotas.usage(KEY, limits).limit == int(21 * share)
        for _ in range(quotas.usage(KEY, limits).left or 0):
            quotas.reserve(KEY, limits, purpose="fresh")
            sent += 1
        with pytest.raises(QuotaExceededError, match="day's quota"):
            quotas.reserve(KEY, limits, purpose="fresh")
    assert sent == 14 + 6


def test_what_a_provider_names_is_shared_too_and_a_small_share_is_one_unit(
    table: "Table", clock: StandingClock
) -> None:
    quotas = Quotas(table, clock=clock, quota_share=0.1)
    before = quotas.usage(KEY, QuotaLimits(per_day=5, per_minute=1))
    assert (before.limit, before.learned) == (1, QuotaLimits())  # a share of our own limits is nothing that was named
    reservation = quotas.reserve(KEY, QuotaLimits(per_day=250, per_minute=10), purpose="fresh")
    quotas.learn(reservation, DayQuotaError("spent", limit=100))
    after = quotas.usage(KEY, DEEP)
    assert (after.limit, after.learned) == (10, QuotaLimits(per_day=100))


@pytest.mark.parametrize("share", [0.0, 1.1, -0.5])
def test_a_share_that_is_none_is_refused(table: "Table", share: float) -> None:
    with pytest.raises(InputError, match="above 0 and at most 1"):
        Quotas(table, quota_share=share)
