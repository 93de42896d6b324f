"""Names to import by, from a distribution's files."""

from pathlib import Path

import pytest

from touchstone.audits.bundles import Bundle
from touchstone.audits.bundles.building import import_names, installed


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["lib/__init__.py", "lib/deep/__init__.py", "lib/deep/x.py"], ("lib",)),
        (["lib.py", "lib-1.dist-info/METADATA", "../../bin/lib"], ("lib",)),
        (["space/lib/__init__.py", "space/lib/a.py"], ("space.lib",)),
        (["space/a.py", "space/b.py"], ("space.a", "space.b")),
        ([f"space/m{number}.py" for number in range(60)], ("space",)),
        (["_lib/__init__.py", "lib/__init__.py", "tests/__init__.py", "docs/conf.py"], ("lib",)),
        (["_lib.cpython-313-x86_64-linux-gnu.so"], ("_lib",)),
        (["lib/__init__.cpython-313-x86_64-linux-gnu.so", "lib/a.py"], ("lib",)),
        (["a/__init__.py", "b.py"], ("a", "b")),
        (["lib/not-a-name/x.py", "lib/data.json"], ()),
        ([], ()),
    ],
)
def test_the_outermost_packages_and_modules_are_named(tmp_path: Path, files: list[str], names: tuple[str, ...]) -> None:
    site = tmp_path / "a" / "b" / "site"
    info = "listed-1.dist-info"
    for file in (*files, f"{info}/METADATA"):
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text("Name: listed\nVersion: 1\n")
    (site / info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    found = installed(site, "listed")
    assert found is not None
    assert import_names(found) == names


def test_a_distribution_is_found_by_any_spelling_of_its_name(bundle: Bundle) -> None:
    found = installed(bundle.site, "TinyLib")
    assert found is not None
    assert found.version == "1.0"
    assert installed(bundle.site, "other") is None
