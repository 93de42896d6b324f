"""Experiments: which of two variants of the same material is better, by how much, and how sure that is.

```python
conclusion = await run_experiment(experiment, folder=Path("runs/july"))
conclusion.verdict  # "b_better"
conclusion.metrics[0].difference, conclusion.metrics[0].interval  # in points of 100, B less A
```

Names are imported on first use; numpy and scipy by `conclude` alone.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.surfaces.experiments.concluding import conclude
    from touchstone.surfaces.experiments.conclusion import (
        Comparison,
        Conclusion,
        Denominator,
        FailedItem,
        ItemDifference,
        MetricComparison,
        Missing,
        Outlay,
        PreferenceComparison,
        PreferredItem,
        PromptVersion,
    )
    from touchstone.surfaces.experiments.estimate import Estimate, estimate_of
    from touchstone.surfaces.experiments.generation import Failure
    from touchstone.surfaces.experiments.model import Experiment, Generation, Item, Pair, Terms, Variant
    from touchstone.surfaces.experiments.pairs import Measured, PairResult, measure_pair
    from touchstone.surfaces.experiments.preference import Order, Preference
    from touchstone.surfaces.experiments.run import Progress, run_experiment

__getattr__ = Face(
    __name__,
    {
        "concluding": ("conclude",),
        "conclusion": (
            "Comparison",
            "Conclusion",
            "Denominator",
            "FailedItem",
            "ItemDifference",
            "MetricComparison",
            "Missing",
            "Outlay",
            "PreferenceComparison",
            "PreferredItem",
            "PromptVersion",
        ),
        "estimate": ("Estimate", "estimate_of"),
        "generation": ("Failure",),
        "model": ("Experiment", "Generation", "Item", "Pair", "Terms", "Variant"),
        "pairs": ("Measured", "PairResult", "measure_pair"),
        "preference": ("Order", "Preference"),
        "run": ("Progress", "run_experiment"),
    },
)

__all__ = [
    "Comparison",
    "Conclusion",
    "Denominator",
    "Estimate",
    "Experiment",
    "FailedItem",
    "Failure",
    "Generation",
    "Item",
    "ItemDifference",
    "Measured",
    "MetricComparison",
    "Missing",
    "Order",
    "Outlay",
    "Pair",
    "PairResult",
    "Preference",
    "PreferenceComparison",
    "PreferredItem",
    "Progress",
    "PromptVersion",
    "Terms",
    "Variant",
    "conclude",
    "estimate_of",
    "measure_pair",
    "run_experiment",
]
