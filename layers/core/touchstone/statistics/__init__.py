"""What the figures of experiments and judges are worth: intervals, agreement, calibration; pure, of plain numbers.

Names are imported on first use; numpy and scipy by the functions that calculate with them, `paired_difference`,
`minimum_detectable_effect` and `sources_needed`.
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
        flip_rate_of_counts,
        interval_alpha,
        kappa_of_counts,
        nominal_alpha,
    )
    from touchstone.statistics.calibration import Bin, BinCounts, Reliability, reliability, reliability_of_counts
    from touchstone.statistics.cards import (
        Agreement,
        Calibration,
        CallFigures,
        ClassFigures,
        JudgeCard,
        NotEnoughLabels,
        Share,
        card,
    )
    from touchstone.statistics.intervals import score_interval, wilson_interval, wilson_lower
    from touchstone.statistics.multiple import Corrected, holm
    from touchstone.statistics.paired import PairedDifference, paired_difference
    from touchstone.statistics.pairs import ItemPair, pair_items
    from touchstone.statistics.power import DetectableEffect, minimum_detectable_effect, sources_needed
    from touchstone.statistics.tallies import CardTally, Judged, JudgeKey, call_tally, label_tally, order_tally
    from touchstone.statistics.votes import Majority, Median, majority, median

__getattr__ = Face(
    __name__,
    {
        "agreement": (
            "Alpha",
            "FlipRate",
            "Kappa",
            "cohen_kappa",
            "flip_rate",
            "flip_rate_of_counts",
            "interval_alpha",
            "kappa_of_counts",
            "nominal_alpha",
        ),
        "calibration": ("Bin", "BinCounts", "Reliability", "reliability", "reliability_of_counts"),
        "cards": (
            "Agreement",
            "Calibration",
            "CallFigures",
            "ClassFigures",
            "JudgeCard",
            "NotEnoughLabels",
            "Share",
            "card",
        ),
        "intervals": ("score_interval", "wilson_interval", "wilson_lower"),
        "multiple": ("Corrected", "holm"),
        "paired": ("PairedDifference", "paired_difference"),
        "pairs": ("ItemPair", "pair_items"),
        "power": ("DetectableEffect", "minimum_detectable_effect", "sources_needed"),
        "tallies": ("CardTally", "JudgeKey", "Judged", "call_tally", "label_tally", "order_tally"),
        "votes": ("Majority", "Median", "majority", "median"),
    },
)

__all__ = [
    "Agreement",
    "Alpha",
    "Bin",
    "BinCounts",
    "Calibration",
    "CallFigures",
    "CardTally",
    "ClassFigures",
    "Corrected",
    "DetectableEffect",
    "FlipRate",
    "ItemPair",
    "JudgeCard",
    "JudgeKey",
    "Judged",
    "Kappa",
    "Majority",
    "Median",
    "NotEnoughLabels",
    "PairedDifference",
    "Reliability",
    "Share",
    "call_tally",
    "card",
    "cohen_kappa",
    "flip_rate",
    "flip_rate_of_counts",
    "holm",
    "interval_alpha",
    "kappa_of_counts",
    "label_tally",
    "majority",
    "median",
    "minimum_detectable_effect",
    "nominal_alpha",
    "order_tally",
    "pair_items",
    "paired_difference",
    "reliability",
    "reliability_of_counts",
    "score_interval",
    "sources_needed",
    "wilson_interval",
    "wilson_lower",
]
