"""The order of factors, which counts between matrices: (AB)^T is B^T A^T, and AB + BA is not 2AB."""

from fractions import Fraction
from itertools import pairwise

from touchstone.checks.notation.trees import CONSTANTS, Apply, Name, Number, Tree

_TURNING = (Apply("neg", (Number(Fraction(1)),)), Name("T"))
"""Powers that turn the order of a product of matrices."""


def in_another_order(left: tuple[Tree, ...], right: tuple[Tree, ...]) -> bool:
    """Whether what may be products of matrices have their factors in another order: A^{-1}B and BA^{-1}."""
    both = _in_both_orders(left) or _in_both_orders(right)
    if left == right or not (both or all(any(map(_may_be_of_matrices, side)) for side in (left, right))):
        return False
    return [*map(_factors, left)] != [*map(_factors, right)]


def turned_around(left: Tree, right: Tree) -> bool:
    """Whether the same capital letters stand in another order: AB and BA, which differ if they are matrices."""
    mine, theirs = ([name for name in _factors(side) if _is_capital(name[:1])] for side in (left, right))
    return mine != theirs and sorted(mine) == sorted(theirs)


def spread_out(left: Tree, right: Tree) -> tuple[Tree, Tree] | None:
    """Two expressions in matrices with every transpose at its matrices, (A + B)^T as A^T + B^T; None for any others."""
    if not (_may_be_of_matrices(left) or _may_be_of_matrices(right)):
        return None
    turned = _transposes_inside(left), _transposes_inside(right)
    return None if turned == (left, right) else turned


def _transposes_inside(tree: Tree) -> Tree:
    match tree:
        case Apply("pow", (inside, Name("T"))):
            return _transposed(_transposes_inside(inside))
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_transposes_inside, arguments)))
    return tree


def _transposed(tree: Tree) -> Tree:
    match tree:
        case Number():
            return tree
        case Apply("pow", (inside, Name("T"))):
            return inside
        case Apply("add" | "neg" as operation, arguments) if not any(part.is_constant for part in arguments):
            # (1 + R)^T is a power.
            return Apply(operation, tuple(map(_transposed, arguments)))
        case Apply("mul", (one, other)):
            return Apply("mul", (_transposed(other), _transposed(one)))
    return Apply("pow", (tree, Name("T")))


def _in_both_orders(trees: tuple[Tree, ...]) -> bool:
    """Whether a product of two capital letters occurs in both orders: who writes AB + BA means two products."""
    products = (_factors(part) for tree in trees for part in tree.parts if _is_product(part))
    pairs = {pair for names in products for pair in pairwise(names) if all(map(_is_capital, pair))}
    return any(one != other and (other, one) in pairs for one, other in pairs)


def _is_product(tree: Tree) -> bool:
    return isinstance(tree, Apply) and tree.operation == "mul"


def _is_capital(name: str) -> bool:
    return len(name) == 1 and name.isupper()


def _may_be_of_matrices(tree: Tree) -> bool:
    """Whether an inverse or a transpose of capital letters occurs in a tree: in A^{-1}B the order counts.

    So it does if a vector beside capital letters is transposed: x^T A x.
    """
    turned = [part for part in tree.parts if isinstance(part, Apply) and _turns(part)]
    of_matrices = any(names and all(map(_is_capital, names)) for names in (part.arguments[0].names for part in turned))
    of_vectors = any(_is_vector(part.arguments[0]) and part.arguments[1] == Name("T") for part in turned)
    return of_matrices or (of_vectors and any(map(_is_capital, tree.names - {"T"})))


def _is_vector(tree: Tree) -> bool:
    return isinstance(tree, Name) and len(tree.name) == 1 and tree.name not in CONSTANTS


def _turns(tree: Apply) -> bool:
    return tree.operation == "pow" and tree.arguments[1] in _TURNING


def _term(tree: Tree) -> list[str]:
    """The factors of a term of a sum, with a sign before those of a term that is taken away."""
    match tree:
        case Apply("neg", (inside,)):
            return ["-", *_factors(inside)]
        case Apply("mul", (Apply("neg", (first,)), *rest)):
            return ["-", *_factors(Apply("mul", (first, *rest)))]
    return _factors(tree)


def _factors(tree: Tree) -> list[str]:
    """The names of an expression in matrices, in their order, which an inverse or a transpose turns."""
    match tree:
        case Name(name):
            return [name]
        case Apply("add", arguments):
            return [name for names in sorted(map(_term, arguments)) for name in names]
        case Apply(_, arguments):
            names = [name for each in arguments for name in _factors(each)]
            return [f"{name}^" for name in _factors(arguments[0])[::-1]] if _turns(tree) else names
    return []
