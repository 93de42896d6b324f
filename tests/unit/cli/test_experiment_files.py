"""Experiments from files and folders: what is read, and the one sentence that is said of what is not."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.experiments import experiment
from touchstone.cli.files.experiment_files import experiment_of
from touchstone.errors import InputError

QUIZ = json.dumps([{"kind": "true_false", "question_text": "Ice floats.", "answers": ["true"]}])
SAMPLE = Path(__file__).parents[3] / "events" / "experiment"
WHOLE = {"sources/ice.md": "Ice floats.", "a/ice.json": QUIZ, "b/ice.json": QUIZ}


def laid_out(folder: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder)


def test_the_sample_is_an_experiment() -> None:
    found = experiment_of(str(SAMPLE))
    assert (found.name, found.surface, len(found.sources)) == ("experiment", "flashcards", 8)
    assert [variant.name for variant in found.variants] == ["draft", "revised"]
    assert [one.name for one in experiment_of(str(SAMPLE), baseline="revised").variants] == ["revised", "draft"]


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    expected = experiment()
    (tmp_path / "e.json").write_text(expected.model_dump_json(), encoding="utf-8")
    assert experiment_of(str(tmp_path / "e.json")) == expected


def test_several_pieces_of_one_source_lie_in_a_folder_called_as_it(tmp_path: Path) -> None:
    files = {"sources/ice.md": "Ice floats.", "sources/fire.json": '{"markdown": "Fire burns."}'}
    for variant in ("a", "b"):
        files |= {f"{variant}/ice/1.json": QUIZ, f"{variant}/ice/2.json": QUIZ, f"{variant}/fire.json": QUIZ}
    files |= {"a/.DS_Store": "x", ".git/config": "x", "__MACOSX/a/ice.json": "x", "a/Thumbs.db": "x"}
    files |= {"sources/desktop.ini": "x", "b/ice/~$1.docx": "x"}
    found = experiment_of(laid_out(tmp_path, files))
    assert [(item.id, item.source) for item in found.variants[0].items] == [
        ("fire", "fire"),
        ("ice/1", "ice"),
        ("ice/2", "ice"),
    ]


def test_names_that_a_mac_writes_otherwise_are_one_name(tmp_path: Path) -> None:
    files = {"sources/cafe\u0301.md": "Ice floats.", "a/caf\u00e9.json": QUIZ, "b/cafe\u0301.json": QUIZ}
    found = experiment_of(laid_out(tmp_path, files))
    assert {(one.id, one.source) for variant in found.variants for one in variant.items} == {("caf\u00e9", "caf\u00e9")}


@pytest.mark.parametrize(
    ("name", "text", "surface"),
    [
        ("ice.json", QUIZ, "quiz"),
        ("ice.json", f'{{"questions": {QUIZ}}}', "quiz"),
        ("ice.json", '{"text": "Ice floats."}', "summary"),
        ("ice.json", '[{"front": "Ice?", "back": "It floats."}]', "flashcards"),
        ("ice.md", "Ice floats.", "summary"),
        ("ice.csv", "Ice?,It floats.", "flashcards"),
    ],
)
def test_the_surface_is_told_by_the_material(tmp_path: Path, name: str, text: str, surface: str) -> None:
    files = {"sources/ice.md": "Ice floats.", f"a/{name}": text, f"b/{name}": text}
    assert experiment_of(laid_out(tmp_path, files)).surface == surface


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"sources/ice.md": "Ice floats."}, "the variants are none."),
        ({**WHOLE, "c/ice.json": QUIZ}, "the variants are a, b, c."),
        ({"a/ice.json": QUIZ, "b/ice.json": QUIZ}, "must hold a folder sources"),
        ({**WHOLE, "a/fire.json": QUIZ}, "fire.json is from no source: there is no fire in sources"),
        ({**WHOLE, "b/ice.json": "{}"}, "ice.json: questions is missing."),
        ({**WHOLE, "a/ice.JSON": QUIZ}, "every item of variant a needs an id of its own; ice is there twice."),
        ({**WHOLE, "a/ice.json": "{}"}, "is no quiz (questions), no summary (text) and no deck (cards)."),
        ({**WHOLE, "a/ice.json": "{"}, "not JSON"),
        ({**WHOLE, "sources/ice.md": " "}, "says nothing that a reader would see"),
        (
            {**WHOLE, "sources/fire.md": "Fire burns.", "a/fire.json": QUIZ},
            "the comparison would be unpaired: variant b lacks item fire, which the other one has.",
        ),
        ({"sources/ice.md": "x", "a/ice.json": QUIZ, "b/.hidden": ""}, "b holds no material; the comparison would be"),
        ({"sources/ice.md": "x", "a/.hidden": "", "b/.hidden": ""}, "hold no material; name each file as its source."),
    ],
)
def test_what_is_wrong_with_a_folder_is_one_sentence(tmp_path: Path, files: Mapping[str, str], words: str) -> None:
    with pytest.raises(InputError) as caught:
        experiment_of(laid_out(tmp_path, files))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "An experiment is one JSON object with surface, sources and variants."),
        ("{}", "surface is missing."),
        ("{", "not JSON"),
        ('{"surprise": 1}', "surface is missing"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "e.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        experiment_of(str(tmp_path / "e.json"))
    assert words in str(caught.value)


def test_a_baseline_that_is_none_of_the_variants_is_told_so() -> None:
    with pytest.raises(InputError, match="There is no variant final; they are draft and revised"):
        experiment_of(str(SAMPLE), baseline="final")
