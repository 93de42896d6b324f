"""Running a check beside an event loop: in the loop if it can answer at once, else in a thread, within a time limit.

By the same checks, an earlier verdict is held to the rules of today.
"""

import asyncio
from collections.abc import Callable

from touchstone.answers.answer_key import AnswerKey, meets
from touchstone.answers.model import Solution, Verification
from touchstone.answers.progress import status_of
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


async def same_value(
    problem: str, answer: str, independent_answer: str | None, key: AnswerKey | None = None
) -> bool | None:
    """Whether two answers to a problem have the same value, within the tolerance of an answer key if there is one.

    None if that cannot be decided, or if the judge gave no answer of its own.
    """
    if independent_answer is None or not independent_answer.strip():
        return None
    own = AnswerKey(expected=(independent_answer,), tolerance=None if key is None else key.tolerance)
    return await checked(meets, answer, own, problem, seconds=CHECK_SECONDS)


async def still_verified(problem: str, solution: Solution, verdict: Verification) -> bool:
    """Whether this verdict verifies this solution of `problem` today.

    Rules grow stricter: a verdict that was given before a rule is held to it all the same. A judge's own answer is
    compared with the solution again, since a check may read today what it could not read then. No judge is asked. A
    verdict by an answer key stands for that key alone.
    """
    from touchstone.answers.words import differ_in_words  # on first use: its expressions take a while to compile

    if status_of(verdict) != "verified" or verdict.contradicted or verdict.method == "expected":
        return False
    if verdict.method != "judge":
        return True
    voted = [vote.independent_answer for vote in verdict.counted if vote.passed]
    owns = [own for own in voted or [verdict.independent_answer] if own is not None]
    try:
        told = [(own, await same_value(problem, solution.answer, own)) for own in owns]
    except ImportError:  # the check needs algebra, which a function that only looks up lacks: not shown to stand
        return False
    return all(
        same or (same is None and not differ_in_words(solution.answer, own, problem=problem)) for own, same in told
    )
