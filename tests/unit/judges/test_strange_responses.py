"""Responses that no documentation promises: each is a failure of the judge's, within bounds, and never a verdict."""

import asyncio
import gzip
import json
import logging
import ssl
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.questions import KEY, PROVIDERS, SECRET, Verdict, adapter_at, question
from touchstone.errors import (
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges.adapters import Adapter
from touchstone.judges.adapters.connections import LONGEST_REPLY_BYTES
from touchstone.judges.adapters.replies import parse_reply
from touchstone.judges.caller import POSSIBLY_BILLED

PASSED = '{"passed": true, "confidence": 0.9}'


def _body(provider: str, parts: Any = None, *, text: str = PASSED, model: str = "m") -> dict[str, Any]:
    """A successful response's body. `parts` stands in place of the blocks or parts that hold the text."""
    match provider:
        case "gemini":
            made = [{"text": text}] if parts is None else parts
            candidate = {"content": {"parts": made}, "finishReason": "STOP"}
            counts = {"promptTokenCount": 9, "candidatesTokenCount": 3}
            return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": model}
        case "anthropic":
            made = [{"type": "text", "text": text}] if parts is None else parts
            counts = {"input_tokens": 9, "output_tokens": 3}
            return {"content": made, "stop_reason": "end_turn", "usage": counts, "model": model}
        case _:
            message = {"role": "assistant", "content": text if parts is None else parts}
            counts = {"prompt_tokens": 9, "completion_tokens": 3}
            return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": counts, "model": model}


def _response(body: bytes, *, status: int = 200, said: int | None = None, **headers: str) -> bytes:
    """A whole response. `said` is the length that it names, if that is not its own."""
    told = {"content-type": "application/json", "content-length": str(len(body) if said is None else said)} | headers
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in told.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


@asynccontextmanager
async def _answering(
    provider: str, response: bytes, *, certificate: ssl.SSLContext | None = None, address: str = "http://127.0.0.1"
) -> AsyncIterator[Adapter]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        writer.write(response)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=certificate)
    judge = adapter_at(provider, f"{address}:{server.sockets[0].getsockname()[1]}")
    try:
        yield judge
    finally:
        await judge.aclose()
        server.close()


async def _failure(provider: str, response: bytes, **how: Any) -> JudgeError:
    async with _answering(provider, response, **how) as judge:
        with pytest.raises(JudgeError) as failed:
            await judge.ask("model-x", question(), timeout=5)
    return failed.value


PARTS: Mapping[str, Any] = {
    "a part that is none": ["x", {"type": "text", "text": PASSED}],
    "no part": [None],
    "a part of text without text": [{"type": "text"}],
    "a part of text with a number": [{"type": "text", "text": 5}],
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS.keys())
async def test_a_content_in_another_form_is_unreadable_and_its_tokens_count(provider: str, parts: Any) -> None:
    failed = await _failure(provider, _response(json.dumps(_body(provider, parts)).encode()))
    assert isinstance(failed, UnreadableError)
    assert failed.usage is not None


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_reply_that_says_both_is_no_verdict(provider: str) -> None:
    text = '{"passed": false, "passed": true, "confidence": 0.9}'
    failed = await _failure(provider, _response(json.dumps(_body(provider, text=text)).encode()))
    assert isinstance(failed, UnreadableError)
    assert "two values for one field" in str(failed)


def test_a_line_of_a_batch_that_says_both_is_no_verdict() -> None:
    text = '{"line_id": "a-0", "passed": false, "passed": true, "confidence": 0.9}'
    with pytest.raises(UnreadableError, match="two values for one field"):
        parse_reply("compatible", "m", question(line_id="a-0"), text)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("cut", ["half", "no gzip"])
async def test_a_reply_that_is_cut_off_may_have_been_billed(provider: str, cut: str) -> None:
    body = json.dumps(_body(provider)).encode()
    half = _response(body[:40], said=len(body))
    failed = await _failure(provider, half if cut == "half" else _response(body, content_encoding="gzip"))
    assert failed.sent
    assert isinstance(failed, TimedOutError)  # tried again as an outage, and counted at its highest price
    assert failed.reason in POSSIBLY_BILLED
    assert "in the middle of its reply" in str(failed)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("packed", [False, True])
async def test_a_reply_without_end_is_not_taken_into_memory(provider: str, *, packed: bool) -> None:
    body = b" " * (LONGEST_REPLY_BYTES + 1) + json.dumps(_body(provider)).encode()
    response = _response(gzip.compress(body, 1), content_encoding="gzip") if packed else _response(body)
    failed = await _failure(provider, response)
    assert isinstance(failed, UnreadableError)
    assert "more than any reply holds" in str(failed)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_error_without_end_is_the_error_that_its_status_tells(provider: str) -> None:
    failed = await _failure(provider, _response(b" " * (LONGEST_REPLY_BYTES + 1), status=503))
    assert isinstance(failed, OverloadedError)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ["", "m" * 300_000, "m\0", "\ud800", "m\n"])
async def test_a_name_that_is_none_is_not_kept(provider: str, name: str) -> None:
    async with _answering(provider, _response(json.dumps(_body(provider, model=name)).encode())) as judge:
        answered = await judge.ask("model-x", question(), timeout=5)
    assert (answered.value, answered.model) == (Verdict(passed=True, confidence=0.9), "model-x")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_advice_that_no_clock_can_hold_is_none(provider: str) -> None:
    now, then = "Sat, 28 Nov 2026 13:00:00 GMT", "Sat, 28 Nov 2026 13:00:02 +99999999999999"
    failed = await _failure(provider, _response(b"{}", status=429, date=now, retry_after=then))
    assert isinstance(failed, MinuteQuotaError)
    assert failed.retry_after is None


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_request_that_is_too_long_is_called_so(provider: str) -> None:
    failed = await _failure(provider, _response(b"{}", status=413))
    assert isinstance(failed, MisconfiguredError)
    assert "shorten its texts" in str(failed)


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error"])
async def test_so_is_one_that_a_code_calls_so(code: str) -> None:
    body = json.dumps({"error": {"code": code, "message": SECRET}}).encode()
    failed = await _failure("openai", _response(body, status=400))
    assert "shorten its texts" in str(failed)
    assert SECRET not in str(failed)


@pytest.mark.parametrize("provider", ["openai", "compatible"])
async def test_a_base_url_with_a_user_beside_the_key_is_misconfigured(provider: str) -> None:
    failed = await _failure(provider, b"", address="http://user:word@127.0.0.1")
    assert isinstance(failed, MisconfiguredError)
    assert not failed.sent


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """The certificate of a server that nobody vouches for."""
    folder: Path = tmp_path_factory.mktemp("certificate")
    made = ["-keyout", str(folder / "key"), "-out", str(folder / "certificate")]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run([*request, *made], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    return context


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_certificate_that_is_not_trusted_is_called_so(provider: str, certificate: ssl.SSLContext) -> None:
    failed = await _failure(provider, b"", certificate=certificate, address="https://localhost")
    assert isinstance(failed, MisconfiguredError)
    assert not failed.sent
    assert "certificate" in str(failed)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a8_not_even_an_sdks_own_debug_log_holds_what_is_asked(
    provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with _answering(provider, _response(json.dumps(_body(provider)).encode())) as judge:
        await judge.ask("model-x", question(), timeout=5)
    assert question().prompt.user not in caplog.text
    assert KEY not in caplog.text
