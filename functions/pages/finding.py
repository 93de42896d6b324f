"""The form by which answers are found, what of it is set, and the links by which a figure leads to what it counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlencode

from functions.pages.words import PageTexts
from touchstone.answers.model import Difficulty, EvaluationState, Method
from touchstone.records.answer_query import MAX_SEARCH_CHARS, SKIP_REASONS, AnswerQuery

type InputKind = Literal["search", "text", "date", "number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """One field of the form, by its name in addresses. Its label is the text `filter.<name>`.

    `options` are what can be chosen, and `words` where their texts are looked up; without any it is filled in, as
    `kind` says. `seldom`: it stands behind "more filters".
    """

    name: str
    kind: InputKind = "text"
    options: Sequence[str] = ()
    words: str = ""
    most: int = 0
    seldom: bool = True


STATUSES = ("verified", "unverified", "caution", "failed", "unfinished", "ended")
FILTERS = (
    FilterField(name="search", kind="search", most=MAX_SEARCH_CHARS, seldom=False),
    FilterField(name="status", options=STATUSES, words="status", seldom=False),
    FilterField(name="from", kind="date", seldom=False),
    FilterField(name="to", kind="date", seldom=False),
    FilterField(name="subject", most=64),
    FilterField(name="difficulty", options=get_args(Difficulty.__value__), words="difficulty"),
    FilterField(name="language", options=("en", "zh"), words="language"),
    FilterField(name="model", most=128),
    FilterField(name="provider", most=64),
    FilterField(name="decided_by", options=get_args(Method.__value__), words="method"),
    FilterField(name="verdict", options=("right", "wrong", "decided", "none"), words="verdict"),
    FilterField(name="skip_reason", options=SKIP_REASONS, words="skip"),
    FilterField(name="label", options=("right", "wrong", "none"), words="said"),
    FilterField(name="evaluation", options=get_args(EvaluationState.__value__), words="evaluation"),
    FilterField(name="cost_from", kind="number"),
    FilterField(name="cost_to", kind="number"),
    FilterField(name="batch", most=26),
    FilterField(name="sort", options=("newest", "oldest"), words="sort"),
)
"""In the order of the form."""


def filters_set(words: PageTexts, query: AnswerQuery) -> list[tuple[str, str]]:
    """What of the form is set: names, and what people read of it."""
    given = query.given
    shown = []
    for field in FILTERS:
        if field.name in given:
            value = str(given[field.name])
            said = words.known(field.words, value) if field.options else value
            shown.append((field.name, f"{words(f'filter.{field.name}')}: {said}"))
    return shown


def found_at(address: str, query: Mapping[str, object]) -> str:
    """The address of a list of answers with filters; those that are None are left out."""
    return f"{address}?{urlencode({name: value for name, value in query.items() if value is not None})}"
