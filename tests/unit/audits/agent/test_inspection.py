"""What is told of a name, from the sources alone."""

from pathlib import Path

import pytest

from tests.support.shelf import Shelf
from touchstone.audits.agent.inspection import MAX_NAME_CHARS, inspect_fqn
from touchstone.audits.agent.library import Library
from touchstone.audits.agent.naming import Names
from touchstone.errors import InputError


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        ("shelf", "shelf"),
        ("shelf.Container", "shelf.boxes.Box"),
        ("shelf.boxes.Again", "shelf.boxes.Box"),
        ("shelf.the_boxes.Box", "shelf.boxes.Box"),
        ("shelf.boxes.Crate.open", "shelf.boxes.Base.open"),
        ("shelf.boxes.Crate.width", "shelf.boxes.Box.width"),
        ("shelf.boxes.Box.Label.text", "shelf.boxes.Box.Label.text"),
        ("shelf.STAR", "shelf.stars.STAR"),
        ("shelf.LIMIT", "shelf.LIMIT"),
        ("shelf.boxes.BaseModel", "pydantic.main.BaseModel"),
        ("shelf.native.fast", "shelf.native.fast"),
    ],
)
def test_a_name_leads_to_its_definition_through_imports_and_bases(name: str, defined: str, library: Library) -> None:
    found = Names(library).find(name)
    assert found is not None
    assert found.name == defined


@pytest.mark.parametrize(
    "name",
    ["shelf.Nothing", "shelf.boxes.stack.inner", "shelf.circle.ring", "shelf.nowhere.at", "elsewhere", "shelf..x"],
)
def test_a_name_that_leads_nowhere_or_in_circles_ends(name: str, library: Library) -> None:
    assert Names(library).find(name) is None


def test_a_library_made_to_keep_the_search_busy_does_not(tmp_path: Path) -> None:
    package = tmp_path / "maze"
    package.mkdir()
    stars = "".join(f"from maze.m{at} import *\n" for at in range(30))
    (package / "__init__.py").write_text(stars)
    for at in range(30):
        (package / f"m{at}.py").write_text(
            stars + "class A(B, C, D): ...\nclass B(A): ...\nclass C(A): ...\nclass D(A): ...\n"
        )
    library = Library(Shelf(tmp_path, ("maze",)), title="maze")
    assert Names(library).find("maze.nothing") is None
    assert Names(library).find("maze.m1.A.nothing") is None
    with pytest.raises(InputError):
        inspect_fqn(library, "maze.nothing")


def test_what_stands_in_other_forms_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "with lock:\n    def inside(): ...\nfrom .. import above\nfrom . import beside\n"
        "a, b = 1, 2\nprint(a)\nclass Own(bases()[0], list[int], Own): ...\n"
    )
    names = Names(Library(Shelf(tmp_path, ("odd",)), title="odd"))
    found = names.find("odd.inside")
    assert found is not None
    assert found.name == "odd.inside"
    for name in ("odd.above", "odd.beside", "odd.a", "odd.Own.nothing"):
        assert names.find(name) is None


def test_code_that_is_nested_without_measure_is_told_as_far_as_it_goes(tmp_path: Path) -> None:
    branches = "if a:\n    x = 1\n" + "elif a:\n    x = 1\n" * 3000
    (tmp_path / "deep.py").write_text(f"def f(a={'-' * 2000}1): ...\n{branches}")
    library = Library(Shelf(tmp_path, ("deep",)), title="deep")
    assert Names(library).find("deep.f") is None or "deep.f" in inspect_fqn(library, "deep.f")


def test_a_model_is_told_with_its_fields_those_of_its_bases_and_what_it_forbids(library: Library) -> None:
    told = inspect_fqn(library, "shelf.Container")
    assert told.splitlines()[:2] == ["class shelf.boxes.Box", "in shelf/boxes.py, lines 18 to 32"]
    assert "bases: Base" in told
    assert "constructor: pydantic.main.BaseModel.__init__: __init__(self, /, **data)" in told
    assert "A box with a lid." in told
    fields = told.partition("fields of a pydantic model")[2].partition("methods:")[0].splitlines()[1:]
    assert fields == [
        "  lid: bool = True",
        "  width: float = 3.5",
        "  model_config = ConfigDict(extra='forbid')  (from shelf.boxes.Base)",
    ]
    assert "  async carry(self, to: str) -> None" in told
    assert "class Box(Base):" in told.partition("source:")[2]


def test_a_function_is_told_with_its_signature_and_words(library: Library) -> None:
    told = inspect_fqn(library, "shelf.stack")
    assert "function shelf.boxes.stack" in told
    assert "signature: stack(*boxes: Box) -> list[Box]" in told
    assert "Puts a box upon a box." in told


def test_a_class_of_its_own_constructor_is_told_with_that(library: Library) -> None:
    told = inspect_fqn(library, "shelf.boxes.Pallet")
    assert "constructor: shelf.boxes.Pallet.__init__: __init__(self, crates, *rest, **named)" in told
    assert "decorator: @dataclasses.dataclass" in told
    assert "bases: object" in told


def test_a_module_and_a_value_are_told(library: Library) -> None:
    assert "names: TYPE_CHECKING, Container, stack, the_boxes, nowhere, Crate, LIMIT" in inspect_fqn(library, "shelf")
    told = inspect_fqn(library, "shelf.boxes.MATERIALS")
    assert told.startswith("value shelf.boxes.MATERIALS\n")
    assert told.endswith("MATERIALS = ('oak', 'pine')".replace("'", '"'))


def test_a_name_that_is_almost_right_is_put_right(library: Library) -> None:
    with pytest.raises(InputError, match=r"no 'Bax' in shelf\.boxes\. Near it are .*Box.* at run time"):
        inspect_fqn(library, "shelf.boxes.Bax")
    with pytest.raises(InputError, match=r"no .zzzzzz. in shelf\.boxes\. It may be made"):
        inspect_fqn(library, "shelf.boxes.zzzzzz")
    with pytest.raises(InputError, match="No source of a module"):
        inspect_fqn(library, "elsewhere.Box")
    with pytest.raises(InputError, match="characters at most"):
        inspect_fqn(library, "x" * (MAX_NAME_CHARS + 1))


def test_what_is_told_is_bounded_and_says_where_it_was_cut(tmp_path: Path) -> None:
    fields = "".join(f"    field_{at}: int = {at}\n" for at in range(500))
    methods = "".join(f"    def method_{at}(self): ...\n" for at in range(500))
    (tmp_path / "big.py").write_text(f"class Big:\n{fields}{methods}" + "".join(f"a{at} = 1\n" for at in range(500)))
    library = Library(Shelf(tmp_path, ("big",)), title="big")
    told = inspect_fqn(library, "big.Big")
    assert "  … and 420 more" in told
    assert told.endswith("characters are shown; read_file shows more of big.py]")
    assert len(told) < 12_200
    assert "… and 381 more" in inspect_fqn(library, "big")
