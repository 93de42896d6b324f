"""What an experiment may be: everything that would make the comparison unpaired is refused, and named."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.material import Source
from touchstone.surfaces.experiments import Experiment, ExperimentTerms
from touchstone.surfaces.experiments.makers import filled

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
    assert asked.terms == ExperimentTerms(surface="flashcards", metrics=asked.measured)
    assert len(Experiment.model_validate(REQUEST).measured) == 6


def test_items_without_material_are_allowed_where_it_is_said_what_to_make() -> None:
    asked = Experiment.model_validate(
        changed(lambda r: item(r, 1, 0).update(material=None), lambda r: r.update(generation={"count": 5}))
    )
    assert asked.pairs[0].b is None


MAKER = {"prompt": "Ask about this: {{ source }}", "model": "openai/gpt-5.6"}


def made_by(*makers: dict[str, Any] | None) -> dict[str, Any]:
    """The request with these makers in place of the items of its variants; None leaves the items."""
    request = changed()
    for variant, maker in zip(request["variants"], makers, strict=True):
        if maker is not None:
            del variant["items"]
            variant["maker"] = maker
    return request


def test_makers_make_an_item_of_each_source_or_what_the_other_variant_has() -> None:
    both = Experiment.model_validate_json(json.dumps(made_by(MAKER, {**MAKER, "model": None})))
    assert [(pair.item, pair.source.id, pair.a, pair.b) for pair in both.pairs] == [
        ("s1", "s1", None, None),
        ("s2", "s2", None, None),
    ]
    one = Experiment.model_validate(made_by(MAKER, None))
    assert [(pair.item, pair.a, pair.b is None) for pair in one.pairs] == [("i1", None, False), ("i2", None, False)]
    assert one.terms.makers[0] is not None
    assert one.terms.makers[1] is None


def test_only_a_maker_that_names_its_model_leaves_the_judge_out() -> None:
    free = {"metrics": ["flashcard_duplication"]}
    command = {"command": ["make-cards"]}
    assert not Experiment.model_validate({**made_by(MAKER, command), **free}).needs_judge
    assert Experiment.model_validate({**made_by({**MAKER, "model": None}, command), **free}).needs_judge


@pytest.mark.parametrize(
    ("maker", "sentence"),
    [
        ({}, "a maker has a prompt (with a model), a command or an endpoint"),
        ({"prompt": "Write cards."}, "write {{ source }} where its text is to stand"),
        ({"prompt": "{{ source }} for {{ pupil }}"}, "names {{ pupil }}, which nothing fills; its places are source, "),
        ({"prompt": "{{ source }}", "system": "{{ secret }}"}, "names {{ secret }}"),
        ({"prompt": "{{source}}" * 2_000}, "names {{ source }} 2,000 times, 3 at most; name it once"),
        ({"prompt": "{{ source }}", "system": "{{ source_id }}" * 4}, "names {{ source_id }} 4 times, 3 at most"),
        ({"prompt": " \n"}, "says nothing that a reader would see"),
        ({"command": []}, "at least 1 item"),
        ({"command": ["a\x00b"]}, "match pattern"),
        ({"command": ["a"], "seconds": 0}, "greater than 0"),
        ({"command": ["a"], "model": "openai"}, "Extra inputs are not permitted"),
        ({"endpoint": "file:///etc/passwd"}, "begins with http:// or https://"),
        ({"endpoint": "http://"}, "begins with http:// or https://"),
        ({"endpoint": "http://[::1"}, "begins with http:// or https://"),
        ({"endpoint": "http://a:99999/"}, "begins with http:// or https://"),
        ({"endpoint": "http://me:secret@localhost/"}, "must not hold a password"),
    ],
)
def test_a_maker_that_could_make_nothing_is_refused(maker: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Experiment.model_validate(made_by(maker, None))
    assert sentence in str(refused.value)


@pytest.mark.parametrize("field", ["prompt", "system"])
@pytest.mark.parametrize("passages", [False, True])
def test_a_prompt_that_its_source_would_make_too_long_is_refused(field: str, passages: bool) -> None:
    request = made_by({**MAKER, field: "{{ source }} and {{ source }} and {{ source }}"}, None)
    long = {"id": "s2", "markdown": "x" * 800_000}
    if passages:
        request["variants"][0]["passages"] = {"s2": long}
    else:
        request["sources"][1] = long
    with pytest.raises(ValidationError) as refused:
        Experiment.model_validate(request)
    name = request["variants"][0]["name"]
    assert (
        f"the {field} of variant {name} would have 2,400,010 characters with source s2 in it, "
        "2,000,000 at most; name {{ source }} fewer times, or give a shorter source"
    ) in str(refused.value)
    request["variants"][0]["maker"][field] = "{{ source }} and {{ source }}"
    assert Experiment.model_validate(request).pairs


def test_a_variant_has_items_or_a_maker() -> None:
    request = made_by(None, None)
    request["variants"][0]["maker"] = MAKER
    for neither in (False, True):
        if neither:
            del request["variants"][0]["items"], request["variants"][0]["maker"]
        with pytest.raises(ValidationError, match="merged_chunks takes either items or a maker"):
            Experiment.model_validate(request)


def test_what_fills_a_place_is_not_looked_at_again() -> None:
    source = Source(id="s1", markdown="It says {{ source_id }} and {{source}}.")
    shown = filled("{{source}} / {{ source_id }} / {{ language }}", source, "zh")
    assert shown == "It says {{ source_id }} and {{source}}. / s1 / zh"
