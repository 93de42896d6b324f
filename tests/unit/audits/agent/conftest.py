"""A library whose sources are only read: importing any of it would fail the test."""

import pytest

from tests.support.shelf import SOURCES, Shelf
from touchstone.audits.agent.library import Library


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("shelf")
    site = folder / "site"
    for name, text in SOURCES.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1" if "latin" in name else "utf-8"))
    (folder / "secret.py").write_text("SECRET = 'canary'\n")
    (site / "shelf" / "leak.py").symlink_to(folder / "secret.py")
    (site / "shelf" / "up").symlink_to(folder)
    return Shelf(site)


@pytest.fixture(scope="session")
def library(shelf: Shelf) -> Library:
    return Library(shelf, title="shelf 1.0")
