"""The public names of a package, each imported from its module on first use.

So a function or a command loads only the part of a job that it uses. Each name is written once, in a block that type
checkers, editors and the reference read too:

```python
if TYPE_CHECKING:
    from touchstone.checks.findings import Finding as Finding

lazy_exports(__name__)
```

That block never runs. This module reads it from the package's own source file, so that file must be installed.
"""

import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

_BLOCK = re.compile(r"^if TYPE_CHECKING:\n((?: {4}.*\n|\n)+)", re.MULTILINE)
_EXPORT = re.compile(r"^ {4}from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazy_exports(package: str, *, eager: Iterable[str] = ()) -> None:
    """Offer the names that a package imports for type checkers: set its `__getattr__`, `__dir__` and `__all__`.

    `eager` are public names that the package has already. On first use a name becomes an attribute of the package.
    """
    module = sys.modules[package]
    homes = homes_of(module)
    offered = sorted({*homes, *eager})
    module.__dict__.update(__getattr__=_getter(module, homes), __dir__=lambda: offered, __all__=offered)


def homes_of(module: "ModuleType") -> dict[str, str]:
    """By the name of each lazy export, the module that it is imported from."""
    with open(str(module.__file__), encoding="utf-8") as file:  # noqa: PTH123 - every start of a function pays for this
        block = _BLOCK.search(file.read())
    return {name: home for home, name in _EXPORT.findall(block[1])} if block else {}


def _getter(module: "ModuleType", homes: dict[str, str]) -> Callable[[str], object]:
    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    return get
