"""The site of the documentation builds without a warning, no link in it is broken, and it has every public name."""

import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import touchstone
from infra.layers import ROOT

pytest.importorskip("zensical", reason="the group `docs` is not installed")


class Page(HTMLParser):
    """What a page leads to, and the places in it that can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes in one tag."""
        for name, value in attrs:
            if value and name in {"href", "src"} and tag != "link":
                self.links.add(value)
            elif value and name in {"id", "name"}:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy of what it is made of."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "layers/core/touchstone", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--strict", "--clean"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert (folder / ".build/site/how-to/library/index.html").is_file()
    return folder / ".build/site"


def broken(site: Path) -> Iterator[str]:
    """The links within the site that lead to no file, or to no place in a page."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            anchor = unquote(parts.fragment)
            if not to.is_file() or (anchor and to in pages and anchor not in pages[to].anchors):
                yield f"{path.relative_to(site)}: {link}"


def test_no_link_of_the_site_is_broken(site: Path) -> None:
    assert sorted(broken(site)) == []


def test_pages_ask_nobody_else(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert 'src="http' not in path.read_text(encoding="utf-8"), path


def test_the_reference_has_every_public_name(site: Path) -> None:
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    described = {line.split(" ", 1)[0] for line in zlib.decompress(inventory).decode().splitlines()}
    offered = (getattr(touchstone, name) for name in touchstone.__all__)
    homes = {f"{one.__module__}.{one.__name__}" for one in offered if not isinstance(one, str)}
    missing = {home for home in homes if not {home, f"touchstone.{home.rpartition('.')[2]}"} & described}
    assert missing == set()
