"""The providers' batch APIs on loopback: files, batches in made-up time, results, and what goes wrong with them.

Time passes by looks: a batch has ended when it was looked at as often as its plan says. Its lines are answered at its
creation, by the arrangements that answer single calls, without touching their quotas.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

from aiohttp import web

from tests.support.exchange import Exchange
from tests.support.wire import Asked, read_anthropic, read_gemini, read_openai
from tests.support.wire_turns import conversed, read_responses
from touchstone.clock import system_clock

type End = Literal["completed", "expired", "cancelled", "failed"]

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What becomes of a batch. Lines are meant by their number in the batch, from 0.

    `looks` is how often it is under way when it is looked at. Results come in the `order` of these numbers (None: the
    last one first). `swapped` are pairs of lines that stand under each other's id, `twice` lines that come twice,
    `missing` ones that do not come, `late` ones that the batch did not come to before it ended as `end` says.
    `hidden` is how often the list of batches does not show it yet. `lingers` is how often one that was cancelled is
    still under way when it is looked at: what it had done by then is not told before. `partial`: Gemini says of
    one that was completed that a part of it succeeded.
    """

    looks: int = 0
    end: End = "completed"
    order: tuple[int, ...] | None = None
    swapped: tuple[tuple[int, int], ...] = ()
    twice: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    hidden: int = 0
    lingers: int = 0
    partial: bool = False
    failure: str = "token_limit_exceeded"


