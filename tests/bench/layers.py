"""How large what a function is made of is, that it carries its bytecode, and what the bytecode saves.

    uv run python -m tests.bench.layers

Builds the layers for both architectures (what is built already is taken as it is), and synthesizes the stack to see
which function carries which.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, get_args

from infra import layers, toolchain
from infra.layers import PARTS, Architecture, Code
from infra.settings import Settings

WANTED_MB = 120.0
LAMBDA_MB = 250.0
"""Lambda's own limit of a function and its layers, unzipped."""
MB = 1024 * 1024
SYMPY = ("sympy", "mpmath")
"""sympy, and the only package that it needs."""
ROUNDS = 5
UNCHECKED_HASH = 0b01
"""The flags of bytecode that is found by its source's hash, and taken without reading the source."""
TIMED_IMPORT = (
    "import sys, time; sys.path.insert(0, sys.argv[1]); begun = time.process_time(); import sympy; "
    "print(time.process_time() - begun)"
)


def size_mb(folder: Path) -> float:
    """What all files of a folder hold."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MB


def carried() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The handler of each function in the synthesized stack, and the parts that it is made of."""
    template = synthesized()["Resources"]
    names = {
        logical_id: str(resource["Properties"]["Description"]).removeprefix("Touchstone: ")
        for logical_id, resource in template.items()
        if resource["Type"] == "AWS::Lambda::LayerVersion"
    }
    for resource in template.values():
        found = resource.get("Properties", {})
        if resource["Type"] == "AWS::Lambda::Function" and str(found.get("Handler", "")).startswith("functions."):
            yield found["Handler"], ("functions", *(names[layer["Ref"]] for layer in found["Layers"]))


def synthesized() -> dict[str, Any]:
    """The template of the stack, its parts stood in for by empty ones."""
    os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()
    from aws_cdk import App

    from infra.stack import TouchstoneStack

    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch) / name for name in PARTS}
        for folder in folders.values():
            folder.mkdir()
            (folder / "empty.py").touch()
        app = App(outdir=str(Path(scratch) / "cdk.out"))
        TouchstoneStack(app, settings=Settings(), code=Code(**folders))
        template: dict[str, Any] = app.synth().get_stack_by_name("Touchstone").template
        return template


def without_bytecode(folder: Path) -> list[Path]:
    """The modules that would be compiled at a cold start: no bytecode of this Python, or one that a zip invalidates."""
    compiled = [path for path in folder.rglob("*.pyc") if not _serves(path)]
    sources = [
        path
        for path in folder.rglob("*.py")
        if not (path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc").is_file()
    ]
    return compiled + sources


def _serves(bytecode: Path) -> bool:
    with bytecode.open("rb") as file:
        head = file.read(8)
    return head[:4] == MAGIC_NUMBER and int.from_bytes(head[4:], "little") == UNCHECKED_HASH


def import_seconds(folder: Path) -> float:
    """The median CPU time of importing sympy from a folder, with nothing of this environment on the path."""
    command = [sys.executable, "-I", "-S", "-B", "-c", TIMED_IMPORT, str(folder)]
    return statistics.median(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(ROUNDS)
    )


def saving(layer: Path) -> float:
    """How many times longer sympy takes to import from its source than from the layer."""
    import sympy

    installed = Path(sympy.__file__).parents[1]
    with tempfile.TemporaryDirectory() as scratch:
        for package in SYMPY:
            shutil.copytree(installed / package, Path(scratch) / package, ignore=shutil.ignore_patterns("*.pyc"))
        return import_seconds(Path(scratch)) / import_seconds(layer / "python")


def report(parts: Mapping[str, float], functions: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    """The sizes of one architecture: of each part, and of each function with its layers."""
    print("  " + ", ".join(f"{name} {size:.1f} MB" for name, size in parts.items()))
    sizes: dict[tuple[str, ...], list[str]] = {}
    for handler, made_of in functions:
        sizes.setdefault(made_of, []).append(handler.removeprefix("functions.").removesuffix(".handler"))
    for made_of, names in sizes.items():
        size = sum(parts[name] for name in made_of)
        shares = f"{size / WANTED_MB:.2f} of {WANTED_MB:.0f} MB, {size / LAMBDA_MB:.2f} of Lambda's limit"
        print(f"  {' + '.join(made_of)}: {size:.1f} MB, {shares} ({', '.join(sorted(names))})")


def main() -> None:
    """Build, measure and print."""
    functions = list(carried())
    architectures: tuple[Architecture, ...] = get_args(Architecture.__value__)
    for architecture in architectures:
        code = layers.build(architecture)
        folders: dict[str, Path] = {name: getattr(code, name) for name in PARTS}
        print(architecture)
        report({name: size_mb(folder) for name, folder in folders.items()}, functions)
        lacking = [path for folder in folders.values() for path in without_bytecode(folder)]
        print(f"  modules that a cold start would compile: {len(lacking)}")
        for path in lacking:
            print(f"    {path.relative_to(layers.ROOT)}")
        checks = code.checks
    print(f"sympy from its source takes {saving(checks):.1f} times as long to import as from the layer (CPU)")


if __name__ == "__main__":
    main()
