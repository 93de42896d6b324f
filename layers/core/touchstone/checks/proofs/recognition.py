"""Recognises the kind of provable problem that a text is, if the text is that problem and nothing else."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from touchstone.checks.equivalence.extraction import TAIL, bare_answers, states_answer_once
from touchstone.checks.equivalence.reading import first_read
from touchstone.checks.findings import UNKNOWN, Proof
from touchstone.checks.notation.precedence import BELOW, DIVISOR, EXPONENT, POWER, ROOT, ROOT_BELOW, Way, bracketed
from touchstone.checks.notation.tokens import GREEK, Token, tokens_of
from touchstone.checks.notation.trees import NotAnExpressionError, value_or_none
from touchstone.checks.proofs import algebra, calculus, equations, forms, numbers, values
from touchstone.checks.proofs.kinds import KINDS, ProblemKind, ProofTask
from touchstone.checks.values.kinds import Value
from touchstone.kinds import require_texts
from touchstone.limits import Allowance, NotAtOnceError
from touchstone.packaged import own_patterns
from touchstone.text.language import Language

_MODULES = (calculus, equations, forms, numbers, values)
"""Each module registers its kinds in `KINDS` when it is imported, in this order."""
MAX_PROBLEM_CHARS = 400
"""A single command about one mathematical object is shorter; longer problems are not of these kinds."""
MAX_ANSWER_CHARS = 300
"""The most characters of an answer that is read directly: answers to these kinds are short.

