"""Surfaces: how good a quiz, a summary or a deck of flashcards is; `experiments` says which of two variants is better.

```python
report = await evaluate_quiz(quiz, source)
report.scores  # {"quiz_clarity": 90.0, …}, each 0-100
```

Names are imported on first use, so that a function imports its own part of the job alone.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.surfaces.catalogue import CATALOGUE, Metric, metrics_of
    from touchstone.surfaces.evaluation import (
        LeftOut,
        Report,
        evaluate_flashcards,
        evaluate_quiz,
        evaluate_summary,
    )
    from touchstone.surfaces.measuring import Measuring
    from touchstone.surfaces.model import ItemLabel, MetricName, MetricResult, Surface, UnscoredItem

__getattr__ = Face(
    __name__,
    {
        "catalogue": ("CATALOGUE", "Metric", "metrics_of"),
        "evaluation": ("LeftOut", "Report", "evaluate_flashcards", "evaluate_quiz", "evaluate_summary"),
        "measuring": ("Measuring",),
        "model": ("ItemLabel", "MetricName", "MetricResult", "Surface", "UnscoredItem"),
    },
)

__all__ = [
    "CATALOGUE",
    "ItemLabel",
    "LeftOut",
    "Measuring",
    "Metric",
    "MetricName",
    "MetricResult",
    "Report",
    "Surface",
    "UnscoredItem",
    "evaluate_flashcards",
    "evaluate_quiz",
    "evaluate_summary",
    "metrics_of",
]
