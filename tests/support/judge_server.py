"""The judge that a deployed stack asks: a server on loopback that says what a test arranges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.callers import CALL_SECONDS


@dataclass(frozen=True, kw_only=True)
class JudgeServer:
    """The judge on loopback, arranged and read back through its control endpoint."""

    url: str

    def arrange(self, **control: Any) -> None:
        """Send a control message: `script`, `rules`, `quotas`, `fallback`, `new_day`, `reset`."""
        httpx.post(f"{self.url}/__control__", json=control, timeout=CALL_SECONDS).raise_for_status()

    def rule(self, behaviour: Mapping[str, Any], **fits: Any) -> None:
        """Answer the requests that fit so from now on; the newest rule that fits decides."""
        self.arrange(rules=[{"behaviour": dict(behaviour), **fits}])

    def reply(self, title: str, value: Any, **fits: Any) -> None:
        """Answer the questions for this reply with `value` from now on."""
        self.rule({"value": value}, schema_title=title, **fits)

    def calls(self, *, model: str | None = None, title: str | None = None, text: str = "") -> list[dict[str, Any]]:
        """The requests that arrived, in order: of this model, for this reply, with this text in their prompt."""
        wanted = {name: value for name, value in {"model": model, "title": title, "text": text}.items() if value}
        reply = httpx.get(f"{self.url}/__control__", params=wanted, timeout=CALL_SECONDS)
        return list(reply.raise_for_status().json()["calls"])
