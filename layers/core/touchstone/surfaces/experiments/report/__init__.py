"""Reports of an experiment: for people as HTML and Markdown, for spreadsheets as CSV, for programs as JSON.

```python
Path("report.html").write_text(report_html(conclusion), encoding="utf-8")
```

All reports say the same, from the same `Conclusion`. `report_items_csv` shows the results behind it. `side_by_side`
shows both texts of each pair with the differences marked (`sides_html`, `sides_markdown`, `sides_json`). Every text in
a report comes from elsewhere and stays text: nothing is read as markup, and no cell is computed.

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.surfaces.experiments.report.pages import report_html as report_html
    from touchstone.surfaces.experiments.report.pages import report_markdown as report_markdown
    from touchstone.surfaces.experiments.report.pages import sides_html as sides_html
    from touchstone.surfaces.experiments.report.pages import sides_json as sides_json
    from touchstone.surfaces.experiments.report.pages import sides_markdown as sides_markdown
    from touchstone.surfaces.experiments.report.pages import sides_that_fit as sides_that_fit
    from touchstone.surfaces.experiments.report.sentences import headline as headline
    from touchstone.surfaces.experiments.report.sentences import notes as notes
    from touchstone.surfaces.experiments.report.sides import SideBySide as SideBySide
    from touchstone.surfaces.experiments.report.sides import side_by_side as side_by_side
    from touchstone.surfaces.experiments.report.tables import report_csv as report_csv
    from touchstone.surfaces.experiments.report.tables import report_items_csv as report_items_csv
    from touchstone.surfaces.experiments.report.tables import report_json as report_json

lazy_exports(__name__)
