"""Make quizzes for learners."""

from touchstone import quizzes
from touchstone.flat.running import blocking, opened
from touchstone.judges import load_registry
from touchstone.kinds import require_model, require_seconds
from touchstone.quizzes import Curriculum, LearnerProfile, MadeQuiz, QuizRequest
from touchstone.quizzes.evaluation import TIER
from touchstone.quizzes.outcome import SECONDS


async def amake_quiz(
    request: QuizRequest,
    *,
    curriculum: Curriculum | None = None,
    learner: LearnerProfile | None = None,
    seconds: float = SECONDS,
) -> MadeQuiz:
    """Make a quiz, check it by rules and by a judge, and have it written again at most twice.

    ```python
    course = curriculum_of_json(Path("events/curriculum.json").read_text(encoding="utf-8"))  # of touchstone.quizzes
    request = touchstone.QuizRequest(curriculum=course.id, chapter="2", ui_language="en", questions=5)
    made = touchstone.make_quiz(request, curriculum=course)
    made.state  # one of "clean", "violations", "unchecked" and "failed"
    ```

    The models are those of the environment: the generator that its settings name, and a judge of the first provider
    with a key. `curriculum` and `learner` are those that the request names by their ids. `seconds` bounds the whole
    job. Raises `InputError` if one of them is missing, or the curriculum has no such chapter, and for an argument of
    another kind; `SettingsError` without a key.
    """
    require_model("request", request, QuizRequest)
    require_seconds(seconds)
    if curriculum is not None:
        require_model("curriculum", curriculum, Curriculum)
    if learner is not None:
        require_model("learner", learner, LearnerProfile)
    chosen = quizzes.model_for_generation(load_registry())
    async with opened(None, registry=chosen.registry) as judges:
        return await quizzes.make_quiz(
            request,
            generator=quizzes.open_generator(judges, chosen),
            evaluator=judges.default(TIER),
            curriculum=curriculum,
            learner=learner,
            seconds=seconds,
        )


make_quiz = blocking(amake_quiz)
