"""Bundles on disk, built by uv and kept.

A requirement is resolved once and its lock is kept. So the same pin gives the same bundle, even if its dependencies
have newer versions by then. A bundle's name is the digest of its lock, target, Python, platform and layout. A bundle
appears whole or not at all. Only wheels are installed, because building from source would run code outside a sandbox.
"""

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from touchstone.audits.bundles.target import Bundle, Manifest, Target
from touchstone.audits.sandbox.bubblewrap import SITE, interpreter
from touchstone.clock import Deadline
from touchstone.errors import InputError, SettingsError
from touchstone.whole_files import write_whole

MAX_MODULES = 50
"""Most single modules in a namespace that are listed by name. A distribution with more is listed by the namespace
itself."""
_BESIDE = frozenset({"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "scripts"})
"""Folders that some distributions install next to their library by mistake."""


def installed(site: Path, name: str) -> Distribution | None:
    """The distribution called `name` that is installed in `site`; None if there is none."""
    wanted = canonicalize_name(name)
    return next((each for each in distributions(path=[str(site)]) if canonicalize_name(each.name) == wanted), None)


def import_names(distribution: Distribution) -> tuple[str, ...]:
    """The names of a distribution's outermost packages and modules, in alphabetical order.

    Private names and the folders of `_BESIDE` are included only if there are no others.
    """
    files = [PurePosixPath(str(file)) for file in distribution.files or ()]
    modules = [file for file in files if file.suffix in (".py", ".so") and ".." not in file.parts]
    packages = {file.parent for file in modules if file.name.partition(".")[0] == "__init__"}
    names = {name for file in modules if (name := _outermost(file, packages)) is not None}
    public = {name for name in names if not name.startswith("_") and name.partition(".")[0] not in _BESIDE} or names
    if len(public) > MAX_MODULES:
        public = {name.partition(".")[0] for name in public}
    return tuple(sorted(public))


def _outermost(file: PurePosixPath, packages: Iterable[PurePosixPath]) -> str | None:
    folders = [folder for folder in reversed(file.parents) if folder in packages and folder.name]
    parts = folders[0].parts if folders else (*file.parent.parts, file.name.partition(".")[0])
    return ".".join(parts) if all(part.isidentifier() for part in parts) else None


LAYOUT = "1"
"""Part of every digest. Raise it when the layout of bundles changes."""
UV_STARTS_SECONDS = 30.0
RESOLVE_SECONDS = 300.0
BUILD_SECONDS = 3600.0
"""The longest time for resolving, downloading and compiling a bundle: enough for gigabytes of wheels."""
SHOWN_CHARS = 800
"""How many characters of uv's reason an error quotes."""
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


class Bundles:
    """The bundles kept in `cache`.

    If `wheels` is given, distributions come from that folder and not from the registry. `seconds` is the longest time
    for building one.
    """

    def __init__(self, cache: Path, *, wheels: Path | None = None, seconds: float = BUILD_SECONDS) -> None:
        self._cache = cache
        self._wheels = wheels
        self._seconds = seconds

    def build(self, target: Target, *, anew: bool = False) -> Bundle:
        """The bundle of `target`: the kept one, or a new one. `anew` resolves its dependencies again.

        Blocks until the bundle is built: minutes for a large library the first time. Raises InputError if the target
        cannot be resolved or installed here, or not in time, and SettingsError if uv is missing.
        """
        deadline = Deadline.after(self._seconds)
        lock = self._locked(target, anew=anew, deadline=deadline)
        also = ",".join(target.also)
        digest = _digest(LAYOUT, lock, target.requirement, also, _python(), sysconfig.get_platform())
        folder = self._cache / digest
        if not folder.is_dir():
            self._lay_out(folder, target, lock, digest, deadline=deadline)
        return Bundle(folder)

    def _locked(self, target: Target, *, anew: bool, deadline: Deadline) -> str:
        """The lock of `target`: its resolved distributions, pinned with hashes.

        The first lock is used again, unless `anew`.
        """
        wheels = str(self._wheels) if self._wheels is not None else ""
        path = self._cache / "locks" / f"{_digest(target.requirement, _python(), sysconfig.get_platform(), wheels)}.txt"
        if anew or not path.exists():
            lock = _uv(
                [
                    "pip", "compile", "-", "--quiet", "--no-config", "--no-header", "--no-annotate",
                    "--generate-hashes", "--only-binary", ":all:", "--python", str(interpreter()), *self._source(),
                ],
                stdin=target.requirement,
                seconds=min(RESOLVE_SECONDS, deadline.remaining),
                fault=f"{target.requirement} cannot be resolved to wheels for Python {_python()}",
            )  # fmt: skip
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, [lock.encode()])
        return path.read_text("utf-8")

    def _lay_out(self, folder: Path, target: Target, lock: str, digest: str, *, deadline: Deadline) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as scratch:
            made = Path(scratch) / "bundle"
            site = made / "site"
            site.mkdir(parents=True)
            (made / "lock.txt").write_text(lock, "utf-8")
            _uv(
                [
                    "pip", "install", "--quiet", "--no-config", "--no-deps", "--require-hashes", "--link-mode", "copy",
                    "--only-binary", ":all:", "--python", str(interpreter()), "--target", str(site),
                    "--requirements", str(made / "lock.txt"), *self._source(),
                ],
                stdin="",
                seconds=deadline.remaining,
                fault=f"{target.requirement} cannot be installed",
            )  # fmt: skip
            _compile(site, seconds=deadline.remaining, fault=f"{target.requirement} cannot be compiled")
            manifest = _manifest(target, site, lock, digest)
            (made / "manifest.json").write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
            _open_to_all(made)
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():  # if it is there, another process built the same bundle first
                    raise

    def _source(self) -> list[str]:
        return [] if self._wheels is None else ["--no-index", "--find-links", str(self._wheels)]


def made_here(manifest: Manifest) -> bool:
    """Whether a bundle fits the Python and the kind of machine of this process."""
    return (manifest.python, manifest.platform) == (_python(), sysconfig.get_platform())


def _manifest(target: Target, site: Path, lock: str, digest: str) -> Manifest:
    versions = {canonicalize_name(name): version for name, version in _PINNED.findall(lock)}
    modules: list[str] = []
    for name in (target.name, *target.also):
        distribution = installed(site, name)
        if distribution is None:
            raise InputError(f"{target.requirement} does not bring a distribution {name}.", where="also")
        modules += import_names(distribution)
    if not modules:
        raise InputError(f"{target.requirement} holds nothing that Python could import.", where="requirement")
    return Manifest(
        target=target,
        version=versions[canonicalize_name(target.name)],
        python=_python(),
        platform=sysconfig.get_platform(),
        digest=digest,
        modules=tuple(sorted(set(modules))),
    )


def _python() -> str:
    return f"{platform.python_implementation().lower()}-{sys.version_info.major}.{sys.version_info.minor}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def _compile(site: Path, *, seconds: float, fault: str) -> None:
    """Compile to bytecode that Python uses without checking it against the source.

    No bytecode can be written in the sandbox, and a large library takes seconds to compile. Raises InputError, whose
    text begins with `fault`, if the time is not enough.
    """
    try:
        subprocess.run(  # noqa: S603 - our own interpreter
            [
                str(interpreter()), "-I", "-m", "compileall", "-qq", "-j", "1",
                "--invalidation-mode", "unchecked-hash", "-s", str(site), "-p", SITE, str(site),
            ],
            check=False,  # it fails if a package has a file for another Python, which nothing imports
            capture_output=True,
            timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{fault}: it was not done after {seconds:g} s.", where="requirement") from None


def _open_to_all(folder: Path) -> None:
    """Make all files readable for everybody, because the user that runs proofs has none of our rights."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _uv(arguments: Sequence[str], *, stdin: str, seconds: float, fault: str) -> str:
    """Run uv and return its output. Raises InputError, whose text begins with `fault`, if uv fails."""
    try:
        done = subprocess.run(  # noqa: S603 - uv, with a requirement that was read and written again
            [_uv_path(), *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{fault}: uv was not done after {seconds:g} s.", where="requirement") from None
    if done.returncode != 0:
        why = " ".join(done.stderr.split())[:SHOWN_CHARS]
        raise InputError(f"{fault}: {why}", where="requirement")
    return done.stdout


def _uv_path() -> str:
    """The path of a uv that runs. The uv on PATH may be a shim for a Python that has none."""
    places = [Path(sys.executable).with_name("uv")]
    if (spec := importlib.util.find_spec("uv")) is not None and spec.origin is not None:
        places.append(Path(spec.origin).parent.parent / "bin" / "uv")  # installed into a folder, as in a layer
    named = shutil.which("uv")
    tried = [*([named] if named else []), *(str(place) for place in places if os.access(place, os.X_OK))]
    found = next((path for path in tried if _runs(path)), None)
    if found is not None:
        return found
    why = f", and {tried[0]} does not run" if tried else ""
    raise SettingsError(f"There is no uv to install a target with{why}: install it (the PyPI package `uv`).")


@cache
def _runs(uv: str) -> bool:
    try:
        said = subprocess.run(  # noqa: S603 - asks a program called uv for its version only
            [uv, "--version"], capture_output=True, check=False, timeout=UV_STARTS_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return said.returncode == 0
