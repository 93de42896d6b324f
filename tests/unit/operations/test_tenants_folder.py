"""Where the objects of an export lie: under their own names where every file system takes them, and nowhere twice."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.operations.tenants.folder import ExportFolder

KEYS = st.text(st.sampled_from("aA.b/ \\:ü\n-"), max_size=12)


@given(st.lists(KEYS, unique=True))
def test_no_object_climbs_out_or_meets_another(names: list[str]) -> None:
    folder = ExportFolder(path=Path("out"), tenant="acme")
    places = [folder.place("inbox", name) for name in names]
    folded = [place.casefold() for place in places]
    assert len(set(folded)) == len(names)
    for place in folded:
        assert place.startswith("objects/")
        assert not {"", ".", ".."} & set(place.split("/"))
        assert not any(other.startswith(f"{place}/") for other in folded)


@pytest.mark.parametrize(
    ("names", "readable"),
    [
        (["submissions/01M8/text.md"], [True]),
        (["images/One", "images/one"], [True, False]),
        (["a", "a/b"], [True, False]),
        (["a/b", "a"], [True, False]),
        (["../a", "a//b", "a/", "/a", "", ".part"], [False] * 6),
        (["x" * 201], [False]),
    ],
)
def test_names_are_kept_where_they_can_be(names: list[str], readable: list[bool]) -> None:
    folder = ExportFolder(path=Path("out"), tenant="acme")
    places = [folder.place("inbox", name) for name in names]
    assert [place == f"objects/inbox/{name}" for place, name in zip(places, names, strict=True)] == readable
