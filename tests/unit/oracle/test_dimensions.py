"""The dimensions of a task: three in our words, one to three in a judge's, and weights that sum to 1."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import replies
from tests.support.briefs import brief
from tests.support.judges import Line, Script
from touchstone.clock import Deadline
from touchstone.errors import DayQuotaError
from touchstone.judges import MemoryCache
from touchstone.judges.calls import NotScored
from touchstone.oracle.aggregation import aggregate
from touchstone.oracle.dimensions import (
    ASKED_PERCENT,
    LEAST_WEIGHT,
    MAX_DIMENSION_CHARS,
    MAX_NAME_CHARS,
    GeneratedDimensions,
    generate_dimensions,
    normalized,
)
from touchstone.oracle.model import FIXED, LEAST_DYNAMIC, MOST_DYNAMIC, Brief

ZH = Brief(description="写一份二〇二五年苹果收成的报告。", acceptance_criteria=("列出数据来源。",))
EVEN = {"substantiveness": 20, "credibility": 20, "completeness": 20}


async def _generate(*lines: Line, task: Brief | None = None) -> tuple[GeneratedDimensions | NotScored, Script]:
    script = Script({"dimensions": lines})
    judge = script.judges().get("openai", "strong")
    return await generate_dimensions(task or brief(), judge=judge, deadline=Deadline.after(30.0)), script


def _dynamic(**changes: Any) -> dict[str, Any]:
    first: dict[str, Any] = replies.dimensions()["dynamic_dimensions"][0]
    return first | changes


def _reply(*dynamic: dict[str, Any], **fixed: Any) -> dict[str, Any]:
    return replies.dimensions(dynamic_dimensions=list(dynamic), fixed_weights=EVEN | fixed)


def _several(count: int) -> dict[str, Any]:
    return _reply(*(_dynamic(id=f"d{number}", name=f"D {number}") for number in range(count)))


async def test_the_fixed_dimensions_come_first_in_our_words_and_the_weights_sum_to_one() -> None:
    found, script = await _generate(replies.dimensions())
    assert isinstance(found, GeneratedDimensions)
    made = found.dimensions
    assert [one.id for one in made] == [*FIXED, "regional_insight", "usable_advice"]
    assert [one.fixed for one in made] == [True] * 3 + [False] * 2
    assert [one.weight for one in made] == pytest.approx([0.25, 0.25, 0.15, 0.2, 0.15])
    assert made[1].name == "Credibility"
    assert "nothing is made up" in made[1].description
    assert made[4].description == "Could a grower act on its advice next season?"
    assert (found.provider, found.model) == ("openai", "gpt-6.2-sol-answered")
    assert [(spend.purpose, spend.failure) for spend in found.spends] == [("dimensions", None)]
    aggregate(made, {one.id: 80.0 for one in made})  # which refuses weights that do not sum to 1
    assert len(script.asked) == 1


async def test_the_judge_reads_the_task_its_criteria_and_our_words_for_the_fixed_dimensions() -> None:
    found, script = await _generate(replies.dimensions())
    assert isinstance(found, GeneratedDimensions)
    asked = script.asked[0]
    for shown in (brief().description, *brief().acceptance_criteria):
        assert shown in asked.user
    for one in found.dimensions[:3]:
        assert f"`{one.id}`: {one.description}" in asked.system


async def test_a_task_in_chinese_has_dimensions_in_chinese() -> None:
    found, script = await _generate(replies.dimensions(), task=ZH)
    assert isinstance(found, GeneratedDimensions)
    assert [one.name for one in found.dimensions[:3]] == ["实质性", "可信度", "完整性"]
    assert "你负责" in script.asked[0].system


async def test_a_task_that_names_its_language_is_asked_about_in_it() -> None:
    found, script = await _generate(replies.dimensions(), task=ZH.model_copy(update={"language": "en"}))
    assert isinstance(found, GeneratedDimensions)
    assert found.dimensions[0].name == "Substantiveness"
    assert "You decide" in script.asked[0].system


@pytest.mark.parametrize("count", range(LEAST_DYNAMIC, MOST_DYNAMIC + 1))
async def test_a_task_has_four_to_six_dimensions(count: int) -> None:
    found, _ = await _generate(_several(count))
    assert isinstance(found, GeneratedDimensions)
    assert len(found.dimensions) == 3 + count


@pytest.mark.parametrize("factor", [0.01, 1, 7.3, 1e300, 1e-300])
async def test_only_the_proportions_of_a_judges_weights_count(factor: float) -> None:
    fixed = {key: weight * factor for key, weight in EVEN.items()}
    found, _ = await _generate(_reply(_dynamic(weight=20 * factor), **fixed))
    assert isinstance(found, GeneratedDimensions)
    assert [one.weight for one in found.dimensions] == pytest.approx([0.25] * 4)


async def test_what_a_reader_would_not_see_is_left_out_of_names_and_descriptions() -> None:
    found, _ = await _generate(_reply(_dynamic(name=" Regional\u200b\n insight ", description=" Is it\u202e so? \n")))
    assert isinstance(found, GeneratedDimensions)
    assert (found.dimensions[3].name, found.dimensions[3].description) == ("Regional insight", "Is it so?")


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "none beside the fixed": (_reply(), "There are 0 dynamic dimensions; give 1 to 3."),
    "seven in all": (_several(4), "There are 4 dynamic dimensions; give 1 to 3."),
    "a fixed one among them": (_reply(_dynamic(id="credibility")), "The id credibility belongs to a fixed dimension"),
    "two of one id": (_reply(_dynamic(), _dynamic(name="Other")), 'The id "regional_insight" is there 2 times'),
    "an id with a capital": (_reply(_dynamic(id="Insight")), 'The id "Insight" must be'),
    "an id with a space": (_reply(_dynamic(id="regional insight")), 'The id "regional insight" must be'),
    "an id in Chinese": (_reply(_dynamic(id="深度")), 'The id "深度" must be'),
    "an id with a line end": (_reply(_dynamic(id="insight\n")), 'The id "insight" must be'),
    "an id of one letter": (_reply(_dynamic(id="x")), 'The id "x" must be'),
    "an id without end": (_reply(_dynamic(id="x" * 5000)), f'The id "{"x" * 40}" must be'),
    "a blank id": (_reply(_dynamic(id="")), 'The id "" must be'),
    "two of one name": (
        _reply(_dynamic(), _dynamic(id="other", name="REGIONAL  insight")),
        "The name of dynamic dimension 2 is also that of another",
    ),
    "a fixed name": (_reply(_dynamic(name="credibility")), "The name of dynamic dimension 1 is also that of another"),
    "a fixed name in Chinese": (_reply(_dynamic(name="可信度")), "The name of dynamic dimension 1 is also that of"),
    "a blank name": (_reply(_dynamic(name=" \n")), "The name of dynamic dimension 1 is blank."),
    "a name that is not seen": (_reply(_dynamic(name="\u200b")), "The name of dynamic dimension 1 is blank."),
    "a long name": (_reply(_dynamic(name="x" * (MAX_NAME_CHARS + 1))), "has 61 characters; at most 60."),
    "a blank description": (_reply(_dynamic(description=" ")), "The description of dynamic dimension 1 is blank."),
    "a long description": (_reply(_dynamic(description="x" * (MAX_DIMENSION_CHARS + 1))), "at most 600."),
    "a weight of nothing": (_reply(_dynamic(weight=0)), 'The weight of "regional_insight" must be above 0.'),
    "a negative weight": (_reply(_dynamic(weight=-1)), 'The weight of "regional_insight" must be above 0.'),
    "a fixed one without weight": (_reply(_dynamic(), credibility=0), 'The weight of "credibility" must be above 0.'),
    "a weight that means nothing": (_reply(_dynamic(weight=1)), 'The weight of "regional_insight" is 1.6% of all'),
    "a weight that buries the rest": (_reply(_dynamic(weight=1e9)), 'The weight of "substantiveness" is < 0.1% of all'),
    "a weight that vanishes": (_reply(_dynamic(weight=5e-324), credibility=1e308), "is < 0.1% of all weights"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a5_dimensions_against_the_rules_are_asked_for_again_with_the_fault_named(name: str) -> None:
    broken, fault = BROKEN[name]
    found, script = await _generate(broken, replies.dimensions())
    assert isinstance(found, GeneratedDimensions)
    assert [one.id for one in found.dimensions[3:]] == ["regional_insight", "usable_advice"]
    assert fault not in script.asked[0].user
    assert fault in script.asked[1].user
    assert [spend.failure for spend in found.spends] == ["unreadable", None]


@pytest.mark.parametrize("name", BROKEN)
async def test_a5_dimensions_against_the_rules_twice_are_no_dimensions(name: str) -> None:
    broken, fault = BROKEN[name]
    found, script = await _generate(broken)
    assert isinstance(found, NotScored)
    assert found.reason == "invalid_reply"
    assert any(fault in one for one in found.faults)
    assert len(script.asked) == len(found.spends) == 2


@pytest.mark.parametrize(
    "reply",
    [
        _reply(_dynamic(weight="20")),
        _reply(_dynamic(weight=True)),
        _reply(_dynamic(weight=None)),
        _reply(_dynamic(weight=math.nan)),
        _reply(_dynamic(weight=math.inf)),
        _reply(_dynamic(fixed=True)),
        _reply(_dynamic(), humour=10),
        _reply(_dynamic()) | {"fixed_descriptions": {"credibility": "Whatever the author says."}},
        {"dynamic_dimensions": [_dynamic()], "fixed_weights": {"credibility": 1}},
        {"dynamic_dimensions": [_dynamic()]},
    ],
)
async def test_a5_a_reply_of_another_shape_is_unreadable_and_never_dimensions(reply: Line) -> None:
    found, _ = await _generate(reply)
    assert isinstance(found, NotScored)
    assert found.reason == "unreadable"


async def test_a_judge_that_fails_leaves_no_dimensions_and_says_why() -> None:
    found, _ = await _generate(DayQuotaError("The day is spent."))
    assert isinstance(found, NotScored)
    assert (found.reason, found.faults) == ("day_quota", ())


@pytest.mark.parametrize(("use_cache", "calls"), [(True, 1), (False, 2)])
async def test_the_same_task_is_asked_about_once_unless_it_must_be_anew(use_cache: bool, calls: int) -> None:
    script = Script({"dimensions": [replies.dimensions()]})
    judge = script.judges(cache=MemoryCache()).get("openai", "strong")
    for _ in range(2):
        await generate_dimensions(brief(), judge=judge, deadline=Deadline.after(30.0), use_cache=use_cache)
    assert len(script.asked) == calls


async def test_what_refused_an_earlier_task_does_not_refuse_the_next_one_with_the_same_words() -> None:
    script = Script({"dimensions": [_several(MOST_DYNAMIC + 1), _several(MOST_DYNAMIC + 1), replies.dimensions()]})
    judge = script.judges(cache=MemoryCache()).get("openai", "strong")
    first = await generate_dimensions(brief(), judge=judge, deadline=Deadline.after(30.0))
    assert isinstance(first, NotScored)
    second = await generate_dimensions(brief(), judge=judge, deadline=Deadline.after(30.0))
    assert isinstance(second, GeneratedDimensions)
    assert len(script.asked) == 3
    assert [one.cached for one in second.spends] == [True, True, False]


def test_what_is_asked_for_stays_above_the_bound_though_a_judges_sum_is_off() -> None:
    assert ASKED_PERCENT / 200 >= LEAST_WEIGHT


@pytest.mark.parametrize("fixed", [(85, 5, 5), (5, 5, 85), (80, 10, 5), (0.85, 0.05, 0.05)])
async def test_the_least_weight_is_enough(fixed: tuple[float, float, float]) -> None:
    least = min(fixed)
    found, script = await _generate(_reply(_dynamic(weight=least), **dict(zip(FIXED, fixed, strict=True))))
    assert isinstance(found, GeneratedDimensions), found
    assert len(script.asked) == 1
    assert found.dimensions[-1].weight == pytest.approx(LEAST_WEIGHT)


_weights = st.lists(st.floats(min_value=0.0, exclude_min=True, allow_infinity=False), min_size=1, max_size=6)


@given(_weights)
def test_weights_sum_to_one_whatever_they_were(weights: list[float]) -> None:
    shares = normalized(weights)
    assert abs(math.fsum(shares) - 1.0) < 1e-9
    assert all(0.0 <= share <= 1.0 for share in shares)


@given(_weights)
def test_a_larger_weight_stays_the_larger_and_equals_stay_equal(weights: list[float]) -> None:
    shares = dict(zip(weights, normalized(weights), strict=True))
    assert sorted(shares.values()) == [shares[weight] for weight in sorted(shares)]
    assert len(set(zip(weights, normalized(weights), strict=True))) == len(set(weights))


@pytest.mark.parametrize("weights", [[], [1.0, 0.0], [1.0, -1.0], [1.0, math.nan], [1.0, math.inf]])
def test_what_is_no_weight_is_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="finite and above 0"):
        normalized(weights)
