"""The bundle that a function looks into: unpacked once, and kept for as long as the function is asked of the same."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from touchstone.audits.agent import Library
from touchstone.audits.bundles.archive import digest_of, unpack
from touchstone.audits.record import BundlePlace
from touchstone.errors import StoreError


@dataclass(slots=True, weakref_slot=True)
class UnpackedBundles:
    """Keeps one bundle below `folder`, as a function's disk has room for one large one. Nothing of it is run."""

    folder: Path
    _library: Library | None = None
    _sha256: str = ""

    def get(self, place: BundlePlace, fetch: Callable[[Path], None]) -> Library:
        """The library that the bundle at `place` holds; `fetch` writes its archive into a file. Raises `StoreError`."""
        if self._library is not None and self._sha256 == place.sha256:
            return self._library
        self._library = None
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder / "bundle", ignore_errors=True)  # first: the disk has no room for both
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".fetched-") as scratch:
            file = Path(scratch) / "bundle.tar.gz"
            fetch(file)
            if digest_of(file) != place.sha256:
                raise StoreError("The bundle that was fetched is not the one that was kept; it is safe to repeat.")
            bundle = unpack(file, self.folder / "bundle")
        manifest = bundle.manifest
        self._library = Library(bundle, title=f"{manifest.target.name} {manifest.version}")
        self._sha256 = place.sha256
        return self._library
