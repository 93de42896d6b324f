"""Reports of an experiment: for people as HTML and Markdown, for spreadsheets as CSV, for programs as JSON.

```python
Path("report.html").write_text(report_html(conclusion), encoding="utf-8")
```

All say the same, from the same `Conclusion`; `report_items_csv` shows the results behind it. Every text in them came
from elsewhere and stays text: nothing is read as markup, and no cell is computed.

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.surfaces.experiments.report.documents import report_json
    from touchstone.surfaces.experiments.report.pages import report_html, report_markdown
    from touchstone.surfaces.experiments.report.sentences import headline, notes
    from touchstone.surfaces.experiments.report.tables import report_csv, report_items_csv

__getattr__ = Face(
    __name__,
    {
        "documents": ("report_json",),
        "pages": ("report_html", "report_markdown"),
        "sentences": ("headline", "notes"),
        "tables": ("report_csv", "report_items_csv"),
    },
)

__all__ = ["headline", "notes", "report_csv", "report_html", "report_items_csv", "report_json", "report_markdown"]
