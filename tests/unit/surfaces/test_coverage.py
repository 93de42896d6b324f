"""How deeply concepts are dealt with: depths by hand, weights, groups, and each failure its own; quizzes and decks."""

from typing import Any

import pytest

from tests.support.coverage import PILLARS, depth, quiz, said
from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import OverloadedError
from touchstone.material import Deck, Flashcard, Pillar, Source
from touchstone.surfaces.metrics.flashcard_coverage import flashcard_coverage
from touchstone.surfaces.metrics.quiz_coverage import quiz_coverage
from touchstone.surfaces.model import MetricResult

TEXT = Source(markdown="Osmosis moves water. Diffusion moves anything. Active transport costs energy.")


async def covered(*lines: Line, source: Source = PILLARS, **asked: Any) -> tuple[MetricResult, Script]:
    shared, script = measuring({"quiz_coverage": lines, **asked})
    return await quiz_coverage(quiz(), source, shared), script


async def test_the_score_is_the_weighted_mean_of_the_depths_as_a_percentage_of_three() -> None:
    found, script = await covered({"concepts": [depth(1, 3, [2, 1]), depth(2, 1), depth(3, 0)]})
    assert found.score == pytest.approx(100 * (2 * 3 + 1 * 1 + 1 * 0) / (3 * 4))
    assert [(one.item, one.label, one.text, one.weight, one.suggestion) for one in found.items] == [
        ("1", "DEPTH_3", "Osmosis", 2.0, None),
        ("2", "DEPTH_1", "Diffusion", 1.0, "Ask why it moves."),
        ("3", "DEPTH_0", "Active transport", 1.0, "Ask why it moves."),
    ]
    assert [one.reason for one in found.items] == ["q2, q1: It asks so.", "q1: It asks so.", "It asks so."]
    assert "Water moves through a membrane." in fenced(script.asked[0])
    assert [spend.purpose for spend in found.spends] == ["quiz_coverage"]


async def test_the_concepts_of_a_source_without_pillars_are_found_first() -> None:
    topics = {"topics": [{"topic": " Osmosis ", "quote": "Osmosis moves water."}]}
    found, _ = await covered(said(2), source=TEXT, topics=[topics])
    assert (found.score, [one.text for one in found.items]) == (66.666667, ["Osmosis"])
    assert [spend.purpose for spend in found.spends] == ["topics", "quiz_coverage"]


@pytest.mark.parametrize(
    "topics",
    [
        [],
        [{"topic": "Osmosis", "quote": "Osmosis moves salt."}],
        [{"topic": " ", "quote": "Osmosis moves water."}],
        [{"topic": "x" * 201, "quote": "Osmosis moves water."}],
        [{"topic": each, "quote": "Osmosis moves water."} for each in ("Osmosis", "osmosis.")],
    ],
    ids=["none", "not a quote", "blank", "long", "twice"],
)
async def test_topics_against_the_rules_are_asked_for_again_and_twice_there_is_no_score(topics: list[Any]) -> None:
    good = {"topics": [{"topic": "Osmosis", "quote": "Osmosis moves water."}]}
    found, script = await covered(said(2), source=TEXT, topics=[{"topics": topics}, good])
    assert (found.score, len(script.asked)) == (66.666667, 3)
    found, script = await covered(said(2), source=TEXT, topics=[{"topics": topics}])
    assert (found.score, len(script.asked)) == (None, 2)
    assert [(one.item, one.reason) for one in found.unscored] == [("section 1", "invalid_reply")]


async def test_a_long_text_is_read_by_sections_and_a_topic_of_two_is_one() -> None:
    long = Source(markdown="\n\n".join(f"Osmosis moves water in case {number}." for number in range(3000)))

    def topics(asked: Asked) -> Line:
        section = fenced(asked)[0]
        if "case 0." not in section and "case 2999." not in section:
            return OverloadedError("503")
        assert "at most 6" in asked.system
        return {
            "topics": [{"topic": "Osmosis" if "case 0." in section else "OSMOSIS", "quote": section.split("\n")[0]}]
        }

    found, script = await covered(said(3), source=long, topics=[topics])
    assert [one.text for one in found.items] == ["Osmosis"]
    assert [(one.item, one.reason) for one in found.unscored] == [("section 2", "overloaded")]
    assert len(fenced(script.asked[-1])) == 1 + 2 + 3 * 2


async def test_ten_concepts_share_a_call_and_those_whose_call_failed_are_unscored() -> None:
    source = Source(pillars=tuple(Pillar(concept=f"Concept {number}") for number in range(1, 13)))

    def line(asked: Asked) -> Line:
        return said(*[3] * 10) if "Concept 10" in fenced(asked) else OverloadedError("503")

    found, _ = await covered(line, source=source)
    assert (found.score, len(found.items)) == (100.0, 10)
    assert [(one.item, one.text, one.reason) for one in found.unscored] == [
        ("11", "Concept 11", "overloaded"),
        ("12", "Concept 12", "overloaded"),
    ]


