"""A judge on loopback: a real HTTP server that speaks the three providers' wire formats, and misbehaves on request.

In a test:                                   As a process, for functions that run elsewhere:

    with ProviderServer() as server:             python -m tests.support.providers --port 0
        server.script(day_quota(limit=20))       # prints its base URL, then serves
        …                                        # POST /__control__ arranges, GET /__control__ reads back
        assert server.calls[0].provider == …

What answers a request, first match first: the quotas, the script, the rules, the fallback. The quotas come first
because a real service counts before it works; everything else is arranged by the test.
"""

import argparse
import asyncio
import contextlib
import socket
import struct
import threading
import time
from dataclasses import asdict
from types import TracebackType
from typing import Any, Protocol, Self

from aiohttp import web
from pydantic import ValidationError

from tests.support.exchange import Call, Control, Exchange, Quota, Responder, Rule
from tests.support.wire import Answer, Asked, Behaviour, Kind, read_anthropic, read_gemini, read_openai
from tests.support.wire_batches import BatchDesk, routes
from tests.support.wire_turns import conversed, read_responses

LOOK_SECONDS = 0.02
"""Between two looks at a latch."""
CALL_HEADER = "x-virtual-call"
"""Names a call, where a test's own time must know which ones are held back."""


def success(value: Any = None, **options: Any) -> Behaviour:
    """An answer: `value` as JSON, None for the plainest value that fits the requested schema."""
    return Behaviour(value=value, **options)


def error(kind: Kind, **options: Any) -> Behaviour:
    """A failure by its kind; see `Kind`."""
    return Behaviour(kind=kind, **options)


def hang(seconds: float) -> Behaviour:
    """No byte for `seconds`, then the connection closes."""
    return Behaviour(kind="hang", seconds=seconds)


def drip(seconds: float = 1.0) -> Behaviour:
    """A good answer, one byte every `seconds`."""
    return Behaviour(kind="drip", seconds=seconds)


class Time(Protocol):
    """The time that a server lives in."""

    def timestamp(self) -> float:
        """The moment, as Unix time."""
        ...

    async def hold(self, name: str | None, seconds: float) -> None:
        """Hold a reply back; `name` is what the request says of itself in `CALL_HEADER`."""
        ...


class RealTime:
    """The system's."""

    def timestamp(self) -> float:
        """The moment, as Unix time."""
        return time.time()

    async def hold(self, name: str | None, seconds: float) -> None:  # noqa: ARG002 - who asks makes no difference
        """Hold a reply back."""
        await asyncio.sleep(seconds)


class ProviderServer:
    """The server, in a thread of its own, for the length of a `with`. `port` 0 takes a free one of 127.0.0.1."""

    def __init__(self, *, port: int = 0, time: Time | None = None) -> None:
        time = time or RealTime()
        self.exchange = Exchange(time.timestamp)
        self.batches = BatchDesk(self.exchange)
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="providers", daemon=True)
        self._runner = web.AppRunner(
            _application(self.exchange, time, self.batches), access_log=None, shutdown_timeout=0.05
        )

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024).start()

    async def _stop(self) -> None:
        """Close, and let the answers that still hang end."""
        await self._runner.cleanup()
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    @property
    def base_url(self) -> str:
        """Where it listens; Gemini's and Anthropic's base URL."""
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def openai_url(self) -> str:
        """OpenAI's base URL."""
        return f"{self.base_url}/v1"

    @property
    def compatible_url(self) -> str:
        """The base URL of a server compatible with OpenAI; its calls are recorded as provider `compatible`."""
        return f"{self.base_url}/compatible/v1"

    def environment(self) -> dict[str, str]:
        """The variables that lead all three SDKs here, with keys that are good for nothing."""
        return {
            "GOOGLE_GEMINI_BASE_URL": self.base_url,
            "OPENAI_BASE_URL": self.openai_url,
            "ANTHROPIC_BASE_URL": self.base_url,
            "GEMINI_API_KEY": "loopback-gemini-key",
            "OPENAI_API_KEY": "loopback-openai-key",
            "ANTHROPIC_API_KEY": "loopback-anthropic-key",
        }

    def led_here(self) -> tuple[dict[str, str], dict[str, str]]:
        """The same, as what a deployment's secret holds (the keys) and what its variables say (the addresses)."""
        everything = self.environment()
        keys = {name: value for name, value in everything.items() if name.endswith("_KEY")}
        return keys, {name: value for name, value in everything.items() if name not in keys}

    @property
    def calls(self) -> list[Call]:
        """Every request so far, in order of arrival."""
        return self.exchange.calls

    def script(self, *behaviours: Behaviour | Responder) -> None:
        """Queue behaviours, one a request; a function instead answers every request that the queue does not."""
        for behaviour in behaviours:
            if isinstance(behaviour, Behaviour):
                self.exchange.arrange(Control(script=(behaviour,)))
            else:
                self.exchange.respond(behaviour)

    def reply(self, value: Any, *, schema: str | None = None, prompt: str | None = None, **options: Any) -> None:
        """Answer requests for this schema title, or whose text matches this expression, with `value` from now on."""
        self.rule(Behaviour(value=value, **options), schema=schema, prompt=prompt)

    def rule(
        self,
        behaviour: Behaviour,
        *,
        schema: str | None = None,
        prompt: str | None = None,
        provider: str | None = None,
        model: str | None = None,
    ) -> None:
        """Answer the requests that fit so from now on. The newest rule that fits decides."""
        rule = Rule(behaviour=behaviour, schema_title=schema, prompt=prompt, provider=provider, model=model)
        self.exchange.arrange(Control(rules=(rule,)))

    def limit(
        self, *, rpd: int | None = None, rpm: int | None = None, provider: str | None = None, model: str | None = None
    ) -> None:
        """Keep a quota from now on. The newest that fits a request decides."""
        self.exchange.arrange(Control(quotas=(Quota(rpd=rpd, rpm=rpm, provider=provider, model=model),)))

    def new_day(self) -> None:
        """Midnight at the provider: today's counts start anew."""
        self.exchange.arrange(Control(new_day=True))

    def reset(self) -> None:
        """Forget every arrangement, count and call."""
        self.exchange.reset()
        self.batches.reset()


