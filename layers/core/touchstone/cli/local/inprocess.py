"""Work without a deployment: the library runs in this process, with the judges whose keys are in the environment."""

import asyncio
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

from pydantic import BaseModel

from touchstone.answers.model import AnswerRecord, SolveRequest, VerifyRequest
from touchstone.answers.pipeline import deep_evaluate, evaluating_seconds, longest, solve_and_verify, verify_answer
from touchstone.answers.view import AnswerView
from touchstone.budgets import MemoryAdmission
from touchstone.cli.terminal.places import cache_folder
from touchstone.cli.terminal.screen import say
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError
from touchstone.extras import require_module
from touchstone.judges import EnvironmentKeys, FileCache, Judges, Registry, RetirementWarning, load_registry
from touchstone.judges.base import Around, Judge, JudgeQuestion, Reply
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.registry import ProviderKind

SDKS: Mapping[ProviderKind, str] = {
    "gemini": "google.genai",
    "anthropic": "anthropic",
    "openai": "openai",
    "compatible": "openai",
}
"""The module of the SDK by which each kind of provider is asked."""

type Told = Callable[[int, float, int], None]
"""Takes the number of questions that are answered or failed so far, their cost in US dollars as far as it is known,
and the number of calls without a known price."""


def answer(request: VerifyRequest | SolveRequest) -> dict[str, Any]:
    """Do a request, and return the view of the answer as the API would.

    Raises `InputError` if the problem is blank, or if the image is no picture.
    """

    async def whole() -> AnswerRecord:
        # To verify an answer, a check may be enough: then no SDK is needed.
        async with opened(sdks=isinstance(request, SolveRequest)) as judges:
            return await answered(request, judges)

    return AnswerView.of(done_here(whole())).model_dump(mode="json")


def done_here[T](work: Coroutine[Any, Any, T]) -> T:
    """Do work of judges to its end, and say the library's warnings then. Return its result."""
    with warnings_printed():
        return asyncio.run(work)


@asynccontextmanager
async def opened(
    kind: Callable[..., Judges] = Judges,
    *,
    registry: Registry | None = None,
    sdks: bool = True,
    slow_start: bool = False,
) -> AsyncIterator[Judges]:
    """Open the judges whose keys are on this machine, for the length of the `with`. Their replies are cached on disk.

    `kind` is the class of the judges. `registry` None: the registry that the environment names. With `sdks`, raises
    `SettingsError` at the beginning if a provider has a key and its SDK is not installed. `slow_start`: begin with few
    calls at a time, since many are wanted from a provider whose limits are not known.
    """
    registry = load_registry() if registry is None else registry
    judges = kind(
        registry, EnvironmentKeys(registry), admission=MemoryAdmission(slow_start=slow_start), cache=reply_cache()
    )
    for name in judges.available() if sdks else ():
        require_module(SDKS[registry.provider(name).kind], of="judges")
    async with aclosing(judges):
        yield judges


def reply_cache() -> FileCache:
    """The replies of judges that are kept on this machine, so that none is paid for twice."""
    return FileCache(cache_folder() / "replies.sqlite")


@contextmanager
def warnings_printed() -> Iterator[None]:
    """Say the library's warnings about the retirement of models on standard error, at the end of the `with`."""
    quiet = logging.NullHandler()  # the library also logs each warning: without this handler it would be printed twice
    logging.getLogger("touchstone").addHandler(quiet)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RetirementWarning)
            yield
    finally:
        logging.getLogger("touchstone").removeHandler(quiet)
    for warning in caught:
        if issubclass(warning.category, RetirementWarning):
            say(f"Note: {warning.message}")


async def answered(
    request: VerifyRequest | SolveRequest, judges: Judges, *, wait_seconds: float = 0.0, answer_id: str | None = None
) -> AnswerRecord:
    """Do a request to its end, within the longest time that its kind may take. Return its record.

    `wait_seconds` is extra time in which patient judges wait for a quota per minute. `answer_id` None: a new id. Raises
    `InputError` if the problem is blank or the image is no picture. A judge that fails raises nothing: the record tells
    of it.
    """
    deadline = Deadline.after(longest(request) + wait_seconds)
    if isinstance(request, VerifyRequest):
        record = await verify_answer(request, judges=judges, deadline=deadline, answer_id=answer_id)
    else:
        record = await solve_and_verify(request, judges=judges, deadline=deadline, answer_id=answer_id)
    if not request.deep_evaluation or record.best is None:
        return record
    return await _evaluated(record, judges, wait_seconds=wait_seconds)


async def _evaluated(record: AnswerRecord, judges: Judges, *, wait_seconds: float) -> AnswerRecord:
    deadline = Deadline.after(evaluating_seconds(record) + wait_seconds)
    try:
        return await deep_evaluate(record, judges=judges, deadline=deadline)
    except (JudgeError, LimitError) as error:
        why = {"failure": str(error), "failure_reason": unanswered_reason(error)}
        progress = record.evaluation.model_copy(update={"state": "failed", **why})
        return record.model_copy(update={"evaluation": progress})


class WatchedJudge(Around[Judge]):
    """Asks another judge, and calls `ended` after each reply, or with None after a failure."""

    def __init__(self, judge: Judge, ended: Callable[[Reply[Any] | None], None]) -> None:
        self.inner = judge
        self._ended = ended

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask the other judge. Raises as that judge does."""
        reply: Reply[T] | None = None
        try:
            reply = await self.inner.ask(question, deadline=deadline)
            return reply
        finally:
            self._ended(reply)


def watched(judges: Sequence[Judge], told: Told) -> tuple[WatchedJudge, ...]:
    """The judges, each watched. `told` gets the sums over the replies of all of them."""
    number, cost_usd, unpriced = 0, 0.0, 0

    def ended(reply: Reply[Any] | None) -> None:
        nonlocal number, cost_usd, unpriced
        number += 1
        if reply is not None:
            cost_usd += reply.cost_usd or 0.0
            unpriced += reply.cost_usd is None
        told(number, cost_usd, unpriced)

    return tuple(WatchedJudge(judge, ended) for judge in judges)
