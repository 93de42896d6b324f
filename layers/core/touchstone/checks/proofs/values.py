"""Expressions to evaluate, shares, fractions to reduce, comparisons of two numbers, and conversions of units."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from dataclasses import replace
from fractions import Fraction

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import Apply, Number, Tree, names_in, operations_in, parts_of, size
from touchstone.checks.notation.units import Unit, units_of
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import DECIMAL_COMMA, Task, kind, tree_of, value_of
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Quantity

MAX_BITS = 512
"""Of a value that is worked out: no one checks 150 digits."""
_UNCLEAR = re.compile(r"/\s*[\d.]+\s*\(|/\s*\([^()]*\)\s*\(|\)\s*\d")
"""A product without a sign behind a division: 6/2(3) is read in two ways."""
_ANGULAR = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
_AMBIGUOUS = frozenset({"log", "degrees", "percent", "pm", "mp", "arcsin", "arccos", "arctan", "arccot"})
"""`log` may have base 10 or e, an angle may be in degrees, and 100 + 10% may be 110."""
_UNSETTLED = frozenset(
    ("ton", "tons", "gallon", "gallons", "quart", "quarts", "pint", "pints", "cup", "cups", "month", "months", "year",
     "years", "个月", "個月", "月", "年", "分", "吨", "噸", "里", "两", "兩", "斤", "钱", "錢", "寸", "尺", "°", "degree",
     "degrees", "度")
)  # fmt: skip
"""Units of more than one size or meaning: their conversion depends on the country, or on the month."""
_CLOSE = Fraction(1, 50)
"""An answer this near may rest on a rounded factor (1.6 km a mile)."""
_ROUNDED_ZERO = Fraction(1, 4)
"""Kelvins by which an answer may be off that takes 273 for 273.15, and is rounded then."""

_NUMBER = r"-?\d++(?:,\d{3})*+(?:\.\d++)?"
_POSITIVE = _NUMBER.removeprefix("-?")
_PLAIN_FRACTION = r"\d+\s?/\s?\d+|\\frac\s?\{\d+\}\s?\{\d+\}"
_FRACTION = rf"(?:{_NUMBER}(?:\s?/\s?\d+)?|-?\\frac\s?\{{\d+\}}\s?\{{\d+\}}|\d+ \d+/\d+)"
_UNIT = r"[A-Za-zμ°Ω²³/^{}\d ]{1,30}?"
_HAN = r"[A-Za-zμ㎡\u4e00-\u9fff²³^{}\d/]{1,10}?"
_COMMAND = r"(?:compute|calculate|evaluate|work out|find the value of|determine the value of|what is the value of|what is|what's|how much is)"


def _settled(units: tuple[Unit, ...], name: str = "") -> Unit | None:
    """The unit where it has one settled meaning, None elsewhere."""
    if len(units) != 1 or name in _UNSETTLED or units[0].noun or not units[0].dimension:
        return None
    return replace(units[0], lone_letter=False)


@kind(
    "convert",
    rf"convert (?P<number>{_POSITIVE})\s*(?P<source>{_UNIT}) (?:in)?to (?P<target>{_UNIT})",
    rf"(?P<count>how many) (?P<target>{_UNIT}) (?:are )?(?:there )?(?:are )?in (?P<number>{_POSITIVE})\s*(?P<source>{_UNIT})",
    rf"(?:express|write|change) (?P<number>{_POSITIVE})\s*(?P<source>{_UNIT}) (?:in|to|into) (?P<target>{_UNIT})",
    rf"(?:单位换算|單位換算|换算|換算)?\s*:?\s*(?P<number>{_POSITIVE})\s*(?P<source>{_HAN})\s*(?:=|等于|等於)\s*(?:多少|几|\(\s*\)|_+)\s*(?P<target>{_HAN})",
    rf"[把将將]\s*(?P<number>{_POSITIVE})\s*(?P<source>{_HAN})\s*(?:换算成|换算为|換算成|化成|化为|转换成|转换为)\s*(?P<target>{_HAN})",
)
def _convert(task: Task) -> Proof | None:
    source, target = (_settled(units_of(task[name]), task[name]) for name in ("source", "target"))
    number, given = value_of(task["number"]), task.quantity()
    if number is None or source is None or target is None or source.dimension != target.dimension or source == target:
        return None
    # How many degrees of one scale are in so many of another asks for a difference.
    if source.pi != target.pi or (source.offset != target.offset and "count" in task.parts):
        return None
    if given is None or (given.units and _settled(given.units) != target):
        return None
    value, stated = (number * source.factor + source.offset - target.offset) / target.factor, rational(given.tree)
    if stated is None or (stated != value and abs(stated - value) <= _margin(source, target, value)):
        return None
    same = task.same(Quantity(given.tree), Quantity(Number(value)), whole=True)
    if not same and DECIMAL_COMMA.search(task.answer):
        return None
    quantity, unit = f"{task['number']} {task['source']}", task["target"]
    line = task.line("convert", quantity=quantity, value=_decimal(value), unit=unit)
    closing = task.line("equal" if same else "unequal", given=task.answer)
    return task.proof(same, f"{_decimal(value)} {unit}", line, closing)


def _margin(source: Unit, target: Unit, value: Fraction) -> Fraction:
    """How far an answer may be from the value of a conversion and rest on a rounded factor or zero."""
    margin = Fraction(0) if value.denominator == 1 else _CLOSE * abs(value)
    if source.offset != target.offset and 0 in (source.offset, target.offset):
        return max(margin, _ROUNDED_ZERO / target.factor)
    return margin


def _decimal(value: Fraction) -> str:
    """An exact value as a decimal where that is short, else as a fraction."""
    scaled = value * 10**9
    if scaled.denominator != 1 or abs(scaled) > 10**15:
        return str(value)
    return f"{float(value):.9f}".rstrip("0").rstrip(".")


@kind(
    "share",
    rf"{_COMMAND} (?P<share>{_NUMBER}\s?%|\d+/\d+) of (?P<whole>{_NUMBER})",
    rf"(?:求|计算|計算)?\s*(?P<whole>{_NUMBER})\s*的\s*(?P<share>{_NUMBER}\s?%|\d+/\d+)\s*(?:是|等于)?(?:多少|几)?",
)
def _share(task: Task) -> Proof | None:
    share, whole = value_of(task["share"]), value_of(task["whole"])
    if share is None or whole is None:
        return None
    value = str(share * whole)
    return task.compared(task.line("value", expression=f"{task['share']} × {task['whole']}", value=value), value)


@kind(
    "reduce",
    rf"(?:simplify|reduce)(?: the fraction)?:? (?P<fraction>{_PLAIN_FRACTION})(?: to (?:its )?(?:lowest terms|simplest form))?",
    rf"[把将將]?\s*(?P<fraction>{_PLAIN_FRACTION})\s*(?:约分|約分|化成最简分数|化为最简分数)",
    rf"(?:约分|約分|化简|化簡)\s*:?\s*(?P<fraction>{_PLAIN_FRACTION})",
)
def _reduce(task: Task) -> Proof | None:
    value = value_of(task["fraction"])
    if value is None:
        return None
    proof = task.compared(task.line("value", expression=task["fraction"], value=value), str(value))
    if proof is None or proof.outcome == "refuted":
        return proof
    # An equal fraction that is not in its lowest terms is left undecided.
    given = task.quantity()
    reduced = given is not None and (isinstance(given.tree, Number) or given.tree == tree_of(str(value)))
    return proof if reduced else None


@kind(
    "compare",
    rf"which (?:number |one |fraction |of these )?is (?:(?P<larger>larger|greater|bigger)|(?P<smaller>smaller|less))[,:]? (?P<first>{_FRACTION}) or (?P<second>{_FRACTION})",
    rf"compare(?: the numbers)?:? (?P<first>{_FRACTION}) (?:and|with|to) (?P<second>{_FRACTION})",
    rf"(?:比较|比較)\s*(?P<first>{_FRACTION})\s*[和与與、]\s*(?P<second>{_FRACTION})\s*的?大小",
    rf"(?P<first>{_FRACTION})\s*[和与與]\s*(?P<second>{_FRACTION})\s*(?:,\s*)?(?:哪个|哪個|哪一个|谁)(?:数)?(?:更|比较|较)?(?:大|(?P<smaller>小))",
)
def _compare(task: Task) -> Proof | None:
    first, second = value_of(task["first"]), value_of(task["second"])
    if first is None or second is None:
        return None
    sign = ">" if first > second else "<" if first < second else "="
    relation = f"{task['first']} {sign} {task['second']}"
    line = task.line(
        "compare",
        first=task["first"], first_value=first, second=task["second"], second_value=second, relation=relation,
    )  # fmt: skip
    said = _said(task.answer, first, second, smaller="smaller" in task.parts)
    return task.proof(None if said is None else said == sign, relation, line)


def _said(answer: str, first: Fraction, second: Fraction, *, smaller: bool) -> str | None:
    """The relation that an answer claims between the two numbers, None where it claims none that can be read."""
    if re.fullmatch(r"(?:they are )?(?:the same|equal)|一样大|相等", answer, re.IGNORECASE):
        return "="
    parts = re.split(r"\s?([<>=])\s?", answer)
    if len(parts) == 3:  # noqa: PLR2004  (number, sign, number)
        said = value_of(parts[0]), value_of(parts[2])
        swapped = {"<": ">", ">": "<", "=": "="}[parts[1]]
        return parts[1] if said == (first, second) else swapped if said == (second, first) else None
    name, more, less = re.fullmatch(
        r"(.*?)(?:( is (?:larger|greater|bigger)|[更较]?大)|( is (?:smaller|less)|[更较]?小))?", answer
    ).groups()  # type: ignore[union-attr]  # the name may be all of it
    named = value_of(name)
    if first == second or named not in (first, second) or (more and smaller) or (less and not smaller):
        return None
    return ">" if (named == first) != smaller else "<"


@kind(
    "evaluate",
    rf"{_COMMAND}\s*:?\s*(?P<expression>[^=:]+?)(?:\s*=)?",
    r"(?:计算|計算|算一算|口算|求值|直接写出得数|脱式计算|简便计算|递等式计算)\s*:?\s*(?P<expression>[^=:]+?)(?:\s*(?:=|的值|的结果))?",
    r"求\s*(?P<expression>[^=:]+?)\s*的(?:值|结果)",
    r"(?P<expression>[^=:]+?)\s*(?:=|等于)\s*(?:多少|几|\?)?",
)
def _evaluate(task: Task) -> Proof | None:
    text = task["expression"]
    tree, given = tree_of(text), task.quantity()
    if tree is None or given is None or isinstance(tree, Number) or _UNCLEAR.search(text):
        return None
    if text.endswith("!") and not text[:-1].isdecimal():
        return None
    if operations_in(tree) & _AMBIGUOUS or names_in(tree) - {"pi", "e"} or _angle_is_unclear(tree):
        return None
    if given.tree == tree:
        return None
    value = rational(tree)
    if value is not None and max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        return None
    correct = str(value) if value is not None else algebra.timed(task, lambda: _irrational(tree))
    proof = task.compared(task.line("value", expression=text, value=correct), correct) if correct is not None else None
    # An answer as long as the question may only repeat it.
    repeats = size(given.tree) >= size(tree) and not _is_written_out(given.tree)
    return None if repeats and proof is not None and proof.outcome == "proved" else proof


def _irrational(tree: Tree) -> str | None:
    value = algebra.built(tree)
    return algebra.shown(algebra.simplest(value)) if value.is_finite and value.is_real else None


def _is_written_out(tree: Tree) -> bool:
    """Whether an expression is a number written down (-3, 2/5, 40%), not one still to be worked out."""
    match tree:
        case Apply(operation="neg" | "percent", arguments=(inner,)):
            return _is_written_out(inner)
        case Apply(operation="div", arguments=arguments):
            return all(isinstance(argument, Number) for argument in arguments)
    return isinstance(tree, Number)


def _angle_is_unclear(tree: Tree) -> bool:
    """Whether a trigonometric function has a plain number as its argument: sin 30 may mean degrees."""
    angular = [part for part in parts_of(tree) if isinstance(part, Apply) and part.operation in _ANGULAR]
    return any("pi" not in names_in(part) for part in angular)
