"""Lines of a dropped file through the providers' batches, by the functions and the machines as they are deployed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from botocore.client import BaseClient

from functions import observability
from functions.composition import stores
from functions.environment import environment
from tests.support import replies
from tests.support.balance import balance_at_the_end, units_used
from tests.support.batches import LONG, BatchMachine, in_lines
from tests.support.batching import (
    KEYS,
    PROVIDER_CALLS,
    TENANT,
    BatchingHouse,
    batching_house,
    call_the_dead_again,
    finished_file,
    hastened,
    outlived,
)
from tests.support.deaths import Fate
from tests.support.deployment import Context
from tests.support.machines import Handler
from tests.support.providers import ProviderServer
from tests.support.starting_points import starting_point
from tests.support.wire_batches import Plan, Refusal
from touchstone.budgets import Spending, SpendReservation
from touchstone.budgets.spending import ceiling_reached
from touchstone.clock import system_clock
from touchstone.errors import SpendingCeilingError
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.waiting import LONGEST_PAUSE
from touchstone.operations.provider_batches import files
from touchstone.records import Artifacts
from touchstone.records.jobs import JobStore

COUNT = 4
LONG_MS = 900_000
TIMES = {"created_at", "updated_at", "finished_at", "latency_ms"}
PRICES = {"cost_usd", "saved_usd", "line_id", "when"}
"""What differs from one run to the next, and between a batch and single calls."""


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    for number in range(COUNT):
        judges.reply(replies.verify(independent_answer=f"x{number}"), prompt=f"(island|harbour)-{number}-")
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        yield here
        balance_at_the_end(here)


one_provider = pytest.mark.parametrize("house", ["openai"], indirect=True)
"""For what is the same with all of them."""


def rows(count: int = COUNT, **fields: Any) -> list[dict[str, Any]]:
    """Lines that no computation decides."""
    return [
        {
            "kind": "verify",
            "id": f"row-{number}",
            "problem": f"Name island-{number}-.",
            "answer": f"x{number}",
            **fields,
        }
        for number in range(count)
    ]


def run(
    house: BatchingHouse,
    lines: Sequence[dict[str, Any]],
    *,
    name: str = "answers",
    call: Callable[[Handler, Mapping[str, Any]], dict[str, Any]] = lambda handler, payload: handler(payload, LONG),
) -> BatchMachine:
    """A file from its drop to its end, with the batches at providers beside it; `call` calls the file's functions."""
    machine = BatchMachine(deployment=house.deployment, name=name, owner=f"run-{name}", call=call)
    house.deployment.machines.context = Context(LONG_MS)
    machine.drop(in_lines(lines))
    return finished_file(house, machine)


def told(results: Sequence[dict[str, Any]]) -> list[Any]:
    """Results without what differs from one run to the next, and from one price to another."""

    def plain(value: Any) -> Any:
        match value:
            case dict():
                return {name: plain(inner) for name, inner in value.items() if name not in TIMES | PRICES}
            case list():
                return [plain(one) for one in value]
        return value

    return [plain(one["answer"] | {"id": one["id"], "batch_id": None}) for one in results]


