"""Left sides that name what an equation gives the value of, as against those that state a condition."""

import re

from touchstone.checks.syntax import parse
from touchstone.checks.tokens import GREEK, ONE_ARGUMENT, Apply, Name, NotAnExpressionError, Tree

_CALL = re.compile(r"\\?([A-Za-z]+)(?:_\{?\w+\}?)?'{0,3}\s?\([^()]{1,20}\)")
_WORDS = re.compile(r"[\u4e00-\u9fff]{1,20}|[A-Za-z]{2,20}(?: [A-Za-z]{1,20}){0,5}")
_MARKED = re.compile(
    r"\\(?:angle|vec|overline|overrightarrow|bar|hat|odot|triangle)\s?\{?[A-Za-z_\d]{1,5}\}?|[A-Za-z]'{1,3}"
    r"|d[a-z]/d[a-z]|\\Delta ?[A-Za-z]|[A-Za-z]_\s?\{\w{1,8}\}"
)
_SPACES = re.compile(r"[\s{}]")


def label(text: str) -> str | None:
    """`text` as a name (`x`, `x_1`, `f(2)`, `AB`, `|AB|`, `A:B`, 面积, `\\angle ABC`), None for a condition's side.

    `2x`, `x + y`, `xy`, `|x|` and `\\cos x` are no names: of `xy = 6` the value 6 is not the whole answer.
    """
    named = all(_is_name(side.strip()) for side in text.split(":")) if ":" in text else _is_name(text.strip())
    return _SPACES.sub("", text) if named else None


def _is_name(text: str) -> bool:
    if _MARKED.fullmatch(text):
        return True
    try:
        return _is_named(parse(text))
    except NotAnExpressionError:
        pass
    called = _CALL.fullmatch(text)
    if called is not None:
        return (len(called[1]) == 1 or called[1] in GREEK) and called[1] not in ONE_ARGUMENT
    return _WORDS.fullmatch(text) is not None and not ONE_ARGUMENT.intersection(text.split())


def _is_named(tree: Tree) -> bool:
    match tree:
        case Name(name):
            return name not in ("oo", "pi", "e", "i")
        case Apply(operation="abs", arguments=(inside,)):
            return _is_segment(inside)
    return _is_segment(tree)


def _is_segment(tree: Tree) -> bool:
    """Points in capitals next to each other, or a ratio of such."""
    match tree:
        case Name(name):
            return name[0].isupper() and name.isascii()
        case Apply(operation="mul" | "div", arguments=arguments):
            return all(map(_is_segment, arguments))
    return False
