"""Whether cards ask for one fact: the label must follow from the facts, and each failure is its own."""

from typing import Any

import pytest

from tests.support.judges import Line, Script
from tests.support.measuring import measuring
from touchstone.errors import OverloadedError
from touchstone.material import Deck, Flashcard
from touchstone.surfaces.metrics.flashcard_atomicity import flashcard_atomicity
from touchstone.surfaces.model import MetricResult


def card(number: int, *facts: str, label: str = "ATOMIC", **changes: Any) -> dict[str, Any]:
    suggestion = None if label == "ATOMIC" else "Make two of it."
    return {
        "number": number, "facts": list(facts), "reason": "So it is.", "label": label, "confidence": 0.9,
        "suggestion": suggestion,
    } | changes  # fmt: skip


GOOD = {
    "cards": [
        card(1, "born in 1970"),
        card(2, "born in 1970", "born in Rome ", label="COMPOUND"),
        card(3, label="ERROR"),
        card(4, "a doctor"),
    ]
}


async def measured(*lines: Line) -> tuple[MetricResult, Script]:
    shared, script = measuring({"flashcard_atomicity": lines})
    deck = Deck(cards=tuple(Flashcard(id=f"c{number}", front="Who?", back="She.") for number in range(1, 5)))
    return await flashcard_atomicity(deck, shared), script


async def test_the_score_is_the_share_of_atomic_cards_and_the_facts_of_others_are_shown() -> None:
    found, _ = await measured(GOOD)
    assert found.score == 50.0
    assert [(one.label, one.reason, one.suggestion) for one in found.items] == [
        ("ATOMIC", "So it is.", None),
        ("COMPOUND", "So it is. (born in 1970; born in Rome)", "Make two of it."),
        ("ERROR", "So it is.", "Make two of it."),
        ("ATOMIC", "So it is.", None),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        card(1, "one", "two"),
        card(1, "one", label="COMPOUND"),
        card(1, label="ATOMIC"),
        card(1, "one", label="ERROR"),
        card(1, " "),
        card(1, "one", reason=""),
        card(1, "one", "two", label="COMPOUND", suggestion=None),
    ],
    ids=["two are not one", "one is not two", "none is not one", "one is no error", "blank", "no reason", "no way out"],
)
async def test_a_label_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: Any) -> None:
    reply = {"cards": [bad, *GOOD["cards"][1:]]}
    found, script = await measured(reply, GOOD)
    assert (found.score, len(script.asked)) == (50.0, 2)
    found, _ = await measured(reply)
    assert found.score == pytest.approx(100 / 3, abs=1e-6)
    assert [one.item for one in found.unscored] == ["c1"]


async def test_where_nobody_answers_there_is_no_score() -> None:
    found, _ = await measured(OverloadedError("503"))
    assert (found.score, len(found.unscored)) == (None, 4)
