"""Reports for people, held against snapshots; and one whose every text tries to be more than text.

After a wanted change: `UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/surfaces/experiments/report`.
"""

import os
import re
from pathlib import Path

import pytest

from tests.support.experiment_reports import HOSTILE, conclusion, metric, preference
from tests.support.report_pages import NEVER, ReportPage
from touchstone.surfaces.experiments.report import headline, report_html, report_markdown

SNAPSHOTS = Path(__file__).parent / "snapshots"
PAGES = {"report.html": report_html, "report.md": report_markdown}


def held(name: str, shown: str) -> None:
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_report_is_the_one_that_was_looked_at(name: str) -> None:
    held(name, PAGES[name](conclusion()))


@pytest.mark.parametrize("name", PAGES)
def test_a_report_without_anything_behind_it_is_whole(name: str) -> None:
    empty = metric(favouring_a=(), favouring_b=(), b=metric().a)
    bare = conclusion(
        metrics=(empty,),
        preference=preference(examples=(), wins_a=0, wins_b=0, ties=0, flipped=0, flip_rate=None, flip_interval=None),
        failed=(),
    )
    shown = PAGES[name](bare)
    assert "No pair was judged in both orders. 2 pairs could not be judged so." in shown
    assert "Items that speak most" not in shown
    assert "Not generated" not in shown


@pytest.mark.parametrize("name", PAGES)
def test_the_hostile_report_is_the_one_that_was_looked_at(name: str) -> None:
    held(f"hostile.{name}", PAGES[name](conclusion(HOSTILE)))


def test_a_page_needs_nothing_from_elsewhere_and_runs_nothing() -> None:
    for text in (None, HOSTILE):
        page = ReportPage(report_html(conclusion(text)))
        assert page.open == []
        assert not set(page.tags) & NEVER
        names = {name for name, _ in page.attributes}
        assert not names & {"src", "href", "style", "srcset", "action"}
        assert not any(name.startswith("on") for name in names)


def test_the_first_sentence_of_a_page_is_the_headline() -> None:
    found = conclusion()
    text = "".join(ReportPage(report_html(found)).text)
    assert headline(found) in text
    assert report_markdown(found).split("\n\n")[1].replace("\\<", "<") == f"**{headline(found)}**"


def test_hostile_texts_are_shown_as_they_are() -> None:
    text = "".join(ReportPage(report_html(conclusion(HOSTILE))).text)
    assert "<script>a(1)</script><img src=x onerror=a()>" in text
    assert "{{7*7}}" in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)


@pytest.mark.parametrize("text", ["# B won", "## B won", "- B won", "+ B won", "1. B won", "23) B won", "-", "#"])
def test_no_text_begins_a_heading_or_a_list_where_it_begins_a_line(text: str) -> None:
    page = report_markdown(conclusion(text))
    assert not re.search(r"^\s*(?:- )?(?:[-+#]+|\d+[.)])(?: B won| \(|$)", page, re.MULTILINE)


def test_markdown_has_the_same_blocks_whatever_the_texts_hold() -> None:
    def blocks(page: str) -> list[str]:
        return [re.match(r"#* ?|\s*- |\| ?|", line)[0] for line in page.splitlines()]  # type: ignore[index]

    plain, hostile = report_markdown(conclusion("x")), report_markdown(conclusion(HOSTILE))
    assert blocks(plain) == blocks(hostile)
    for line in hostile.splitlines():
        if line.startswith("| "):
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert cells in {6, 11}
        assert not re.search(r"(?<!\\)[<>\[\]`]", line.replace("`detectable`", ""))
        assert not re.search(r"(?<!\\)://", line)
        assert "www." not in line
