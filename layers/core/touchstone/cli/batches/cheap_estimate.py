"""An estimate of the questions of a file for the providers' batches and their cost, before anything is sent."""

from dataclasses import dataclass, replace

from touchstone.cli.batches.cheap_batch import can_be_batched
from touchstone.cli.batches.local_rounds import Lines
from touchstone.cli.local import inprocess
from touchstone.clock import system_clock
from touchstone.errors import TouchstoneError
from touchstone.judges.base import ReplyCache
from touchstone.judges.questions import cost_usd, max_usage_of
from touchstone.operations.batches.lines import VerifyLine, parse_line, request_of
from touchstone.operations.provider_batches.replaying import BatchApis, CheapLine, ReplayJudges, WaitingQuestion

BYTES_A_TOKEN = 3
"""Bytes of a prompt for each token: about four in English, and in Chinese three, which are one character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEstimate:
    """An estimate of the first questions of lines, without a second judge and without questions that are asked again.

    `calls` is the number of questions that go by batches. `input_tokens` is about the length of their prompts.
    `output_tokens` is the most that the models may write and think; they seldom do. `batch_usd` and `at_once_usd` are
    the highest cost by batches and at once, with a token for each byte of the prompts as when money is held back, and
    without the `unpriced_calls`, whose price is not known. `checked` lines need no judge, and `at_once` lines do not go
    by batches.
    """

    lines: int
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    batch_usd: float = 0.0
    at_once_usd: float = 0.0
    unpriced_calls: int = 0
    checked: int = 0
    at_once: int = 0


async def estimated(lines: Lines, apis: BatchApis, cache: ReplyCache) -> BatchEstimate:
    """The estimate for lines. Nothing is sent. A question whose reply is in the cache costs nothing."""
    found = BatchEstimate(lines=len(lines))
    seen: set[str] = set()
    for text in lines.values():
        if not can_be_batched(text):
            found = replace(found, at_once=found.at_once + 1)
            continue
        wants = await _wanted(text, apis, cache)
        found = replace(found, checked=found.checked + (not wants))
        for one in wants:
            if one.shared and one.address in seen:
                continue
            seen.add(one.address)
            found = _with(found, one, apis)
    return found


async def _wanted(text: bytes, apis: BatchApis, cache: ReplyCache) -> list[WaitingQuestion]:
    line, work = parse_line(text), CheapLine({})
    judges = ReplayJudges(apis, work, prices=apis.registry, cache=cache)
    try:
        if isinstance(line, VerifyLine):
            await inprocess.answered(request_of(line), judges)
    except TouchstoneError:
        pass  # the line is wrong; its result will say so
    finally:
        await judges.aclose()
    return work.wanted


def _with(found: BatchEstimate, one: WaitingQuestion, apis: BatchApis) -> BatchEstimate:
    model, provider = apis.registry.find(one.provider, one.model), apis.registry.provider(one.provider)
    most = max_usage_of(one.sample_line)
    about = replace(most, input_tokens=max(1, most.input_tokens // BYTES_A_TOKEN))
    price = cost_usd(model, most, on=system_clock().date())
    factor = provider.batch_factor_of(model.name)
    return replace(
        found,
        calls=found.calls + 1,
        input_tokens=found.input_tokens + about.input_tokens,
        output_tokens=found.output_tokens + about.output_tokens,
        at_once_usd=found.at_once_usd + (price or 0.0),
        batch_usd=found.batch_usd + (price or 0.0) * (1.0 if factor is None else factor),
        unpriced_calls=found.unpriced_calls + (price is None),
    )
