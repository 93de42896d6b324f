"""Filler and repetition among the sentences of a summary, which are split by us, in English and Chinese."""

from typing import Any

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import OverloadedError
from touchstone.material import Summary
from touchstone.surfaces.metrics.summary_information_density import summary_information_density
from touchstone.surfaces.model import MetricResult

TEXT = "Osmosis moves 3.5 ml of water. This is very interesting. Water is moved by osmosis, as Dr. Li says."


def sentence(number: int, label: str = "INFORMATIVE", **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "label": label,
        "confidence": 0.9,
        "quote": None,
        "repeats": None,
        "reason": None,
    } | changes


FILLER = sentence(2, "FILLER", quote="very interesting", reason="It says nothing.")
REPETITION = sentence(3, "REPETITION", quote="Water is moved by osmosis", repeats=1, reason="The same again.")


def said(*sentences: dict[str, Any]) -> dict[str, Any]:
    return {"sentences": list(sentences)}


async def measured(*lines: Line, text: str = TEXT) -> tuple[MetricResult, Script]:
    shared, script = measuring({"summary_information_density": lines})
    return await summary_information_density(Summary(text=text), shared), script


async def test_the_score_is_the_share_of_sentences_that_are_not_marked() -> None:
    found, script = await measured(said(sentence(1), FILLER, REPETITION))
    assert found.score == pytest.approx(100 / 3, abs=1e-6)
    assert [(one.item, one.label, one.evidence, one.reason) for one in found.items] == [
        ("1", "INFORMATIVE", None, ""),
        ("2", "FILLER", "very interesting", "It says nothing."),
        ("3", "REPETITION", "Water is moved by osmosis", "= 1: The same again."),
    ]
    assert found.items[0].text == "Osmosis moves 3.5 ml of water."
    assert fenced(script.asked[0])[0].split("\n")[2] == "3: Water is moved by osmosis, as Dr. Li says."


async def test_chinese_is_split_alike() -> None:
    found, script = await measured(
        said(sentence(1), sentence(2, "FILLER", quote="非常重要", reason="空话。")),
        text="水通过渗透移动 3.5 毫升。这非常重要！",
    )
    assert (found.score, fenced(script.asked[0])) == (50.0, ["1: 水通过渗透移动 3.5 毫升。\n2: 这非常重要！"])


@pytest.mark.parametrize(
    "bad",
    [
        FILLER | {"quote": "Osmosis moves"},
        FILLER | {"quote": None},
        FILLER | {"reason": None},
        REPETITION | {"number": 2, "quote": "This is", "repeats": None},
        REPETITION | {"number": 2, "quote": "This is", "repeats": 2},
        REPETITION | {"number": 2, "quote": "This is", "repeats": 0},
    ],
    ids=["another's words", "no quote", "no reason", "repeats nothing", "repeats itself", "repeats none"],
)
async def test_a_mark_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: dict[str, Any]) -> None:
    found, script = await measured(said(sentence(1), bad, REPETITION), said(sentence(1), sentence(2), sentence(3)))
    assert (found.score, len(script.asked)) == (100.0, 2)
    found, _ = await measured(said(sentence(1), bad, REPETITION))
    assert found.score == 50.0
    assert [(one.item, one.text) for one in found.unscored] == [("2", "This is very interesting.")]


async def test_a_long_summary_is_judged_by_groups_that_see_all_of_it() -> None:
    text = " ".join(f"Case {number} is one." for number in range(1, 61))

    def line(asked: Asked) -> Line:
        assert fenced(asked)[0].count("\n") == 59
        if "sentences 1 to 50" in asked.user:
            return OverloadedError("503")
        assert "sentences 51 to 60" in asked.user
        last = sentence(60, "REPETITION", quote="Case 60", repeats=3, reason="So said 3.")
        return said(*(sentence(number) for number in range(51, 60)), last)

    found, script = await measured(line, text=text)
    assert len({asked.user for asked in script.asked}) >= 2
    assert (found.score, len(found.items), len(found.unscored)) == (90.0, 10, 50)
    assert (found.unscored[0].item, found.unscored[0].text) == ("1", "Case 1 is one.")
