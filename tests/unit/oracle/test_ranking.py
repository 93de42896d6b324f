"""Who stays in a contest, and in which order it ends."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.oracle.bands import Band
from touchstone.oracle.ranking import FINALISTS, Contender, Place, rank, shortlist, winner_of

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def contender(name: str, total: float, *, after: int = 0, **bands: Band) -> Contender:
    """A submission sent so many minutes after noon; without bands, good in all of them."""
    return Contender(
        submission_id=name,
        submitted_at=NOON + timedelta(minutes=after),
        penalized_total=total,
        bands=bands or {"substantiveness": "B", "credibility": "B"},
    )


def ids(contenders: Sequence[Contender]) -> list[str]:
    return [one.submission_id for one in contenders]


def ended(contenders: Sequence[Contender], **horizontal: float) -> list[tuple[str, int | None, float | None]]:
    places = rank(shortlist(contenders), horizontal)
    return [(place.submission_id, place.rank, place.final_score) for place in places]


@pytest.mark.parametrize(
    ("bands", "dimensions"),
    [
        ({"credibility": "C", "clarity": "C"}, ()),
        ({"credibility": "A", "clarity": "D"}, ("clarity",)),
        ({"credibility": "E", "clarity": "A"}, ("credibility",)),
        ({"credibility": "D", "clarity": "E"}, ("credibility", "clarity")),
    ],
)
def test_a_band_below_c_in_any_dimension_eliminates(bands: dict[str, Band], dimensions: tuple[str, ...]) -> None:
    one = replace(contender("a", 95.0), bands=bands)
    assert one.eliminated_by == dimensions
    found = shortlist([one])
    assert (found.finalists, found.eliminated) == (((), (one,)) if dimensions else ((one,), ()))


def test_the_best_three_are_compared_and_the_eliminated_take_no_place() -> None:
    found = shortlist(
        [
            contender("fourth", 71.0),
            contender("late", 99.0, after=9, clarity="D"),
            contender("first", 90.0),
            contender("early", 98.0, after=1, clarity="E"),
            contender("third", 72.0),
            contender("fifth", 60.0),
            contender("second", 80.0),
        ]
    )
    assert ids(found.finalists) == ["first", "second", "third"]
    assert ids(found.others) == ["fourth", "fifth"]
    assert ids(found.eliminated) == ["early", "late"]


def test_of_equal_totals_the_earlier_submission_is_compared() -> None:
    sent = [contender(name, 70.0, after=minute) for name, minute in (("d", 4), ("c", 3), ("b", 2), ("a", 5))]
    assert ids(shortlist(sent).finalists) == ["b", "c", "d"]


def test_the_side_by_side_scores_decide_among_the_finalists() -> None:
    sent = [contender("a", 90.0), contender("b", 80.0), contender("c", 70.0)]
    assert ended(sent, a=60.0, b=85.0, c=70.0) == [("b", 1, 85.0), ("c", 2, 70.0), ("a", 3, 60.0)]


def test_a_tie_falls_to_the_individual_total_and_then_to_the_earlier_submission() -> None:
    sent = [contender("late", 80.0, after=2), contender("early", 80.0, after=1), contender("better", 81.0, after=3)]
    assert [place[0] for place in ended(sent, late=75.0, early=75.0, better=75.0)] == ["better", "early", "late"]


def test_what_is_equal_in_everything_still_has_an_order() -> None:
    assert [place[0] for place in ended([contender("b", 80.0), contender("a", 80.0)], a=75.0, b=75.0)] == ["a", "b"]


def test_one_survivor_wins_on_its_individual_score() -> None:
    sent = [contender("a", 66.0), contender("b", 90.0, clarity="D")]
    assert ended(sent) == [("a", 1, 66.0)]


@pytest.mark.parametrize("sent", [[], [contender("a", 90.0, clarity="E"), contender("b", 80.0, clarity="D")]])
def test_without_a_survivor_there_is_no_winner(sent: list[Contender]) -> None:
    assert ended(sent) == []


def test_those_behind_the_finalists_keep_their_place_whatever_the_finalists_scored() -> None:
    sent = [contender(name, 90.0 - 5 * place) for place, name in enumerate("abcde")]
    assert ended(sent, a=10.0, b=20.0, c=30.0) == [
        ("c", 1, 30.0), ("b", 2, 20.0), ("a", 3, 10.0), ("d", 4, 75.0), ("e", 5, 70.0),
    ]  # fmt: skip


FIVE = [contender(name, 90.0 - 5 * place) for place, name in enumerate("abcde")]
BEHIND = [("d", 4, 75.0), ("e", 5, 70.0)]
UNCOMPARED: list[tuple[dict[str, float], list[tuple[str, int | None, float | None]], str | None]] = [
    ({"b": 60.0, "c": 70.0}, [("c", 1, 70.0), ("b", 2, 60.0), ("a", None, None)], "c"),
    ({"b": 60.0}, [("b", 1, 60.0), ("a", None, None), ("c", None, None)], "b"),
    ({}, [("a", None, None), ("b", None, None), ("c", None, None)], None),
]


@pytest.mark.parametrize(("horizontal", "finalists", "winner"), UNCOMPARED)
def test_a_finalist_that_nobody_could_compare_has_no_made_up_number_and_nobody_gains_a_rank_by_it(
    horizontal: dict[str, float], finalists: list[tuple[str, int | None, float | None]], winner: str | None
) -> None:
    assert ended(FIVE, **horizontal) == [*finalists, *BEHIND]
    assert winner_of(rank(shortlist(FIVE), horizontal)) == winner


def test_of_two_survivors_that_nobody_could_compare_none_wins() -> None:
    assert winner_of(rank(shortlist(FIVE[:2]), {})) is None


def test_a_sole_survivor_wins_and_without_one_nobody_does() -> None:
    assert winner_of(rank(shortlist(FIVE[:1]), {})) == "a"
    assert winner_of(()) is None


@st.composite
def contests(draw: st.DrawFn) -> tuple[list[Contender], Mapping[str, float]]:
    """Up to eight submissions with few different totals and times, so that ties are common, and scores for all."""
    size = draw(st.integers(0, 8))
    total = st.sampled_from([60.0, 75.5, 80.0])
    sent = [
        contender(
            f"s{number}",
            draw(total),
            after=draw(st.integers(0, 2)),
            clarity=draw(st.sampled_from(["A", "B", "C", "C", "D"])),
        )
        for number in range(size)
    ]
    return sent, {one.submission_id: draw(total) for one in sent}


@given(contests(), st.randoms())
def test_independent_of_the_order_in_which_submissions_are_read(
    contest: tuple[list[Contender], Mapping[str, float]], shuffling: random.Random
) -> None:
    sent, horizontal = contest
    shuffled = list(sent)
    shuffling.shuffle(shuffled)
    assert shortlist(shuffled) == shortlist(sent)
    assert rank(shortlist(shuffled), horizontal) == rank(shortlist(sent), horizontal)


@given(contests())
def test_every_survivor_has_one_place_and_no_other_submission_any(
    contest: tuple[list[Contender], Mapping[str, float]],
) -> None:
    sent, horizontal = contest
    found = shortlist(sent)
    places = rank(found, horizontal)
    assert [place.rank for place in places] == list(range(1, len(places) + 1))
    assert winner_of(places) == (places[0].submission_id if places else None)
    assert {place.submission_id for place in places} == {one.submission_id for one in sent if not one.eliminated_by}
    assert sorted(ids([*found.finalists, *found.others, *found.eliminated])) == sorted(ids(sent))
    assert len(found.finalists) == min(FINALISTS, len(places))


@given(contests())
def test_no_place_is_better_than_one_with_a_higher_score_among_those_compared(
    contest: tuple[list[Contender], Mapping[str, float]],
) -> None:
    sent, horizontal = contest
    found = shortlist(sent)
    compared: Sequence[Place] = rank(found, horizontal)[: len(found.finalists)]
    scores = [place.final_score for place in compared if place.final_score is not None]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(compared)


@given(contests(), st.data())
def test_a_judge_that_fails_on_a_finalist_moves_nobody_behind_the_finalists(
    contest: tuple[list[Contender], Mapping[str, float]], data: st.DataObject
) -> None:
    sent, horizontal = contest
    found = shortlist(sent)
    compared = data.draw(st.sets(st.sampled_from(ids(found.finalists)))) if len(found.finalists) > 1 else set()
    whole, partial = rank(found, horizontal), rank(found, {one: horizontal[one] for one in compared})
    behind = len(found.finalists)
    assert partial[behind:] == whole[behind:]
    if behind > 1:
        assert {place.submission_id for place in partial if place.rank is None} == set(ids(found.finalists)) - compared
        kept = [place.submission_id for place in whole[:behind] if place.submission_id in compared]
        assert [(one.submission_id, one.rank) for one in partial[: len(compared)]] == [
            (name, number) for number, name in enumerate(kept, start=1)
        ]
        assert (winner_of(partial) is None) == (not compared)
