"""How the cases of audits are stored, and what each of their steps adds to the progress of the audit."""

from datetime import datetime
from typing import Any

from touchstone.audits.case_work import CaseProgress, CaseWork
from touchstone.records.keys import case_key, case_progress_key
from touchstone.records.table import Action, Item
from touchstone.records.versioned import Kind

_BILLION = 1_000_000_000
"""Costs are added up as whole billionths of a dollar."""


def _counted(before: CaseWork | None, after: CaseWork) -> tuple[Action, ...]:
    """What a step of a case adds to the progress of its audit."""
    ended = after.over and not (before is not None and before.over)
    cost = after.cost_usd - (before.cost_usd if before is not None else 0.0)
    values: dict[str, Any] = {
        ":done": int(ended),
        ":turns": after.turns - (before.turns if before is not None else 0),
        ":cost": round(cost * _BILLION),
        ":unpriced": after.unpriced_calls - (before.unpriced_calls if before is not None else 0),
        ":at": after.at.isoformat(),
        ":until": None if after.over or after.attempts.not_before is None else after.attempts.not_before.isoformat(),
        ":because": after.failure,
    }
    return (
        {
            "Update": {
                "Key": case_progress_key(after.tenant, after.audit_id),
                "UpdateExpression": (
                    "ADD done :done, turns :turns, cost :cost, unpriced :unpriced "
                    "SET #at = :at, #until = :until, because = :because"
                ),
                "ExpressionAttributeNames": {"#at": "at", "#until": "until"},
                "ExpressionAttributeValues": values,
            }
        },
    )


CASE_KIND = Kind(
    name="case",
    model=CaseWork,
    key=lambda one: case_key(one.tenant, one.audit_id, one.number),
    asked=lambda one: str(one.number),
    derived=lambda _: {},
    follows=_counted,
)
"""How cases are stored."""


def progress_of(item: Item) -> CaseProgress:
    """The progress of an audit's cases, as its item has it."""
    return CaseProgress(
        done=int(item["done"]),
        turns=int(item["turns"]),
        cost_usd=int(item["cost"]) / _BILLION,
        unpriced_calls=int(item.get("unpriced", 0)),
        at=datetime.fromisoformat(item["at"]),
        until=None if item["until"] is None else datetime.fromisoformat(item["until"]),
        because=item["because"],
    )
