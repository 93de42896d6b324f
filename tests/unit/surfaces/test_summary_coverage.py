"""Whether a summary deals with the topics of its source: values by hand, quotes, and each failure its own."""

from typing import Any

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import OverloadedError
from touchstone.material import Pillar, Source, Summary
from touchstone.surfaces.metrics.summary_coverage import summary_coverage
from touchstone.surfaces.model import MetricResult

SOURCE = Source(
    pillars=(
        Pillar(concept="Osmosis", chunks=("Water moves through it.",), weight=5.0),
        Pillar(concept="Diffusion"),
        Pillar(concept="Membranes"),
        Pillar(concept="Active transport"),
    )
)
SUMMARY = Summary(text="Osmosis moves water through membranes.")


def topic(number: int, label: str, **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "quote": None if label == "MISSING" else "Osmosis moves water",
        "reason": "It says so.",
        "label": label,
        "confidence": 0.9,
        "suggestion": None if label == "COVERED" else "Say what it does.",
    } | changes


def said(*labels: str) -> dict[str, Any]:
    return {"topics": [topic(number, label) for number, label in enumerate(labels, start=1)]}


async def measured(*lines: Line, source: Source = SOURCE, **asked: Any) -> tuple[MetricResult, Script]:
    shared, script = measuring({"summary_coverage": lines, **asked})
    return await summary_coverage(SUMMARY, source, shared), script


async def test_the_score_is_the_sum_of_the_values_by_the_number_of_topics_whatever_their_weights() -> None:
    found, script = await measured(said("COVERED", "MISSING", "MENTIONED", "MISSING"))
    assert found.score == 100 * 1.5 / 4
    assert [(one.text, one.label, one.evidence, one.suggestion) for one in found.items] == [
        ("Osmosis", "COVERED", "Osmosis moves water", None),
        ("Diffusion", "MISSING", None, "Say what it does."),
        ("Membranes", "MENTIONED", "Osmosis moves water", "Say what it does."),
        ("Active transport", "MISSING", None, "Say what it does."),
    ]
    assert fenced(script.asked[0])[-1] == SUMMARY.text


async def test_the_topics_of_a_source_without_pillars_are_found_first() -> None:
    source = Source(markdown="Osmosis moves water. Diffusion moves all.")
    topics = {"topics": [{"topic": each, "quote": each} for each in ("Osmosis", "Diffusion")]}
    found, _ = await measured(said("COVERED", "MISSING"), source=source, topics=[topics])
    assert found.score == 50.0
    assert [spend.purpose for spend in found.spends] == ["topics", "summary_coverage"]


async def test_where_no_topics_are_found_there_is_no_score() -> None:
    found, script = await measured(source=Source(markdown="Osmosis."), topics=[OverloadedError("503")])
    assert (found.score, {asked.prompt for asked in script.asked}) == (None, {"topics"})
    assert [(one.item, one.reason) for one in found.unscored] == [("section 1", "overloaded")]


async def test_ten_topics_share_a_call_and_those_whose_call_failed_are_unscored() -> None:
    source = Source(pillars=tuple(Pillar(concept=f"Topic {number}") for number in range(1, 13)))

    def line(asked: Asked) -> Line:
        return OverloadedError("503") if "Topic 12" in fenced(asked) else said(*["COVERED"] * 10)

    found, _ = await measured(line, source=source)
    assert (found.score, len(found.items)) == (100.0, 10)
    assert [(one.item, one.text) for one in found.unscored] == [("11", "Topic 11"), ("12", "Topic 12")]


@pytest.mark.parametrize(
    "bad",
    [
        topic(1, "COVERED", quote="Water moves through it."),
        topic(1, "MENTIONED", quote=None),
        topic(1, "MENTIONED", suggestion=" "),
        topic(1, "MISSING", suggestion=None),
        topic(1, "COVERED", reason=""),
    ],
    ids=["the source's words", "no quote", "a blank suggestion", "no suggestion", "no reason"],
)
async def test_a_label_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: Any) -> None:
    reply = {"topics": [bad, *said("COVERED", "COVERED", "COVERED", "MISSING")["topics"][1:]]}
    found, script = await measured(reply, said(*["COVERED"] * 4))
    assert (found.score, len(script.asked)) == (100.0, 2)
    found, _ = await measured(reply)
    assert found.score == pytest.approx(100 * 2 / 3, abs=1e-6)
    assert [(one.item, one.text, one.reason) for one in found.unscored] == [("1", "Osmosis", "invalid_reply")]
