"""Lines of a batch that nobody decided for a reason that may pass: the machine waits for them, and does them again."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from functions import batch, drain, intake, sweep
from functions.batch import collect, lines
from tests.support import replies
from tests.support.api import Api
from tests.support.batches import LONG, BatchMachine, Killed, killed, listed
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Context, Deployment, deployed
from tests.support.events import TENANT, event
from tests.support.exchange import Call
from tests.support.overrides import registry
from tests.support.providers import ProviderServer, error
from tests.support.wire import Behaviour
from touchstone.budgets import next_reset
from touchstone.clock import system_clock
from touchstone.errors import StoreError
from touchstone.judges import load_registry
from touchstone.operations.answers.again import DELIVERED_FOR, DELIVERIES, VISIBLE_AFTER
from touchstone.operations.batches import chunks
from touchstone.records import Artifacts

CHUNK = 10
"""Lines of a chunk here: fewer than a deployment's, so that a file of three chunks is a short one."""
LINES = 24
A_DAY = 12
MODEL = load_registry(environ={}).model("gemini", "verify").name


@pytest.fixture
def judged(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment with one judge, whose quota nobody has told it of."""
    keys, addresses = judges.led_here()
    models = {"models": {MODEL: {"per_day": 100_000, "per_minute": 10_000}}}
    only = {name: key for name, key in keys.items() if name.startswith("GEMINI")}
    judges.reply(replies.verify(), schema="VerifyReply")
    monkeypatch.setattr(chunks, "CHUNK_LINES", CHUNK)
    with deployed(monkeypatch, keys=only, **addresses, **registry(gemini=models)) as here:
        here.tenant(TENANT)
        yield here


def row(number: int, **fields: Any) -> bytes:
    """A line that no computation decides."""
    said = {"kind": "verify", "problem": f"Name the capital of country {number}.", "answer": "Canberra", **fields}
    return json.dumps(said, ensure_ascii=False).encode()


def _pause(judges: ProviderServer, seconds: float) -> None:
    """The pause between two rounds; past midnight the provider counts anew."""
    before = system_clock()
    later(seconds)
    if next_reset("gemini", before) <= system_clock():
        judges.new_day()


@pytest.fixture
def machine(judged: Deployment, judges: ProviderServer) -> BatchMachine:
    """The machine of a file that is about to be dropped."""
    return BatchMachine(deployment=judged, pause=partial(_pause, judges))


def badges(machine: BatchMachine) -> Counter[tuple[str, str | None]]:
    """Badges and skip reasons of the results."""
    answers = (result["answer"] for result in machine.results())
    return Counter((answer["verification_status"], answer["skip_reason"]) for answer in answers)


def refused(calls: list[Call]) -> int:
    """How many calls a quota turned away."""
    return sum(call.status == 429 for call in calls)


FILE = b"\n".join(row(number) for number in range(1, LINES + 1))


@pytest.mark.parametrize("deliveries", [1, 2])
def test_r26_a_day_that_is_spent_is_waited_for_and_every_line_is_scored(
    machine: BatchMachine, judges: ProviderServer, deliveries: int
) -> None:
    machine.deployment.machines.repeats = deliveries
    judges.limit(rpd=A_DAY)
    reset = next_reset("gemini", system_clock())
    assert machine.drop(FILE) == "waiting"
    batch = machine.batch
    assert (batch.state, batch.total, batch.done, batch.failed, batch.waiting) == ("running", LINES, A_DAY, 0, A_DAY)
    assert batch.waiting_for in {"quota", "day_quota"}
    assert batch.waiting_until is not None
    assert abs(batch.waiting_until - reset) < timedelta(minutes=2)
    view = Api(token=machine.deployment.token(TENANT)).get(f"/v1/batches/{batch.id}").json
    assert (view["waiting"], view["waiting_for"], view["upload_url"]) == (A_DAY, batch.waiting_for, None)
    asked = len(judges.calls)
    assert asked <= A_DAY + 3
    assert machine.wait() == "finished"
    assert badges(machine) == {("verified", None): LINES}
    assert (machine.batch.done, machine.batch.failed, machine.batch.waiting) == (LINES, 0, 0)
    assert len(judges.calls) == asked + A_DAY
    assert refused(judges.calls) <= 3


@pytest.mark.parametrize("failure", [error("overloaded"), error("off_schema")], ids=lambda one: one.kind)
def test_r26_what_fails_now_and_then_is_tried_again_and_every_line_is_scored(
    machine: BatchMachine, judges: ProviderServer, failure: Behaviour
) -> None:
    good = Behaviour(value=replies.verify())
    judges.script(lambda _: failure if len(judges.calls) % 5 == 0 else good)
    machine.run(FILE)
    assert badges(machine) == {("verified", None): LINES}
    bad = (len(judges.calls) + 4) // 5
    assert len(judges.calls) <= LINES + bad, "what failed is repeated, and nothing else"


def test_r27_an_outage_of_hours_is_waited_out_longer_each_time(machine: BatchMachine, judges: ProviderServer) -> None:
    judges.rule(error("overloaded"))
    state = machine.drop(row(1) + b"\n" + row(2))
    while sum(machine.waits) < 8 * 3600:
        assert (state, machine.batch.waiting_for) == ("waiting", "overloaded")
        state = machine.wait()
    assert all(after > before - 5 for before, after in pairwise(machine.waits))
    assert len(machine.waits) < 20
    judges.reply(replies.verify())
    assert machine.wait() == "finished"
    assert badges(machine) == {("verified", None): 2}


def test_a_day_that_stays_spent_ends_the_batch_after_a_week_with_its_reason(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    judges.rule(error("day_quota", limit=A_DAY))
    started = system_clock()
    machine.run(b"\n".join([row(1), row(2), row(3, expected="Canberra")]))
    assert timedelta(days=7) <= system_clock() - started <= timedelta(days=7, minutes=5)
    assert sum(badges(machine).values()) == 3
    assert badges(machine)["verified", None] == 1
    assert {reason for _, reason in badges(machine)} <= {None, "quota", "day_quota"}
    assert len(machine.waits) < 15
    assert len(judges.calls) <= 2 * len(machine.waits) + 2


def test_a_reply_that_nobody_can_read_ends_its_line_after_a_few_that_were_paid(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    judges.rule(error("off_schema"), prompt="country 1")
    machine.run(row(1) + b"\n" + row(2))
    assert badges(machine) == {("unverified", "unreadable"): 1, ("verified", None): 1}
    assert len(judges.calls) <= 2 * 5 + 1


def test_a_refusal_is_an_end_at_once(machine: BatchMachine, judges: ProviderServer) -> None:
    judges.rule(error("refused"))
    machine.run(row(1))
    assert (badges(machine), machine.waits) == ({("unverified", "refused"): 1}, [])


def test_a_problem_that_nobody_solves_today_is_solved_tomorrow(machine: BatchMachine, judges: ProviderServer) -> None:
    strong = load_registry(environ={}).model("gemini", "strong").name
    judges.limit(rpd=0, model=strong)
    data = b'{"kind": "solve", "problem": "Name the capital of Australia.", "deep_evaluation": false}'
    assert machine.drop(data) == "waiting"
    assert machine.batch.waiting_for in {"quota", "day_quota"}
    judges.limit(rpd=1000, model=strong)
    assert machine.wait() == "finished"
    (result,) = machine.results()
    assert (result["answer"]["stage"], result["answer"]["attempt_count"]) == ("finished", 1)


def test_i2_a_part_that_was_lost_asks_nobody_twice(
    machine: BatchMachine, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store forgets each part once, after its lines were done; the machine repeats the step."""
    judges.limit(rpd=A_DAY)
    put, lost = Artifacts.put_text, list[str]()

    def put_text(artifacts: Artifacts, **given: Any) -> None:
        if "/parts/" in given["key"] and given["key"] not in lost:
            lost.append(given["key"])
            raise StoreError("The part was not kept.")
        put(artifacts, **given)

    monkeypatch.setattr(Artifacts, "put_text", put_text)
    assert machine.drop(FILE) == "waiting"
    assert len(lost) == 3
    assert (machine.batch.done, machine.batch.waiting) == (A_DAY, A_DAY)
    assert sum(call.status == 200 for call in judges.calls) == A_DAY
    assert machine.wait() == "finished"
    assert badges(machine) == {("verified", None): LINES}
    assert sum(call.status == 200 for call in judges.calls) == LINES


def test_i2_parts_that_are_gone_when_a_round_is_repeated_ask_nobody_twice(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    judges.limit(rpd=A_DAY)
    assert machine.drop(FILE) == "waiting"
    asked, waiting = len(judges.calls), machine.said
    parts = [key for key in machine.deployment.keys() if "/parts/" in key]  # noqa: SIM118 - no mapping's
    for key in parts:
        machine.deployment.s3.delete_object(Bucket=BUCKET, Key=key)
    for chunk in listed(machine.deployment, machine.prepared):
        lines(chunk, LONG)
    again = collect({**machine.prepared, "owner": machine.owner}, LONG)
    assert (len(judges.calls), machine.batch.done, machine.batch.waiting) == (asked, A_DAY, A_DAY)
    assert again["manifest_key"] == waiting["manifest_key"]
    assert machine.wait() == "finished"
    assert badges(machine) == {("verified", None): LINES}


def test_a_batch_that_waits_is_not_dead_and_one_that_died_waiting_is_taken_up(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    judges.limit(rpd=1)
    data = row(1) + b"\n" + row(2)
    assert machine.drop(data) == "waiting"
    wait = machine.said["wait_seconds"]
    later(2 * 3600 if wait > 3 * 3600 else 60)
    second, third = (replace(machine, owner=owner) for owner in ("run-2", "run-3"))
    second.drop(data)
    assert second.prepared["elsewhere"], "it is waited for"
    assert sweep.handler({}, LONG)["ended"] == 0, "nor are its answers abandoned"
    later(wait + 31 * 60)
    judges.new_day()
    assert third.drop(data) in {"waiting", "finished"}
    assert not third.prepared["elsewhere"]
    assert len([call for call in judges.calls if call.status == 200]) == 2


def test_answers_of_a_batch_that_died_end_with_their_last_reason(machine: BatchMachine, judges: ProviderServer) -> None:
    judges.rule(error("overloaded"))
    assert machine.drop(row(1)) == "waiting"
    later(9 * 24 * 3600)
    assert sweep.handler({}, LONG)["ended"] == 1
    (answer,) = Api(token=machine.deployment.token(TENANT)).get("/v1/answers").json["items"]
    view = Api(token=machine.deployment.token(TENANT)).get(f"/v1/answers/{answer['id']}").json
    assert (view["verification_status"], view["skip_reason"]) == ("unverified", "overloaded")


def test_lines_of_a_function_that_died_are_asked_again_and_none_is_ended_meanwhile(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    machine.deaths[1] = 2
    state = machine.drop(FILE)
    for _ in range(2):
        assert state == "waiting"
        assert (machine.batch.waiting, machine.batch.waiting_for) == (CHUNK, "not_done")
        assert machine.batch.done == LINES - CHUNK
        later(machine.said["wait_seconds"] + 3600)
        assert sweep.handler({}, LONG)["ended"] == 0, "the batch comes back to them"
        state = machine.wait()
    assert state == "finished"
    assert badges(machine) == {("verified", None): LINES}
    assert (machine.batch.done, machine.batch.failed) == (LINES, 0)
    assert len(judges.calls) == LINES
    assert [result["line"] for result in machine.results()] == list(range(1, LINES + 1))


def test_a_file_whose_only_function_died_is_asked_again(machine: BatchMachine, judges: ProviderServer) -> None:
    machine.deaths[0] = 1
    batch = machine.run(row(1) + b"\n\n" + row(2))
    assert (batch.state, batch.done, batch.failed, len(machine.waits)) == ("finished", 2, 0, 1)
    assert len(judges.calls) == 2


def test_a_chunk_that_kills_every_function_ends_with_its_batch_and_at_growing_distances(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    machine.deaths[1] = 1000
    batch = machine.run(b"\n".join(row(number, expected="Canberra") for number in range(CHUNK + 2)))
    assert (batch.state, batch.done, batch.failed) == ("finished", CHUNK, 2)
    assert {one["error"]["reason"] for one in machine.results() if one["error"]} == {"not_done"}
    assert sum(machine.waits) >= 7 * 24 * 3600 - 60
    assert len(machine.waits) < 50


def test_a_batch_of_which_nothing_is_ever_done_fails_after_a_few_rounds(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    machine.deaths[0] = 1000
    batch = machine.run(row(1))
    assert (batch.state, len(machine.waits)) == ("failed", 5)
    assert "None of its lines could be done" in (batch.failure or "")


ENDS_OF_LINES = "\u2028\u2029\u0085\x0b\x0c\x1c\x1d\x1e"


@pytest.mark.parametrize("name", ["plain", f"a{ENDS_OF_LINES[:3]}b"])
def test_r28_what_python_calls_the_end_of_a_line_is_none(
    machine: BatchMachine, judges: ProviderServer, name: str
) -> None:
    machine.name = name
    machine.deployment.machines.repeats = 2
    rows = [
        row(number, id=f"n{number}{end}", problem=f"Name the capital{end} of country {number}.")
        for number, end in enumerate("\u2028\u2029\u0085", start=1)
    ]
    judges.limit(rpd=2)
    batch = machine.run(b"\n".join(rows))
    assert (batch.state, batch.total, batch.done, batch.failed) == ("finished", 3, 3, 0)
    assert [result["id"] for result in machine.results()] == [json.loads(line)["id"] for line in rows]
    assert [result["answer"]["problem"] for result in machine.results()] == [
        json.loads(line)["problem"] for line in rows
    ]


def _delivered(machine: BatchMachine, context: Context = LONG) -> list[str]:
    """The messages in the intake queue, delivered as the platform does: those that failed, which stay."""
    sqs, url = machine.deployment.sqs, machine.deployment.intake_url
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0).get("Messages", [])
    records = [
        event("sqs_intake")["Records"][0] | {"messageId": one["MessageId"], "body": one["Body"]} for one in found
    ]
    failed = {each["itemIdentifier"] for each in intake.handler({"Records": records}, context)["batchItemFailures"]}
    for one in found:
        if one["MessageId"] not in failed:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
    return [json.loads(one["Body"])["kind"] for one in found]


def _sent(machine: BatchMachine, kind: str, **request: Any) -> None:
    body = json.dumps({"tenant": TENANT, "id": "k", "kind": kind, "request": request})
    machine.deployment.sqs.send_message(QueueUrl=machine.deployment.intake_url, MessageBody=body)


def _only_answer(machine: BatchMachine) -> dict[str, Any]:
    api = Api(token=machine.deployment.token(TENANT))
    (answer,) = api.get("/v1/answers").json["items"]
    return dict(api.get(f"/v1/answers/{answer['id']}").json)


@pytest.mark.parametrize("kind", ["verify", "solve"])
def test_r3_a_message_whose_deliveries_die_is_not_ended_before_its_last(
    machine: BatchMachine, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Its deliveries are as far apart as the queue hides it."""
    request = {"problem": "Name the capital of Australia."} | ({"answer": "Canberra"} if kind == "verify" else {})
    _sent(machine, kind, **request)
    first = system_clock()
    for _ in range(DELIVERIES - 1):
        with monkeypatch.context() as dying:
            dying.setattr("touchstone.operations.answers.messages.work_whole", killed)
            with pytest.raises(Killed):
                _delivered(machine, Context(remaining_ms=1))
        later(VISIBLE_AFTER.total_seconds())
        assert sweep.handler({}, LONG)["ended"] == 0
    assert system_clock() - first >= DELIVERED_FOR
    time.sleep(0.01)  # the memory of repeats goes by the machine's own clock
    assert _delivered(machine) == [kind]
    assert _only_answer(machine)["stage"] == "finished"
    assert _only_answer(machine)["verification_status"] == "verified"


def test_r27_a_message_to_solve_waits_out_an_outage(machine: BatchMachine, judges: ProviderServer) -> None:
    judges.rule(error("overloaded"))
    _sent(machine, "solve", problem="Name the capital of Australia.", deep_evaluation=False)
    assert _delivered(machine) == ["solve"]
    for _ in range(3):
        waiting = _only_answer(machine)
        assert (waiting["stage"], waiting["waiting_for"], waiting["failure"]) == ("received", "overloaded", None)
        later((datetime.fromisoformat(waiting["waiting_until"]) - system_clock()).total_seconds() + 46 * 60)
        assert sweep.handler({}, LONG)["ended"] == 0
        assert _delivered(machine) == ["again"]
    judges.reset()
    judges.reply(replies.verify(), schema="VerifyReply")
    judges.reply(replies.solve(), schema="SolveReply")
    waiting = _only_answer(machine)
    later((datetime.fromisoformat(waiting["waiting_until"]) - system_clock()).total_seconds() + 46 * 60)
    sweep.handler({}, LONG)
    assert _delivered(machine) == ["again"]
    after = _only_answer(machine)
    assert (after["stage"], after["verification_status"], after["waiting_for"]) == ("finished", "verified", None)


def test_a_model_without_a_price_is_said_at_once_and_nothing_waits_for_it(
    aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, addresses = judges.led_here()
    only = {name: key for name, key in keys.items() if name.startswith("GEMINI")}
    models = {"models": {MODEL: {"price_in": None, "price_out": None}}}
    with deployed(monkeypatch, keys=only, **addresses, **registry(gemini=models)) as here:
        here.tenant(TENANT)
        machine = BatchMachine(deployment=here)
        machine.run(row(1))
        (result,) = machine.results()
    assert (result["answer"]["skip_reason"], machine.waits, judges.calls) == ("unpriced", [], [])
    assert "TOUCHSTONE_UNPRICED" in result["answer"]["verify_error"]


def test_r24_a_drain_that_meets_a_quota_that_nobody_knew_is_refused_three_times_a_minute(
    machine: BatchMachine, judges: ProviderServer
) -> None:
    asked = [row(number, answer="Canberra", expected="Canberra", deep_evaluation=True) for number in range(A_DAY)]
    machine.run(b"\n".join(asked))
    judges.limit(rpd=5)
    drain.handler({"execution_id": "x"}, LONG)
    assert 5 < len(judges.calls) <= 5 + 3


@pytest.mark.parametrize("comes_back", [True, False])
def test_r26_a_message_that_met_a_spent_day_gets_its_verdict_on_another(
    machine: BatchMachine, judges: ProviderServer, comes_back: bool
) -> None:
    batch.load_checks()
    judges.limit(rpd=0)
    request = {"problem": "Name the capital of Australia.", "answer": "Canberra", "deep_evaluation": True}
    body = json.dumps({"tenant": TENANT, "id": "k", "kind": "verify", "request": request})
    machine.deployment.sqs.send_message(QueueUrl=machine.deployment.intake_url, MessageBody=body)
    assert _delivered(machine) == ["verify"]
    api = Api(token=machine.deployment.token(TENANT))
    (answer,) = api.get("/v1/answers").json["items"]

    def view() -> dict[str, Any]:
        return dict(api.get(f"/v1/answers/{answer['id']}").json)

    waiting = view()
    assert (waiting["stage"], waiting["verification_status"]) == ("received", None)
    assert waiting["waiting_for"] in {"quota", "day_quota", "timed_out"}, "the last one on a busy machine"
    if comes_back:
        judges.limit(rpd=100)
    for _ in range(10):
        before = view()
        if before["stage"] == "finished":
            break
        until = datetime.fromisoformat(before["waiting_until"])
        later((until - system_clock()).total_seconds() + 46 * 60)
        assert sweep.handler({}, LONG)["ended"] == 0
        assert sweep.handler({}, LONG)["ended"] == 0, "as often as it looks until then"
        assert _delivered(machine) == ["again", "again"]
    after = view()
    assert (after["stage"], after["waiting_for"]) == ("finished", None)
    wanted = ("verified", None) if comes_back else ("unverified", waiting["waiting_for"])
    assert after["verification_status"] == wanted[0]
    assert (after["skip_reason"] is None) == comes_back
    answered = [call for call in judges.calls if call.status == 200]
    assert len(answered) == (1 if comes_back else 0)
    assert len(judges.calls) < 12