A longer answer is a whole solution; it is read only if it states its answer once.
"""

_PATTERN = own_patterns(__file__)
_THOUSANDS: Way = (",", re.compile(r"((?<![\d,])\d{1,3}),(\d{3})(?![\d,])"), r"\1\2")
"""1,200 in a list of numbers as one number."""
_OTHERWISE = (DIVISOR, EXPONENT, ROOT, _THOUSANDS)
"""What may be meant otherwise than it is written. x^3/2 is half of x³ in a problem, and may be x^(3/2) in an answer."""
_BELOW = (BELOW, ROOT_BELOW)
_CALCULUS = ("derivative", "antiderivative", "integral", "limit")
"""The kinds of problems in which 1/2x may well be one over 2x; in others it is half of x."""
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_END = " .。?？;；:：\n"

_SPELLINGS = {"oo": "infty", "empty": "emptyset", "~=": "approx", "and": "wedge", "or": "vee"}
_SPELLINGS |= {
    name: name for name in ("frac", "binom", "sqrt", "pm", "mp", "cup", "cap", "in", "choose", "over", "mod")
}
"""The LaTeX command for a sign that has no character."""
_AS_WRITTEN = frozenset(("、", "。", "…", "→", "⇒", "⇌", "∴", "**"))
"""Signs that keep their spelling: in a sentence they mean something else than the signs that are read alike."""


def prove_answer(problem: str, answer: str, *, at_once: bool = False) -> Proof:
    """Prove or refute `answer` from the text of `problem` (English or Chinese), if a program can be certain.

    The whole problem must be one command about one mathematical object, apart from polite words. The commands: evaluate
    an expression (also one of numbers alone, such as 2 + 2, if its signs leave no doubt); solve an equation, a linear
    system or an inequality; find a derivative, an integral or a limit; expand or factor a polynomial; simplify an
    expression; find a greatest common divisor, a least common multiple, a remainder or prime factors; decide whether a
    number is prime; convert units; compare two numbers. Every other problem, above all a word problem, is `unknown`. So
    is an answer that cannot be read, or that may be a rounding of the correct answer. Where a problem or an answer may
    mean something else than what is written (6 ÷ 1/2, e^2x), it is decided only if that changes nothing.

    `at_once`: raises `NotAtOnceError` for every problem that is recognised. To find that a problem is not recognised
    takes about 1 ms at most.
    """
    require_texts(problem=problem, answer=answer)
    proof = _proof(problem, answer, at_once=at_once)
    if proof.outcome == "unknown":
        return proof
    # In algebra 1/2x is half of x, as it is written, and what is proved of it stands.
    below = () if proof.outcome == "proved" and proof.rule not in _CALCULUS else _BELOW
    others = [(meant, answer) for meant in bracketed(problem, (*_OTHERWISE, *below))]
    if proof.outcome == "refuted":
        others += [(problem, meant) for meant in bracketed(answer, (*_OTHERWISE, *_BELOW, POWER))]
    stands = all(_proof(*other).outcome == proof.outcome for other in others)
    return proof if stands else Proof(outcome="unknown", rule=proof.rule)


def _proof(problem: str, answer: str, *, at_once: bool = False) -> Proof:
    """The proof of one reading of the texts; `at_once` as in `prove_answer`."""
    too_long = len(problem) > MAX_PROBLEM_CHARS or not 0 < len(answer) <= TAIL
    if too_long or _PATTERN["two sentences"].search(problem) or _PATTERN["lost power"].match(problem):
        return UNKNOWN
    spelled = value_or_none(_plain, _in_rows(problem))
    if spelled is None:
        return UNKNOWN
    text, before = spelled, ""
    while before != text:
        before, text = text, _PATTERN["polite"].sub("", text.strip(_END))
    means_else = _PATTERN["designation"].search(text) or _PATTERN["dot between digits"].search(problem)
    if _PATTERN["calculation"].fullmatch(text) and not means_else:
        text = f"{text} ="  # a calculation that stands alone is a question for its value
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
    """The text; rows of LaTeX cases, which end with two backslashes, become a list."""
    return _PATTERN["rows"].sub(" ", text).replace("\\\\", " ; ") if r"\begin" in text else text


def _answer(text: str) -> tuple[str, Value] | None:
    """The answer in plain notation, and its value; None if the text has no certain answer.

    The answer is the part that the text marks as its answer, or the whole text.
    """
    if len(text) > MAX_ANSWER_CHARS and not states_answer_once(text):
        return None
    lead = _PATTERN["lead in"].match(text)
    bare = _in_rows(text if lead is None else text[lead.end() :])
    found = first_read(each for each in bare_answers(bare, choice=False) if each.certain)
    spelled = None if found is None else value_or_none(_plain, found.candidate.text)
    return None if found is None or spelled is None else (spelled.strip(" .。"), found.value)


def _matches(text: str) -> Iterator[tuple[ProblemKind, dict[str, str]]]:
    for kind in KINDS:
        match = next(filter(None, (pattern.fullmatch(text) for pattern in kind.patterns)), None)
        if match is not None:
            yield kind, {key: part.strip() for key, part in match.groupdict().items() if part is not None}


def _plain(text: str) -> str:
    """`text` rebuilt from its tokens in one spelling, for patterns over words and mathematics; in linear time.

    A sign is written in ASCII if possible, else as a LaTeX command (`\\frac`, `\\pi`, `\\cup`). ⦃ ⦄ are the braces of a
    set, ¤ is a currency's dollar, √ and ∛ apply to the next operand. Raises OutOfBoundsError for a number of too many
    digits.
    """
    tokens = tokens_of(text)
    pieces: list[str] = []
    upright, end = False, 0
    for token in tokens:
        if "\\\\" in text[end : token.start]:
            pieces.append(r" \\ ")  # the end of a row
        elif token.spaced or token.upright != upright:
            pieces.append(" ")
        pieces.append(_spelled(token, text))
        upright, end = token.upright, token.end
    return " ".join("".join(pieces).split())


def _spelled(token: Token, text: str) -> str:
    written = text[token.start : token.end]
    match token.kind:
        case "sign" if written in _AS_WRITTEN or token.text in ("->", "=>", "<=>"):
            return written
        case "sign" if token.text in _SPELLINGS:
            name = _SPELLINGS[token.text]
            return f"\\{name}" if name in ("frac", "binom", "sqrt") else f" \\{name} "
        case "number" if token.value is not None and token.text[0].isnumeric() and not token.text.isascii():
            return f"\\frac{{{token.value.value.numerator}}}{{{token.value.value.denominator}}}"
        case "letters" if token.text in GREEK:
            return f"\\{GREEK[token.text]} "
        case "function" | "accent":
            return f"\\{token.text}" + ("" if written.startswith("\\") else " ")
    return token.text
