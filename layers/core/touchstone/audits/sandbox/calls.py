"""Which functions of a script ran, read from what calls them: what is asserted in one that never ran says nothing.

The script is read once. It begins with its main part. A function that a part uses by its name is a part as well, from
then on; so is one whose name stands in a text, if the script looks names up. What other code may call counts as called.
"""

import ast
import re
from collections.abc import Callable, Sequence
from functools import cached_property

from touchstone.audits.sandbox.dependence import Function, ProofScript, own_parts

_BY_TEXT = frozenset({"getattr", "eval", "exec", "globals", "locals", "vars"})
"""Built-in functions that find a function of the script by a text."""
_NAMESPACES = frozenset({"globals", "locals", "vars"})
"""Built-in functions that return all names of a part of the script with their values."""
_SHOWING = frozenset(
    {"print", "len", "repr", "str", "type", "id", "bool", "isinstance", "sorted", "list", "set", "tuple"}
)
"""Built-in functions that call nothing of what they are given."""
_HARMLESS = frozenset({*dir(str), *dir(list), *dir(dict)}) - {"sort"}
"""Methods of texts, lists and dictionaries that call nothing of what they hold or are given."""
_FORKING = frozenset({"multiprocessing", "ProcessPoolExecutor", "fork", "subprocess", "Process"})
"""Names by which a script starts processes."""
_KEEPING = frozenset({"keys", "update", "setdefault", "pop", "get"})
"""Methods of a dictionary that call nothing of what it holds."""