@dataclass(slots=True, kw_only=True)
class Stored:
    """A batch at its provider. `results` are (line id, status, body or None where it was not come to).

    `gone` is one whose results are not kept any more, `unkept` one of which only their address tells that (Anthropic).
    `kept` is how long its results are to be kept, where that was asked for (OpenAI).
    """

    id: str
    provider: str
    name: str
    plan: Plan
    line_ids: tuple[str, ...]
    created: datetime
    results: list[tuple[str, int, Any]]
    looked: int = 0
    listed: int = 0
    cancelled: bool = False
    lingered: int = 0
    gone: bool = False
    unkept: bool = False
    kept: timedelta | None = None

    @property
    def ended(self) -> bool:
        """Whether it is not under way any more."""
        return self.lingered > self.plan.lingers if self.cancelled else self.looked > self.plan.looks

    @property
    def end(self) -> End:
        """How it ended."""
        return "cancelled" if self.cancelled else self.plan.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A create that is refused: before anything is done, or with `lost` done and its answer lost.

    `retry_after` is after how many seconds it may be repeated, None: that is not told.
    """

    status: int = 429
    retry_after: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    lost: bool = False


class BatchDesk:
    """The batches of all three providers. Plans and refusals are used up in order, one a create.

    `unknown` is how many of the next looks find no batch, and `results_late` how many of the next downloads find no
    results. `most_queued` is how many lines may wait in batches: a batch that has more of them, with those that are
    under way, fails (None: there is no bound).
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """No batches, and no plans for them."""
        self.stored: dict[str, Stored] = {}
        self.files: dict[str, bytes] = {}
        self.plans: deque[Plan] = deque()
        self.refusals: deque[Refusal | None] = deque()
        self.cancelled: list[str] = []
        self.uploads_refused = 0
        self.uploads_kept: list[timedelta] = []
        self.unknown = 0
        self.results_late = 0
        self.most_queued: int | None = None

    def plan(self, *plans: Plan) -> None:
        """What becomes of the next batches."""
        self.plans.extend(plans)

    def refuse(self, *refusals: Refusal | None) -> None:
        """Refuse the next creates; None: that one is taken."""
        self.refusals.extend(refusals)

    def refuse_uploads(self, times: int) -> None:
        """Refuse the next uploads, after all of them has come in."""
        self.uploads_refused = times

    def forget(self) -> None:
        """29 days pass: no results are kept any more."""
        for batch in self.stored.values():
            batch.gone = True
        self.files.clear()

    def create(self, provider: str, name: str, lines: list[tuple[str, Asked]]) -> Stored | web.Response:
        """A batch of these lines, answered."""
        refusal = self.refusals.popleft() if self.refusals else None
        if refusal is not None and not refusal.lost:
            later = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
            return web.json_response(refusal.body, status=refusal.status, headers=later)
        plan = self.plans.popleft() if self.plans else Plan()
        queued = len(lines) + sum(len(batch.line_ids) for batch in self.stored.values() if not batch.ended)
        if self.most_queued is not None and queued > self.most_queued:
            plan = replace(plan, end="failed", looks=0)
        results: list[tuple[str, int, Any]] = []
        for number, (line_id, asked) in enumerate(lines):
            if number in plan.late or plan.end == "failed":
                results.append((line_id, 0, None))
                continue
            _, reply = self._exchange.meet(asked, by_batch=True)
            results.append((line_id, reply.status, json.loads(reply.body)))
        with self._lock:
            number = len(self.stored)
            batch = Stored(
                id=f"batch_{number}" if provider != "gemini" else f"batches/b{number}",
                provider=provider,
                name=name,
                plan=plan,
                line_ids=tuple(line_id for line_id, _ in lines),
                created=system_clock().replace(microsecond=0),
                results=results,
            )
            self.stored[batch.id] = batch
        return web.Response(status=599) if refusal is not None else batch

    def look(self, batch_id: str) -> Stored | None:
        """A batch, looked at once more."""
        if self.unknown > 0:
            self.unknown -= 1
            return None
        batch = self.stored.get(batch_id)
        if batch is not None:
            batch.looked += 1
            batch.lingered += batch.cancelled
        return batch

    def cancel(self, batch_id: str) -> Stored:
        """A batch that has ended here and now, unless it lingers."""
        self.cancelled.append(batch_id)
        batch = self.stored[batch_id]
        if not batch.ended and not batch.cancelled:
            batch.cancelled = True
            batch.lingered = 1
        return batch

    def keep(self, data: bytes) -> str:
        """The id of a new file."""
        if self.uploads_refused > 0:
            self.uploads_refused -= 1
            busy = json.dumps({"error": {"code": 503, "message": "Try again"}})
            raise web.HTTPServiceUnavailable(text=busy, content_type="application/json")
        with self._lock:
            name = f"file-{len(self.files)}-{len(self.stored)}"
            self.files[name] = data
        return name

    def late(self) -> bool:
        """Whether a download finds no results although they are kept."""
        late = self.results_late > 0
        self.results_late -= late
        return late

    def of(self, provider: str) -> list[Stored]:
        """The batches of a provider, that its list shows, newest first, each looked at once more."""
        found = [batch for batch in reversed(self.stored.values()) if batch.provider == provider]
        for batch in found:
            batch.looked += 1
            batch.listed += 1
        return [batch for batch in found if batch.listed > batch.plan.hidden]


def results_of(batch: Stored) -> Iterator[tuple[str, int, Any]]:
    """The results as they are told: in another order, under another's id, twice, or not at all."""
    told = list(batch.results)
    for one, other in batch.plan.swapped:
        first, second = told[one], told[other]
        told[one], told[other] = (first[0], *second[1:]), (second[0], *first[1:])
    order = batch.plan.order
    for number in range(len(told) - 1, -1, -1) if order is None else order:
        if number not in batch.plan.missing:
            for _ in range(2 if number in batch.plan.twice else 1):
                yield told[number]


def _lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def routes(desk: BatchDesk, reset: Callable[[web.Request], web.Response]) -> list[web.RouteDef]:
    """What the three APIs answer to. `reset` drops a connection."""
    gemini = _gemini(desk, reset)
    shared = {(route.method, route.path.replace("{version:v1|v1beta}", "v1")): route.handler for route in gemini}
    openai = [
        web.route(route.method, route.path, _by_key(route.handler, shared.get((route.method, route.path))))
        for route in _openai(desk, reset)
    ]
    return [*openai, *_anthropic(desk, reset), *gemini]


