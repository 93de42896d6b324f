"""What a ranking cost, and how sure it is, are told to those whom it concerns."""

import pytest

from tests.support.judges import Asked, Line, paid
from tests.support.market import LONG, OWNER, SECOND, Market, order, ranked, stored
from tests.support.opinions import DIMENSIONS
from touchstone.errors import RefusedError, UnreadableError
from touchstone.oracle.bands import band_of
from touchstone.oracle.feedback import ScoringFeedback

TOKENS = 1_100
"""What one call of these judges takes, in and out."""
CUT_OFF = paid(UnreadableError("It is cut off."), "claude-answered")
IN_VAIN: tuple[Line, Line] = (CUT_OFF, CUT_OFF)
"""The calls of one try, if the judge is not to be read."""


@pytest.mark.parametrize(("first", "others"), [(84, 78), (81, 80)])
async def test_where_the_order_decided_who_is_better_each_party_is_told(
    market: Market, first: int, others: int
) -> None:
    """A judge that prefers whatever it is shown first, by much or by little: the means are equal, and say nothing."""
    market.opinions.scores = {"ada": 85, "ben": 80}
    task = await market.opened()
    await market.judged(task, "ada", "ben")

    def flipping(asked: Asked) -> Line:
        said = market.opinions.horizontal(asked)
        assert isinstance(said, dict)
        scores = [first, *(others for _ in said["entries"][1:])]
        pairs = zip(said["entries"], scores, strict=True)
        return {"entries": [{**entry, "score": score, "band": band_of(score)} for entry, score in pairs]}

    market.script.lines = {**market.script.lines, "horizontal": [flipping]}
    assert await market.carry_task(task.id) == "challenge"
    for view in market.reader(OWNER).submitted(task.id, limit=10, cursor=None).items:
        scoring = view.feedback[-1]
        assert isinstance(scoring, ScoringFeedback)
        assert "orders_disagree" in scoring.risk_flags
        assert [one.unstable for one in scoring.dimension_scores] == [True] * len(DIMENSIONS)


async def test_where_the_order_did_not_matter_nobody_is_told_that_it_did(market: Market) -> None:
    market.opinions.scores = {"ada": 85, "ben": 80}
    task = await market.opened()
    await market.judged(task, "ada", "ben")
    await market.carry_task(task.id)
    for view in market.reader(OWNER).submitted(task.id, limit=10, cursor=None).items:
        scoring = view.feedback[-1]
        assert isinstance(scoring, ScoringFeedback)
        assert scoring.risk_flags == ()
        assert not any(one.unstable for one in scoring.dimension_scores)


async def test_a_judge_that_refuses_a_comparison_once_is_asked_again(market: Market) -> None:
    market.opinions.scores = {"ada": 90, "ben": 80, "cleo": 70}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo")
    market.script.lines = {
        **market.script.lines,
        "horizontal": [RefusedError("It refuses."), market.opinions.horizontal],
    }
    assert await market.carry_task(task.id) == "challenge"
    assert order(market, task, found) == ["ada", "ben", "cleo"]
    assert [place.rank for place in market.task(task.id).places] == [1, 2, 3]


async def test_all_that_was_paid_for_a_contest_is_told_with_the_task_and_its_submissions(market: Market) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75}
    task = await market.opened()
    await market.judged(task, "ben")
    await market.judged(task, "ada", more=LONG)
    assert await market.carry_task(task.id) == "challenge"
    prompts = market.script.prompts()
    assert prompts.count("claude/digest") == 1
    view = market.reader(OWNER)
    of_work = {one.submitter: one.tokens for one in view.submitted(task.id, limit=10, cursor=None).items}
    assert of_work == {"ben": 2 * TOKENS, "ada": 3 * TOKENS}
    of_task = view.task(task.id).tokens
    assert of_task == (prompts.count("claude/dimensions") + prompts.count("claude/horizontal")) * TOKENS
    assert of_task + sum(tokens or 0 for tokens in of_work.values()) == len(prompts) * TOKENS
    assert await market.carry_task(task.id) == "challenge"
    assert view.task(task.id).tokens == of_task, "paid once"


async def test_what_failed_tries_cost_is_told_too_and_once(market: Market) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75}
    market.script.lines = {name: [*IN_VAIN, *lines] for name, lines in market.script.lines.items()}
    task = market.created()
    assert await market.drafted(task.id) == "open"
    await market.judged(task, "ben")
    await market.judged(task, "ada", more=LONG)
    assert await market.carry_task(task.id) == "challenge"
    prompts = market.script.prompts()
    tries = {name: prompts.count(f"claude/{name}") for name in market.script.lines}
    assert tries == {"dimensions": 3, "gate": 4, "individual": 4, "digest": 3, "horizontal": 2 + 2 * len(DIMENSIONS)}
    assert _told(market, task.id) == (tries["dimensions"] + tries["horizontal"], {"ben": 6, "ada": 5})


@pytest.mark.parametrize("never", ["dimensions", "gate", "individual", "digest", "horizontal"])
async def test_what_nobody_answered_is_told_as_paid_too(market: Market, never: str) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75}
    market.script.lines = {**market.script.lines, never: [CUT_OFF]}
    task = market.created()
    if await market.drafted(task.id) == "open":
        await market.judged(task, "ben")
        await market.judged(task, "ada", more=LONG)
        await market.carry_task(task.id)
    of_task, of_work = _told(market, task.id)
    prompts = market.script.prompts()
    assert prompts.count(f"claude/{never}") > len(IN_VAIN)
    assert of_task == prompts.count("claude/dimensions") + prompts.count("claude/horizontal")
    assert of_task + sum(of_work.values()) == len(prompts)


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ({"individual": IN_VAIN}, "upheld"),
        ({"horizontal": IN_VAIN}, "upheld"),
        ({"individual": (CUT_OFF,) * 20}, "unresolved"),
        ({"horizontal": (CUT_OFF,) * 200}, "unresolved"),
    ],
    ids=["scored later", "compared later", "never scored", "never compared"],
)
async def test_what_failed_tries_of_a_challenge_cost_is_told_with_it(
    market: Market, lines: dict[str, tuple[Line, ...]], state: str
) -> None:
    task, found = await ranked(market, ada=85, ben=75)
    before, market.opinions.second = _told(market, task.id), {"ben": 95}
    for name, failing in lines.items():
        market.script.lines = {**market.script.lines, f"{SECOND}/{name}": [*failing, *market.script.lines[name]]}
    challenge = market.challenged(task, found["ben"])
    assert await market.carry_challenge(challenge) == "decided"
    assert stored(market, challenge).state == state
    (view,) = market.reader(OWNER).challenged(task.id)
    assert view.tokens == TOKENS * len(market.script.asked)
    assert _told(market, task.id) == before


def _told(market: Market, task_id: str) -> tuple[int, dict[str, int]]:
    """The calls that are told as paid with a task, and with each writer's work."""
    view = market.reader(OWNER)
    of_work = {one.submitter: one.tokens or 0 for one in view.submitted(task_id, limit=10, cursor=None).items}
    return view.task(task_id).tokens // TOKENS, {writer: tokens // TOKENS for writer, tokens in of_work.items()}
