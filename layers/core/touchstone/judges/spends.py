"""What a record keeps of the judge calls that were paid for: one `Spend` for each call, failed calls included."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

from pydantic import BaseModel, ConfigDict

from touchstone.errors import FailedCall, JudgeError, JudgeFailure, LimitError
from touchstone.judges.base import Reply


class Spend(BaseModel):
    """One judge call as a record keeps it: its purpose (a word of the job), the model that answered, tokens and cost.

    `cost_usd` is null if the registry has no price, or the provider told no usage. `cached` calls cost 0.0. `claimed`
    is the usage that the provider told, if it cannot be true. `line_id` is the id of the call's line in a provider's
    batch, and `saved_usd` what the batch saved, null if no price is known. Both are null if the call was made at once.
    `failure` is why a paid call brought no usable reply, null if it brought one.

    A failed call is left out if the provider told no tokens (for example, because the deadline cut it short). The
    tenant's spending then counts the highest price of the call.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    purpose: str
    provider: str
    model: str
    prompt_version: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    claimed: str | None = None
    latency_ms: float = 0.0
    cached: bool = False
    line_id: str | None = None
    saved_usd: float | None = None
    failure: JudgeFailure | None = None


class JudgedBy(BaseModel):
    """The judge of a verdict: the model that answered, by the name that it gives itself, and the version of the prompt.

    If no judge was needed, the model is `checks` and the prompt version is null.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    prompt_version: str | None


BY_CHECKS = JudgedBy(model="checks", prompt_version=None)
"""The author of a verdict that a program decided."""


def spends_of(reply: Reply[BaseModel], purpose: str) -> tuple[Spend, ...]:
    """What a record keeps of the calls for a question that was answered: the failed calls before it, then its own."""
    return (*(_spend(call, purpose) for call in reply.failed_calls), _spend(reply, purpose))


def spends_of_failure(error: JudgeError | LimitError, purpose: str) -> tuple[Spend, ...]:
    """What a record keeps of the calls for a question that nobody answered: the failed calls that are paid for."""
    return tuple(_spend(call, purpose) for call in error.failed_calls)


class WithSpends(Protocol):
    """A record that keeps the judge calls that were paid for it."""

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The calls that were paid for, in the order in which they were stored."""
        ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """The record with some fields changed."""
        ...


def paying[R: WithSpends](step: Callable[[R], R], spends: Sequence[Spend]) -> Callable[[R], R]:
    """The step of a record, which also adds these calls if it changes the record: what came twice is paid once."""

    def pay(record: R) -> R:
        after = step(record)
        return after if after is record else after.model_copy(update={"spends": (*after.spends, *spends)})

    return pay


def known_cost(spends: Iterable[Spend]) -> float | None:
    """The cost of the calls in US dollars, without those of unknown price.

    None if some price is unknown and the others sum up to 0.
    """
    costs = [spend.cost_usd for spend in spends]
    return cost_to_show(sum(cost or 0.0 for cost in costs), costs.count(None))


def batch_savings(spends: Iterable[Spend]) -> float | None:
    """What the batches of providers saved in US dollars. None if no batch was used, or no saving is known."""
    known = [spend.saved_usd for spend in spends if spend.saved_usd is not None]
    return sum(known) if known else None


def count_unpriced(spends: Iterable[Spend]) -> int:
    """How many of the calls have no known price."""
    return sum(spend.cost_usd is None for spend in spends)


def tokens_of(spends: Iterable[Spend]) -> int:
    """The input and output tokens of all calls."""
    return sum(spend.input_tokens + spend.output_tokens for spend in spends)


def cost_to_show(known: float, unpriced_calls: int) -> float | None:
    """A sum of known costs, as it is told beside the number of calls that are not in it.

    None if it is 0 and lacks calls.
    """
    return None if unpriced_calls and not known else known


def models_of(spends: Iterable[Spend]) -> tuple[str, ...]:
    """The models that were asked, each once, sorted by name."""
    return tuple(sorted({spend.model for spend in spends}))


def providers_of(spends: Iterable[Spend]) -> tuple[str, ...]:
    """The providers whose models were asked, each once, sorted by name."""
    return tuple(sorted({spend.provider for spend in spends}))


def single_replier(spends: Iterable[Spend], purpose: str) -> JudgedBy | None:
    """The judge that gave all replies for a purpose, unreadable ones included.

    None if there was no reply, or if several judges replied.
    """
    replies = (spend for spend in spends if spend.purpose == purpose and spend.failure in {None, "unreadable"})
    return single_judge(JudgedBy(model=spend.model, prompt_version=spend.prompt_version) for spend in replies)


def single_judge(judges: Iterable[JudgedBy | None]) -> JudgedBy | None:
    """The one judge that all verdicts are of. None if there are no verdicts, or not all are of the same judge."""
    found = set(judges)
    return found.pop() if len(found) == 1 else None


def _spend(call: Reply[BaseModel] | FailedCall, purpose: str) -> Spend:
    return Spend(
        purpose=purpose,
        provider=call.provider,
        model=call.model,
        prompt_version=call.prompt_version,
        input_tokens=call.usage.input_tokens,
        output_tokens=call.usage.output_tokens,
        cost_usd=call.cost_usd,
        claimed=call.usage.claimed,
        latency_ms=call.latency_ms,
        cached=call.cached,
        line_id=call.line_id,
        failure=call.reason if isinstance(call, FailedCall) else None,
    )
