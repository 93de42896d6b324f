"""Which expressions of a script depend on the target, read from its syntax.

An imported name of the target depends on it, and so does everything computed from such a name: names that are bound to
such a value, parameters to which it is passed, functions and classes that use it. Scopes are ignored: a name that is
bound twice counts as dependent everywhere.
"""

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, islice

_LOOKING_UP = ("importlib", "pkgutil")
"""Modules of Python by which a script can look into a library without an import statement."""
EXITS = frozenset({"exit", "_exit", "quit", "SystemExit"})
"""The names by which a script is left."""
_RECORDING = frozenset({"redirect_stdout", "redirect_stderr", "catch_warnings", "assertLogs"})
"""Functions that a `with` calls to record what its block prints, warns of or logs."""
_SAYING = frozenset({
    "print", "pprint", "print_exc", "write", "writelines", "warn", "debug", "info", "warning", "error", "exception",
    "critical", "log",
})  # fmt: skip
"""Functions by which a script says something that is recorded."""
_SETTING = ("setattr", "__setattr__")
"""Functions that set an attribute of what they are given first."""
_ASKING_FOR_WARNINGS = frozenset({"simplefilter", "filterwarnings", "resetwarnings"})
"""Functions without which Python leaves out many warnings."""
_MOST_FLAGS = 8
"""Most names of one `try` that are read as telling whether it raised: the time to read them grows with their number."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
"""What a `def` makes."""
type Span = tuple[int, int, int, int]


class ProofScript:
    """A script as written. `modules` are the names by which the target is imported."""

    def __init__(self, text: str, modules: Sequence[str]) -> None:
        self._modules = (*modules, *_LOOKING_UP)
        try:
            self.nodes: list[ast.AST] = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.nodes = []
        self.parents: dict[int, ast.AST | None] = dict.fromkeys(map(id, self.nodes[:1]))
        """By the identity of each piece of syntax: the piece that it is a part of."""
        self.parents |= {id(part): node for node in self.nodes for part in ast.iter_child_nodes(node)}
        self._functions = {node.name: node for node in self.nodes if isinstance(node, Function)}
        self._parameters = {name: parameters_of(node) for name, node in self._functions.items()}
        self._imported = {name for node in self.nodes for name in self._bound_by_import(node)}
        self._recorded = self._recordings()
        self._dependent = self.reached((), self._imported)
        self._passed_on = self._given_away()
        self.bindings: dict[str, list[ast.AST]] = {}
        """By name: every value to which the name is bound anywhere, as an expression or as the statement that makes
        it."""
        for node in self.nodes:
            for name, value in self._given(node):
                self.bindings.setdefault(name, []).append(value)

    def node_at(self, span: Span) -> ast.AST | None:
        """The smallest piece of syntax that covers `span` (lines from 1, columns in bytes from 0).

        None if none covers it.
        """
        return self._smallest(span, self.nodes)

    def statement_at(self, span: Span) -> ast.AST | None:
        """The innermost statement that covers `span`; None if none covers it."""
        return self._smallest(span, (node for node in self.nodes if isinstance(node, ast.stmt)))

    def is_last(self, span: Span) -> bool:
        """Whether `span` is in the last statement of the script, which may be that of an `if` at its end."""
        blocks = [node.body for node in self.nodes[:1] if isinstance(node, ast.Module)]
        for block in blocks:
            blocks += [way for each in block[-1:] if isinstance(each, ast.If) for way in self._last_ways(each)]
        left = self.statement_at(span)
        return any(left is each for block in blocks for each in block[-1:])

    def _last_ways(self, node: ast.If) -> list[list[ast.stmt]]:
        """The blocks of an `if` at whose end a script may be left: if the target decides it, the other has to fail."""
        ways = ((node.body, node.orelse), (node.orelse, node.body))
        return [way for way, other in ways if not self.depends(node.test) or _fails(other)]

    def _smallest(self, span: Span, nodes: Iterable[ast.AST]) -> ast.AST | None:
        first, last, begin, end = span
        covering = [
            node
            for node in nodes
            if isinstance(node, ast.expr | ast.stmt)
            and (node.lineno, node.col_offset) <= (first, begin)
            and (node.end_lineno or 0, node.end_col_offset or 0) >= (last, end)
        ]
        # The tree was walked from the outside in: if a statement consists of one expression, this finds the expression.
        return min(reversed(covering), key=_extent, default=None)

    def depends(self, node: ast.AST) -> bool:
        """Whether `node` uses a value that depends on the target."""
        return id(node) in self._dependent

    def gives_code(self, call: ast.Call) -> bool:
        """Whether a call is given a function or a class of the script's, which may then be called."""
        return any(id(each) in self._holding_code for each in (*call.args, *call.keywords))

    @cached_property
    def _holding_code(self) -> dict[int, ast.AST]:
        code = Function | ast.ClassDef | ast.Lambda
        made = {name for name, values in self.bindings.items() if any(isinstance(each, code) for each in values)}
        return self.holding(
            each
            for each in self.nodes
            if isinstance(each, ast.Lambda) or (isinstance(each, ast.Name) and each.id in made)
        )

    def is_imported(self, node: ast.AST) -> bool:
        """Whether `node` is a name that was imported from the target, or an attribute of such a name."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._imported

    def _bound_by_import(self, node: ast.AST) -> Iterable[str]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if self.is_target(alias.name):
                    yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            for alias in node.names:
                if self.is_target(node.module) or self.is_target(f"{node.module}.{alias.name}"):
                    yield alias.asname or alias.name

    def is_import_of_target(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Whether an import binds a name to something of the target."""
        return any(True for _ in self._bound_by_import(node))

    def is_target(self, name: str) -> bool:
        """Whether a module of that name belongs to the target, or is one of `_LOOKING_UP`."""
        return any(name == module or name.startswith(module + ".") for module in self._modules)

    def reached(self, nodes: Iterable[ast.AST], names: Iterable[str] = ()) -> set[int]:
        """The identities of all syntax that uses the value of one of `nodes`, or of a name in `names`.

        So does all syntax that uses a name which is bound to such a value.
        """
        uses: dict[str, list[ast.AST]] = {}
        bound: dict[int, list[list[str]]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name):
                uses.setdefault(node.id, []).append(node)
            for value, given in self._bindings(node):
                bound.setdefault(id(value), []).append(given)
        found: set[int] = set()
        known: set[str | int] = set()
        waiting, fresh = list(nodes), list(names)
        while waiting or fresh:
            if not waiting:
                name = fresh.pop()
                waiting += uses.get(name, ()) if name not in known else ()
                known.add(name)
                continue
            part: ast.AST | None = waiting.pop()
            while part is not None and id(part) not in found:
                found.add(id(part))
                for given in bound.get(id(part), ()):
                    fresh += given if id(given) not in known else ()
                    known.add(id(given))
                part = self.parents[id(part)]
        return found

    def holding(self, nodes: Iterable[ast.AST]) -> dict[int, ast.AST]:
        """`nodes` and all syntax that they are a part of, by identity."""
        found: dict[int, ast.AST] = {}
        for each in nodes:
            node: ast.AST | None = each
            while node is not None and id(node) not in found:
                found[id(node)] = node
                node = self.parents[id(node)]
        return found

    def binds(self, node: ast.AST, name: str) -> bool:
        """Whether `node` binds a name to something that depends on the target."""
        return any(self.depends(value) and name in names for value, names in self._bindings(node))

    def _bindings(self, node: ast.AST) -> Iterable[tuple[ast.AST, list[str]]]:
        """Each value that `node` binds, with the names that it is bound to.

        A call binds its arguments to the function's parameters, and to an object whose method is called, such as
        `found` in `found.append(value)`.
        """
        if assigned := _assigned(node):
            return [(value, _names(target)) for target, value in assigned]
        match node:
            case ast.Call(func=function, args=[owner, _, value]) if last_name(function) in _SETTING:
                return [(value, _changed(owner))]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                return [(node, [name])]
            case ast.Try(body=body, handlers=handlers) | ast.TryStar(body=body, handlers=handlers):
                given = [*(handler.name for handler in handlers if handler.name is not None), *set_by(node)]
                return [(each, given) for each in body]
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return [(each, self.recorded(node)) for each in body]
            case ast.Match(subject=subject, cases=cases):
                return [(subject, [name for each in cases for name in _captured(each.pattern)])]
            case ast.Call(func=function, args=arguments, keywords=keywords):
                name = last_name(function)
                values = [*arguments, *(keyword.value for keyword in keywords)]
                groups = [_changed(function.value)] if isinstance(function, ast.Attribute) else []
                groups += [self._parameters[name]] if name in self._parameters else []
                return [(value, group) for group in groups for value in values]
        return ()

    def recorded(self, node: ast.AST) -> list[str]:
        """The names that hold what a `with` records of its block: what is printed there, warned or logged.

        There are none if the script itself may say something there, or does not ask for all warnings.
        """
        return self._recorded.get(id(node), [])

    def _recordings(self) -> dict[int, list[str]]:
        calls = [(node, last_name(node.func)) for node in self.nodes if isinstance(node, ast.Call)]
        saying = self.holding(node for node, name in calls if name in _SAYING)
        asking = self.holding(node for node, name in calls if name in _ASKING_FOR_WARNINGS)
        # A function that says something may be called in any block, but for one that stands in it.
        speaking = {place for place, node in saying.items() if isinstance(node, Function | ast.Lambda)}
        found: dict[int, list[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.With | ast.AsyncWith) and id(node) not in saying:
                if not speaking <= self.holding([node]).keys():
                    continue
                for each in node.items:
                    match each:
                        case ast.withitem(ast.Call(func=function, args=given), target) if (
                            name := last_name(function)
                        ) in _RECORDING and (name != "catch_warnings" or id(node) in asking):
                            held = [*given, *([target] if target else [])]
                            found.setdefault(id(node), []).extend(name for part in held for name in _names(part))
        return found

    def _given_away(self) -> set[str]:
        """The names of functions that other code may call, or that are called with what is not seen one by one."""
        called = {
            id(node.func)
            for node in self.nodes
            if isinstance(node, ast.Call)
            and not any(isinstance(one, ast.Starred) for one in node.args)
            and all(one.arg is not None for one in node.keywords)
        }
        return {
            node.id
            for node in self.nodes
            if isinstance(node, ast.Name) and node.id in self._functions and id(node) not in called
        }

    def _given(self, node: ast.AST) -> Iterable[tuple[str, ast.AST]]:
        """Each name that `node` binds, with the syntax of its value."""
        if assigned := _assigned(node):
            return [pair for target, value in assigned for pair in _paired(target, value)]
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                own = set(self._bound_by_import(node))
                names = [(alias.asname or alias.name.partition(".")[0], alias) for alias in aliases]
                return [(name, node if name in own else alias) for name, alias in names]
            case ast.FunctionDef(name=name, args=given) | ast.AsyncFunctionDef(name=name, args=given):
                # What other code passes is anything.
                loose = name in self._passed_on and self._functions[name] is node
                passed = [(one, given) for one in self._parameters[name]] if loose else []
                return [(name, node), *passed, *_defaults(given)]
            case ast.ClassDef(name=name):
                return [(name, node)]
            case ast.ExceptHandler(name=str(name)):
                return [(name, node)]
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return [(name, each) for name in self.recorded(node) for each in body]
            case ast.Match(subject=subject, cases=cases):
                return [(name, subject) for each in cases for name in _captured(each.pattern)]
            case ast.Call(func=function, args=[owner, _, value]) if last_name(function) in _SETTING:
                return [(name, value) for name in _changed(owner)]
            case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                return passed_to(self._functions[name], node, skipped=0)
            case ast.Call(func=ast.Attribute(attr=name)) if name in self._functions:
                return passed_to(self._functions[name], node, skipped=1)
            case ast.Call(func=ast.Attribute(value=owner), args=arguments):
                return [(name, value) for name in _changed(owner) for value in arguments if self.depends(value)]
        return ()


def own_parts(function: Function) -> list[ast.AST]:
    """The syntax of a function's body, without that of functions and classes inside it."""
    parts: list[ast.AST] = [*function.body]
    for each in parts:
        if not isinstance(each, Function | ast.Lambda | ast.ClassDef):
            parts += ast.iter_child_nodes(each)
    return parts


def is_lazy(function: Function) -> bool:
    """Whether a call runs nothing of the function yet: it is a coroutine or a generator."""
    return isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(each, ast.Yield | ast.YieldFrom) for each in own_parts(function)
    )


