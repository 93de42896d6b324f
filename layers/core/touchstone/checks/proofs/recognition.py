"""Which kind of provable problem a text is, if it is one of them and nothing else."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from touchstone.checks.equivalence.decision import first_read
from touchstone.checks.equivalence.extraction import TAIL, bare_answers, is_told_once
from touchstone.checks.findings import UNKNOWN, Proof
from touchstone.checks.limits import Allowance, NotAtOnceError
from touchstone.checks.notation.plain import plain
from touchstone.checks.notation.trees import NotAnExpressionError, attempted
from touchstone.checks.proofs import algebra, calculus, equations, forms, numbers, values
from touchstone.checks.proofs.kinds import KINDS, ProblemKind, ProofTask
from touchstone.checks.values.kinds import Value
from touchstone.packaged import own_patterns
from touchstone.text.language import Language

_MODULES = (calculus, equations, forms, numbers, values)
"""Each has added its kinds to `KINDS`, in this order."""
MAX_PROBLEM_CHARS = 400
"""A single command about one mathematical object is shorter; longer problems are not of these kinds."""
MAX_ANSWER_CHARS = 300
"""An answer to a problem of these kinds is short. A longer one is a solution: read where it tells its answer once."""

_PATTERN = own_patterns(__file__)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_END = " .。?？;；:：\n"


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
    too_long = len(problem) > MAX_PROBLEM_CHARS or not 0 < len(answer) <= TAIL
    if too_long or _PATTERN["two sentences"].search(problem):
        return UNKNOWN
    spelled = attempted(plain, _in_rows(problem))
    if spelled is None:
        return UNKNOWN
    text, before = spelled, ""
    while before != text:
        before, text = text, _PATTERN["polite"].sub("", text.strip(_END))
    means_else = _PATTERN["designation"].search(text) or _PATTERN["dot between digits"].search(problem)
    if _PATTERN["calculation"].fullmatch(text) and not means_else:
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
            proof = None if given is None else kind.prove(ProofTask(kind.rule, parts, *given, language, time))
            if proof is not None:
                return proof
    return Proof(outcome="unknown", rule=first[0].rule)


def _in_rows(text: str) -> str:
    """The text with the rows of LaTeX cases, which end with two backslashes, as a list."""
    return _PATTERN["rows"].sub(" ", text).replace("\\\\", " ; ") if r"\begin" in text else text


def _answer(text: str) -> tuple[str, Value] | None:
    """The answer that a text marks as its own, or is, in plain notation, and its value; None where it has none."""
    if len(text) > MAX_ANSWER_CHARS and not is_told_once(text):
        return None
    lead = _PATTERN["lead in"].match(text)
    bare = _in_rows(text if lead is None else text[lead.end() :])
    found = first_read(each for each in bare_answers(bare, choice=False) if each.certain)
    spelled = None if found is None else attempted(plain, found[1].text)
    return None if found is None or spelled is None else (spelled.strip(" .。"), found[0])


def _matches(text: str) -> Iterator[tuple[ProblemKind, dict[str, str]]]:
    for kind in KINDS:
        match = next(filter(None, (pattern.fullmatch(text) for pattern in kind.patterns)), None)
        if match is not None:
            yield kind, {key: part.strip() for key, part in match.groupdict().items() if part is not None}
