"""Providers' errors, read into the one taxonomy by status, code, type and id, never by the prose of a message.

No prose that a provider wrote is passed on: messages echo keys and prompts. Our sentences quote only single words of
letters and underscores from an error body. Messages are read only for the names of spent quotas and for
credit that is used up, since some services tell them nowhere else.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnavailableModelError,
    UnreadableError,
)
from touchstone.extras import install_command
from touchstone.judges.adapters.advice import parse_duration, retry_after, seconds_until
from touchstone.judges.adapters.replies import Response

_WORD = re.compile(r"[A-Za-z]+(_[A-Za-z]+)*")
_LONGEST_WORD = 48
_REQUESTS = re.compile(r"[0-9]{1,9}")
_MINUTE = 60.0
"""Seconds in which a bucket for requests a minute is full again. A bucket that takes longer is a day's."""

_LONGEST_QUOTA_BODY = 4000
"""The characters of a 429 in which a quota's name is looked for. The bodies seen are shorter."""
_DAYS_QUOTA = re.compile(
    r"quotaId\W{1,12}\w*PerDay"  # Gemini, in whatever a gateway wraps its body
    r"|\([RT]PD\)"  # OpenAI and Groq: "on requests per day (RPD): Limit 1000, Used 1000"
    r"|\bfree-models-per-day\b"  # OpenRouter
    r"|\bper 86400s\b"  # GitHub Models: "Rate limit of 50 per 86400s exceeded for UserByModelByDay"
)
_MINUTES_QUOTA = re.compile(r"quotaId\W{1,12}\w*PerMinute|\([RT]PM\)|\bfree-models-per-min\b|\bper 60s\b")
"""The names of quotas in OpenAI-compatible bodies: those of the day, and those of the minute."""
_NAMED_LIMIT = re.compile(r"\(RP[DM]\): Limit (\d{1,9})\b|\bRate limit of (\d{1,9}) per (?:86400|60)s")
"""The number of requests that such a quota allows, as the body names it."""

_NO_CREDIT, _OWN_LIMIT = "Your credit balance is too low", "You have reached your specified API usage limits"
"""How the messages begin by which Anthropic says that an account has no credit left, or has spent the limit that its
owner set: the status and the type are those of a malformed request. A message that repeats a part of a request does not
begin so."""

_NO_MODEL = frozenset({"model_not_found", "model_decommissioned", "invalid_model", "DeploymentNotFound"})
"""Words for a model that is not there, or not for this key. They count whatever the status: OpenAI, Groq, Mistral,
Azure."""
_SERVES_NOBODY = _NO_MODEL | {
    "invalid_api_key", "account_deactivated", "unsupported_country_region_territory",  # OpenAI
    "authentication_error", "permission_error", "not_found_error",  # Anthropic; the last one also Ollama
    "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND",  # Gemini
    "NotFoundError",  # vLLM
}  # fmt: skip
"""The providers' own words for a refusal that every request would meet. Without such a word, a 403 or 404 may be about
one request only: a firewall on the way blocks a text, or a gateway has no model that reads pictures."""


_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
"""The providers' own words for a request that is too long: OpenAI, llama.cpp, Anthropic."""


def timed_out(provider: str, model: str, seconds: float) -> TimedOutError:
    """The error if there was no whole reply within our own deadline."""
    return TimedOutError(f"{provider} {model} gave no whole reply within {seconds:.1f} s.")


def unreachable(provider: str, *, sent: bool) -> OverloadedError:
    """The error if there was no connection, or it was lost. `sent` False: the request certainly did not leave."""
    if not sent:
        return OverloadedError(f"{provider} could not be reached; check the network and its base URL.", sent=False)
    return OverloadedError(f"{provider} lost the connection before its reply was whole.")


def cut_off(provider: str) -> TimedOutError:
    """The error if the connection was lost in the middle of a reply. The provider has then done the work."""
    return TimedOutError(f"{provider} lost the connection in the middle of its reply.")


def too_long(provider: str) -> UnreadableError:
    """The error for a response that is longer than any reply."""
    return UnreadableError(f"{provider} answered with more than any reply holds; check its base URL.")


def untrusted(provider: str) -> MisconfiguredError:
    """The error for a certificate that is not trusted. Nothing was sent."""
    sentence = f"The certificate of {provider}'s base URL is not trusted here; correct the URL, or trust its authority."
    return MisconfiguredError(sentence, sent=False)


