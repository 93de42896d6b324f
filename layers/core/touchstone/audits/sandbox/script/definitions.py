"""What a script defines itself: its functions and classes, and what instances of its classes hold."""

import ast
from collections.abc import Sequence
from functools import cached_property

from touchstone.audits.sandbox.script.dependence import (
    Function,
    ProofScript,
    is_lazy,
    last_name,
    names_in,
    own_parts,
    passed_to,
)

_MAKING = frozenset({
    "__init__", "__new__", "__slots__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__",
})  # fmt: skip
"""Names in a class by which it decides itself how it is called, and which attributes its instances have."""


class OwnDefinitions:
    """The functions and classes of a script: what they return, and how the classes make and fill their instances."""

    def __init__(self, source: ProofScript) -> None:
        self._source = source
        self._own: dict[str, list[ast.expr] | None] = {}

    def is_own(self, function: ast.AST) -> bool:
        """Whether `function` is the name of a function that the script defines."""
        return self.returned(function) is not None

    def returned(self, function: ast.AST) -> list[ast.expr] | None:
        """The expressions that a function of the script returns; None if the script does not define the function."""
        if not isinstance(function, ast.Name):
            return None
        if function.id not in self._own:
            values = self._source.bindings.get(function.id, [])
            made = [value for value in values if isinstance(value, Function | ast.Lambda)]
            self._own[function.id] = [each for value in made for each in _returned_by(value)] if made else None
        return self._own[function.id]

    def is_only_code(self, name: str) -> bool:
        """Whether a name holds a function of the script's that is not called there, and nothing else."""
        values = self._source.bindings.get(name, [])
        return all(
            isinstance(each, ast.Lambda) or (isinstance(each, Function) and not each.decorator_list) for each in values
        ) and bool(values)

    def names(self, kind: str) -> bool:
        """Whether the script names something so that is not the target's: its own class, or one of Python's."""
        return kind in self._named

    @cached_property
    def _named(self) -> frozenset[str]:
        nodes = [each for each in self._source.nodes if not self._source.depends(each)]
        texts = [each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return frozenset({*map(last_name, nodes), *(each.name for each in self._classes), *texts})

    def says_how_called(self, function: ast.AST) -> bool:
        """Whether `function` is a class of the script's that says itself how it is called, or a method of one."""
        if isinstance(function, ast.Attribute):
            return function.attr in self._methods and id(function.value) in self._of_own_classes
        values = self._source.bindings.get(function.id, []) if isinstance(function, ast.Name) else []
        return any(isinstance(each, ast.ClassDef) and makes_instances(each) for each in values)

    def holds_own(self, node: ast.Attribute) -> bool:
        """Whether an attribute of an instance of the script's classes holds, or may hold, nothing of the target's."""
        return node.attr in self._own_values and id(node.value) in self._of_own_classes

    def has_method(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a method of the script's own classes that uses nothing of the target."""
        return node.attr in self._methods and self.holds_own(node)

    @cached_property
    def returned_by_methods(self) -> dict[str, list[ast.expr]]:
        """By the name of the methods of the script's classes: the expressions that they return."""
        return {
            name: [value for each in several for value in _returned_by(each)]
            for name, several in self._methods.items()
            if not any(map(is_lazy, several))
        }

    def made_halfway(self, name: str) -> bool:
        """Whether a class of the script's is made from one of the target's, whose `__init__` its own does not call."""
        return any(
            node.name == name
            and any(map(self._source.depends, node.bases))
            and any(isinstance(each, Function) and each.name == "__init__" and _is_alone(each) for each in node.body)
            for node in self._classes
        )

    @cached_property
    def own_members(self) -> frozenset[str]:
        """The attributes that the script's classes give a value of their own."""
        return frozenset(
            name
            for node in self._classes
            for each in node.body
            for name in names_in(each)
            if not self._source.depends(each)
        )

    @cached_property
    def _own_values(self) -> frozenset[str]:
        """The attributes of instances of the script's classes that hold, or may hold, nothing of the target's.

        They are methods that use nothing of it, and what a class that has nothing of it sets itself.
        """
        found = {name for name, several in self._methods.items() if not any(map(self._uses_target, several))}
        plain = [
            node for node in self._classes if not any(map(self._source.depends, [*node.bases, *node.decorator_list]))
        ]
        for node in plain:
            for each in ast.walk(node):
                if isinstance(each, ast.Assign) and not (self._source.depends(each.value) or _is_none(each.value)):
                    names = {part.id for part in ast.walk(each.value) if isinstance(part, ast.Name)}
                    places = [one for one in each.targets if isinstance(one, ast.Attribute | ast.Name)]
                    if names.isdisjoint(self._given_to.get(node.name, ())):
                        found |= {one.attr if isinstance(one, ast.Attribute) else one.id for one in places}
        return frozenset(found)

    @cached_property
    def _of_own_classes(self) -> set[int]:
        """The identities of all syntax that uses a class of the script's, or an instance in its own methods."""
        methods = [each for several in self._methods.values() for each in several]
        return self._source.reached(self._classes, {one.arg for each in methods for one in each.args.args[:1]})

    @cached_property
    def _classes(self) -> list[ast.ClassDef]:
        return [node for node in self._source.nodes if isinstance(node, ast.ClassDef)]

    @cached_property
    def _methods(self) -> dict[str, list[Function]]:
        """By name: the methods of the script's classes."""
        found: dict[str, list[Function]] = {}
        for each in (part for node in self._classes for part in node.body):
            if isinstance(each, Function):
                found.setdefault(each.name, []).append(each)
        return found

    @cached_property
    def _given_to(self) -> dict[str, set[str]]:
        """By the name of a class of the script's: the parameters of its `__init__` that are given the target's."""
        made = {
            node.name: each
            for node in self._classes
            for each in node.body
            if isinstance(each, Function) and each.name == "__init__"
        }
        found: dict[str, set[str]] = {}
        for call in self._source.nodes:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in made:
                given = passed_to(made[call.func.id], call, skipped=1)
                names = {name for name, value in given if self._source.depends(value)}
                if names:
                    found.setdefault(call.func.id, set()).update(names)
        return found

    def _uses_target(self, function: Function) -> bool:
        """Whether a method uses the target, or the instance of a class that the target makes or that is given of it."""
        names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        of = self._source.parents[id(function)]
        made = isinstance(of, ast.ClassDef) and (
            of.name in self._given_to or any(map(self._source.depends, [*of.bases, *of.decorator_list]))
        )
        own = {"super", *(each.arg for each in function.args.args[:1] if made)}
        return self._source.depends(function) or not names.isdisjoint(own)


def makes_instances(node: ast.ClassDef) -> bool:
    """Whether a class says itself what it is called with and which attributes its instances have."""
    return any(name in _MAKING for each in node.body for name in [getattr(each, "name", ""), *names_in(each)])


def _is_alone(function: Function) -> bool:
    """Whether a method calls no other class's method of its name."""
    names = {last_name(each) for each in ast.walk(function)}
    return names.isdisjoint({"super", function.name})


def _returned_by(function: Function | ast.Lambda) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    returned = [each.value for each in own_parts(function) if isinstance(each, ast.Return) and each.value]
    # What gets to the end of a function that returns something elsewhere returns None.
    return [*returned, *([ast.Constant(None)] if returned and not always_leaves(function.body) else [])]


def always_leaves(block: Sequence[ast.stmt]) -> bool:
    """Whether no way leads to the end of a block, as far as the syntax shows it."""
    match block[-1:]:
        case [ast.Return() | ast.Raise()]:
            return True
        case [ast.While(test=ast.Constant(value=True))]:
            return True
        case [ast.If(body=body, orelse=otherwise)]:
            return always_leaves(body) and always_leaves(otherwise)
        case [ast.With(body=body) | ast.AsyncWith(body=body)]:
            return always_leaves(body)
        case [ast.Match(cases=cases)]:
            return all(always_leaves(each.body) for each in cases)
        case [ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=last)]:
            ways = [otherwise or body, *(each.body for each in handlers)]
            return all(map(always_leaves, ways)) or always_leaves(last)
    return False


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
