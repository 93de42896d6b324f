"""No pattern of the package takes more than linear time, whoever wrote the text that it is run over.

The patterns are found, not listed, so a new one is pumped as well. See `tests.support.pumping` for how.
"""

import re
from functools import partial

import pytest

from tests.support.patterns import Opaque, Used, all_modules, patterns_of
from tests.support.pumping import find_growth, pumps
from tests.support.timing import takes_at_most
from touchstone.checks.proofs.recognition import MAX_PROBLEM_CHARS

MADE_WHILE_RUNNING = {
    "touchstone.packaged": "compiled of the files beside modules into tables of theirs, which are found",
    "touchstone.checks.proofs.kinds": "compiled of lists into the kinds of problems, which are found",
    "touchstone.chinese.scripts": "words of OpenCC's own tables, each escaped",
    "touchstone.judges.fence": "an escaped mark of hex digits",
    "touchstone.material.source": "compiled of a list into one that is found",
    "touchstone.oracle.phrases": "compiled of a file beside the module into a table of its own, which is found",
    "touchstone.quizzes.correction": "an escaped form, without a repeat",
}
"""Where a pattern is made of what is known only then, and why that is no danger."""

WHOLE_PROBLEMS = re.compile(r"touchstone\.checks\.proofs\.\w+\.KINDS")
"""Patterns in a list, which is run over whole problems alone: texts of `MAX_PROBLEM_CHARS` at most, so that what
counts is the time that one takes."""
MOST_SECONDS = 0.05
"""Of processor time for one pattern and one whole problem; they take some milliseconds at most."""

BAD = {
    r"\s+$": "search",
    r"(\s*[:#-]?\s*)x": "match",
    r"(?:a+)+b": "match",
    r"(?:[a-z]\.)*[a-z]+$": "search",
    r"a\[[^\]]*\]": "search",
    r"(?:^|\n)[\s#]*end": "finditer",
    r"(?:a|a)*b": "fullmatch",
}
GOOD = {
    r"(?<!\s)\s++$": "search",
    r"\s*+(?:[:#-]\s*+)?x": "match",
    r"\s*x": "match",
    r"“[^“”]*”": "search",
    r"[^,;]{1,200}x": "match",
}


@pytest.fixture(scope="module")
def found() -> tuple[list[Used], list[Opaque]]:
    return patterns_of(all_modules())


@pytest.mark.parametrize(("source", "style"), BAD.items())
def test_the_pump_finds_what_is_known_to_grow(source: str, style: str) -> None:
    assert find_growth(re.compile(source), [style], tries=3) is not None


@pytest.mark.parametrize(("source", "style"), GOOD.items())
def test_the_pump_leaves_what_is_linear(source: str, style: str) -> None:
    assert find_growth(re.compile(source), [style]) is None


def test_every_pattern_is_linear(found: tuple[list[Used], list[Opaque]]) -> None:
    used, _ = found
    assert len(used) >= 300
    scanning = [one for one in used if not WHOLE_PROBLEMS.match(one.where)]
    growing = {one.where: growth for one in scanning if (growth := find_growth(one.pattern, one.styles)) is not None}
    assert not growing


def test_no_whole_problem_holds_a_pattern(found: tuple[list[Used], list[Opaque]]) -> None:
    whole = [one for one in found[0] if WHOLE_PROBLEMS.match(one.where)]
    assert len(whole) >= 60
    for one in whole:
        for lead, unit, tail in pumps(one.pattern):
            text = f"{lead}{unit * MAX_PROBLEM_CHARS}"[: MAX_PROBLEM_CHARS - len(tail)] + tail
            takes_at_most(MOST_SECONDS, partial(one.pattern.fullmatch, text))


def test_every_pattern_can_be_told_beforehand(found: tuple[list[Used], list[Opaque]]) -> None:
    _, opaque = found
    assert {one.module for one in opaque} == set(MADE_WHILE_RUNNING)
