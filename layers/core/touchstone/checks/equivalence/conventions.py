"""Differences that a convention explains: a constant of integration, a parameter's name, the corners of a triangle."""

import re

from touchstone.checks.equivalence.comparison import Comparison
from touchstone.checks.equivalence.periods import may_be_one_family
from touchstone.checks.equivalence.reading import ReadAnswer
from touchstone.checks.notation.trees import Apply, Name
from touchstone.checks.values.kinds import Items, Quantity, Value

_FIGURE = re.compile(r"([∠∡△⊙]|\\(?:angle|triangle|odot)(?![A-Za-z]))\s{0,3}([A-Z]{1,6}|\d)")
"""A figure's name: ∠ABC, ∠1, △ABC."""
_SEGMENT = re.compile("bar [A-Z]{2}")
_PARAMETERS = frozenset("tskrcuvmn") | {"lambda", "mu"}
"""Names of a parameter, which any of them may have."""


def explained(given: ReadAnswer, expected: ReadAnswer, comparison: Comparison) -> bool | None:
    """Whether two answers with different values are the same by a convention; False if none explains the difference.

    None if one may explain it.
    """
    if (same := _of_figures(given, expected)) is not False:
        return same
    body = _without_constant(given.value, expected.value)
    if body is not None and comparison.same(body, expected.value) is not False:
        return None
    if may_be_one_family(given.value, expected.value):
        comparison.because = "a period"
        return None
    points = _with_one_parameter(given.value, expected.value)
    return False if points is None or comparison.same(*points) is False else None


def _without_constant(given: Value, expected: Value) -> Quantity | None:
    """The given antiderivative without its constant, beside a function without one; None for any other values.

    The key may name one antiderivative and mean all. A given one without the constant that the key has is different.
    """
    match given, expected:
        case Quantity(tree=Apply("add", (body, Name("C" | "c" | "K" as name))), units=()), Quantity(tree=wanted):
            return Quantity(body) if wanted.variables and name not in wanted.variables else None
    return None


def _with_one_parameter(given: Value, expected: Value) -> tuple[Items, Items] | None:
    """Two points with one parameter each, under the same name: (t, 2t) and (s, 2s); None for any other values."""
    match given, expected:
        case Items(values=mine, brackets="()"), Items(values=theirs, brackets="()"):
            trees = [[each.bare or each.tree for each in of if isinstance(each, Quantity)] for of in (mine, theirs)]
            names = [{name for tree in of for name in tree.variables} for of in trees]
            if len(names[0]) == len(names[1]) == 1 and names[0] != names[1] and names[0] | names[1] <= _PARAMETERS:
                old, new = names[0].pop(), Name(names[1].pop())
                ends = ([tree.substituted(old, new) for tree in trees[0]], trees[1])
                return Items(tuple(map(Quantity, ends[0])), "()"), Items(tuple(map(Quantity, ends[1])), "()")
    return None


def _of_figures(given: ReadAnswer, expected: ReadAnswer) -> bool | None:
    """The answer for figures whose values differ; False if they are no figures.

    None if the figures have other names: ∠B may be ∠ABC. True for triangles with the same corners: △BCA is △ABC.
    """
    match given.value, expected.value:
        case Quantity(tree=Name(one)), Quantity(tree=Name(two)) if f"{one}{two}".count("triangle ") > 1:
            return True if sorted(one) == sorted(two) else None
        case Quantity(tree=Name(one)), Quantity(tree=Name(two)) if _SEGMENT.fullmatch(one) and one[-2:] == two[:3:-1]:
            return None  # a segment has two names, but a number of two digits and a directed length have one
    figures = [{"".join(found) for found in _FIGURE.findall(each.part)} for each in (given, expected)]
    return None if all(figures) and figures[0] != figures[1] else False
