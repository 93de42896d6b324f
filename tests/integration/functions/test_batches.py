"""Files of thousands of requests, from the drop to the results beside them."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from functions import batch as batch_functions
from functions import sweep
from functions.batch import collect, lines, prepare
from functions.composition import stores, work
from tests.support.api import Api
from tests.support.batches import LONG, BatchMachine, listed, results_in
from tests.support.deployment import BUCKET, Context, Deployment
from touchstone.answers.model import AnswerRecord
from touchstone.answers.progress import new_record
from touchstone.clock import system_clock
from touchstone.errors import NotFoundError, TouchstoneError
from touchstone.operations.answers.sweeping import NO_ANSWER
from touchstone.operations.batches.chunks import CHUNK_LINES, LineChunk, request_of
from touchstone.operations.batches.line_work import line_answer_id
from touchstone.operations.batches.lines import MAX_LINE_BYTES, SolveLine, VerifyLine, parse_line
from touchstone.records import Batch

TENANT = "demo"


def _line(number: int, **fields: Any) -> bytes:
    return json.dumps({"kind": "verify", "id": f"n{number}", "problem": f"Compute {number} + 1.",
                       "answer": str(number + 1), **fields}).encode()  # fmt: skip


def _run(
    deployment: Deployment, data: bytes, *, name: str = "answers", lost: Sequence[int] = (), owner: str = "run-1"
) -> Batch:
    """The batch machine over a dropped file, to its end; the chunks in `lost` never come back."""
    return BatchMachine(deployment=deployment, name=name, owner=owner, lost=frozenset(lost)).run(data)


def _dropped(deployment: Deployment, data: bytes) -> dict[str, Any]:
    """What the first execution for a dropped file is given."""
    key = f"inbox/{TENANT}/a.jsonl"
    deployment.drop(key, data)
    return {"bucket": BUCKET, "key": key, "owner": "run-1"}


def test_three_broken_lines_among_a_hundred_are_three_errors_with_their_numbers(deployment: Deployment) -> None:
    rows = [_line(number) for number in range(1, 101)]
    rows[9], rows[49], rows[99] = b"{", b'{"kind": "verify", "id": "mine", "problem": ""}', _line(100, sting=1)
    batch = _run(deployment, b"\n".join(rows))
    results = results_in(deployment, batch)
    assert (batch.state, batch.total, batch.done, batch.failed) == ("finished", 100, 97, 3)
    assert [result["line"] for result in results] == list(range(1, 101))
    errors = [(result["line"], result["id"]) for result in results if result["error"] is not None]
    assert errors == [(10, None), (50, "mine"), (100, "n100")]
    assert {result["answer"]["verification_status"] for result in results if result["answer"]} == {"verified"}
    assert deployment.s3.head_object(Bucket=BUCKET, Key="inbox/demo/answers.results.jsonl")


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n".join([_line(1), _line(2)]) + b"\r\n",
        b"\xef\xbb\xbf" + _line(1) + b"\n" + _line(2),
        _line(1) + b"\n\n  \n" + _line(2) + b"\n",
        _line(1) + b"\n" + _line(2),
    ],
)
def test_a_file_may_end_its_lines_as_it_likes(deployment: Deployment, data: bytes) -> None:
    batch = _run(deployment, data)
    assert (batch.total, batch.done, batch.failed) == (2, 2, 0)
    assert [result["id"] for result in results_in(deployment, batch)] == ["n1", "n2"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[" * 100_000, "invalid_input"),
        (b'{"kind": "verify", "problem": NaN}', "invalid_input"),
        (b'{"kind": "verify", "kind": "solve"}', "invalid_input"),
        (b'\xff\xfe{"kind"', "invalid_input"),
        (b'{"kind": "dance"}', "invalid_input"),
        (b'{"kind": "verify", "id": "\\ud800", "problem": "1+1", "answer": "2"}', "invalid_input"),
        (_line(1, problem="x" * 20_001), "invalid_input"),
        (b'{"id": "' + b"x" * MAX_LINE_BYTES + b'"}', "invalid_input"),
        (b'{"kind": "evaluate", "answer_id": "01JD7Z00000000000000000000"}', "not_found"),
        (b'{"kind": "solve", "image": {"s3_key": "rival/images/secret"}}', "not_found"),
        (b'{"kind": "solve", "image": {"data_base64": "bm8gaW1hZ2U="}}', "invalid_input"),
    ],
)
def test_a_line_that_cannot_be_done_fails_alone(deployment: Deployment, line: bytes, reason: str) -> None:
    deployment.s3.put_object(Bucket=BUCKET, Key="artifacts/rival/images/secret", Body=b"\x89PNG\r\n\x1a\n" + bytes(64))
    batch = _run(deployment, line + b"\n" + _line(2))
    broken, good = results_in(deployment, batch)
    assert (broken["error"]["reason"], broken["answer"]) == (reason, None)
    assert len(broken["error"]["detail"]) < 400
    assert good["answer"]["verification_status"] == "verified"


def test_a_fault_that_nobody_foresaw_costs_its_own_line_only(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(record: AnswerRecord) -> None:
        if record.problem == "Compute 2 + 1.":
            raise ZeroDivisionError("canary")

    monkeypatch.setattr(batch_functions, "count_verdict", faulty)
    batch = _run(deployment, b"\n".join(_line(number) for number in (1, 2, 3)))
    good, broken, also_good = results_in(deployment, batch)
    assert (broken["line"], broken["id"], broken["error"]["reason"]) == (2, "n2", "unexpected")
    assert good["answer"]["verification_status"] == also_good["answer"]["verification_status"] == "verified"
    assert "ZeroDivisionError" in caplog.text
    assert "canary" not in caplog.text + json.dumps(broken)


@pytest.mark.parametrize(
    ("data", "said"), [(b"", "no request"), (b"\n \n\n", "no request"), (b"\xef\xbb\xbf", "not JSON")]
)
def test_a_file_without_requests_says_so(deployment: Deployment, data: bytes, said: str) -> None:
    batch = _run(deployment, data)
    if batch.state == "failed":
        assert batch.failure is not None
        assert said in batch.failure
    else:
        assert [result["line"] for result in results_in(deployment, batch)] == [1]


def test_a_chunk_repeated_writes_nothing_twice(deployment: Deployment) -> None:
    dropped = _dropped(deployment, b"\n".join(_line(number) for number in range(30)))
    prepared = prepare(dropped, LONG)
    chunks = listed(deployment, prepared)
    assert [chunk["lines"] for chunk in chunks] == [CHUNK_LINES, 5]
    for chunk in chunks * 2:
        lines(chunk, LONG)
    deployment.s3.delete_object(Bucket=BUCKET, Key=f"scratch/{LineChunk.model_validate(chunks[0]).part_key}")
    again = lines(chunks[0], LONG)
    assert (again["done"], again["failed"]) == (30, 0)
    assert prepare(dropped, LONG) == prepared
    for _ in range(2):
        assert collect({**prepared, "owner": "run-1"}, LONG) == {"state": "finished"}
    volume = stores.statistics().volume(TENANT, days=1)
    assert sum(volume[-1].statuses.values()) == 30


def test_a_file_whose_event_comes_twice_is_worked_on_once(deployment: Deployment) -> None:
    dropped = _dropped(deployment, b"\n".join(_line(number) for number in range(30)))
    first, second = (prepare({**dropped, "owner": owner}, LONG) for owner in ("run-1", "run-2"))
    assert prepare({**dropped, "owner": "run-1"}, LONG) == first
    assert [len(listed(deployment, prepared)) for prepared in (first, second)] == [2, 0]
    for ending in ({}, {"error": "States.ItemReaderFailed"}):
        assert collect({**second, "owner": "run-2", **ending}, LONG) == {"state": "running"}
    for chunk in listed(deployment, first):
        lines(chunk, LONG)
    assert collect({**first, "owner": "run-1"}, LONG) == {"state": "finished"}
    third = prepare({**dropped, "owner": "run-3"}, LONG)
    assert listed(deployment, third) == []
    assert collect({**third, "owner": "run-3"}, LONG) == {"state": "finished"}
    batch = stores.batches().get(tenant=TENANT, batch_id=first["batch_id"])
    assert (batch.done, batch.failed, len(results_in(deployment, batch))) == (30, 0, 30)


def test_an_execution_that_cannot_prepare_fails_no_batch_that_another_one_works_on(deployment: Deployment) -> None:
    dropped = _dropped(deployment, _line(1) + b"\n" + _line(2))
    prepared = prepare(dropped, LONG)
    broken_off = {"key": dropped["key"], "owner": "run-2", "error": "Sandbox.Timedout"}
    assert collect(broken_off, LONG) == {"state": "running"}
    for chunk in listed(deployment, prepared):
        lines(chunk, LONG)
    assert collect({**prepared, "owner": "run-1"}, LONG) == {"state": "finished"}
    assert collect(broken_off, LONG) == {"state": "finished"}


def test_a_file_that_could_not_be_read_is_a_new_run_when_it_is_dropped_again(deployment: Deployment) -> None:
    dropped = _dropped(deployment, _line(1))
    collect({**dropped, "error": "StoreError"}, LONG)
    (failed,) = stores.batches().page(tenant=TENANT).items
    assert (failed.state, "StoreError" in (failed.failure or "")) == ("failed", True)
    batch = _run(deployment, _line(1), name="a", owner="run-2")
    assert (batch.id, batch.state, batch.failure, batch.done) == (failed.id, "finished", None, 1)


def test_a_file_of_which_no_line_could_be_done_has_failed_and_is_a_new_run_when_it_is_dropped_again(
    deployment: Deployment,
) -> None:
    failed = _run(deployment, _line(1) + b"\n{", lost=[0])
    assert (failed.state, failed.results_key, failed.failed) == ("failed", None, 0)
    assert "put the file in its place again" in (failed.failure or "")
    batch = _run(deployment, _line(1) + b"\n{", owner="run-2")
    assert (batch.id, batch.state, batch.failure, batch.done, batch.failed) == (failed.id, "finished", None, 1, 1)
    assert [result["line"] for result in results_in(deployment, batch)] == [1, 2]


def test_a_file_that_was_refused_can_be_uploaded_again_where_it_was_awaited(deployment: Deployment) -> None:
    member = Api(token=deployment.token(TENANT))
    begun = member.post("/v1/batches").json
    assert _run(deployment, b"", name=begun["id"]).state == "failed"
    refused = member.get(f"/v1/batches/{begun['id']}").json
    assert (refused["state"], "no request" in refused["failure"]) == ("failed", True)
    assert refused["upload_url"] is not None
    _run(deployment, _line(1), name=begun["id"], owner="run-2")
    view = member.get(f"/v1/batches/{begun['id']}").json
    assert (view["state"], view["failure"], view["done"]) == ("finished", None, 1)


def test_a_batch_that_failed_gives_its_link_again_and_takes_a_corrected_file(deployment: Deployment) -> None:
    member = Api(token=deployment.token(TENANT))
    begun = member.post("/v1/batches").json
    rows = [_line(number) for number in range(CHUNK_LINES + 5)]
    assert _run(deployment, b"\n".join(rows), name=begun["id"], lost=[0, 1]).state == "failed"
    failed = member.get(f"/v1/batches/{begun['id']}").json
    assert ("upload_url" in failed["failure"], failed["upload_url"] is not None) == (True, True)
    rows[0], more = _line(0, answer="2"), [_line(100 + number) for number in range(30)]
    _run(deployment, b"\n".join(rows + more), name=begun["id"], owner="run-2")
    view = member.get(f"/v1/batches/{begun['id']}").json
    assert (view["state"], view["failure"], view["total"], view["done"]) == ("finished", None, 60, 60)
    assert view["upload_url"] is None
    results = results_in(deployment, stores.batches().get(tenant=TENANT, batch_id=begun["id"]))
    assert [result["id"] for result in results] == [f"n{number}" for number in (*range(30), *range(100, 130))]


def test_a_corrected_line_of_a_batch_that_failed_gets_an_answer_of_its_own(deployment: Deployment) -> None:
    batch_id = work.batching(TENANT).begin(key=None).id
    event = {"bucket": BUCKET, "key": f"inbox/{TENANT}/{batch_id}.jsonl"}
    said: list[list[tuple[str, str]]] = []
    for owner, second in (("run-1", _line(2, answer="7")), ("run-2", _line(2))):
        deployment.drop(event["key"], _line(1) + b"\n" + second)
        prepared = prepare(event | {"owner": owner}, LONG)
        (chunk,) = listed(deployment, prepared)
        lines(chunk, LONG)
        part = deployment.s3.get_object(Bucket=BUCKET, Key=f"scratch/{LineChunk.model_validate(chunk).part_key}")
        answers = [json.loads(line)["answer"] for line in part["Body"].read().splitlines()]
        said.append([(answer["id"], answer["verification_status"]) for answer in answers])
        collect(event | {"owner": owner, "error": "States.DataLimitExceeded"}, LONG)
    (first, wrong), (again, right) = said
    assert first == again, "what was done is not paid twice"
    assert (wrong[1], right[1], wrong[0] == right[0]) == ("caution", "verified", False)


def test_a_part_that_is_missing_is_reported_line_by_line(deployment: Deployment) -> None:
    rows = [_line(number) for number in range(1, 61)]
    rows[30] = b""
    batch = _run(deployment, b"\n".join(rows), lost=[1])
    results = results_in(deployment, batch)
    assert (batch.total, batch.done, batch.failed) == (59, 35, 24)
    assert [result["line"] for result in results] == [number for number in range(1, 61) if number != 31]
    missing = [result["line"] for result in results if result["error"] and result["error"]["reason"] == "not_done"]
    assert missing == [number for number in range(26, 51) if number != 31]


def test_the_same_bytes_are_one_batch_and_other_bytes_another(deployment: Deployment) -> None:
    first = _run(deployment, _line(1))
    again = _run(deployment, _line(1))
    other = _run(deployment, _line(2))
    assert first.id == again.id
    assert other.id != first.id
    assert [result["id"] for result in results_in(deployment, other)] == ["n2"]


def test_a_file_replaced_while_it_is_worked_on_garbles_nothing(deployment: Deployment) -> None:
    key = f"inbox/{TENANT}/a.jsonl"
    deployment.drop(key, _line(1) + b"\n" + _line(2))
    prepared = prepare({"key": key, "owner": "run-1"}, LONG)
    deployment.drop(key, b"x" * 500)
    for chunk in listed(deployment, prepared):
        lines(chunk, LONG)
    collect({**prepared, "owner": "run-1"}, LONG)
    batch = stores.batches().get(tenant=TENANT, batch_id=prepared["batch_id"])
    assert [result["error"]["reason"] for result in results_in(deployment, batch)] == ["file_replaced"] * 2


def test_r3_a_chunk_repeated_after_the_sweep_ended_its_answers_reports_their_end(deployment: Deployment) -> None:
    rows = (
        _line(1, problem="Name the capital of Australia.", answer="Canberra"),
        b'{"kind": "solve", "problem": "1 + 1"}',
    )
    prepared = prepare(_dropped(deployment, b"\n".join(rows)), LONG)
    batch = stores.batches().get(tenant=TENANT, batch_id=prepared["batch_id"])
    for number, row in enumerate(rows, start=1):
        line = parse_line(row)
        assert isinstance(line, VerifyLine | SolveLine)
        answer_id = line_answer_id(row, batch.created_at, tenant=TENANT, batch_id=batch.id, number=number)
        begun = new_record(
            request_of(line), tenant=TENANT, answer_id=answer_id, now=system_clock() - timedelta(minutes=50)
        )
        stores.answers().create(begun.model_copy(update={"batch_id": batch.id}))
    assert sweep.handler({}, LONG)["ended"] == 2
    (chunk,) = listed(deployment, prepared)
    assert lines(chunk, LONG) == {"done": 2, "failed": 0}
    collect({**prepared, "owner": "run-1"}, LONG)
    verified, solved = (result["answer"] for result in results_in(deployment, stores.batches().get(
        tenant=TENANT, batch_id=batch.id)))  # fmt: skip
    assert (verified["stage"], verified["verification_status"]) == ("finished", "unverified")
    assert (solved["stage"], solved["failure"]) == ("failed", NO_ANSWER)


def test_lines_that_no_time_is_left_for_are_done_in_the_next_round_and_in_the_last_one_say_so(
    deployment: Deployment,
) -> None:
    prepared = prepare(_dropped(deployment, _line(1)), LONG)
    (chunk,) = listed(deployment, prepared)
    assert lines(chunk, Context(remaining_ms=1000)) == {"done": 0, "failed": 0}
    assert lines(chunk | {"last": True}, Context(remaining_ms=1000)) == {"done": 0, "failed": 1}
    other = prepare(_dropped(deployment, _line(2)), LONG)
    (chunk,) = listed(deployment, other)
    lines(chunk, Context(remaining_ms=1000))
    assert lines(chunk, LONG) == {"done": 1, "failed": 0}


@pytest.mark.parametrize(
    "key", ["inbox/answers.jsonl", "inbox/acme/answers.txt", "inbox/acme/a.results.jsonl", "elsewhere/acme/a.jsonl"]
)
def test_a_file_that_is_no_batch_is_none(deployment: Deployment, key: str) -> None:
    with pytest.raises(Exception, match="inbox/<tenant>"):
        prepare({"key": key, "owner": "run-1"}, LONG)


@pytest.mark.parametrize("tenant", ["nobody", "dem", "Demo", "../demo"])
def test_a_file_of_a_tenant_that_does_not_exist_is_left_alone_and_nothing_is_recorded(
    deployment: Deployment, tenant: str
) -> None:
    """The machine's way: what cannot be prepared is to be closed, and that it cannot be is what the execution says."""
    before = deployment.rows()
    dropped = deployment.drop(f"inbox/{tenant}/a.jsonl", _line(1))["detail"]["object"]["key"]
    said = "There is no tenant|A tenant id has|is dropped as"
    for door, given in ((prepare, {}), (collect, {"error": "NotFoundError"})):
        with pytest.raises(TouchstoneError, match=said):
            door({"bucket": BUCKET, "key": dropped, "owner": "run-1", **given}, LONG)
    assert deployment.rows() == before
    assert deployment.keys() == [dropped]
    deployment.tenant("nobody")
    assert _run(deployment, _line(1)).state == "finished", "a tenant that exists is served as ever"


