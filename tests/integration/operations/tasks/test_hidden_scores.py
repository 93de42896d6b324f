"""Before its deadline no score of a contest leaves the records: not by a view, a list, a log, an event or a machine."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from pydantic import BaseModel

from tests.support.market import OWNER, Bus, Market
from tests.support.opinions import Opinions
from tests.support.records import HandClock
from tests.support.sinks import listening
from tests.support.starts import starts_of_tasks
from touchstone.errors import NotFoundError
from touchstone.operations.tasks.closing import close
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task

WRITERS = ("ada", "ben", "cleo")
FIRST = {"ada": 87, "ben": 61, "cleo": {"credibility": 41, "usable_advice": 93}}
SECOND = {"ada": 64, "ben": 91, "cleo": 88}
SCORES = {87, 61, 41, 93, 64, 91, 88}
NAMES = ("score", "band", "penalt", "weighted", "total", "rank", "place", "flag", "individual_", "dimension_score")
"""Parts of the names of fields that a score could hide in."""
NO_SCORES = {"type", "challenge_seconds", "ranking", "unscored"}
"""Fields whose name or word says nothing of a score; `ranking` must be null."""
ULID = re.compile(r"01[0-9A-HJKMNP-TV-Z]{24}")


def fields(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of a JSON value, under the name of the field that it is in."""
    match value:
        case dict():
            for key, part in value.items():
                yield from fields(part, str(key))
        case list() | tuple():
            for part in value:
                yield from fields(part, name)
        case _:
            yield name, value


def assert_tells_no_score(what: Any) -> None:
    """No field that could hold a score, no number that is one, no band in a field."""
    for name, value in fields(what):
        if name not in NO_SCORES:
            assert not [part for part in NAMES if part in name], (name, value)
        assert value not in SCORES, (name, value)
        assert value not in {"A", "B", "C", "D", "E"}, (name, value)
        if name == "ranking":
            assert value is None


async def until_the_deadline(market: Market, scores: dict[str, Any]) -> tuple[Task, list[Any], str]:
    """A contest up to its deadline; all that anybody was told of it meanwhile, and all that was logged."""
    with listening() as said:
        market.opinions.scores = scores
        task = await market.opened()
        found = await market.judged(task, *WRITERS)
        told = [each for party in (*WRITERS, OWNER, "stranger", None) for each in _read(market, task, found, party)]
        told += [one for one in market.tasks.page(tenant="acme").items if one.id == task.id]
        told += [one.event for one in market.outbox.of_task(task.ref)]
        shown: list[Any] = [one.model_dump(mode="json") for one in told]
        shown += [json.loads(entry["Detail"]) for entry in market.bus.entries]
        shown += [json.loads(json.dumps(asdict(progress), default=str)) for progress in market.said]
        shown.append(market.starts.runs)
        market.sweep().run()
        await close(market.context(), task.id, deadline=task.deadline)
        return task, shown, said()


def _read(market: Market, task: Task, found: dict[str, Submission], party: str | None) -> Iterator[BaseModel]:
    """All that a party may read."""
    reader = market.reader(party)
    yield reader.task(task.id)
    for one in found.values():
        with suppress(NotFoundError):
            yield reader.submission(task.id, one.id)
    with suppress(NotFoundError):
        yield from reader.submitted(task.id, limit=9, cursor=None).items


async def test_no_score_is_told_to_anybody_before_the_deadline(market: Market) -> None:
    _, told, lines = await until_the_deadline(market, FIRST)
    assert len(told) >= 20
    for one in told:
        assert_tells_no_score(one)
    for word in ("penalized", "dimension_scores", "individual=", "overall_band", "weighted_base"):
        assert word not in lines


async def test_what_is_told_before_the_deadline_is_the_same_whatever_the_scores_are(market: Market) -> None:
    """The canary: two contests that differ in nothing but their scores cannot be told apart."""
    opinions = Opinions()
    other = replace(
        market,
        clock=HandClock(),
        opinions=opinions,
        script=opinions.script(),
        bus=Bus(),
        starts=starts_of_tasks(),
        said=[],
    )
    told = [await until_the_deadline(one, scores) for one, scores in ((market, FIRST), (other, SECOND))]
    first, second = ([ULID.sub("an id", json.dumps(one)) for one in shown] for _, shown, _ in told)
    assert first == second


async def test_after_the_deadline_the_same_search_finds_scores(market: Market) -> None:
    """So that a search that finds nothing means something."""
    task, _, _ = await until_the_deadline(market, FIRST)
    await market.carry_task(task.id)
    shown = market.reader(OWNER).submitted(task.id, limit=9, cursor=None)
    found = {value for one in shown.items for _, value in fields(one.model_dump(mode="json"))}
    assert found >= {87, 61, 41, 93}
