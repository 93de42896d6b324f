"""The comparison of finalists on one dimension: what is kept of it, each part once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.comparisons import FOUND, WAITING
from tests.support.oracle import NOW, unjudged
from tests.support.records import a_spend
from touchstone.attempts import RETRY_PERIOD
from touchstone.judges.spends import paying
from touchstone.oracle.comparison import DimensionComparison, begun, given_up, put_back, with_result

COMPARED = with_result(WAITING, FOUND)
LATER = NOW + timedelta(minutes=1)
PUT_BACK = partial(put_back, why=unjudged("comparison"), until=LATER, ended="unread")


def test_what_judges_said_of_each_finalist_is_told_by_its_id_and_nothing_of_whom_they_failed() -> None:
    assert (COMPARED.state, COMPARED.over, COMPARED.unstable) == ("compared", True, True)
    first, second = COMPARED.of("s1"), COMPARED.of("s2")
    assert first is not None
    assert second is not None
    assert (first.label, first.scores, first.score, first.disagrees) == ("X", (90, 70), 80.0, True)
    assert (second.scores, second.evidence, second.disagrees) == ((61, 60), "The passage of Y.", True)
    calm = with_result(WAITING, replace(FOUND, unstable=False))
    assert [one.disagrees for one in map(calm.of, ("s1", "s2")) if one is not None] == [True, False]
    assert (COMPARED.of("s3"), COMPARED.of("s4"), WAITING.of("s1")) == (None, None, None)


def test_tries_are_begun_one_at_a_time_and_a_result_clears_why_they_failed() -> None:
    one = begun(WAITING, now=NOW)
    assert begun(one, now=NOW) is one
    back = paying(PUT_BACK, [a_spend()])(one)
    assert (back.over, back.failure, back.attempts.tries) == (False, unjudged("comparison"), 1)
    done = with_result(back, FOUND)
    assert (done.failure, len(done.spends)) == (None, 2)


def test_tries_that_are_used_up_begin_no_other() -> None:
    one = WAITING
    while (now := one.attempts.not_before or NOW) - NOW < RETRY_PERIOD:
        one = begun(one, now=now)
    assert begun(one, now=now) is one


STEPS: dict[str, Callable[[DimensionComparison], DimensionComparison]] = {
    "begun": lambda one: begun(one, now=NOW),
    "kept": lambda one: with_result(one, FOUND),
    "given up": paying(partial(given_up, why=unjudged("comparison")), [a_spend()]),
    "put back": PUT_BACK,
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
