"""What happens after a verification: enrich and return, or solve once more.

    verification                         attempts made < 2           otherwise
    passed, confidence >= 0.8            enrich, verified            enrich, verified
    None (skipped)                       enrich, unverified          enrich, unverified
    failed, or passed below 0.8          retry, another provider     enrich, caution

An answer that the caller brought is never solved again: its failure ends at `caution` at once.
"""

from collections.abc import Sequence

from touchstone.answers.model import Attempt, Route, Status, Verification

MAX_ATTEMPTS = 2
"""Attempts at one problem: the first, and one by a different provider."""
VERIFIED_FROM = 0.8
"""Lowest confidence (0-1) at which a pass counts as verified."""


def status_of(verification: Verification | None) -> Status:
    """The badge of an answer with this verification. None: it was never verified, so nobody decided."""
    if verification is None or verification.passed is None:
        return "unverified"
    if verification.passed and verification.confidence >= VERIFIED_FROM:
        return "verified"
    return "caution"


def route(verification: Verification, attempts_made: int, *, own_answer: bool = False) -> Route:
    """Where to go after the verification of attempt number `attempts_made` (counted from 1).

    `own_answer`: the answer is the caller's, so there is nothing to solve again.
    """
    if own_answer or attempts_made >= MAX_ATTEMPTS or status_of(verification) != "caution":
        return "enrich"
    return "retry"


def best_attempt(attempts: Sequence[Attempt]) -> int:
    """The number of the attempt to return; of equals the earlier. Raises `ValueError` without attempts.

    Passed comes before undecided, and undecided before failed: an answer that nobody could decide may be right, one
    that failed is held to be wrong. Among the passed the most confident comes first. Among the failed the *least*
    confident does, since there confidence is the certainty of being wrong, and a refuted answer is the worst of all.
    """
    if not attempts:
        raise ValueError("there is no attempt to choose from")
    return max(attempts, key=_rank).number


def _rank(attempt: Attempt) -> tuple[int, float]:
    """Ascending with the belief that the attempt's answer is right."""
    verification = attempt.verification
    if verification is None or verification.passed is None:
        return (1, 0.0)
    if verification.passed:
        return (2, verification.confidence)
    return (0, -verification.confidence)