def bad_base_url(provider: str) -> MisconfiguredError:
    """The error for a base URL that nothing can be sent to."""
    return MisconfiguredError(
        f"The base URL of {provider} is not an http(s) URL, or names a user; correct it.", sent=False
    )


def no_key(provider: str) -> MisconfiguredError:
    """The error if no key was given, or one that no HTTP header can carry. Nothing was sent."""
    sentence = f"No usable API key for {provider}; set it in the environment or in the secret."
    return MisconfiguredError(sentence, sent=False)


def no_sdk(provider: str) -> MisconfiguredError:
    """The error if the provider's SDK is not installed. Nothing was sent."""
    return MisconfiguredError(f"The SDK of {provider} is missing: {install_command('judges')}.", sent=False)


def usable_key(provider: str, api_key: str) -> str:
    """The key without the line break that files end with. Raises `MisconfiguredError` if no header can hold the key."""
    key = api_key.strip()
    if not key or not key.isascii() or not key.isprintable():
        raise no_key(provider)
    return key


@contextmanager
def sdk_of(provider: str) -> Iterator[None]:
    """Turns a missing SDK into a `MisconfiguredError`."""
    missing = False
    try:
        yield
    except ImportError:
        missing = True
    if missing:
        raise no_sdk(provider)


def unreadable(provider: str, model: str, why: str) -> UnreadableError:
    """The error for a response without a reply in it."""
    return UnreadableError(f"{provider} {model} gave no readable reply: {why}.")


def day_quota(
    provider: str, model: str, *, limit: int | None = None, retry_after: float | None = None
) -> DayQuotaError:
    """The error if the day's quota is spent."""
    named = "" if limit is None else f" ({limit} requests a day)"
    return DayQuotaError(
        f"{provider}'s quota for {model} is spent for the day{named}; it returns with the provider's next day.",
        limit=limit,
        retry_after=retry_after,
    )


def credit_spent(provider: str) -> DayQuotaError:
    """The error if the account may spend no more. It counts as the day's quota, since waiting a minute is useless."""
    return DayQuotaError(f"{provider}'s account has no credit left; add some in its billing settings.")


def own_limit_spent(provider: str) -> DayQuotaError:
    """The error if the account has spent the limit that its owner set for it, of the month for example."""
    return DayQuotaError(f"{provider}'s account has reached its own spending limit; raise it in its billing settings.")


def minute_quota(
    provider: str, model: str, *, limit: int | None = None, retry_after: float | None = None
) -> MinuteQuotaError:
    """The error if the minute's quota is spent, or a quota that the provider did not name."""
    named = "" if limit is None else f" ({limit} requests a minute)"
    return MinuteQuotaError(
        f"{provider} takes no more requests for {model} just now{named}.", limit=limit, retry_after=retry_after
    )


def refused(provider: str, model: str, why: str | None) -> RefusedError:
    """The error if the provider or the model declined to answer."""
    return RefusedError(f"{provider} {model} declined to answer{f' ({why})' if why else ''}.")


def error_by_status(provider: str, model: str, response: Response, *words: str | None) -> JudgeError:
    """The error that an HTTP status means by itself.

    `words` are the provider's own words for the error, None in place of any that is no word. Only a word of
    `_SERVES_NOBODY` says that every request is refused. A 401 says so with any JSON body, since it speaks of the key
    alone.
    """
    word_given = next((one for one in words if one in _SERVES_NOBODY), next(filter(None, words), None))
    after, named = retry_after(response), f" ({word_given})" if word_given else ""
    keyless = response.status == 401 and isinstance(response.json(), dict)  # noqa: PLR2004 - HTTP's own
    match response.status:
        case 401 | 403 if keyless or word_given in _SERVES_NOBODY:
            sentence = (
                f"{provider} refuses the API key{named}, or wants one; check that it is set, valid and may use {model}."
            )
            return UnavailableModelError(sentence)
        case 402:
            return credit_spent(provider)
        case 404 | 410 if word_given in _SERVES_NOBODY:
            sentence = f"{provider} does not know the model {model}, or has retired it{named}; choose another."
            return UnavailableModelError(sentence)
        case 408 | 504:
            return TimedOutError(f"{provider} {model} did not finish within its own deadline{named}.")
        case 429:
            return minute_quota(provider, model, retry_after=after)
        case status if status == 413 or word_given in _TOO_LONG:  # noqa: PLR2004 - HTTP's own
            return MisconfiguredError(f"The request is longer than {provider} {model} takes{named}; shorten its texts.")
        case status if status >= 500:  # noqa: PLR2004 - HTTP's server errors
            sentence = f"{provider} {model} is overloaded or broken: HTTP {status}{named}."
            return OverloadedError(sentence, retry_after=after)
        case status:
            sentence = (
                f"{provider} rejects the request to {model}: HTTP {status}{named}; check key, model and base URL."
            )
            return MisconfiguredError(sentence)


