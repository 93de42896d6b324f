"""Builds the code of the functions without Docker: third-party layers, the library, and the handlers.

Third-party layers come from the lock file's groups (`layer-runtime`, `layer-judges` …) for the architecture that will
run them. Everything is compiled to bytecode before it is zipped: a zip loses the file times by which ordinary bytecode
is checked, and a cold start that compiles sympy takes four times as long.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Literal, get_args

from infra import toolchain

type Architecture = Literal["x86_64", "arm64"]
type LayerName = Literal["judges", "checks", "script", "statistics", "audits", "uv"]
"""The third-party layers that a function may have in addition to those that all functions have."""

CARRIED: Mapping[str, Sequence[LayerName]] = {
    # The API reads the definitions of an audit at once, so that their sender is told of every fault.
    "functions.api.app": ("audits",),
    **dict.fromkeys(("functions.answers.verify", "functions.api.verifying", "functions.intake"), ("judges", "checks")),
    **dict.fromkeys(
        (
            *(f"functions.answers.{name}" for name in ("read_image", "analyze", "solve", "enrich", "evaluate")),
            *(f"functions.oracle.{name}" for name in ("draft", "gate", "score", "close", "compare", "rescore")),
            *(f"functions.surfaces.{name}" for name in ("measure", "plan", "pair")),
            "functions.drain",
            "functions.quizzes.generate",
        ),
        ("judges",),
    ),
    "functions.quizzes.evaluate": ("judges", "script"),
    "functions.surfaces.conclude": ("statistics",),
    "functions.batch.lines": ("judges", "checks", "script"),
    "functions.provider_batches.advance": ("judges", "checks", "audits"),
    "functions.audits.install": ("audits", "uv"),
    **dict.fromkeys(("functions.audits.prepare", "functions.audits.turn"), ("audits", "judges")),
    **dict.fromkeys(
        (
            *("functions.audits.conclude", "functions.audits.weekly"),
            *("functions.sweep", "functions.purge", "functions.sandbox"),
        ),
        ("audits",),
    ),
}
"""The additional layers of each function that has any. Tests in process hold the functions to them."""

ROOT = Path(__file__).resolve().parent.parent
PYTHON_VERSION = "3.13"
WHEEL_PLATFORMS: dict[Architecture, str] = {
    "x86_64": "x86_64-manylinux_2_28",
    "arm64": "aarch64-manylinux_2_28",
}
"""The Lambda runtime for Python 3.13 is Amazon Linux 2023, whose glibc is 2.34."""
KEPT_SECONDS = 7 * 24 * 3600.0
RECIPE = "4"
"""Raised if the way of building changes, so that the results of an older recipe are not used."""
NEVER_IMPORTED = ("*.pyi", "*.pyx", "*.pxd", "*.h", "*.c", "*.dist-info/RECORD", "*.dist-info/licenses")
"""Files left out of a third-party layer: only a compiler, a type checker or an installer reads them."""
TOP_LEVEL_EXTRAS = ("bin", "share", "isympy.py")
"""Commands and manuals, which a function never runs or reads."""
COMMANDS = frozenset({"uv"})
"""Layers that exist for their command, which is kept."""
NEVER_USED = {
    "scipy": ("cluster", "constants", "datasets", "differentiate", "fft", "fftpack", "integrate", "interpolate", "io",
              "misc", "ndimage", "odr", "optimize", "signal", "sparse", "spatial", "stats"),
}  # fmt: skip
"""Subpackages left out: the statistics take quantiles from scipy.special, which needs only linalg."""


class BuildError(Exception):
    """A layer could not be built; the message contains uv's output."""


@dataclass(frozen=True, slots=True)
class Code:
    """Folders ready to be zipped: the functions, and the layers that they share."""

    functions: Path
    core: Path
    runtime: Path
    judges: Path
    checks: Path
    script: Path
    statistics: Path
    audits: Path
    uv: Path


PARTS = tuple(field.name for field in fields(Code))


def build(architecture: Architecture, *, build_dir: Path = ROOT / ".build") -> Code:
    """Build the parts that are not built yet. A folder is named after the hash of all that determines its content."""
    runtime = _locked("layer-runtime")
    brought = {_name(line) for line in runtime}
    third_party = {"runtime": runtime} | {
        name: [line for line in _locked(f"layer-{name}") if _name(line) not in brought]
        for name in get_args(LayerName.__value__)
    }
    with ThreadPoolExecutor(max_workers=len(third_party)) as builders:
        built = {
            name: builders.submit(_third_party, name, lines, architecture, build_dir)
            for name, lines in third_party.items()
        }
        return Code(
            functions=_own("functions", ROOT / "functions", Path("functions"), build_dir),
            core=_own("core", ROOT / "layers/core/touchstone", Path("python/touchstone"), build_dir, without=("cli",)),
            **{name: layer.result() for name, layer in built.items()},
        )


