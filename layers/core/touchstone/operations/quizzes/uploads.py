"""Curricula and learners as tenants send them: as JSON or as a CSV table, under the id in the address."""

from typing import Annotated, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from touchstone.errors import InputError
from touchstone.material.parts import PartId, all_different
from touchstone.quizzes.curriculum import MAX_CHAPTERS, Chapter, Curriculum, LanguageTag, Note, folded
from touchstone.quizzes.learner import MAX_WEAK_POINTS, LearnerProfile, WeakPoint
from touchstone.quizzes.tables import MAX_CHARS
from touchstone.quizzes.uploads import curriculum_of_csv, learners_of_csv
from touchstone.strict import Strict

_PART_ID: TypeAdapter[str] = TypeAdapter(PartId)

type Table = Annotated[str, Field(max_length=MAX_CHARS)]


class CurriculumUpload(Strict):
    """A curriculum to be stored: its `chapters`, or the text of a `csv` with them. Exactly one of the two.

    The columns of the table are `chapter` (its id), `title`, `kind` (word or grammar), `item`, `pinyin`, `meaning_en`
    and the like for other languages, `explanation`, and `examples` with `|` between them. `id` may be left out; if
    given, it must equal the id in the address. If `title` is null, the id is the title.
    """

    id: PartId | None = None
    title: Note | None = None
    chapters: Annotated[tuple[Chapter, ...], Field(min_length=1, max_length=MAX_CHAPTERS)] | None = None
    csv: Table | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.chapters is None) == (self.csv is None):
            raise PydanticCustomError("one_form", "give the chapters, or a csv with them")
        all_different((chapter.id for chapter in self.chapters or ()), of="chapter")
        return self

    def curriculum(self, curriculum_id: str) -> Curriculum:
        """The curriculum under the id of its address.

        Raises `InputError` if the body gives another id, and for a fault in the table, with its line and column.
        """
        named = _id_of(curriculum_id, self.id, "curriculum")
        title = self.title or named
        if self.chapters is not None:
            return Curriculum(id=named, title=title, chapters=self.chapters)
        return curriculum_of_csv(self.csv or "", curriculum=named, title=title)


class LearnerUpload(Strict):
    """The profile of a learner to be stored: the `weak_points`, or the text of a `csv` with them.

    The columns of the table are `learner`, `ui_language`, `item`, `error_rate` (0.35 or 35%) and `seen`. All rows must
    be of this learner. `id` may be left out; if given, it must equal the id in the address. If `ui_language` is null,
    the language is that of the table, else English.
    """

    id: PartId | None = None
    ui_language: LanguageTag | None = None
    weak_points: Annotated[tuple[WeakPoint, ...], Field(max_length=MAX_WEAK_POINTS)] = ()
    csv: Table | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.weak_points and self.csv is not None:
            raise PydanticCustomError("one_form", "give the weak points, or a csv with them")
        all_different((folded(point.item) for point in self.weak_points), of="weak point")
        return self

    def learner(self, learner_id: str) -> LearnerProfile:
        """The profile under the id of its address.

        Raises `InputError` if the body gives another id, for a fault in the table, with its line and column, and for a
        table of another learner.
        """
        named = _id_of(learner_id, self.id, "learner")
        language = {} if self.ui_language is None else {"ui_language": self.ui_language}
        if self.csv is None:
            return LearnerProfile(id=named, weak_points=self.weak_points, **language)
        found, *others = learners_of_csv(self.csv)
        if others or found.id != named:
            raise InputError("The table is not of the one learner whose address it was sent to.", where="csv")
        return found.model_copy(update=language)


def _id_of(address: str, told: str | None, what: str) -> str:
    if told is not None and told != address:
        raise InputError(f"The {what} says another id than its address; leave it out of the body.", where="id")
    try:
        return _PART_ID.validate_python(address)
    except ValidationError:
        raise InputError(f"The id of a {what} has 1 to 128 characters.", where="id") from None