def test_a_files_lines_go_by_one_batch_at_half_the_price_and_say_what_they_say_at_once(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = list[Spend]()
    monkeypatch.setattr(observability, "count_spends", counted.extend)
    for number in range(COUNT):
        said = replies.verify(independent_answer=f"x{number}", confidence=0.9 + number / 100)
        house.server.reply(said, prompt=f"island-{number}-")
    house.server.batches.plan(Plan(looks=2, twice=(0,), order=(1, 3, 0, 2)))
    cheap = run(house, rows()).results()
    assert [call.by_batch for call in house.server.calls] == [True] * COUNT
    [batch] = house.batches()
    assert (batch.of, batch.state, batch.ended, batch.answered) == ("verification", "over", "completed", COUNT)
    assert len({spend.line_id for spend in counted}) == len(counted) == COUNT, "each is counted once"
    assert units_used() == 0
    [today] = stores.spending().history(TENANT)
    assert today.spent_usd == pytest.approx(batch.cost_usd, abs=1e-6)
    assert today.reserved_usd == 0.0
    at_once = run(house, rows(when="now", use_cache=False), name="now").results()
    assert [call.by_batch for call in house.server.calls[COUNT:]] == [False] * COUNT
    assert told(cheap) == told(at_once)
    for half, whole in zip(cheap, at_once, strict=True):
        assert half["answer"]["verification_status"] == "verified"
        assert half["answer"]["cost_usd"] <= 0.52 * whole["answer"]["cost_usd"]
        assert half["answer"]["saved_usd"] == pytest.approx(half["answer"]["cost_usd"])


@one_provider
@pytest.mark.parametrize("end", ["completed", "expired"])
def test_what_a_batch_did_not_bring_is_asked_at_once_and_the_file_ends(house: BatchingHouse, end: str) -> None:
    plan = Plan(looks=1, missing=(3,)) if end == "completed" else Plan(looks=1, end="expired", late=(0, 1, 2))
    house.server.batches.plan(plan)
    results = run(house, rows()).results()
    assert [one["answer"]["method"] for one in results] == ["judge"] * COUNT
    [batch] = house.batches()
    assert batch.ended == end
    by_batch = [call.by_batch for call in house.server.calls]
    assert by_batch.count(False) == COUNT - batch.answered > 0
    assert len(house.server.batches.stored) == 1, "by no second batch"
    assert stores.spending().today(TENANT).reserved_usd == 0.0


@one_provider
def test_a_provider_that_refuses_batches_has_the_files_lines_asked_at_once(house: BatchingHouse) -> None:
    refused = {"error": {"code": "invalid", "message": "No batches for this account"}}
    house.server.batches.refuse(Refusal(status=400, body=refused))
    machine = run(house, rows())
    assert (machine.batch.state, machine.batch.done, machine.batch.failed) == ("finished", COUNT, 0)
    assert [call.by_batch for call in house.server.calls] == [False] * COUNT
    assert [one["answer"]["saved_usd"] for one in machine.results()] == [None] * COUNT


@one_provider
def test_lines_that_a_check_decides_or_that_want_no_batch_are_not_put_into_one(house: BatchingHouse) -> None:
    keyed = {"kind": "verify", "problem": "Name the number.", "answer": "7", "expected": "7"}
    machine = run(house, [keyed, *rows(1, when="now")])
    assert machine.waits == []
    assert house.batches() == []
    assert [one["answer"]["method"] for one in machine.results()] == ["expected", "judge"]


@one_provider
def test_batches_that_are_off_leave_a_file_as_it_was(house: BatchingHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
    environment.cache_clear()
    machine = run(house, rows())
    assert (machine.waits, house.batches()) == ([], [])
    assert [call.by_batch for call in house.server.calls] == [False] * COUNT


@one_provider
@pytest.mark.parametrize("days", ["0", "0.0003"])
def test_nothing_is_put_into_a_batch_that_the_next_round_would_ask_at_once(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, days: str
) -> None:
    monkeypatch.setenv("TOUCHSTONE_BATCH_DAYS", days)
    environment.cache_clear()
    machine = run(house, rows())
    assert (machine.batch.state, machine.batch.done, house.batches()) == ("finished", COUNT, [])
    assert [call.by_batch for call in house.server.calls] == [False] * COUNT
    assert days != "0" or machine.waits == []


@one_provider
def test_a_files_progress_says_how_many_lines_wait_for_a_batch(house: BatchingHouse) -> None:
    machine = BatchMachine(deployment=house.deployment)
    house.deployment.machines.context = Context(LONG_MS)
    keyed = {"kind": "verify", "problem": "Name the number.", "answer": "7", "expected": "7"}
    assert machine.drop(in_lines([*rows(), keyed])) == "waiting"
    batch = machine.batch
    assert (batch.state, batch.done, batch.waiting, batch.waiting_for) == ("running", 1, COUNT, "batched")


@one_provider
def test_the_same_question_of_two_lines_is_asked_once(house: BatchingHouse) -> None:
    machine = run(house, [*rows(2), *rows(2)])
    assert [one["answer"]["verification_status"] for one in machine.results()] == ["verified"] * 4
    assert len(house.server.calls) == 2


@one_provider
def test_a_ceiling_submits_what_it_admits_and_the_rest_on_the_days_after(house: BatchingHouse) -> None:
    first = run(house, rows(1), name="first")
    most = house.batches()[0].most_usd
    spent = first.results()[0]["answer"]["cost_usd"]
    ceiling = spent + 2.5 * most
    stores.spending().set_ceiling(TENANT, ceiling)
    harbours = [{**line, "problem": f"Name harbour-{number}-."} for number, line in enumerate(rows())]
    machine = run(house, harbours, name="second")
    assert machine.batch.done == COUNT
    assert [call.by_batch for call in house.server.calls] == [True] * (1 + COUNT)
    assert [batch.count for batch in house.batches() if batch.count > 1] == [2, 2]
    assert all(day.spent_usd <= ceiling for day in stores.spending().history(TENANT))


@one_provider
@pytest.mark.parametrize("refusals", [1, 3])
def test_a_batch_that_the_ceiling_refused_is_begun_again_and_meanwhile_its_lines_want_money(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    reserve_for = Spending.reserve_for
    left = iter(range(refusals))

    def taken(self: Spending, *args: Any, **named: Any) -> SpendReservation:
        """Another call takes the money between the look at it and its being held back."""
        if next(left, None) is not None:
            raise ceiling_reached(TENANT, 1.0, system_clock().date())
        return reserve_for(self, *args, **named)

    monkeypatch.setattr(Spending, "reserve_for", taken)
    machine = BatchMachine(deployment=house.deployment)
    house.deployment.machines.context = Context(LONG_MS)
    assert machine.drop(in_lines(rows())) == "waiting"
    assert (machine.batch.waiting, machine.batch.waiting_for) == (COUNT, SpendingCeilingError.reason)
    dropped = system_clock()
    finished = finished_file(house, machine)
    assert system_clock() - dropped < (refusals + 1) * LONGEST_PAUSE, "looked at again within the hour"
    assert [call.by_batch for call in house.server.calls] == [True] * COUNT
    assert [one["answer"]["verification_status"] for one in finished.results()] == ["verified"] * COUNT
    assert sorted(str(batch.ended) for batch in house.batches()) == ["completed"] + ["unpaid"] * refusals


@one_provider
def test_a_file_of_more_lines_than_one_batch_may_have_goes_by_several(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_LINES", 3)
    assert run(house, rows()).batch.done == COUNT
    assert sorted(batch.count for batch in house.batches()) == [1, 3]


@one_provider
def test_the_size_that_a_files_batches_were_taken_with_is_kept_for_the_next_file(house: BatchingHouse) -> None:
    house.server.batches.most_queued = 2
    run(house, rows(), name="first")
    assert [len(batch.line_ids) for batch in house.server.batches.stored.values()] == [4, 4, 2, 2]
    harbours = [{**line, "problem": f"Name harbour-{number}-."} for number, line in enumerate(rows())]
    assert run(house, harbours, name="second").batch.done == COUNT
    assert {len(batch.line_ids) for batch in list(house.server.batches.stored.values())[4:]} == {2}
    assert [call.by_batch for call in house.server.calls] == [True] * 2 * COUNT


@one_provider
def test_equal_lines_that_may_not_share_a_reply_go_by_one_batch(house: BatchingHouse) -> None:
    machine = run(house, [*rows(1, use_cache=False), *rows(1, use_cache=False), *rows(1, use_cache=False)])
    assert [one["answer"]["verification_status"] for one in machine.results()] == ["verified"] * 3
    assert [(batch.count, batch.answered) for batch in house.batches()] == [(3, 3)]
    assert [call.by_batch for call in house.server.calls] == [True] * 3


@one_provider
def test_a_file_that_is_wanted_now_asks_what_no_batch_has_and_waits_for_what_is_paid(house: BatchingHouse) -> None:
    first = run(house, rows(1), name="first")
    spent = first.results()[0]["answer"]["cost_usd"]
    stores.spending().set_ceiling(TENANT, spent + 2.5 * house.batches()[0].most_usd)
    house.server.batches.plan(Plan(looks=3))
    harbours = [{**line, "problem": f"Name harbour-{number}-."} for number, line in enumerate(rows())]
    machine = BatchMachine(deployment=house.deployment)
    assert machine.drop(in_lines(harbours)) == "waiting"
    [paid] = house.batches()[1:]
    assert (paid.count, machine.batch.waiting) == (2, COUNT)
    stores.spending().set_ceiling(TENANT, 100.0)
    assert hastened(house, machine)["waiting"] == COUNT
    finished = finished_file(house, machine)
    assert [one["answer"]["verification_status"] for one in finished.results()] == ["verified"] * COUNT
    assert sorted(call.by_batch for call in house.server.calls[1:]) == [False, False, True, True]
    assert len(house.batches()) == 2, "no batch was begun any more"


@one_provider
def test_a_file_that_may_be_paid_for_twice_does_not_wait_for_its_batch(house: BatchingHouse) -> None:
    machine = BatchMachine(deployment=house.deployment)
    house.deployment.machines.context = Context(LONG_MS)
    house.server.batches.plan(Plan(looks=1_000))
    assert machine.drop(in_lines(rows(when="cheap"))) == "waiting"
    house.deployment.machines.wake()
    house.deployment.machines.work()
    hastened(house, machine, pay_twice="true")
    while machine.state == "waiting":
        machine.wait()
    assert len(machine.waits) == 2, "the look that was due, and the pause before its lines are asked"
    assert [one["answer"]["verification_status"] for one in machine.results()] == ["verified"] * COUNT
    assert [call.by_batch for call in house.server.calls].count(False) == COUNT


STEPS: list[tuple[Any, str]] = [
    (JobStore, "create"),
    (JobStore, "change"),
    (JobStore, "begin"),
    (Artifacts, "put_text"),
    (Spending, "reserve_for"),
    (Spending, "settle"),
    *PROVIDER_CALLS,
]
SHARES = 1
"""The moments of a death are shared among so many tests."""
EVERY = 24
"""Moments between two deaths of one test; `tests.bench.batches` and the crashes of deep evaluations try others."""


@one_provider
@pytest.mark.parametrize("share", range(SHARES))
def test_a_death_at_any_moment_loses_no_line_and_pays_none_twice(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    fate = Fate()
    fate.meet(monkeypatch, STEPS)

    call_the_dead_again(house, fate, monkeypatch)
    house.deployment.machines.context = Context(LONG_MS)
    moment, killed, begin = 1 + share * EVERY // SHARES, True, starting_point(house)
    while killed:
        begin()
        house.server.reset()
        for number in range(2):
            house.server.reply(replies.verify(independent_answer=f"x{number}"), prompt=f"island-{number}-")
        house.server.batches.plan(Plan(looks=1, twice=(0,)))
        fate.seen, fate.kills, fate.at = 0, 0, (moment,)
        machine = run(
            house,
            rows(2, use_cache=False),
            name=f"file-{moment}",
            call=lambda handler, payload: outlived(house, fate, lambda: handler(payload, LONG)),
        )
        results = machine.results()
        killed, fate.at = fate.kills > 0, ()
        assert [one["answer"]["verification_status"] for one in results] == ["verified"] * 2, moment
        spends = [spend for one in results for spend in one["answer"]["spends"]]
        assert len({spend["line_id"] for spend in spends}) == len(spends) == 2, moment
        assert [call.by_batch for call in house.server.calls] == [True] * 2, moment
        cost = sum(spend["cost_usd"] for spend in spends)
        [batch] = house.batches()
        assert batch.cost_usd == pytest.approx(cost), moment
        days = stores.spending().history(TENANT)
        assert sum(day.reserved_usd for day in days) < 1e-9, moment
        moment += EVERY
    assert moment > 2 * len(("create", "intended", "create", "created", "look", "collect", "settle"))


MOST_A_CALL_USD = 0.05
"""That a call at once holds back."""


@one_provider
@pytest.mark.parametrize(
    ("pay_twice", "moment"),
    [*(("false", each) for each in range(3, 130, 17)), *(("true", each) for each in (21, 62, 86, 88, 97))],
)
def test_a_death_at_any_moment_of_a_file_that_is_asked_now_answers_each_line_once(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, pay_twice: str, moment: int
) -> None:
    """From the word on, the moments before and after each call to AWS and to the batch API count.

    Two lines are in a batch, which is waited for unless it may be paid twice; the money for the third one came later.
    """
    # Traces are written by a thread, whose death would be no function's.
    monkeypatch.setenv("TOUCHSTONE_KEEP_PROMPTS", "off")
    environment.cache_clear()
    fate = Fate()
    fate.awake = False
    fate.meet(monkeypatch, [(BaseClient, "_make_api_call"), *PROVIDER_CALLS])

    def worked(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What functions do, and not what the machines do between them."""
        fate.awake = True
        try:
            return outlived(house, fate, call)
        finally:
            fate.awake = False

    monkeypatch.setattr(
        house.deployment.machines,
        "invoke",
        lambda _module, handler, payload: worked(lambda: handler(payload, Context(LONG_MS))),
    )
    house.server.batches.plan(Plan(looks=1, twice=(0,)))
    machine = BatchMachine(
        deployment=house.deployment, call=lambda handler, payload: worked(lambda: handler(payload, LONG))
    )
    with monkeypatch.context() as patch:
        chosen = files.FileBatches._chosen
        patch.setattr(files.FileBatches, "_chosen", lambda self, left: (chosen(self, left)[0][:2], []))
        assert machine.drop(in_lines(rows(3, use_cache=False))) == "waiting"
    fate.seen, fate.at = 0, (moment,)
    worked(partial(hastened, house, machine, pay_twice=pay_twice))
    results = finished_file(house, machine).results()
    house.carry_on(swept=True)
    assert fate.kills == 1
    assert [one["line"] for one in results] == [1, 2, 3]
    assert [one["answer"]["verification_status"] for one in results] == ["verified"] * 3
    by_batch = [call.by_batch for call in house.server.calls]
    assert len(house.batches()) == 1, "no batch is begun any more"
    assert by_batch.count(True) == 2
    side_by_side = 3 if pay_twice == "true" else 1
    assert by_batch.count(False) <= 2 * side_by_side, "a death loses the calls that are in flight, once"
    # They are held back for, and count in the quota, whether or not they were sent by then.
    house.lost_usd = side_by_side * MOST_A_CALL_USD
    house.asked_before = side_by_side
