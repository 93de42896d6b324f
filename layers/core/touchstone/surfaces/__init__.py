"""Surfaces: how good a quiz, a summary or a deck of flashcards is; `experiments` says which of two variants is better.

```python
report = await evaluate_quiz(quiz, source)
report.scores  # {"quiz_clarity": 90.0, …}, each 0-100
```

Names are imported on first use, so that a function imports only the part of this package that it needs.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.surfaces.catalogue import CATALOGUE as CATALOGUE
    from touchstone.surfaces.catalogue import Metric as Metric
    from touchstone.surfaces.catalogue import metrics_of as metrics_of
    from touchstone.surfaces.evaluation import LeftOut as LeftOut
    from touchstone.surfaces.evaluation import Report as Report
    from touchstone.surfaces.evaluation import evaluate_flashcards as evaluate_flashcards
    from touchstone.surfaces.evaluation import evaluate_quiz as evaluate_quiz
    from touchstone.surfaces.evaluation import evaluate_summary as evaluate_summary
    from touchstone.surfaces.measuring import Measuring as Measuring
    from touchstone.surfaces.model import ItemLabel as ItemLabel
    from touchstone.surfaces.model import ItemVote as ItemVote
    from touchstone.surfaces.model import MetricResult as MetricResult
    from touchstone.surfaces.model import UnscoredItem as UnscoredItem
    from touchstone.surfaces.names import MetricName as MetricName
    from touchstone.surfaces.names import Surface as Surface

lazy_exports(__name__)
