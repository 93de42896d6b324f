"""The result of an audit: `quality_report.json` for programs, `quality_audit.md` for people.

```python
report = quality_report(bundle.manifest, audited, limits=DEFAULT_LIMITS, trusted=False, made_at=system_clock())
Path("quality_report.json").write_text(report_json(report), encoding="utf-8")
Path("quality_audit.md").write_text(report_markdown(report), encoding="utf-8")
```

The report holds everything that it was computed from. So every figure can be computed again, and every proof can be run
again without asking a model (`touchstone.audits.recheck`).
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.audits.report.model import AuditedCase as AuditedCase
    from touchstone.audits.report.model import CaseSource as CaseSource
    from touchstone.audits.report.model import QualityReport as QualityReport
    from touchstone.audits.report.model import StoredProof as StoredProof
    from touchstone.audits.report.model import audited_case as audited_case
    from touchstone.audits.report.model import quality_report as quality_report
    from touchstone.audits.report.model import read_report as read_report
    from touchstone.audits.report.model import report_json as report_json
    from touchstone.audits.report.model import stored_proof as stored_proof
    from touchstone.audits.report.pages import report_markdown as report_markdown

lazy_exports(__name__)
