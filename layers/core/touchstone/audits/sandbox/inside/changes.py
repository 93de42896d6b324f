"""What a script changed of the library, which is known as it was before the script ran."""

import contextlib
import importlib
import importlib.machinery
import os
import site
import sys
from collections.abc import Callable
from os import stat
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from touchstone.audits.sandbox.inside.exceptions import text_of
from touchstone.audits.sandbox.inside.objects import (
    contents_of,
    dict_of,
    dotted,
    function_in,
    is_among,
    is_module,
    made_of,
    module_of,
    mro_of,
    name_of,
    word_of,
)
from touchstone.audits.sandbox.inside.shared import MAX_FAULTS, MODULES, RAW_MEMORY, RENAMER, Holder
from touchstone.audits.sandbox.inside.syntax import ONLY_SYNTAX, bound_in, set_on

LOOKING = ("dataclasses", "enum", "importlib.metadata", "importlib.util", "inspect", "pkgutil", "typing")
"""Python's own modules by which a script looks into a library. The script must not change them."""
BINDING_BY_TEXT = (b"exec(", b"globals(", b"setattr", b"__dict__", b"vars(", b"locals(")
"""Words of a file that may bind names which do not stand in it."""
COPIED = (("matplotlib.backends", "", "backend"), "matplotlib", "rcParams")
"""What a library adds late and holds elsewhere as well: its place, and the module and name of the dictionary that has
the same by the same key. pyplot does it when it makes the first figure."""
FROZEN = ("ntpath", "runpy", "zipimport")
"""Python's own modules that are not in files. They are imported before the script, which must not unmarshal code."""
FUNCTION_NAME = FunctionType.__dict__["__name__"].__get__
META_PATH, PATH_HOOKS = sys.meta_path, sys.path_hooks
NAMESPACE = type(importlib.machinery.NamespaceLoader("", [], None)._path)  # type: ignore[attr-defined,arg-type]  # noqa: SLF001


