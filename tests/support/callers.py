"""Who talks to a deployed API: the requests a caller makes, and what must come back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.waiting import eventually

CALL_SECONDS = 60.0
"""Longest wait for one reply: a cold start on a busy machine takes a few seconds, a hang is a failure."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Somebody with a token (None: without one), talking to the API."""

    http: httpx.Client
    tenant: str
    token: str | None

    def send(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        """One request, with the caller's token unless `headers` says otherwise."""
        own = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return self.http.request(method, path.lstrip("/"), headers={**own, **(headers or {})}, **options)

    def get(self, path: str, **options: Any) -> Any:
        """What a successful GET returns."""
        return said(self.send("GET", path, **options), 200)

    def verify(self, *, key: str | None = None, **request: Any) -> dict[str, Any]:
        """Verify an answer; the view that comes back."""
        return dict(said(self.send("POST", "v1/verifications", json=request, headers=_key(key)), 201))

    def solve(self, *, key: str | None = None, **request: Any) -> dict[str, Any]:
        """Start solving a problem; the view that comes back at once."""
        return dict(said(self.send("POST", "v1/solutions", json=request, headers=_key(key)), 202))

    def answer(self, answer_id: str) -> dict[str, Any]:
        """An answer as it is now."""
        return dict(self.get(f"v1/answers/{answer_id}"))

    def ended(self, answer_id: str, *, seconds: float = 90.0) -> dict[str, Any]:
        """An answer once it is finished or failed."""

        def look() -> dict[str, Any] | None:
            view = self.answer(answer_id)
            return view if view["stage"] in {"finished", "failed"} else None

        return eventually(look, what=f"the end of answer {answer_id}", seconds=seconds)

    def evaluated(self, answer_id: str, *, states: Sequence[str] = ("done", "failed"), seconds: float = 60.0) -> Any:
        """An answer once its deep evaluation is in one of `states`."""

        def look() -> dict[str, Any] | None:
            view = self.answer(answer_id)
            return view if view["evaluation"]["state"] in states else None

        return eventually(look, what=f"evaluation of {answer_id} {' or '.join(states)}", seconds=seconds)

    def batch_ended(self, *, seconds: float = 300.0) -> dict[str, Any]:
        """The caller's latest batch once it runs no more."""

        def look() -> dict[str, Any] | None:
            batches = self.get("v1/batches")["items"]
            return batches[0] if batches and batches[0]["state"] != "running" else None

        return eventually(look, what="the end of the batch", seconds=seconds, pause=0.5)

    def summaries(self) -> list[dict[str, Any]]:
        """All the caller's answers as they are listed, newest first, page by page."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = self.get("v1/answers", params={"limit": 100, **({"cursor": cursor} if cursor else {})})
            found += page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return found


def said(reply: httpx.Response, status: int) -> Any:
    """The JSON of a reply that must have this status."""
    assert reply.status_code == status, f"{reply.request.method} {reply.request.url.path}: {reply.text}"
    return reply.json()


def refusal(reply: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of a request that must be refused with this status."""
    assert reply.status_code == status, f"{reply.status_code}: {reply.text}"
    assert reply.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = reply.json()
    assert document["status"] == status
    assert document["type"].startswith("urn:touchstone:problem:")
    assert document["detail"]
    return document


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}
