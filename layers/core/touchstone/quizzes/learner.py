"""The learner that a quiz is for: the language of the instructions, and the items that go wrong most often."""

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from touchstone.material.parts import PartId, all_different
from touchstone.quizzes.curriculum import Item, LanguageTag, folded
from touchstone.strict import Strict

MAX_WEAK_POINTS = 2_000
MAX_FOCUS_POINTS = 10
"""How many weak points a quiz is asked to dwell on. More would be all of a chapter."""


class WeakPoint(Strict):
    """A word or pattern, and the share (0-1) of the `seen` answers that the learner got wrong: `error_rate`."""

    item: Item
    error_rate: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
    seen: Annotated[int, Field(ge=0)] = 1


class LearnerProfile(Strict):
    """A learner as the tenant describes one. `ui_language` is the language of the questions."""

    id: PartId
    ui_language: LanguageTag = "en"
    weak_points: Annotated[tuple[WeakPoint, ...], Field(max_length=MAX_WEAK_POINTS)] = ()

    @model_validator(mode="after")
    def _items(self) -> Self:
        all_different((folded(point.item) for point in self.weak_points), of="weak point")
        return self


def weakest(profile: LearnerProfile, taught: Iterable[str], *, most: int = MAX_FOCUS_POINTS) -> tuple[WeakPoint, ...]:
    """The weak points among the words and patterns `taught` so far, the highest error rate first, `most` at most.

    If rates are equal, the point that was seen more often comes first. A point that was never seen, or never wrong, is
    not weak.
    """
    known = {folded(item) for item in taught}
    weak = [point for point in profile.weak_points if point.seen and point.error_rate and folded(point.item) in known]
    return tuple(sorted(weak, key=lambda point: (-point.error_rate, -point.seen, point.item))[:most])