def gemini(model: str, response: Response) -> JudgeError:
    """An error of the Gemini API: `google.rpc.Status` with details."""
    error = _error(response.json())
    details = _details(error)
    reasons = [reason for detail in details if (reason := single_word(detail.get("reason")))]
    if any(reason.startswith("API_KEY_") for reason in reasons):
        return UnavailableModelError(f"Gemini refuses the API key ({reasons[0]}); check that it is valid.")
    if response.status != 429:  # noqa: PLR2004 - HTTP's own
        return error_by_status("Gemini", model, response, *reasons, single_word(error.get("status")))
    return _detailed_quota("Gemini", model, response, details)


def _detailed_quota(provider: str, model: str, response: Response, details: list[dict[str, Any]]) -> JudgeError:
    """The error for a spent quota, by the details of a `google.rpc.Status`."""
    delays = (parse_duration(detail.get("retryDelay")) for detail in details)
    after = next((delay for delay in delays if delay is not None), retry_after(response))
    # RetryInfo speaks of seconds even if the day's quota is spent: only the quota's id tells the two apart.
    violations = [v for detail in details for v in _list(detail.get("violations")) if isinstance(v, dict)]
    if any("PerDay" in str(violation.get("quotaId")) for violation in violations):
        return day_quota(provider, model, limit=_request_limit(violations, "PerDay"), retry_after=after)
    return minute_quota(provider, model, limit=_request_limit(violations, "PerMinute"), retry_after=after)


def _request_limit(violations: list[dict[str, Any]], window: str) -> int | None:
    """The number of requests in a window that a quota failure names. None if it names none, as for quotas of tokens."""
    for violation in violations:
        quota, value = str(violation.get("quotaId")), str(violation.get("quotaValue"))
        if window in quota and "Requests" in quota and (limit := _requests(value)) is not None:
            return limit
    return None


def openai(provider: str, model: str, response: Response) -> JudgeError:
    """An error of OpenAI or of a server compatible with it."""
    error = _error(response.json())
    code, kind = single_word(error.get("code")), single_word(error.get("type"))
    match code or kind:
        case "insufficient_quota" | "billing_not_active" | "billing_hard_limit_reached":
            return credit_spent(provider)
        case "content_filter" | "content_policy_violation":
            return refused(provider, model, code)
        case named if named in _NO_MODEL:
            sentence = f"{provider} does not know the model {model}, or the key may not use it; choose another."
            return UnavailableModelError(sentence)
    match error:
        case {"metadata": {"reasons": [_, *_]}} if response.status == 403:  # noqa: PLR2004 - HTTP's own
            # A gateway's moderation refused what was asked: the key is not at fault.
            return refused(provider, model, "moderation")
    if response.status != 429:  # noqa: PLR2004 - HTTP's own
        return error_by_status(
            provider, model, response, code, kind, single_word(error.get("status"))
        )  # the last by Gemini's
    if details := _details(error):  # Gemini's own compatible endpoint
        return _detailed_quota(provider, model, response, details)
    headers, spent = response.headers, response.headers.get("x-ratelimit-remaining-requests")
    # The bucket of requests may be a day's, and need minutes to fill although it is the tokens that ran out.
    resets = [
        headers.get("x-ratelimit-reset-tokens"),
        headers.get("x-ratelimit-reset-requests") if spent in {None, "0"} else None,
    ]
    bucket = _bucket_quota(
        provider,
        model,
        response,
        spent=spent,
        limit=headers.get("x-ratelimit-limit-requests"),
        resets=[parse_duration(reset) for reset in resets],
    )
    return _named_quota(provider, model, response, bucket) or bucket


