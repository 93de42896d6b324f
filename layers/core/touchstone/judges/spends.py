"""What a record keeps of the judge calls that were paid for: one `Spend` each, failed ones among them."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from touchstone.errors import FailedCall, JudgeError, JudgeFailure, LimitError
from touchstone.judges.base import Reply


class Spend(BaseModel):
    """One judge call, as a record keeps it: what it was for (a job's own word), which model answered, tokens, cost.

    `cost_usd` is None where the registry has no price, or the provider told no usage; `cached` calls cost 0.0.
    `claimed` is what the provider told of its usage where that cannot be (see `Usage`). `line_id` is the id of its line
    in a provider's batch, and `saved_usd` what the batch saved, None where no price is known; both are None where it
    was asked at once. `failure` is why a call brought no reply that could be used, though it was paid for; None where
    it brought one. A failed call of which the provider told no tokens (it was cut short by the deadline, say) is not
    among them; the tenant's spending holds its highest price.
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
    """Whose verdict something is: the model that answered, by its own word, and the version of the prompt.

    Where no judge was needed the model is `checks`, and there is no prompt version.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    prompt_version: str | None


BY_CHECKS = JudgedBy(model="checks", prompt_version=None)
"""Whose verdict it is where a program decided."""


def spends_of(reply: Reply[BaseModel], purpose: str) -> tuple[Spend, ...]:
    """What a record keeps of the calls for a question that was answered, those before it that failed among them."""
    answered = Spend(
        purpose=purpose,
        provider=reply.provider,
        model=reply.model,
        prompt_version=reply.prompt_version,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        cost_usd=reply.cost_usd,
        claimed=reply.usage.claimed,
        latency_ms=reply.latency_ms,
        cached=reply.cached,
        line_id=reply.line_id,
    )
    return (*(_failed(call, purpose) for call in reply.failed_calls), answered)


def spends_of_failure(error: JudgeError | LimitError, purpose: str) -> tuple[Spend, ...]:
    """What a record keeps of the calls for a question that nobody answered: those that are paid for all the same."""
    return tuple(_failed(call, purpose) for call in error.failed_calls)


def known_cost(spends: Iterable[Spend]) -> float | None:
    """What calls cost in US dollars, those of unknown price left out; None where nothing of it is known."""
    costs = [spend.cost_usd for spend in spends]
    return told_cost(sum(cost or 0.0 for cost in costs), costs.count(None))


def saved(spends: Iterable[Spend]) -> float | None:
    """What the batches of providers saved in US dollars; None where none was used, or nothing of it is known."""
    known = [spend.saved_usd for spend in spends if spend.saved_usd is not None]
    return sum(known) if known else None


def unpriced(spends: Iterable[Spend]) -> int:
    """How many of the calls have no known price."""
    return sum(spend.cost_usd is None for spend in spends)


def told_cost(known: float, unpriced_calls: int) -> float | None:
    """A sum as it is told beside the number of calls that are not in it: None, not known, where it has nothing."""
    return None if unpriced_calls and not known else known


def models_of(spends: Iterable[Spend]) -> tuple[str, ...]:
    """The models that were asked, each once, by name."""
    return tuple(sorted({spend.model for spend in spends}))


def providers_of(spends: Iterable[Spend]) -> tuple[str, ...]:
    """Whose models were asked, each once, by name."""
    return tuple(sorted({spend.provider for spend in spends}))


def sole_replier(spends: Iterable[Spend], purpose: str) -> JudgedBy | None:
    """Who gave all replies for a purpose, unreadable ones among them.

    None where there was no reply, or where they came from several.
    """
    replies = (spend for spend in spends if spend.purpose == purpose and spend.failure in {None, "unreadable"})
    return sole(JudgedBy(model=spend.model, prompt_version=spend.prompt_version) for spend in replies)


def sole(judges: Iterable[JudgedBy | None]) -> JudgedBy | None:
    """The one judge that all of several verdicts are of; None where there is none, or more than one."""
    found = set(judges)
    return found.pop() if len(found) == 1 else None


def _failed(call: FailedCall, purpose: str) -> Spend:
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
        failure=call.reason,
    )
