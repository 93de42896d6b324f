"""Finds the answer of a text, and reads it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from touchstone.checks.equivalence.extraction import Candidate, bare_answers, typed
from touchstone.checks.values.kinds import Choice, Condition, Items, Region, Value, Words
from touchstone.checks.values.reading import read, simple_number
from touchstone.checks.values.words import with_sign


class ReadCandidate(NamedTuple):
    """A bare answer of a text, and its value."""

    value: Value
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The answer of a text.

    `value`: what it means. `part`: the part of the text that was read. `text`: the whole text, with its signs as they
    are typed; `original`: the text as it was given. `certain`: the text marks this part as its answer; otherwise it may
    confirm, and not refute. `unit_unread`: the words behind the number were not read.
    """

    value: Value
    part: str
    text: str
    original: str
    certain: bool = True
    unit_unread: bool = False

    @property
    def is_within(self) -> bool:
        """Whether the text says more than its answer."""
        return len(self.part) < len(self.text)


def read_both(given: str, expected: str) -> tuple[ReadAnswer | None, ReadAnswer | None]:
    """The answers of two texts that are compared; None for a text without an answer that can be read.

    An option's letter may stand alone or before the option's text: B, and B. 12 cm. Beside an inequality, one in words
    is read as one in signs.
    """
    found, wanted = _read_answer(given, choice=False), _read_answer(expected, choice=False)
    if wanted is not None and isinstance(wanted.value, Choice):
        found = _read_answer(given, choice=True)
    elif found is not None and isinstance(found.value, Choice):
        wanted = _read_answer(expected, choice=True)
    return _in_signs(found, wanted), _in_signs(wanted, found)


def _in_signs(answer: ReadAnswer | None, beside: ReadAnswer | None) -> ReadAnswer | None:
    """The answer, with an inequality in words as one in signs if the other answer is an inequality or an interval."""
    if answer is None or beside is None or not isinstance(answer.value, Words):
        return answer
    value = beside.value
    is_region = isinstance(value, Region | Condition) or (isinstance(value, Items) and value.brackets == "()")
    signed = with_sign(answer.part.strip(" .。")) if is_region else None
    read_so = None if signed is None else read(signed)
    return answer if read_so is None or isinstance(read_so, Words) else replace(answer, value=read_so)


def first_read(candidates: Iterable[Candidate]) -> ReadCandidate | None:
    """The first candidate that reads as mathematics, else the first that reads as words."""
    words: ReadCandidate | None = None
    for candidate in candidates:
        value = read(candidate.text)
        if value is not None and not isinstance(value, Words):
            return ReadCandidate(value, candidate)
        words = words or (None if value is None else ReadCandidate(value, candidate))
    return words


def _read_answer(text: str, *, choice: bool) -> ReadAnswer | None:
    if (number := simple_number(text)) is not None:
        return ReadAnswer(number, text, text, text)
    if (found := first_read(bare_answers(text, choice=choice))) is None:
        return None
    value, candidate = found
    return ReadAnswer(value, candidate.text, typed(text), text, candidate.certain, candidate.unit_unread)
