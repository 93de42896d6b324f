"""The common face of all judges: what is asked, what comes back, and the three seams around a call.

Question ──> Judge ──> Reply
              │ cache      an identical question may be answered from an earlier reply
              │ admission  quota and money are reserved before a call and settled after it
              └ adapter    one provider's SDK
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, BeforeValidator
from pydantic_core import PydanticCustomError

from touchstone.clock import Deadline
from touchstone.errors import FailedCall, JudgeError
from touchstone.usage import Usage

type Tier = Literal["strong", "fast", "verify", "evaluate"]
LINE_ID = "line_id"
"""The field in which the reply to a line of a batch repeats the line's id. Its name begins with a letter, as all
providers want."""
type Purpose = Literal["fresh", "backlog"]
"""Who asks for a unit of quota: a request of today (`fresh`), or the drain of deferred requests (`backlog`), which
leaves today's requests their share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A rendered prompt. `version` is the content hash of the template it came from (16 hex digits).

    `digest` identifies the question without the random marks around graded text, so that an identical question is found
    in the cache. It is "" if the prompt has no such marks: the prompt's own text then identifies it.
    """

    name: str
    version: str
    system: str
    user: str
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture shown to a multimodal judge."""

    media_type: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuestion[T: BaseModel]:
    """One thing asked of a judge: a prompt, and the schema the reply must fit.

    `max_output_tokens` bounds what a reply may cost. If `use_cache` is False, the model is asked even if a reply is
    known. If `temperature` is None, the model's own default applies (some models refuse any other). `seconds` is how
    long the model has once its SDK is loaded, retries included; None means all the time that the deadline leaves.
    `line_id` is the id of a line in a provider's batch, which the reply must repeat in a field of its own; None if the
    question is asked outside of a batch. `replicate` counts from 1 how often the same question is asked on purpose: a
    later replicate is never answered by the reply to an earlier one.

    `renewed`: a known reply was of no use, so the model is asked again and its new reply takes the place of the known
    one. A reply that is not older than `began`, when the piece of work began that asks (UTC), is given all the same:
    the work has it from its own call. None: every known reply is older.
    """

    prompt: Prompt
    reply_type: type[T]
    images: tuple[Image, ...] = ()
    max_output_tokens: int = 2048
    temperature: float | None = None
    use_cache: bool = True
    seconds: float | None = None
    line_id: str | None = None
    replicate: int = 1
    renewed: bool = False
    began: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered[T: BaseModel]:
    """The result of an adapter's call: the parsed value, the model that the provider says has answered, and the usage.

    `line_id` is the id of the line in a provider's batch that the answer came under; None if it was asked for outside
    of a batch.
    """

    value: T
    model: str
    usage: Usage
    line_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply[T: BaseModel]:
    """A judge's reply with everything that a record keeps of it.

    `model` is the model that answered, `requested_model` the model asked for. `cost_usd` is None if the registry has no
    price for the model or the provider told no usage, and 0.0 if the reply is `cached`. `latency_ms` is the provider's
    time for the call that succeeded. `attempts` counts the calls sent for this question, failed ones included;
    `failed_calls` are the failed calls that are paid for. `line_id` is the id of the reply's line in a provider's
    batch; None if the question was asked outside of a batch.
    """

    value: T
    provider: str
    model: str
    requested_model: str
    prompt_version: str
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    latency_ms: float = 0.0
    attempts: int = 1
    cached: bool = False
    failed_calls: tuple[FailedCall, ...] = ()
    line_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLimits:
    """A provider's quota for one model and account. None: no limit known."""

    per_day: int | None = None
    per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call about to be made, as admission sees it. `max_cost_usd` is its highest possible price, None if unknown."""

    provider: str
    model: str
    account: str
    tenant: str
    purpose: Purpose
    limits: QuotaLimits
    max_cost_usd: float | None


class Permit(Protocol):
    """A reserved unit of quota and money for one call. Exactly one of `settle` and `release` ends it."""

    @property
    def expired(self) -> bool:
        """Whether this permit is too old to send the call: the call would fall into another minute or day."""
        ...

    async def settle(self, *, cost_usd: float | None, error: JudgeError | None = None) -> None:
        """The call was sent: account for its cost, and learn what its error, if any, says of quota, model or key."""
        ...

    async def release(self) -> None:
        """The call was certainly never sent: give the unit and the money back."""
        ...


class Admission(Protocol):
    """Reserves quota and money before a call."""

    async def admit(self, call: Call) -> Permit:
        """Reserve one unit of quota and the money for one call.

        Raises `QuotaExceededError` or `SpendingCeilingError`. Raises `UnavailableModelError` if the provider has just
        refused the same model and key as unavailable. After an error nothing may be sent.
        """
        ...


class ReplyCache(Protocol):
    """Earlier replies by content address. Holds raw JSON, so that it need not know any schema."""

    async def get(self, key: str) -> str | None:
        """The stored reply, None when there is none."""
        ...

    async def put(self, key: str, reply_json: str) -> None:
        """Store a reply under its content address."""
        ...


class NamedModel(Protocol):
    """A language model, by its names."""

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        ...

    @property
    def model(self) -> str:
        """The model asked for."""
        ...


class Around[M: NamedModel]:
    """The base of what asks another judge or model, `inner`, and does something of its own before or after."""

    __slots__ = ()

    inner: M

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self.inner.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.inner.model


class Judge(NamedModel, Protocol):
    """A language model asked to grade."""

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask, retrying only what can succeed, all within `deadline`. Raises `JudgeError` or `LimitError`."""
        ...


