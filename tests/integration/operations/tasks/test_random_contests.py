"""Contests of random scores, and a challenge to each, end as the rules say, written here in exact fractions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest

from tests.support.market import OWNER, Market, stored
from tests.support.opinions import DIMENSIONS
from touchstone.oracle.feedback import ScoringFeedback

type Given = Mapping[str, int]
"""The scores of one work, by dimension."""
type Row = tuple[str, int | None, float | None]
"""A writer with rank and final score."""

WEIGHTS = dict(zip(DIMENSIONS, (25, 25, 15, 20, 15), strict=True))
"""Those that the judges of these tests give, of 100."""
FIXED = DIMENSIONS[:3]


def total(scores: Given) -> float:
    """Base times penalty."""
    base = sum(Fraction(WEIGHTS[name] * score, 100) for name, score in scores.items())
    for name in FIXED:
        base *= min(Fraction(scores[name], 60), Fraction(1))
    return round(float(base), 6)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What decides a contest: who came in which order, the own scores of those past the gate, and those beside others.

    `lost` are those that nobody could compare on some dimension.
    """

    arrived: Sequence[str]
    own: Mapping[str, Given]
    beside: Mapping[str, Given]
    lost: frozenset[str]

    def survivors(self) -> list[str]:
        """Best first; of equal totals the earlier one."""
        left = [one for one in self.arrived if one in self.own and min(self.own[one].values()) >= 50]
        return sorted(left, key=lambda one: -total(self.own[one]))

    def ranking(self) -> list[Row]:
        """Finalists that were compared, then those that were not, then the others."""
        left = self.survivors()
        if len(left) == 1:
            return [(left[0], 1, total(self.own[left[0]]))]
        compared = sorted((one for one in left[:3] if one not in self.lost), key=lambda one: -total(self.beside[one]))
        return [
            *((one, place, total(self.beside[one])) for place, one in enumerate(compared, start=1)),
            *((one, None, None) for one in left[:3] if one in self.lost),
            *((one, place, total(self.own[one])) for place, one in enumerate(left[3:], start=4)),
        ]


def rank_of(writer: str, rows: Iterable[Row]) -> int | None:
    """The rank of a writer, None without one."""
    return next((rank for one, rank, _ in rows if one == writer), None)


@pytest.mark.parametrize("seed", range(12))
async def test_a_random_contest_and_a_challenge_to_it_end_as_the_rules_say(market: Market, seed: int) -> None:
    draw, opinions = Random(seed), market.opinions  # noqa: S311 - the same contests each time

    def scores(least: int) -> Given:
        return {name: draw.choice([draw.randint(least, 95), 59, 60, 70, 80]) for name in DIMENSIONS}

    writers = draw.sample([f"w{number}" for number in range(6)], draw.randint(2, 6))
    alike = scores(60)
    for one in writers:
        opinions.scores[one] = alike if draw.random() < 0.3 else scores(draw.choice([45, 60]))
        opinions.beside |= {one: draw.choice([scores(40), alike])} if draw.random() < 0.5 else {}
        opinions.second |= {one: scores(draw.choice([45, 60]))} if draw.random() < 0.5 else {}
        opinions.gate_failed |= {one} if draw.random() < 0.15 else set()
        opinions.misquoted |= {(draw.choice(DIMENSIONS), one)} if draw.random() < 0.15 else set()
    first = {one: _given(opinions.scores[one]) for one in writers}
    beside = {one: _given(opinions.beside.get(one, opinions.scores[one])) for one in writers}
    rules = Rules(
        arrived=writers,
        own={one: given for one, given in first.items() if one not in opinions.gate_failed},
        beside=beside,
        lost=frozenset(one for _, one in opinions.misquoted),
    )

    task = await market.opened()
    found = await market.judged(task, *writers)
    assert await market.carry_task(task.id) == "challenge"
    names = {one.id: writer for writer, one in found.items()}

    def ranking() -> list[Row]:
        places = market.task(task.id).places
        return [(names[place.submission_id], place.rank, place.final_score) for place in places]

    ranked = rules.ranking()
    assert ranking() == ranked
    if not rules.own:
        return
    challenged = draw.choice(sorted(rules.own))
    challenge = market.challenged(market.task(task.id), found[challenged])
    await market.carry_challenge(challenge)
    second = {one: _given(opinions.second.get(one, opinions.scores[one])) for one in writers}
    again = Rules(arrived=writers, own={**rules.own, challenged: second[challenged]}, beside=beside, lost=rules.lost)
    before, after = (one.survivors()[:3] for one in (rules, again))
    if len(after) > 1 and (challenged in after or set(after) != (set(before) if len(before) > 1 else set())):
        other = {one: _given(opinions.beside.get(one, second[one])) for one in writers}
        again = Rules(arrived=writers, own=again.own, beside=other, lost=rules.lost)
    then = again.ranking()
    had_rank = {one for one, rank, _ in ranked if rank is not None} | {challenged}
    ends = "upheld" if rank_of(challenged, ranked) != rank_of(challenged, then) else "rejected"
    if any(rank is None and one in had_rank for one, rank, _ in then):
        ends = "unresolved"
    assert stored(market, challenge).state == ends
    final, counts = (then, again) if ends == "upheld" else (ranked, rules)
    assert ranking() == final
    winner = market.final(task.id).winner
    assert (None if winner is None else names[winner]) == next((one for one, rank, _ in final if rank == 1), None)
    for view in market.reader(OWNER).submitted(task.id, limit=10, cursor=None).items:
        told = [one for one in view.feedback if isinstance(one, ScoringFeedback)]
        if view.submitter not in rules.own:
            assert (view.standing, told) == ("gate_failed", [])
            continue
        low = tuple(name for name, score in counts.own[view.submitter].items() if score < 50)
        assert told[0].eliminated_by == low
        assert told[0].rank == rank_of(view.submitter, final)
        assert (view.standing == "eliminated") == bool(low)


def _given(scores: int | Mapping[str, int]) -> Given:
    return dict.fromkeys(DIMENSIONS, scores) if isinstance(scores, int) else scores
