"""The choices of a question as a learner sees them, and its key compared with them."""

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from touchstone.judges.fence import visible
from touchstone.material import Question
from touchstone.material.choices import TYPOGRAPHY, comparing, unmarked
from touchstone.material.items import FALSE_WORDS, TRUE_WORDS
from touchstone.text import FULL_WIDTH

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_ENDS = " .。;；,，"

NAMED_CHARS = 80
"""Most characters of a choice in a sentence about it. The beginning of a long choice is enough to recognise it."""
_TRUE_SIGNS = TRUE_WORDS | {"t", "yes", "correct", "right", "√", "✓", "○"}
_FALSE_SIGNS = FALSE_WORDS | {"f", "no", "incorrect", "wrong", "×", "✗", "✕"}


def shown(text: str) -> str:
    """A text as a learner reads it: without unseen characters and tags, with one form of widths and quotation marks.

    Spaces are single. Superscripts and other forms that carry meaning stay as they are. If a text is nothing but tags
    (a question about HTML), the tags are kept.
    """
    plain = visible(text).translate(FULL_WIDTH).translate(TYPOGRAPHY)
    read = " ".join(html.unescape(_TAG.sub("", plain)).split())
    return read or " ".join(plain.split())


def bare(choices: Sequence[str]) -> tuple[str, ...]:
    """Choices as a learner reads them, without the letters before them if these are A, B, C … in order."""
    return unmarked([shown(choice) for choice in choices])


def shortened(text: str) -> str:
    """A text as a sentence names it: `shown`, and cut after `NAMED_CHARS` characters."""
    read = shown(text)
    return read if len(read) <= NAMED_CHARS else f"{read[:NAMED_CHARS]}…"


def width(text: str) -> int:
    """How long a text looks: the number of its characters; full-width ones (Chinese among them) count twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def truth(answer: str) -> bool | None:
    """The truth value that the key of a true-or-false question names; None if it names none."""
    said = shown(answer).strip(_ENDS).casefold()
    return True if said in _TRUE_SIGNS else False if said in _FALSE_SIGNS else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A question's key compared with its choices.

    `choices` are `bare`. `right` are the places (from 0) of the choices that the key names, each wording at its first
    place. `again` are the places of further choices that read the same as one of those. `outside` are answers of the
    key that no choice matches.
    """

    choices: tuple[str, ...]
    right: tuple[int, ...]
    again: tuple[int, ...]
    outside: tuple[str, ...]

    @property
    def distractors(self) -> tuple[int, ...]:
        """The places of the choices that the key does not name, without blank choices."""
        named = {*self.right, *self.again}
        return tuple(place for place, choice in enumerate(self.choices) if place not in named and choice)


def key_of(question: Question) -> Key:
    """The key of a question that is answered by choosing.

    An answer matches a choice if a learner would read them alike.
    """
    choices = bare(question.choices)
    form = comparing(choices, question.question_text)
    right: list[int] = []
    again: list[int] = []
    outside: list[str] = []
    for answer in dict.fromkeys(question.answers):
        places = _places(answer, question.choices, choices, form)
        if places:
            right.append(places[0])
            again += places[1:]
        elif shown(answer):
            outside.append(answer)
    return Key(
        choices=choices,
        right=tuple(sorted(set(right))),
        again=tuple(sorted(set(again) - set(right))),
        outside=tuple(outside),
    )


def _places(answer: str, choices: Sequence[str], read: Sequence[str], form: Callable[[str], str]) -> list[int]:
    """The places of an answer among the choices: first the choice with the same letters, then those that read alike."""
    wanted = form(shown(answer))
    exact = [place for place, choice in enumerate(choices) if choice == answer and read[place]]
    same = [place for place, one in enumerate(read) if wanted and wanted in (form(one), form(shown(choices[place])))]
    return list(dict.fromkeys((*exact, *same)))
