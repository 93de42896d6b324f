"""The providers' SDKs by themselves on aiohttp: what a verification's own call costs without Touchstone around it.

Each is used as its documentation shows it, with typed replies, but with aiohttp below in place of its default
transport, which reaches a third of the limit. The question is the one that a verification asks.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.bench import judging
from touchstone.answers.verification import MAX_OUTPUT_TOKENS, VerifyReply
from touchstone.judges.adapters.schemas import reply_schema
from touchstone.judges.base import Prompt
from touchstone.judges.prompts import prompt_of

KEY = "bench"

type Call = Callable[[], Awaitable[object]]


def asked() -> Prompt:
    """What a verification asks."""
    asked_about = {"problem": judging.PROBLEM, "answer": judging.ANSWER, "steps": judging.STEPS}
    return prompt_of("touchstone.answers", "verify", "en", **asked_about, finding=None, expected=(), tolerance=None)


@asynccontextmanager
async def sdk(provider: str, model: str, base_url: str) -> AsyncIterator[Call]:
    """One call of a provider's SDK to the endpoint, on connections that stay open."""
    opened = {"openai": _openai, "claude": _claude, "gemini": _gemini}[provider]
    async with opened(model, base_url) as call:
        yield call


@asynccontextmanager
async def _openai(model: str, base_url: str) -> AsyncIterator[Call]:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    told = asked()
    schema: Any = {"name": "VerifyReply", "strict": True, "schema": reply_schema(VerifyReply)}
    async with DefaultAioHttpClient() as http:
        client = AsyncOpenAI(api_key=KEY, base_url=f"{base_url}/v1", http_client=http, max_retries=0)

        async def call() -> object:
            return await client.chat.completions.create(
                model=model,
                messages=[{"role": "system", "content": told.system}, {"role": "user", "content": told.user}],
                response_format={"type": "json_schema", "json_schema": schema},
                max_completion_tokens=MAX_OUTPUT_TOKENS,
            )

        yield call


@asynccontextmanager
async def _claude(model: str, base_url: str) -> AsyncIterator[Call]:
    from anthropic import AsyncAnthropic, DefaultAioHttpClient

    told = asked()
    form: Any = {"format": {"type": "json_schema", "schema": reply_schema(VerifyReply)}}
    async with DefaultAioHttpClient() as http:
        client = AsyncAnthropic(api_key=KEY, base_url=base_url, http_client=http, max_retries=0)

        async def call() -> object:
            return await client.messages.create(
                model=model,
                system=told.system,
                messages=[{"role": "user", "content": told.user}],
                output_config=form,
                max_tokens=MAX_OUTPUT_TOKENS,
            )

        yield call


@asynccontextmanager
async def _gemini(model: str, base_url: str) -> AsyncIterator[Call]:
    from google.genai import Client
    from google.genai.types import GenerateContentConfig, HttpOptions

    told = asked()
    # Its own session holds 100 connections at most, which would halve it at 200 in flight.
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        client = Client(api_key=KEY, vertexai=False, http_options=HttpOptions(base_url=base_url, aiohttp_client=http))
        config = GenerateContentConfig(
            system_instruction=told.system,
            response_mime_type="application/json",
            response_json_schema=dict(reply_schema(VerifyReply)),
            max_output_tokens=MAX_OUTPUT_TOKENS,
        )

        async def call() -> object:
            return await client.aio.models.generate_content(model=model, contents=told.user, config=config)

        yield call