def _by_key(openai: Any, gemini: Any) -> Any:
    """Who answers an address that OpenAI and Gemini share here: whose key came with the request."""

    async def either(request: web.Request) -> web.StreamResponse:
        answered: web.StreamResponse = await (
            gemini(request) if gemini is not None and "x-goog-api-key" in request.headers else openai(request)
        )
        return answered

    return either


def _created(
    made: Stored | web.Response, shown: Callable[[Stored], dict[str, Any]], request: web.Request, reset: Any
) -> web.Response:
    if isinstance(made, Stored):
        return web.json_response(shown(made))
    return reset(request) if made.status == 599 else made


def _openai_batch(desk: BatchDesk, batch: Stored) -> dict[str, Any]:
    status = batch.end if batch.ended else "in_progress"
    body: dict[str, Any] = {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "input_file_id": "file-in",
        "created_at": int(batch.created.timestamp()),
        "expires_at": int((batch.created + DAY).timestamp()),
        "status": status,
        "metadata": {"touchstone_intent": batch.name},
        "request_counts": {"total": len(batch.line_ids), "completed": 0, "failed": 0},
    }
    if batch.ended and status == "failed":
        body["errors"] = {"data": [{"code": batch.plan.failure, "message": "Enqueued token limit reached"}]}
    if batch.ended and status != "failed":
        good: list[Any] = []
        bad: list[Any] = []
        for line_id, code, value in results_of(batch):
            if value is None:
                error = {"code": f"batch_{batch.end}", "message": "This request was not done in time."}
                bad.append({"id": "r", "custom_id": line_id, "response": None, "error": error})
                continue
            row: dict[str, Any] = {"id": "r", "custom_id": line_id, "error": None}
            row["response"] = {"status_code": code, "request_id": "req", "body": value}
            (good if code == 200 else bad).append(row)
        for name, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                body[name] = f"{batch.id}-{name}"
                if not batch.gone:
                    desk.files[body[name]] = _lines(rows)
    return body


def _openai(desk: BatchDesk, reset: Any) -> list[web.RouteDef]:
    async def upload(request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        desk.uploads_kept.append(timedelta(seconds=int(str(form["expires_after[seconds]"]))))
        name = desk.keep(form["file"].file.read())  # type: ignore[union-attr]
        file = {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"}
        return web.json_response(file | {"status": "processed"})

    async def create(request: web.Request) -> web.Response:
        asked = await request.json()
        rows = [json.loads(line) for line in desk.files[asked["input_file_id"]].splitlines()]
        assert len({row["body"]["model"] for row in rows}) == 1, "OpenAI takes one model a file"
        key = request.headers["authorization"].removeprefix("Bearer ")
        assert {row["url"] for row in rows} == {asked["endpoint"]}, "a batch has one address"
        turns = asked["endpoint"] == "/v1/responses"
        lines = [
            (row["custom_id"], read_responses(key, row["body"]) if turns else read_openai("openai", key, row["body"]))
            for row in rows
        ]
        made = desk.create("openai", asked["metadata"]["touchstone_intent"], lines)
        if isinstance(made, Stored):
            made.kept = timedelta(seconds=asked["output_expires_after"]["seconds"])
        return _created(made, partial(_openai_batch, desk), request, reset)

    async def look(request: web.Request) -> web.Response:
        batch = desk.look(request.match_info["id"])
        return (
            web.json_response({"error": {"message": "No such batch"}}, status=404)
            if batch is None
            else (web.json_response(_openai_batch(desk, batch)))
        )

    async def every(_: web.Request) -> web.Response:
        data = [_openai_batch(desk, batch) for batch in desk.of("openai")]
        return web.json_response({"object": "list", "data": data, "has_more": False})

    async def cancel(request: web.Request) -> web.Response:
        return web.json_response(_openai_batch(desk, desk.cancel(request.match_info["id"])))

    async def content(request: web.Request) -> web.Response:
        data = None if desk.late() else desk.files.get(request.match_info["id"])
        if data is None:
            return web.json_response({"error": {"message": "No such File object", "code": None}}, status=404)
        return web.Response(body=data)

    return [
        web.post("/v1/files", upload),
        web.post("/v1/batches", create),
        web.get("/v1/batches", every),
        web.get("/v1/batches/{id}", look),
        web.post("/v1/batches/{id}/cancel", cancel),
        web.get("/v1/files/{id}/content", content),
    ]


_COUNTS = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}


def _anthropic_batch(batch: Stored, base: str) -> dict[str, Any]:
    results = f"{base}/v1/messages/batches/{batch.id}/results" if batch.ended and not batch.gone else None
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.ended else "in_progress",
        "request_counts": _COUNTS | ({} if batch.ended else {"processing": len(batch.line_ids)}),
        "created_at": batch.created.isoformat(),
        "expires_at": (batch.created + DAY).isoformat(),
        "ended_at": batch.created.isoformat() if batch.ended else None,
        "archived_at": batch.created.isoformat() if batch.gone else None,
        "cancel_initiated_at": None,
        "results_url": results,
    }


