"""The learner profiles that tenants upload."""

from datetime import datetime

from touchstone.quizzes.learner import LearnerProfile
from touchstone.records.documents import DocumentKind, Documents
from touchstone.strict import Strict


class LearnerSummary(Strict):
    """One line of a list of learners: the language of their questions, and how many weak points are known."""

    id: str
    ui_language: str
    weak_points: int
    updated_at: datetime


def _summary(profile: LearnerProfile, updated_at: datetime) -> LearnerSummary:
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
    summary=_summary,
)
"""How learners are stored."""

type Learners = Documents[LearnerProfile, LearnerSummary]
