"""Whether the source bears out what cards say: by their own passages, or by the whole source; each failure its own."""

from typing import Any

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import OverloadedError
from touchstone.material import Deck, Flashcard, Source
from touchstone.surfaces.metrics.flashcard_answer_correctness import flashcard_answer_correctness
from touchstone.surfaces.model import MetricResult

SOURCE = Source(markdown="Water moves by osmosis. Salt does not.")


def deck(*chunks: str | None) -> Deck:
    return Deck(
        cards=tuple(
            Flashcard(id=f"c{number}", front=f"Front {number}?", back=f"Back {number}.", chunk=chunk)
            for number, chunk in enumerate(chunks, start=1)
        )
    )


def card(number: int, label: str = "CORRECT", **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "quote": "Water moves" if label in {"CORRECT", "INCORRECT_ANSWER"} else None,
        "reason": "The source says so.",
        "label": label,
        "confidence": 0.9,
        "suggestion": None if label == "CORRECT" else "Say that it moves.",
    } | changes


def said(*labels: str) -> dict[str, Any]:
    return {"cards": [card(number, label) for number, label in enumerate(labels, start=1)]}


async def measured(cards: Deck, *lines: Line, source: Source | None = SOURCE) -> tuple[MetricResult, Script]:
    shared, script = measuring({"flashcard_answer_correctness": lines})
    return await flashcard_answer_correctness(cards, source, shared), script


async def test_the_score_is_the_share_of_correct_cards_among_those_judged() -> None:
    found, script = await measured(deck(*[None] * 4), said("CORRECT", "INCORRECT_ANSWER", "UNSUPPORTED", "ERROR"))
    assert found.score == 25.0
    assert [(one.item, one.label, one.evidence, one.suggestion) for one in found.items] == [
        ("c1", "CORRECT", "Water moves", None),
        ("c2", "INCORRECT_ANSWER", "Water moves", "Say that it moves."),
        ("c3", "UNSUPPORTED", None, "Say that it moves."),
        ("c4", "ERROR", None, "Say that it moves."),
    ]
    assert fenced(script.asked[0])[:3] == [SOURCE.text, "Front 1?", "Back 1."]


async def test_a_card_is_judged_by_the_passage_that_it_was_made_from() -> None:
    def line(asked: Asked) -> Line:
        passage, *cards = fenced(asked)
        assert cards == (["Front 1?", "Back 1.", "Front 3?", "Back 3."] if passage == "A." else ["Front 2?", "Back 2."])
        return {"cards": [card(number, quote=passage) for number in range(1, len(cards) // 2 + 1)]}

    found, script = await measured(deck("A.", None, "A."), line)
    assert (found.score, len(script.asked)) == (100.0, 2)
    assert [(one.item, one.evidence) for one in found.items] == [("c1", "A."), ("c2", SOURCE.text), ("c3", "A.")]


async def test_a_card_without_a_passage_and_without_a_source_is_unscored() -> None:
    found, script = await measured(deck("Water moves.", None), said("CORRECT"), source=None)
    assert (found.score, len(script.asked)) == (100.0, 1)
    assert [(one.item, one.reason) for one in found.unscored] == [("c2", "no_source")]


async def test_ten_cards_share_a_call_and_those_whose_call_failed_are_unscored() -> None:
    def line(asked: Asked) -> Line:
        return said(*["CORRECT"] * 10) if "Front 1?" in asked.user else OverloadedError("503")

    found, _ = await measured(deck(*[None] * 13), line)
    assert (found.score, len(found.items)) == (100.0, 10)
    assert [one.item for one in found.unscored] == ["c11", "c12", "c13"]


async def test_what_one_section_of_a_long_source_bears_out_is_correct() -> None:
    long = Source(markdown="\n\n".join(f"Water moves in case {number}." for number in range(3000)))

    def line(asked: Asked) -> Line:
        return said("CORRECT", "UNSUPPORTED") if "case 0." in asked.user else said("INCORRECT_ANSWER", "UNSUPPORTED")

    found, script = await measured(deck(None, None), line, source=long)
    assert len(script.asked) == 2
    assert [one.label for one in found.items] == ["CORRECT", "UNSUPPORTED"]


@pytest.mark.parametrize(
    "bad",
    [card(1, quote="Salt moves"), card(1, quote=None), card(1, "UNSUPPORTED", suggestion=""), card(1, reason=" ")],
    ids=["not the source's words", "no quote", "no suggestion", "no reason"],
)
async def test_a_verdict_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: Any) -> None:
    reply = {"cards": [bad, card(2)]}
    found, script = await measured(deck(None, None), reply, said("UNSUPPORTED", "CORRECT"))
    assert (found.score, len(script.asked)) == (50.0, 2)
    found, _ = await measured(deck(None, None), reply)
    assert [one.item for one in found.items] == ["c2"]
    assert [(one.item, one.reason) for one in found.unscored] == [("c1", "invalid_reply")]