def _base(request: web.Request) -> str:
    return f"{request.scheme}://{request.host}"


def _anthropic_rows(batch: Stored) -> list[Any]:
    rows: list[Any] = []
    for line_id, code, value in results_of(batch):
        if value is None:
            result: Any = {"type": {"cancelled": "canceled"}.get(batch.end, batch.end)}
        elif code == 200:
            result = {"type": "succeeded", "message": value}
        else:
            result = {"type": "errored", "error": value}
        rows.append({"custom_id": line_id, "result": result})
    return rows


def _anthropic(desk: BatchDesk, reset: Any) -> list[web.RouteDef]:
    async def create(request: web.Request) -> web.Response:
        rows = (await request.json())["requests"]
        refused = next((row for row in rows if "extra_body" in row["params"]), None)
        if refused is not None:
            error = {"type": "invalid_request_error", "message": "requests.0.params.extra_body: Extra inputs"}
            return web.json_response({"type": "error", "error": error}, status=400)
        key = request.headers.get("x-api-key") or request.headers["authorization"]
        lines = [(row["custom_id"], conversed(read_anthropic(key, row["params"]), row["params"])) for row in rows]
        made = desk.create("anthropic", "", lines)
        return _created(made, lambda batch: _anthropic_batch(batch, _base(request)), request, reset)

    async def look(request: web.Request) -> web.Response:
        batch = desk.look(request.match_info["id"])
        if batch is None:
            error = {"type": "not_found_error", "message": "No such batch"}
            return web.json_response({"type": "error", "error": error}, status=404)
        return web.json_response(_anthropic_batch(batch, _base(request)))

    async def every(request: web.Request) -> web.Response:
        data = [_anthropic_batch(batch, _base(request)) for batch in desk.of("anthropic")]
        return web.json_response({"data": data, "has_more": False, "first_id": None, "last_id": None})

    async def cancel(request: web.Request) -> web.Response:
        return web.json_response(_anthropic_batch(desk.cancel(request.match_info["id"]), _base(request)))

    async def results(request: web.Request) -> web.Response:
        batch = desk.stored[request.match_info["id"]]
        if batch.unkept or desk.late():
            error = {"type": "not_found_error", "message": "No results"}
            return web.json_response({"type": "error", "error": error}, status=404)
        return web.Response(body=_lines(_anthropic_rows(batch)), content_type="application/x-jsonl")

    return [
        web.post("/v1/messages/batches", create),
        web.get("/v1/messages/batches", every),
        web.get("/v1/messages/batches/{id}", look),
        web.post("/v1/messages/batches/{id}/cancel", cancel),
        web.get("/v1/messages/batches/{id}/results", results),
    ]


_STATES = {"completed": "SUCCEEDED", "expired": "EXPIRED", "cancelled": "CANCELLED", "failed": "FAILED"}


