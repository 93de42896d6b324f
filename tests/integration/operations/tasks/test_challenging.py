"""A challenged place is judged again by another provider; the result waits for it, and never changes afterwards."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.briefs import individual
from tests.support.deaths import Dying
from tests.support.judges import Line
from tests.support.market import LONG, OWNER, SECOND, Market, order, ranked, stored
from tests.support.opinions import DIMENSIONS, unless
from touchstone.attempts import LEASE, RETRY_PERIOD
from touchstone.errors import (
    ConflictError,
    DayQuotaError,
    NotFoundError,
    OverloadedError,
    RefusedError,
    StoreError,
)
from touchstone.judges import MemoryCache
from touchstone.operations.tasks.challenging import compare_again, rescore
from touchstone.operations.tasks.context import SETTLED_WITHIN
from touchstone.operations.tasks.deciding import decide
from touchstone.operations.tasks.ranking import finalise
from touchstone.oracle import challenge as steps
from touchstone.oracle import task as task_steps
from touchstone.oracle.challenge import ChallengeRequest
from touchstone.oracle.feedback import ScoringFeedback
from touchstone.oracle.task import MAX_CHALLENGES, Task
from touchstone.records import Artifacts, new_ulid


def everything(market: Market, task: Task) -> tuple[object, ...]:
    """What a final result is made of."""
    return (market.task(task.id), *market.submissions.of_task(task.ref))


async def test_a_challenge_that_brings_another_place_is_upheld_and_the_new_scores_count(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    decided = stored(market, challenge)
    assert (decided.state, decided.decided_at, decided.settled) == ("upheld", market.clock(), True)
    assert order(market, task, found) == ["ben", "ada"]
    assert {asked.provider for asked in market.script.asked} == {SECOND}
    ben, ada = market.submission(found["ben"]), market.submission(found["ada"])
    assert ben.individual is not None
    assert ada.individual == found["ada"].individual
    assert (ben.individual.penalized_total, {one.score for one in ben.comparisons}) == (95.0, {95.0})
    assert {reading.provider for reading in ben.readings} == {SECOND}
    final = market.final(task.id)
    assert (final.winner, market.bus.kinds()) == (ben.id, ["payout.due", "result.final", "task.closed"])
    view = market.reader("ben").submission(task.id, ben.id).feedback[-1]
    assert isinstance(view, ScoringFeedback)
    assert (view.rank, view.final_score) == (1, 95.0)


async def test_a_challenge_that_leaves_the_place_is_rejected_and_everything_stands(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    before = _told(market, task)
    market.opinions.second = {"ben": 80}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)) == ("rejected", ["ada", "ben"])
    assert _told(market, task) == before
    assert market.task(task.id).undecided == ()


def _told(market: Market, task: Task) -> tuple[object, ...]:
    return market.reader(OWNER).submitted(task.id, limit=10, cursor=None).items


@pytest.mark.parametrize("providers", [("claude",), ()])
async def test_without_a_second_provider_a_challenge_is_unresolved_and_says_so(
    market: Market, providers: tuple[str, ...]
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.script.providers = providers
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    (view,) = market.reader(OWNER).challenged(task.id)
    assert (view.state, view.unscored, view.new_total, view.provider) == ("unresolved", "misconfigured", None, None)
    assert market.script.asked == []
    assert market.final(task.id).winner == found["ada"].id


@pytest.mark.parametrize(
    ("prompt", "line", "reason"),
    [
        ("individual", individual("credibility"), "invalid_reply"),
        ("individual", RefusedError("It refuses."), "refused"),
        ("individual", OverloadedError("503"), "overloaded"),
        ("horizontal", {"entries": []}, "invalid_reply"),
        ("horizontal", RefusedError("It refuses."), "refused"),
    ],
)
async def test_what_nobody_could_judge_changes_nothing_and_says_why(
    market: Market, prompt: str, line: Line, reason: str
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    market.script.lines = {**market.script.lines, f"{SECOND}/{prompt}": [line]}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    failure = stored(market, challenge).failure
    assert failure is not None
    assert (stored(market, challenge).state, failure.reason) == ("unresolved", reason)
    assert order(market, task, found) == ["ada", "ben"]
    assert market.submission(found["ben"]).individual == found["ben"].individual
    assert market.final(task.id).winner == found["ada"].id


async def test_an_entry_that_could_not_be_compared_again_leaves_the_challenge_unresolved(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second, market.opinions.misquoted = {"ben": 95}, {("credibility", "ada")}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    failure = stored(market, challenge).failure
    assert failure is not None
    assert (stored(market, challenge).state, failure.stage, bool(failure.details)) == ("unresolved", "comparison", True)


async def test_challenges_are_decided_one_after_the_other_each_against_the_ranking_that_stands_then(
    market: Market,
) -> None:
    task, found = await ranked(market, ada=85, ben=75, cleo=65)
    market.opinions.second = {"ben": 95}
    first, second = market.challenged(task, found["ben"]), market.challenged(task, found["cleo"])
    assert market.task(task.id).undecided == (first.id, second.id)
    early = await rescore(market.context(), task.id, second.id)
    assert (early.state, market.script.asked) == ("waiting", [])
    assert early.until == market.clock() + timedelta(seconds=5)
    assert [one.id for one in market.challenges.unfinished(older_than=timedelta(0))] == [first.id]
    assert await market.carry_challenge(first) == "decided"
    assert order(market, task, found) == ["ben", "ada", "cleo"]
    market.opinions.second = {"ben": 95, "cleo": 90}
    assert await market.carry_challenge(second) == "decided"
    assert (stored(market, second).state, order(market, task, found)) == ("upheld", ["ben", "cleo", "ada"])


@pytest.mark.parametrize(
    ("providers", "state", "first"),
    [(("claude", "openai", "gemini"), "rejected", "ben"), (("claude", "openai"), "unresolved", "ben")],
)
async def test_who_judged_before_is_not_asked_again_when_the_new_place_is_challenged(
    market: Market, providers: tuple[str, ...], state: str, first: str
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second, market.script.providers = {"ben": 95}, providers
    assert await market.carry_challenge(market.challenged(task, found["ben"])) == "decided"
    market.script.asked.clear()
    again = market.challenged(task, found["ben"], by="ada")
    assert await market.carry_challenge(again) == "decided"
    assert (stored(market, again).state, order(market, task, found)[0]) == (state, first)
    assert {asked.provider for asked in market.script.asked} == set(providers) - {"claude", "openai"}


async def test_the_result_waits_for_a_challenge_that_is_not_decided(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    challenge = market.challenged(task, found["ben"])
    assert task.challenge_until is not None
    for hours in (0, 1, 24):
        market.clock.now = task.challenge_until + timedelta(hours=hours)
        waiting = finalise(market.context(), task.id)
        assert waiting.state == "challenge"
        assert waiting.until is not None
        assert timedelta(seconds=5) <= waiting.until - market.clock() <= timedelta(minutes=5)
    assert await market.carry_challenge(challenge) == "decided"
    assert market.final(task.id).state == "final"


async def test_a_final_result_is_changed_by_no_step_that_comes_late(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    challenge = market.challenged(task, found["ben"])
    await market.carry_challenge(challenge)
    market.final(task.id)
    before = everything(market, task)
    assert (await rescore(market.context(), task.id, challenge.id)).state == "decided"
    assert decide(market.context(), task.id, challenge.id).state == "decided"
    await compare_again(market.context(), task.id, challenge.id, dimension="credibility")
    assert await market.carry_task(task.id) == "final"
    for one in found.values():
        assert await market.carry_submission(one.ref) == "scored"
    assert everything(market, task) == before
    with pytest.raises(ConflictError, match="does not change any more"):
        market.challenged(task, found["ada"])


@pytest.mark.parametrize(("new", "state", "winners"), [(64, "rejected", "dora"), (59, "upheld", "emil")])
async def test_a_challenge_that_no_finalist_is_concerned_by_asks_for_no_comparison(
    market: Market, new: int, state: str, winners: str
) -> None:
    task, found = await ranked(market, ada=85, ben=75, cleo=66, dora=62, emil=60)
    market.opinions.second = {"dora": new}
    challenge = market.challenged(task, found["dora"])
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)[3]) == (state, winners)
    assert market.script.prompts() == [f"{SECOND}/individual"]
    assert len(market.submission(found["cleo"]).comparisons) == len(DIMENSIONS)


async def test_who_becomes_a_finalist_by_a_challenge_takes_the_place_of_another_who_loses_what_was_said_beside(
    market: Market,
) -> None:
    task, found = await ranked(market, ada=85, ben=75, cleo=66, dora=62)
    market.opinions.second = {"dora": 80}
    challenge = market.challenged(task, found["dora"], by=OWNER)
    assert await market.carry_challenge(challenge) == "decided"
    assert order(market, task, found) == ["ada", "dora", "ben", "cleo"]
    assert market.submission(found["cleo"]).comparisons == ()
    assert len(market.submission(found["dora"]).comparisons) == len(DIMENSIONS)
    last = market.reader("cleo").submission(task.id, found["cleo"].id).feedback[-1]
    assert isinstance(last, ScoringFeedback)
    assert (last.rank, last.final_score, last.weighted_base) == (4, 66.0, 66.0)


async def test_a_finalist_that_is_eliminated_by_its_challenge_leaves_the_other_to_win_on_its_own_score(
    market: Market,
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ada": {"credibility": 40}}
    challenge = market.challenged(task, found["ada"], by="ben")
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)) == ("upheld", ["ben"])
    assert market.script.prompts() == [f"{SECOND}/individual"]
    assert [market.submission(one).comparisons for one in found.values()] == [(), ()]
    assert market.task(task.id).places[0].final_score == 75.0
    assert market.reader("ben").submission(task.id, found["ada"].id).standing == "eliminated"


@pytest.mark.parametrize("rivals", [1, 2])
async def test_one_that_nobody_could_score_may_come_into_the_ranking_by_a_challenge(
    market: Market, rivals: int
) -> None:
    usual = market.script.lines
    task = await market.opened()
    found = await market.judged(task, *("ada", "ben")[:rivals])
    market.script.lines = {**usual, "individual": [RefusedError("It refuses.")]}
    found |= await market.judged(task, "cleo")
    assert found["cleo"].state == "unscored"
    market.script.lines = usual
    assert await market.carry_task(task.id) == "challenge"
    market.opinions.second = {"cleo": 95}
    challenge = market.challenged(task, found["cleo"])
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)[0]) == ("upheld", "cleo")
    assert market.reader("cleo").submission(task.id, found["cleo"].id).standing == "ranked"
    assert market.final(task.id).winner == found["cleo"].id


@pytest.mark.parametrize("place", [(task_steps, "decided"), (steps, "settled"), (steps, "decided")])
async def test_a_crash_in_the_middle_of_a_decision_is_made_good_by_whoever_takes_it_up(
    market: Market, dying: Dying, place: tuple[Any, str]
) -> None:
    """The machine is gone as well: the sweep must find the challenge though it is decided."""
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    challenge = market.challenged(task, found["ben"])
    with dying(*place):
        await market.carry_challenge(challenge)
    market.clock.advance(days=1)
    market.starts.runs.clear()
    market.sweep().run()
    assert [run for run in market.starts.runs if challenge.id in run]
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)) == ("upheld", ["ben", "ada"])
    market.starts.runs.clear()
    market.clock.advance(days=1)
    market.sweep().run()
    assert not [run for run in market.starts.runs if challenge.id in run]
    assert market.final(task.id).winner == found["ben"].id


@pytest.mark.parametrize("prompt", ["individual", "horizontal"])
@pytest.mark.parametrize("error", [OverloadedError("503"), DayQuotaError("No more today.")])
async def test_a_second_judge_that_is_away_for_a_while_is_waited_for_and_the_sweep_leaves_it(
    market: Market, prompt: str, error: Line
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    over = market.clock() + timedelta(minutes=5)
    usual = market.script.lines[prompt][0]
    market.script.lines = {
        **market.script.lines,
        f"{SECOND}/{prompt}": [lambda asked: error if market.clock() < over else usual(asked)],  # type: ignore[operator]
    }
    challenge = market.challenged(task, found["ben"])
    first = await rescore(market.context(), task.id, challenge.id)
    if prompt == "horizontal":
        assert first.state == "comparing"
        first = await compare_again(market.context(), task.id, challenge.id, dimension="credibility")
    assert (first.state, first.reason is not None) == ("waiting", True)
    assert market.challenges.unfinished(older_than=timedelta(0)) == ()
    assert await market.carry_challenge(challenge) == "decided"
    assert stored(market, challenge).state == "upheld"


async def test_a_decision_before_all_is_compared_sends_the_machine_back(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    challenge = market.challenged(task, found["ben"])
    progress = await rescore(market.context(), task.id, challenge.id)
    assert (progress.state, progress.dimensions) == ("comparing", DIMENSIONS)
    await compare_again(market.context(), task.id, challenge.id, dimension="credibility")
    early = decide(market.context(), task.id, challenge.id)
    assert (early.state, set(early.dimensions)) == ("comparing", set(DIMENSIONS) - {"credibility"})
    again = await rescore(market.context(), task.id, challenge.id)
    assert (again.state, market.script.prompts().count(f"{SECOND}/individual")) == ("comparing", 1)


async def test_a_decision_out_of_turn_decides_nothing(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    challenge = market.challenged(task, found["ben"])
    decide(market.context(), task.id, challenge.id)
    assert (stored(market, challenge), market.task(task.id).undecided) == (challenge, (challenge.id,))
    assert await market.carry_challenge(challenge) == "decided"


async def test_a_second_provider_whose_key_is_gone_before_it_compared_is_waited_for_and_then_left(
    market: Market,
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    challenge = market.challenged(task, found["ben"])
    assert (await rescore(market.context(), task.id, challenge.id)).state == "comparing"
    market.script.providers = ("claude",)
    waiting = await compare_again(market.context(), task.id, challenge.id, dimension="credibility")
    assert (waiting.state, waiting.reason) == ("waiting", "misconfigured")
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)) == ("unresolved", ["ada", "ben"])


async def test_what_was_read_for_the_comparison_and_is_lost_is_read_again(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    market.scratch = Artifacts(market.scratch._connect, "scratch", root="elsewhere")
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    assert stored(market, challenge).state == "upheld"


async def test_a_challenge_that_nobody_judged_in_time_is_left_unresolved(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    challenge = market.challenged(task, found["ben"])
    assert task.challenge_until is not None
    market.clock.now = task.challenge_until + SETTLED_WITHIN
    assert (await rescore(market.context(), task.id, challenge.id)).state == "decided"
    assert (stored(market, challenge).state, market.script.asked) == ("unresolved", [])


async def test_tries_that_were_each_interrupted_leave_a_challenge_unresolved(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    challenge = market.challenged(task, found["ben"])
    since = market.clock()
    while market.challenges.begin(challenge.ref, lambda one: steps.begun(one, now=market.clock()))[1]:
        held = await rescore(market.context(), task.id, challenge.id)
        market.clock.now = held.until or market.clock.now
    assert held.state == "decided"
    assert market.clock() - since <= RETRY_PERIOD
    failure = stored(market, challenge).failure
    assert failure is not None
    assert (failure.reason, stored(market, challenge).state) == ("timed_out", "unresolved")


async def test_a_second_opinion_that_dies_with_two_replies_of_no_use_pays_for_no_third_one(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    market.cache = MemoryCache()
    task, found = await ranked(market, ada=85, ben=75)
    market.script.lines = {**market.script.lines, f"{SECOND}/individual": [individual("credibility")]}
    challenge = market.challenged(task, found["ben"])

    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("The store is away.")

    with monkeypatch.context() as broken:
        broken.setattr(steps, "unresolved", fail)
        with pytest.raises(StoreError):
            await rescore(market.context(), task.id, challenge.id)
    market.clock.now += 2 * LEASE
    assert (await rescore(market.context(), task.id, challenge.id)).state == "decided"
    assert market.script.prompts() == [f"{SECOND}/individual"] * 2


@pytest.mark.parametrize(
    ("error", "word", "state"),
    [(RefusedError("It refuses."), "decided", "unresolved"), (OverloadedError("503"), "waiting", "waiting")],
)
async def test_a_new_finalist_that_is_too_long_to_be_shown_must_be_read_first(
    market: Market, error: Line, word: str, state: str
) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75, "cleo": 66, "dora": 62}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo")
    found["dora"] = market.submitted(task, "dora", more=LONG)
    await market.carry_submission(found["dora"].ref)
    await market.carry_task(task.id)
    market.opinions.second = {"dora": 90}
    market.script.lines = {**market.script.lines, "digest": [error]}
    challenge = market.challenged(task, found["dora"])
    assert (await rescore(market.context(), task.id, challenge.id)).state == word
    assert (stored(market, challenge).state, order(market, task, found)) == (state, ["ada", "ben", "cleo", "dora"])


async def test_only_a_party_may_challenge_and_only_a_place_of_a_ranking_in_its_time(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    other = await market.opened(deadline=market.clock() + timedelta(days=1))
    unranked = (await market.judged(other, "ada"))["ada"]
    with pytest.raises(NotFoundError, match="this party has to do with"):
        market.challenged(task, found["ben"], by="stranger")
    with pytest.raises(NotFoundError, match="no submission"):
        market.challenged(task, unranked, by="ada")
    for by in ("ada", OWNER):
        with pytest.raises(ConflictError, match="no ranking yet"):
            market.challenged(other, unranked, by=by)
    market.challenged(task, found["ben"])
    other_words = ChallengeRequest(challenger="ben", submission_id=found["ben"].id, reason="Look closer.")
    with pytest.raises(ConflictError, match="already"):
        market.intake().challenge(task.id, other_words)
    market.challenged(task, found["ben"], by="ada")
    assert len(market.task(task.id).undecided) == 2
    assert task.challenge_until is not None
    market.clock.now = task.challenge_until
    with pytest.raises(ConflictError, match="time for challenges is over"):
        market.challenged(task, found["ada"])


async def test_work_that_failed_its_gate_has_no_place_and_a_race_has_no_ranking(market: Market) -> None:
    market.opinions.gate_failed.add("eve")
    task, found = await ranked(market, ada=85, eve=75)
    with pytest.raises(ConflictError, match="passed its gate"):
        market.challenged(task, found["eve"])
    race = await market.opened("fastest_first", deadline=market.clock() + timedelta(days=1))
    won = (await market.judged(race, "ada"))["ada"]
    with pytest.raises(ConflictError, match="paid when it closes"):
        market.challenged(race, won)


async def test_a_ranking_is_challenged_so_often_and_not_more_but_by_authors_for_their_own_places(
    market: Market,
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    for number in range(MAX_CHALLENGES):
        request = ChallengeRequest(challenger=f"party{number}", submission_id=found["ben"].id, reason="Look again.")
        market.challenges.add(task.ref, challenge_id=new_ulid(market.clock()), request=request)
    with pytest.raises(ConflictError, match="all that it can be"):
        market.challenged(task, found["ben"], by=OWNER)
    own = market.challenged(task, found["ben"])
    after = market.task(task.id)
    assert (after.challenges, after.undecided[-1]) == (MAX_CHALLENGES, own.id)


async def test_a_repeated_challenge_is_the_same_one_even_after_its_time(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    request = ChallengeRequest(challenger="ben", submission_id=found["ben"].id, reason="Look again.")
    made = market.intake().challenge(task.id, request)
    assert market.starts.runs[-1] == f"challenge {made.id}-1"
    await market.carry_challenge(made)
    market.final(task.id)
    again = market.intake().challenge(task.id, request)
    assert (again.id, again.state) == (made.id, "rejected")
    assert [one.id for one in market.challenges.of_task(task.ref)] == [made.id]


async def test_an_undecided_dimension_of_one_judge_is_asked_of_the_second_only(market: Market) -> None:
    """Down on one dimension for the second provider alone: the contest's own judge is not asked instead."""
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    down = unless("credibility", OverloadedError("503"), market.opinions.horizontal)
    market.script.lines = {**market.script.lines, f"{SECOND}/horizontal": [down]}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    assert stored(market, challenge).state == "unresolved"
    assert {asked.provider for asked in market.script.asked} == {SECOND}
