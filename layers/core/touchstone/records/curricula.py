"""The curricula and the learner profiles that tenants upload."""

from datetime import datetime

from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.learner import LearnerProfile
from touchstone.records.documents import DocumentKind, Documents
from touchstone.strict import Strict


class CurriculumSummary(Strict):
    """One line of a list of curricula. It counts the chapters, and the words and patterns of all chapters."""

    id: str
    title: str
    chapters: int
    words: int
    patterns: int
    updated_at: datetime


def _summary_of_curriculum(curriculum: Curriculum, updated_at: datetime) -> CurriculumSummary:
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
    summary=_summary_of_curriculum,
)
"""How curricula are stored."""

type Curricula = Documents[Curriculum, CurriculumSummary]


class LearnerSummary(Strict):
    """One line of a list of learners: the language of their questions, and how many weak points are known."""

    id: str
    ui_language: str
    weak_points: int
    updated_at: datetime


def _summary_of_learner(profile: LearnerProfile, updated_at: datetime) -> LearnerSummary:
    return LearnerSummary(
        id=profile.id,
        ui_language=profile.ui_language,
        weak_points=len(profile.weak_points),
        updated_at=updated_at,
    )


LEARNER = DocumentKind(
    name="learner",
    place="LEARNER",
    listing="LEARNERS",
    model=LearnerProfile,
    summary_model=LearnerSummary,
    summary=_summary_of_learner,
)
"""How learners are stored."""

type Learners = Documents[LearnerProfile, LearnerSummary]
