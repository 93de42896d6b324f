"""The public names of a package, each imported from its module when it is first asked for.

A function, or a command, then pays for the part of a job alone that it uses.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module


class Face:
    """A package's `__getattr__`: where each name that it offers is at home.

    `modules` names the modules of the package, or others by their whole name (`touchstone.usage`), with what is offered
    of each. A name that was asked for once is the package's own from then on. Raises `AttributeError` for any other.
    """

    def __init__(self, package: str, modules: Mapping[str, Sequence[str]]) -> None:
        self._package = package
        self.homes = {
            name: module if module.startswith("touchstone.") else f"{package}.{module}"
            for module, names in modules.items()
            for name in names
        }

    def __call__(self, name: str) -> object:
        """What is offered under a name."""
        if name not in self.homes:
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        value: object = getattr(import_module(self.homes[name]), name)
        setattr(import_module(self._package), name, value)
        return value