def _named_quota(
    provider: str, model: str, response: Response, bucket: DayQuotaError | MinuteQuotaError
) -> JudgeError | None:
    """The error for a spent quota that the body names, with what the headers tell (`bucket`).

    None if the body holds no known name of a quota.
    """
    body = response.body if isinstance(response.body, str) else response.body.decode(errors="replace")
    body = body[:_LONGEST_QUOTA_BODY]
    named = _NAMED_LIMIT.search(body)
    limit = bucket.limit if named is None else int(named[1] or named[2])
    if _DAYS_QUOTA.search(body):
        return day_quota(provider, model, limit=limit, retry_after=bucket.retry_after)
    if _MINUTES_QUOTA.search(body):
        return minute_quota(provider, model, limit=limit, retry_after=bucket.retry_after)
    return None


def _details(error: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The details of a `google.rpc.Status`."""
    return [detail for detail in _list(error.get("details")) if isinstance(detail, dict)]


def anthropic(model: str, response: Response) -> JudgeError:
    """An error of the Anthropic API."""
    error = _error(response.json())
    kind = single_word(error.get("type"))
    match kind:
        case "invalid_request_error" if str(error.get("message")).startswith(_NO_CREDIT):
            return credit_spent("Anthropic")
        case "invalid_request_error" if str(error.get("message")).startswith(_OWN_LIMIT):
            return own_limit_spent("Anthropic")
        case "billing_error":
            return credit_spent("Anthropic")
        case "timeout_error":
            return TimedOutError(f"Anthropic {model} did not finish within its own deadline.")
        case "overloaded_error":
            return OverloadedError(f"Anthropic {model} is overloaded.", retry_after=retry_after(response))
        case "invalid_request_error" if response.status == 400:  # noqa: PLR2004 - HTTP's own
            return MisconfiguredError(
                f"Anthropic rejects the request to {model}; check the model, and the length of the texts."
            )
    if response.status != 429:  # noqa: PLR2004 - HTTP's own
        return error_by_status("Anthropic", model, response, kind)
    prefix = "anthropic-ratelimit-"
    spent = [name for name in response.headers if name.startswith(prefix) and name.endswith("-remaining")]
    spent = [name for name in spent if response.headers[name] == "0"]
    return _bucket_quota(
        "Anthropic",
        model,
        response,
        spent=response.headers.get(f"{prefix}requests-remaining"),
        limit=response.headers.get(f"{prefix}requests-limit"),
        resets=[
            seconds_until(response, response.headers.get(name.removesuffix("remaining") + "reset")) for name in spent
        ],
    )


def _bucket_quota(
    provider: str, model: str, response: Response, *, spent: str | None, limit: str | None, resets: list[float | None]
) -> DayQuotaError | MinuteQuotaError:
    """The error for a spent bucket, by its headers. It is the day's bucket if it takes longer than a minute to fill.

    The limit counts only if the requests themselves ran out (`spent` is "0"), not the tokens.
    """
    requests = _requests(limit) if spent == "0" else None
    after, longest = retry_after(response), max((reset for reset in resets if reset is not None), default=0.0)
    if longest > _MINUTE:
        return day_quota(provider, model, limit=requests, retry_after=after)
    return minute_quota(provider, model, limit=requests, retry_after=after if after is not None else longest or None)


def _requests(header: str | None) -> int | None:
    """A number of requests as providers write it. None for anything else, or for more than nine digits."""
    return int(header) if header is not None and _REQUESTS.fullmatch(header) else None


def single_word(value: Any) -> str | None:
    """A code, type or reason if it is a single word, which can be repeated.

    Else None: a longer text might quote a secret.
    """
    fits = isinstance(value, str) and len(value) <= _LONGEST_WORD and _WORD.fullmatch(value)
    return value if fits else None


def _error(body: Any) -> Mapping[str, Any]:
    """The error object of a body: under `error`, in a list of one, or the body itself. Empty if there is none."""
    first = next(_objects(body), {})
    inner = first.get("error", first)
    return inner if isinstance(inner, dict) else first


def _objects(body: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a body: the body itself, or the objects in its list."""
    yield from (item for item in (body if isinstance(body, list) else [body]) if isinstance(item, dict))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
