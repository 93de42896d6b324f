"""A solution's statements of arithmetic, found in its words, and the first that is false."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from touchstone.checks.arithmetic.nodes import Budget, Node, Number, Unreadable, written
from touchstone.checks.arithmetic.reader import Reader
from touchstone.checks.arithmetic.statements import Statement, Verdict, is_computation, judged
from touchstone.checks.arithmetic.tokens import Kind, Token, plain, tokens_of
from touchstone.checks.arithmetic.words import (
    MODIFIER_CHARACTERS,
    MODIFIERS,
    NUMERAL_CHARACTERS,
    RESULT_STOPS,
)
from touchstone.checks.findings import Finding
from touchstone.checks.limits import NotAtOnceError

RULE = "arithmetic"
MAX_CHARS = 25_000
"""More than the longest solution that is accepted anywhere (20,000); longer text is not looked at."""
MAX_QUOTED_CHARS = 200
MAX_STEPS = 15_000
"""Operands read and operations worked out for one text, 0.2 s at most; a real solution takes a few hundred."""
MAX_STATEMENTS = 400
"""Statements judged in one text; what follows them is not looked at."""
AT_ONCE_CHARS = 600
AT_ONCE_RELATIONS = 16
"""Characters, and signs or words of equality, in a text that is recalculated at once."""
AT_ONCE_STEPS = 250
"""… and the steps of it: a statement may be read in dozens of ways, so that its length says little."""
MAX_OPERAND_TOKENS = 300
MAX_STARTS = 8
"""How many places are tried where the left side of an `=` may begin."""

_MARK = re.compile(r"<<([^<>\n]{1,300})>>")
"""A calculator mark: <<20*2=40>>."""
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_SENTENCES = {
    "en": "“{quoted}” is false: the left side is {left}, the right side is {right}.",
    "zh": "“{quoted}”不成立：左边等于 {left}，右边等于 {right}。",
}
_RELATION = re.compile(r"[=≈≒＝]|等[于於]|得|equal|\\approx|<<")
_DOUBT_BEFORE = re.compile(
    r"\b(?:if|suppose|supposing|assume|assuming|instead|not|isn't|doesn't|never|wrong|wrongly|incorrect|incorrectly|"
    r"mistakes?|mistakenly|mistook|error|contradiction|impossible|false|mod|modulo|binary|octal|hexadecimal|hex|"
    r"should have|whether|test|try|guess)\b|若|假设|假設|假如|如果|错|錯|不|误|誤|进制|進制|矛盾|是否"
)
_DOUBT_IN_SENTENCE = re.compile(
    r"\b(?:not|mod|modulo|remainder|isn't|doesn't|r ?\d|base|rather than)\b|"
    r"[?？≠✗✘❌…]|\\neq?|\.{3}|余 ?\d|餘 ?\d|不是|不等|进制|進制|吗|嗎"
)
_DENIAL = re.compile(
    r"\b(?:wrong|incorrect|contradiction|impossible|false|mistake|untrue|no solution|absurd)\b|"
    r"\bnot (?:true|possible|equal)\b|错|錯|不对|不對|不成立|不可能|矛盾"
)
_OTHER_NOTATION = re.compile(
    r"\b(?:base[ -]?[0-9]+|base (?:two|eight|ten|sixteen)|binary|octal|hexadecimal|mod|modulo|modular)\b|"
    r"进制|進制|二进|模"
)
"""Words in a sentence after which its numbers are not read in base ten, or its equality is another."""
_SENTENCE_END = re.compile(r"[.!](?![\d.])|[。！\n]")
_DENIAL_REACH = 80
"""Characters after a statement in which the text may still take it back."""
_ABOUT = re.compile(r"approx|about|roughly|around|nearly|almost|round|estimat|约|約|左右|四舍五入|近似", re.IGNORECASE)
_REACH = 40
_CLAUSE_REACH = 400


@dataclass(slots=True)
class _Scan:
    """One pass over one stretch of text (the whole of it, or the inside of a calculator mark)."""

    text: str
    offset: int
    budget: Budget
    rounded: dict[Fraction, Fraction]
    tokens: list[Token] = field(init=False)
    breaks: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = tokens_of(self.text)
        borders = (Kind.BREAK, Kind.EQUAL, Kind.ABOUT)
        self.breaks = [index for index, token in enumerate(self.tokens) if token.kind in borders]

    def statements(self) -> Iterator[tuple[int, int, Statement]]:
        """Every `left = right` that can be read: start and end in the text, and the two sides."""
        for place, index in enumerate(self.breaks):
            relation = self.tokens[index]
            if relation.kind is Kind.BREAK:
                continue
            previous = self.breaks[place - 1] if place else -1
            following = self.breaks[place + 1] if place + 1 < len(self.breaks) else len(self.tokens)
            right = self._right_of(index, following)
            if right is None:
                continue
            left = self._left_of(previous, index)
            if left is None:
                continue
            (start, first), (end, second) = left, right
            about = relation.kind is Kind.ABOUT or self._is_about(index, end)
            runs_on = self.tokens[index + 1].kind in (Kind.NUMBER, Kind.CURRENCY)
            statement = Statement(left=first, right=second, about=about, runs_on=runs_on)
            yield self.tokens[start].start, self.tokens[end - 1].end, statement

    def _is_about(self, index: int, end: int) -> bool:
        last = self.tokens[min(end, len(self.tokens) - 1)]
        return _ABOUT.search(self.text, max(0, self.tokens[index].start - _REACH), last.end + _REACH) is not None

    def _parsed(self, start: int, stop: int, *, whole: bool) -> tuple[int, tuple[Node, ...]] | None:
        """The expression from `start`, under both bindings of juxtaposition; its end must be `stop` if `whole`."""
        if stop - start > MAX_OPERAND_TOKENS:
            return None
        nodes: list[Node] = []
        end = start
        for tight in (False, True):
            reader = Reader(self.tokens, start, stop, self.budget, tight=tight)
            try:
                node = reader.expression()
            except Unreadable:
                return None
            if whole and reader.at != stop:
                return None
            nodes.append(node)
            end = reader.at
            if not reader.juxtaposed:
                break
        return end, tuple(nodes)

    def _right_of(self, index: int, following: int) -> tuple[int, tuple[Node, ...]] | None:
        parsed = self._parsed(index + 1, following, whole=False)
        if parsed is None or not self._ends_well(parsed[0], following):
            return None
        return parsed

    def _ends_well(self, end: int, following: int) -> bool:
        """Whether nothing behind an expression belongs to it."""
        if end >= following:
            return True
        token = self.tokens[end]
        after = self.tokens[end + 1] if end + 1 < len(self.tokens) else None
        match token.kind:
            case Kind.CLOSE | Kind.CURRENCY:
                return True
            case Kind.OPEN:
                return token.spaced and after is not None and after.kind is Kind.WORD
            case Kind.WORD if token.is_letters:
                is_variable = len(token.text) == 1 and token.text not in ("a", "i")
                if is_variable or not token.spaced or token.text in RESULT_STOPS:
                    return False
                return after is None or after.kind is not Kind.NUMBER
            case Kind.WORD:
                return not any(near.kind is Kind.NUMBER for near in self.tokens[end + 1 : min(end + 4, following)])
            case _:
                return False

    def _left_of(self, previous: int, index: int) -> tuple[int, tuple[Node, ...]] | None:
        """The longest expression that ends at the relation and begins where a whole one can begin."""
        starts = self._starts(previous, index)
        for start in starts:
            parsed = self._parsed(start, index, whole=True)
            if parsed is not None:
                return (start, parsed[1] + self._signed(start, index)) if self._begins_well(start, previous) else None
        return None

    def _signed(self, start: int, index: int) -> tuple[Node, ...]:
        """The expression with the dash before it as its sign: "- 3 + 4" at the start of a line may be 1."""
        if start == 0 or self.tokens[start - 1].kind is not Kind.BULLET:
            return ()
        dash = self.tokens[start - 1]
        sign = Token(Kind.OPERATOR, "-", dash.start, dash.end, dash.spaced)
        tokens = [sign, *self.tokens[start:index]]
        try:
            return (Reader(tokens, 0, len(tokens), self.budget).expression(),)
        except Unreadable:
            return ()

    def _starts(self, previous: int, index: int) -> list[int]:
        """Places where the left side may begin, farthest first: behind a word, a border or an opening bracket."""
        found: list[int] = []
        for at in range(index - 1, max(previous, index - MAX_OPERAND_TOKENS), -1):
            token = self.tokens[at]
            if token.kind is Kind.OTHER:
                break
            before = self.tokens[at - 1] if at - 1 > previous else None
            begins = token.kind in (Kind.NUMBER, Kind.OPEN, Kind.CURRENCY, Kind.FRACTION, Kind.ROOT)
            if token.kind is Kind.OPERATOR and token.text == "-":
                # "is -3 + 4" begins with a sign, "900 of them - 3" goes on with a difference.
                begins = before is None or before.kind is not Kind.WORD or not self.tokens[at + 1].spaced
            if begins and (before is None or before.kind in (Kind.WORD, Kind.OPEN, Kind.BULLET, Kind.CLOSE)):
                found.append(at)
        return found[:MAX_STARTS][::-1]

    def _begins_well(self, start: int, previous: int) -> bool:
        """Whether nothing before an expression belongs to it."""
        if start - 1 == previous:
            return True
        token = self.tokens[start - 1]
        if any(self.tokens[at].kind is Kind.OPERATOR for at in range(previous + 1, start)):
            return False
        match token.kind:
            case Kind.BULLET | Kind.OPEN:
                return True
            case Kind.WORD if token.is_letters:
                return len(token.text) > 1 and token.text not in MODIFIERS and self.tokens[start].spaced
            case Kind.WORD:
                earlier = self.tokens[start - 2].text if start > 1 else ""
                blocked = token.text in MODIFIER_CHARACTERS or token.text in NUMERAL_CHARACTERS
                return not blocked and earlier not in NUMERAL_CHARACTERS
            case _:
                return False

    def is_doubted(self, start: int, end: int) -> bool:
        """Whether the words around a statement say that it is supposed, denied or asked."""
        sentence_start = max((self.text.rfind(mark, 0, start) for mark in "\n。"), default=-1)
        sentence = self.text[max(sentence_start + 1, start - _CLAUSE_REACH) : start].lower()
        if _OTHER_NOTATION.search(sentence):
            return True
        begin = max((self.text.rfind(mark, 0, start) for mark in "\n.,;:，。；：、"), default=-1)
        # "If he eats 200 g, then he gets 200 * 7 = 1400": what follows "then" is stated, not supposed.
        clause = self.text[max(begin + 1, start - _CLAUSE_REACH) : start].lower().rpartition(" then ")[2]
        if _DOUBT_BEFORE.search(clause):
            return True
        after = self.text[end : end + _DENIAL_REACH].lower()
        sentence = _SENTENCE_END.split(after, maxsplit=1)[0]
        return _DOUBT_IN_SENTENCE.search(sentence) is not None or _DENIAL.search(after) is not None


def _candidates(text: str, budget: Budget) -> Iterator[tuple[_Scan, int, int, Statement]]:
    """All statements of a text: those in its words, then those inside calculator marks."""
    rounded: dict[Fraction, Fraction] = {}
    words = _MARK.sub(lambda match: " " * len(match.group()), text)
    scans = [_Scan(words, 0, budget, rounded)]
    scans += [_Scan(match.group(1), match.start(1), budget, rounded) for match in _MARK.finditer(text)]
    for scan in scans:
        for start, end, statement in scan.statements():
            yield scan, start, end, statement


def _remember(rounded: dict[Fraction, Fraction], statement: Statement, value: Fraction) -> None:
    """Keep what a rounded result was rounded from: a later line may go on with either."""
    for node in statement.right:
        if isinstance(node, Number) and not node.percent and node.scale == 1:
            rounded[node.value] = value


def first_arithmetic_error(solution: str, *, at_once: bool = False) -> Finding | None:
    """The first false arithmetic statement of a solution in English or Chinese, None where none was found.

    Every `=` between two expressions of numbers is recomputed exactly: chains, calculator marks `<<20*2=40>>`, money,
    percent, fractions, mixed numbers, LaTeX, units and words between the numbers, 3乘以4等于12. A statement is flagged
    only if it is false however it is read (see `statements`); what is not certainly arithmetic — variables, ratios,
    times, dates, suppositions, denials — is passed over. So None means "nothing found", never "all is right".

    `span` covers the false statement `left = right` (of a chain, the link that breaks); `suggestion` is the value that
    the left side has. Text over `MAX_CHARS` characters is not looked at. `at_once`: raises `NotAtOnceError` for a text
    that may take more than `AT_ONCE_SECONDS`.
    """
    if len(solution) > MAX_CHARS:
        return None
    relations = sum(1 for _ in islice(_RELATION.finditer(solution), AT_ONCE_RELATIONS + 1))
    if not relations:
        return None
    if at_once and (len(solution) > AT_ONCE_CHARS or relations > AT_ONCE_RELATIONS):
        raise NotAtOnceError
    text, budget = plain(solution), Budget(AT_ONCE_STEPS if at_once else MAX_STEPS, at_once=at_once)
    first: tuple[int, int, Statement, Verdict] | None = None
    for scan, start, end, statement in islice(_candidates(text, budget), MAX_STATEMENTS):
        verdict = judged(statement, scan.rounded, budget)
        if verdict.holds and verdict.rounded and verdict.left is not None:
            _remember(scan.rounded, statement, verdict.left)
        begins = start + scan.offset
        if verdict.holds is False and (first is None or begins < first[0]) and not scan.is_doubted(start, end):
            first = begins, end + scan.offset, statement, verdict
    return None if first is None else _finding(solution, *first)


def _finding(solution: str, start: int, end: int, statement: Statement, verdict: Verdict) -> Finding:
    left, right = (written(value) if value is not None else "?" for value in (verdict.left, verdict.right))
    sentence = _SENTENCES["zh" if _CHINESE.search(solution) else "en"]
    quoted = " ".join(solution[start:end].split())[:MAX_QUOTED_CHARS]
    detail = sentence.format(quoted=quoted, left=left, right=right)
    # What was worked out is what should stand on the other side.
    suggestion = left if is_computation(statement.left[0]) else right
    return Finding(rule=RULE, span=(start, end), detail=detail, suggestion=suggestion)
