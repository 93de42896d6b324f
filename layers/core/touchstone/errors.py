"""Every error that Touchstone raises on purpose.

    TouchstoneError
    ├── InputError                  the caller's input is wrong; nothing was done
    │   └── TooLargeError           … because it is larger than a stated limit
    ├── UnauthenticatedError        no token, or one that is not (or no longer) valid
    ├── ForbiddenError              the token's role does not allow this
    ├── NotFoundError               no such record for this tenant
    ├── ConflictError               the record's state does not allow this now
    │   ├── InProgressError         the first request with this idempotency key still runs
    │   └── KeyReusedError          this idempotency key was used with another body
    ├── SettingsError               something must be configured; says what and where
    ├── LimitError                  a limit of money or calls was reached before anything was sent
    │   ├── QuotaExceededError      a provider's quota, by our own account: says which and until when
    │   │   └── TenantShareError    … a tenant's share of it, though others may have units left
    │   ├── SpendingCeilingError    a tenant's spending ceiling for the day
    │   └── UnpricedError           there is a ceiling, and the model has no known price
    ├── StoreError                  the store could not be reached or refused; safe to repeat
    └── JudgeError                  a judge failed; never a verdict
        ├── DayQuotaError           the provider says that the day's quota is spent
        ├── MinuteQuotaError        the provider says that the minute's quota is spent
        ├── OverloadedError         the provider is overloaded or broken (5xx, connection lost)
        ├── TimedOutError           no whole reply within the deadline
        │   └── UnfinishedError     … of a provider's batch: it ended before the line was answered
        ├── RefusedError            the provider or model declined to answer
        ├── UnreadableError         the reply does not fit the schema it was asked for
        │   ├── MismatchedError     … or may be the reply to another line of the batch
        │   └── ResultsGoneError    … or the provider does not find it (any more)
        └── MisconfiguredError      no key, wrong key, unknown model, a request the provider rejects
            ├── UnfoundBatchError       … it does not find a batch by this key
            └── UnavailableModelError   … for every request: it does not know the model, or refuses the key

`reason` is a stable word for records, metrics and problem documents; the sentence is for people.
"""

import copyreg
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from touchstone.usage import Usage

type JudgeFailure = Literal[
    "day_quota", "minute_quota", "overloaded", "timed_out", "refused", "unreadable", "misconfigured"
]
type Unanswered = JudgeFailure | Literal["quota", "tenant_share", "spending_ceiling", "unpriced"]
"""Why a question has no answer: a judge's failure, or our own limits."""
type SkipReason = Unanswered | Literal["contentless", "other_answer", "unsure", "split"]
"""Why nobody decided about an answer. A judge failed, or one of our own limits was met. `contentless`: the answer has
no content, and was rejected before any call. `other_answer`: a judge passed the answer although its own is another one,
in words that nothing shows to mean the same. `unsure`: no judge was as sure as people's labels ask. `split`: neither
side of several judges has a majority."""
type Unscored = Unanswered | Literal["invalid_reply", "split", "unsure"]
"""Why there is no score: nobody answered, the reply broke the rules twice, or the judges disagree or are not sure."""
PERMANENT_REASONS: frozenset[str] = frozenset(
    {"refused", "invalid_reply", "contentless", "other_answer", "unsure", "split", "not_found"}
)
"""Reasons for an undecided result that another try would not change. Every other reason may pass: a spent quota, a
time-out, an overload, a garbled reply, a missing or refused key. Work that met such a passing reason has not ended."""
NEEDS_A_PERSON: frozenset[str] = frozenset({"misconfigured", "unpriced"})
"""The passing reasons that waiting does not remove: a person has to set a key or a price first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall:
    """A judge call that brought no usable reply and is paid for: the provider reported the tokens it had counted.

    `model` is the model that worked on the call, as the reply names it if it names one. `cost_usd` is None if no price
    is known. `cached`: the reply came from an earlier call, and nothing was sent. `line_id` is the id of the call's
    line in a provider's batch, None if the call was sent at once.
    """

    reason: JudgeFailure
    provider: str
    model: str
    prompt_version: str
    usage: Usage
    cost_usd: float | None
    latency_ms: float
    cached: bool = False
    line_id: str | None = None


class TouchstoneError(Exception):
    """The base of all errors raised on purpose."""

    reason: ClassVar[str] = "error"

    def __reduce__(self) -> tuple[object, ...]:
        # A copy, or an error of another process (a pool of workers), is made without the constructor, which takes more
        # than `args` holds.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class InputError(TouchstoneError):
    """The caller's input is wrong; nothing was done. `where` names the field, line or option at fault, if any."""

    reason: ClassVar[str] = "invalid_input"

    def __init__(self, sentence: str, *, where: str | None = None) -> None:
        super().__init__(sentence)
        self.where = where


class TooLargeError(InputError):
    """The input is larger than a stated limit; it was refused whole, never cut."""

    reason: ClassVar[str] = "too_large"


class UnauthenticatedError(TouchstoneError):
    """No token was sent, or the one sent is garbled, unknown, expired or revoked."""

    reason: ClassVar[str] = "unauthenticated"


class ForbiddenError(TouchstoneError):
    """The token is valid, but its role does not allow this."""

    reason: ClassVar[str] = "forbidden"


class NotFoundError(TouchstoneError):
    """There is no such record for this tenant. The error does not say whether another tenant has such a record."""

    reason: ClassVar[str] = "not_found"


class ConflictError(TouchstoneError):
    """The record's state does not allow this now."""

    reason: ClassVar[str] = "conflict"


class InProgressError(ConflictError):
    """The first request with this idempotency key still runs; repeat it later with the same key."""

    reason: ClassVar[str] = "in_progress"


