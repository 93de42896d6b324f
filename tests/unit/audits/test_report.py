"""Reports of audits: everything that can be computed again, and pages in which nothing of a benchmark is markup."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.audit_cases import case
from tests.support.audit_reports import audited, proof, report, spend, whole
from touchstone.audits.report import audited_case, read_report, report_json, report_markdown, stored_proof
from touchstone.audits.report.model import KEPT_CHARS
from touchstone.audits.report.pages import CUT, SCRIPT_CHARS
from touchstone.errors import InputError

ASK_ELSE = "where no script can show it, ask for what can be run."
SNAPSHOT = Path(__file__).parent / "snapshots/quality_audit.md"


def test_a_report_is_read_as_it_was_written() -> None:
    written = report()
    again = read_report(report_json(written).encode(), name="quality_report.json")
    assert again == written
    assert report_json(again) == report_json(written)


def test_totals_tokens_and_cost_are_those_of_the_cases() -> None:
    found = report()
    assert found.totals == {"Incorrect": 2, "Ambiguous": 1, "Unproven": 1, "Valid": 1}
    assert (found.input_tokens, found.output_tokens) == (3000, 600)
    assert found.cost_usd == pytest.approx(0.025)
    partly = report(audited(spends=[spend(), spend(cost_usd=None)]))
    assert (partly.cost_usd, partly.unpriced_calls) == (0.01, 1)
    assert report(audited(spends=[spend(cost_usd=None)])).cost_usd is None
    assert report(audited()).cost_usd == 0


def test_all_that_decides_a_case_is_in_the_document() -> None:
    document = json.loads(report_json(report()))
    incorrect = document["cases"][2]
    assert (incorrect["quality_rating"], incorrect["selected_answer"]) == ("Incorrect", "A")
    assert incorrect["case"]["ground_truth"] == "B"
    assert incorrect["source"] == {"file": "benchmarks/boxes.yaml", "line": 3}
    assert incorrect["proofs"][1]["script"] == "import tinylib\ntinylib.Box(b=1)\n"
    assert (incorrect["proofs"][1]["outcome"], incorrect["proofs"][1]["hidden_outcome"]) == ("refuted", "error")
    assert incorrect["proof_summary"].startswith("A holds. The script ran to its end. B is refuted. The target showed")
    assert incorrect["proof_summary"].endswith("D is refuted. This follows from the other options.")
    assert document["target"]["version"] == "1.0"
    assert document["limits"]["wall_seconds"] == 30.0


@pytest.mark.parametrize(
    ("key", "outcomes", "told"),
    [
        ("A", "hrr", ""),
        ("B", "hrr", "Make A the key: it holds, and the key B is refuted."),
        ("A", "hhr", "B holds as well as the key A: ask for what sets A apart, or replace B."),
        ("A", "hhh", "B and C hold as well as the key A: ask for what sets A apart, or replace B and C."),
        ("C", "hhr", "A and B hold, and the key C is refuted: ask for one of them, or replace the others."),
        ("C", "hht", "A and B hold, and the key C is not proved: ask for one of them, or replace the others."),
        (
            "A",
            "ht-",
            f"Nothing can be said of the key before B and C are proved; {ASK_ELSE}",
        ),
    ],
)
def test_a_maintainer_is_told_what_to_change(key: str, outcomes: str, told: str) -> None:
    assert audited(case(ground_truth=key), outcomes=outcomes).change == told


def test_without_an_option_that_holds_the_key_is_to_be_corrected() -> None:
    plain = case(options=CASE_OF_TWO, ground_truth="A")
    told = "The key A is refuted, and no option holds: correct its text, or make an option that holds the key."
    assert audited(plain, outcomes="rr").change == told
    plain = case(options=[*CASE_OF_TWO, {"label": "C", "text": "depth"}], ground_truth="A")
    told = "The key A is refuted, and B and C are not proved: correct its text, or make an option that holds the key."
    assert audited(plain, outcomes="r--").change == told


def test_a_report_in_which_a_refuted_key_was_unproven_where_nothing_holds_is_still_read() -> None:
    found = audited(case(options=CASE_OF_TWO, ground_truth="A"), outcomes="rr")
    assert found.quality_rating == "Incorrect"
    document = json.loads(report_json(report()))
    document["cases"] = [json.loads(found.model_dump_json())]
    document["cases"][0] |= {"quality_rating": "Unproven", "missing": ["No option was proved to hold."]}
    document["totals"] = {"Incorrect": 0, "Ambiguous": 0, "Unproven": 1, "Valid": 0}
    (read,) = read_report(json.dumps(document).encode(), name="r.json").cases
    assert read.quality_rating == "Unproven"
    document["cases"][0]["options"][0]["standing"] = "unproven"
    with pytest.raises(InputError, match="options of case"):
        read_report(json.dumps(document).encode(), name="r.json")


CASE_OF_TWO = [{"label": "A", "text": "width"}, {"label": "B", "text": "girth"}]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("cases", 2, "quality_rating"), "Valid", "cases.2: quality_rating of case incorrect is not what its proofs"),
        (("cases", 2, "selected_answer"), "B", "selected_answer of case incorrect is not what its proofs come to"),
        (("cases", 1, "proofs", 1, "outcome"), "error", "quality_rating of case ambiguous is not what its proofs"),
        (("cases", 1, "proofs", 1, "label"), "A", "every proof needs an id of its own; A is there twice"),
        (("cases", 1, "proofs", 1, "label"), "E", "has no option 'E'"),
        (("cases", 1, "case", "id"), "valid", "every case needs an id of its own; valid is there twice"),
        (("totals", "Valid"), 5, "totals are not those of the cases"),
        (("form",), 2, "form must be 1"),
        (("more",), 2, "more is no field here"),
    ],
)
def test_a_report_that_was_changed_is_not_relied_on(path: tuple[Any, ...], value: Any, words: str) -> None:
    document = json.loads(report_json(report()))
    inside = document
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    with pytest.raises(InputError, match=r"is no quality_report\.json that can be relied on") as raised:
        read_report(json.dumps(document).encode(), name="r.json")
    assert words in str(raised.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b"{" * 100_000])
def test_what_is_no_report_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^r\.json is no quality_report\.json"):
        read_report(data, name="r.json")


def test_long_outputs_are_cut_in_the_middle_and_that_is_said() -> None:
    long = proof("A", "holds", stdout=f"first {'x' * 50_000} last", stderr="short")
    kept = stored_proof("A", long.script, long)
    assert kept.stdout.startswith("first")
    assert kept.stdout.endswith("last")
    assert len(kept.stdout) < KEPT_CHARS + 10
    assert (kept.stdout_cut, kept.stderr, kept.stderr_cut) == (True, "short", False)


def test_the_page_reads_as_it_is_shown_here() -> None:
    page = report_markdown(report(*whole(), trusted=True))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text(page, encoding="utf-8")
    assert page == SNAPSHOT.read_text(encoding="utf-8")


def test_cases_that_need_a_maintainer_come_first() -> None:
    page = report_markdown(report())
    assert re.findall("^### (.*)$", page, re.MULTILINE) == [
        "Incorrect: incorrect", "Incorrect: refuted", "Ambiguous: ambiguous", "Unproven: unproven", "Valid: valid"
    ]  # fmt: skip
    assert re.findall("^## (.*)$", page, re.MULTILINE) == ["Cases that need a maintainer", "Valid cases"]
    assert "Cases that need" not in report_markdown(report(audited()))


HOSTILE = "</details>\n```\n# Heading\n<script>alert(1)</script> ![x](https://e.example/x) | @everyone `|` \u202e"


def test_nothing_of_a_benchmark_or_a_model_becomes_markup() -> None:
    hostile = case(
        id="<b>id</b>|",
        question=HOSTILE,
        options=[{"label": "A", "text": HOSTILE}, {"label": "B", "text": "`x|y` | <i>"}],
        ground_truth="A",
    )
    bad = proof("A", "holds", script=HOSTILE, stdout=HOSTILE, stderr=HOSTILE, reason=HOSTILE, exception=HOSTILE)
    page = report_markdown(report(audited_case(hostile, [bad], critique=HOSTILE, stopped=HOSTILE)))
    outside = "\n".join(_outside_of_blocks(page))
    without_code = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert without_code.count("<details>") == without_code.count("</details>") == 1
    assert re.findall(r"(?<!\\)<(?!/?details|/?summary|/?code)", without_code) == []
    assert [line for line in without_code.splitlines() if line.startswith("# ")] == ["# Benchmark audit: tinylib 1.0"]
    assert "](https:" not in without_code
    assert "@everyone" not in without_code
    assert "\u202e" not in page
    rows = [line for line in outside.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4, 5}


def _outside_of_blocks(page: str) -> list[str]:
    fence, lines = "", []
    for line in page.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif found := re.match("`{3,}", line):
            fence = found[0]
        else:
            lines.append(line)
    assert not fence
    return lines


@given(st.text("`\n~<|a ", min_size=1, max_size=50))
def test_scripts_and_outputs_stay_inside_their_blocks(text: str) -> None:
    page = report_markdown(report(audited_case(case(), [proof("A", "holds", script=text, stdout=text)])))
    outside = _outside_of_blocks(page)
    assert outside.count("</details>") == 1


def test_what_is_too_long_to_show_is_cut_and_that_is_said() -> None:
    page = report_markdown(report(audited_case(case(), [proof("A", "holds", script="x" * (SCRIPT_CHARS + 1))])))
    assert "x" * SCRIPT_CHARS + CUT in page
