"""To whom a module, a file or an object belongs: the target, its bundle, the script, or anyone else."""

import os
from types import BuiltinFunctionType, FunctionType, ModuleType, SimpleNamespace

from touchstone.audits.sandbox.inside.objects import function_in, is_among, module_of, mro_of, word_of
from touchstone.audits.sandbox.inside.shared import MODULES

MOCKS = os.path.join(os.path.dirname(os.__file__), "unittest", "mock.py")  # noqa: PTH118, PTH120


def places_of(site_folder: str | None, modules: tuple[str, ...], script: str) -> SimpleNamespace:  # noqa: C901 - no class
    """Functions that tell to whom something belongs. `modules` are the target's, in the bundle at `site_folder`."""

    def place_of_module(name: object) -> str:
        """To whom a module of that name belongs:

        `target`, `bundle` (installed with the target), `script`, `mock` or `elsewhere`.
        """
        if type(name) is not str:
            return "elsewhere"
        if is_targets(name):
            return "target"
        if name == "__main__":
            return "script"
        module = MODULES.get(name)
        return place_of_file(module.__dict__.get("__file__") if type(module) is ModuleType else None)

    def is_targets(name: object) -> bool:
        """Whether a module's name is the target's."""
        return type(name) is str and any(name == module or name.startswith(module + ".") for module in modules)

    def place_of_file(path: object) -> str:
        """To whom a file belongs."""
        if type(path) is not str:
            return "elsewhere"
        if path == script:
            return "script"
        if path == MOCKS:
            return "mock"
        if site_folder is None or not path.startswith(site_folder + "/"):
            return "elsewhere"
        name = path[len(site_folder) + 1 :].removesuffix(".py").replace("/", ".")
        return "target" if is_targets(name) else "bundle"

    def owner_of(thing: object) -> str:
        """To whom an object belongs, by its classes: to the target if one of them is the target's."""
        kinds = mro_of(type(thing))
        if is_among(ModuleType, kinds):
            name = ModuleType.__getattribute__(thing, "__dict__").get("__name__")
            return place_of_module(name) if type(name) is str and MODULES.get(name) is thing else "elsewhere"
        if type(thing) in (FunctionType, BuiltinFunctionType):
            return place_of_module(thing.__module__)
        classes = mro_of(thing) if is_among(type, kinds) else kinds
        places = [place_of_module(word_of(one, module_of)) for one in classes]
        return next((place for place in ("target", "bundle", "script") if place in places), "elsewhere")

    def is_script(value: object) -> bool:
        value = function_in(value)
        if type(value) is FunctionType:
            return value.__code__.co_filename == script
        owner = value if is_among(type, mro_of(type(value))) else type(value)
        return word_of(owner, module_of) == "__main__"

    def is_mock(value: object) -> bool:
        return word_of(value if is_among(type, mro_of(type(value))) else type(value), module_of) == "unittest.mock"

    return SimpleNamespace(
        place_of_module=place_of_module,
        is_targets=is_targets,
        place_of_file=place_of_file,
        owner_of=owner_of,
        is_script=is_script,
        is_mock=is_mock,
    )
