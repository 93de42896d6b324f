"""Pairs side by side: what differs is marked, what came of each is told, and no text is more than text."""

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.experiment_reports import HOSTILE
from tests.support.report_pages import NEVER, ReportPage
from touchstone.material import Summary
from touchstone.operations.jobs.files import MAX_REPORT_BYTES
from touchstone.surfaces.experiments import Experiment
from touchstone.surfaces.experiments.concluding import conclude
from touchstone.surfaces.experiments.conclusion import MakerOutlay
from touchstone.surfaces.experiments.generation import Failure
from touchstone.surfaces.experiments.pairs import Measured, PairResult, Replicate
from touchstone.surfaces.experiments.preference import Preference, PreferenceVote
from touchstone.surfaces.experiments.report import (
    report_items_csv,
    report_markdown,
    side_by_side,
    sides_html,
    sides_json,
    sides_markdown,
    sides_that_fit,
)
from touchstone.surfaces.experiments.report.pages import WORDS
from touchstone.surfaces.experiments.report.sides import MAX_SHOWN_CHARS, MOST_CHANGES, ONLY, differences, plain
from touchstone.text.language import Language

LANGUAGES: tuple[Language, ...] = ("en", "zh")
VERDICTS: dict[str, tuple[Any, Any]] = {
    "win": ("b", "b"), "loss": ("a", "a"), "flip": ("a", "b"), "tie": ("tie", "tie"), "not_compared": ("a", None)
}  # fmt: skip


def experiment(words: str = "Water moves.") -> Experiment:
    makers = [{"prompt": f"{start} {words} {{{{ source }}}}"} for start in ("Say", "Tell")]
    return Experiment.model_validate(
        {
            "surface": "summary",
            "sources": [{"id": name, "markdown": "Water."} for name in VERDICTS],
            "variants": [{"name": name, "maker": maker} for name, maker in zip("ab", makers, strict=True)],
        }
    )


def results(a: str = "Water moves up.", b: str = "Water moves down.", reason: str = "So.") -> list[PairResult]:
    """A pair for each outcome; of the last one B was not made."""
    found = []
    for number, (outcome, verdicts) in enumerate(VERDICTS.items(), start=1):
        votes = [
            PreferenceVote(first=first, verdict=verdict, reason=reason, unscored=None if verdict else "no_material")
            for first, verdict in zip(("a", "b"), verdicts, strict=True)
        ]
        failed = outcome == "not_compared"
        found.append(
            PairResult(
                number=number,
                item=outcome,
                source=outcome,
                language="en",
                a=Measured(material=Summary(text=a), results={}),
                b=Measured(
                    material=None if failed else Summary(text=b),
                    results={},
                    failure=Failure(reason="maker_failed", details=(reason,)) if failed else None,
                ),
                preference=Preference(orders=(votes[0], votes[1])),
            )
        )
    return found


def preference(*verdicts: Any) -> Preference:
    votes = [
        PreferenceVote(first=first, verdict=verdict, reason="Later.", unscored=None if verdict else "refused")
        for first, verdict in zip(("a", "b"), verdicts, strict=True)
    ]
    return Preference(orders=(votes[0], votes[1]))


def marked(a: str, b: str) -> tuple[list[str], list[str]]:
    of_a, of_b = differences(a, b)
    return [one.text for one in of_a if one.changed], [one.text for one in of_b if one.changed]


@pytest.mark.parametrize(
    ("a", "b", "of_a", "of_b"),
    [
        ("Water moves up.", "Water moves down.", ["up"], ["down"]),
        ("Water moves.", "Cold water moves slowly.", ["Water "], ["Cold water ", "slowly"]),
        ("水向上流动。", "水向下流动。", ["上"], ["下"]),
        ("One  two\nthree", "One two three", [], []),
        ("", "New.", [], ["New."]),
        ("Same.", "Same.", [], []),
    ],
)
def test_words_that_differ_are_marked_and_characters_of_chinese(
    a: str, b: str, of_a: list[str], of_b: list[str]
) -> None:
    assert marked(a, b) == (of_a, of_b)


