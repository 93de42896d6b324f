"""The answer key that may come with a request: what the answer should be, by the word of the problem's author.

The key decides before anything else, without a call: an answer that equals one of its texts has passed, and an answer
that differs from all of them has failed. If the answer or a text cannot be read exactly, a judge decides, who is shown
the key.
"""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

from touchstone import checks
from touchstone.strict import Strict
from touchstone.text.language import Language

MAX_EXPECTED = 10
"""The most texts of one key: each may take a quarter of a second to compare, and a verification has five seconds."""
MAX_EXPECTED_CHARS = 2_000
"""The most characters of one text: no longer expression is read, and a judge is shown all of them."""
SMALLEST, LARGEST = 1e-100, 1e100
MOST_SIGNIFICANT_DIGITS = 30
"""These bounds are those of `touchstone.checks.Tolerance`, which says what they are for."""
SHOWN_CHARS = 300
"""The most characters of a key that the sentence about a difference shows. The record has the whole key."""


def _texts(value: object) -> object:
    """The texts of a key, one or several. If they are wrong, raises an error whose sentence quotes none of them."""
    texts = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
    if not texts or not all(isinstance(text, str) for text in texts):
        raise PydanticCustomError("answer_key", "give the expected answer as one text, or as a list of texts")
    if len(texts) > MAX_EXPECTED:
        told = {"field_type": "List", "max_length": MAX_EXPECTED, "actual_length": len(texts)}
        raise PydanticKnownError("too_long", told)
    for text in map(str, texts):
        if len(text) > MAX_EXPECTED_CHARS:
            raise PydanticKnownError("string_too_long", {"max_length": MAX_EXPECTED_CHARS})
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise PydanticKnownError("string_unicode")
        if checks.is_contentless(text):
            raise PydanticCustomError("contentless", "the expected answer says nothing that an answer could equal")
    return texts


type Expected = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXPECTED_CHARS)]
    | Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXPECTED_CHARS)], ...],
        Field(min_length=1, max_length=MAX_EXPECTED),
    ],
    BeforeValidator(_texts),
]
"""One text, or several of which any is right; kept as a tuple either way."""


class AnswerTolerance(Strict):
    """How far a number may differ from the expected number and still count as equal. Exactly one of the three is set.

    `relative`: |given - expected| is at most this share of |expected| (0.01 is one percent). `absolute`: |given -
    expected| is at most this number, in the unit of the expected answer. `significant_digits`: both numbers are the
    same when rounded to this number of significant digits.
    """

    relative: Annotated[float, Field(strict=True, ge=SMALLEST, lt=1)] | None = None
    absolute: Annotated[float, Field(strict=True, ge=SMALLEST, le=LARGEST)] | None = None
    significant_digits: Annotated[int, Field(strict=True, ge=1, le=MOST_SIGNIFICANT_DIGITS)] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.relative, self.absolute, self.significant_digits)) != 1:
            raise PydanticCustomError("tolerance", "give exactly one of relative, absolute and significant_digits")
        return self

    def exact(self) -> "checks.Tolerance":
        """The tolerance in the form that checks take. A decimal is exactly what was written: 0.1 is one tenth."""
        from fractions import Fraction  # on first use: most keys have none

        return checks.Tolerance(
            relative=None if self.relative is None else Fraction(repr(self.relative)),
            absolute=None if self.absolute is None else Fraction(repr(self.absolute)),
            significant_digits=self.significant_digits,
        )


def _fields(value: object) -> object:
    """The fields of a tolerance that is handed in. A `checks.Tolerance` becomes them if they are exactly the same."""
    if value is None or isinstance(value, Mapping | AnswerTolerance):
        return value
    if not isinstance(value, checks.Tolerance):
        raise PydanticCustomError(
            "tolerance", 'it must be as {"relative": 0.01}, {"absolute": 0.5} or {"significant_digits": 3}'
        )
    from fractions import Fraction

    shares = {name: exact for name in ("relative", "absolute") if (exact := getattr(value, name)) is not None}
    if any(Fraction(repr(float(exact))) != exact for exact in shares.values()):
        raise PydanticCustomError("tolerance", "it must be a decimal of 15 digits at most, and 1/3 is none")
    return {name: float(exact) for name, exact in shares.items()} | {"significant_digits": value.significant_digits}


class AnswerKey(Strict):
    """What the answer should be: any one of `expected`, numbers within `tolerance` (None: exactly)."""

    expected: tuple[str, ...]
    tolerance: AnswerTolerance | None = None


class Keyed(Strict):
    """A request that may carry an answer key: `expected`, and for numbers a `tolerance`, which is never a default."""

    expected: Expected | None = None
    tolerance: Annotated[AnswerTolerance | None, BeforeValidator(_fields)] = None

    @model_validator(mode="after")
    def _tolerance_of_something(self) -> Self:
        if self.tolerance is not None and self.expected is None:
            raise PydanticCustomError("tolerance", "a tolerance needs the expected answer that it is for")
        return self

    @property
    def answer_key(self) -> AnswerKey | None:
        """The answer key. None if the request has none."""
        if self.expected is None:
            return None
        texts = (self.expected,) if isinstance(self.expected, str) else self.expected
        return AnswerKey(expected=texts, tolerance=self.tolerance)


def meets(answer: str, key: AnswerKey, problem: str, *, at_once: bool = False) -> bool | None:
    """Whether an answer meets the key of a problem: True if it equals one of the key's texts, False if it equals none.

    None if it is not found equal to any, and could not be compared with at least one, or if it has the value but may
    not have the order or the form that the problem asks for. With `at_once`, raises `NotAtOnceError` if a comparison
    may take long.
    """
    tolerance = None if key.tolerance is None else key.tolerance.exact()
    found: list[bool | None] = []
    for expected in key.expected:
        found.append(checks.equivalent(answer, expected, tolerance=tolerance, question=problem, at_once=at_once))
        if found[-1]:
            return True
    return None if None in found else False


def is_proved(problem: str, key: AnswerKey, *, at_once: bool = False) -> bool:
    """Whether a calculation from the problem's own text gives every text of a key, so that problem and key agree.

    False for a key with a tolerance, which admits more than a calculation does. `at_once` is as in `meets`.
    """
    return key.tolerance is None and all(
        checks.prove_answer(problem, expected, at_once=at_once).outcome == "proved" for expected in key.expected
    )


def difference(key: AnswerKey, language: Language) -> str:
    """The sentence which says that an answer differs from its key, with the key."""
    several, tolerated = len(key.expected) > 1, key.tolerance is not None
    texts = _BETWEEN[language].join(" ".join(text.split()) for text in key.expected)
    shown = texts if len(texts) <= SHOWN_CHARS else f"{texts[: SHOWN_CHARS - 1]}…"
    return _DIFFERS[language, several, tolerated].format(key=shown)


_BETWEEN = {"en": "; ", "zh": "；"}
_DIFFERS = {
    ("en", False, False): "The answer differs from the answer key: {key}",
    ("en", False, True): "The answer differs from the answer key, and is not within its tolerance: {key}",
    ("en", True, False): "The answer differs from all that the key admits: {key}",
    ("en", True, True): "The answer differs from all that the key admits, and is not within its tolerance: {key}",
    ("zh", False, False): "答案与标准答案不符。标准答案：{key}",
    ("zh", False, True): "答案与标准答案不符，也不在允许的误差范围内。标准答案：{key}",
    ("zh", True, False): "答案与所列标准答案都不符。标准答案：{key}",
    ("zh", True, True): "答案与所列标准答案都不符，也不在允许的误差范围内。标准答案：{key}",
}
