"""Sources: pillars, a text or both; never nothing; and one text of all of it."""

from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.material import Pillar, Source
from touchstone.material.source import MAX_CHUNKS, MAX_MARKDOWN_CHARS, MAX_PILLARS

PILLARS = (Pillar(concept="Osmosis", chunks=("Water moves.", "Salt stays.")), Pillar(concept="Diffusion"))


@pytest.mark.parametrize("nothing", [{}, {"markdown": ""}, {"markdown": " \n"}, {"pillars": ()}])
def test_a_source_without_anything_is_refused(nothing: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="neither"):
        Source(**nothing)


def test_two_pillars_of_one_concept_are_refused() -> None:
    with pytest.raises(ValidationError, match="Osmosis is there twice"):
        Source(pillars=(PILLARS[0], PILLARS[0]))


@pytest.mark.parametrize(
    "pillar",
    [
        {"concept": ""},
        {"concept": "\u200b"},
        {"concept": "Osmosis", "chunks": [" "]},
        {"concept": "Osmosis", "weight": 0},
        {"concept": "Osmosis", "weight": -1},
        {"concept": "Osmosis", "weight": float("nan")},
        {"concept": "Osmosis", "chunks": ["x"] * (MAX_CHUNKS + 1)},
        {"concept": "Osmosis", "text": "x"},
    ],
)
def test_a_pillar_that_says_nothing_or_has_no_weight_is_refused(pillar: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Pillar.model_validate(pillar)


def test_limits_are_held_and_never_cut_to() -> None:
    with pytest.raises(ValidationError):
        Source(markdown="x" * (MAX_MARKDOWN_CHARS + 1))
    with pytest.raises(ValidationError):
        Source(pillars=tuple(Pillar(concept=f"Concept {number}") for number in range(MAX_PILLARS + 1)))


def test_its_text_is_the_markdown_or_else_each_concept_with_its_passages() -> None:
    assert Source(pillars=PILLARS).text == "# Osmosis\nWater moves.\nSalt stays.\n\n# Diffusion"
    assert Source(pillars=PILLARS, markdown="All of it.").text == "All of it."
    assert Source(pillars=PILLARS, markdown=" ").text.startswith("# Osmosis")
    assert Source(markdown="All of it.").id == "source"
