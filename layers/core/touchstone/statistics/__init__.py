"""Figures about experiments and judges: intervals, agreement, calibration. All are pure functions of plain numbers.

Names are imported on first use. numpy and scipy are imported by the functions that calculate with them:
`paired_difference`, `minimum_detectable_effect` and `sources_needed`.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.statistics.agreement import Alpha as Alpha
    from touchstone.statistics.agreement import FlipRate as FlipRate
    from touchstone.statistics.agreement import Kappa as Kappa
    from touchstone.statistics.agreement import cohen_kappa as cohen_kappa
    from touchstone.statistics.agreement import flip_rate as flip_rate
    from touchstone.statistics.agreement import flip_rate_of_counts as flip_rate_of_counts
    from touchstone.statistics.agreement import interval_alpha as interval_alpha
    from touchstone.statistics.agreement import kappa_of_counts as kappa_of_counts
    from touchstone.statistics.agreement import nominal_alpha as nominal_alpha
    from touchstone.statistics.calibration import Bin as Bin
    from touchstone.statistics.calibration import BinCounts as BinCounts
    from touchstone.statistics.calibration import Reliability as Reliability
    from touchstone.statistics.calibration import reliability as reliability
    from touchstone.statistics.calibration import reliability_of_counts as reliability_of_counts
    from touchstone.statistics.cards import Agreement as Agreement
    from touchstone.statistics.cards import Calibration as Calibration
    from touchstone.statistics.cards import CallFigures as CallFigures
    from touchstone.statistics.cards import ClassFigures as ClassFigures
    from touchstone.statistics.cards import JudgeCard as JudgeCard
    from touchstone.statistics.cards import NotEnoughLabels as NotEnoughLabels
    from touchstone.statistics.cards import Share as Share
    from touchstone.statistics.cards import judge_card as judge_card
    from touchstone.statistics.corrected import CorrectedRate as CorrectedRate
    from touchstone.statistics.corrected import VerdictCells as VerdictCells
    from touchstone.statistics.corrected import corrected_rate as corrected_rate
    from touchstone.statistics.intervals import binomial_lower as binomial_lower
    from touchstone.statistics.intervals import score_interval as score_interval
    from touchstone.statistics.intervals import wilson_interval as wilson_interval
    from touchstone.statistics.intervals import wilson_lower as wilson_lower
    from touchstone.statistics.multiple import Corrected as Corrected
    from touchstone.statistics.multiple import holm as holm
    from touchstone.statistics.paired import ItemPair as ItemPair
    from touchstone.statistics.paired import PairedDifference as PairedDifference
    from touchstone.statistics.paired import pair_items as pair_items
    from touchstone.statistics.paired import paired_difference as paired_difference
    from touchstone.statistics.power import DetectableEffect as DetectableEffect
    from touchstone.statistics.power import minimum_detectable_effect as minimum_detectable_effect
    from touchstone.statistics.power import sources_needed as sources_needed
    from touchstone.statistics.sampling import LabelCandidate as LabelCandidate
    from touchstone.statistics.sampling import next_to_label as next_to_label
    from touchstone.statistics.tallies import CardTally as CardTally
    from touchstone.statistics.tallies import Judged as Judged
    from touchstone.statistics.tallies import JudgeKey as JudgeKey
    from touchstone.statistics.tallies import call_tally as call_tally
    from touchstone.statistics.tallies import label_tally as label_tally
    from touchstone.statistics.tallies import levels_of as levels_of
    from touchstone.statistics.tallies import order_tally as order_tally
    from touchstone.statistics.tallies import people_tally as people_tally
    from touchstone.statistics.thresholds import ConfidenceThreshold as ConfidenceThreshold
    from touchstone.statistics.thresholds import LevelCounts as LevelCounts
    from touchstone.statistics.thresholds import threshold_of as threshold_of
    from touchstone.statistics.votes import Majority as Majority
    from touchstone.statistics.votes import Median as Median
    from touchstone.statistics.votes import majority as majority
    from touchstone.statistics.votes import median as median

lazy_exports(__name__)
