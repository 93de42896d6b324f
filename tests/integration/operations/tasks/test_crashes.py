"""A process dies at any call to a store, before its effect or after it: what the sweep then restarts ends the same."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest

from tests.support.deaths import DiedError, When, dying_at
from tests.support.market import Bus, Market
from tests.support.opinions import text_of
from tests.support.oracle import a_request
from tests.support.records import HandClock
from tests.support.starts import starts_of_tasks
from touchstone.oracle.challenge import ChallengeRequest
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.model import TaskPath

WRITERS = ("ada", "ben")
SWEEPS = 6
"""So many, a quarter of an hour apart, see all that a machine left: the longest that one says it carries is an hour."""
CHALLENGED_SECONDS = 12 * 3600
"""Longer than it takes until a ranking that broke off is taken up."""
STRIDE = {"quality_first": 59, "fastest_first": 11}
"""Of so many calls one is tried, since each try is a whole task; another number tries other calls."""


async def played(market: Market, path: TaskPath, run: str) -> tuple[str, dict[str, str]]:
    """A task from its creation to its final result. A request that broke off is repeated by whoever made it; a machine
    that did goes on only where the sweep starts it again.

    Its id, and the writers of its submissions by their ids.
    """
    intake = market.intake()
    market.opinions.scores, market.opinions.second = {"ada": 85, "ben": 75}, {"ben": 95}

    def asked[T](request: Callable[[], T]) -> T:
        try:
            return request()
        except DiedError:
            return request()

    async def carried(record_id: str, part: Callable[[], Awaitable[object]]) -> None:
        try:
            await part()
        except DiedError:
            if swept(record_id):
                await part()

    def swept(record_id: str) -> bool:
        market.starts.runs.clear()
        for _ in range(SWEEPS):
            market.clock.advance(minutes=15)
            market.sweep().run()
            if any(record_id in run for run in market.starts.runs):
                return True
        return False

    async def final() -> None:
        market.final(task.id)

    task = asked(lambda: intake.create(a_request(path, challenge_seconds=CHALLENGED_SECONDS), key=run))
    await carried(task.id, lambda: market.drafted(task.id))
    found = {}
    for writer in WRITERS if path == "quality_first" else WRITERS[:1]:
        work = SubmissionRequest(submitter=writer, text=text_of(writer))
        one = asked(partial(intake.submit, task.id, work, key=f"{run} {writer}"))
        found[one.id] = writer
        await carried(one.id, partial(market.carry_submission, one.ref))
    await carried(task.id, lambda: market.carry_task(task.id))
    if path == "quality_first":
        request = ChallengeRequest(challenger="ben", submission_id=one.id, reason="Look again.")
        challenge = asked(lambda: intake.challenge(task.id, request))
        await carried(challenge.id, lambda: market.carry_challenge(challenge))
        await carried(task.id, final)
    market.clock.advance(minutes=5)
    asked(lambda: market.sweep().run())
    return task.id, found


def outcome(market: Market, task_id: str, found: dict[str, str]) -> tuple[object, ...]:
    """What the task came to, in words that are the same for every run."""
    final = market.task(task_id)
    told = {(entry["DetailType"], json.loads(entry["Detail"])["id"]) for entry in market.bus.entries}
    return (
        (final.state, found[final.winner or ""]),
        [(found[place.submission_id], place.rank, place.final_score) for place in final.places],
        sorted(kind for kind, _ in told),
        # Ids of one moment sort by chance; the clock of this test stands still between two requests.
        sorted(
            (found[one.id], one.state, one.revision, len(one.comparisons))
            for one in market.submissions.of_task(final.ref)
        ),
        [(one.state, one.settled) for one in market.challenges.of_task(final.ref)],
    )


def fresh(market: Market) -> Market:
    """Another day at the same stores."""
    return replace(
        market, clock=HandClock(), bus=Bus(), starts=starts_of_tasks(), said=[], script=market.opinions.script()
    )


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("path", ["quality_first", "fastest_first"])
async def test_r3_r4_a_process_that_dies_at_any_call_to_a_store_changes_nothing_in_the_end(
    market: Market, monkeypatch: pytest.MonkeyPatch, path: TaskPath, when: When
) -> None:
    with dying_at(monkeypatch, 0, when) as nowhere:
        whole = await played(market, path, "nowhere")
    expected = outcome(market, *whole)
    assert nowhere.calls > STRIDE[path]
    for number in range(len(when), nowhere.calls + 1, STRIDE[path]):
        here = fresh(market)
        with dying_at(monkeypatch, number, when):
            whole = await played(here, path, f"{when} {number}")
        assert outcome(here, *whole) == expected, number