def test_a_file_of_a_tenant_made_since_is_taken_when_it_is_dropped_again(deployment: Deployment) -> None:
    event = {"bucket": BUCKET, "key": "inbox/late/a.jsonl", "owner": "run-1"}
    deployment.drop(event["key"], _line(1))
    with pytest.raises(NotFoundError, match="no tenant late"):
        prepare(event, LONG)
    deployment.tenant("late")
    assert len(listed(deployment, prepare(event | {"owner": "run-2"}, LONG))) == 1


def test_a_chunk_of_another_tenants_file_is_not_read(deployment: Deployment) -> None:
    deployment.drop("inbox/rival/a.jsonl", _line(1))
    batch = work.batching(TENANT).begin(key=None)
    foreign = LineChunk(tenant=TENANT, batch_id=batch.id, key="rival/a.jsonl", version="v", chunk=0, first_line=1,
        lines=1,
                    start=0, end=10)  # fmt: skip
    with pytest.raises(Exception, match="no object"):
        lines(foreign.model_dump(), LONG)


def test_a_problem_nobody_can_solve_and_an_evaluation_are_lines_too(deployment: Deployment) -> None:
    first = results_in(deployment, _run(deployment, _line(1)))[0]["answer"]["id"]
    data = b'{"kind": "solve", "problem": "1 + 1"}\n' + json.dumps({"kind": "evaluate", "answer_id": first}).encode()
    data += b"\n" + _line(3, deep_evaluation=True)
    solved, evaluated, wanted = (
        result["answer"] for result in results_in(deployment, _run(deployment, data, name="b"))
    )
    assert (solved["stage"], "GEMINI_API_KEY" in solved["failure"]) == ("failed", True)
    assert (evaluated["id"], evaluated["evaluation"]["state"]) == (first, "deferred")
    assert wanted["evaluation"]["state"] == "deferred"
    assert (deployment.machines.started, deployment.machines.drains) == ([], 0), "nobody has a key to evaluate with"


