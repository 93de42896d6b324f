"""RETRIEVE_CONTENT and QUERY_WEAKNESS: what a quiz is about, and what is known of its learner. No model is asked."""

from touchstone.errors import InputError
from touchstone.quizzes.curriculum import Chapter, Curriculum
from touchstone.quizzes.learner import LearnerProfile, weakest
from touchstone.quizzes.model import Content, QuizRequest, Weakness

DEFAULT_UI_LANGUAGE = "en"


def retrieve_content(request: QuizRequest, curriculum: Curriculum | None = None) -> Content:
    """The chapter that is asked for, and what its learner has met by then.

    For a chapter that is given whole, that is the chapter itself. `curriculum` is the one that the request names.
    Raises `InputError` if it is needed and not given, or has no such chapter.
    """
    if isinstance(request.chapter, Chapter):
        return Content(chapter=request.chapter, known=request.chapter.items)
    if curriculum is None:
        raise InputError(f"The curriculum {request.curriculum} is not at hand.", where="curriculum")
    return Content(chapter=curriculum.chapter(request.chapter), known=curriculum.known_words(request.chapter))


def query_weakness(request: QuizRequest, content: Content, learner: LearnerProfile | None = None) -> Weakness:
    """The language of the questions, and the learner's weak points among what was taught by then.

    `learner` is the profile that the request names by its id. A profile in the request itself takes its place. Without
    a profile there are no weak points. Raises `InputError` if the request names a learner by an id and no profile is
    given.
    """
    if isinstance(request.learner, LearnerProfile):
        learner = request.learner
    elif request.learner is not None and learner is None:
        raise InputError(f"The profile of the learner {request.learner} is not at hand.", where="learner")
    elif request.learner is None:
        learner = None
    language = request.ui_language or (DEFAULT_UI_LANGUAGE if learner is None else learner.ui_language)
    points = () if learner is None else weakest(learner, content.known)
    return Weakness(ui_language=language, weak_points=points)
