"""Questions to put to an adapter in tests, and the adapters of all providers on one loopback server."""

import json
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tests.support.providers import ProviderServer
from touchstone.judges.adapters import Adapter
from touchstone.judges.adapters.replies import Response
from touchstone.judges.anthropic import AnthropicAdapter
from touchstone.judges.base import Image, JudgeQuestion, Prompt
from touchstone.judges.gemini import GeminiAdapter
from touchstone.judges.openai import OpenAIAdapter

KEY = "sk-Canary-0123456789"
"""A key that must appear in the authorization header and nowhere else."""
SECRET = "the-prompt-canary"
"""A text of the prompt that must not appear in any error."""
PICTURE = Image(media_type="image/png", data=b"\x89PNG\r\n\x1a\n")
PROVIDERS = ("gemini", "openai", "anthropic", "compatible")


class Verdict(BaseModel):
    """A reply such as a judge gives."""

    model_config = ConfigDict(extra="forbid")

    passed: bool
    confidence: float = Field(ge=0, le=1)


def question(**changes: Any) -> JudgeQuestion[Verdict]:
    """A question with a system text and a user text."""
    prompt = Prompt(name="verify", version="0123456789abcdef", system="Grade it.", user=f"2 + 2 = 4 {SECRET}")
    return replace(JudgeQuestion(prompt=prompt, reply_type=Verdict), **changes)


def adapter(provider: str, server: ProviderServer, *, key: str = KEY) -> Adapter:
    """The adapter of a provider, led to the server."""
    match provider:
        case "gemini":
            return GeminiAdapter(api_key=key, base_url=server.base_url)
        case "anthropic":
            return AnthropicAdapter(api_key=key, base_url=server.base_url)
        case "openai":
            return OpenAIAdapter(api_key=key, base_url=server.openai_url)
        case _:
            return OpenAIAdapter(api_key=key, base_url=server.compatible_url, provider="compatible", compatible=True)


def response(body: Any) -> Response:
    """A response of status 200 with this body."""
    return Response(status=200, headers={}, body=json.dumps(body))


def adapter_at(provider: str, base_url: str, key: str = KEY) -> Adapter:
    """A provider's adapter for this base URL."""
    match provider:
        case "gemini":
            return GeminiAdapter(api_key=key, base_url=base_url)
        case "anthropic":
            return AnthropicAdapter(api_key=key, base_url=base_url)
        case _:
            return OpenAIAdapter(api_key=key, base_url=base_url, provider=provider, compatible=provider != "openai")
