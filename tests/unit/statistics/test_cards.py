"""Judge cards: computed from counts, they are what the lists behind the counts would give."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.statistics import (
    Agreement,
    Calibration,
    CardTally,
    NotEnoughLabels,
    call_tally,
    cohen_kappa,
    flip_rate,
    judge_card,
    label_tally,
    order_tally,
    reliability,
    wilson_interval,
)
from touchstone.statistics.cards import MIN_LABELS

WORDS = st.sampled_from(["right", "wrong", "unclear"])
CONFIDENCES = st.none() | st.integers(0, 1_000_000).map(lambda millionths: millionths / 1_000_000)
LABELLED = st.lists(st.tuples(st.none() | WORDS, WORDS, CONFIDENCES), max_size=80)
ORDERS = st.lists(st.tuples(st.none() | WORDS, st.none() | WORDS), max_size=40)


def total(*tallies: CardTally) -> CardTally:
    return sum(tallies, CardTally())


def labelled(rows: Sequence[tuple[str | None, str, float | None]]) -> CardTally:
    return total(*(label_tally(*row) for row in rows))


def test_a_card_of_published_counts_has_the_published_figures() -> None:
    # scikit-learn, `classification_report`: labels 0 1 2 2 2 and predictions 0 0 2 2 1, here ten times over.
    rows = [("0", "0"), ("0", "1"), ("2", "2"), ("2", "2"), ("1", "2")]
    found = judge_card(labelled([(verdict, label, None) for verdict, label in rows] * 10))
    assert isinstance(found.agreement, Agreement)
    figures = {each.label: (each.precision.value, each.recall.value) for each in found.agreement.classes}
    assert figures == {"0": (0.5, 1.0), "1": (0.0, 0.0), "2": (1.0, pytest.approx(2 / 3))}
    # po = 0.6, pe = 0.4 × 0.2 + 0.2 × 0.2 + 0.4 × 0.6 = 0.36.
    assert found.agreement.kappa.value == pytest.approx(0.375)
    assert found.agreement.classes[2].recall.interval == wilson_interval(20, 30)


def test_below_thirty_labels_a_card_says_so_instead_of_a_figure() -> None:
    rows: list[tuple[str | None, str, float | None]] = [("right", "right", 0.9)] * (MIN_LABELS - 1)
    found = judge_card(labelled(rows))
    assert found.agreement == NotEnoughLabels(labels=29, needed=30)
    assert found.calibration == NotEnoughLabels(labels=29, needed=30)
    assert isinstance(judge_card(labelled([*rows, ("wrong", "right", 0.4)])).agreement, Agreement)


def test_a_thing_without_a_verdict_counts_for_no_agreement() -> None:
    found = judge_card(labelled([(None, "right", None)] * 40))
    assert (found.labels, found.undecided) == (0, 40)
    assert isinstance(found.agreement, NotEnoughLabels)


def test_few_confidences_make_no_diagram_though_the_labels_are_enough() -> None:
    found = judge_card(labelled([("right", "right", None)] * 40 + [("right", "wrong", 0.6)] * 3))
    assert isinstance(found.agreement, Agreement)
    assert found.calibration == NotEnoughLabels(labels=3, needed=30)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_outside_0_to_1_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        label_tally("right", "right", confidence)


@given(LABELLED)
def test_counts_give_the_figures_of_the_lists_behind_them(rows: list[tuple[str | None, str, float | None]]) -> None:
    found = judge_card(labelled(rows))
    decided = [row for row in rows if row[0] is not None]
    assert found.labels == len(decided)
    if isinstance(found.agreement, Agreement):
        assert found.agreement.kappa == cohen_kappa((verdict, label) for verdict, label, _ in rows)
    else:
        assert len(decided) < MIN_LABELS
    expected = reliability((confidence, verdict == label) for verdict, label, confidence in decided)
    if isinstance(found.calibration, Calibration):
        diagram = found.calibration.diagram
        assert (diagram.ece, diagram.brier) == pytest.approx((expected.ece, expected.brier))
        for mine, theirs in zip(diagram.bins, expected.bins, strict=True):
            assert (mine.count, mine.accuracy, mine.interval) == (theirs.count, theirs.accuracy, theirs.interval)
            assert mine.confidence == pytest.approx(theirs.confidence)
        assert diagram.unlabelled == expected.unlabelled
    else:
        assert expected.labelled < MIN_LABELS


@given(ORDERS)
def test_flips_are_those_of_the_list(orders: list[tuple[str | None, str | None]]) -> None:
    assert judge_card(total(*(order_tally(*pair) for pair in orders))).flips == flip_rate(orders)


@given(LABELLED, LABELLED)
def test_what_was_added_can_be_taken_back_without_a_trace(
    kept: list[tuple[str | None, str, float | None]], gone: list[tuple[str | None, str, float | None]]
) -> None:
    before, more = labelled(kept), labelled(gone)
    assert before + more - more == before
    assert before + more == more + before


def test_the_cost_of_a_verdict_holds_the_calls_that_brought_none() -> None:
    tally = total(
        call_tally("answered", latency_ms=800.0, cost_usd=0.000_2),
        call_tally("answered", latency_ms=400.0, cost_usd=0.000_2),
        call_tally("unreadable", latency_ms=9_000.0, cost_usd=0.000_3),
        call_tally("failed", latency_ms=9_000.0, cost_usd=0.000_1),
        CardTally(cached=5),
    )
    calls = judge_card(tally).calls
    assert (calls.calls, calls.answered, calls.unreadable, calls.failed, calls.cached) == (4, 2, 1, 1, 5)
    assert calls.latency_ms == 600.0
    assert calls.cost_usd == pytest.approx(0.000_8)
    assert calls.verdict_cost_usd == pytest.approx(0.000_4)
    assert calls.unreadable_share.value == pytest.approx(1 / 3)
    assert calls.unreadable_share.interval == wilson_interval(1, 3)


def test_a_verdict_of_which_a_price_is_not_known_has_no_cost() -> None:
    calls = judge_card(call_tally("answered", latency_ms=None, cost_usd=None)).calls
    assert (calls.verdict_cost_usd, calls.latency_ms) == (None, None)


def test_an_empty_card_claims_nothing() -> None:
    found = judge_card(CardTally())
    assert (found.labels, found.flips.rate, found.calls.verdict_cost_usd) == (0, None, None)
    assert found.calls.unreadable_share.value is None
