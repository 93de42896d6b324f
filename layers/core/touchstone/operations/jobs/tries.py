"""One try at a part of a job that asks models: its result, its failures, and when to try again."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pydantic import BaseModel

from touchstone.attempts import Attempts, TryEnd
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError, MisconfiguredError, SettingsError, TimedOutError
from touchstone.judges.base import Around, Judge, JudgeQuestion, NamedModel, Reply
from touchstone.judges.calls import not_scored
from touchstone.judges.conversing import Conversing, Turn, TurnRequest
from touchstone.judges.panel import IsolatedJudge
from touchstone.operations.jobs.after_failure import ANY_PROVIDER, Postponed, follow_up

INTERRUPTED = "Each try was interrupted before there was a result."
LATE = "The time of this try was over before all was answered."
_SAYS_LEAST: Sequence[TryEnd] = ("limited", "unanswered", "unread")
"""The ways in which a try ends, from the one that says least about the work to the one that says most."""


@dataclass(frozen=True, slots=True)
class _Noting[M: NamedModel](Around[M]):
    """Passes everything on to `inner`, and notes in `failures` the errors that calls ended with, in their order.

    The code that decides when to try again needs these errors: results describe failures in words only.
    """

    inner: M
    failures: list[JudgeError | LimitError] = field(default_factory=list)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except (JudgeError, LimitError) as error:
            self.failures.append(error)
            raise


class NotingJudge(_Noting[Judge]):
    """A judge that notes its failures."""

    __slots__ = ()

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask the judge; raises as any judge does."""
        with self._noted():
            return await self.inner.ask(question, deadline=deadline)


class NotingSolver(_Noting[Conversing]):
    """A model to converse with that notes its failures."""

    __slots__ = ()

    async def converse(self, request: TurnRequest, *, deadline: Deadline) -> Reply[Turn]:
        """The next turn of the conversation; raises as any model does."""
        with self._noted():
            return await self.inner.converse(request, deadline=deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class TryWithFailures[T]:
    """The `result` of a try, its `failures`, and the `provider` that was asked.

    `result` is None if no judge could be opened.
    """

    result: T | None
    failures: Sequence[JudgeError | LimitError] = ()
    provider: str = ANY_PROVIDER


async def try_noting_failures[T](
    open_judge: Callable[[], Judge],
    work: Callable[[Judge], Awaitable[T]],
    *,
    late: Callable[[T, Sequence[JudgeError | LimitError]], bool],
) -> TryWithFailures[T]:
    """Do work with a judge.

    `late` tells from the result and the failures whether the time ran out before the work was done. The judge cannot
    note that itself: a deadline ends a question from outside.
    """
    try:
        judge = NotingJudge(open_judge())
    except (SettingsError, MisconfiguredError) as error:
        return TryWithFailures(result=None, failures=[MisconfiguredError(str(error), sent=False)])
    result = await work(judge)
    over = [TimedOutError(LATE)] if late(result, judge.failures) else []
    return TryWithFailures(result=result, failures=[*judge.failures, *over], provider=judge.provider)


async def try_several_noting_failures[T](
    open_judges: Callable[[], Sequence[Judge]],
    work: Callable[[Sequence[Judge]], Awaitable[T]],
    *,
    late: Callable[[T], bool],
) -> TryWithFailures[T]:
    """Do work with several judges. The provider is that of the first judge that failed; `late` as for one judge.

    A judge counts as failed even if the votes of the others made up for it, so callers must look at the result first.
    """
    try:
        # `IsolatedJudge` makes a fault of the quota table, met while reserving for one judge, that judge's own failure.
        judges = [NotingJudge(IsolatedJudge(judge)) for judge in open_judges()]
        result = await work(judges)
    except (SettingsError, MisconfiguredError) as error:
        return TryWithFailures(result=None, failures=[MisconfiguredError(str(error), sent=False)])
    over = [TimedOutError(LATE)] if late(result) else []
    failed = next((judge.provider for judge in judges if judge.failures), ANY_PROVIDER)
    return TryWithFailures(
        result=result, failures=[*(each for judge in judges for each in judge.failures), *over], provider=failed
    )


def try_again(
    failures: Sequence[JudgeError | LimitError],
    *,
    attempts: Attempts,
    provider: str,
    now: datetime,
    asked_at: datetime,
    within: timedelta,
) -> Postponed | None:
    """When to try again: after the longest pause that any failure asks for. None: do not try again.

    It is None once `within` has passed since the work was asked for, and if no failure allows another try. `attempts`
    include the present try as underway. If several failures end the try in different ways, the try counts as ended by
    the way that says least about the work: for example, a try in which a quota ran out did what it could, and the next
    one continues from there.
    """
    if now - asked_at >= within:
        return None
    follow_ups = (
        follow_up(not_scored(error), attempts=attempts, provider=provider, now=now, asked_at=asked_at)
        for error in failures
    )
    later = [each for each in follow_ups if isinstance(each, Postponed)]
    if not later:
        return None
    return replace(
        max(later, key=lambda one: one.until), ended=min((one.ended for one in later), key=_SAYS_LEAST.index)
    )
