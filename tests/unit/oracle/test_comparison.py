"""The comparison of finalists on one dimension: what is kept of it, each part once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import NOW, TASK_ID, unjudged
from tests.support.records import a_spend
from touchstone.attempts import TRIED_FOR
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import Compared, ComparedEntry, OrderRead, PlacedScore
from touchstone.oracle.comparison import DimensionComparison, begun, given_up, kept, put_back

SCORES = {"X": (90, 70), "Y": (61, 60)}
LABELS = {"X": "s1", "Y": "s2", "Z": "s3"}
WAITING = DimensionComparison(
    tenant="acme",
    task_id=TASK_ID,
    round_id="DEADLINE",
    dimension="credibility",
    finalists=("s1", "s2", "s3"),
    created_at=NOW,
)


def order(labels: str, which: int) -> OrderRead:
    scores = tuple(
        PlacedScore(
            label=one, band=band_of(SCORES[one][which]), score=SCORES[one][which], evidence="A passage.", feedback="So."
        )
        for one in labels
        if one in SCORES
    )
    return OrderRead(order=tuple(labels), scores=scores, provider="claude", model="m", prompt_version="0" * 16)


def entry(label: str) -> ComparedEntry:
    mean = sum(SCORES[label]) / 2
    return ComparedEntry(
        submission_id=LABELS[label],
        label=label,
        score=mean,
        band=band_of(mean),
        evidence=f"The passage of {label}.",
        feedback="It says more.",
        risk_flags=(),
    )


FOUND = Compared(
    dimension="credibility",
    labels=LABELS,
    entries=(entry("X"), entry("Y")),
    orders=(order("XYZ", 0), order("YZX", 1)),
    unstable=True,
    unscored={"s3": ("The evidence does not occur.",)},
    spends=(a_spend(),),
)
COMPARED = kept(WAITING, FOUND)
LATER = NOW + timedelta(minutes=1)


def test_what_judges_said_of_each_finalist_is_told_by_its_id_and_nothing_of_whom_they_failed() -> None:
    assert (COMPARED.state, COMPARED.over, COMPARED.unstable) == ("compared", True, True)
    first, second = COMPARED.of("s1"), COMPARED.of("s2")
    assert first is not None
    assert second is not None
    assert (first.label, first.scores, first.score, first.disagrees) == ("X", (90, 70), 80.0, True)
    assert (second.scores, second.evidence, second.disagrees) == ((61, 60), "The passage of Y.", True)
    calm = kept(WAITING, replace(FOUND, unstable=False))
    assert [one.disagrees for one in map(calm.of, ("s1", "s2")) if one is not None] == [True, False]
    assert (COMPARED.of("s3"), COMPARED.of("s4"), WAITING.of("s1")) == (None, None, None)


def test_tries_are_begun_one_at_a_time_and_a_result_clears_why_they_failed() -> None:
    one = begun(WAITING, now=NOW)
    assert begun(one, now=NOW) is one
    back = put_back(one, unjudged("comparison"), until=LATER, ended="unread", spends=[a_spend()])
    assert (back.over, back.failure, back.attempts.tries) == (False, unjudged("comparison"), 1)
    done = kept(back, FOUND)
    assert (done.failure, len(done.spends)) == (None, 2)


def test_tries_that_are_used_up_begin_no_other() -> None:
    one = WAITING
    while (now := one.attempts.not_before or NOW) - NOW < TRIED_FOR:
        one = begun(one, now=now)
    assert begun(one, now=now) is one


STEPS: dict[str, Callable[[DimensionComparison], DimensionComparison]] = {
    "begun": lambda one: begun(one, now=NOW),
    "kept": lambda one: kept(one, FOUND),
    "given up": lambda one: given_up(one, unjudged("comparison"), spends=[a_spend()]),
    "put back": lambda one: put_back(one, unjudged("comparison"), until=LATER, ended="unread"),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=8))
def test_r20_whatever_comes_twice_changes_nothing_and_a_result_never_changes(names: list[str]) -> None:
    one = WAITING
    for name in names:
        after = STEPS[name](one)
        if one.over:
            assert after is one
        if name != "put back":
            assert STEPS[name](after) is after
        one = after
    assert DimensionComparison.model_validate_json(one.model_dump_json()) == one


@pytest.mark.parametrize(
    ("one", "state"), [(COMPARED, "compared"), (given_up(WAITING, unjudged("comparison")), "unscored")]
)
def test_a_dimension_that_is_over_says_how_it_ended(one: DimensionComparison, state: str) -> None:
    assert (one.state, one.over, one.id) == (state, True, "DEADLINE-credibility")
