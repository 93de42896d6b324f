"""What the figures of experiments and judges are worth: intervals, agreement, calibration; pure, of plain numbers.

Names are imported on first use; numpy and scipy by the two functions that calculate with them, `paired_difference` and
`minimum_detectable_effect`.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.statistics.agreement import (
        Alpha,
        FlipRate,
        Kappa,
        cohen_kappa,
        flip_rate,
        interval_alpha,
        nominal_alpha,
    )
    from touchstone.statistics.calibration import Bin, Reliability, reliability
    from touchstone.statistics.intervals import score_interval, wilson_interval, wilson_lower
    from touchstone.statistics.multiple import Corrected, holm
    from touchstone.statistics.paired import PairedDifference, paired_difference
    from touchstone.statistics.pairs import ItemPair, pair_items
    from touchstone.statistics.power import DetectableEffect, minimum_detectable_effect
    from touchstone.statistics.votes import Majority, Median, majority, median

__getattr__ = Face(
    __name__,
    {
        "agreement": ("Alpha", "FlipRate", "Kappa", "cohen_kappa", "flip_rate", "interval_alpha", "nominal_alpha"),
        "calibration": ("Bin", "Reliability", "reliability"),
        "intervals": ("score_interval", "wilson_interval", "wilson_lower"),
        "multiple": ("Corrected", "holm"),
        "paired": ("PairedDifference", "paired_difference"),
        "pairs": ("ItemPair", "pair_items"),
        "power": ("DetectableEffect", "minimum_detectable_effect"),
        "votes": ("Majority", "Median", "majority", "median"),
    },
)

__all__ = [
    "Alpha",
    "Bin",
    "Corrected",
    "DetectableEffect",
    "FlipRate",
    "ItemPair",
    "Kappa",
    "Majority",
    "Median",
    "PairedDifference",
    "Reliability",
    "cohen_kappa",
    "flip_rate",
    "holm",
    "interval_alpha",
    "majority",
    "median",
    "minimum_detectable_effect",
    "nominal_alpha",
    "pair_items",
    "paired_difference",
    "reliability",
    "score_interval",
    "wilson_interval",
    "wilson_lower",
]
