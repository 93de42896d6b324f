"""Reports for spreadsheets and programs."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from tests.support.experiment_reports import HOSTILE, conclusion
from tests.support.simulated_experiments import experiment, pair, preference
from touchstone.surfaces.experiments import Conclusion
from touchstone.surfaces.experiments.concluding import conclude
from touchstone.surfaces.experiments.report import headline, notes, report_csv, report_items_csv, report_json


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table, newline="")))


def test_each_respect_is_a_row_and_what_there_is_not_is_empty() -> None:
    found = rows(report_csv(conclusion()))
    assert [one["metric"] for one in found] == ["quiz_clarity", "quiz_item_flaws", "quiz_coverage", "preference"]
    clarity, _, coverage, preferred = found
    assert (clarity["difference"], clarity["interval_low"], clarity["b_unscored_items"]) == ("12.34", "5.1", "2")
    assert (coverage["difference"], coverage["interval_high"], coverage["compared"]) == ("", "", "0")
    assert (preferred["a_unscored_items"], preferred["a_unscored_parts"]) == ("2", "")


def test_each_metric_of_each_item_is_a_row() -> None:
    one = pair(1, "i1", "s1", a={"quiz_clarity": 50.0}, b={"quiz_clarity": 70.0}, preferred=preference("b", "b"))
    two = pair(2, "i2", "s1", a={"quiz_clarity": None}, b={}, preferred=preference("a", None))
    found = rows(report_items_csv([one, two]))
    values = [(row["item"], row["metric"], row["difference"], row["preferred"], row["flipped"]) for row in found]
    assert values == [
        ("i1", "quiz_clarity", "20.0", "", ""),
        ("i1", "preference", "", "b", "False"),
        ("i2", "quiz_clarity", "", "", ""),
        ("i2", "preference", "", "", ""),
    ]
    assert report_items_csv([]) == ""


def test_differences_have_as_many_decimals_as_the_scores_they_are_of() -> None:
    results = [
        pair(number, f"s{number}-0", f"s{number}", a={"quiz_clarity": 83.333333}, b={"quiz_clarity": 16.666666})
        for number in range(6)
    ]
    assert {row["difference"] for row in rows(report_items_csv(results))} == {"-66.666667", ""}
    found = conclude(experiment(sources=6, a_source=1, metrics=["quiz_clarity"]), results)
    clarity, _ = rows(report_csv(found))
    figures = {clarity[name] for name in ("difference", "interval_low", "interval_high")}
    assert figures == {"-66.666667"}
    (metric,) = json.loads(report_json(found))["metrics"]
    assert (metric["difference"], metric["favouring_a"][0]["difference"]) == (-66.666667, -66.666667)


@given(st.text(min_size=1, max_size=60))
def test_no_cell_is_computed_whatever_it_says(text: str) -> None:
    named = conclusion(name=f"={text}", a=text, b=f"@{text}")
    for row in csv.reader(io.StringIO(report_csv(named), newline="")):
        assert len(row) == 24
        for cell in row:
            assert cell[:1] not in {"=", "+", "@", "|", "%", "\t", "\r"}
            assert not cell.startswith("-") or float(cell) < 0
            assert "\n" not in cell


def test_a_formula_is_told_to_be_a_text() -> None:
    found = rows(report_csv(conclusion(HOSTILE)))
    assert found[0]["variant_a"].startswith("'=1|'<script>")


def test_programs_get_the_conclusion_after_its_sentences() -> None:
    for text in (None, HOSTILE):
        expected = conclusion(text)
        found = json.loads(report_json(expected))
        assert (found.pop("headline"), tuple(found.pop("notes"))) == (headline(expected), notes(expected))
        assert Conclusion.model_validate(found) == expected