@given(st.text(alphabet="ab \n水火.", max_size=60), st.text(alphabet="ab \n水火.", max_size=60))
def test_no_character_is_lost_and_what_is_left_unmarked_is_the_same(a: str, b: str) -> None:
    of_a, of_b = differences(a, b)
    assert ("".join(one.text for one in of_a), "".join(one.text for one in of_b)) == (a, b)
    same = ["".join("".join(one.text.split()) for one in pieces if not one.changed) for pieces in (of_a, of_b)]
    assert same[0] == same[1]


def test_texts_with_little_in_common_are_marked_between_their_ends() -> None:
    long = [" ".join(f"{word}{number}" for number in range(MOST_CHANGES)) for word in "ab"]
    of_a, of_b = marked(*(f"First. {text} Last." for text in long))
    assert (len(of_a), len(of_b)) == (1, 1)
    assert of_a[0].startswith("a0")


def test_of_several_runs_every_form_counts_the_pair_by_their_mean() -> None:
    asked = Experiment.model_validate({**experiment().model_dump(mode="json"), "replicates": 3})
    found = [
        one.model_copy(update={"replicates": tuple(Replicate(a={}, b={}, preference=each) for each in later)})
        for one, later in zip(
            results(),
            [
                [preference("a", "a"), preference("a", "a")],  # a win, then two losses
                [preference("b", "b"), preference("a", "a")],
                [preference("b", "a"), preference("a", "b")],  # three flips
                [preference("b", "b"), preference("b", "b")],
                [preference("b", "b"), preference("b", None)],
            ],
            strict=True,
        )
    ]
    view, told = side_by_side(asked, found), conclude(asked, found)
    assert [one.outcome for one in view.pairs] == ["loss", "loss", "flip", "win", "win"]
    assert (told.preference.wins_a, told.preference.wins_b, told.preference.ties) == (2, 2, 1)
    rows = [row for row in csv.DictReader(io.StringIO(report_items_csv(found))) if row["metric"] == "preference"]
    assert [row["preferred"] for row in rows] == ["a", "a", "tie", "b", "b"]
    assert [row["flipped"] for row in rows] == ["False", "False", "True", "False", "False"]
    assert {one.item: one.verdict for one in told.preference.examples}["win"] == "a"
    assert [one.reasons[0] for one in view.pairs] == ["Later.", "So.", "So.", "Later.", "Later."]
    words = report_markdown(told)
    assert "in 3 cases, counted each time (23 %" in words
    assert "those are ties" not in words


def test_wins_losses_and_flips_are_told_apart_and_shown_alone() -> None:
    view = side_by_side(experiment(), results())
    assert [one.outcome for one in view.pairs] == list(VERDICTS)
    assert set(view.counts.values()) == {1}
    for only, outcome in ONLY.items():
        chosen = side_by_side(experiment(), results(), only=only)
        assert [one.outcome for one in chosen.pairs] == [outcome]
        assert chosen.counts == view.counts


def test_what_was_not_made_says_why_in_place_of_a_text() -> None:
    shown = side_by_side(experiment(), results()).pairs[-1]
    assert shown.b.failure == "maker_failed So."
    assert [piece.changed for piece in shown.a.pieces] == [False]


def test_both_prompts_are_compared_too() -> None:
    prompts = side_by_side(experiment(), results()).prompts
    assert prompts is not None
    assert [[piece.text for piece in one.pieces if piece.changed] for one in prompts] == [["Say "], ["Tell "]]


def test_a_system_prompt_is_told_from_the_prompt() -> None:
    asked = experiment().model_dump(mode="json")
    asked["variants"][1]["maker"]["system"] = "You teach."
    prompts = side_by_side(Experiment.model_validate(asked), results()).prompts
    assert prompts is not None
    assert [plain(one.pieces) for one in prompts] == [
        "prompt:\nSay Water moves. {{ source }}",
        "system:\nYou teach.\n\nprompt:\nTell Water moves. {{ source }}",
    ]


