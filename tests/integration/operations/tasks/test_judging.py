"""A submission is checked, then scored; what a judge did not do is tried again, and then says so without a number."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from tests.support import replies
from tests.support.deaths import Dying
from tests.support.judges import Asked, Line
from tests.support.market import Market
from tests.support.opinions import DIMENSIONS, evidence_of, text_of
from touchstone.attempts import LEASE, MAX_TRIES, RETRY_PERIOD
from touchstone.clock import Deadline
from touchstone.errors import ConflictError, DayQuotaError, OverloadedError, RefusedError, UnreadableError
from touchstone.judges.cache import MemoryCache
from touchstone.operations.tasks.context import SETTLED_WITHIN
from touchstone.operations.tasks.judging import check, judge_once, score
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.submission import Submission
from touchstone.records import Tasks

WRONG = {
    "gate": replies.gate(replies.criterion(7)),
    "individual": {"steering": [], "dimension_scores": [], "revision_suggestions": []},
}


async def test_work_that_misses_a_criterion_is_told_how_to_meet_it_and_may_be_revised(market: Market) -> None:
    task = await market.opened()
    market.opinions.gate_failed.add("ada")
    first = market.submitted(task, "ada")
    assert (await check(market.context(), first.ref)).state == "gate_failed"
    gate = market.submission(first).gate
    assert gate is not None
    assert [one.revision_hint for one in gate.criteria_checks] == ["Name its source."]
    market.opinions.gate_failed.clear()
    second = market.submitted(task, "ada", more="The figures are those of the growers' association.")
    assert second.revision == 2
    assert await market.carry_submission(second.ref) == "scored"
    with pytest.raises(ConflictError, match="passed the gate"):
        market.submitted(task, "ada")


async def test_a_repeated_step_asks_nobody_and_says_the_same(market: Market) -> None:
    task = await market.opened()
    one = market.submitted(task, "ada")
    for _ in range(2):
        assert (await check(market.context(), one.ref)).state == "gate_passed"
    for _ in range(2):
        assert (await score(market.context(), one.ref)).state == "scored"
    assert (await check(market.context(), one.ref)).state == "scored"
    assert market.script.prompts() == ["claude/dimensions", "claude/gate", "claude/individual"]
    assert [spend.purpose for spend in market.submission(one).spends] == ["gate", "individual"]


@pytest.mark.parametrize("stage", ["gate", "individual"])
async def test_a_reply_that_breaks_the_rules_twice_leaves_the_work_unscored_with_the_reason(
    market: Market, stage: str
) -> None:
    market.script.lines = {**market.script.lines, stage: [WRONG[stage]]}
    task = await market.opened()
    one = market.submitted(task, "ada")
    assert await market.carry_submission(one.ref) == "unscored"
    stored = market.submission(one)
    assert stored.failure is not None
    assert (stored.failure.stage, stored.failure.reason) == (
        {"individual": "scoring"}.get(stage, stage),
        "invalid_reply",
    )
    assert (stored.individual, stored.contender) == (None, None)
    assert len([1 for each in market.script.prompts() if each.endswith(stage)]) == 2


@pytest.mark.parametrize("stage", ["gate", "individual"])
async def test_an_overloaded_judge_is_tried_again_later_and_what_it_then_says_counts(
    market: Market, stage: str
) -> None:
    over = market.clock() + timedelta(minutes=2)
    before = market.script.lines[stage][0]
    market.script.lines = {
        **market.script.lines,
        stage: [lambda asked: OverloadedError("503") if market.clock() < over else before(asked)],  # type: ignore[operator]
    }
    task = await market.opened()
    one = market.submitted(task, "ada")
    assert await market.carry_submission(one.ref) == "scored"
    waited = [progress for progress in market.said if progress.state == "waiting"]
    assert {progress.reason for progress in waited} == {"overloaded"}
    stored = market.submission(one)
    assert (stored.failure, stored.attempts.tries) == (None, 0)
    assert market.clock() >= over


@pytest.mark.parametrize("stage", ["gate", "individual"])
async def test_a_judge_that_stays_overloaded_is_given_up_after_days(market: Market, stage: str) -> None:
    market.script.lines = {**market.script.lines, stage: [OverloadedError("503")]}
    task = await market.opened()
    one = market.submitted(task, "ada")
    since = market.clock()
    assert await market.carry_submission(one.ref) == "unscored"
    stored = market.submission(one)
    assert stored.failure is not None
    assert stored.failure.reason == "overloaded"
    assert market.clock() - since >= RETRY_PERIOD
    assert len([progress for progress in market.said if progress.state == "waiting"]) < 40


@pytest.mark.parametrize("stage", ["gate", "individual"])
@pytest.mark.parametrize(("keys", "error"), [((), None), (("claude",), DayQuotaError("No more today."))])
async def test_a_want_of_key_or_quota_waits_and_uses_up_no_try(
    market: Market, stage: str, keys: tuple[str, ...], error: DayQuotaError | None
) -> None:
    task = await market.opened()
    one = market.submitted(task, "ada")
    if stage == "individual":
        assert (await check(market.context(), one.ref)).state == "gate_passed"
    usual, market.script.providers = market.script.lines, keys
    if error is not None:
        market.script.lines = {**usual, stage: [error]}
    step = check if stage == "gate" else score
    for _ in range(MAX_TRIES + 1):
        progress = await step(market.context(), one.ref)
        assert progress.state == "waiting"
        assert progress.until is not None
        assert progress.until > market.clock()
        assert market.submission(one).attempts.tries == 0
        held = await step(market.context(), one.ref)
        assert (held.state, held.until) == ("waiting", progress.until)
        market.clock.now = progress.until
        if market.clock() > task.deadline - timedelta(days=1):
            break
    market.script.lines, market.script.providers = usual, ("claude",)
    assert await market.carry_submission(one.ref) == "scored"


async def test_a_try_whose_process_died_holds_others_off_until_its_lease_runs_out(market: Market) -> None:
    task = await market.opened()
    one = market.submitted(task, "ada")
    for at, step, word in (("received", check, "gate_passed"), ("gate_passed", score, "scored")):
        _, ours = market.judgements.begin(one.ref, at=at)  # type: ignore[arg-type] # a state; and then it is gone
        assert ours
        held = await step(market.context(), one.ref)
        assert (held.state, held.until) == ("waiting", market.clock() + LEASE)
        assert len(market.script.asked) == (1 if at == "received" else 2)
        market.clock.now += LEASE
        assert (await step(market.context(), one.ref)).state == word
    assert await market.carry_submission(one.ref) == "scored"


async def test_a_sweeps_restart_of_a_scoring_in_work_goes_on_to_the_scoring(market: Market) -> None:
    """Its machine begins with the gate again; with a try behind it, that must not wait for itself."""
    task = await market.opened()
    one = market.submitted(task, "ada")
    assert (await check(market.context(), one.ref)).state == "gate_passed"
    market.judgements.begin(one.ref, at="gate_passed")
    market.clock.now += LEASE
    assert await market.carry_submission(one.ref) == "scored"


@pytest.mark.parametrize(("at", "stage"), [("received", "gate"), ("gate_passed", "scoring")])
async def test_tries_that_were_each_interrupted_are_given_up_and_say_so(market: Market, at: Any, stage: str) -> None:
    task = await market.opened()
    one = market.submitted(task, "ada")
    if at == "gate_passed":
        await check(market.context(), one.ref)
    since = market.clock()
    while market.clock() - since < RETRY_PERIOD:
        begun, ours = market.judgements.begin(one.ref, at=at)
        assert ours
        market.clock.now = begun.attempts.not_before or since
    assert await market.carry_submission(one.ref) == "unscored"
    failure = market.submission(one).failure
    assert failure is not None
    assert (failure.stage, failure.reason) == (stage, "timed_out")
    assert "interrupted" in failure.details[0]


async def test_of_two_at_the_same_work_one_does_it(market: Market) -> None:
    task = await market.opened()
    one = market.submitted(task, "ada")
    words = await asyncio.gather(*(check(market.context(), one.ref) for _ in range(4)))
    assert sorted(progress.state for progress in words) == ["gate_passed", "waiting", "waiting", "waiting"]
    assert market.script.prompts().count("claude/gate") == 1


async def test_a_long_text_that_nobody_could_read_says_that_its_reading_failed(market: Market) -> None:
    market.script.lines = {**market.script.lines, "digest": [RefusedError("It refuses.")]}
    task = await market.opened()
    one = market.submitted(task, "ada", more="The frost came late. " * 6_000)
    assert await market.carry_submission(one.ref) == "unscored"
    failure = market.submission(one).failure
    assert failure is not None
    assert (failure.stage, failure.reason) == ("reading", "refused")


@pytest.mark.parametrize("more", ["", "The frost came late. " * 6_000], ids=["short", "long"])
async def test_at_another_try_several_judges_that_answered_are_not_paid_again(market: Market, more: str) -> None:
    over = market.clock() + timedelta(minutes=2)
    usual, times = market.script.lines, count(1)

    def read_otherwise(asked: Asked) -> Line:
        """Judges never note the same twice."""
        quote = evidence_of("ada") if "Section 1 of" in asked.user else "The frost came late."
        observation = f"It says when, seen {next(times)} times."
        noted = {"topic": DIMENSIONS[0], "quote": quote, "observation": observation}
        return {"steering": [], "observations": [noted]}

    def late(asked: Asked) -> Line:
        return UnreadableError("It is no JSON.") if market.clock() < over else market.opinions.gate(asked)

    market.script.lines = {**usual, "digest": [read_otherwise], "openai/gate": [late]}
    market.script.providers, market.cache = ("claude", "openai"), MemoryCache()
    task = await market.opened(judges=2)
    one = market.submitted(task, "ada", more=more)
    assert (await check(market.context(), one.ref)).state == "waiting"
    asked = market.script.prompts()
    market.clock.now = over + timedelta(hours=1)
    assert (await check(market.context(), one.ref)).state == "gate_passed"
    again = market.script.prompts()[len(asked) :]
    assert again == ["openai/gate"]
    gate = market.submission(one).gate
    assert gate is not None
    assert [vote.passed for vote in gate.votes] == [(True,), (True,)]


async def test_several_judges_score_and_those_that_answered_are_not_paid_again(market: Market) -> None:
    over = market.clock() + timedelta(minutes=2)
    market.opinions.scores, market.opinions.second = {"ada": 60}, {"ada": 71}

    def late(asked: Asked) -> Line:
        return OverloadedError("503") if market.clock() < over else market.opinions.individual(asked)

    market.script.lines = {**market.script.lines, "openai/individual": [late]}
    market.script.providers, market.cache = ("claude", "openai"), MemoryCache()
    task = await market.opened(scoring_judges=2)
    one = market.submitted(task, "ada")
    assert (await check(market.context(), one.ref)).state == "gate_passed"
    assert market.script.prompts().count("openai/gate") == 0, "one checks the criteria"
    assert (await score(market.context(), one.ref)).state == "waiting"
    asked = market.script.prompts()
    market.clock.now = over + timedelta(hours=1)
    assert (await score(market.context(), one.ref)).state == "scored"
    assert market.script.prompts()[len(asked) :] == ["openai/individual"]
    found = market.submission(one)
    assert found.individual is not None
    for said in found.individual.dimension_scores:
        assert said.score == 65
        assert [(vote.provider, vote.score) for vote in said.votes] == [("claude", 60.0), ("openai", 71.0)]
    assert {reading.provider for reading in found.readings} == {"claude", "openai"}


async def test_a_second_judge_that_nobody_can_ask_for_hours_uses_up_no_try(market: Market) -> None:
    market.script.providers = ("claude",)
    task = await market.opened(judges=2)
    one = market.submitted(task, "ada")
    for _ in range(2 * MAX_TRIES):
        progress = await check(market.context(), one.ref)
        assert (progress.state, progress.reason) == ("waiting", "misconfigured")
        assert progress.until is not None
        market.clock.now = progress.until
    market.script.providers = ("claude", "openai")
    assert (await check(market.context(), one.ref)).state == "gate_passed", "somebody set the second key"


async def test_after_a_day_and_a_half_a_majority_scores_without_the_judge_that_is_down(market: Market) -> None:
    market.opinions.scores, market.opinions.second = {"ada": 60}, {"ada": 70}
    market.script.lines = {**market.script.lines, "gemini/individual": [OverloadedError("503")]}
    market.script.providers, market.cache = ("claude", "openai", "gemini"), MemoryCache()
    task = await market.opened(scoring_judges=3)
    one = market.submitted(task, "ada")
    assert await market.carry_submission(one.ref) == "scored"
    assert market.clock() - one.submitted_at >= SETTLED_WITHIN
    found = market.submission(one)
    assert found.individual is not None
    votes = found.individual.dimension_scores[0].votes
    assert [vote.unscored for vote in votes] == [None, None, "overloaded"]
    assert market.script.prompts().count("claude/individual") == 1


async def test_both_steps_in_one_process_come_as_far_as_they_can(market: Market) -> None:
    task = await market.opened()
    market.opinions.gate_failed.add("ben")
    ada, ben = market.submitted(task, "ada"), market.submitted(task, "ben")
    assert (await judge_once(market.context(), ada.ref, deadline=Deadline.after(60.0))).state == "scored"
    assert (await judge_once(market.context(), ben.ref, deadline=Deadline.after(60.0))).state == "gate_failed"
    assert market.script.prompts().count("claude/individual") == 1


async def test_the_first_that_passes_closes_a_fastest_first_task_and_is_paid(market: Market) -> None:
    market.opinions.scores = {"ada": 59, "ben": 60, "cleo": 95}
    task = await market.opened("fastest_first")
    found = await market.judged(task, "ada", "ben")
    closed = market.task(task.id)
    assert (found["ada"].state, closed.state, closed.winner) == ("scored", "final", found["ben"].id)
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]
    with pytest.raises(ConflictError, match="no more submissions"):
        market.submitted(task, "cleo")


async def test_work_that_is_judged_when_another_has_won_is_overtaken(market: Market) -> None:
    task = await market.opened("fastest_first")
    slow, gated = market.submitted(task, "ada"), market.submitted(task, "ben")
    assert (await check(market.context(), gated.ref)).state == "gate_passed"
    await market.judged(task, "cleo")
    assert (await check(market.context(), slow.ref)).state == "overtaken"
    assert (await score(market.context(), gated.ref)).state == "overtaken"
    assert market.submission(gated).individual is None


async def test_a_win_that_was_lost_after_the_scores_were_stored_is_made_good_by_a_repeat(
    market: Market, dying: Dying
) -> None:
    task = await market.opened("fastest_first")
    one = market.submitted(task, "ada")
    await check(market.context(), one.ref)
    with dying(Tasks, "win"):
        await score(market.context(), one.ref)
    assert (market.submission(one).state, market.task(task.id).state) == ("scored", "open")
    assert (await score(market.context(), one.ref)).state == "scored"
    assert (market.task(task.id).winner, market.script.prompts().count("claude/individual")) == (one.id, 1)


async def test_r1_r20_of_fifty_that_pass_at_once_one_wins_and_is_paid_once_though_all_is_delivered_twice(
    market: Market,
) -> None:
    task = await market.opened("fastest_first")
    intake, handed_in = market.intake(), list[Submission]()
    for number in range(50):
        request = SubmissionRequest(submitter=f"writer{number}", text=text_of(f"writer{number}"))
        handed_in.append(intake.submit(task.id, request, key=f"{number}"))

    def deliver(one: Submission) -> list[str]:
        async def both() -> list[str]:
            gate = await check(market.context(), one.ref)
            return [gate.state, (await score(market.context(), one.ref)).state]

        return asyncio.run(both())

    with ThreadPoolExecutor(16) as workers:
        await asyncio.gather(
            *(asyncio.get_running_loop().run_in_executor(workers, deliver, one) for one in handed_in * 2)
        )
    final = market.task(task.id)
    assert (final.state, final.winner in {one.id for one in handed_in}) == ("final", True)
    market.announcer.pending(limit=100)
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]
    states = [market.submission(one).state for one in handed_in]
    for one in handed_in:
        assert await market.carry_submission(one.ref) in {"scored", "overtaken"}
    assert market.task(task.id) == final
    assert "scored" in states
