"""Expressions to evaluate, shares, fractions to reduce, comparisons of two numbers, and conversions of units."""

import re
from dataclasses import replace
from fractions import Fraction

from touchstone.checks.equivalence.amounts import ANGULAR
from touchstone.checks.findings import Proof
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import Apply, Number, Tree, value_or_none
from touchstone.checks.notation.unit_reading import units_of
from touchstone.checks.notation.units import Unit
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import DECIMAL_COMMA, WORDS, ProofTask, kind, tree_of, value_of
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Quantity

MAX_BITS = 512
"""The most bits of a value that is worked out: nobody checks a number of 150 digits."""
_UNCLEAR = re.compile(r"/\s*[\d.]+\s*\(|/\s*\([^()]*\)\s*\(|\)\s*\d")
"""A product without a sign behind a division: 6/2(3) can be read in two ways."""
_AMBIGUOUS = frozenset({"base", "log", "degrees", "percent", "pm", "mp", "arcsin", "arccos", "arctan", "arccot"})
"""Operations with two meanings: `log` may have base 10 or e, an angle may be in degrees, 100 + 10% may be 110."""
_UNSETTLED = frozenset(WORDS["unsettled units"])
"""Units of more than one size or meaning: their conversion depends on the country or the month."""
_CLOSE = Fraction(1, 50)
"""The relative error of an answer that may rest on a rounded factor (1.6 km per mile)."""
_ROUNDED_ZERO = Fraction(1, 4)
"""The error, in kelvins, of an answer that takes 273 for 273.15 and is then rounded."""


def _settled(units: tuple[Unit, ...], name: str = "") -> Unit | None:
    """The unit if it has one settled meaning, else None."""
    if len(units) != 1 or name in _UNSETTLED or units[0].noun or not units[0].dimension:
        return None
    return replace(units[0], lone_letter=False)


@kind("convert")
def _convert(task: ProofTask) -> Proof | None:
    source, target = (_settled(units_of(task[name]), task[name]) for name in ("source", "target"))
    number, given = value_of(task["number"]), task.quantity()
    if source is None or target is None or source.dimension != target.dimension or source == target:
        return None
    # "How many degrees of one scale are so many of another" asks for a difference of temperatures.
    if source.pi != target.pi or (source.offset != target.offset and "count" in task.parts):
        return None
    if given is None or (given.units and _settled(given.units) != target):
        return None
    value, stated = (number * source.factor + source.offset - target.offset) / target.factor, rational(given.tree)
    # An answer may rest on a rounded factor, or on a rounded zero of a temperature scale.
    margin = Fraction(0) if value.denominator == 1 else _CLOSE * abs(value)
    if source.offset != target.offset and 0 in (source.offset, target.offset):
        margin = max(margin, _ROUNDED_ZERO / target.factor)
    if stated is None or (stated != value and abs(stated - value) <= margin):
        return None
    same = task.same(Quantity(given.tree), Quantity(Number(value)), whole=True)
    if not same and DECIMAL_COMMA.search(task.answer):
        return None
    quantity, unit = f"{task['number']} {task['source']}", task["target"]
    line = task.line("convert", quantity=quantity, value=_decimal(value), unit=unit)
    closing = task.line("equal" if same else "unequal", given=task.answer)
    return task.proof(same, f"{_decimal(value)} {unit}", line, closing)


def _decimal(value: Fraction) -> str:
    """An exact value as a decimal if the decimal is short, else as a fraction."""
    scaled = value * 10**9
    if scaled.denominator != 1 or abs(scaled) > 10**15:
        return str(value)
    return f"{float(value):.9f}".rstrip("0").rstrip(".")


@kind("share")
def _share(task: ProofTask) -> Proof | None:
    value = str(value_of(task["share"]) * value_of(task["whole"]))
    return task.compared(task.line("value", expression=f"{task['share']} × {task['whole']}", value=value), value)


