"""Parties who dispute a ranking by whatever the rules allow: nobody is decided by chance, held up, or shut out."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from tests.support.judges import Asked, Line, paid
from tests.support.market import LONG, OWNER, SECOND, Market, order, ranked, stored
from tests.support.oracle_steps import ended
from touchstone.errors import ConflictError, NotFoundError, OverloadedError, UnreadableError
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.task import CHALLENGES_PER_PARTY
from touchstone.records import Challenges, new_ulid
from touchstone.references import Reference

STEERING = "as the association counted"
"""A passage of everybody's work, see `text_of`."""


@pytest.mark.parametrize(("third", "last"), [({}, "unresolved"), ({"gemini": 72}, "unresolved")])
async def test_no_provider_is_asked_twice_about_one_place_however_often_it_is_challenged(
    market: Market, third: dict[str, int], last: str
) -> None:
    """Else two providers of different opinions would decide in turn, and the last challenge would win."""
    task, found = await ranked(market, ada=85, ben=75)
    scores = {"openai": 95, **third}
    market.script.providers = ("claude", *scores)

    def by(provider: str, what: str) -> Line:
        def line(asked: Asked) -> Line:
            market.opinions.second = {"ben": scores[provider]}
            said: Line = getattr(market.opinions, what)(asked)
            return said

        return line

    market.script.lines = {
        **market.script.lines,
        **{f"{one}/{what}": [by(one, what)] for one in scores for what in ("individual", "horizontal")},
    }
    asked, decided = [], []
    for who in ("ben", "ada", OWNER):
        market.script.asked.clear()
        challenge = market.challenged(task, found["ben"], by=who)
        await market.carry_challenge(challenge)
        decided.append(stored(market, challenge).state)
        asked.append({one.provider for one in market.script.asked})
    assert asked == [{"openai"}, set(third), set()]
    assert (decided[0], decided[-1]) == ("upheld", last)
    assert order(market, task, found) == (["ada", "ben"] if third else ["ben", "ada"])


async def test_who_scores_again_is_chosen_once_whatever_fails_meanwhile(market: Market) -> None:
    """A reading that failed is paid for; whoever did it is still who judges the challenge."""
    market.script.providers = ("claude", SECOND)
    market.opinions.scores = {"ada": 85, "ben": 75, "cleo": 70, "dora": 65}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo") | await market.judged(task, "dora", more=LONG)
    assert await market.carry_task(task.id) == "challenge"
    market.opinions.second = {"dora": 95}
    cut_off = paid(UnreadableError("cut off"), "gpt")
    market.script.lines = {**market.script.lines, f"{SECOND}/digest": [cut_off, cut_off, market.opinions.digest]}
    challenge = market.challenged(task, found["dora"])
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, stored(market, challenge).provider) == ("upheld", SECOND)
    assert order(market, task, found)[0] == "dora"


@pytest.mark.parametrize("submission", ["eve", "nobody"])
async def test_a_challenge_that_is_asked_for_while_the_task_is_being_ranked_cannot_name_what_has_no_place(
    market: Market, monkeypatch: pytest.MonkeyPatch, submission: str
) -> None:
    """The request read the task before it was ranked, and is stored after: what it names is looked at all the same."""
    market.opinions.scores = {"ada": 85, "ben": 75}
    market.opinions.gate_failed.add("eve")
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "eve")
    market.opinions.second = {"ben": 95, "eve": 99}
    market.clock.now = task.deadline
    ended(market.tasks, task)
    usual = Challenges.of_task

    def between(self: Challenges, which: Reference) -> Any:
        read = usual(self, which)
        if market.task(task.id).state != "challenge":
            with ThreadPoolExecutor(1) as other:
                other.submit(lambda: asyncio.run(market.carry_task(task.id))).result()
        return read

    named = found["eve"].id if submission == "eve" else "01M7YCR9J0YEPNXK2F1F80QC0E"
    request = ChallengeRequest(challenger="eve", submission_id=named, reason="Look again.")
    with monkeypatch.context() as patch:
        patch.setattr(Challenges, "of_task", between)
        for _ in range(2):
            with pytest.raises((ConflictError, NotFoundError)):
                market.intake().challenge(task.id, request)
    assert (market.task(task.id).state, market.task(task.id).undecided) == ("challenge", ())
    honest = market.challenged(task, found["ben"])
    assert await market.carry_challenge(honest) == "decided"
    assert stored(market, honest).state == "upheld"
    assert market.final(task.id).winner == found["ben"].id


async def test_a_challenge_to_what_did_not_pass_its_gate_holds_no_result_open(market: Market) -> None:
    market.opinions.gate_failed.add("eve")
    task, found = await ranked(market, ada=85, eve=75)
    request = ChallengeRequest(challenger="eve", submission_id=found["eve"].id, reason="Look again.")
    made = market.challenges.add(
        task.ref,
        challenge_id=new_ulid(market.clock()),
        request=request,
        is_own=lambda _: True,
    )
    assert await market.carry_challenge(made) == "decided"
    assert (stored(market, made).state, market.script.asked) == ("unresolved", [])
    assert market.final(task.id).winner == found["ada"].id


