"""Whether cards are clear: ten a call, each failure its own, and a score of those that were judged."""

from typing import Any

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import RefusedError
from touchstone.material import Deck, Flashcard
from touchstone.surfaces.metrics.flashcard_clarity import flashcard_clarity
from touchstone.surfaces.model import MetricResult


def card(number: int, label: str = "CLEAR", **changes: Any) -> dict[str, Any]:
    suggestion = None if label == "CLEAR" else "Say which."
    return {
        "number": number,
        "reason": "It reads so.",
        "label": label,
        "confidence": 0.9,
        "suggestion": suggestion,
    } | changes


def said(*labels: str) -> dict[str, Any]:
    return {"cards": [card(number, label) for number, label in enumerate(labels, start=1)]}


async def measured(cards: int, *lines: Line) -> tuple[MetricResult, Script]:
    shared, script = measuring({"flashcard_clarity": lines})
    deck = Deck(cards=tuple(Flashcard(id=f"c{n}", front=f"Front {n}?", back=f"Back {n}.") for n in range(1, cards + 1)))
    return await flashcard_clarity(deck, shared), script


async def test_the_score_is_the_share_of_clear_cards() -> None:
    found, script = await measured(4, said("CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"))
    assert found.score == 25.0
    assert [(one.item, one.label, one.suggestion) for one in found.items] == [
        ("c1", "CLEAR", None),
        ("c2", "AMBIGUOUS", "Say which."),
        ("c3", "CONTEXT_DEPENDENT", "Say which."),
        ("c4", "ERROR", "Say which."),
    ]
    assert fenced(script.asked[0])[:2] == ["Front 1?", "Back 1."]


async def test_a_judge_that_fails_on_three_of_thirteen_leaves_ten() -> None:
    def line(asked: Asked) -> Line:
        return said(*["CLEAR"] * 10) if "Front 1?" in asked.user else RefusedError("no")

    found, _ = await measured(13, line)
    assert (found.score, len(found.items), len(found.unscored)) == (100.0, 10, 3)


@pytest.mark.parametrize("bad", [card(1, reason=""), card(1, "AMBIGUOUS", suggestion=None)])
async def test_a_label_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: Any) -> None:
    reply = {"cards": [bad, card(2, "ERROR")]}
    found, script = await measured(2, reply, said("CLEAR", "CLEAR"))
    assert (found.score, len(script.asked)) == (100.0, 2)
    found, _ = await measured(2, reply)
    assert (found.score, [one.item for one in found.unscored]) == (0.0, ["c1"])