def _fails(block: list[ast.stmt]) -> bool:
    """Whether the end of a block is to raise, or to leave with another status than 0."""
    match block[-1:]:
        case [ast.Raise(exc=ast.Call() as call) | ast.Expr(value=ast.Call() as call)]:
            if last_name(call.func) in EXITS:
                return any(isinstance(each, ast.Constant) and bool(each.value) for each in call.args)
            return isinstance(block[-1], ast.Raise)
        case [ast.Raise()]:
            return True
    return False


def _defaults(given: ast.arguments) -> list[tuple[str, ast.AST]]:
    """A function's parameters with their defaults, without those that are plain constants."""
    places = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(places), reversed(given.defaults), strict=False)]
    pairs += [(one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None]
    return [(one.arg, value) for one, value in pairs if not isinstance(value, ast.Constant)]


def _assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The targets to which `node` assigns, each with the value from which it gets its own."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [(target, value) for target in targets]
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
            | ast.AsyncFor(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            return [(target, value)]
    return []


def last_name(node: ast.AST) -> str:
    """The name, or the attribute, that `node` is; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def names_in(node: ast.AST) -> list[str]:
    """The names that `node` itself binds, to any value."""
    match node:
        case ast.Assign(targets=targets):
            return [name for target in targets for name in _names(target)]
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.NamedExpr(target=target):
            return _names(target)
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return _names(target)
        case ast.withitem(optional_vars=ast.expr() as target):
            return _names(target)
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            return [*(handler.name for handler in handlers if handler.name is not None), *set_by(node)]
        case ast.Call(func=function, args=[owner, _, _]) if last_name(function) in _SETTING:
            return _changed(owner)
        case ast.Call(func=ast.Attribute(value=owner)):
            return _changed(owner)
    return []


def set_by(node: ast.Try | ast.TryStar) -> list[str]:
    """The first names that a `try` sets to a constant: they tell whether its body raised. A handful is all it needs."""
    blocks = [node.body, node.orelse, *(handler.body for handler in node.handlers)]
    names = (
        name
        for block in blocks
        for each in block
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
        for target in each.targets
        for name in _names(target)
    )
    return list(dict.fromkeys(names))[:_MOST_FLAGS]


def _paired(target: ast.expr, value: ast.AST) -> list[tuple[str, ast.AST]]:
    parts = getattr(target, "elts", None)
    values = getattr(value, "elts", None)
    if parts is not None and values is not None and len(parts) == len(values):
        return [pair for one, given in zip(parts, values, strict=True) for pair in _paired(one, given)]
    return [(name, value) for name in _names(target)]


def passed_to(function: Function, call: ast.Call, *, skipped: int) -> list[tuple[str, ast.AST]]:
    """A function's parameters, each with the argument of a call.

    The first `skipped` parameters get none, such as `self`.
    """
    positional = islice(chain(function.args.posonlyargs, function.args.args), skipped, None)
    found: list[tuple[str, ast.AST]] = [(one.arg, value) for one, value in zip(positional, call.args, strict=False)]
    places = len(function.args.posonlyargs) + len(function.args.args) - skipped
    found += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    several = [one.arg for one in (function.args.vararg, function.args.kwarg) if one is not None]
    rest = [*call.args[places:], *(keyword.value for keyword in call.keywords)]
    return found + [(name, value) for name in several for value in rest]


def _extent(node: ast.AST) -> tuple[int, int]:
    lines = getattr(node, "end_lineno", 0) - getattr(node, "lineno", 0)
    return (lines, getattr(node, "end_col_offset", 0) - getattr(node, "col_offset", 0))


def parameters_of(node: Function) -> list[str]:
    arguments = node.args
    several = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several)]


def _names(target: ast.expr) -> list[str]:
    """The names that an assignment to `target` changes: `box` for both `box.lid` and `box[0]`."""
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [name for part in parts for name in _names(part)]
        case ast.Starred(value=value):
            return _names(value)
    return _changed(target)


def _changed(target: ast.expr) -> list[str]:
    """The name whose object holds `target`, as an attribute or an item, however deep; empty if there is none."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return [target.id] if isinstance(target, ast.Name) else []


def _captured(pattern: ast.pattern) -> list[str]:
    names = (getattr(node, "name", None) or getattr(node, "rest", None) for node in ast.walk(pattern))
    return [name for name in names if isinstance(name, str)]
