"""Material that a variant lacks is made from that variant's own passages, alike for both, or the pair is unscored."""

from itertools import count
from typing import Any

import pytest

from tests.support.experiments import experiment, judged
from tests.support.judges import Asked, Line
from touchstone.clock import Deadline
from touchstone.errors import RefusedError
from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.surfaces.experiments import Experiment, Generation, estimate_of, measure_pair, run_experiment
from touchstone.surfaces.experiments.generation import GeneratedPiece, generate
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.names import Surface

SOURCE = Source(markdown="Osmosis moves water through a membrane.")


def question(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "single_choice",
        "question_text": "What does osmosis move?",
        "choices": ["Salt", "Water"],
        "answers": ["Water"],
        "explanation": None,
    } | changes


async def made(
    surface: Surface, line: Line, source: Source = SOURCE, **wanted: Any
) -> tuple[GeneratedPiece, list[Asked]]:
    judge, script = judged({f"generate_{surface}": [line]})
    measuring = Measuring(judge=judge, deadline=Deadline.after(5.0), language="en")
    return await generate(surface, source, Generation(**wanted), measuring, whose="a i"), script.asked


async def test_a_quiz_a_deck_and_a_summary_are_made() -> None:
    quiz, asked = await made("quiz", {"questions": [question(), question(question_text="And?")]}, count=2)
    assert isinstance(quiz.material, Quiz)
    assert [one.id for one in quiz.material.questions] == ["q1", "q2"]
    assert "quiz of 2 questions" in asked[0].system
    deck, _ = await made("flashcards", {"cards": [{"front": "What moves?", "back": "Water"}]}, count=1)
    assert isinstance(deck.material, Deck)
    summary, asked = await made("summary", {"text": "Water moves."}, words=50)
    assert summary.material == Summary(text="Water moves.")
    assert "about 50 words" in asked[0].system
    assert [spend.purpose for spend in summary.spends] == ["generate_summary"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "true_false", "choices": [], "answers": ["true"]}, "is of kind true_false"),
        ({"answers": []}, "has no answer"),
        ({"answers": ["Wine"]}, "none of its choices"),
        ({"answers": ["Water", "Salt"]}, "a single choice has one"),
        ({"choices": ["Water"]}, "give at least 2"),
        ({"question_text": " "}, "nothing that a reader would see"),
    ],
)
async def test_a_quiz_that_breaks_the_rules_twice_has_failed_with_its_faults(
    change: dict[str, Any], fault: str
) -> None:
    found, asked = await made("quiz", {"questions": [question(**change)]}, count=1)
    assert found.material is None
    assert found.failure is not None
    assert found.failure.reason == "invalid_reply"
    assert any(fault in detail for detail in found.failure.details), found.failure.details
    assert len(asked) == len(found.spends) == 2


@pytest.mark.parametrize(
    ("surface", "line", "fault"),
    [
        ("quiz", {"questions": [question(), question()]}, "There are 2 questions; write 1"),
        ("flashcards", {"cards": []}, "There are 0 cards; write 1"),
        ("summary", {"text": "word " * 101}, "has 101 words; write about 50"),
        ("summary", {"text": " "}, "nothing that a reader would see"),
    ],
)
async def test_another_number_than_was_asked_for_is_refused(surface: Surface, line: Line, fault: str) -> None:
    found, _ = await made(surface, line, count=1, words=50)
    assert found.failure is not None
    assert any(fault in detail for detail in found.failure.details), found.failure.details


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "true_false", "choices": [], "answers": ["yes"]}, "its one answer is true or false"),
        ({"kind": "fill_in_the_blank", "answers": ["Water"]}, "give it no choices"),
        ({"kind": "fill_in_the_blank", "choices": [], "answers": ["Water", "H2O"]}, None),
        ({"kind": "true_false", "choices": [], "answers": ["True"]}, None),
        ({"kind": "multiple_choice", "answers": ["Water", "Salt"]}, None),
    ],
)
async def test_every_kind_has_its_own_key(change: dict[str, Any], fault: str | None) -> None:
    kinds = ("single_choice", "multiple_choice", "true_false", "fill_in_the_blank")
    found, _ = await made("quiz", {"questions": [question(**change)]}, count=1, kinds=kinds)
    if fault is None:
        assert found.failure is None
    else:
        assert found.failure is not None
        assert fault in found.failure.details[0]


