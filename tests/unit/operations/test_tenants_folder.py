"""Where the objects of an export lie: under their own names where every file system takes them, and nowhere twice."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import ConflictError, InputError
from touchstone.operations.tenants.folder import HOLD, MANIFEST, ExportFolder

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


NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_folder_that_was_there_is_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with ExportFolder(path=tmp_path, tenant="acme").begun(NOW):
        assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_two_exports_do_not_write_into_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    with ExportFolder(path=folder, tenant="acme").begun(NOW):
        before = sorted(folder.iterdir())
        for tenant in ("acme", "rival"):
            with (
                pytest.raises((ConflictError, InputError)) as refused,
                ExportFolder(path=folder, tenant=tenant).begun(NOW),
            ):
                pass
            assert ("Another command is exporting" in str(refused.value)) is (tenant == "acme")
        assert sorted(folder.iterdir()) == before
    assert [path.name for path in folder.iterdir()] == [MANIFEST]


def test_what_a_process_held_that_died_is_free_and_what_it_began_is_gone_on_with(tmp_path: Path) -> None:
    died = f"""
import os
from datetime import UTC, datetime
from pathlib import Path
from touchstone.errors import ConflictError, InputError
from touchstone.operations.tenants.folder import HOLD, MANIFEST, ExportFolder
with ExportFolder(path=Path({str(tmp_path)!r}), tenant="acme").begun(datetime.now(UTC)):
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", died], check=False).returncode == 9
    assert (tmp_path / HOLD).exists()
    with ExportFolder(path=tmp_path, tenant="acme").begun(NOW):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


def test_whoever_opened_the_file_of_an_export_that_then_ended_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended_meanwhile(_: IO[bytes]) -> bool:
        (tmp_path / HOLD).unlink()
        return True

    monkeypatch.setattr("touchstone.operations.tenants.folder.try_lock", ended_meanwhile)
    with pytest.raises(ConflictError), ExportFolder(path=tmp_path, tenant="acme").begun(NOW):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    before = tmp_path.stat().st_mtime_ns
    with pytest.raises(InputError), ExportFolder(path=tmp_path, tenant="acme").begun(NOW):
        pass
    assert tmp_path.stat().st_mtime_ns == before


def test_of_objects_only_those_are_left_that_are_listed(tmp_path: Path) -> None:
    folder = ExportFolder(path=tmp_path, tenant="acme")
    for name in ("objects/inbox/a", "objects/inbox/deep/b", "objects/by-hash/c", "manifest.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    folder.sweep({"objects/inbox/a"})
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"objects/inbox/a", "manifest.json"}
