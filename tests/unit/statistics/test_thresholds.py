"""Thresholds from labels: exact bounds, the fixed order of the tests, and what they promise of the agreement above."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import beta

from tests.support.judge_worlds import JUDGES, SimulatedJudge
from touchstone.errors import SettingsError
from touchstone.statistics import CardTally, LevelCounts, binomial_lower, label_tally, levels_of, threshold_of
from touchstone.statistics.tallies import LEVELS
from touchstone.statistics.thresholds import VARIABLE, fewest_labels, wanted_agreement

CARDS = 250


def levels(*counts: tuple[float, int, int]) -> Sequence[LevelCounts]:
    """Levels by confidence, labels and how many of them agree."""
    return [LevelCounts(confidence=confidence, labels=labels, agreed=agreed) for confidence, labels, agreed in counts]


@given(st.integers(1, 5_000), st.data())
def test_the_lower_bound_is_that_of_clopper_and_pearson(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    expected = float(beta.ppf(0.05, successes, trials - successes + 1)) if successes else 0.0
    assert binomial_lower(successes, trials) == pytest.approx(expected, abs=1e-10)


def test_where_all_agree_the_bound_is_known_by_heart() -> None:
    # All of n: the bound is the n-th root of 0.05.
    assert binomial_lower(59, 59) == pytest.approx(0.05 ** (1 / 59))
    assert binomial_lower(58, 58) < 0.95 < binomial_lower(59, 59)


def test_the_threshold_is_the_lowest_level_whose_labels_show_the_wanted_agreement() -> None:
    found = threshold_of(levels((1.0, 100, 100), (0.95, 200, 198), (0.9, 300, 295), (0.8, 400, 360)))
    assert (found.state, found.confidence, found.labels, found.agreed) == ("found", 0.9, 300, 295)
    assert found.bound == binomial_lower(295, 300)
    assert found.needed is None


def test_the_first_level_that_fails_ends_the_search_though_a_lower_one_would_pass() -> None:
    # The surest verdicts are right in 90 %, all together in 97.5 %: the lower level is never looked at.
    found = threshold_of(levels((1.0, 200, 180), (0.9, 2_000, 1_950)))
    assert binomial_lower(1_950, 2_000) > 0.95
    assert (found.state, found.confidence, found.labels, found.agreed) == ("below_wanted", None, 200, 180)


def test_a_level_with_too_few_labels_is_passed_over_whatever_they_say() -> None:
    assert fewest_labels() == 93
    assert binomial_lower(92, 93) >= 0.95 > binomial_lower(91, 92)
    bad_at_the_top = levels((1.0, 92, 10), (0.9, 300, 297))
    assert threshold_of(bad_at_the_top).confidence == 0.9
    assert threshold_of(levels((1.0, 93, 10), (0.9, 300, 297))).state == "below_wanted"


def test_no_judge_is_believed_at_a_confidence_at_which_nobody_has_looked() -> None:
    found = threshold_of(levels((1.0, 0, 0), (0.95, 200, 200), (0.9, 200, 200), (0.8, 205, 205), (0.6, 209, 209)))
    assert (found.confidence, found.labels) == (0.95, 200)
    # Ten labels of their own, be they of one level or of several together, are looked at.
    assert threshold_of(levels((0.95, 200, 200), (0.9, 205, 205), (0.8, 210, 210))).confidence == 0.8


def test_a_judge_is_silent_only_where_the_labels_show_that_it_is_too_low() -> None:
    top = ((0.99, 50, 50), (0.9, 60, 60), (0.8, 70, 68), (0.7, 90, 84))
    # Of 110 verdicts 100 are shown to be too few, by those below 0.7; the top is not: it is believed as without labels.
    found = threshold_of(levels(*top, (0.6, 110, 100)))
    assert (found.state, found.confidence, found.silent_below) == ("below_wanted", None, 0.7)
    assert (found.labels, found.agreed) == (110, 100)
    # 102 may still be 95 %.
    assert threshold_of(levels(*top, (0.6, 110, 102))).state == "not_enough_labels"
    # A judge that is right in 96 % gets 88 of 93 or fewer in three cases of ten.
    assert threshold_of(levels((0.9, 93, 88))).state == "not_enough_labels"
    # Too few labels at the top to pass there, and enough to show that it is no better.
    found = threshold_of(levels((1.0, 80, 40), (0.9, 200, 150)))
    assert (found.state, found.silent_below, found.labels) == ("below_wanted", None, 80)


def test_few_labels_silence_a_judge_that_is_clearly_too_low() -> None:
    found = threshold_of(levels((0.9, 20, 10), (0.6, 40, 21)))
    assert (found.state, found.silent_below, found.labels) == ("below_wanted", None, 20)
    # Five of forty are not right, which a judge that is right often enough has in one case of twenty.
    assert threshold_of(levels((0.9, 40, 35))).state == "not_enough_labels"
    # Nor is the top clearly so, which three of four that are wrong would be.
    found = threshold_of(levels((1.0, 12, 9), (0.7, 40, 25)))
    assert (found.state, found.silent_below) == ("below_wanted", 1.0)
    assert threshold_of(levels((1.0, 4, 1), (0.7, 40, 38))).silent_below is None
    assert threshold_of(levels((1.0, 4, 2), (0.7, 40, 38))).state == "not_enough_labels"


def test_above_believed_verdicts_that_are_too_low_a_judge_must_be_as_likely_good_enough_as_not() -> None:
    # It is right in half of what it tells at 0.9: seven of twelve at the top are no reason to believe it there.
    assert threshold_of(levels((1.0, 12, 7), (0.9, 40, 21))).silent_below is None
    assert threshold_of(levels((1.0, 13, 13), (0.9, 40, 21))).silent_below is None
    assert threshold_of(levels((1.0, 14, 14), (0.9, 44, 25))).silent_below == 1.0
    assert threshold_of(levels((1.0, 60, 58), (0.95, 80, 77), (0.9, 300, 240))).silent_below == 0.95
    # What it was unsure of says nothing of what it is sure of.
    assert threshold_of(levels((1.0, 12, 11), (0.7, 40, 25))).silent_below == 1.0


def test_a_judge_that_is_good_enough_is_hardly_ever_silenced_though_each_label_is_looked_at() -> None:
    draw = np.random.default_rng(7)
    worst = {n: _most_refuted(n) for n in range(1, fewest_labels())}
    silenced = 0
    for _ in range(4_000):
        right = (draw.random(fewest_labels() - 1) < 0.95).cumsum()
        silenced += any(right[n - 1] <= most for n, most in worst.items())
    assert silenced <= 0.01 * 4_000


def _most_refuted(labels: int) -> int:
    """The most that may agree of so many at one level for the judge to be silent."""
    agreed = (n for n in range(labels, -1, -1) if threshold_of(levels((0.9, labels, n))).state == "below_wanted")
    return next(agreed, -1)


@pytest.mark.parametrize("at", ["top", "everywhere"])
def test_a_judge_that_is_right_often_enough_is_seldom_silenced(at: str) -> None:
    draw = np.random.default_rng(1)
    silenced = 0
    for _ in range(1_000):
        counts = draw.binomial(100, 0.96, size=4)
        labels = [100, 200, 300, 400] if at == "everywhere" else [100] * 4
        agreed = counts.cumsum() if at == "everywhere" else [counts[0]] * 4
        told = zip((0.95, 0.9, 0.8, 0.7), labels, map(int, agreed), strict=True)
        silenced += threshold_of(levels(*told)).state == "below_wanted"
    assert silenced <= 50


def test_too_few_labels_say_how_many_would_do() -> None:
    found = threshold_of(levels((1.0, 10, 10), (0.6, 40, 39)))
    assert (found.state, found.confidence, found.needed) == ("not_enough_labels", None, 93)
    assert (found.labels, found.agreed) == (40, 39)
    # 97 of 100 agree, which is as often as is wanted, and more labels like these would show it.
    almost = threshold_of(levels((0.9, 100, 97)))
    assert (almost.state, almost.labels) == ("not_enough_labels", 100)
    assert almost.needed is not None
    assert binomial_lower(int(0.97 * almost.needed), almost.needed) >= 0.95
    assert threshold_of([]).state == "not_enough_labels"
    # No level with fewer than ten labels is tested, however low the wanted agreement.
    assert threshold_of(levels((0.9, 9, 9)), wanted=0.5).needed == 10


@given(st.sampled_from((0.6, 0.8, 0.9, 0.95)), st.integers(20, 300), st.floats(0, 1), st.sampled_from((0.8, 0.9, 0.95)))
@example(0.95, 262, 0.72, 0.95)
@example(0.8, 89, 0.8, 0.95)
def test_the_labels_that_are_needed_are_the_fewest_that_would_do(
    wanted: float, labels: int, mistakes: float, certainty: float
) -> None:
    agreed = labels - int(mistakes * (1 - wanted) * labels)
    found = threshold_of(levels((0.9, labels, agreed)), wanted=wanted, certainty=certainty)
    if found.needed is None or labels < fewest_labels(wanted, certainty):
        return
    shown = [
        number
        for number in range(labels, min(found.needed, labels + 20_000) + 1)
        if float(beta.ppf(1 - certainty, agreed * number // labels, number - agreed * number // labels + 1)) >= wanted
    ]
    assert shown == [found.needed] or (not shown and found.needed > labels + 20_000)


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_people_agree_above_a_threshold_as_often_as_is_wanted(judge: SimulatedJudge) -> None:
    draw = np.random.default_rng(len(judge.name))
    found = [threshold_of(judge.levels(400, draw)).confidence for _ in range(CARDS)]
    kept = sum(one is None or judge.agreement_from(one) >= 0.95 for one in found)
    assert kept >= 0.95 * CARDS
    if judge.name == "sharp":
        assert sum(one is not None for one in found) > 0.9 * CARDS
    if judge.name == "useless":
        assert set(found) == {None}


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=60))
def test_the_levels_of_a_tally_are_those_of_the_verdicts_behind_it(verdicts: list[tuple[int, bool]]) -> None:
    tallies = [label_tally("right", ("wrong", "right")[agreed], percent / 100) for percent, agreed in verdicts]
    found = {each.confidence: (each.labels, each.agreed) for each in levels_of(sum(tallies, CardTally()))}
    for level in LEVELS:
        held = [agreed for percent, agreed in verdicts if percent / 100 >= level]
        assert found[level] == (len(held), sum(held))


def test_a_label_of_an_earlier_release_counts_at_the_tenths_alone() -> None:
    older = label_tally("right", "right", 0.99, sample=None)
    found = {each.confidence: each.labels for each in levels_of(older)}
    assert (found[0.99], found[0.95], found[0.9], found[0.6]) == (0, 0, 1, 1)
    assert older.sampled == {}


def test_the_wanted_agreement_is_a_share_that_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert wanted_agreement() == 0.95
    monkeypatch.setenv(VARIABLE, "0.9")
    assert wanted_agreement() == 0.9
    for wrong in ("95", "often", "1", "0.2", "nan"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(SettingsError, match=r"from 0\.5 to 0\.999"):
            wanted_agreement()


def test_where_no_level_has_enough_labels_those_of_the_lowest_are_told() -> None:
    found = threshold_of(
        [
            LevelCounts(confidence=0.9, labels=3, agreed=3),
            LevelCounts(confidence=0.7, labels=5, agreed=5),
            LevelCounts(confidence=0.5, labels=7, agreed=6),
        ]
    )
    assert (found.state, found.labels, found.agreed) == ("not_enough_labels", 7, 6)