async def test_a_concept_that_is_said_wrongly_twice_is_unscored_and_the_others_count() -> None:
    bad = {"concepts": [depth(1, 3), depth(2, 1, suggestion=" "), depth(3, 0)]}
    found, script = await covered(bad)
    assert (len(script.asked), len(found.items)) == (2, 2)
    (missing,) = found.unscored
    assert (missing.text, missing.reason) == ("Diffusion", "invalid_reply")
    assert "suggestion of concept 2" in missing.details[0]


@pytest.mark.parametrize(
    "bad",
    [
        depth(1, 4),
        depth(1, -1, []),
        depth(1, 2, [3]),
        depth(1, 2, [1, 1]),
        depth(1, 2, []),
        depth(1, 0, [1]),
        depth(1, 2, reason=""),
        depth(1, 1, suggestion=None),
        depth(2, 2),
    ],
)
async def test_a_depth_against_the_rules_is_asked_for_again(bad: dict[str, Any]) -> None:
    source = Source(pillars=PILLARS.pillars[:1])
    found, script = await covered({"concepts": [bad]}, said(3), source=source)
    assert (found.score, len(script.asked)) == (100.0, 2)
    found, _ = await covered({"concepts": [bad]}, source=source)
    assert (found.score, found.unscored[0].reason) == (None, "invalid_reply")


async def test_a_concept_said_twice_or_one_too_many_is_named() -> None:
    source = Source(pillars=PILLARS.pillars[:2])
    bad = {"concepts": [depth(1, 3), depth(2, 3), depth(2, 2), depth(7, 2)]}
    found, script = await covered(bad, source=source)
    assert [one.item for one in found.items] == ["1"]
    assert "Concept 2 is there 2 times" in script.asked[1].user
    assert "Concept 7 was not asked about; judge 1 to 2." in script.asked[1].user


async def test_questions_too_many_for_one_call_are_read_in_groups_and_the_deepest_counts() -> None:
    many = quiz(40, "What moves in case {}? " + "Think of water. " * 100)

    def line(asked: Asked) -> Line:
        first = "case 1?" in asked.user
        return {"concepts": [depth(1, 3 if first else 1, [2]), depth(2, 1 if first else 2, [1]), depth(3, 0)]}

    shared, script = measuring({"quiz_coverage": [line]})
    found = await quiz_coverage(many, PILLARS, shared)
    assert len(script.asked) == 3
    assert [one.label for one in found.items] == ["DEPTH_3", "DEPTH_2", "DEPTH_0"]
    ids = [one.reason.split(":")[0] for one in found.items]
    assert ids[0].startswith("q2, ")
    assert ids[1].startswith("q1, ")
    assert len(ids[0].split(", ")) == 3


async def test_where_a_group_failed_only_the_deepest_is_known() -> None:
    many = quiz(40, "What moves in case {}? " + "Think of water. " * 100)

    def line(asked: Asked) -> Line:
        return said(3, 2, 0) if "case 1?" in asked.user else OverloadedError("503")

    shared, _ = measuring({"quiz_coverage": [line]})
    found = await quiz_coverage(many, PILLARS, shared)
    assert [one.text for one in found.items] == ["Osmosis"]
    assert [one.text for one in found.unscored] == ["Diffusion", "Active transport"]


async def test_passages_are_shown_as_far_as_they_tell_what_is_meant_and_the_judge_is_told() -> None:
    source = Source(pillars=(Pillar(concept="Osmosis", chunks=("Water moves. " * 300, "Salt stays. " * 300, "End.")),))
    found, script = await covered(said(3), source=source)
    assert found.score == 100.0
    shown = fenced(script.asked[0])
    assert sum(map(len, shown[1:3])) == pytest.approx(4000, abs=30)
    assert "more characters of its passages are not shown" in script.asked[0].user


async def test_of_passages_that_find_no_room_nothing_is_shown() -> None:
    source = Source(pillars=(Pillar(concept="Osmosis", chunks=("x" * 4000, "Salt stays.", "End.")),))
    _, script = await covered(said(3), source=source)
    assert [len(text) for text in fenced(script.asked[0])[:2]] == [len("Osmosis"), 4000]
    assert "15 more characters of its passages" in script.asked[0].user


async def test_a_deck_is_measured_alike() -> None:
    deck = Deck(cards=(Flashcard(id="c1", front="What moves by osmosis?", back="Water"),))
    shared, script = measuring({"flashcard_coverage": [said(3, 1, 0)]})
    found = await flashcard_coverage(deck, PILLARS, shared)
    assert found.metric == "flashcard_coverage"
    assert found.score == pytest.approx(100 * 7 / 12, abs=1e-6)
    assert {"What moves by osmosis?", "Water"} <= set(fenced(script.asked[0]))
