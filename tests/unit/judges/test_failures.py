"""Providers' error bodies as they come over the wire, read into the taxonomy."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnavailableModelError,
)
from touchstone.judges.adapters import advice, failures
from touchstone.judges.adapters.replies import Response

_DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


def _response(status: int, body: Any = None, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, headers=named, body=json.dumps(body))


def _quota(*violations: dict[str, str], delay: str | None = None) -> dict[str, Any]:
    details: list[dict[str, Any]] = [{"violations": list(violations)}]
    if delay is not None:
        details.append({"retryDelay": delay})
    return {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "…", "details": details}}


_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"
_TOKENS = "GenerateContentPaidTierInputTokensPerModelPerMinute"
_DAY_TOKENS = "GenerateContentInputTokensPerModelPerDay-FreeTier"

_GEMINI_QUOTAS = [
    pytest.param(_quota({"quotaId": _DAY, "quotaValue": "20"}, delay="37s"), DayQuotaError, 20, 37.0, id="day"),
    pytest.param(_quota({"quotaId": _MINUTE, "quotaValue": "15"}, delay="8.25s"), MinuteQuotaError, 15, 8.25, id="min"),
    pytest.param(
        _quota({"quotaId": _TOKENS}, {"quotaId": _MINUTE, "quotaValue": "0"}, {"quotaId": _DAY, "quotaValue": "0"}),
        DayQuotaError,
        0,
        None,
        id="a model outside the plan",
    ),
    pytest.param(_quota({"quotaId": _TOKENS, "quotaValue": "250000"}), MinuteQuotaError, None, None, id="tokens"),
    pytest.param(_quota({"quotaId": _DAY_TOKENS, "quotaValue": "9"}), DayQuotaError, None, None, id="tokens a day"),
    pytest.param(_quota({"quotaId": _DAY, "quotaValue": "many"}), DayQuotaError, None, None, id="no number"),
    pytest.param(_quota(delay="soon"), MinuteQuotaError, None, None, id="unknown"),
    pytest.param({"error": {"code": 429}}, MinuteQuotaError, None, None, id="bare"),
    pytest.param([{"error": {"details": [{"violations": [{"quotaId": _DAY}]}]}}], DayQuotaError, None, None, id="list"),
    pytest.param({"error": {"details": [7, {"violations": "x"}]}}, MinuteQuotaError, None, None, id="nonsense"),
]


@pytest.mark.parametrize(("body", "expected", "limit", "after"), _GEMINI_QUOTAS)
def test_gemini_names_the_quota_by_its_id(
    body: Any, expected: type[JudgeError], limit: int | None, after: float | None
) -> None:
    failure = failures.gemini("gemini-x", _response(429, body))
    assert type(failure) is expected
    assert isinstance(failure, DayQuotaError | MinuteQuotaError)
    assert (failure.limit, failure.retry_after) == (limit, after)


def test_gemini_says_400_for_a_wrong_key() -> None:
    body = {"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}
    failure = failures.gemini("gemini-x", _response(400, body))
    assert type(failure) is UnavailableModelError
    assert "API key" in str(failure)


_LIMITED = {"error": {"type": "requests", "code": "rate_limit_exceeded", "message": "…"}}


def _openai_bucket(reset: str, **more: str) -> Response:
    headers = {"x_ratelimit_limit_requests": "200", "x_ratelimit_remaining_requests": "0"}
    return _response(429, _LIMITED, x_ratelimit_reset_requests=reset, **(headers | more))


def test_openai_tells_a_day_by_how_long_its_bucket_takes_to_fill() -> None:
    day = failures.openai("OpenAI", "gpt", _openai_bucket("7m12s", retry_after="432"))
    assert isinstance(day, DayQuotaError)
    assert (day.limit, day.retry_after) == (200, 432.0)
    minute = failures.openai("OpenAI", "gpt", _openai_bucket("59.9s", retry_after_ms="300"))
    assert isinstance(minute, MinuteQuotaError)
    assert (minute.limit, minute.retry_after) == (200, 0.3)


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (429, "insufficient_quota", DayQuotaError),
        (429, "billing_not_active", DayQuotaError),
        (400, "billing_hard_limit_reached", DayQuotaError),
        (400, "content_filter", RefusedError),
        (403, "model_not_found", UnavailableModelError),
        (403, "unsupported_country_region_territory", UnavailableModelError),
        (400, "unsupported_parameter", MisconfiguredError),
        (503, "slow_down", OverloadedError),
    ],
)
def test_openai_is_read_by_its_code(status: int, code: str, expected: type[JudgeError]) -> None:
    assert type(failures.openai("OpenAI", "gpt", _response(status, {"error": {"code": code}}))) is expected


def test_a_gateways_moderation_refuses_what_was_asked_and_not_the_key() -> None:
    body = {"error": {"code": 403, "message": "…", "metadata": {"reasons": ["violence"], "flagged_input": "…"}}}
    failure = failures.openai("gateway", "m", _response(403, body))
    assert type(failure) is RefusedError
    assert "violence" not in str(failure)


@pytest.mark.parametrize("body", [{"error": "model overloaded"}, {"object": "error", "code": 503}, "no", None, [], 3])
def test_compatible_servers_may_write_errors_as_they_like(body: Any) -> None:
    assert type(failures.openai("ollama", "llama", _response(503, body))) is OverloadedError


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (529, "overloaded_error", OverloadedError),
        (200, "overloaded_error", OverloadedError),
        (402, "billing_error", DayQuotaError),
        (504, "timeout_error", TimedOutError),
        (400, "invalid_request_error", MisconfiguredError),
        (413, "request_too_large", MisconfiguredError),
        (401, "authentication_error", UnavailableModelError),
        (403, "permission_error", UnavailableModelError),
        (404, "not_found_error", UnavailableModelError),
        (500, "api_error", OverloadedError),
    ],
)
def test_anthropic_is_read_by_its_type(status: int, kind: str, expected: type[JudgeError]) -> None:
    body = {"type": "error", "error": {"type": kind, "message": "…"}}
    assert type(failures.anthropic("claude", _response(status, body))) is expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.", DayQuotaError),
        ("You have reached your specified API usage limits. You will regain access on 2026-12-01.", DayQuotaError),
        ("prompt is too long: 210000 tokens > 200000 maximum", MisconfiguredError),
        ("messages.0: 'Your credit balance is too low' is no text", MisconfiguredError),
        (None, MisconfiguredError),
    ],
)
def test_anthropic_says_that_money_ran_out_as_it_says_that_a_request_is_malformed(
    message: str | None, expected: type[JudgeError]
) -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    told = failures.anthropic("claude", _response(400, body))
    assert type(told) is expected
    assert ("no credit" in str(told)) == str(message).startswith("Your credit")
    assert ("spending limit" in str(told)) == str(message).startswith("You have reached")


def test_anthropic_resets_are_read_against_the_responses_own_date() -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error"}}
    failure = failures.anthropic(
        "claude",
        _response(
            429,
            body,
            date=_DATE,
            anthropic_ratelimit_requests_limit="50",
            anthropic_ratelimit_requests_remaining="0",
            anthropic_ratelimit_requests_reset="2026-11-21T10:00:20Z",
            anthropic_ratelimit_input_tokens_remaining="900",
            anthropic_ratelimit_input_tokens_reset="2026-11-21T18:00:00Z",
        ),
    )
    assert isinstance(failure, MinuteQuotaError)
    assert (failure.limit, failure.retry_after) == (50, 20.0)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (301, MisconfiguredError),
        (400, MisconfiguredError),
        (401, MisconfiguredError),
        (402, DayQuotaError),
        (403, MisconfiguredError),
        (404, MisconfiguredError),
        (410, MisconfiguredError),
        (408, TimedOutError),
        (418, MisconfiguredError),
        (429, MinuteQuotaError),
        (500, OverloadedError),
        (504, TimedOutError),
        (529, OverloadedError),
        (599, OverloadedError),
    ],
)
def test_a_status_alone_says_enough(status: int, expected: type[JudgeError]) -> None:
    empty = Response(status=status, headers={}, body=b"")
    for failure in (
        failures.gemini("m", empty),
        failures.openai("OpenAI", "m", empty),
        failures.anthropic("m", empty),
    ):
        assert type(failure) is expected
        assert failure.retry_after is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, "<html>Sign in to the proxy first</html>"),
        (403, "<html>Request blocked by WAF</html>"),
        (403, json.dumps({"error": {"type": "forbidden", "message": "Request not allowed"}})),
        (403, json.dumps({"error": {"message": "Your input was flagged.", "code": 403}})),
        (404, "404 page not found"),
        (404, json.dumps({"error": {"message": "No endpoints found that support image input", "code": 404}})),
        (404, json.dumps({"detail": "Not Found"})),
        (410, ""),
    ],
)
def test_what_stands_before_a_provider_refuses_one_request_and_not_the_model_for_all(status: int, body: str) -> None:
    response = Response(status=status, headers={}, body=body)
    for failure in (
        failures.gemini("m", response),
        failures.openai("compatible", "m", response),
        failures.anthropic("m", response),
    ):
        assert type(failure) is MisconfiguredError
        assert f"HTTP {status}" in str(failure)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "…", "type": "invalid_request_error", "code": "model_decommissioned"}}),
        (400, {"object": "error", "message": "Invalid model: m", "type": "invalid_model", "code": "1500"}),
        (401, {"detail": "Unauthorized"}),
        (401, {"error": {"message": "…", "type": "authentication_error", "code": "invalid_request_error"}}),
        (401, {"error": "Unauthorized"}),
        (404, {"error": {"code": "DeploymentNotFound", "message": "…"}}),
        (404, {"error": {"message": "model 'm' not found", "type": "not_found_error", "param": None, "code": None}}),
        (404, {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404}),
        (404, [{"error": {"code": 404, "message": "models/m is not found", "status": "NOT_FOUND"}}]),
    ],
)
def test_compatible_servers_own_words_for_a_refusal_of_everybody_are_known(status: int, body: Any) -> None:
    assert type(failures.openai("compatible", "m", _response(status, body))) is UnavailableModelError


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry_after": "12"}, 12.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": "12", "retry_after_ms": "250"}, 0.25),
        ({"retry_after": "Sat, 21 Nov 2026 10:00:30 GMT", "date": _DATE}, 30.0),
        ({"retry_after": "Sat, 21 Nov 2026 09:00:00 GMT", "date": _DATE}, 0.0),
        ({"retry_after": "Sat, 21 Nov 2026 10:00:30 GMT"}, None),
        ({"retry_after": "2026-11-21T10:00:30", "date": _DATE}, None),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_advice_to_wait(headers: dict[str, str], expected: float | None) -> None:
    assert advice.retry_after(_response(503, **headers)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("37s", 37.0),
        ("8.25s", 8.25),
        ("120ms", 0.12),
        ("6m0s", 360.0),
        ("1h2m3s", 3723.0),
        ("2m", 120.0),
        ("", None),
        ("soon", None),
        ("5", None),
        (None, None),
        ({"seconds": 3}, None),
    ],
)
def test_durations(text: Any, expected: float | None) -> None:
    assert advice.parse_duration(text) == expected


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "code", "type", "status", "details", "violations", "quotaId", "reason"]), inner
        )
    ),
    max_leaves=12,
)


@given(body=_JSON, status=st.integers(300, 599))
def test_any_body_is_some_judge_error(body: Any, status: int) -> None:
    response = Response(status=status, headers={}, body=json.dumps(body))
    for failure in (
        failures.gemini("m", response),
        failures.openai("x", "m", response),
        failures.anthropic("m", response),
    ):
        assert isinstance(failure, JudgeError)


@given(secret=st.text(min_size=1).filter(lambda text: failures.single_word(text) is None))
def test_nothing_but_a_single_word_is_repeated(secret: str) -> None:
    canary = f"canary {secret}"
    error = {"code": canary, "type": canary, "status": canary, "message": canary, "details": [{"reason": canary}]}
    response = Response(status=400, headers={}, body=json.dumps({"error": error}))
    for failure in (
        failures.gemini("m", response),
        failures.openai("x", "m", response),
        failures.anthropic("m", response),
    ):
        assert "canary" not in str(failure)


@pytest.mark.parametrize("text", ["sk-proj-abc123", "AIzaSyA1", "a b", "", "x" * 49, None, 7, "_", "a__b"])
def test_what_might_be_a_key_is_no_word(text: Any) -> None:
    assert failures.single_word(text) is None


def _google(quota: str, value: str) -> dict[str, Any]:
    """The body of Gemini's quota failure, as shown in google-gemini/gemini-cli#8437."""
    return {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [{"quotaId": quota, "quotaValue": value, "quotaDimensions": {"model": "m"}}],
                },
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "11s"},
            ],
        }
    }


_PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
_PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
_RATE_LIMIT = "Rate limit reached for model `m` in organization `org_01` service tier `on_demand` on "
_COMPATIBLE_QUOTAS: dict[str, tuple[Any, type[JudgeError], int | None]] = {
    "Gemini's compatible endpoint, the day": ([_google(_PER_DAY, "250")], DayQuotaError, 250),
    "Gemini's compatible endpoint, the minute": ([_google(_PER_MINUTE, "10")], MinuteQuotaError, 10),
    "a gateway that quotes Gemini's body as text": (
        {"error": {"message": json.dumps(_google(_PER_DAY, "250"), indent=2), "code": 429}},
        DayQuotaError,
        None,
    ),
    "LiteLLM": (
        {
            "error": {
                "message": f"litellm.RateLimitError: VertexAIException - {json.dumps(_google(_PER_DAY, '250'))}",
                "type": "throttling_error",
                "code": "429",
            }
        },
        DayQuotaError,
        None,
    ),
    "Groq and OpenAI, requests a day": (
        {
            "error": {
                "message": f"{_RATE_LIMIT}requests per day (RPD): Limit 1000, Used 1000, Requested 1.",
                "type": "requests",
                "code": "rate_limit_exceeded",
            }
        },
        DayQuotaError,
        1000,
    ),
    "Groq, tokens a day": (
        {
            "error": {
                "message": f"{_RATE_LIMIT}tokens per day (TPD): Limit 100000, Used 97050, Requested 3619.",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
        DayQuotaError,
        None,
    ),
    "OpenAI, requests a minute": (
        {
            "error": {
                "message": f"{_RATE_LIMIT}requests per min (RPM): Limit 3, Used 3, Requested 1.",
                "type": "requests",
                "code": "rate_limit_exceeded",
            }
        },
        MinuteQuotaError,
        3,
    ),
    "OpenRouter, the day": (
        {
            "error": {
                "message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 a day",
                "code": 429,
                "metadata": {"headers": {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0"}},
            }
        },
        DayQuotaError,
        None,
    ),
    "OpenRouter, the minute": (
        {"error": {"message": "Rate limit exceeded: free-models-per-min.", "code": 429}},
        MinuteQuotaError,
        None,
    ),
    "GitHub Models": (
        {
            "error": {
                "code": "RateLimitReached",
                "message": "Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 3600 seconds.",
            }
        },
        DayQuotaError,
        50,
    ),
    "Mistral": ({"object": "error", "message": "Requests rate limit exceeded", "code": "1300"}, MinuteQuotaError, None),
    "prose that names no quota": (
        {"error": {"message": "Slow down. Upgrade for 1000 requests per day.", "code": 429}},
        MinuteQuotaError,
        None,
    ),
    "no JSON": ("Too many requests", MinuteQuotaError, None),
}


@pytest.mark.parametrize("name", _COMPATIBLE_QUOTAS)
def test_r24_compatible_servers_name_their_quotas_in_their_own_ways(name: str) -> None:
    body, expected, limit = _COMPATIBLE_QUOTAS[name]
    failure = failures.openai("compatible", "m", _response(429, body, retry_after="1"))
    assert type(failure) is expected
    assert isinstance(failure, DayQuotaError | MinuteQuotaError)
    assert failure.limit == limit
    assert "Rate limit" not in str(failure)


def test_tokens_that_ran_out_are_not_the_days_though_the_requests_bucket_is() -> None:
    """Groq's bucket of requests is a day's and fills for minutes, whatever ran out."""
    response = _response(
        429,
        {"error": {"type": "tokens", "code": "rate_limit_exceeded"}},
        x_ratelimit_limit_requests="14400",
        x_ratelimit_remaining_requests="14370",
        x_ratelimit_reset_requests="2m59.56s",
        x_ratelimit_remaining_tokens="12",
        x_ratelimit_reset_tokens="7.66s",
    )
    failure = failures.openai("compatible", "m", response)
    assert isinstance(failure, MinuteQuotaError)
    assert (failure.limit, failure.retry_after) == (None, 7.66)
