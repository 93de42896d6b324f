"""What an audit came to: `quality_report.json` for programs, `quality_audit.md` for people.

```python
report = quality_report(bundle.manifest, audited, limits=DEFAULT_LIMITS, trusted=False, made_at=system_clock())
Path("quality_report.json").write_text(report_json(report), encoding="utf-8")
Path("quality_audit.md").write_text(report_markdown(report), encoding="utf-8")
```

The report has everything that it was computed from, so that every figure can be computed again, and every proof run
again without asking a model (`touchstone.audits.recheck`).
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.audits.report.model import (
        AuditedCase,
        QualityReport,
        Source,
        StoredProof,
        audited_case,
        quality_report,
        read_report,
        report_json,
        stored_proof,
    )
    from touchstone.audits.report.pages import report_markdown

__getattr__ = Face(
    __name__,
    {
        "model": (
            "AuditedCase",
            "QualityReport",
            "Source",
            "StoredProof",
            "audited_case",
            "quality_report",
            "read_report",
            "report_json",
            "stored_proof",
        ),
        "pages": ("report_markdown",),
    },
)

__all__ = [
    "AuditedCase",
    "QualityReport",
    "Source",
    "StoredProof",
    "audited_case",
    "quality_report",
    "read_report",
    "report_json",
    "report_markdown",
    "stored_proof",
]
