"""Whether the verdict on an earlier solution would still be `verified` by the rules of today."""

from touchstone.answers.checking import same_value
from touchstone.answers.model import Solution, Verification
from touchstone.answers.progress import status_of
from touchstone.answers.words import differ_in_words


async def still_verified(problem: str, solution: Solution, verdict: Verification) -> bool:
    """Whether this verdict verifies this solution of `problem` today.

    Rules grow stricter: a verdict that was given before a rule is held to it all the same. A judge's own answer is
    compared with the solution again, since a check may read today what it could not read then. No judge is asked. A
    verdict by an answer key stands for that key alone.
    """
    if status_of(verdict) != "verified" or verdict.contradicted or verdict.method == "expected":
        return False
    if verdict.method != "judge":
        return True
    voted = [vote.independent_answer for vote in verdict.counted if vote.passed]
    owns = [own for own in voted or [verdict.independent_answer] if own is not None]
    try:
        told = [(own, await same_value(solution.answer, own)) for own in owns]
    except ImportError:  # the check needs algebra, which a function that only looks up lacks: not shown to stand
        return False
    return all(
        same or (same is None and not differ_in_words(solution.answer, own, problem=problem)) for own, same in told
    )
