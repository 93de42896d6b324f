"""What a search finds first."""

import pytest

from touchstone.audits.agent.library import Library
from touchstone.audits.agent.search import HITS, MAX_QUERY_CHARS, Search
from touchstone.errors import InputError


@pytest.fixture(scope="module")
def search(library: Library) -> Search:
    return Search(library)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Box", "class shelf.boxes.Box(Base)"),
        ("shelf.boxes.Crate", "class shelf.boxes.Crate(Box)"),
        ("constructor of Pallet", "class shelf.boxes.Pallet()"),
        ("put box upon another", "function shelf.boxes.stack(*boxes: Box) -> list[Box]"),
        ("opens lid slowly", "function shelf.boxes.Base.open(self, *, slowly: bool=False) -> 'Base'"),
        ("materials", "value shelf.boxes: MATERIALS = ('oak', 'pine')"),
        ("boxes of all kinds", "module shelf.boxes"),
    ],
)
def test_what_fits_best_comes_first(query: str, first: str, search: Search) -> None:
    assert search.ranked(query).splitlines()[1] == first


def test_a_hit_is_told_with_its_first_words(search: Search) -> None:
    assert search.ranked("Pallet").splitlines()[2] == "    Carries crates."


def test_a_private_name_comes_after_a_public_one(search: Search) -> None:
    lines = search.ranked("stack box upon box").splitlines()
    assert lines.index("function shelf.boxes.stack(*boxes: Box) -> list[Box]") < lines.index(
        "function shelf.boxes._hidden_stack() -> None"
    )


def test_hits_are_counted_and_bounded(search: Search) -> None:
    head, *lines = search.ranked("shelf").splitlines()
    assert head.startswith(f"{HITS} of ")
    assert len([line for line in lines if not line.startswith(" ")]) == HITS


def test_a_query_without_a_hit_or_without_words_says_so(search: Search) -> None:
    assert search.ranked("zeppelin").startswith("Nothing among ")
    for query in ("", "…", "x" * (MAX_QUERY_CHARS + 1)):
        with pytest.raises(InputError):
            search.ranked(query)


def test_the_same_query_finds_the_same(library: Library, search: Search) -> None:
    assert Search(library).ranked("box lid") == search.ranked("box lid")
