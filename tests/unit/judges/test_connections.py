"""The transport under the SDKs."""

import asyncio
import gc
import gzip
import ssl
import warnings
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from aiohttp import web

from tests.support.providers import ProviderServer
from touchstone.judges.adapters import connections
from touchstone.judges.anthropic import AnthropicAdapter
from touchstone.judges.gemini import GeminiAdapter
from touchstone.judges.openai import OpenAIAdapter


@pytest.fixture
async def base_url() -> AsyncIterator[str]:
    async def zipped(request: web.Request) -> web.Response:
        told = {"content-encoding": "gzip", "x-seen": request.headers["accept-encoding"]}
        return web.Response(body=gzip.compress(b'{"ok": true}'), headers=told)

    async def moved(_: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect("/zipped")

    async def plain(_: web.Request) -> web.Response:
        return web.json_response([])

    application = web.Application()
    application.add_routes([web.post("/zipped", zipped), web.post("/moved", moved), web.post("/plain", plain)])
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_compressed_body_is_read_though_none_was_asked_for(base_url: str) -> None:
    async with connections.Client() as client:
        response = await client.post(f"{base_url}/zipped", json={})
        assert response.json() == {"ok": True}
        assert response.headers["x-seen"] == "identity"


async def test_a_redirect_is_not_followed(base_url: str) -> None:
    async with connections.Client() as client:
        assert (await client.post(f"{base_url}/moved", json={})).status_code == 307


async def test_the_environments_proxy_is_used_except_where_it_is_bypassed(
    base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", base_url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    async with connections.Client() as client:
        # The proxy is the server itself: it is asked for the path of the other host.
        assert (await client.post("http://judge.invalid/plain", json={})).json() == []
        assert (await client.post(f"{base_url}/plain", json={})).json() == []


async def test_a_name_that_does_not_resolve_was_not_sent() -> None:
    async with connections.Client() as client:
        with pytest.raises(httpx2.ConnectError):
            await client.post("http://judge.invalid/", json={})


async def test_an_sdks_request_is_sent_as_it_is_said(base_url: str) -> None:
    async with connections.Client() as client, httpx2.AsyncClient() as plain:
        said: dict[str, Any] = {
            "headers": {"x-api-key": "k", "Content-Type": "application/json"},
            "content": b'{"a": 1}',
        }
        ours, theirs = [one.build_request("post", f"{base_url}/plain", **said) for one in (client, plain)]
        assert (ours.method, ours.url, ours.content) == ("POST", theirs.url, theirs.content)
        assert set(ours.headers) == set(theirs.headers) - {"accept", "accept-encoding", "user-agent", "connection"}
        assert all(theirs.headers[name] == value for name, value in ours.headers.items())
        assert (await client.send(ours)).json() == []


async def test_what_an_sdk_leaves_to_its_client_is_the_plain_clients(base_url: str) -> None:
    async with connections.Client() as client:
        asked = client.build_request("post", f"{base_url}/plain", json={"a": 1}, params={"b": "2"})
        assert (asked.url.params["b"], asked.content) == ("2", b'{"a":1}')
        with pytest.raises(httpx2.UnsupportedProtocol):
            await client.post("/plain", content=b"{}")
    with pytest.raises(RuntimeError, match="closed"):
        await client.post(f"{base_url}/plain", content=b"{}")


def test_connections_that_nobody_closed_are_closed_with_their_event_loop(server: ProviderServer) -> None:
    def in_two_loops() -> set[int]:
        client = connections.Client()

        async def asked() -> int:
            return (await client.post(f"{server.base_url}/nothing", json={})).status_code

        return {asyncio.run(asked()), asyncio.run(asked())}

    with warnings.catch_warnings(record=True) as left_open:
        warnings.simplefilter("always", ResourceWarning)
        assert in_two_loops() == {404}
        gc.collect()
    assert not left_open


async def test_connections_of_a_client_that_was_forgotten_are_closed(base_url: str) -> None:
    client = connections.Client()
    await client.post(f"{base_url}/plain", json={})
    with warnings.catch_warnings(record=True) as left_open:
        warnings.simplefilter("always", ResourceWarning)
        before = asyncio.all_tasks()
        del client
        gc.collect()
        await asyncio.sleep(0)  # the loop takes the closing up as a task
        await asyncio.gather(*(asyncio.all_tasks() - before))
    assert not left_open


@pytest.mark.parametrize("make", [GeminiAdapter, OpenAIAdapter, AnthropicAdapter])
async def test_an_sdk_reads_no_certificates_of_its_own(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    connections.certificates()
    monkeypatch.setattr(ssl, "create_default_context", lambda *_, **__: pytest.fail("They are read already."))
    adapter = make(api_key="k")
    adapter.load()
    await adapter.aclose()
