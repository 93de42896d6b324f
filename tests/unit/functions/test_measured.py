"""What a page says of a measurement's metrics, beyond what the pages' own tests go through."""

from functions.pages.measured import metrics_of
from tests.support.measurements import CORRECTNESS, a_measurement, item


def test_what_has_no_weight_is_counted_neither_as_judged_nor_as_below_full_value() -> None:
    labels = (item("q1", "CORRECT").model_copy(update={"value": 1.0}), item("q2", "INCORRECT_ANSWER"))
    trivial = item("q3", "TRIVIAL").model_copy(update={"weight": 0.0})
    rows = metrics_of(a_measurement(CORRECTNESS, *labels, trivial, unscored=())).rows
    (row,) = [row for row in rows if row["metric"] == CORRECTNESS]
    assert (row["items"], row["below_full"]) == (2, 1)


def test_a_question_with_two_flaws_is_one_question() -> None:
    labels = (
        item("q1", "CORRECT").model_copy(update={"value": 1.0}),
        item("q2", "ERROR"),
        item("q2", "INCORRECT_ANSWER"),
    )
    rows = metrics_of(a_measurement(CORRECTNESS, *labels, unscored=())).rows
    (row,) = [row for row in rows if row["metric"] == CORRECTNESS]
    assert (row["items"], row["below_full"]) == (2, 1)
