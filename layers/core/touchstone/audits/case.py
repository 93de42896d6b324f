"""A benchmark question under audit, and what of it those may see who solve it."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from touchstone.material.parts import PartId, Text, all_different
from touchstone.strict import Strict

MIN_OPTIONS = 2
MAX_OPTIONS = 26
"""As many as there are letters to call them by. Each is proved by itself, so that they bound the work."""

type CaseKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""What sort of question it is, in the benchmark's own words: `multiple_choice`, `api_understanding`."""
type Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")]
"""What an option is called by."""
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
        """Whether it only says how many of the others hold, such as "None of the above"; None for a claim of its own.

        A bare "None" is the value of that name.
        """
        words = " ".join(self.text.casefold().split()).strip(" .!。")
        return next((which for which, pattern in _CATCH_ALLS.items() if pattern.fullmatch(words)), None)


type Options = Annotated[tuple[Option, ...], Field(min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)]


class BlindCase(Strict):
    """A case as it is solved: the question and its options.

    It has no field that the key is in or could be told from, and none for what a benchmark adds at will: an id, an
    explanation and a tag may all name the key.
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
        """What of it may be seen by whoever solves it."""
        return BlindCase(kind=self.kind, question=self.question, options=self.options)
