"""Curricula and learners as tenants send them: without their id, which the address says."""

from typing import Annotated, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from touchstone.errors import InputError
from touchstone.material.parts import PartId, all_different
from touchstone.quizzes.curriculum import MAX_CHAPTERS, Chapter, Curriculum, LanguageTag, Note, folded
from touchstone.quizzes.learner import MAX_WEAK_POINTS, LearnerProfile, WeakPoint
from touchstone.strict import Strict

_PART_ID: TypeAdapter[str] = TypeAdapter(PartId)


class CurriculumUpload(Strict):
    """A curriculum that is to be kept. `id` may be left out; where it is given, it is the one in the address."""

    id: PartId | None = None
    title: Note
    chapters: Annotated[tuple[Chapter, ...], Field(min_length=1, max_length=MAX_CHAPTERS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((chapter.id for chapter in self.chapters), of="chapter")
        return self

    def curriculum(self, curriculum_id: str) -> Curriculum:
        """The curriculum under the id of its address. Raises `InputError` where the two differ."""
        named = _id_of(curriculum_id, self.id, "curriculum")
        return Curriculum(id=named, title=self.title, chapters=self.chapters)


class LearnerUpload(Strict):
    """A learner's profile that is to be kept; `id` as in `CurriculumUpload`."""

    id: PartId | None = None
    ui_language: LanguageTag = "en"
    weak_points: Annotated[tuple[WeakPoint, ...], Field(max_length=MAX_WEAK_POINTS)] = ()

    @model_validator(mode="after")
    def _items(self) -> Self:
        all_different((folded(point.item) for point in self.weak_points), of="weak point")
        return self

    def learner(self, learner_id: str) -> LearnerProfile:
        """The profile under the id of its address. Raises `InputError` where the two differ."""
        named = _id_of(learner_id, self.id, "learner")
        return LearnerProfile(id=named, ui_language=self.ui_language, weak_points=self.weak_points)


def _id_of(address: str, told: str | None, what: str) -> str:
    if told is not None and told != address:
        raise InputError(f"The {what} says another id than its address; leave it out of the body.", where="id")
    try:
        return _PART_ID.validate_python(address)
    except ValidationError:
        raise InputError(f"The id of a {what} has 1 to 128 characters.", where="id") from None
