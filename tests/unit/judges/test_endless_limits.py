"""A provider's number of requests may have any number of digits: its error is told as the quota's, never as ours."""

import json

import pytest

from touchstone.errors import DayQuotaError, MinuteQuotaError
from touchstone.judges.adapters.failures import anthropic, gemini, openai
from touchstone.judges.adapters.replies import Response

ENDLESS = "1" * 5_000


def test_gemini_names_an_endless_limit() -> None:
    violation = {"quotaId": "GenerateRequestsPerDay", "quotaValue": ENDLESS}
    body = json.dumps({"error": {"details": [{"violations": [violation]}]}})
    error = gemini("m", Response(status=429, headers={}, body=body))
    assert isinstance(error, DayQuotaError)
    assert error.limit is None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_header_names_an_endless_limit(provider: str) -> None:
    prefix = "x-ratelimit" if provider == "openai" else "anthropic-ratelimit"
    names = (f"{prefix}-remaining-requests", f"{prefix}-limit-requests")
    if provider == "anthropic":
        names = (f"{prefix}-requests-remaining", f"{prefix}-requests-limit")
    answer = Response(status=429, headers=dict(zip(names, ("0", ENDLESS), strict=True)), body="{}")
    error = openai("openai", "m", answer) if provider == "openai" else anthropic("m", answer)
    assert isinstance(error, MinuteQuotaError)
    assert error.limit is None
