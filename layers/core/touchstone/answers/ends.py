"""Whether an answer, or a line of a batch, has come to its end, or whether another try could still decide it."""

from collections.abc import Mapping
from typing import Any

from touchstone.errors import PERMANENT_REASONS

NOT_DONE: frozenset[str] = frozenset({"not_done", "file_replaced"})
"""Error reasons of a line that was not worked on."""


def passing_reason(view: Mapping[str, Any]) -> str | None:
    """The reason why an answer is not done, by its view as JSON, if this reason may pass.

    None if the answer has come to its end, which another try would not change. A deep evaluation that was asked for and
    failed is a reason too.
    """
    attempts = view.get("attempts") or ()
    evaluation = view.get("evaluation") or {}
    reasons: list[str | None] = []
    if view.get("stage") == "failed":
        reasons.append(view.get("failure_reason"))
    if view.get("verification_status") == "unverified" and attempts:
        # The badge follows the last attempt's verification, whichever attempt is returned.
        reasons.append((attempts[-1].get("verification") or {}).get("skip_reason"))
    if evaluation.get("state") == "failed":
        reasons.append(evaluation.get("failure_reason"))
    return next((reason for reason in reasons if reason is not None and reason not in PERMANENT_REASONS), None)


def passing_reason_of_line(result: Mapping[str, Any]) -> str | None:
    """The reason why a line is not done, by its result as JSON, if this reason may pass.

    None if the line has come to its end, or could not be taken.
    """
    if answer := result.get("answer"):
        # A line that asks only for an evaluation decides nothing new about its answer.
        return passing_reason({"evaluation": answer.get("evaluation")} if result.get("kind") == "evaluate" else answer)
    quiz, error = result.get("quiz") or {}, result.get("error") or {}
    reason = None
    if quiz.get("state") in {"failed", "unchecked"}:
        reason = (quiz.get("failed") or quiz.get("unchecked") or {}).get("reason")
    elif error.get("reason") in NOT_DONE:
        reason = error["reason"]
    return None if reason in PERMANENT_REASONS else reason
