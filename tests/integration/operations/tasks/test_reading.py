"""Each party reads what it may, when it may; whoever is none cannot tell whether there is anything."""

from typing import Any

import pytest

from tests.support.market import OWNER, Market
from tests.support.oracle_steps import ended
from touchstone.errors import InputError, NotFoundError
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task

type Kinds = tuple[str, ...] | None
"""The kinds of feedback that a reader gets; None: there is no such submission for it."""

NOTHING_TOLD: Kinds = ()
GATE: Kinds = ("GateFeedback",)
SUGGESTIONS: Kinds = ("SuggestionsFeedback",)
OWN: Kinds = ("IndividualFeedback",)
ALL: Kinds = ("IndividualFeedback", "ScoringFeedback")
PARTIES = ("ada", OWNER, "ben", "stranger", None)


async def handed_in(market: Market, path: Any = "quality_first") -> tuple[Task, dict[str, Submission]]:
    """Work of three: one that passed, one that waits, one that failed its gate."""
    market.opinions.scores, market.opinions.gate_failed = {"ada": 55}, {"eve"}
    task = await market.opened(path)
    found = await market.judged(task, "ada", "eve")
    return task, found | {"ben": market.submitted(task, "ben")}


def seen(market: Market, task: Task, one: Submission, party: str | None) -> Kinds:
    """What a party reads of a submission, by the single view; the list must say the same to those who may list."""
    reader = market.reader(party)
    try:
        view = reader.submission(task.id, one.id)
    except NotFoundError:
        view = None
    try:
        listed = [each for each in reader.submitted(task.id, limit=100, cursor=None).items if each.id == one.id]
    except NotFoundError:
        listed = []
    assert listed == ([] if view is None else [view])
    return None if view is None else tuple(type(each).__name__ for each in view.feedback)


async def test_before_the_deadline_of_a_contest_an_author_reads_suggestions_and_nobody_else_anything(
    market: Market,
) -> None:
    task, found = await handed_in(market)
    assert [seen(market, task, found["ada"], party) for party in PARTIES] == [SUGGESTIONS, None, None, None, None]
    assert seen(market, task, found["eve"], "eve") == GATE
    assert seen(market, task, found["ben"], "ben") == NOTHING_TOLD
    own = market.reader("ada").submission(task.id, found["ada"].id)
    assert own.standing == "gate_passed"
    assert "score" not in own.model_dump_json().replace("individual_scoring", "").replace("unscored", "")


async def test_an_author_of_a_race_reads_its_own_scores_at_once_and_the_others_read_them_when_it_is_closed(
    market: Market,
) -> None:
    task, found = await handed_in(market, "fastest_first")
    assert [seen(market, task, found["ada"], party) for party in PARTIES] == [OWN, None, None, None, None]
    await market.carry_submission(found["ben"].ref)
    assert market.task(task.id).winner == found["ben"].id
    assert [seen(market, task, found["ada"], party) for party in PARTIES] == [OWN, OWN, OWN, None, None]


async def test_from_the_deadline_on_the_parties_read_all_and_strangers_nothing(market: Market) -> None:
    task, found = await handed_in(market)
    await market.carry_submission(found["ben"].ref)
    market.clock.now = task.deadline
    ended(market.tasks, task)
    assert [seen(market, task, found["ada"], party) for party in PARTIES] == [OWN, OWN, OWN, None, None]
    await market.carry_task(task.id)
    assert [seen(market, task, found["ada"], party) for party in PARTIES] == [ALL, ALL, ALL, None, None]
    assert [seen(market, task, found["eve"], party) for party in PARTIES] == [GATE, GATE, GATE, None, None]
    market.final(task.id)
    assert [seen(market, task, found["ada"], party) for party in PARTIES] == [ALL, ALL, ALL, None, None]


async def test_what_was_handed_in_is_read_by_the_parties_once_the_task_is_closed(market: Market) -> None:
    task, found = await handed_in(market)
    one = found["ada"]
    assert [market.reader(party).text(task.id, one.id) for party in ("ada", OWNER, "ben")] == [None, None, None]
    market.clock.now = task.deadline
    ended(market.tasks, task)
    text = market.submissions.text(one)
    assert [market.reader(party).text(task.id, one.id) for party in ("ada", OWNER, "ben")] == [text, text, text]
    for reader in (market.reader("stranger"), market.reader(None), market.reader("ada", tenant="rival")):
        with pytest.raises(NotFoundError):
            reader.text(task.id, one.id)


async def test_the_ranking_is_for_the_parties_and_the_task_for_everybody_of_its_tenant(market: Market) -> None:
    task, found = await handed_in(market)
    for party in PARTIES:
        view = market.reader(party).task(task.id)
        assert (view.state, view.ranking, view.winner, len(view.dimensions)) == ("open", None, None, 5)
        assert view.tokens > 0
    await market.carry_submission(found["ben"].ref)
    await market.carry_task(task.id)
    shown = [market.reader(party).task(task.id).ranking for party in (*PARTIES, "eve")]
    assert [ranking is not None for ranking in shown] == [True, True, True, False, False, True]
    assert [place.rank for place in shown[0] or ()] == [1, 2]
    with pytest.raises(NotFoundError):
        market.reader("ada", tenant="rival").task(task.id)


async def test_pages_of_a_closed_task_hold_each_submission_once_newest_first(market: Market) -> None:
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo")
    mine = market.reader("ben").submitted(task.id, limit=10, cursor=None)
    assert ([one.id for one in mine.items], mine.cursor) == ([found["ben"].id], None)
    await market.carry_task(task.id)
    first = market.reader(OWNER).submitted(task.id, limit=2, cursor=None)
    rest = market.reader(OWNER).submitted(task.id, limit=2, cursor=first.cursor)
    assert [one.submitter for one in (*first.items, *rest.items)] == ["cleo", "ben", "ada"]
    assert rest.cursor is None
    with pytest.raises(InputError):
        market.reader(OWNER).submitted(task.id, limit=0, cursor=None)
    for party in ("stranger", None):
        for read in (
            lambda party=party: market.reader(party).submitted(task.id, limit=1, cursor=None),
            lambda party=party: market.reader(party).challenged(task.id),
        ):
            with pytest.raises(NotFoundError, match="this party has to do with"):
                read()


async def test_an_author_sees_each_of_its_revisions_the_newest_first(market: Market) -> None:
    market.opinions.gate_failed = {"ada"}
    task = await market.opened()
    for number in range(3):
        one = market.submitted(task, "ada", more=f"Revision {number}.")
        await market.carry_submission(one.ref)
    own = market.reader("ada").submitted(task.id, limit=2, cursor=None)
    assert ([one.revision for one in own.items], own.cursor) == ([3, 2, 1], None)


async def test_challenges_are_shown_to_the_parties_and_the_second_opinion_once_it_is_decided(market: Market) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben")
    await market.carry_task(task.id)
    market.opinions.second = {"ben": 95}
    challenge = market.challenged(task, found["ben"])
    (waiting,) = market.reader("ada").challenged(task.id)
    assert (waiting.state, waiting.new_total, waiting.provider, waiting.reason) == (
        "waiting",
        None,
        None,
        "Look again.",
    )
    assert market.reader("ada").task(task.id).undecided_challenges == 1
    await market.carry_challenge(challenge)
    (decided,) = market.reader(OWNER).challenged(task.id)
    assert (decided.state, decided.new_total, decided.provider) == ("upheld", 95.0, "openai")
