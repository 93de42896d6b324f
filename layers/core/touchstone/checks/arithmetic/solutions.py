"""Finds the first false arithmetic statement in a solution."""

from fractions import Fraction
from itertools import chain, islice

from touchstone.checks.arithmetic.numerals import Budget, Numeral, value_text
from touchstone.checks.arithmetic.prose import in_points, is_doubted
from touchstone.checks.arithmetic.scanning import Scan
from touchstone.checks.arithmetic.statements import Statement, StatementVerdict, is_computation, judged
from touchstone.checks.findings import Finding
from touchstone.checks.notation.trees import OutOfBoundsError
from touchstone.kinds import require_texts
from touchstone.limits import NotAtOnceError
from touchstone.packaged import own_patterns, own_table

RULE = "arithmetic"
MAX_CHARS = 25_000
"""More than the longest solution that is accepted anywhere (20,000 characters); a longer text is not checked."""
MAX_QUOTED_CHARS = 200
MAX_STEPS = 12_000
"""The most steps for one text (operands read, operations worked out): 0.2 s at most. A real solution takes hundreds."""
MAX_STATEMENTS = 400
"""The most statements judged in one text; later statements are not checked."""
AT_ONCE_CHARS = 600
AT_ONCE_RELATIONS = 16
"""The most characters, and the most signs or words of equality, in a text that is recomputed at once."""
AT_ONCE_STEPS = 200
"""The most steps for a text that is recomputed at once.

A statement may be read in dozens of ways, so its length alone does not bound the work.
"""

_SENTENCES: dict[str, str] = own_table(__file__)["sentences"]
_PATTERN = own_patterns(__file__)


def first_arithmetic_error(solution: str, problem: str = "", *, at_once: bool = False) -> Finding | None:
    """The first false arithmetic statement of a solution; None if none is found.

    Every `=` between two expressions of numbers is recomputed exactly: chains, calculator marks `<<20*2=40>>`, money,
    percent, fractions, mixed numbers, LaTeX, units and words between the numbers, 3乘以4等于12. So are amounts with
    their units (150 m / 12 s = 12.5 m/s), conversions, roots, π, equal ratios, and decimal commas of other languages.
    A statement is flagged only if it is false under every reading (see `statements`). A statement that may not be
    arithmetic (variables, times, dates, suppositions, denials), or is taken back, is passed over. All statements are
    passed over if the solution or its `problem` speaks of another arithmetic: clocks, finite fields, truth values. So
    None means "nothing found", never "all right".

    `span` covers the false statement `left = right`; in a chain, the link that breaks. `suggestion` is the value of the
    left side; if only the right side is a computation, its value. A text over `MAX_CHARS` characters is not checked.
    With `at_once`, raises `NotAtOnceError` for a text that may take more than `AT_ONCE_SECONDS`.
    """
    require_texts(solution=solution, problem=problem)
    if len(solution) > MAX_CHARS:
        return None
    relations = sum(1 for _ in islice(_PATTERN["relation"].finditer(solution), AT_ONCE_RELATIONS + 1))
    if not relations:
        return None
    if at_once and (len(solution) > AT_ONCE_CHARS or relations > AT_ONCE_RELATIONS):
        raise NotAtOnceError
    # Between plain whole numbers, a statement that holds as written needs no other reading: most of a right solution.
    plain = _PATTERN["plain"].findall(solution)
    if len(plain) == relations and all(_plain_value(left) == int(right) for left, right in plain):
        return None
    budget = Budget(AT_ONCE_STEPS if at_once else MAX_STEPS, at_once=at_once)
    try:
        found, *others = (_first(reading, solution, budget) for reading in in_points(solution))
    except OutOfBoundsError:
        return None
    if any(other is None or found is None or other.span != found.span for other in others):
        return None
    other = _PATTERN["other arithmetic"]
    return None if found and (other.search(solution) or other.search(problem[:MAX_CHARS])) else found


def _plain_value(expression: str) -> int | None:
    """The value of whole numbers with operators between them; None if a quotient is not whole."""
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


def _first(solution: str, written: str, budget: Budget) -> Finding | None:
    """The first false statement of `solution`, a reading of what is `written`."""
    first: tuple[int, int, Statement, StatementVerdict] | None = None
    rounded: dict[Fraction, Fraction] = {}
    # All statements of a text: first those in its words, then those inside calculator marks.
    scans = [Scan(_PATTERN["mark"].sub(lambda match: " " * len(match[0]), solution), 0, budget)]
    scans += [Scan(match[1], match.start(1), budget) for match in _PATTERN["mark"].finditer(solution)]
    found = ((scan, *statement) for scan in scans for statement in chain(scan.statements(), scan.ratios()))
    for scan, start, end, statement in islice(found, MAX_STATEMENTS):
        verdict = judged(statement, rounded, budget)
        match statement.right:
            case Numeral(percent=False, scale=1, value=stated) if verdict.rounded and verdict.left is not None:
                # The exact value before rounding: a later line may continue with either value.
                rounded[stated] = verdict.left
        begins = start + scan.offset
        if verdict.holds is not False or (first is not None and begins >= first[0]):
            continue
        if not (is_doubted(scan.text, start, end) or _are_two(scan.text, start, end, verdict)):
            first = begins, end + scan.offset, statement, verdict
    return None if first is None else _finding(written, *first)


def _are_two(text: str, start: int, end: int, verdict: StatementVerdict) -> bool:
    """Whether a comma that may separate thousands stands between two statements: `29 × 15 = 435,440 = 435 + 5`."""
    ends, begins = _PATTERN["ends in two"].search(text, start, end), _PATTERN["begins in two"].match(text, start)
    if ends and text[end:].lstrip().startswith("="):
        return str(verdict.left) == ends[1]
    return bool(begins and text[:start].rstrip().endswith("=") and str(verdict.right) == begins[1])


def _finding(solution: str, start: int, end: int, statement: Statement, verdict: StatementVerdict) -> Finding:
    left, right = (value_text(value) if value is not None else "?" for value in (verdict.left, verdict.right))
    sentence = _SENTENCES["zh" if _PATTERN["chinese"].search(solution) else "en"]
    quoted = " ".join(solution[start:end].split())[:MAX_QUOTED_CHARS]
    detail = sentence.format(quoted=quoted, left=left, right=right)
    # The suggestion is the value of the side that computes.
    suggestion = right if is_computation(statement.right) and not is_computation(statement.left[0]) else left
    return Finding(rule=RULE, span=(start, end), detail=detail, suggestion=suggestion)
