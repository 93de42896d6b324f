"""The request for a quiz from the options of the command line, and a quiz that is made in this process."""

from pathlib import Path
from typing import Any

from touchstone.cli.files.course_files import curriculum_of, learner_of
from touchstone.cli.files.requests import checked
from touchstone.cli.local.inprocess import opened, watched
from touchstone.cli.terminal.exits import NoJudgeError
from touchstone.cli.terminal.waiting import noted_progress
from touchstone.errors import SettingsError
from touchstone.judges import load_registry
from touchstone.judges.spends import count_unpriced, known_cost, tokens_of
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.evaluation import TIER
from touchstone.quizzes.generation import model_for_generation, open_generator
from touchstone.quizzes.loop import make_quiz
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.view import AttemptView
from touchstone.usage import dollars


def request_of(
    curriculum: str,
    chapter: str,
    *,
    learner: str | None,
    learner_id: str | None,
    local: bool,
    **said: Any,
) -> tuple[QuizRequest, Curriculum | None]:
    """The request for a quiz, and the course if it is in a file, else None. Raises `InputError`, `TooLargeError`.

    The request to a deployment has the whole chapter and learner if they are in files. If they are no files, they are
    the ids of a course and a learner that the deployment has. `said` are the other fields of the request.
    """
    fields = {**said}
    course: Curriculum | None = None
    if local or Path(curriculum).is_file():
        course = curriculum_of(Path(curriculum))
        found = course.chapter(chapter)
        fields |= {"chapter": found.id, "curriculum": course.id} if local else {"chapter": found}
    else:
        fields |= {"chapter": chapter, "curriculum": curriculum}
    if learner is not None:
        is_file = local or Path(learner).is_file()
        fields["learner"] = learner_of(Path(learner), learner_id) if is_file else learner
    return checked(QuizRequest, fields), course


async def made_here(request: QuizRequest, course: Curriculum | None, *, seconds: float) -> dict[str, Any]:
    """Make a quiz in this process. Return it in the form in which a deployment shows a quiz.

    Raises `NoJudgeError` if there is no key for a model that writes it, and `InputError`.
    """
    chosen = model_for_generation(load_registry())
    async with opened(registry=chosen.registry) as judges:
        try:
            generator = open_generator(judges, chosen)
        except SettingsError as error:
            raise NoJudgeError(str(error)) from None
        evaluator = judges.default(TIER)
        asked = [generator] if evaluator is None else [generator, evaluator]
        with noted_progress("Answers of the models") as show:
            first, *others = watched(asked, lambda ended, *cost: show(ended, None, dollars(*cost)))
            made = await make_quiz(
                request, generator=first, evaluator=others[0] if others else None, curriculum=course, seconds=seconds
            )
    return {
        **made.model_dump(mode="json"),
        "attempts": [AttemptView.of(attempt).model_dump(mode="json") for attempt in made.attempts],
        "tokens": tokens_of(made.spends),
        "cost_usd": known_cost(made.spends),
        "unpriced_calls": count_unpriced(made.spends),
    }
