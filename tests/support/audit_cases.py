"""A case to vary in tests."""

from typing import Any

from touchstone.audits.case import AuditCase

CASE: dict[str, Any] = {
    "id": "case-1",
    "kind": "multiple_choice",
    "question": "Which keyword does `tinylib.Box` take?",
    "options": [
        {"label": "A", "text": "width"},
        {"label": "B", "text": "breadth"},
        {"label": "C", "text": "girth"},
        {"label": "D", "text": "None of the above"},
    ],
    "ground_truth": "A",
}


def case(**changed: Any) -> AuditCase:
    return AuditCase.model_validate(CASE | changed)
