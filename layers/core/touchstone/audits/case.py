"""A benchmark question under audit, and the part of it that a solver may see."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from touchstone.material.parts import PartId, Text, all_different
from touchstone.strict import Strict

MIN_OPTIONS = 2
MAX_OPTIONS = 26
"""Most options of a case: as many as there are letters for labels. Each option is proved by itself, so this bounds the
work."""

type CaseKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""The kind of the question, in the benchmark's own words: `multiple_choice`, `api_understanding`."""
type Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")]
"""The label of an option."""
type CatchAll = Literal["none", "all"]

_OTHERS = (
    r"(?:the |these |those )?(?:above|others?|rest|(?:(?:above |other |given |listed )?(?:options|answers|choices)))"
)
_TAIL = r"(?: (?:is|are|apply|applies|hold|holds)(?: (?:correct|true|right|valid))?)?"
_CATCH_ALLS: dict[CatchAll, re.Pattern[str]] = {
    "none": re.compile(rf"(?:none|neither) of {_OTHERS}{_TAIL}|以上(?:皆非|[皆都均]不[是对對])"),
    "all": re.compile(rf"all (?:of )?{_OTHERS}{_TAIL}|以上(?:皆是|[皆都均][是对對])"),
}


class Option(Strict):
    """One of the answers offered."""

    label: Label
    text: Text

    @property
    def catch_all(self) -> CatchAll | None:
        """Whether the option only says how many others hold, such as "None of the above"; None for a claim of its own.

        A bare "None" is a claim of its own: the Python value `None`.
        """
        words = " ".join(self.text.casefold().split()).strip(" .!。")
        return next((which for which, pattern in _CATCH_ALLS.items() if pattern.fullmatch(words)), None)


type Options = Annotated[tuple[Option, ...], Field(min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)]


class BlindCase(Strict):
    """A case as its solver sees it: the question and its options.

    It has no field that holds the key or reveals it. It also has no field that a benchmark fills freely, because an id,
    an explanation or a tag may name the key.
    """

    kind: CaseKind
    question: Text
    options: Options


class AuditCase(Strict):
    """A case as its benchmark defines it. `ground_truth` is the label of the option that the benchmark calls right."""

    id: PartId
    kind: CaseKind = "multiple_choice"
    question: Text
    options: Options
    ground_truth: Label

    @model_validator(mode="after")
    def _key_among_options(self) -> Self:
        labels = [option.label for option in self.options]
        all_different((label.casefold() for label in labels), of="option")
        if self.ground_truth not in labels:
            raise PydanticCustomError(
                "key_outside_options",
                "the key {key} is none of the options {labels}",
                {"key": self.ground_truth, "labels": ", ".join(labels)},
            )
        return self

    def blind(self) -> BlindCase:
        """The part of the case that its solver may see."""
        return BlindCase(kind=self.kind, question=self.question, options=self.options)
