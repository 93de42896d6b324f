"""What an experiment may be: everything that would make the comparison unpaired is refused, and named."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.surfaces.experiments import Experiment, Terms

CARDS = {"cards": [{"id": "c1", "front": "What moves?", "back": "Water"}]}
REQUEST: dict[str, Any] = {
    "surface": "flashcards",
    "sources": [{"id": "s1", "markdown": "Water moves."}, {"id": "s2", "markdown": "Salt stays."}],
    "variants": [
        {
            "name": name,
            "items": [{"id": "i1", "source": "s1", "material": CARDS}, {"id": "i2", "source": "s2", "material": CARDS}],
        }
        for name in ("merged_chunks", "docling_chunks")
    ],
}


def changed(*changes: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(json.dumps(REQUEST))
    for change in changes:
        change(request)
    return request


def item(request: dict[str, Any], variant: int, number: int) -> dict[str, Any]:
    found: dict[str, Any] = request["variants"][variant]["items"][number]
    return found


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: item(r, 1, 0).update(id="i9"), "unpaired: variant docling_chunks lacks item i1"),
        (lambda r: r["variants"][0]["items"].pop(), "unpaired: variant merged_chunks lacks item i2"),
        (lambda r: item(r, 1, 1).update(source="s1"), "unpaired: item i2 is from source s2 in one variant and s1 in"),
        (lambda r: [item(r, n, 1).update(source="s3") for n in (0, 1)], "merged_chunks names source s3, which is not"),
        (lambda r: r["variants"][0].update(passages={"s3": {"markdown": "x"}}), "names source s3"),
        (lambda r: [item(r, n, 1).update(id="i1") for n in (0, 1)], "item of variant merged_chunks needs an id"),
        (lambda r: r["sources"][1].update(id="s1"), "source needs an id of its own"),
        (lambda r: r["variants"][1].update(name="merged_chunks"), "both variants have the same name"),
        (lambda r: item(r, 1, 0).update(material={"text": "Water."}), "i1 of variant docling_chunks is of summary"),
        (lambda r: item(r, 1, 0).update(material={"words": 3}), "material has questions"),
        (lambda r: item(r, 1, 0).update(material=None), "i1 of variant docling_chunks has no material"),
        (lambda r: r.update(metrics=["quiz_clarity"]), "quiz_clarity is no metric of flashcards"),
        (lambda r: r.update(metrics=[]), "at least 1 item"),
        (lambda r: r["sources"][0].update(markdown="  "), "its pillars or its markdown"),
        (lambda r: r["variants"].pop(), "Field required"),
        (lambda r: r["variants"].append(r["variants"][0]), "at most 2"),
        (lambda r: r.update(surprise=1), "Extra inputs"),
    ],
)
def test_a_request_that_cannot_be_compared_is_refused_and_says_what_is_wrong(
    change: Callable[[dict[str, Any]], object], sentence: str
) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Experiment.model_validate(changed(change))


def test_a_fault_within_material_is_named_by_its_place_in_that_material() -> None:
    with pytest.raises(ValidationError) as refused:
        Experiment.model_validate(changed(lambda r: item(r, 1, 0)["material"]["cards"][0].update(back=" ")))
    assert refused.value.errors()[0]["loc"] == ("variants", 1, "items", 0, "material", "flashcards", "cards", 0, "back")


def test_pairs_bring_both_variants_items_together_whatever_their_order() -> None:
    asked = Experiment.model_validate(
        changed(
            lambda r: r["variants"][1]["items"].reverse(),
            lambda r: r["variants"][1].update(passages={"s2": {"markdown": "Only salt."}}),
        )
    )
    assert [(one.number, one.item, one.source.id) for one in asked.pairs] == [(1, "i1", "s1"), (2, "i2", "s2")]
    assert [(one.passages_a.text, one.passages_b.text) for one in asked.pairs] == [
        ("Water moves.", "Water moves."),
        ("Salt stays.", "Only salt."),
    ]
    assert Experiment.model_validate_json(asked.model_dump_json()) == asked


def test_metrics_are_measured_in_the_catalogues_order_each_once() -> None:
    names = ["flashcard_duplication", "flashcard_clarity", "flashcard_clarity"]
    asked = Experiment.model_validate(changed(lambda r: r.update(metrics=names)))
    assert asked.measured == ("flashcard_clarity", "flashcard_duplication")
    assert asked.terms == Terms(surface="flashcards", metrics=asked.measured)
    assert len(Experiment.model_validate(REQUEST).measured) == 6


def test_items_without_material_are_allowed_where_it_is_said_what_to_make() -> None:
    asked = Experiment.model_validate(
        changed(lambda r: item(r, 1, 0).update(material=None), lambda r: r.update(generation={"count": 5}))
    )
    assert asked.pairs[0].b is None
