"""How an answer was read, in words for people."""

from touchstone.checks.notation.trees import Apply, Name, Number, Tree
from touchstone.checks.notation.units import Unit
from touchstone.checks.values import kinds
from touchstone.checks.values.kinds import Interval, Value
from touchstone.text import shortened

LENGTH = 300
"""The most characters of a description; a longer one is cut and ends with an ellipsis."""
_INFIX = {"add": " + ", "mul": "·", "div": "/", "pow": "^"}
_BRACKETS = {
    "": "a list",
    "⦃⦄": "a set",
    "()": "a point or an open interval",
    "[]": "a list or a closed interval",
    "⟦⟧": "a system",
}


def described(value: Value, text: str) -> str:
    """One line: the kind of value that was read, and the value. `text` is the text it was read from."""
    return shortened(_described(value, text), LENGTH)


def _described(value: Value, text: str) -> str:  # noqa: C901, PLR0912 - one case a kind of value
    match value:
        case kinds.Quantity(tree=tree, units=units):
            measured = " × " + " or ".join(dict.fromkeys(map(_unit, units))) if units else ""
            return f"{'a quantity' if units else 'a value'}: {_written(tree)}{measured}"
        case kinds.Items(values=values, brackets=brackets, decimal=decimal):
            number = "" if decimal is None else f", or with a decimal comma {_described(decimal, text)}"
            members = "; ".join(_described(each, text) for each in values)
            return f"{_BRACKETS.get(brackets, 'a list')} of {len(values)}: {members}{number}"
        case kinds.Solutions(alternatives=alternatives):
            parts = (", ".join(f"{name} = {_described(each, text)}" for name, each in one) for one in alternatives)
            return f"named values: {' or '.join(parts)}"
        case kinds.Region(intervals=intervals, variable=variable):
            where = f" of {variable}" if variable else ""
            return f"a part of the line{where}: {' ∪ '.join(map(_interval, intervals)) or 'nothing'}"
        case kinds.Condition(left=left, right=right, sign=sign):
            kind = "an equation" if sign == "=" else "an inequality"
            return f"{kind}: {_written(left)} {sign.replace('<=', '≤')} {_written(right)}"
        case kinds.Matrix(rows=rows):
            return f"a matrix: {'; '.join(', '.join(map(_written, row)) for row in rows)}"
        case kinds.Ratio(terms=terms):
            return f"a ratio: {' : '.join(map(_written, terms))}"
        case kinds.Division(quotient=quotient, remainder=remainder):
            return f"a division: {quotient}, remainder {remainder}"
        case kinds.Clock(seconds=seconds, half=half):
            doubt = ", before or after noon" if half else ""
            return f"a time of day: {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{doubt}"
        case kinds.Date(year=year, month=month, day=day):
            return f"a date: year {year or 'not said'}, month {month}, day {day or 'not said'}"
        case kinds.Weekday(name=name):
            return f"a weekday: {name.capitalize()}"
        case kinds.Formula():
            return f"a chemical formula: {text.strip()}"
        case kinds.Choice(letters=letters):
            return f"options: {', '.join(sorted(letters))}"
        case kinds.Truth(true=true):
            return "yes, or true" if true else "no, or false"
        case kinds.Words(text=words, plain=plain):
            return f"words: {words}" if plain else f"not read as a value, compared as it is written: {words}"
        case kinds.Ambiguous(readings=readings):
            return " or ".join(_described(reading, text) for reading in readings)


def _unit(unit: Unit) -> str:
    base = "·".join(name if power == 1 else f"{name}^{power}" for name, power in unit.dimension)
    size = "" if unit.factor == 1 else f"{float(unit.factor):g} "
    noun = f" of {unit.noun}" if unit.noun else ""
    return f"[{size}{'·π^' + str(unit.pi) + ' ' if unit.pi else ''}{base or 'count'}{noun}]"


def _interval(bounds: Interval) -> str:
    low = "-∞" if bounds.low is None else _written(bounds.low)
    high = "∞" if bounds.high is None else _written(bounds.high)
    return f"{'[' if bounds.low_closed else '('}{low}, {high}{']' if bounds.high_closed else ')'}"


def _written(tree: Tree) -> str:
    match tree:
        case Number(value=value, decimals=decimals):
            if decimals is not None and abs(value.numerator) < 10**15:
                return f"{float(value):.{max(decimals, 0)}f}"
            return str(value)
        case Name(name):
            return {"oo": "∞", "pi": "π"}.get(name, name)
        case Apply(operation="neg", arguments=(inside,)):
            return f"-{_written(inside)}"
        case Apply(operation="percent", arguments=(inside,)):
            return f"{_written(inside)}%"
        case Apply(operation=operation, arguments=(left, right)) if operation in _INFIX:
            return f"({_written(left)}{_INFIX[operation]}{_written(right)})"
        case Apply(operation=operation, arguments=arguments):
            return f"{operation}({', '.join(map(_written, arguments))})"
