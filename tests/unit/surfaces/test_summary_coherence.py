"""Three marks from 1 to 5: their mean normalised by hand, and a mark against the rules spoils no other."""

from typing import Any

import pytest

from tests.support.judges import Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import OverloadedError
from touchstone.material import Summary
from touchstone.surfaces.metrics.summary_coherence import summary_coherence
from touchstone.surfaces.model import MetricResult


def mark(score: int, **changes: Any) -> dict[str, Any]:
    return {"reason": "It reads so.", "score": score, "suggestion": "Begin anew." if score < 4 else None} | changes


def said(organization: int, flow: int, completeness: int) -> dict[str, Any]:
    return {"organization": mark(organization), "flow": mark(flow), "completeness": mark(completeness)}


async def measured(*lines: Line) -> tuple[MetricResult, Script]:
    shared, script = measuring({"summary_coherence": lines})
    return await summary_coherence(Summary(text="Water moves."), shared), script


@pytest.mark.parametrize(
    ("marks", "score"),
    [((5, 5, 5), 100.0), ((1, 1, 1), 0.0), ((4, 3, 5), 75.0), ((2, 3, 3), 100 * (8 / 3 - 1) / 4)],
)
async def test_the_score_is_the_normalised_mean(marks: tuple[int, int, int], score: float) -> None:
    found, script = await measured(said(*marks))
    assert found.score == pytest.approx(score, abs=1e-6)
    assert [(one.item, one.label) for one in found.items] == list(
        zip(("organization", "flow", "completeness"), map(str, marks), strict=True)
    )
    assert [one.suggestion is not None for one in found.items] == [each < 4 for each in marks]
    assert fenced(script.asked[0]) == ["Water moves."]


@pytest.mark.parametrize(
    "bad", [mark(0), mark(6), mark(4, reason=" "), mark(3, suggestion=None)], ids=["0", "6", "no reason", "no way out"]
)
async def test_a_mark_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: dict[str, Any]) -> None:
    found, script = await measured(said(4, 4, 4) | {"flow": bad}, said(5, 5, 5))
    assert (found.score, len(script.asked)) == (100.0, 2)
    found, _ = await measured(said(4, 4, 4) | {"flow": bad})
    assert found.score == 75.0
    assert [(one.item, one.reason) for one in found.unscored] == [("flow", "invalid_reply")]
    assert [spend.failure for spend in found.spends] == ["unreadable", "unreadable"]


async def test_where_nobody_answers_there_is_no_score() -> None:
    found, _ = await measured(OverloadedError("503"))
    assert (found.score, found.items) == (None, ())
    assert [one.item for one in found.unscored] == ["organization", "flow", "completeness"]