def changes_of(  # noqa: C901, PLR0915 - no class
    site_folder: str | None,
    modules: tuple[str, ...],
    places: SimpleNamespace,
    *,
    set_by_script: set[str],
    is_of_file: Callable[[CodeType], bool],
) -> SimpleNamespace:
    """Functions that import the target, and later tell what was changed of it.

    `set_by_script` are the names that the script sets, and `is_of_file` tells whether code is of the file it names.
    """
    place_of_module, is_targets, is_script, is_mock = (
        places.place_of_module,
        places.is_targets,
        places.is_script,
        places.is_mock,
    )
    names: dict[str, ModuleType] = {}
    before: dict[Holder, dict[str, object]] = {}
    known: dict[str, ModuleType] = {}
    made: list[tuple[str, object, tuple[object, ...]]] = []
    answering: list[str] = []
    classes: dict[int, Holder] = {}
    set_in: dict[str, set[tuple[str, ...]]] = {}

    def enter() -> dict[str, str]:
        """Import the target and remember its parts.

        Returns by module name why a module could not be imported. Without a folder of the target, nothing is imported.
        """
        for name in FROZEN:
            importlib.import_module(name)
        if site_folder is None:
            return {}
        forget_raw_memory()  # a library gets its own, and not this file's
        sys.path.insert(0, site_folder)
        site.addsitedir(site_folder)
        failures: dict[str, str] = {}
        for name in modules:
            try:
                names[name] = importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - whatever the library raises, its import failed
                failures[name] = text_of(error)
        answering.extend(name for name, module in names.items() if _has_every_name(module))
        _finish([function_in(one) for _, held in holders() for one in held.values()])
        for name in LOOKING:
            importlib.import_module(name)
        for name in {name for _, held in holders() for name, one in held.items() if stands_for(one) == name}:
            with contextlib.suppress(BaseException):  # it may be none of Python's on this machine
                if name in sys.stdlib_module_names and name not in RAW_MEMORY:
                    importlib.import_module(name)
        if RENAMER[0].partition(".")[0] in MODULES:
            with contextlib.suppress(BaseException):  # a library may have put anything in its place
                importlib.import_module(RENAMER[0])
        forget_raw_memory()
        classes.clear()
        before.update(holders())
        for (module, owner), held in before.items():
            if place_of_module(module) == "target":
                made.extend((dotted(module, owner, name), one, made_of(one)) for name, one in held.items())
        made[:] = [one for one in made if one[2]]
        known.update(MODULES)
        return failures

    def forget_raw_memory() -> None:
        """Make the next import of such a module an import indeed, which the guard sees."""
        for name in [name for name in MODULES if name.partition(".")[0] in RAW_MEMORY]:
            del MODULES[name]

    def faults() -> list[str]:
        """What the script has changed of the things by which it is judged.

        These are the library, and the parts that every Python program consists of.
        """
        if site_folder is None:
            return []
        now = dict(holders())
        found: list[str] = []
        for holder, held in before.items():
            left = now.get(holder, {})
            get = left.get
            for name, value in [(name, one) for name, one in held.items() if get(name) is not one]:
                if _is_fixed(name, value) and not replaces_itself(*holder, name, value, get(name)):
                    found.append(f"{dotted(*holder, name)} was replaced")
                found += [f"{dotted(*holder, name)} is the script's own"] * is_script(get(name))
        places = {module: place_of_module(module) for module, owner in now if not owner}
        for (module, owner), held in now.items():
            place = places.get(module) or place_of_module(module)
            if place in ("target", "bundle") or module not in known:
                known_here = before.get((module, owner))
                for name in held.keys() - (known_here or {}).keys():
                    mock = place not in ("mock", "elsewhere") and is_mock(held[name])
                    found += [f"{dotted(module, owner, name)} is the script's own"] * (mock or is_script(held[name]))
                    if place == "target" and known_here is not None and _is_added(name, held[name]):
                        by_itself = adds_itself(now, module, owner, name)
                        found += [f"{dotted(module, owner, name)} was added"] * (not by_itself)
        found += [f"{name} was changed" for name, function, parts in made if made_of(function) != parts]
        late = [(name, one) for name, one in loaded() if name not in known and is_targets(name)]
        found += [f"{dotted(name, one)} was {done}" for name, module in late for one, done in altered(name, module)]
        found += [f"{name} is no module of the bundle" for name, one in list(MODULES.items()) if is_foreign(name, one)]
        found += [f"sys.{where} is the script's own" for where, one in finders() if is_script(one)]
        return found[:MAX_FAULTS]

    def replaces_itself(module: str, owner: str, name: str, old: Any, new: Any) -> bool:
        """Whether a library puts this in the place of what was there by itself.

        It is the module for which another stands until it is used, or a module of a package in the place of one of the
        same name from elsewhere. Or it is a function of a class in the place of another of it, where a statement of the
        file does just that.
        """
        if is_module(old) and is_module(new) and not owner:
            path, told = dotted(module, name), _told_name(new)
            if stands_for(old) == name == told:
                return is_found(new, path)
            return path == told and path not in known and is_found(new, path)
        held = before[module, owner] if owner and type(new) is FunctionType and name not in set_by_script else {}
        others = [other for other, one in held.items() if one is new]
        return any(sets_itself(module, owner, name, other) for other in others)

    def stands_for(module: Any) -> str | None:
        """The name of the module for which an object of a class of the library's stands until it is used."""
        kind = type(module)
        if kind is ModuleType or not is_module(module):
            return None
        return _told_name(module) if place_of_module(word_of(kind, module_of)) in ("target", "bundle") else None

    def adds_itself(now: dict[Holder, dict[str, object]], module: str, owner: str, name: str) -> bool:
        """Whether a library adds this by itself.

        It is a module that was found where its name says, or a function of the library sets what has this name. Or a
        module that answers for others keeps what they hold.
        """
        value = now[module, owner][name]
        if is_module(value) and is_found(value, dotted(module, owner, name)):
            return True
        if (module, owner, name) == COPIED[0]:
            source: Any = known[COPIED[1]].__dict__.get(COPIED[2]) if COPIED[1] in known else None
            kept = dict.get(source, name) if is_among(dict, mro_of(type(source))) else None
            return type(kept) is str and type(value) is str and kept == value and name not in set_by_script
        if name not in set_by_script and (sets_itself(module, owner, name) or extends(module, owner, name, value)):
            return True
        if owner or "__getattr__" not in before[module, ""]:
            return False
        return any(
            held.get(name) is value and (other not in known or name in before[other, ""])
            for (other, inner), held in now.items()
            if not inner and other != module and place_of_module(other) in ("target", "bundle")
        )

    def extends(module: str, owner: str, name: str, value: Any) -> bool:
        """Whether a class has a registry of its own, with all that is in the one of its base, whose file sets it."""
        kind = before[module, ""].get(owner)
        for base in mro_of(kind)[1:] if is_among(type, mro_of(type(kind))) else ():
            inherited: Any = dict_of(base).get(name)
            if type(inherited) in (dict, list, set):
                whole = type(value) is type(inherited) and all(one in value for one in inherited)
                return whole and sets_itself(word_of(base, module_of) or "", word_of(base, name_of) or "", name)
        return False

    def sets_itself(module: str, owner: str, name: str, *to: str) -> bool:
        """Whether a function in the file of a module sets this, as an attribute of a class or as a global name.

        `to`: only where it is set to the attribute of that name of the same class.
        """
        path = before.get((module, ""), {}).get("__file__")
        if module not in set_in:
            try:
                with open(str(path), "rb") as file:  # noqa: PTH123
                    tree = compile(file.read(), str(path), "exec", ONLY_SYNTAX, dont_inherit=True)
                set_in[module] = set_on(tree)
            except (OSError, SyntaxError, ValueError):
                set_in[module] = set()
        places = ("cls", owner.rpartition(".")[2]) if owner else ("",)
        return any((place, name, *to) in set_in[module] for place in places)

    def altered(name: str, module: ModuleType) -> list[tuple[str, str]]:
        """What the script set of a module of the library that it imported itself, if that stands otherwise in its file.

        These are functions and methods whose name the file binds once, without a decorator, and names that it does not
        bind at all; in a file that binds no names by text.
        """
        path, held = module.__dict__.get("__file__"), contents_of(module.__dict__)
        kinds = [dict_of(one) for one in held.values() if type(one) is type]
        if not any(one in each for each in (held, *kinds) for one in set_by_script):
            return []
        try:
            with open(str(path), "rb") as file:  # noqa: PTH123
                text = file.read()
            if any(word in text for word in BINDING_BY_TEXT):
                return []
            bound, plain = bound_in(compile(text, str(path), "exec", ONLY_SYNTAX, dont_inherit=True))
        except (OSError, SyntaxError, ValueError):
            return []
        if "*" in bound:
            return []
        replaced = []
        for owner, own in [(owner, one) for owner, one in plain if one in set_by_script or owner in set_by_script]:
            of = held.get(owner) if owner else None
            if owner and type(of) is not type and is_among(type, mro_of(type(of))):
                continue  # a class of a class may do anything with the functions that it is given
            one = (held if not owner else contents_of(dict_of(of)) if type(of) is type else {}).get(own)
            code = one.__code__ if type(one) is FunctionType else None
            if code is None or code.co_filename != path or code.co_name != own or not is_of_file(code):
                replaced.append(dotted(owner, own))
        added = [
            own
            for own, one in held.items()
            if own in set_by_script
            and own[:1] != "_"
            and own not in bound
            and not (is_module(one) and is_found(one, dotted(name, own)))
        ]
        return [(one, "replaced") for one in replaced] + [(one, "added") for one in added]

    def is_found(module: Any, added_as: str) -> bool:
        """Whether a module was there before the script, or comes from the file of the bundle that a name of it says."""
        names = [one for one in (_told_name(module), added_as) if type(one) is str and MODULES.get(one) is module]
        return any(
            known.get(one) is module or (place_of_module(one) in ("target", "bundle") and not is_elsewhere(one, module))
            for one in names
        )

    def is_foreign(name: object, module: object) -> bool:
        """Whether a module has a name of the target but does not come from the target's files."""
        if site_folder is None or place_of_module(name) != "target" or name in known:
            return False
        return is_elsewhere(str(name), module)

    def is_elsewhere(name: str, module: object) -> bool:
        """Whether a module does not come from the file that its name says."""
        if type(module) is not ModuleType:
            kind = type(module)
            of = word_of(kind, module_of)
            holder = MODULES.get(of) if of is not None else None
            held = dict(ModuleType.__getattribute__(holder, "__dict__")) if is_module(holder) else {}
            return place_of_module(of) not in ("target", "bundle") or not any(one is kind for one in held.values())
        told = module.__dict__.get("__name__")
        if not is_targets(name) and told != name and type(told) is str and MODULES.get(told) is module:
            return is_foreign(told, module)  # Cython gives its modules a short name as well
        if is_part_of_native(name, module):
            return False
        path, start = module.__dict__.get("__file__"), f"{site_folder}/{name.replace('.', '/')}"
        if path is None:
            return type(module.__dict__.get("__path__")) is not NAMESPACE
        if type(path) is not str or not _exists(path):
            return True
        return path not in (f"{start}.py", f"{start}/__init__.py") and not (path.startswith(start) and ".so" in path)

    def is_part_of_native(name: str, module: ModuleType) -> bool:
        """Whether a module is what a module in machine code made together with itself, as those of pybind11 do."""
        above, _, last = name.rpartition(".")
        parent = MODULES.get(above)
        held = parent.__dict__ if type(parent) is ModuleType else {}
        path, own = held.get("__file__"), module.__dict__.get("__file__")
        native = type(path) is str and ".so" in path and own in (None, path)
        if above in known or not native or held.get(last) is not module or is_foreign(above, parent):
            return False
        try:
            with open(str(path), "rb") as file:  # noqa: PTH123
                text = file.read()
        except OSError:
            return False
        # The file knows the names of what it makes.
        names = [last, *[one for one in contents_of(module.__dict__) if one[:2] != "__"]]
        return all(f"{one}\0".encode(errors="replace") in text for one in names)

    def finders() -> list[tuple[str, object]]:
        """The objects that find modules for the interpreter, each with the name of its list in `sys`."""
        return [("meta_path", one) for one in list(META_PATH)] + [("path_hooks", one) for one in list(PATH_HOOKS)]

    def holders() -> list[tuple[Holder, dict[str, object]]]:
        """Everything that modules and classes hold, by name: those of the target, of its bundle, and of Python."""
        found: list[tuple[Holder, dict[str, object]]] = []
        later: list[tuple[Holder, dict[str, object]]] = []  # they come first: none takes the place of what was there
        are_classes: dict[int, bool] = {}  # by the identity of their class, which lives as long as what is found
        done: set[int] = set()
        for module_name, module in loaded():
            held = contents_of(module.__dict__)
            found.append(((module_name, ""), held))
            for value in held.values():
                kind = id(type(value))
                if kind not in are_classes:
                    are_classes[kind] = is_among(type, mro_of(type(value)))
                if not are_classes[kind] or id(value) in done:
                    continue
                # A library may say later that a class is of another module. It stays the class that it was.
                if id(value) in classes or word_of(value, module_of) == module_name:
                    done.add(id(value))
                    among = found if id(value) in classes else later
                    holder = classes.setdefault(id(value), (module_name, word_of(value, name_of) or ""))
                    among.append((holder, contents_of(dict_of(value))))
        return later + found

    def loaded() -> list[tuple[str, ModuleType]]:
        found = [(name, one) for name, one in list(MODULES.items()) if type(one) is ModuleType and type(name) is str]
        return [(name, one) for name, one in found if name not in ("__main__", "__mp_main__")]

    return SimpleNamespace(enter=enter, faults=faults, names=names, answering=answering)