def test_what_came_from_the_cache_is_not_shown_as_nothing() -> None:
    asked, found = experiment(), results()
    told = conclude(asked, found)
    nothing: dict[str, Any] = dict.fromkeys(("calls", "input_tokens", "output_tokens", "unpriced"), 0)
    nothing |= {"cost_usd": 0.0, "seconds": None, "models": ()}
    outlay = MakerOutlay.model_validate({"maker": asked.makers[0], "made": 4, "failed": 0, "cached": 4, **nothing})
    view, told = side_by_side(asked, found), told.model_copy(update={"makers": (outlay, outlay)})
    assert "<td>0 + 4 from the cache</td>" in sides_html(view, told)
    assert "| 0 + 4 来自缓存 |" in sides_markdown(view, told, language="zh")


def test_chinese_pages_have_chinese_punctuation() -> None:
    assert not [words for words in WORDS["zh"].values() if re.search("[一-鿿][,:;]|[,:;][一-鿿]", words)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_more_than_text(language: Language) -> None:
    asked = experiment(HOSTILE.replace("{{7*7}}", ""))
    found = results(HOSTILE, HOSTILE + " more", HOSTILE)
    view, conclusion = side_by_side(asked, found), conclude(asked, found)
    page = ReportPage(sides_html(view, conclusion, language=language))
    assert page.open == []
    assert not NEVER - {"input"} & set(page.tags)
    assert not [name for name, value in page.attributes if name.startswith("on") or "javascript" in (value or "")]
    assert "<script>a(1)</script>" in "".join(page.text)
    for text in (sides_markdown(view, conclusion, language=language), sides_json(view, conclusion)):
        assert not any(character in text for character in "\x1b\x00\u202e")
    assert "<script>" not in sides_markdown(view, conclusion, language=language)
    json.loads(sides_json(view, conclusion))


@pytest.mark.parametrize(("language", "says"), [("en", "No pair is of this kind."), ("zh", "没有这类配对。")])
def test_a_list_of_no_pairs_says_so(language: Language, says: str) -> None:
    asked, found = experiment(), results()
    losses = [one for one in found if one.item != "win"]
    assert says in sides_markdown(side_by_side(asked, losses, only="wins"), conclude(asked, losses), language=language)
    assert says not in sides_markdown(
        side_by_side(asked, found, only="wins"), conclude(asked, found), language=language
    )


def test_a_huge_text_is_cut_and_says_by_how_much() -> None:
    view = side_by_side(experiment(), results("Water. " * 2_000, "Salt. " * 2_000))
    (shown, *_) = view.pairs
    assert shown.a.left_out == 14_000 - MAX_SHOWN_CHARS
    few = side_by_side(experiment(), results(), most=2)
    assert (len(few.pairs), few.left_out) == (2, 3)


def test_a_page_shows_as_many_pairs_as_may_be_and_says_how_many_it_leaves_out() -> None:
    told = conclude(experiment(), results())
    few = side_by_side(experiment(), results("水在山里流动。" * 700, "盐在海里流动。" * 700))
    view = replace(few, pairs=few.pairs * 40)
    whole = len(sides_html(view, told).encode())
    assert whole > MAX_REPORT_BYTES, "of Chinese summaries, and not the longest that there are"
    page = sides_that_fit(view, told, most_bytes=MAX_REPORT_BYTES)
    assert MAX_REPORT_BYTES * 0.9 < len(page.encode()) <= MAX_REPORT_BYTES
    (left_out,) = re.findall(r"(\d+) pairs more", page)
    assert page == sides_html(replace(view, pairs=view.pairs[: -int(left_out)], left_out=int(left_out)), told)
    assert sides_that_fit(few, told, most_bytes=whole, language="zh") == sides_html(few, told, language="zh")
    assert "200 pairs more" in sides_that_fit(view, told, most_bytes=1)


def test_a_text_in_markdown_has_the_spaces_that_it_has_and_says_what_its_marks_mean() -> None:
    asked, found = experiment(), results(a="我们今天吃饭。", b="我们明天吃饭。")
    text = sides_markdown(side_by_side(asked, found), conclude(asked, found))
    assert "A: 我们~~今~~天吃饭。" in text
    assert "B: 我们**明**天吃饭。" in text
    assert "Marked is what the other text does not have there." in text
    assert "## win: B wins" in text, "an item that is called as its source is named once"
    signs = results(a="Say (so)it.", b="Say it.")
    assert "A: Say ~~(so)~~ it." in sides_markdown(side_by_side(asked, signs), conclude(asked, signs))