def _locked(group: str) -> list[str]:
    """The exact requirements of one group of the lock file, one per item, without our own packages."""
    reply = _uv("export", "--frozen", "--no-emit-workspace", "--only-group", group, "--no-hashes", "--no-annotate")
    return [line for line in reply.splitlines() if line and not line.startswith("#")]


def _name(requirement: str) -> str:
    return re.split(r"[\s=;\[<>]", requirement, maxsplit=1)[0]


def _third_party(name: str, requirements: list[str], architecture: Architecture, build_dir: Path) -> Path:
    def install(target: Path) -> None:
        site_packages = target / "python"
        _uv(
            "pip", "install", "--quiet", "--no-deps", "--no-config", "--link-mode", "copy",
            "--target", str(site_packages),
            "--python-version", PYTHON_VERSION, "--python-platform", WHEEL_PLATFORMS[architecture],
            "--only-binary", ":all:", "--requirements", "-",
            stdin="\n".join(requirements)
        )  # fmt: skip
        _trim(site_packages, commands=name in COMMANDS)
        _compile(target, beside_source=True)
        _keep_bytecode_only(site_packages)

    digest = _digest([*requirements, architecture])
    return _once(build_dir / f"{name}-{architecture}-{digest}", install)


def _own(name: str, source: Path, inside: Path, build_dir: Path, *, without: tuple[str, ...] = ()) -> Path:
    """Build one of our own packages, without the named top-level subpackages.

    The package lies under `inside` of the folder to be zipped.
    """
    files = sorted(
        path
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.relative_to(source).parts[0] not in without
    )

    def copy(target: Path) -> None:
        for path in files:
            place = target / inside / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
        _compile(target)

    digest = _digest([f"{path.relative_to(source)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files])
    return _once(build_dir / f"{name}-{digest}", copy)


def _once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fill a folder unless it exists. It appears whole or not at all."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as scratch:
        target = Path(scratch) / "content"
        target.mkdir()
        fill(target)
        for path in target.rglob("*"):
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was first, which is as good
                raise
    forget_old(folder)
    return folder


def forget_old(built: Path) -> None:
    """Remove older builds of the same name after a week; until then a local cloud may still run on them."""
    kind = built.name.rpartition("-")[0]
    for other in built.parent.glob(f"{kind}-*"):
        same_kind = other.name.rpartition("-")[0] == kind
        if same_kind and other != built and time.time() - other.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


def _compile(folder: Path, *, beside_source: bool = False) -> None:
    """Compile to bytecode that Python does not check against its source: the content of a zip cannot change."""
    mounted_at = "/opt" if (folder / "python").is_dir() else "/var/task"
    subprocess.run(
        [
            sys.executable, "-m", "compileall", "-qq", "-j", "0", *(["-b"] if beside_source else []),
            "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", mounted_at, str(folder),
        ],
        check=False  # a package may carry a file for another Python, which nothing imports
    )  # fmt: skip


def _trim(site_packages: Path, *, commands: bool = False) -> None:
    """Remove files that no function imports: tests, headers, stubs, and commands unless wanted. They are a third."""
    unwanted = [site_packages / name for name in TOP_LEVEL_EXTRAS if not (commands and name == "bin")]
    unwanted += [path for pattern in NEVER_IMPORTED for path in site_packages.rglob(pattern)]
    unwanted += [path for path in site_packages.rglob("tests") if any(path.glob("test_*.py"))]
    unwanted += [site_packages / package / part for package, parts in NEVER_USED.items() for part in parts]
    for path in unwanted:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _keep_bytecode_only(site_packages: Path) -> None:
    """Remove third-party source that has bytecode: without the source, a layer is half as large and starts as fast."""
    for source in site_packages.rglob("*.py"):
        if source.with_suffix(".pyc").is_file():
            source.unlink()


def _digest(parts: Iterable[str]) -> str:
    lines = [RECIPE, MAGIC_NUMBER.hex(), *parts]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _uv(*arguments: str, stdin: str | None = None) -> str:
    reply = subprocess.run(
        [toolchain.uv(), *arguments], cwd=ROOT, input=stdin, capture_output=True, text=True, check=False
    )
    if reply.returncode != 0:
        raise BuildError(f"`uv {' '.join(arguments[:2])}` failed while building a layer: {reply.stderr.strip()}")
    return reply.stdout
