"""The API over HTTP: what is repeated, what is not, and what is said when it fails."""

import socket
from pathlib import Path

import pytest

from tests.support.loopback import TOKEN, Loopback, Reply, problem
from touchstone.cli.deployment import replies
from touchstone.cli.deployment.client import ApiClient, download, upload
from touchstone.cli.deployment.connection import Connection
from touchstone.cli.deployment.replies import STRANGE, Shape, shape_of
from touchstone.cli.terminal.exits import ServiceError
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError

DONE = Reply(value={"id": "x"})


@pytest.fixture(autouse=True)
def any_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """What replies hold is for `test_replies`; here any JSON is one, but to what is answered with nothing."""
    anything = Shape("typing", "Any")
    known = shape_of
    monkeypatch.setattr(
        replies, "shape_of", lambda method, path: known(method, path) if method == "DELETE" else anything
    )


def _client(api: Loopback) -> ApiClient:
    return ApiClient(Connection(url=api.url, token=TOKEN))


def test_a_request_carries_the_token_and_steps_of_a_path_are_escaped(api: Loopback) -> None:
    api.script = [DONE]
    with _client(api) as client:
        assert client.get("answers", "a/../b?c", limit=5, cursor=None) == {"id": "x"}
    asked = api.asked[0]
    assert asked.path == "/v1/answers/a%2F..%2Fb%3Fc"
    assert (asked.query, asked.headers["authorization"]) == ({"limit": "5"}, f"Bearer {TOKEN}")
    assert "idempotency-key" not in asked.headers


@pytest.mark.parametrize("status", [429, 503, 504])
def test_a_write_is_repeated_with_its_key_after_the_wait_that_was_advised(
    api: Loopback, pauses: list[float], status: int
) -> None:
    api.script = [problem(status, "Later.", retry_after=7), DONE]
    with _client(api) as client:
        client.post("batches")
    keys = {asked.headers["idempotency-key"] for asked in api.asked}
    assert (len(api.asked), len(keys), pauses) == (2, 1, [7.0])


def test_two_writes_of_one_run_have_two_keys_and_two_runs_have_others(api: Loopback) -> None:
    api.script = [DONE, Reply(status=204)] * 2
    for _ in range(2):
        with _client(api) as client:
            client.put("routing", "math", body={"provider": "gemini"})
            client.delete("routing", "math")
    assert len({asked.headers["idempotency-key"] for asked in api.asked}) == 4


def test_a_lost_connection_is_repeated_and_its_first_try_met(api: Loopback, pauses: list[float]) -> None:
    api.script = [Reply(cut=True), problem(409, "It runs.", reason="in_progress", retry_after=2), DONE]
    with _client(api) as client:
        assert client.post("verifications", body={"problem": "值"}) == {"id": "x"}
    assert pauses == [0.5, 2.0]
    assert api.asked[2].document == {"problem": "值"}


def test_repeats_are_few_and_grow_apart(api: Loopback, pauses: list[float]) -> None:
    api.answer = lambda _: Reply(status=503)
    with _client(api) as client, pytest.raises(ServiceError, match="HTTP 503"):
        client.get("budget")
    assert (len(api.asked), pauses) == (4, [0.5, 1.0, 2.0])


@pytest.mark.parametrize("advice", ["3600", "-1", "nan", "inf"])
def test_a_wait_that_nobody_would_wait_is_left_to_the_user(api: Loopback, pauses: list[float], advice: str) -> None:
    api.script = [problem(429, "The day's ceiling is reached.", retry_after=advice)]
    with _client(api) as client, pytest.raises(ServiceError, match="The day's ceiling is reached"):
        client.post("verifications", body={})
    assert pauses == []


