"""The sources of a target are read and never run, and nothing beside them is read."""

import os
from pathlib import Path

import pytest

from tests.support.shelf import Shelf
from touchstone.audits.agent import library as module
from touchstone.audits.agent.inspection import inspect_fqn
from touchstone.audits.agent.library import MAX_LINES, Library
from touchstone.errors import InputError


def test_the_modules_of_the_target_are_found_without_its_tests(library: Library) -> None:
    assert library.names == (
        "shelf", "shelf.boxes", "shelf.broken", "shelf.circle", "shelf.latin", "shelf.leak", "shelf.native",
        "shelf.stars",
    )  # fmt: skip


def test_a_single_module_is_a_target_too(tmp_path: Path) -> None:
    (tmp_path / "lone.py").write_text('"""Alone."""\n')
    (tmp_path / "other.py").write_text("")
    assert Library(Shelf(tmp_path, ("lone",)), title="lone 1").names == ("lone",)


@pytest.mark.parametrize(
    "name",
    ["shelf.broken", "shelf.leak", "shelf.nothing", "../secret", "shelf/boxes", "", "a" * 300, "shelf." + "a" * 250],
)
def test_what_has_no_source_that_can_be_parsed_is_no_module(name: str, library: Library) -> None:
    assert library.module(name) is None


def test_a_source_is_read_in_its_own_encoding(library: Library) -> None:
    found = library.module("shelf.latin")
    assert found is not None
    assert found.lines[1] == "NAME = 'café'"


def test_a_table_of_megabytes_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "table.py").write_text("A = 1\n" * 100)
    monkeypatch.setattr(module, "MAX_SOURCE_BYTES", 100)
    assert Library(Shelf(tmp_path, ("table",)), title="table").module("table") is None


def test_modules_are_counted_up_to_a_bound(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MODULES", 3)
    assert len(Library(shelf, title="shelf").names) == 3


def test_lines_of_a_file_are_shown_with_their_numbers(library: Library) -> None:
    shown = library.read_file("shelf/boxes.py", 7, 8)
    assert shown.splitlines() == [
        "shelf/boxes.py, lines 7 to 8 of 54",
        "7: class Base(BaseModel):",
        '8:     """What all boxes have."""',
    ]
    assert library.read_file("shelf/boxes.py").splitlines()[1] == '1: """Boxes of all kinds."""'


def test_lines_are_counted_as_python_counts_them(tmp_path: Path) -> None:
    (tmp_path / "feed.py").write_bytes("# coding: latin-1\n\x0c\rA = 'é\x85'\r\ndef f(): pass\n".encode("latin-1"))
    library = Library(Shelf(tmp_path, ("feed",)), title="feed")
    assert "lines 4 to 4" in inspect_fqn(library, "feed.f")
    assert library.read_file("feed.py", 3) == "feed.py, lines 3 to 4 of 4\n3: A = 'é\x85'\n4: def f(): pass"
    (tmp_path / "odd.txt").write_bytes(b"# coding: nothing\n\xff")
    assert library.read_file("odd.txt").endswith("\n1: # coding: nothing\n2: \ufffd")


def test_a_long_file_is_shown_a_part_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("\n".join(f"a{at} = {at}" for at in range(2000)))
    shown = Library(Shelf(tmp_path, ("long",)), title="long").read_file("long.py", 1001)
    assert shown.startswith(f"long.py, lines 1001 to {1000 + MAX_LINES} of 2000\n1001: a1000 = 1000")


def test_a_folder_shows_its_names(library: Library) -> None:
    assert "boxes.py" in library.read_file("shelf").splitlines()
    assert "tests/" in library.read_file("shelf").splitlines()


def test_a_large_folder_shows_some_of_its_names_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(5):
        (tmp_path / f"m{at}.py").write_text("")
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    assert Library(Shelf(tmp_path, ("m1",)), title="m").read_file(".").endswith("… [cut: 2 of 5 names are shown]")


@pytest.mark.parametrize(
    "path",
    ["../secret.py", "/etc/passwd", "shelf/leak.py", "shelf/up/secret.py", "shelf/nothing.py", "a\0b", "x" * 5000],
)
def test_nothing_outside_the_bundle_is_read(path: str, library: Library) -> None:
    with pytest.raises(InputError, match="no such file"):
        library.read_file(path)


def test_a_pipe_is_no_text_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match="no text"):
        Library(Shelf(tmp_path, ("pipe",)), title="pipe").read_file("pipe.txt")


def test_what_is_no_text_or_too_large_is_refused(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no text"):
        library.read_file("shelf/data.bin")
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    with pytest.raises(InputError, match="larger than 10 bytes"):
        library.read_file("shelf/boxes.py")
