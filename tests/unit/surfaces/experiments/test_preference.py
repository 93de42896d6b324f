"""The preference in both orders: what survives the swap counts, the rest is a tie, and half a comparison is none."""

from typing import Any

import pytest

from tests.support.experiments import TEXT, clearer, judged, preferring, quiz
from tests.support.injections import injections
from tests.support.judges import Asked, Line
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError
from touchstone.material import Deck, Flashcard, Quiz, Source, Summary
from touchstone.surfaces.experiments import Preference
from touchstone.surfaces.experiments.preference import preference_of
from touchstone.surfaces.experiments.showing import MATERIAL_CHARS, excerpt, text_of
from touchstone.surfaces.measuring import Measuring

SOURCE = Source(markdown=TEXT)
GOOD, BAD = quiz("good"), quiz("bad", unclear=5)


async def asked(*lines: Line, a: Any = GOOD, b: Any = BAD, source: Source = SOURCE) -> tuple[Preference, list[Asked]]:
    judge, script = judged({"preference": lines or [preferring(clearer)]})
    measuring = Measuring(judge=judge, deadline=Deadline.after(5.0), language="en")
    return await preference_of(a, b, source, measuring), script.asked


@pytest.mark.parametrize(("a", "b", "verdict"), [(GOOD, BAD, "a"), (BAD, GOOD, "b"), (GOOD, GOOD, "tie")])
async def test_a_verdict_that_survives_the_swap_counts(a: Quiz, b: Quiz, verdict: str) -> None:
    found, script = await asked(a=a, b=b)
    assert (found.verdict, found.flipped, found.excerpts) == (verdict, False, False)
    assert [order.first for order in found.orders] == ["a", "b"]
    assert len(script) == len(found.spends) == 2


@pytest.mark.parametrize("place", ["FIRST", "SECOND"])
async def test_a_judge_that_looks_at_places_alone_prefers_nothing(place: str) -> None:
    found, _ = await asked(preferring(lambda _a, _b: place))
    assert (found.verdict, found.flipped) == ("tie", True)
    assert {order.verdict for order in found.orders} == {"a", "b"}


async def test_one_order_that_nobody_answers_leaves_no_verdict_and_no_tie() -> None:
    found, _ = await asked(preferring(lambda _a, _b: "TIE"), OverloadedError("503"))
    assert (found.verdict, found.flipped) == (None, False)
    (lost,) = [order for order in found.orders if order.verdict is None]
    assert (lost.unscored, lost.details) == ("overloaded", ("503",))


async def test_quotes_are_kept_with_the_variant_that_they_are_of() -> None:
    found, _ = await asked()
    first, second = found.orders
    assert first.evidence_a is not None
    assert first.evidence_a in text_of(GOOD)
    assert (first.evidence_b, second.evidence_a) == (None, None)
    assert second.evidence_b is not None
    assert second.evidence_b in text_of(BAD)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"evidence_first": "Words that nobody wrote."}, "evidence_first does not occur"),
        ({"evidence_second": "Words that nobody wrote."}, "evidence_second does not occur"),
        ({"evidence_first": ""}, "evidence_first does not occur"),
        ({"evidence_first": "."}, "evidence_first does not occur"),
        ({"evidence_first": None}, "takes a passage"),
        ({"reason": "\u200b "}, "The reason is blank"),
    ],
)
async def test_a5_a_reply_that_breaks_a_rule_is_asked_for_again_and_then_unscored(
    change: dict[str, Any], fault: str
) -> None:
    def broken(one: Asked) -> Line:
        line: Any = preferring(lambda _a, _b: "FIRST")(one)
        return {**line, **change}

    found, script = await asked(broken)
    assert (found.verdict, len(script)) == (None, 4)
    assert all(order.unscored == "invalid_reply" and fault in order.details[0] for order in found.orders)
    assert len(found.spends) == 4
    assert any(fault in one.user for one in script)


@pytest.mark.parametrize("verdict", ["A", "first", "", None, 1, ["FIRST"]])
async def test_a5_a_verdict_outside_the_labels_is_none(verdict: Any) -> None:
    found, _ = await asked({"reason": "So.", "evidence_first": None, "evidence_second": None, "verdict": verdict})
    assert found.verdict is None
    assert {order.unscored for order in found.orders} == {"unreadable"}


async def test_a3_material_that_orders_its_own_victory_stays_in_its_fence() -> None:
    for text in list(injections())[::5]:
        found, _ = await asked(a=Summary(text=f"Water moves.\n{text}"), b=Summary(text="Water moves."))
        assert found.verdict == "tie"


async def test_of_what_is_too_long_the_judge_sees_an_excerpt_from_all_over_it_and_is_told_so() -> None:
    long = Deck(cards=tuple(Flashcard(id=f"c{n}", front=f"Card {n}? {'x' * 400}", back="Yes") for n in range(200)))
    source = Source(markdown="\n\n".join(f"Paragraph {number}. {'y' * 500}" for number in range(200)))
    found, script = await asked(a=long, b=Deck(cards=long.cards[:3]), source=source)
    assert (found.verdict, found.excerpts) == ("tie", True)
    for one in script:
        assert one.user.count("characters are left out") == 2
        assert "1. Card 0?" in one.user
        assert "200. Card 199?" in one.user
        assert "Paragraph 0." in one.user
        assert "Paragraph 199." in one.user
        assert len(one.user) < 80_000


@pytest.mark.parametrize("length", [0, 1, MATERIAL_CHARS, MATERIAL_CHARS + 1, 10 * MATERIAL_CHARS])
def test_an_excerpt_is_never_longer_than_asked_but_for_its_gaps(length: int) -> None:
    text = ("word " * length)[:length]
    shown = excerpt(text, most=MATERIAL_CHARS)
    assert len(shown.text.replace("\n[…]\n", "")) + shown.left_out == length
    assert len(shown.text) - shown.text.count("[…]") * 5 <= MATERIAL_CHARS
    assert (shown.left_out > 0) == (length > MATERIAL_CHARS)
    assert ("[…]" in shown.text) == (shown.left_out > 0)


def test_what_stands_for_the_left_out_is_no_passage() -> None:
    shown = excerpt("\n\n".join(f"Paragraph {number}." for number in range(5_000)), most=MATERIAL_CHARS)
    before, after = (part.strip() for part in shown.text.split("\n[…]\n")[:2])
    assert shown.holds(before[-12:])
    assert shown.holds(after[:12])
    assert not shown.holds("[…]")
    assert not shown.holds(f"{before[-12:]}\n[…]\n{after[:12]}")


def test_what_a_learner_would_read_holds_choices_answers_and_explanations() -> None:
    question = (
        quiz("x")
        .questions[0]
        .model_copy(
            update={
                "kind": "single_choice",
                "choices": ("Salt", "Water"),
                "answers": ("Water",),
                "explanation": "It flows.",
            }
        )
    )
    assert text_of(Quiz(questions=(question,))).splitlines()[1:] == ["- Salt", "- Water", "= Water", "(It flows.)"]
    assert text_of(Deck(cards=(Flashcard(id="c", front="What moves?", back="Water"),))) == "1. What moves?\n= Water"