def test_advice_that_is_a_date_is_replaced_by_our_own(api: Loopback, pauses: list[float]) -> None:
    api.script = [problem(503, "x", retry_after="Sat, 21 Nov 2026 12:00:00 GMT"), DONE]
    with _client(api) as client:
        client.get("budget")
    assert pauses == [0.5]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (problem(409, "Not now.", reason="conflict"), ConflictError),
        (problem(422, "Reused.", reason="idempotency_key_reused"), InputError),
        (problem(500, "Ours."), ServiceError),
        (Reply(status=404, raw=b"<html>"), NotFoundError),
        (Reply(status=404, raw=b"[]"), NotFoundError),
    ],
)
def test_what_a_repeat_cannot_mend_is_not_repeated(api: Loopback, reply: Reply, kind: type[Exception]) -> None:
    api.script = [reply]
    with _client(api) as client, pytest.raises(kind):
        client.post("x")
    assert len(api.asked) == 1


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b'"x"', b"null"])
def test_a_reply_that_is_none_of_ours_is_said_to_be_strange(api: Loopback, raw: bytes) -> None:
    api.script = [Reply(raw=raw)]
    with _client(api) as client, pytest.raises(ServiceError, match=r"Touchstone API\?"):
        client.get("x")


def test_a_list_is_a_list_of_objects(api: Loopback) -> None:
    api.script = [Reply(value=[{"a": 1}]), Reply(value={}), Reply(value=[1])]
    with _client(api) as client:
        assert client.get_list("x") == [{"a": 1}]
        for _ in range(2):
            with pytest.raises(ServiceError) as caught:
                client.get_list("x")
            assert str(caught.value) == STRANGE


def test_nothing_said_back_is_none(api: Loopback) -> None:
    api.script = [Reply(status=204)]
    with _client(api) as client:
        assert client.delete("routing", "math") is None


def test_an_api_that_is_not_there_is_named_without_the_token() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        ApiClient(Connection(url=f"http://127.0.0.1:{port}", token=TOKEN)) as client,
        pytest.raises(ServiceError) as caught,
    ):
        client.get("budget")
    assert str(caught.value).startswith("127.0.0.1 cannot be reached: start what the URL names")
    assert TOKEN not in str(caught.value)


def test_a_connection_that_always_breaks_is_said_to_break(api: Loopback) -> None:
    api.answer = lambda _: Reply(cut=True)
    with _client(api) as client, pytest.raises(ServiceError, match="broke off the connection"):
        client.get("budget")


def test_a_silent_api_is_given_up(api: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    from touchstone.cli.deployment import client as module

    monkeypatch.setattr(module, "TIMEOUT", httpx.Timeout(0.02))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        to = Connection(url=f"http://127.0.0.1:{silent.getsockname()[1]}", token=TOKEN)
        with ApiClient(to) as client, pytest.raises(ServiceError, match="did not answer in time"):
            client.get("budget")


def test_an_upload_shows_no_token_and_meets_an_earlier_one(api: Loopback) -> None:
    api.script = [Reply(), Reply(status=412)]
    for _ in range(2):
        upload(f"{api.url}/put?signature=1", b"lines", content_type="application/x-ndjson")
    asked = api.asked[0]
    assert (asked.method, asked.body, asked.headers["content-type"]) == ("PUT", b"lines", "application/x-ndjson")
    assert asked.headers["if-none-match"] == "*"
    assert "authorization" not in asked.headers


def test_an_upload_that_is_refused_says_so(api: Loopback) -> None:
    api.script = [Reply(status=403)]
    with pytest.raises(ServiceError, match=r"could not be uploaded \(HTTP 403\)"):
        upload(f"{api.url}/put", b"", content_type="x")


def test_a_download_is_whole_or_not_there(api: Loopback, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    api.script = [Reply(raw=b"one\n"), Reply(status=403), Reply(cut=True)]
    download(api.url, path)
    for words in ("HTTP 403", "broke off"):
        with pytest.raises(ServiceError, match=words):
            download(api.url, path)
    assert path.read_bytes() == b"one\n"
    api.script = [Reply(raw=b"x")]
    with pytest.raises(StoreError, match="cannot be written"):
        download(api.url, tmp_path / "none" / "x")