def lacking(**generation: Any) -> Experiment:
    """An experiment on one source of which both variants' quizzes are to be made, B's from passages of its own."""
    request = experiment(sources=1, metrics=("quiz_clarity",)).model_dump(mode="json")
    for variant in request["variants"]:
        variant["items"][0]["material"] = None
    request["variants"][1]["passages"] = {"s0": {"markdown": "Only diffusion."}}
    return Experiment.model_validate({**request, "generation": generation})


async def test_both_variants_are_made_by_the_same_model_each_from_its_own_passages() -> None:
    asked = lacking(count=1)
    judge, script = judged({"generate_quiz": [{"questions": [question(question_text="In A it is sure that.")]}]})
    found = await measure_pair(asked.pairs[0], asked.terms, judge=judge)
    written = [one.user for one in script.asked if one.prompt == "generate_quiz"]
    assert sorted(("Osmosis moves" in one, "Only diffusion." in one) for one in written) == [
        (False, True),
        (True, False),
    ]
    assert (found.a.results["quiz_clarity"].score, found.b.results["quiz_clarity"].score) == (100.0, 100.0)
    assert [len(side.spends) for side in (found.a, found.b)] == [1, 1]


async def test_every_item_of_either_variant_is_written_for_itself_also_where_all_are_made_of_the_same() -> None:
    request = lacking(count=1).model_dump(mode="json")
    for variant in request["variants"]:
        variant["items"].append({**variant["items"][0], "id": "another"})
        variant["passages"] = {}
    asked = Experiment.model_validate(request)
    numbers = count()

    def new(_: Asked) -> Line:
        return {"questions": [question(question_text=f"In A{next(numbers)} it is sure that.")]}

    judge, script = judged({"generate_quiz": [new]})
    conclusion = await run_experiment(asked, judge=judge)
    written = [one.prompt for one in script.asked].count("generate_quiz")
    assert (written, conclusion.measured) == (4, 2)
    assert (await estimate_of(asked, None)).calls == (len(script.asked), len(script.asked))


async def test_a_generation_that_failed_leaves_that_side_unscored_with_the_reason_and_no_preference() -> None:
    def refusing(asked: Asked) -> Line:
        if "Only diffusion." in asked.user:
            return RefusedError("It declined.")
        return {"questions": [question(question_text="In A it is sure that.")]}

    asked = lacking(count=1)
    judge, _ = judged({"generate_quiz": [refusing]})
    found = await measure_pair(asked.pairs[0], asked.terms, judge=judge)
    assert found.a.results["quiz_clarity"].score == 100.0
    assert found.b.failure is not None
    assert (found.b.material, dict(found.b.results), found.b.failure.reason) == (None, {}, "refused")
    assert {order.unscored for order in found.preference.orders} == {"no_material"}
    assert found.unanswered


async def test_without_any_model_nothing_can_be_made() -> None:
    asked = lacking()
    found = await measure_pair(asked.pairs[0], asked.terms, judge=None)
    assert found.a.failure is not None
    assert found.a.failure.reason == "misconfigured"


async def test_another_model_may_write_than_judges() -> None:
    asked = lacking(count=1)
    judge, judging = judged()
    writer, writing = judged({"generate_quiz": [{"questions": [question(question_text="In A it is sure that.")]}]})
    await measure_pair(asked.pairs[0], asked.terms, judge=judge, generator=writer)
    assert {one.prompt for one in writing.asked} == {"generate_quiz"}
    assert {one.prompt for one in judging.asked} == {"quiz_clarity", "preference"}


async def test_of_passages_too_long_for_a_prompt_an_excerpt_is_shown() -> None:
    source = Source(markdown="\n\n".join(f"Paragraph {number}. {'y' * 900}" for number in range(100)))
    _, asked = await made("summary", {"text": "Water moves."}, source)
    assert "characters are left out" in asked[0].user
    assert "Paragraph 99." in asked[0].user
