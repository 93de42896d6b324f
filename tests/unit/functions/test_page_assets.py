"""What pages load: a library as its makers published it, and a script that draws every kind of chart there is."""

import hashlib
import re
from pathlib import Path
from typing import get_args

import pytest

from functions.pages.charts import Kind
from functions.pages.rendering import ASSETS, FOLDER, POLICY, asset

PUBLISHED = "87364cc2b2a76a6684929e7d6b80b18a897794db38400caff1fcf1791c6925d2"
"""The SHA-256 of `dist/chart.umd.min.js` in the npm package chart.js 4.6.1."""


def test_the_charting_library_is_the_one_that_was_published_under_its_licence() -> None:
    assert hashlib.sha256(asset("chart.js").encode()).hexdigest() == PUBLISHED
    assert "The MIT License" in (FOLDER / "static" / "chart.LICENSE.md").read_text(encoding="utf-8")


def test_every_kind_of_chart_can_be_drawn() -> None:
    forms = re.findall(r"^  (\w+): \(chart\) =>", asset("page.js"), re.MULTILINE)
    assert sorted(forms) == sorted(get_args(Kind.__value__))


@pytest.mark.parametrize("template", sorted((FOLDER / "templates").glob("*.html")), ids=lambda path: path.name)
def test_no_template_has_what_the_policy_forbids_or_turns_escaping_off(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape|style=|<style|\son\w+=|javascript:", text)
    assert all("src=" in script for script in re.findall(r"<script[^>]*>", text))
    assert "unsafe" not in POLICY


@pytest.mark.parametrize("name", ["style.css", "page.js"])
def test_style_and_script_load_nothing_from_elsewhere(name: str) -> None:
    assert name in ASSETS
    assert not re.search(r"https?:|url\(|@import|fetch\(|eval\(|innerHTML", asset(name))