class FunctionsThatRan:
    """The functions of a script, and which of them ran.

    `is_of_target` says whether a value is the target's, and `is_unittests` whether unittest calls what a class defines.
    """

    def __init__(
        self,
        source: ProofScript,
        is_of_target: Callable[[ast.AST], bool],
        is_unittests: Callable[[ast.ClassDef], bool],
    ) -> None:
        self._source = source
        self._is_of_target = is_of_target
        self._is_unittests = is_unittests

    def uses(self, function: Function) -> list[ast.expr]:
        """Where the name of a function is used so that the function may run.

        A call of a coroutine or of a generator whose value is dropped runs nothing of it.
        """
        lost = self._dropped if _is_lazy(function) else frozenset()
        return [each for each in self._uses.get(function.name, ()) if id(each) not in lost]

    def missed(self, ran: Sequence[int] | None) -> str | None:
        """Which function of the script asserts something of the target and never ran, as a sentence; None if none.

        `ran` are the first lines of the functions that did, of those that are tests or assert something; None if that
        is not known. What ran is not read from the syntax, which cannot show every call.
        """
        if ran is not None and not self._has_children():
            for node in self._source.nodes:
                if isinstance(node, Function) and _is_test(node) and _first_line(node) not in ran:
                    return f"What is asserted in {node.name} never ran: nothing calls it."
        if self._may_call_any():
            return None
        dead = self._dead()
        failing = [node for node in self._source.nodes if isinstance(node, ast.Assert)]
        asserting = self._source.holding(failing)
        of_target = self._source.holding(each for each in failing if self._source.depends(each.test))
        for node in dead if ran is None else (each for each in dead if _first_line(each) not in ran):
            calls = [each for each in self._uses.get(node.name, ()) if _is_lazy(node) and id(each) in self._dropped]
            if calls and self._source.depends(node):
                line = calls[0].lineno
                if isinstance(node, ast.AsyncFunctionDef):
                    return f"What is in {node.name} never ran: the call in line {line} is not awaited."
                return f"What is in {node.name} never ran: the call in line {line} is not iterated."
            if id(node) in (asserting if node.name.startswith("test") else of_target):
                return f"What is asserted in {node.name} never ran: nothing calls it."
        return None

    def _has_children(self) -> bool:
        """Whether the script may start processes of its own, in which functions run unseen."""
        return any(
            getattr(node, "id", None) in _FORKING
            or getattr(node, "attr", None) in _FORKING
            or (isinstance(node, ast.alias) and node.name.partition(".")[0] in _FORKING)
            for node in self._source.nodes
        )

    def _dead(self) -> list[Function]:
        """The functions that nothing calls which ran."""
        owners = {id(each): node for node in self._source.nodes if isinstance(node, ast.ClassDef) for each in node.body}
        dead = {
            id(node): node
            for node in self._source.nodes
            if isinstance(node, Function)
            and not _is_decorated(node)
            and not self._may_be_called(node, owners.get(id(node)))
        }
        bodies = {id(each) for node in dead.values() for each in node.body}
        inside: dict[int, int | None] = {}  # by identity: the function of `dead` in whose body the syntax is
        for node in self._source.nodes:
            owner = self._source.parents[id(node)]
            inside[id(node)] = (id(owner) if id(node) in bodies else inside.get(id(owner))) if owner else None
        calls: dict[int | None, set[tuple[str, bool]]] = {}  # by where they are: names that are used, and if in vain
        for name, uses in self._uses.items():
            for use in uses:
                calls.setdefault(inside[id(use)], set()).add((name, id(use) in self._dropped))
        ways: dict[tuple[str, bool], list[int]] = {}
        within: dict[int | None, list[int]] = {}
        for node in dead.values():
            within.setdefault(inside[id(node)], []).append(id(node))
            for in_vain in (False, True)[: 1 if _is_lazy(node) else 2]:
                ways.setdefault((node.name, in_vain), []).append(id(node))
        called: set[int] = set()
        running: set[int | None] = set()
        waiting: list[int | None] = [None]
        while waiting:
            part = waiting.pop()
            running.add(part)
            waiting += [each for each in within.get(part, ()) if each in called]
            fresh = {each for way in calls.get(part, ()) for each in ways.pop(way, ())} - called
            called |= fresh
            waiting += [each for each in fresh if inside[each] in running]
        return [node for node in dead.values() if id(node) not in called]

    @cached_property
    def _uses(self) -> dict[str, list[ast.expr]]:
        """By the name of a function: where it is used, or stands in a text of a script that looks names up."""
        found: dict[str, list[ast.expr]] = {node.name: [] for node in self._source.nodes if isinstance(node, Function)}
        looks_up = any(isinstance(node, ast.Name) and node.id in _BY_TEXT for node in self._source.nodes)
        for node in self._source.nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name in found:
                    found[name].append(node)
                case ast.Attribute(attr=name, value=value) if name in found and not self._is_of_target(value):
                    found[name].append(node)
                case ast.Constant(value=str(text)) if looks_up:
                    for name in found.keys() & set(re.findall(r"\w+", text)):
                        found[name].append(node)
        return found

    def _may_call_any(self) -> bool:
        """Whether a function may be called by a name that the syntax does not show."""
        found: list[ast.AST] = []
        for node in self._source.nodes:
            match node:
                case ast.Call(func=ast.Name(id="eval" | "exec"), args=[text, *_]) if not isinstance(text, ast.Constant):
                    return True
                case ast.Call(func=ast.Name(id=name), args=owners) if name in _NAMESPACES:
                    found += [] if any(map(self._is_of_target, owners)) or self._is_only_looked_at(node) else [node]
                case ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_]):
                    found += [] if isinstance(name, ast.Constant) or self._is_of_target(owner) else [node]
                case ast.Attribute(attr="__dict__" | "getmembers", value=value):
                    found += [] if self._is_of_target(value) or self._is_only_looked_at(node) else [node]
        reached = self._source.reached(found) if found else set()
        return any(
            isinstance(node, ast.Call)
            and (any(id(each) in reached for each in node.args) or id(node.func) in reached)
            and not _is_only_showing(node.func)
            for node in self._source.nodes
        )

    def _is_only_looked_at(self, node: ast.AST) -> bool:
        """Whether what all names stand for is used for no more than to show or keep it, or for one name."""
        user = self._source.parents[id(node)]
        match user:
            case ast.Expr() | ast.Compare() | ast.FormattedValue() | ast.For() | ast.comprehension():
                return True
            case ast.Subscript(ctx=how, slice=name):
                return isinstance(name, ast.Constant) or not isinstance(how, ast.Load)
            case ast.Call(func=ast.Name() as function):
                return _is_only_showing(function)
            case ast.Attribute(attr=name):
                call = self._source.parents[id(user)]
                named = isinstance(call, ast.Call) and all(isinstance(each, ast.Constant) for each in call.args[:1])
                return name in _KEEPING and (named or name == "update")
        return False

    @cached_property
    def _loads(self) -> dict[str, list[ast.Name]]:
        """By name: where its value is used."""
        found: dict[str, list[ast.Name]] = {}
        for node in self._source.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    @cached_property
    def _escaping(self) -> frozenset[str]:
        """The names of classes of which other code may have the class itself or an instance."""
        kept: set[int] = set()
        made: set[int] = set()
        instances: dict[str, list[str]] = {}
        for node in self._source.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name() as used)):
                    instances.setdefault(used.id, []).append(name)
                    made.add(id(used))
                case ast.Expr(value=ast.Call(func=ast.Name() as used)):
                    kept.add(id(used))
                case ast.Attribute(value=ast.Name() as used) | ast.Attribute(value=ast.Call(func=ast.Name() as used)):
                    kept.add(id(used))
        loose = {name: {id(each) for each in uses} - kept for name, uses in self._loads.items()}
        given = {name for name, uses in loose.items() if uses - made}
        return frozenset(given | {made for made, names in instances.items() if any(map(loose.get, names))})

    @cached_property
    def _open(self) -> frozenset[int]:
        """The identities of classes all of whose methods other code may call."""
        return frozenset(
            id(node)
            for node in self._source.nodes
            if isinstance(node, ast.ClassDef) and (node.decorator_list or node.keywords or self._is_unittests(node))
        )

    def _may_be_called(self, node: Function, owner: ast.ClassDef | None) -> bool:
        """Whether other code than the script's may call a method, because it has the class or an instance of it."""
        if owner is None or id(owner) in self._open:
            return owner is not None
        used = owner.name in self._loads
        if any(not isinstance(base, ast.Name) or base.id != "object" for base in owner.bases):
            return used or not node.name.startswith("test")
        return used if node.name.startswith("__") else owner.name in self._escaping

    @cached_property
    def _dropped(self) -> frozenset[int]:
        """The functions of calls whose value is not used, by the identity of their syntax."""
        closed = {
            id(node.value) for node in self._source.nodes if isinstance(node, ast.Attribute) and node.attr == "close"
        }
        used = {name for name, uses in self._loads.items() if any(id(each) not in closed for each in uses)}
        found = set()
        for node in self._source.nodes:
            match node:
                case ast.Expr(value=ast.Call(func=function)) | ast.Assert(test=ast.Call(func=function)):
                    found.add(id(function))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)) if name not in used:
                    found.add(id(function))
        return frozenset(found)


def _is_only_showing(function: ast.AST) -> bool:
    """Whether a call of `function` calls nothing of what it is given."""
    match function:
        case ast.Name(id=name):
            return name in _SHOWING | _NAMESPACES
        case ast.Attribute(attr=name):
            return name in _HARMLESS
    return False


def _is_decorated(function: Function) -> bool:
    """Whether a decorator is given the function, which may call it."""
    return any(ast.unparse(each) not in ("staticmethod", "classmethod") for each in function.decorator_list)


def _is_test(function: Function) -> bool:
    """Whether a function is a test that itself asserts something, by a statement or by a method of unittest."""
    return function.name.startswith("test") and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Attribute) and each.attr.startswith("assert"))
        for each in own_parts(function)
    )


def _first_line(function: Function) -> int:
    """The line with which Python says that a function begins."""
    return min(each.lineno for each in (function, *function.decorator_list))


def _is_lazy(function: Function) -> bool:
    """Whether a call runs nothing of the function yet: it is a coroutine or a generator."""
    return isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(each, ast.Yield | ast.YieldFrom) for each in own_parts(function)
    )
