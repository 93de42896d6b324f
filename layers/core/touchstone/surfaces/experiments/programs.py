"""Commands and endpoints that make the items of a variant, on the machine of the person who runs the experiment.

The material that they make is kept like a judge's reply, so that nothing is made twice. Their output is bounded. It is
shown only if they failed: the end of it, in the sentence that says so. A command is run without a shell, in a group of
processes of its own, all of which are ended with it. Its environment has no keys of judges' providers and no
credentials of AWS, and no sentence quotes these.
"""

import asyncio
import hashlib
import json
import os
import signal
import time
from collections.abc import Mapping, Set
from contextlib import suppress
from typing import Any, Literal

from pydantic import ValidationError

from touchstone.errors import InputError, LimitError
from touchstone.extras import require_module
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.fence import visible
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend
from touchstone.judges.tracing import without_keys
from touchstone.material import Deck, Quiz, Summary
from touchstone.material.parts import numbered
from touchstone.surfaces.catalogue import Material
from touchstone.surfaces.experiments.generation import Failure, GeneratedPiece, NotMade, fault_sentences, not_made
from touchstone.surfaces.experiments.makers import CommandMaker, EndpointMaker, called
from touchstone.surfaces.experiments.making import MOST_FAULTS, MakerOrder, version_of
from touchstone.surfaces.experiments.recording import Records
from touchstone.surfaces.names import Surface
from touchstone.text.language import Language

MAX_OUTPUT_BYTES = 4_000_000
"""Most bytes of a maker's answer. A quiz of 40 questions of the longest texts has fewer."""
MAX_SHOWN_CHARS = 300
"""Most characters shown of a failed command's error output."""
MAX_SAID_BYTES = 65_536
"""Most bytes kept of a command's standard error: its end."""
DRAIN_SECONDS = 1.0
"""How long a command's output is still read after the command has ended: children that it left behind may write
some."""
AWS_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
)
"""The environment variables that hold credentials of AWS."""
TOKEN_VARIABLE = "TOUCHSTONE_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable that holds a token of a deployment."""


class _FailedError(Exception):
    """The error of a maker that brought nothing: `reason`, and a sentence.

    `begun` False: it never ran and costs nothing.
    """

    def __init__(self, sentence: str, *, reason: NotMade = "maker_failed", begun: bool = True) -> None:
        super().__init__(sentence)
        self.reason: NotMade = reason
        self.begun = begun


class LocalPrograms:
    """Runs commands and asks endpoints. The material and its cost go into the records of the experiment."""

    def __init__(self, records: Records, registry: Registry) -> None:
        """`registry` says which environment variables hold keys."""
        self._records = records
        keys = {name for provider in registry.providers.values() for name in provider.key_variables}
        self._hidden = frozenset(keys).union(AWS_VARIABLES, (TOKEN_VARIABLE,))

    async def make(self, maker: CommandMaker | EndpointMaker, order: MakerOrder, language: Language) -> GeneratedPiece:
        """The piece that a command or an endpoint makes, or the reason why it made none."""
        key = _address(maker, order)
        async with self._records.turn(key):
            if (known := await self._records.known(key)) is not None:
                return _piece(known, maker, order.surface, _spend(maker, order, 0.0, cached=True))
            try:
                async with self._records.ledger.hold(maker.cost_usd or 0.0):
                    return await self._made(key, maker, order, language)
            except LimitError as error:
                return not_made(Failure(reason=unanswered_reason(error), details=(str(error),)))

    async def _made(
        self, key: str, maker: CommandMaker | EndpointMaker, order: MakerOrder, language: Language
    ) -> GeneratedPiece:
        began = time.monotonic()
        try:
            if isinstance(maker, CommandMaker):
                text = _text(await _run(maker, order, self._hidden))
            else:
                text = _text(await _ask(maker, order, language))
            piece = _piece(text, maker, order.surface, _spend(maker, order, time.monotonic() - began))
        except _FailedError as error:
            spends = (_spend(maker, order, time.monotonic() - began),) if error.begun else ()
            piece = not_made(Failure(reason=error.reason, details=(str(error),)), spends)
        except asyncio.CancelledError:
            self._records.note_cut_off(maker.cost_usd or 0.0)
            raise
        if piece.failure is None:
            await self._records.keep(piece.spends, reply=(key, text))
            return piece
        await self._records.keep(piece.spends)
        details = tuple(_without_keys(one, self._hidden) for one in piece.failure.details)
        return not_made(Failure(reason=piece.failure.reason, details=details), piece.spends)