def test_a_batch_is_begun_followed_and_fetched_through_the_api(deployment: Deployment) -> None:
    member = Api(token=deployment.token(TENANT))
    begun = member.post("/v1/batches").json
    assert (begun["state"], begun["total"], begun["results_url"]) == ("running", None, None)
    assert f"inbox/{TENANT}/{begun['id']}.jsonl" in begun["upload_url"]
    _run(deployment, _line(1) + b"\n{", name=begun["id"])
    view = member.get(f"/v1/batches/{begun['id']}").json
    assert (view["state"], view["total"], view["done"], view["failed"]) == ("finished", 2, 1, 1)
    assert view["upload_url"] is None
    assert f"{begun['id']}.results.jsonl" in view["results_url"]
    assert [item["id"] for item in member.get("/v1/batches").json["items"]] == [begun["id"]]
    assert Api(token=deployment.token("rival")).get(f"/v1/batches/{begun['id']}").status == 404


def _keyed(number: int, expected: Any, **fields: Any) -> bytes:
    """A line that no calculation decides."""
    story = f"How many eggs are in the basket of story {number}?"
    return _line(number, problem=story, answer=str(number), expected=expected, **fields)


def test_a_whole_file_with_answer_keys_is_decided_without_any_judge(deployment: Deployment) -> None:
    rows = [_keyed(number, str(number + number % 3 // 2), subject="reading") for number in range(1, 61)]
    rows += [
        _keyed(61, ["60", "sixty-one"]),
        _keyed(62, "62.3", tolerance={"absolute": 0.5}),
        _keyed(63, "as many as there are"),
        _keyed(64, "Answer:"),
        _keyed(65, "65", tolerance={"relative": 2}),
    ]
    batch = _run(deployment, b"\n".join(rows))
    results = results_in(deployment, batch)
    assert (batch.total, batch.done, batch.failed) == (65, 63, 2)
    answers = [result["answer"] for result in results[:63]]
    assert [answer["verification_status"] for answer in answers[:60]] == ["verified", "caution", "verified"] * 20
    assert [answer["verification_status"] for answer in answers[60:]] == ["verified", "verified", "unverified"]
    assert {answer["method"] for answer in answers[:62]} == {"expected"}
    assert {answer["skip_reason"] for answer in answers[62:]} == {"misconfigured"}, "never a pass"
    assert not any(answer["spends"] for answer in answers)
    assert [(result["line"], result["error"]["where"]) for result in results[63:]] == [
        (64, "expected"),
        (65, "tolerance.relative"),
    ]
    other = _run(deployment, rows[0].replace(b'"expected": "1"', b'"expected": "2"'), name="other")
    assert results_in(deployment, other)[0]["answer"]["verification_status"] == "caution"