def _gemini_batch(desk: BatchDesk, batch: Stored) -> dict[str, Any]:
    state = _STATES[batch.end] if batch.ended else "RUNNING"
    if batch.ended and batch.plan.partial:
        state = f"PARTIALLY_{state}"
    metadata: dict[str, Any] = {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        "displayName": batch.name,
        "state": f"BATCH_STATE_{state}",
        "createTime": batch.created.isoformat(),
        "name": batch.id,
    }
    if batch.ended and batch.end != "failed":
        rows: list[Any] = []
        for line_id, code, value in results_of(batch):
            if value is not None:
                part = {"response": value} if code == 200 else {"error": value["error"]}
                rows.append({"key": line_id, **part})
        file = f"files/{batch.id.replace('/', '-')}"
        if not batch.gone:
            desk.files[file] = _lines(rows)
        metadata["output"] = {"responsesFile": file}
    return {"name": batch.id, "metadata": metadata, "done": batch.ended}


def _gemini(desk: BatchDesk, reset: Any) -> list[web.RouteDef]:
    async def begin(request: web.Request) -> web.Response:
        address = f"{request.scheme}://{request.host}/upload/v1beta/files?upload_id=u"
        return web.json_response({}, headers={"X-Goog-Upload-URL": address, "X-Goog-Upload-Status": "active"})

    async def upload(request: web.Request) -> web.Response:
        if request.headers["X-Goog-Upload-Command"] == "start":
            return await begin(request)
        name = f"files/{desk.keep(await request.read())}"
        desk.files[name] = desk.files.pop(name.removeprefix("files/"))
        return web.json_response({"file": {"name": name}}, headers={"X-Goog-Upload-Status": "final"})

    async def create(request: web.Request) -> web.Response:
        asked = (await request.json())["batch"]
        rows = [json.loads(line) for line in desk.files[asked["inputConfig"]["fileName"]].splitlines()]
        key, model = request.headers["x-goog-api-key"], request.match_info["model"]
        if any(isinstance(row["request"].get("systemInstruction"), list) for row in rows):
            error = {"code": 400, "message": "Invalid value at 'system_instruction'", "status": "INVALID_ARGUMENT"}
            return web.json_response({"error": error}, status=400)
        lines = [(row["key"], conversed(read_gemini(model, key, row["request"]), row["request"])) for row in rows]
        return _created(
            desk.create("gemini", asked["displayName"], lines), partial(_gemini_batch, desk), request, reset
        )

    async def look(request: web.Request) -> web.Response:
        batch = desk.look(f"batches/{request.match_info['id']}")
        if batch is None:
            error = {"code": 404, "message": "not found", "status": "NOT_FOUND"}
            return web.json_response({"error": error}, status=404)
        return web.json_response(_gemini_batch(desk, batch))

    async def every(_: web.Request) -> web.Response:
        return web.json_response({"operations": [_gemini_batch(desk, batch) for batch in desk.of("gemini")]})

    async def cancel(request: web.Request) -> web.Response:
        desk.cancel(f"batches/{request.match_info['id']}")
        return web.json_response({})

    async def download(request: web.Request) -> web.Response:
        data = None if desk.late() else desk.files.get(f"files/{request.match_info['id']}")
        if data is None:
            error = {
                "code": 403,
                "message": "You do not have permission to access the File",
                "status": "PERMISSION_DENIED",
            }
            return web.json_response({"error": error}, status=403)
        return web.Response(body=data)

    version = "{version:v1|v1beta}"
    return [
        web.post(f"/upload/{version}/files", upload),
        web.post(f"/{version}/models/{{model}}:batchGenerateContent", create),
        web.get(f"/{version}/batches", every),
        web.get(f"/{version}/batches/{{id}}", look),
        web.post(f"/{version}/batches/{{id}}:cancel", cancel),
        web.get(f"/{version}/files/{{id}}:download", download),
        web.get(f"/download/{version}/files/{{id}}:download", download),
    ]