MOST_JUDGES = 3
"""The most judges that are asked until one is sure. Each costs as much as the first."""


def _no_boolean(wanted: object) -> object:
    """The value handed in.

    A boolean becomes its `repr`, which the type refuses: True is no number of judges, though it equals 1.
    """
    return repr(wanted) if isinstance(wanted, bool) else wanted


type JudgeCount = Annotated[Literal[1, 2, 3, "until_sure"], BeforeValidator(_no_boolean)]
"""How many judges are asked for a verdict. 1: another judge is asked only if the first is not sure enough.
`until_sure`: judges are asked one after the other, three at most, until one is sure enough."""


def most_judges(wanted: int | Literal["until_sure"]) -> int:
    """The most judges that may be asked for a verdict.

    If 1 is wanted, its labels may ask for another, which is not counted.
    """
    return MOST_JUDGES if wanted == "until_sure" else wanted


def asks_in_turn(wanted: JudgeCount) -> bool:
    """Whether each judge is asked only if the one before is not sure enough.

    Otherwise several judges are asked side by side, and vote.
    """
    return wanted in {1, "until_sure"}


def _no_confidence(wanted: object) -> object:
    """The value handed in.

    Raises a validation error for `until_sure`: judges of scores do not say how sure they are.
    """
    if wanted == "until_sure":
        raise PydanticCustomError(
            "until_sure", "judges of scores do not say how sure they are, so that none is sure enough; ask 1, 2 or 3"
        )
    return _no_boolean(wanted)


type PanelSize = Annotated[Literal[1, 2, 3], BeforeValidator(_no_confidence)]
"""How many judges are asked side by side, of whom more than half must agree."""


@dataclass(frozen=True, slots=True)
class WorkJudge(Around[Judge]):
    """A judge that is asked for one piece of work, in several tries or by batches. The work began at `began` (UTC).

    A known reply may fit its schema and still be of no use to the job, which alone knows its own rules. It stays known
    to the work that paid for it, so that each of its tries and each replay of its batches ends alike. Other work that
    finds it asks once more, and the new reply takes its place.
    """

    inner: Judge
    began: datetime

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask. Raises as any judge does."""
        return await self.inner.ask(replace(question, began=self.began), deadline=deadline)


def judge_for_work(judge: Judge, began: datetime | None) -> Judge:
    """The judge as it is asked for a piece of work that began then (UTC). None: as it is asked for work of one try."""
    return judge if began is None else WorkJudge(judge, began)
