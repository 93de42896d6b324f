"""Which kind of provable problem a text is, if it is one of them and nothing else."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from touchstone.checks.equivalence.extraction import bare_answers
from touchstone.checks.findings import UNKNOWN, Proof
from touchstone.checks.limits import Allowance, NotAtOnceError
from touchstone.checks.notation.plain import plain
from touchstone.checks.notation.trees import NotAnExpressionError, OutOfBoundsError
from touchstone.checks.proofs import algebra, calculus, equations, forms, numbers, values
from touchstone.checks.proofs.kinds import KINDS, Kind, Task
from touchstone.checks.proofs.sentences import Language
from touchstone.checks.values.kinds import Value, Words
from touchstone.checks.values.reading import read

_MODULES = (calculus, equations, forms, numbers, values)
"""Each has added its kinds to `KINDS`, in this order."""
MAX_PROBLEM_CHARS = 400
"""A single command about one mathematical object is shorter; longer problems are not of these kinds."""
MAX_ANSWER_CHARS = 300
"""An answer to a problem of these kinds is short; a longer one is a solution, which is not read here."""

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_POLITE = re.compile(
    r"^(?:please|kindly|can you|could you|请你?|請你?)[, ]*+|(?<![, ])[, ]{0,9}+(?:please|thank you|thanks|谢谢|謝謝)$",
    re.IGNORECASE,
)
_TWO_SENTENCES = re.compile(r"[a-z]{2}[.?!] [A-Z][a-z]*+ [a-z]++ [a-z]++|[\u4e00-\u9fff][。？！] ?[\u4e00-\u9fff]{5}")
"""A story and a question, which no command about one object is; what says thanks is shorter."""
_END = " .。?？;；:：\n"
_NUMBER = r"(?:0|[1-9]\d{0,8})(?:\.\d{1,9})?"
"""Without a leading zero, and shorter than a telephone number."""
_OPERAND = rf"(?:{_NUMBER}|\\frac ?\{{ ?{_NUMBER} ?\}} ?\{{ ?{_NUMBER} ?\}})"
_CALCULATION = re.compile(rf"(?=.*[+*^])[-( ]*{_OPERAND}[) ]*(?:(?:[-+*/]|\^(?: ?\{{)?)[-( ]*{_OPERAND}[) }}]*)+")
"""Numbers joined by signs, one of which says that something is to be worked out: without it 3-5 may be a range, 1/2 an
answer or a date, and 555-1234 a telephone number."""
_DESIGNATION = re.compile(r"\d{4}-\d{1,2}-\d|\d/\d+/\d|\d{3}-\d{4}(?!\d)|\d-\d+-\d{4}(?!\d)")
"""A date or a telephone number beside whatever sign."""
_LEAD_IN = re.compile(
    r"\s*+(?:(?:so|thus|hence|therefore|所以|因此),? )?"
    r"(?:=|(?:(?:the |my |final )*(?:solutions?|results?|roots?)(?: is| are)?|解集|解|结果)\s*"
    r"(?:[:=：]|是|为|(?<=[a-z])(?= )))\s*",
    re.IGNORECASE,
)
"""What introduces a solution and is no name of it."""
_ROWS = re.compile(r"\\(?:begin|end)\s?\{(?:cases|array|aligned)\}(?:\s?\{[lcr]+\})?|&")
_DOT_BETWEEN_DIGITS = re.compile(r"\d[·∙⋅・]\d")
"""The point of a decimal as some write it, where others mean a product."""


def prove_answer(problem: str, answer: str, *, at_once: bool = False) -> Proof:
    """Prove or refute `answer` from the text of `problem` (English or Chinese), where a program can be certain.

    The whole problem must be one command about one mathematical object, with nothing left over but politeness: an
    expression to evaluate (also one of numbers alone, as in 2 + 2, where its signs leave no doubt), an equation, linear
    system or inequality to solve, a derivative, integral or limit to find, a polynomial to expand or factor, an
    expression to simplify, a greatest common divisor or least common multiple, a remainder, primes, a conversion of
    units, a comparison. Everything else, word problems above all, is `unknown`; so is an answer that cannot be read, or
    that may be a rounding of the right one.

    `at_once`: raises `NotAtOnceError` for every problem that is recognised; to find that one is not takes about 1 ms at
    most.
    """
    if len(problem) > MAX_PROBLEM_CHARS or not 0 < len(answer) <= MAX_ANSWER_CHARS or _TWO_SENTENCES.search(problem):
        return UNKNOWN
    try:
        text = _trimmed(plain(_in_rows(problem)))
    except OutOfBoundsError:
        return UNKNOWN
    if _CALCULATION.fullmatch(text) and not _DESIGNATION.search(text) and not _DOT_BETWEEN_DIGITS.search(problem):
        text = f"{text} ="  # the way in which a calculation that stands alone is asked for
    matches = _matches(text)
    first = next(matches, None)
    if first is None:
        return UNKNOWN
    if at_once:
        raise NotAtOnceError
    language: Language = "zh" if _CHINESE.search(text) else "en"
    time = Allowance(algebra.SECONDS)
    given = _answer(answer)
    for kind, parts in chain([first], matches):
        with suppress(NotAnExpressionError):
            proof = None if given is None else kind.prove(Task(kind.rule, parts, *given, language, time))
            if proof is not None:
                return proof
    return Proof(outcome="unknown", rule=first[0].rule)


def _in_rows(text: str) -> str:
    """The text with the rows of LaTeX cases, which end with two backslashes, as a list."""
    return _ROWS.sub(" ", text).replace("\\\\", " ; ") if r"\begin" in text else text


def _answer(text: str) -> tuple[str, Value] | None:
    """The answer that a text marks as its own, or is, in plain notation, and its value; None where it has none."""
    lead = _LEAD_IN.match(text)
    bare = _in_rows(text if lead is None else text[lead.end() :])
    read_as = [
        (candidate.text, value)
        for candidate in bare_answers(bare, choice=False)
        if candidate.certain and (value := read(candidate.text)) is not None
    ]
    if not read_as:
        return None
    found, value = next((each for each in read_as if not isinstance(each[1], Words)), read_as[0])
    try:
        return plain(found).strip(" .。"), value
    except OutOfBoundsError:
        return None


def _trimmed(text: str) -> str:
    """The text without politeness and final marks."""
    before = None
    while before != text:
        before, text = text, _POLITE.sub("", text.strip(_END))
    return text


def _matches(text: str) -> Iterator[tuple[Kind, dict[str, str]]]:
    for kind in KINDS:
        for pattern in kind.patterns:
            match = pattern.fullmatch(text)
            if match is not None:
                yield kind, {key: part.strip() for key, part in match.groupdict().items() if part is not None}
                break
