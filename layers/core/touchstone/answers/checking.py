"""Running a check beside an event loop: in the loop if it can answer at once, else in a thread, within a time limit."""

import asyncio
from collections.abc import Callable

from touchstone import checks
from touchstone.answers.answer_key import AnswerKey, meets
from touchstone.limits import NotAtOnceError

CHECK_SECONDS = 2.0
"""The most seconds to wait for a check that may have to load sympy first; checks bound their own work to 0.3 s. The
limit leaves the judge half of the 5 s that a verification may take, even in a cold start. Without a judge there is no
need to hurry."""

_loaded = set[Callable[..., object]]()
"""The checks that have answered before. The first call of a check loads what it needs, which takes a tenth of a second.
"""


async def checked[T](check: Callable[..., T], *given: object, seconds: float) -> T | None:
    """The result of a check, without holding up the event loop, not even to load the check. None if it takes too long.

    If the check can answer at once, it runs in the event loop: a thread would cost several times as much as most
    checks.
    """
    if check in _loaded:
        try:
            return check(*given, at_once=True)
        except NotAtOnceError:
            pass
    try:
        async with asyncio.timeout(seconds):
            found = await asyncio.to_thread(check, *given)
    except TimeoutError:
        return None
    _loaded.add(check)
    return found


async def same_value(answer: str, independent_answer: str | None, key: AnswerKey | None = None) -> bool | None:
    """Whether two answers have the same value, within the tolerance of an answer key if there is one.

    None if that cannot be decided, or if the judge gave no answer of its own.
    """
    if independent_answer is None or not independent_answer.strip():
        return None
    if key is not None and key.tolerance is not None:
        own = key.model_copy(update={"expected": (independent_answer,)})
        return await checked(meets, answer, own, seconds=CHECK_SECONDS)
    return await checked(checks.equivalent, answer, independent_answer, seconds=CHECK_SECONDS)