def _piece(text: str, maker: CommandMaker | EndpointMaker, surface: Surface, spend: Spend) -> GeneratedPiece:
    """The piece in a maker's answer, or the reason why it is none."""
    try:
        return GeneratedPiece(material=_material(text, maker, surface), failure=None, spends=(spend,))
    except ValidationError as error:
        return not_made(Failure(reason="invalid_reply", details=fault_sentences(error)[:MOST_FAULTS]), (spend,))
    except InputError as error:
        return not_made(Failure(reason="invalid_reply", details=(str(error),)), (spend,))


_TYPES: Mapping[Surface, tuple[type[Quiz] | type[Summary] | type[Deck], str]] = {
    "quiz": (Quiz, "questions"),
    "flashcards": (Deck, "cards"),
    "summary": (Summary, "text"),
}


def _material(text: str, maker: CommandMaker | EndpointMaker, surface: Surface) -> Material:
    """The material: a JSON object with the field of its surface.

    Raises `InputError` or `ValidationError` if it is none.

    A command may write only the list of that field, or a summary as plain text. `null`, and an object without the
    field, are not taken for the text of a summary: they say that something failed.
    """
    kind, field = _TYPES[surface]
    by_command = isinstance(maker, CommandMaker)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    if by_command and surface == "summary" and not (found is None or isinstance(found, dict)):
        return Summary(text=text)
    fields: Any = {field: found} if by_command and isinstance(found, list) else found
    if not isinstance(fields, dict) or field not in fields:
        raise InputError(f"What was made is no JSON object with {field}.")
    parts = fields[field]
    return kind.model_validate({**fields, field: numbered(parts)} if isinstance(parts, list) else fields)


def _text(answer: bytes) -> str:
    try:
        return answer.decode("utf-8")
    except UnicodeDecodeError:
        raise _FailedError("What was made is no UTF-8 text.", reason="invalid_reply") from None


def _address(maker: CommandMaker | EndpointMaker, order: MakerOrder) -> str:
    told = [order.purpose, version_of(maker), order.surface, order.pair.item, order.passages.text]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _spend(maker: CommandMaker | EndpointMaker, order: MakerOrder, seconds: float, *, cached: bool = False) -> Spend:
    return Spend(
        purpose=order.purpose,
        provider=maker.kind,
        model=called(maker),
        prompt_version=version_of(maker),
        cost_usd=0.0 if cached else maker.cost_usd,
        latency_ms=seconds * 1000,
        cached=cached,
    )


class _Running(asyncio.SubprocessProtocol):
    """A running command: its output so far, and whether it has ended.

    `over` is set when its own process has ended, or when it has written more than it may (`too_long`). Children that it
    left behind may hold its pipes longer: `drained` is set when nobody holds them, or when it is `too_long`. `closed`
    is set when process and pipes are gone.
    """

    def __init__(self) -> None:
        self.answer = bytearray()
        self.said = b""
        self.too_long = False
        self.over, self.drained, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._held = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep the output, and the end of the error output."""
        if fd != 1:
            self.said = (self.said + data)[-MAX_SAID_BYTES:]
        elif not self.too_long:
            self.answer += data
            if len(self.answer) > MAX_OUTPUT_BYTES:
                self.too_long = True
                self.over.set()
                self.drained.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        """Note that a pipe is no longer held."""
        self._held.discard(fd)
        if not self._held:
            self.drained.set()

    def process_exited(self) -> None:
        """Note that the command's own process has ended."""
        self.over.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        """Note that the process and its pipes are gone."""
        self.closed.set()


