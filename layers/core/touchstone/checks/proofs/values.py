"""Expressions to evaluate, shares, and comparisons of two numbers."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from fractions import Fraction

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import (
    Apply,
    NotAnExpressionError,
    Number,
    Tree,
    names_in,
    operations_in,
    parts_of,
    size,
)
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import Kind, Task, number_of, patterns, tree_of
from touchstone.checks.proofs.sentences import sentence
from touchstone.checks.values.exact import rational

_UNCLEAR = re.compile(r"/\s*[\d.]+\s*\(|/\s*\([^()]*\)\s*\(|\)\s*\d")
"""A product without a sign behind a division: 6/2(3) is read in two ways."""
_ANGULAR = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
_AMBIGUOUS = frozenset({"log", "degrees", "percent", "pm", "mp", "arcsin", "arccos", "arctan", "arccot"})
"""`log` may have base 10 or e, an angle may be in degrees, and 100 + 10% may be 110."""
_NUMBER = r"-?\d++(?:,\d{3})*+(?:\.\d++)?"
_FRACTION = rf"(?:{_NUMBER}(?:\s?/\s?\d+)?|-?\\frac\s?\{{\d+\}}\s?\{{\d+\}}|\d+ \d+/\d+)"


def may_be_rounding(stated: Number, value: Fraction) -> bool:
    """Whether a stated number that differs from the exact value may be the value rounded or cut off."""
    if stated.decimals is None and stated.value.denominator != 1:
        return False  # A fraction is never a rounding.
    decimals = max(stated.decimals or 0, 0)
    unit = Fraction(1, 10**decimals)
    return abs(stated.value - value) < unit and (value * 10**decimals).denominator != 1


def decided(task: Task, rule: str, value: Fraction, line: str, *, reduced: bool = False) -> Proof | None:
    """The proof for a problem whose answer is one rational number.

    `reduced`: the problem asks for the simplest form, so an equal fraction in another form is left undecided.
    """
    text = (
        re.sub(r"^[\d\s+*/()^.{},\\frac%-]+=\s*(?=-?[\d.\\])", "", task.answer) if "=" in task.answer else task.answer
    )
    stated = number_of(text)
    if stated is None or re.fullmatch(r"-?\d+,\d{1,2}", text):
        return None
    if stated.value == value:
        if reduced and str(value) != text.replace(" ", "") and stated.decimals is None:
            return None
        return task.compared(rule, line, equal=True, correct=str(value), given=text)
    # 1,234 may be 1.234 where a comma marks the decimals.
    if may_be_rounding(stated, value) or "," in text:
        return None
    return task.compared(rule, line, equal=False, correct=str(value), given=text)


def _evaluate(task: Task) -> Proof | None:
    text = task["expression"]
    tree = tree_of(text)
    if (
        tree is None
        or isinstance(tree, Number)
        or tree == tree_of(task.answer)
        or _UNCLEAR.search(text)
        or operations_in(tree) & _AMBIGUOUS
    ):
        return None
    if text.endswith("!") and not re.fullmatch(r"\d+!", text):
        return None
    if names_in(tree) - {"pi", "e"} or _angle_is_unclear(tree):
        return None
    try:
        value = rational(tree)
    except NotAnExpressionError:
        return None
    if value is None:
        return algebra.evaluated(task, text, tree)
    if value.numerator.bit_length() > 512 or value.denominator.bit_length() > 512:  # noqa: PLR2004  (no one checks 150 digits)
        return None
    return decided(task, "evaluate", value, sentence("value", task.language, expression=text, value=str(value)))


def _angle_is_unclear(tree: Tree) -> bool:
    """Whether a trigonometric function has a plain number as its argument: sin 30 may mean degrees."""
    angular = [part for part in parts_of(tree) if isinstance(part, Apply) and part.operation in _ANGULAR]
    return any("pi" not in names_in(part) for part in angular)


def _reduce(task: Task) -> Proof | None:
    tree = tree_of(task["fraction"])
    try:
        value = rational(tree) if tree is not None else None
    except NotAnExpressionError:
        return None
    if value is None:
        return None
    line = sentence("value", task.language, expression=task["fraction"], value=str(value))
    return decided(task, "reduce", value, line, reduced=True)


def _share(task: Task) -> Proof | None:
    share, whole = number_of(task["share"]), number_of(task["whole"])
    if share is None or whole is None or size(tree_of(task["share"]) or share) > 4:  # noqa: PLR2004
        return None
    value = share.value * whole.value
    expression = f"{task['share']} × {task['whole']}"
    return decided(task, "share", value, sentence("value", task.language, expression=expression, value=str(value)))


def _compare(task: Task) -> Proof | None:
    first, second = number_of(task["first"]), number_of(task["second"])
    if first is None or second is None:
        return None
    smaller = "smaller" in task.parts
    sign = ">" if first.value > second.value else "<" if first.value < second.value else "="
    relation = f"{task['first']} {sign} {task['second']}"
    line = sentence(
        "compare", task.language,
        first=task["first"], first_value=str(first.value),
        second=task["second"], second_value=str(second.value), relation=relation,
    )  # fmt: skip
    said = _said(task.answer, first.value, second.value, smaller=smaller)
    if said is None:
        return None
    return Proof(
        outcome="proved" if said == sign else "refuted", rule="compare", derivation=(line,), correct_answer=relation
    )


def _said(answer: str, first: Fraction, second: Fraction, *, smaller: bool) -> str | None:
    """The relation that an answer claims between the two numbers, None where it claims none that can be read."""
    if re.fullmatch(r"(?:they are )?(?:the same|equal)|一样大|相等", answer, re.IGNORECASE):
        return "="
    parts = re.split(r"\s?([<>=])\s?", answer)
    if len(parts) == 3:  # noqa: PLR2004  (number, sign, number)
        left, right = number_of(parts[0]), number_of(parts[2])
        if left is None or right is None:
            return None
        if (left.value, right.value) == (first, second):
            return parts[1]
        swapped = {"<": ">", ">": "<", "=": "="}[parts[1]]
        return swapped if (left.value, right.value) == (second, first) else None
    named = number_of(re.sub(r"(?: is)? (?:larger|greater|bigger|smaller|less)$|[更较]?[大小]$", "", answer))
    if named is None or first == second or named.value not in (first, second):
        return None
    if (re.search(r"larger|greater|bigger|大$", answer) and smaller) or (
        re.search(r"smaller|less|小$", answer) and not smaller
    ):
        return None
    return ">" if (named.value == first) != smaller else "<"


_COMMAND = r"(?:compute|calculate|evaluate|work out|find the value of|determine the value of|what is the value of|what is|what's|how much is)"
KINDS = (
    Kind(
        "share",
        patterns(
            rf"{_COMMAND} (?P<share>{_NUMBER}\s?%|\d+/\d+) of (?P<whole>{_NUMBER})",
            rf"(?:求|计算|計算)?\s*(?P<whole>{_NUMBER})\s*的\s*(?P<share>{_NUMBER}\s?%|\d+/\d+)\s*(?:是|等于)?(?:多少|几)?",
        ),
        _share,
    ),
    Kind(
        "reduce",
        patterns(
            r"(?:simplify|reduce)(?: the fraction)?:? (?P<fraction>\d+\s?/\s?\d+|\\frac\s?\{\d+\}\s?\{\d+\})(?: to (?:its )?(?:lowest terms|simplest form))?",
            r"[把将將]?\s*(?P<fraction>\d+\s?/\s?\d+|\\frac\s?\{\d+\}\s?\{\d+\})\s*(?:约分|約分|化成最简分数|化为最简分数)",
            r"(?:约分|約分|化简|化簡)\s*:?\s*(?P<fraction>\d+\s?/\s?\d+|\\frac\s?\{\d+\}\s?\{\d+\})",
        ),
        _reduce,
    ),
    Kind(
        "compare",
        patterns(
            rf"which (?:number |one |fraction |of these )?is (?:(?P<larger>larger|greater|bigger)|(?P<smaller>smaller|less))[,:]? (?P<first>{_FRACTION}) or (?P<second>{_FRACTION})",
            rf"compare(?: the numbers)?:? (?P<first>{_FRACTION}) (?:and|with|to) (?P<second>{_FRACTION})",
            rf"(?:比较|比較)\s*(?P<first>{_FRACTION})\s*[和与與、]\s*(?P<second>{_FRACTION})\s*的?大小",
            rf"(?P<first>{_FRACTION})\s*[和与與]\s*(?P<second>{_FRACTION})\s*(?:,\s*)?(?:哪个|哪個|哪一个|谁)(?:数)?(?:更|比较|较)?(?:大|(?P<smaller>小))",
        ),
        _compare,
    ),
    Kind(
        "evaluate",
        patterns(
            rf"{_COMMAND}\s*:?\s*(?P<expression>[^=:]+?)(?:\s*=)?",
            r"(?:计算|計算|算一算|口算|求值|直接写出得数|脱式计算|简便计算|递等式计算)\s*:?\s*(?P<expression>[^=:]+?)(?:\s*(?:=|的值|的结果))?",
            r"求\s*(?P<expression>[^=:]+?)\s*的(?:值|结果)",
            r"(?P<expression>[^=:]+?)\s*(?:=|等于)\s*(?:多少|几|\?)?",
        ),
        _evaluate,
    ),
)
