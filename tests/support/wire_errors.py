"""The providers' error bodies and headers, by kind."""

from typing import Any

from tests.support.wire import Answer, Asked, Behaviour, json_answer, moment

STATUS = {
    "day_quota": 429, "minute_quota": 429, "unknown_quota": 429, "token_quota": 429, "credit": 429,
    "server_error": 500, "overloaded": 503, "unauthorized": 401, "forbidden": 403, "unknown_model": 404,
    "bad_request": 400,
}  # fmt: skip
"""The kinds that are HTTP errors, with the status that most providers give them."""


def error(asked: Asked, behaviour: Behaviour) -> Answer:
    """An error in the provider's form."""
    match asked.provider:
        case "gemini":
            return _gemini(asked, behaviour)
        case "anthropic":
            return _anthropic(asked, behaviour)
        case _:
            return _openai(asked, behaviour)


def _gemini(asked: Asked, behaviour: Behaviour) -> Answer:
    status, word, message, details = 429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", []
    match behaviour.kind:
        case "day_quota" | "minute_quota" | "token_quota" | "credit":
            details = _gemini_quota(asked, behaviour)
        case "unknown_quota":
            message, details = "Resource has been exhausted (e.g. check quota).", _retry_info(behaviour)
        case "server_error":
            status, word, message = 500, "INTERNAL", "An internal error has occurred."
        case "overloaded":
            status, word, message = 503, "UNAVAILABLE", "The model is overloaded. Please try again later."
        case "unauthorized":
            status, word, message = 400, "INVALID_ARGUMENT", f"API key not valid: {asked.key}. Please pass a valid key."
            details = [_info("API_KEY_INVALID")]
        case "forbidden":
            status, word, message = 403, "PERMISSION_DENIED", f"Your project {asked.key} has been denied access."
            details = [_info("CONSUMER_SUSPENDED")]
        case "unknown_model":
            status, word, message = 404, "NOT_FOUND", f"models/{asked.model} is not found for API version v1beta."
        case _:
            status, word, message = 400, "INVALID_ARGUMENT", f"Request contains an invalid argument: {asked.prompt}"
    body = {"error": {"code": status, "message": message, "status": word, "details": details}}
    return json_answer(status, body)


def _info(reason: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }


def _gemini_quota(asked: Asked, behaviour: Behaviour) -> list[dict[str, Any]]:
    quota = {
        "day_quota": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        "minute_quota": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        "token_quota": "GenerateContentInputTokensPerModelPerMinute-FreeTier",
        "credit": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
    }[behaviour.kind]
    tokens = behaviour.kind == "token_quota"
    violation: dict[str, Any] = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_"
        + ("input_token_count" if tokens else "requests"),
        "quotaId": quota,
        "quotaDimensions": {"location": "global", "model": asked.model},
    }
    if behaviour.limit is not None:
        violation["quotaValue"] = str(behaviour.limit)
    details: list[dict[str, Any]] = [
        {
            "@type": "type.googleapis.com/google.rpc.Help",
            "links": [{"description": "Learn more", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}],
        },
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
    ]
    return details + _retry_info(behaviour)


def _retry_info(behaviour: Behaviour) -> list[dict[str, Any]]:
    if behaviour.retry_after is None:
        return []
    return [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{behaviour.retry_after:g}s"}]


def _openai(asked: Asked, behaviour: Behaviour) -> Answer:
    kind, code, param = "invalid_request_error", None, None
    message, headers = "", {"x-request-id": "req_9d1a7c0b2f4e4a0f"}
    match behaviour.kind:
        case "day_quota" | "minute_quota":
            kind, code, message = "requests", "rate_limit_exceeded", "Rate limit reached in organization org-x."
            headers |= _openai_limits(behaviour)
        case "token_quota":
            kind, code, message = "tokens", "rate_limit_exceeded", "Rate limit reached on tokens per min (TPM)."
            headers |= {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "3.2s"}
        case "unknown_quota":
            kind, message = "rate_limit", "Too many requests"
        case "credit":
            kind = code = "insufficient_quota"
            message = "You exceeded your current quota, please check your plan and billing details."
        case "server_error" | "overloaded":
            kind, message = "server_error", "The server had an error while processing your request."
        case "unauthorized":
            code, message = "invalid_api_key", f"Incorrect API key provided: {asked.key}."
        case "forbidden":
            code, message = "unsupported_country_region_territory", "Country, region, or territory not supported"
        case "unknown_model":
            code, message = "model_not_found", f"The model `{asked.model}` does not exist or you have no access to it."
        case _:
            message, param = f"Invalid schema for response_format in: {asked.prompt}", "response_format"
    if behaviour.retry_after is not None:
        headers["retry-after"] = f"{behaviour.retry_after:g}"
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return json_answer(STATUS[behaviour.kind], body, headers)


def _openai_limits(behaviour: Behaviour) -> dict[str, str]:
    """A spent bucket. It refills evenly, so one request comes back after the `limit`-th part of the window."""
    window, reset, limit = (86400, "23h59m59s", 200) if behaviour.kind == "day_quota" else (60, "59.98s", 3)
    limit = behaviour.limit or limit
    return {
        "x-ratelimit-limit-requests": str(limit),
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": reset,
        "retry-after": f"{window / limit if behaviour.retry_after is None else behaviour.retry_after:g}",
    }


def _anthropic(asked: Asked, behaviour: Behaviour) -> Answer:
    status, headers = STATUS[behaviour.kind], {"request-id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
    kind, message = "invalid_request_error", f"output_config: bad schema in {asked.prompt}"
    match behaviour.kind:
        case "day_quota" | "minute_quota":
            kind, message = "rate_limit_error", "This request would exceed your organization's rate limit."
            limit = str(behaviour.limit or 50)
            headers |= {
                "anthropic-ratelimit-requests-limit": limit,
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": moment(50000 if behaviour.kind == "day_quota" else 30),
            }
        case "token_quota":
            kind, message = "rate_limit_error", "This request would exceed your rate limit of input tokens per minute."
            headers |= {
                "anthropic-ratelimit-requests-limit": "50",
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": moment(20),
            }
        case "unknown_quota":
            kind, message = "rate_limit_error", "Too many requests"
        case "credit":
            status = 400
            message = (
                "Your credit balance is too low to access the Anthropic API. "
                "Please go to Plans & Billing to upgrade or purchase credits."
            )
        case "server_error":
            kind, message = "api_error", "Internal server error"
        case "overloaded":
            status, kind, message = 529, "overloaded_error", "Overloaded"
        case "unauthorized":
            kind, message = "authentication_error", f"invalid x-api-key {asked.key}"
        case "forbidden":
            kind, message = "permission_error", "Your API key does not have permission to use the specified resource."
        case "unknown_model":
            kind, message = "not_found_error", f"model: {asked.model}"
    if behaviour.retry_after is not None:
        headers["retry-after"] = f"{behaviour.retry_after:g}"
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": headers["request-id"]}
    return json_answer(status, body, headers)
