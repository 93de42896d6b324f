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


def _luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _colours() -> dict[str, tuple[str, str]]:
    """The colours of the style by name, each in the light and in the dark."""
    named = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", asset("style.css"))
    return {name: (light, dark) for name, light, dark in named}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("texts", "grounds"),
    [
        (("ink", "faint", "link", "good", "bad"), ("page", "card")),
        (("ink", "faint", "link", "good"), ("good-card",)),
        (("ink", "faint", "warn"), ("warn-card",)),
        (("ink", "faint", "link", "bad"), ("bad-card",)),
    ],
)
def test_every_text_stands_out_from_its_ground(texts: tuple[str, ...], grounds: tuple[str, ...], theme: int) -> None:
    colours = _colours()
    for text in texts:
        for ground in grounds:
            assert _contrast(colours[text][theme], colours[ground][theme]) >= 4.5, (text, ground)


def test_every_line_of_a_chart_stands_out_from_its_ground_and_has_a_shape_and_dashes_of_its_own() -> None:
    grounds = _colours()["card"]
    pairs = re.findall(r'\["(#[0-9a-f]{6})", "(#[0-9a-f]{6})"\]', asset("page.js"))
    assert len(pairs) == 7
    for pair in pairs:
        for colour, ground in zip(pair, grounds, strict=True):
            assert _contrast(colour, ground) >= 3.0, colour
    for name in ("shapes", "dashes"):
        (listed,) = re.findall(rf"^const {name} = \[(.*)\];$", asset("page.js"), re.MULTILINE)
        kinds = re.findall(r'"\w+"|\[[^\]]*\]', listed)
        assert len(set(kinds)) == len(kinds) == len(pairs)
