"""Which verdicts to label next: at random for rates, the unsure for thresholds, and never one for both."""

import random

import pytest

from touchstone.statistics import LabelCandidate, VerdictCells, corrected_rate, next_to_label
from touchstone.statistics.sampling import pool_of


def test_each_verdict_is_in_one_pool_whatever_was_said_of_it() -> None:
    some = [LabelCandidate(name=str(number), confidence=number / 1_000) for number in range(1_000)]
    drawn, unsure = (
        {one.name for one in next_to_label(some, sample=sample, count=1_000)} for sample in ("random", "unsure")
    )
    assert not drawn & unsure
    assert drawn | unsure == {one.name for one in some}
    assert 400 < len(drawn) < 600
    assert all(pool_of(name) == "random" for name in drawn)


def test_a_draw_is_the_same_until_something_is_labelled_and_then_goes_on() -> None:
    names = [str(number) for number in range(100)]
    first = next_to_label(map(_named, names), sample="random", count=5)
    assert next_to_label(map(_named, reversed(names)), sample="random", count=5) == first
    rest = [name for name in names if name not in {one.name for one in first[:2]}]
    assert next_to_label(map(_named, rest), sample="random", count=3) == first[2:]


def test_the_unsure_are_those_nearest_to_where_their_judge_begins_to_be_sure() -> None:
    pool = [str(number) for number in range(200) if pool_of(str(number)) == "unsure"][:4]
    told = [(0.99, None), (0.82, None), (0.99, 0.98), (None, None)]
    some = [
        LabelCandidate(name=name, confidence=confidence, sure_from=sure)
        for name, (confidence, sure) in zip(pool, told, strict=True)
    ]
    ordered = next_to_label(some, sample="unsure", count=4)
    assert [pool.index(one.name) for one in ordered] == [3, 2, 1, 0]


def test_nobody_draws_what_a_person_chooses() -> None:
    with pytest.raises(ValueError, match="not drawn"):
        next_to_label([], sample="chosen", count=1)


def test_rates_stay_true_though_the_unsure_are_labelled_first() -> None:
    """A judge that is right where it is sure, and tosses a coin where it is not, as in half of 1,000 verdicts."""
    covered = 0
    for seed in range(60):
        draw = random.Random(seed)  # noqa: S311 - a simulation that can be repeated
        truth, said, sure = {}, {}, {}
        for number in range(1_000):
            name = f"{seed}-{number}"
            truth[name], sure[name] = draw.random() < 0.6, draw.random() < 0.5
            said[name] = truth[name] if sure[name] or draw.random() < 0.5 else not truth[name]
        every = [LabelCandidate(name=name, confidence=0.95 if sure[name] else 0.8) for name in truth]
        taken = {one.name for one in next_to_label(every, sample="unsure", count=200)}
        left = [one for one in every if one.name not in taken]
        sample = [one.name for one in next_to_label(left, sample="random", count=100)]
        cells = VerdictCells(
            both=sum(said[name] and truth[name] for name in sample),
            judge_only=sum(said[name] and not truth[name] for name in sample),
            person_only=sum(truth[name] and not said[name] for name in sample),
            neither=sum(not truth[name] and not said[name] for name in sample),
        )
        found = corrected_rate(positive=sum(said.values()), verdicts=1_000, sample=cells, chosen=VerdictCells())
        assert found is not None
        covered += found.interval[0] <= sum(truth.values()) / 1_000 <= found.interval[1]
    assert covered >= 54


def _named(name: str) -> LabelCandidate:
    return LabelCandidate(name=name)
