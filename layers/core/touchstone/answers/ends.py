"""Whether an answer has its end, or another try could still decide it."""

from collections.abc import Mapping
from typing import Any

from touchstone.errors import LASTING


def passing_reason(view: Mapping[str, Any]) -> str | None:
    """Why an answer is not done, by its view as JSON: what kept it from being decided, and may pass.

    None: it has its end, which another try would not change. A deep evaluation that was asked for and failed counts.
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
    return next((reason for reason in reasons if reason is not None and reason not in LASTING), None)
