"""The curricula that tenants upload."""

from datetime import datetime

from touchstone.quizzes.curriculum import Curriculum
from touchstone.records.documents import DocumentKind, Documents
from touchstone.strict import Strict


class CurriculumSummary(Strict):
    """One line of a list of curricula: how many chapters it has, and the words and patterns of all of them."""

    id: str
    title: str
    chapters: int
    words: int
    patterns: int
    updated_at: datetime


def _summary(curriculum: Curriculum, updated_at: datetime) -> CurriculumSummary:
    return CurriculumSummary(
        id=curriculum.id,
        title=curriculum.title,
        chapters=len(curriculum.chapters),
        words=sum(len(chapter.vocabulary) for chapter in curriculum.chapters),
        patterns=sum(len(chapter.grammar) for chapter in curriculum.chapters),
        updated_at=updated_at,
    )


CURRICULUM = DocumentKind(
    name="curriculum",
    place="CURRICULUM",
    listing="CURRICULA",
    model=Curriculum,
    summary_model=CurriculumSummary,
    summary=_summary,
)
"""How curricula are stored."""

type Curricula = Documents[Curriculum, CurriculumSummary]