def _application(exchange: Exchange, time: Time, batches: BatchDesk) -> web.Application:
    """The routes of the three providers, of a compatible server, and of the control endpoint."""

    async def gemini(request: web.Request) -> web.StreamResponse:
        key = request.headers.get("x-goog-api-key", "")
        body = await request.json()
        return await _serve(
            request, exchange, time, conversed(read_gemini(request.match_info["model"], key, body), body)
        )

    async def openai(request: web.Request) -> web.StreamResponse:
        provider = "compatible" if request.path.startswith("/compatible/") else "openai"
        body = await request.json()
        return await _serve(request, exchange, time, conversed(read_openai(provider, _bearer(request), body), body))

    async def responses(request: web.Request) -> web.StreamResponse:
        return await _serve(request, exchange, time, read_responses(_bearer(request), await request.json()))

    async def anthropic(request: web.Request) -> web.StreamResponse:
        key = request.headers.get("x-api-key") or _bearer(request)
        body = await request.json()
        return await _serve(request, exchange, time, conversed(read_anthropic(key, body), body))

    async def arrange(request: web.Request) -> web.Response:
        try:
            exchange.arrange(Control.model_validate_json(await request.text()))
        except ValidationError as error:
            return web.Response(status=422, text=str(error))
        return web.json_response({})

    async def recall(request: web.Request) -> web.Response:
        model, title, text = (request.query.get(name) for name in ("model", "title", "text"))
        calls = [
            asdict(call)
            for call in exchange.calls
            if model in {None, call.model} and title in {None, call.title} and (text or "") in call.prompt
        ]
        return web.json_response({"calls": calls})

    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.add_routes(
        [
            web.post("/{version:v1|v1beta}/models/{model}:generateContent", gemini),
            web.post("/v1/chat/completions", openai),
            web.post("/compatible/v1/chat/completions", openai),
            web.post("/v1/responses", responses),
            web.post("/v1/messages", anthropic),
            web.post("/__control__", arrange),
            web.get("/__control__", recall),
            *routes(batches, _reset),
        ]
    )
    return application


def _bearer(request: web.Request) -> str:
    """The key in the authorization header."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


async def _serve(request: web.Request, exchange: Exchange, time: Time, asked: Asked) -> web.StreamResponse:
    """Answer one request as arranged."""
    behaviour, reply = exchange.meet(asked)
    match behaviour.kind:
        case "reset":
            return _reset(request)
        case "drip":
            return await _drip(request, reply, pause=behaviour.seconds)
    if behaviour.seconds:
        await time.hold(request.headers.get(CALL_HEADER), behaviour.seconds)
    while exchange.holds(behaviour.latch):  # noqa: ASYNC110 - a latch is opened from any thread
        await asyncio.sleep(LOOK_SECONDS)
    if behaviour.kind == "hang":
        return _reset(request)
    return web.Response(
        status=reply.status, body=reply.body, content_type=reply.content_type, charset="utf-8", headers=reply.headers
    )


def _reset(request: web.Request) -> web.Response:
    """Drop the connection without a word: with SO_LINGER at 0 the kernel sends RST."""
    if request.transport is not None:
        connection = request.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response(status=500)


async def _drip(request: web.Request, reply: Answer, *, pause: float) -> web.StreamResponse:
    """Send a good answer byte by byte, until whoever asked has had enough."""
    response = web.StreamResponse(headers={"content-type": reply.content_type})
    with contextlib.suppress(ConnectionError):
        await response.prepare(request)
        for byte in reply.body:
            await response.write(bytes([byte]))
            await asyncio.sleep(pause)
    return response


def main() -> None:
    """Serve until killed; the first line printed is the base URL."""
    parser = argparse.ArgumentParser(description="A judge on loopback that speaks three providers' wire formats.")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    with ProviderServer(port=parser.parse_args().port) as server:
        print(server.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