async def test_a_finalist_that_nobody_could_read_at_the_deadline_is_read_anew_for_a_challenge(market: Market) -> None:
    """Else every challenge that compares the finalists again would end without a decision."""
    market.opinions.scores = {"ada": 85, "ben": 75, "cleo": 70}
    task = await market.opened()
    found = await market.judged(task, "ben", "cleo") | await market.judged(task, "ada", more=LONG)
    usual = market.script.lines
    market.script.lines = {**usual, "digest": [OverloadedError("503")]}
    assert await market.carry_task(task.id) == "challenge"
    assert order(market, task, found) == ["ben", "cleo", "ada"]
    market.script.lines = usual
    market.script.asked.clear()
    market.opinions.second = {"ben": 65}
    challenge = market.challenged(task, found["ben"], by="cleo")
    assert await market.carry_challenge(challenge) == "decided"
    assert (stored(market, challenge).state, order(market, task, found)) == ("upheld", ["ada", "cleo", "ben"])
    assert market.script.prompts().count(f"{SECOND}/digest") == 1


async def test_no_party_uses_up_the_challenges_of_all_others(market: Market) -> None:
    writers = [f"writer{number}" for number in range(CHALLENGES_PER_PARTY + 2)]
    task, found = await ranked(market, **dict.fromkeys(writers, 80))
    first, *others = writers
    for other in others[:CHALLENGES_PER_PARTY]:
        market.challenged(task, found[other], by=first)
    with pytest.raises(ConflictError, match=f"the places of {CHALLENGES_PER_PARTY} others"):
        market.challenged(task, found[others[-1]], by=first)
    for writer in (first, others[-1]):
        market.challenged(task, found[writer])
    market.challenged(task, found[others[-1]], by=OWNER)
    assert len(market.task(task.id).undecided) == CHALLENGES_PER_PARTY + 3


def _let_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two threads that count challenges wait for each other, so that neither counts the other's."""
    counted, meeting = Challenges.of_task, Barrier(2, timeout=0.2)

    def together(self: Challenges, which: Reference) -> tuple[Challenge, ...]:
        known = counted(self, which)
        with suppress(BrokenBarrierError):
            meeting.wait()
        return known

    monkeypatch.setattr(Challenges, "of_task", together)


async def test_a_partys_last_challenge_sent_twice_at_the_same_moment_is_one(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = [f"writer{number}" for number in range(CHALLENGES_PER_PARTY + 1)]
    task, found = await ranked(market, **dict.fromkeys(writers, 80))
    first, *others, last = writers
    for other in others:
        market.challenged(task, found[other], by=first)
    _let_meet(monkeypatch)
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: market.challenged(task, found[last], by=first).id, range(2))
    assert one == other
    assert len(market.task(task.id).undecided) == CHALLENGES_PER_PARTY


async def test_of_two_challenges_at_the_same_moment_one_is_a_partys_last(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = [f"writer{number}" for number in range(CHALLENGES_PER_PARTY + 2)]
    task, found = await ranked(market, **dict.fromkeys(writers, 80))
    first, *others = writers
    for other in others[: CHALLENGES_PER_PARTY - 1]:
        market.challenged(task, found[other], by=first)
    _let_meet(monkeypatch)

    def refusal(other: str) -> str:
        try:
            market.challenged(task, found[other], by=first)
        except ConflictError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(2) as threads:
        taken, refused = sorted(threads.map(refusal, others[-2:]))
    assert not taken
    assert f"the places of {CHALLENGES_PER_PARTY} others" in refused
    assert len(market.task(task.id).undecided) == CHALLENGES_PER_PARTY


async def test_what_the_second_opinion_finds_to_speak_to_judges_is_not_shown_beside_rivals(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}

    def finding(asked: Asked) -> Line:
        said = market.opinions.individual(asked)
        assert isinstance(said, dict)
        return {**said, "steering": [{"flag": "addresses_the_judge", "quote": STEERING}]}

    market.script.lines = {**market.script.lines, f"{SECOND}/individual": [finding]}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    assert [passage.flag for passage in stored(market, challenge).passages] == ["addresses_the_judge"]
    beside = [asked.user for asked in market.script.asked if asked.prompt == "horizontal"]
    assert beside
    assert {text.count(STEERING) for text in beside} == {1}, "the other's work is shown as it was"


async def test_what_a_challenge_took_is_told_to_its_parties(market: Market) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    market.opinions.second = {"ben": 95}
    await market.carry_challenge(market.challenged(task, found["ben"]))
    (view,) = market.reader(OWNER).challenged(task.id)
    assert view.tokens == 1_100 * len(market.script.asked)
    assert view.cost_usd
