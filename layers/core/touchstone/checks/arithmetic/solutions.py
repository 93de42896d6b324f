"""The first false statement of arithmetic in a solution."""

from fractions import Fraction
from itertools import islice

from touchstone.checks.arithmetic.doubt import is_doubted
from touchstone.checks.arithmetic.numerals import Budget, Numeral, written
from touchstone.checks.arithmetic.scanning import Scan
from touchstone.checks.arithmetic.statements import Statement, StatementVerdict, is_computation, judged
from touchstone.checks.findings import Finding
from touchstone.checks.limits import NotAtOnceError
from touchstone.checks.notation.trees import OutOfBoundsError
from touchstone.packaged import own_patterns, own_table

RULE = "arithmetic"
MAX_CHARS = 25_000
"""More than the longest solution that is accepted anywhere (20,000); longer text is not looked at."""
MAX_QUOTED_CHARS = 200
MAX_STEPS = 12_000
"""Operands read and operations worked out for one text, 0.2 s at most; a real solution takes a few hundred."""
MAX_STATEMENTS = 400
"""Statements judged in one text; what follows them is not looked at."""
AT_ONCE_CHARS = 600
AT_ONCE_RELATIONS = 16
"""Characters, and signs or words of equality, in a text that is recalculated at once."""
AT_ONCE_STEPS = 200
"""… and the steps of it: a statement may be read in dozens of ways, so that its length says little."""

_SENTENCES: dict[str, str] = own_table(__file__)["sentences"]
_PATTERN = own_patterns(__file__)


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
    relations = sum(1 for _ in islice(_PATTERN["relation"].finditer(solution), AT_ONCE_RELATIONS + 1))
    if not relations:
        return None
    if at_once and (len(solution) > AT_ONCE_CHARS or relations > AT_ONCE_RELATIONS):
        raise NotAtOnceError
    # What holds as it stands, between plain whole numbers, is false in no other reading: most of a right solution.
    plain = _PATTERN["plain"].findall(solution)
    if len(plain) == relations and all(_plain_value(left) == int(right) for left, right in plain):
        return None
    try:
        return _first(solution, Budget(AT_ONCE_STEPS if at_once else MAX_STEPS, at_once=at_once))
    except OutOfBoundsError:
        return None


def _plain_value(expression: str) -> int | None:
    """What whole numbers with signs between them are worth; None where a quotient is no whole number."""
    total = term = 0
    for sign, digits in _PATTERN["operand"].findall(expression):
        number = int(digits)
        if sign in ("*", "×", "x"):
            term *= number
        elif sign in ("/", "÷"):
            if not number or term % number:
                return None
            term //= number
        else:
            total, term = total + term, -number if sign in ("-", "−") else number
    return total + term


def _first(solution: str, budget: Budget) -> Finding | None:
    first: tuple[int, int, Statement, StatementVerdict] | None = None
    rounded: dict[Fraction, Fraction] = {}
    # All statements of a text: those in its words, then those inside calculator marks.
    scans = [Scan(_PATTERN["mark"].sub(lambda match: " " * len(match[0]), solution), 0, budget)]
    scans += [Scan(match[1], match.start(1), budget) for match in _PATTERN["mark"].finditer(solution)]
    found = ((scan, *statement) for scan in scans for statement in scan.statements())
    for scan, start, end, statement in islice(found, MAX_STATEMENTS):
        verdict = judged(statement, rounded, budget)
        match statement.right:
            case Numeral(percent=False, scale=1, value=stated) if verdict.rounded and verdict.left is not None:
                # What a rounded result was rounded from: a later line may go on with either.
                rounded[stated] = verdict.left
        begins = start + scan.offset
        if verdict.holds is False and (first is None or begins < first[0]) and not is_doubted(scan.text, start, end):
            first = begins, end + scan.offset, statement, verdict
    return None if first is None else _finding(solution, *first)


def _finding(solution: str, start: int, end: int, statement: Statement, verdict: StatementVerdict) -> Finding:
    left, right = (written(value) if value is not None else "?" for value in (verdict.left, verdict.right))
    sentence = _SENTENCES["zh" if _PATTERN["chinese"].search(solution) else "en"]
    quoted = " ".join(solution[start:end].split())[:MAX_QUOTED_CHARS]
    detail = sentence.format(quoted=quoted, left=left, right=right)
    # What was worked out is what should stand on the other side.
    suggestion = left if is_computation(statement.left[0]) else right
    return Finding(rule=RULE, span=(start, end), detail=detail, suggestion=suggestion)
