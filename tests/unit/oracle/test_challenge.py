"""A challenge's way from its arrival to its decision, whatever comes twice."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import NOW, PLACES, READING, SUBMISSION_ID, TASK_ID, scoring, unjudged
from tests.support.records import a_spend
from touchstone.attempts import RETRY_PERIOD
from touchstone.judges.spends import paying
from touchstone.oracle.challenge import (
    MAX_REASON_CHARS,
    Challenge,
    ChallengeRequest,
    ChallengeView,
    begun,
    carried,
    chosen,
    decided,
    put_back,
    rescored,
    settled,
    to_compare,
    unresolved,
)

LATER = NOW + timedelta(hours=1)
WAITING = Challenge(
    tenant="acme",
    task_id=TASK_ID,
    id="01M7YCR9J0YEPNXK2F1F80QC0E",
    challenger="writer-2",
    submission_id=SUBMISSION_ID,
    reason="Mine names every source.",
    created_at=NOW,
)
RESCORE = partial(rescored, scoring=scoring(95), readings=[READING], passages=[])
RESCORED = RESCORE(chosen(WAITING, "openai"))
RESCORE_PAID = paying(RESCORE, [a_spend()])
PUT_BACK_PAID = paying(partial(put_back, why=unjudged("scoring"), until=LATER, ended="unread"), [a_spend()])


def test_a_challenge_is_scored_again_compared_and_decided() -> None:
    at_work = begun(WAITING, now=NOW)
    back = PUT_BACK_PAID(at_work)
    assert (back.state, back.failure, back.attempts.tries) == ("waiting", unjudged("scoring"), 1)
    again = RESCORE_PAID(back)
    assert (again.scoring, again.failure, again.attempts.tries, len(again.spends)) == (scoring(95), None, 0, 2)
    listed = to_compare(again, ["s1", "s2"])
    assert (listed.finalists, to_compare(listed, ["s1", "s2"]) is listed) == (("s1", "s2"), True)
    upheld = decided(listed, "upheld", places=PLACES, now=LATER)
    assert (upheld.state, upheld.places, upheld.decided_at) == ("upheld", PLACES, LATER)
    assert not upheld.settled
    assert settled(upheld).settled
    assert settled(WAITING) is WAITING


def test_what_nobody_could_judge_says_why() -> None:
    one = unresolved(WAITING, unjudged("scoring"), now=LATER)
    assert (one.state, one.failure, one.decided_at, one.places) == ("unresolved", unjudged("scoring"), LATER, ())


def test_tries_are_one_at_a_time_and_used_up() -> None:
    one = WAITING
    while (now := one.attempts.not_before or NOW) - NOW < RETRY_PERIOD:
        one = begun(one, now=now)
        assert begun(one, now=now) is one
    assert begun(one, now=now) is one
    assert begun(RESCORED, now=NOW) is RESCORED


def test_whoever_carries_it_says_until_when_and_never_takes_that_back() -> None:
    one = carried(WAITING, LATER)
    assert one.carried_until == LATER
    assert carried(one, NOW) is one
    assert carried(one, LATER + timedelta(seconds=1)).carried_until == LATER + timedelta(seconds=1)


STEPS: dict[str, Callable[[Challenge], Challenge]] = {
    "begun": lambda one: begun(one, now=NOW),
    "chosen": lambda one: chosen(one, "openai"),
    "carried": lambda one: carried(one, LATER),
    "rescored": RESCORE_PAID,
    "to compare": lambda one: to_compare(one, ["s1", "s2"]),
    "upheld": lambda one: decided(one, "upheld", places=PLACES, now=NOW),
    "rejected": lambda one: decided(one, "rejected", now=LATER),
    "unresolved": lambda one: unresolved(one, unjudged("scoring"), now=NOW),
    "settled": settled,
    "put back": lambda one: put_back(one, unjudged("scoring"), until=LATER, ended="unread"),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=12))
def test_r20_whatever_comes_twice_changes_nothing_and_a_decision_never_changes(names: list[str]) -> None:
    one = WAITING
    for name in names:
        after = STEPS[name](one)
        if one.state != "waiting":
            assert after.model_copy(update={"settled": one.settled}) == one
        if name != "put back":
            assert STEPS[name](after) is after
        assert (after.decided_at is None) == (after.state == "waiting")
        one = after
    assert Challenge.model_validate_json(one.model_dump_json()) == one


@pytest.mark.parametrize(
    ("one", "state", "total", "provider", "unscored"),
    [
        (WAITING, "waiting", None, None, None),
        (chosen(WAITING, "openai"), "waiting", None, None, None),
        (RESCORED, "waiting", None, None, None),
        (decided(RESCORED, "upheld", places=PLACES, now=LATER), "upheld", 95.0, "openai", None),
        (decided(RESCORED, "rejected", now=LATER), "rejected", 95.0, "openai", None),
        (unresolved(RESCORED, unjudged("comparison"), now=LATER), "unresolved", None, "openai", "timed_out"),
        (unresolved(WAITING, unjudged("scoring"), now=LATER), "unresolved", None, None, "timed_out"),
    ],
)
def test_the_second_opinion_is_shown_once_it_is_decided(
    one: Challenge, state: str, total: float | None, provider: str | None, unscored: str | None
) -> None:
    view = ChallengeView.of(one)
    assert (view.state, view.new_total, view.provider, view.unscored) == (state, total, provider, unscored)
    assert view.because == (unjudged("scoring").details if unscored else ())
    assert (view.id, view.challenger, view.reason) == (one.id, "writer-2", "Mine names every source.")


def test_what_it_took_is_shown_from_the_first_try_on() -> None:
    spend = a_spend()
    view = ChallengeView.of(RESCORE_PAID(PUT_BACK_PAID(begun(WAITING, now=NOW))))
    assert view.tokens == 2 * (spend.input_tokens + spend.output_tokens)
    assert view.cost_usd == 2 * (spend.cost_usd or 0.0)
    assert (ChallengeView.of(WAITING).tokens, ChallengeView.of(WAITING).cost_usd) == (0, 0.0)


def test_the_provider_that_scores_again_is_chosen_once() -> None:
    one = chosen(WAITING, "openai")
    assert (one.provider, chosen(one, "gemini") is one) == ("openai", True)
    over = unresolved(WAITING, unjudged("scoring"), now=LATER)
    assert chosen(over, "openai") is over


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": " "},
        {"reason": "\u200b"},
        {"reason": "x" * (MAX_REASON_CHARS + 1)},
        {"challenger": " "},
        {"submission_id": ""},
        {"submission_id": "x" * 65},
        {"scores": 100},
    ],
)
def test_a_request_names_its_challenger_the_submission_and_a_reason(fields: dict[str, object]) -> None:
    whole = {"challenger": "writer-2", "submission_id": SUBMISSION_ID, "reason": "Mine names every source."}
    assert ChallengeRequest.model_validate(whole).challenger == "writer-2"
    with pytest.raises(ValueError, match="validation error"):
        ChallengeRequest.model_validate(whole | fields)
