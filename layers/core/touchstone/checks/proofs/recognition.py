"""Which kind of provable problem a text is, if it is one of them and nothing else."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from touchstone.checks.findings import UNKNOWN, Proof
from touchstone.checks.limits import NotAtOnceError
from touchstone.checks.notation.plain import plain
from touchstone.checks.notation.trees import OutOfBoundsError
from touchstone.checks.proofs.answers import cleaned
from touchstone.checks.proofs.kinds import Kind, Task
from touchstone.checks.proofs.sentences import Language

MAX_PROBLEM_CHARS = 400
"""A single command about one mathematical object is shorter; longer problems are not of these kinds."""

_MODULES = ("numbers", "quantities", "equations", "systems", "inequalities", "calculus", "forms", "values")
"""Where the kinds are, in the order in which they are tried. Only a module whose pattern matches loads algebra."""

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
    if len(problem) > MAX_PROBLEM_CHARS:
        return UNKNOWN
    if _TWO_SENTENCES.search(problem):
        return UNKNOWN
    given = cleaned(answer)
    if given is None:
        return UNKNOWN
    # In a system of LaTeX cases, rows end with two backslashes.
    rows = problem.replace("\\\\", " ; ") if r"\begin" in problem else problem
    try:
        text = _trimmed(plain(rows))
    except OutOfBoundsError:
        return UNKNOWN
    if _CALCULATION.fullmatch(text) and not _DESIGNATION.search(text) and not _DOT_BETWEEN_DIGITS.search(problem):
        text = f"{text} ="  # the way in which a calculation that stands alone is asked for
    language: Language = "zh" if _CHINESE.search(text) else "en"
    rule = "none"
    for kind, parts in _matches(text):
        if at_once:
            raise NotAtOnceError
        proof = kind.prove(Task(parts, given, language))
        if proof is not None:
            return proof
        rule = kind.rule if rule == "none" else rule
    return Proof(outcome="unknown", rule=rule)


def _trimmed(text: str) -> str:
    """The text without politeness and final marks."""
    before = None
    while before != text:
        before, text = text, _POLITE.sub("", text.strip(_END))
    return text


def _matches(text: str) -> Iterator[tuple[Kind, dict[str, str]]]:
    for kind in _kinds():
        for pattern in kind.patterns:
            match = pattern.fullmatch(text)
            if match is not None:
                yield kind, {key: part.strip() for key, part in match.groupdict().items() if part is not None}
                break


@cache
def _kinds() -> tuple[Kind, ...]:
    modules = (import_module(f"touchstone.checks.proofs.{name}") for name in _MODULES)
    return tuple(kind for module in modules for kind in module.KINDS)
