"""Where the objects of an export lie: under their own names where every file system takes them, and nowhere twice."""

import time
from datetime import UTC, datetime
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
        (["week.jsonl", "week.jsonl.part", "deep.PART/x"], [True, False, False]),
        (["nul", "Con.txt", "a/LPT1/b", "end.", "dot./a", "console", "nulled.txt"], [False] * 5 + [True] * 2),
    ],
)
def test_names_are_kept_where_they_can_be(names: list[str], readable: list[bool]) -> None:
    folder = ExportFolder(path=Path("out"), tenant="acme")
    places = [folder.place("inbox", name) for name in names]
    assert [place == f"objects/inbox/{name}" for place, name in zip(places, names, strict=True)] == readable


def test_a_hundred_thousand_objects_find_their_places_in_time() -> None:
    folder = ExportFolder(path=Path("out"), tenant="acme")
    begun = time.process_time()
    for number in range(100_000):
        folder.place("artifacts", f"answers/{number}/body.json")
    assert time.process_time() - begun < 10  # seconds; minutes where each looks at all before it


def test_a_folder_that_was_there_is_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    ExportFolder(path=tmp_path, tenant="acme").begin(datetime(2026, 11, 22, tzinfo=UTC))
    assert tmp_path.stat().st_mode & 0o777 == 0o700
