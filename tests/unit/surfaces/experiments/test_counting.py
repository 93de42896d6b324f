"""What a pair counts for its judges: for whom, and of which of its tries."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.records import a_spend
from touchstone.judges.spends import Spend
from touchstone.statistics import CardTally, JudgeKey
from touchstone.surfaces.experiments.pair_work import (
    JudgeCount,
    PairCounts,
    PairSums,
    PairWork,
    orders_of,
    pair_over,
    pair_put_back,
)
from touchstone.surfaces.experiments.preference import Choice, Preference, PreferenceVote, no_preference
from touchstone.surfaces.measurement import Unmeasured

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
WHY = Unmeasured(reason="overloaded", details=("It is busy.",))
PAIR = PairWork(tenant="acme", experiment_id="e", number=7, at=NOW)
JUDGE = JudgeKey(model="gemini-3.8-flash", tier="strong", prompt_version="0" * 16, kind="preference")
ASKED = a_spend(purpose="preference")


def _preference(first: Choice | None, second: Choice | None, *spends: Spend) -> Preference:
    return Preference(
        orders=(PreferenceVote(first="a", verdict=first), PreferenceVote(first="b", verdict=second)), spends=spends
    )


def _counts(sent: int) -> PairCounts:
    count = JudgeCount(model="m", tier="strong", prompt_version="0", kind="preference", sums={"answered": sent})
    return PairCounts(calls=(count,), sent=sent)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a", "a", CardTally(both_orders=1)),
        ("a", "b", CardTally(both_orders=1, flips=1)),
        ("a", "tie", CardTally(both_orders=1, flips=1)),
        ("a", None, CardTally(one_order=1)),
    ],
)
def test_a_preference_counts_for_its_judge_by_whether_it_survived_the_swap(
    first: Choice, second: Choice | None, expected: CardTally
) -> None:
    assert orders_of(_preference(first, second, ASKED, a_spend(purpose="preference", cached=True))) == {JUDGE: expected}


def test_a_preference_that_nobody_or_more_than_one_judge_gave_counts_for_none() -> None:
    other = a_spend(purpose="preference", model="another")
    assert orders_of(_preference("a", "b", ASKED, other)) == {}
    assert orders_of(no_preference("not_asked")) == {}


def test_what_counts_is_of_the_try_that_knows_most_calls() -> None:
    back = pair_put_back(PAIR, WHY, PairSums(counts=_counts(4)), until=NOW, ended="unread", now=NOW)
    assert back.counts == _counts(4)
    assert pair_over(back, WHY, PairSums(), now=NOW).counts == _counts(4)
    assert pair_over(back, None, PairSums(counts=_counts(3)), now=NOW).counts == _counts(4)
    over = pair_over(back, None, PairSums(counts=_counts(6)), now=NOW)
    assert over.counts == _counts(6)
    later = NOW + timedelta(minutes=5)
    assert pair_over(over, None, PairSums(counts=_counts(6)), now=later) is over
    assert pair_over(over, None, PairSums(counts=_counts(7)), now=later).counts == _counts(7)


def test_a_pair_from_before_there_were_cards_counts_nothing() -> None:
    older = PAIR.model_dump_json(exclude={"counts"})
    assert PairWork.model_validate_json(older).counts == PairCounts()