@kind("reduce")
def _reduce(task: ProofTask) -> Proof | None:
    value = value_of(task["fraction"])
    proof = task.compared(task.line("value", expression=task["fraction"], value=value), str(value))
    if proof is None or proof.outcome == "refuted":
        return proof
    # An equal fraction that is not in its lowest terms is left undecided.
    given = task.quantity()
    reduced = given is not None and (isinstance(given.tree, Number) or given.tree == tree_of(str(value)))
    return proof if reduced else None


@kind("compare")
def _compare(task: ProofTask) -> Proof | None:
    first, second = value_of(task["first"]), value_of(task["second"])
    sign = ">" if first > second else "<" if first < second else "="
    relation = f"{task['first']} {sign} {task['second']}"
    line = task.line(
        "compare",
        first=task["first"], first_value=first, second=task["second"], second_value=second, relation=relation,
    )  # fmt: skip
    sign_given = _sign_given(task.answer, first, second, smaller="smaller" in task.parts)
    return task.proof(None if sign_given is None else sign_given == sign, relation, line)


def _sign_given(answer: str, first: Fraction, second: Fraction, *, smaller: bool) -> str | None:
    """The sign that an answer claims between the two numbers; None if it claims none that can be read."""
    if re.fullmatch(r"(?:they are )?(?:the same|equal)|一样大|相等", answer, re.IGNORECASE):
        return "="
    parts = re.split(r"\s?([<>=])\s?", answer)
    if len(parts) == 3:  # noqa: PLR2004  (number, sign, number)
        sides = value_or_none(value_of, parts[0]), value_or_none(value_of, parts[2])
        swapped = {"<": ">", ">": "<", "=": "="}[parts[1]]
        return parts[1] if sides == (first, second) else swapped if sides == (second, first) else None
    name, more, less = re.fullmatch(
        r"(.*?)(?:( is (?:larger|greater|bigger)|[更较]?大)|( is (?:smaller|less)|[更较]?小))?", answer
    ).groups()  # type: ignore[union-attr]  # the name may be all of it
    named = value_or_none(value_of, name)
    if first == second or named not in (first, second) or (more and smaller) or (less and not smaller):
        return None
    return ">" if (named == first) != smaller else "<"


@kind("evaluate")
def _evaluate(task: ProofTask) -> Proof | None:
    text = task["expression"]
    tree, given = parse(text), task.quantity()
    if given is None or isinstance(tree, Number) or _UNCLEAR.search(text):
        return None
    if text.endswith("!") and not text[:-1].isdecimal():
        return None
    if tree.operations & _AMBIGUOUS or tree.names - {"pi", "e"}:
        return None
    powers = (part.arguments for part in tree.parts if isinstance(part, Apply) and part.operation == "pow")
    if any(all(rational(side) == 0 for side in power) for power in powers):
        return None  # 0^0 is 1 to some, and undefined to others
    # sin 30 may mean degrees.
    if any(isinstance(part, Apply) and part.operation in ANGULAR and "pi" not in part.names for part in tree.parts):
        return None
    if given.tree == tree:
        return None
    value = rational(tree)
    if value is not None and max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        return None
    correct = str(value) if value is not None else algebra.timed(task, lambda: _irrational(tree))
    proof = task.compared(task.line("value", expression=text, value=correct), correct) if correct is not None else None
    # An answer as long as the question may only repeat the question.
    repeats = len(given.tree.parts) >= len(tree.parts) and not _is_written_out(given.tree)
    return None if repeats and proof is not None and proof.outcome == "proved" else proof


def _irrational(tree: Tree) -> str | None:
    value = algebra.to_sympy(tree)
    return algebra.expression_text(algebra.simplest(value)) if value.is_finite and value.is_real else None


def _is_written_out(tree: Tree) -> bool:
    """Whether an expression is a number written down (-3, 2/5, 40%), not one that is still to be worked out."""
    match tree:
        case Apply(operation="neg" | "percent", arguments=(inner,)):
            return _is_written_out(inner)
        case Apply(operation="div", arguments=arguments):
            return all(isinstance(argument, Number) for argument in arguments)
    return isinstance(tree, Number)