def _finish(waiting: list[Any]) -> None:
    """Have a library's functions given their code that get it when they are first called, before any script runs.

    Such a function is given itself by a default, and may wrap another. None has the keyword that it is called with.
    """
    seen = set()
    for one in waiting:
        given = one.__kwdefaults__ if type(one) is FunctionType and id(one) not in seen else None
        seen.add(id(one))
        if given is not None and any(value is one for value in given.values()):
            with contextlib.suppress(BaseException):
                one(**{"touchstone_" + os.urandom(8).hex(): None})
            with contextlib.suppress(BaseException):
                waiting += [one.__wrapped__, *vars(one.__wrapped__).values()]


def _told_name(module: Any) -> Any:
    """What a module says that its name is."""
    return ModuleType.__getattribute__(module, "__dict__").get("__name__")


def _has_every_name(module: ModuleType) -> bool:
    with contextlib.suppress(BaseException):
        getattr(module, "touchstone_" + os.urandom(8).hex())
        return True
    return False


def _exists(path: str) -> bool:
    try:
        stat(path)  # noqa: PTH116 - bound before the script ran
    except (OSError, ValueError):
        return False
    return True


def _is_added(name: str, value: Any) -> bool:
    """Whether the script added this, because a library does not add it by itself.

    By itself a library adds classes and functions when they are asked for.
    """
    if name in ("__getattr__", "__getattribute__"):
        return True
    if name.startswith("_"):
        return False
    if is_among(type, mro_of(type(value))):
        return (word_of(value, name_of) or "").rpartition(".")[2] != name
    return type(value) is not FunctionType or word_of(value, FUNCTION_NAME) != name


def _is_fixed(name: str, value: object) -> bool:
    """Whether a library does not change this by itself, as it changes its caches and counters."""
    kinds = mro_of(type(value))
    if any(
        is_among(kind, kinds)
        for kind in (type, ModuleType, FunctionType, BuiltinFunctionType, staticmethod, classmethod, property)
    ):
        return True
    return name.isupper() and any(is_among(kind, kinds) for kind in (str, bytes, int, float, tuple, frozenset))