class KeyReusedError(ConflictError):
    """This idempotency key was used before with another body."""

    reason: ClassVar[str] = "idempotency_key_reused"


class SettingsError(TouchstoneError):
    """Something must be configured first; the sentence says what and where."""

    reason: ClassVar[str] = "not_configured"


class StoreError(TouchstoneError):
    """The store could not be reached, was throttled, or refused; the operation is safe to repeat."""

    reason: ClassVar[str] = "store_unavailable"


class LimitError(TouchstoneError):
    """A limit was reached before anything was sent. `until` is when to try again (UTC), None if that is not known.

    `failed_calls` are earlier calls for the same question that are paid for: the limit was met when the question was
    asked again. (A `ModelJudge` then raises the failure of the earlier call instead, unless that failure was the
    provider's own quota of the minute.)
    """

    reason: ClassVar[str] = "limit"

    def __init__(self, sentence: str, *, until: datetime | None) -> None:
        super().__init__(sentence)
        self.until = until
        self.failed_calls: tuple[FailedCall, ...] = ()


class QuotaExceededError(LimitError):
    """Our own account of a provider's quota has no unit left; nothing was sent. `window` says which quota ran out."""

    reason: ClassVar[str] = "quota"

    def __init__(self, sentence: str, *, window: Literal["day", "minute"], until: datetime) -> None:
        super().__init__(sentence, until=until)
        self.window = window


class TenantShareError(QuotaExceededError):
    """The tenant's share of a provider's quota is used up, though others may have units left; nothing was sent."""

    reason: ClassVar[str] = "tenant_share"


class SpendingCeilingError(LimitError):
    """The tenant's spending ceiling for the day would be passed; nothing was sent."""

    reason: ClassVar[str] = "spending_ceiling"


class UnpricedError(LimitError):
    """The model has no known price, so no ceiling can be kept. Another model may have one; waiting does not help."""

    reason: ClassVar[str] = "unpriced"


class JudgeError(TouchstoneError):
    """A judge failed. That is a state of its own and never a verdict.

    `retry_after` is the provider's own advice in seconds, None if it gave none. `sent` is False only if it is certain
    that no request left: then the reserved unit of quota is given back. `usage` is what the provider counted for the
    failed call, and `model` is the model that worked on it, as the provider names it; each is None if the provider did
    not tell it. `failed_calls` are all calls for the question that are paid for, this call among them. `repeat_at` is
    set if our own count of the minute kept the call from being repeated: it is when a unit is free again (UTC). It is
    None otherwise. `line_id` is the id of the failed line in a provider's batch, None if the call was sent at once.
    """

    reason: ClassVar[JudgeFailure]
    retryable: ClassVar[bool] = False

    def __init__(self, sentence: str, *, retry_after: float | None = None, sent: bool = True) -> None:
        super().__init__(sentence)
        self.retry_after = retry_after
        self.sent = sent
        self.usage: Usage | None = None
        self.model: str | None = None
        self.failed_calls: tuple[FailedCall, ...] = ()
        self.repeat_at: datetime | None = None
        self.line_id: str | None = None


class DayQuotaError(JudgeError):
    """The provider says that the day's quota or the account's credit is spent; the call is not retried within the day.

    `limit` is the quota that the provider named (requests a day), None if it named none.
    """

    reason: ClassVar[JudgeFailure] = "day_quota"

    def __init__(
        self, sentence: str, *, limit: int | None = None, retry_after: float | None = None, sent: bool = True
    ) -> None:
        super().__init__(sentence, retry_after=retry_after, sent=sent)
        self.limit = limit


class MinuteQuotaError(JudgeError):
    """The provider says that the minute's quota is spent. `limit` is the quota it named (requests a minute) or None."""

    reason: ClassVar[JudgeFailure] = "minute_quota"
    retryable: ClassVar[bool] = True

    def __init__(
        self, sentence: str, *, limit: int | None = None, retry_after: float | None = None, sent: bool = True
    ) -> None:
        super().__init__(sentence, retry_after=retry_after, sent=sent)
        self.limit = limit


class OverloadedError(JudgeError):
    """The provider is overloaded or broken: 5xx, 529, a connection reset or refused."""

    reason: ClassVar[JudgeFailure] = "overloaded"
    retryable: ClassVar[bool] = True


class TimedOutError(JudgeError):
    """No whole reply arrived: none within the deadline, or the connection was lost in the middle of it.

    The unit stays spent: the provider may have counted the call.
    """

    reason: ClassVar[JudgeFailure] = "timed_out"
    retryable: ClassVar[bool] = True


class UnfinishedError(TimedOutError):
    """A provider's batch expired, was cancelled or failed before it answered the line; another batch would not help."""

    retryable: ClassVar[bool] = False


class RefusedError(JudgeError):
    """The provider's safety system or the model itself declined to answer."""

    reason: ClassVar[JudgeFailure] = "refused"


class UnreadableError(JudgeError):
    """The reply was cut off, empty, or does not fit the schema it was asked for."""

    reason: ClassVar[JudgeFailure] = "unreadable"
    retryable: ClassVar[bool] = True


class MismatchedError(UnreadableError):
    """A reply in a provider's batch does not repeat the id of its line: it may be the reply to another line."""


class ResultsGoneError(UnreadableError):
    """The provider does not find the results of the batch: it is late, or does not keep them any more."""


class MisconfiguredError(JudgeError):
    """No key, a wrong key, an unknown or retired model, or a request that the provider rejects as malformed."""

    reason: ClassVar[JudgeFailure] = "misconfigured"


class UnfoundBatchError(MisconfiguredError):
    """The provider does not find a batch: it is late to show it, or the key is of another project or workspace."""


class UnavailableModelError(MisconfiguredError):
    """The provider does not know the model (any more), or it refuses the key: it answers no question at all."""