async def _run(maker: CommandMaker, order: MakerOrder, hidden: Set[str]) -> bytes:
    """The standard output of a command, which is not given the `hidden` variables. Raises `_FailedError`."""
    name = called(maker)
    try:
        process, running = await asyncio.get_running_loop().subprocess_exec(
            _Running,
            *maker.command,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name not in hidden},
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise _FailedError(f"{name} could not be started: {why}.", begun=False) from None
    try:
        async with asyncio.timeout(maker.seconds):
            _tell(process, order.passages.text)
            await running.over.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await running.drained.wait()
    except TimeoutError:
        raise _FailedError(f"{name} did not end within {maker.seconds:g} seconds.", reason="timed_out") from None
    finally:
        await _end(process, running)
    if running.too_long:
        raise _FailedError(f"{name} wrote more than {MAX_OUTPUT_BYTES:,} bytes; a piece of material is shorter.")
    if code := process.get_returncode():
        ended = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise _FailedError(f"{name} failed with {ended}{_quoted(running.said, hidden)}.")
    return bytes(running.answer)


def _tell(process: asyncio.SubprocessTransport, text: str) -> None:
    """Send the source to the command while it runs. A command need not read all of it."""
    stdin = process.get_pipe_transport(0)
    if isinstance(stdin, asyncio.WriteTransport):
        stdin.write(text.encode(errors="replace"))
        stdin.close()


async def _end(process: asyncio.SubprocessTransport, running: _Running) -> None:
    """End a command and its group of processes, and let go of its pipes even if other processes hold them."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.get_pid(), signal.SIGKILL)
    stdin = process.get_pipe_transport(0)
    if isinstance(stdin, asyncio.WriteTransport) and stdin.get_write_buffer_size():
        stdin.abort()  # closing it would wait until the rest is read
    process.close()
    with suppress(asyncio.CancelledError):
        await running.closed.wait()


def _quoted(said: bytes, hidden: Set[str]) -> str:
    shown = _without_keys(" ".join(visible(said.decode(errors="replace")).split()), hidden)
    return f": {shown[-MAX_SHOWN_CHARS:]}" if shown else ""


def _without_keys(sentence: str, hidden: Set[str]) -> str:
    """A sentence that may quote a maker, without the values of the `hidden` variables."""
    return without_keys((os.environ.get(name, "").strip() for name in hidden), sentence)


async def _ask(maker: EndpointMaker, order: MakerOrder, language: Language) -> bytes:
    """The body of an endpoint's answer. Raises `_FailedError`."""
    require_module("httpx2", of="judges")
    import httpx2

    name = called(maker)
    body = {
        "source": order.passages.text,
        "source_id": order.passages.id,
        "language": language,
        "item": order.pair.item,
        "surface": order.surface,
    }
    try:
        # No proxy and no password of the environment: the endpoint of an experiment gets nothing but the source.
        async with (
            asyncio.timeout(maker.seconds),
            httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=None) as client,
            client.stream("POST", maker.endpoint, json=body, headers={"Accept-Encoding": "identity"}) as response,
        ):
            if response.status_code != _OK:
                raise _FailedError(f"{name} answered with status {response.status_code}.")
            parts: list[bytes] = []
            size = 0
            async for part in response.aiter_raw():
                size += len(part)
                if size > MAX_OUTPUT_BYTES:
                    raise _FailedError(f"{name} answered with more than {MAX_OUTPUT_BYTES:,} bytes.")
                parts.append(part)
            return b"".join(parts)
    except TimeoutError:
        raise _FailedError(f"{name} did not answer within {maker.seconds:g} seconds.", reason="timed_out") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        begun = not isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.InvalidURL)
        raise _FailedError(f"{name} could not be asked ({type(error).__name__}).", begun=begun) from None


_OK: Literal[200] = 200
