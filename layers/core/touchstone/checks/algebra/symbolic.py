"""Converts trees to sympy expressions. Importing this module imports sympy, so it is imported on first use only."""

from collections.abc import Callable

import sympy

from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree
from touchstone.checks.values.exact import ARITHMETIC

_CONSTANTS: dict[str, sympy.Expr] = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "oo": sympy.oo}
_OPERATIONS: dict[str, Callable[..., sympy.Expr]] = {
    **ARITHMETIC,
    "pow": lambda base, exponent: base**exponent,
    "percent": lambda value: value / 100,
    "degrees": lambda value: value * sympy.pi / 180,
    "root": lambda value, index: sympy.real_root(value, index) if index == 3 else sympy.root(value, index),  # noqa: PLR2004
    "cbrt": lambda value: sympy.real_root(value, 3),
    "abs": sympy.Abs,
    "factorial": sympy.factorial,
    "binomial": sympy.binomial,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "exp": sympy.exp,
    "ln": sympy.log,
    "lg": lambda value: sympy.log(value, 10),
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "arcsin": sympy.asin, "arccos": sympy.acos, "arctan": sympy.atan, "arccot": sympy.acot,
    "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh,
}  # fmt: skip


def build(tree: Tree, *, log_base: sympy.Expr | None = None, **assumptions: bool) -> sympy.Expr:
    """The sympy expression of `tree`. The caller has bounded its size; `assumptions` are those of `sympy.Symbol`.

    Without `log_base`, a bare `log` is natural. Raises NotAnExpressionError if an operation has no single value.
    """
    match tree:
        case Number(value=value):
            return sympy.Rational(value.numerator, value.denominator)
        case Name(name):
            return _CONSTANTS.get(name) or sympy.Symbol(name, **assumptions)
        case Apply(operation=operation, arguments=arguments):
            values = [build(argument, log_base=log_base, **assumptions) for argument in arguments]
            if operation == "log":
                base = values[1] if len(values) > 1 else log_base
                return sympy.log(values[0]) if base is None else sympy.log(values[0]) / sympy.log(base)
            if operation not in _OPERATIONS:
                raise NotAnExpressionError(f"{operation} has no single value")
            return _OPERATIONS[operation](*values)
