"""An attempt at a quiz after each step: its structure validated, its content checked, its questions judged.

A quiz of the user's own is checked as a first attempt.
"""

import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from touchstone.checks import knows_language
from touchstone.clock import Deadline
from touchstone.errors import InputError, JudgeError, LimitError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.kinds import require_kind, require_list, require_model
from touchstone.material import Quiz
from touchstone.quizzes.content import allowed_targets, check_content
from touchstone.quizzes.curriculum import LANGUAGE_TAG
from touchstone.quizzes.evaluation import evaluate_content
from touchstone.quizzes.model import RULES, Content, MadeQuiz, QuizAttempt, QuizRequest, Rule, Unanswered, Weakness
from touchstone.quizzes.outcome import SECONDS, in_order, outcome, unanswered_of
from touchstone.quizzes.structure import validate_structure
from touchstone.quizzes.texts import language_for

JUDGE_RULES: tuple[Rule, ...] = ("curriculum_alignment", "pedagogical_quality")
NO_EVALUATOR = "No evaluator can be asked: none has a key."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAttempt:
    """An attempt with what checks and judge found.

    `unchecked` is why the judge gave nothing, None if it did not fail. `failure` is then the judge's failure or the
    limit that was met; None after an invalid reply, and if there was no judge to ask.
    """

    attempt: QuizAttempt
    unchecked: Unanswered | None
    spends: tuple[Spend, ...] = ()
    failure: JudgeError | LimitError | None = None


def validate_attempt(number: int, quiz: Quiz, request: QuizRequest) -> QuizAttempt:
    """An attempt after VALIDATE_STRUCTURE."""
    found = validate_structure(quiz, request)
    return QuizAttempt(number=number, quiz=quiz, violations=found, checks_run=("structure",))


async def evaluate_attempt(
    attempt: QuizAttempt,
    content: Content,
    weakness: Weakness,
    *,
    evaluator: Judge | None,
    deadline: Deadline,
    use_cache: bool = True,
    always_ask: bool = False,
) -> JudgedAttempt:
    """An attempt after EVALUATE_CONTENT: the checks that need the tables, and then the judge.

    If a check found something, the attempt is written again whatever a judge says, so no judge is paid for it. With
    `always_ask` the judge is asked all the same, for a quiz that nobody writes again. If the judge fails, the checks'
    findings stand, the judge's rules are not among those that were applied, and the ids of the questions are logged.
    """
    checked = check_content(
        attempt.quiz,
        ui_language=weakness.ui_language,
        taught=allowed_targets(content, weakness),
        known=(*content.known, *(point.item for point in weakness.weak_points)),
    )
    attempt = attempt.model_copy(
        update={
            "violations": (*attempt.violations, *checked.violations),
            "checks_run": (*attempt.checks_run, *checked.checks_run),
        }
    )
    if attempt.violations and not always_ask:
        return JudgedAttempt(attempt=attempt, unchecked=None)
    language = weakness.ui_language
    return await judge_attempt(
        attempt, ui_language=language, evaluator=evaluator, deadline=deadline, use_cache=use_cache
    )


async def judge_attempt(
    attempt: QuizAttempt,
    *,
    ui_language: str | None,
    evaluator: Judge | None,
    deadline: Deadline,
    use_cache: bool = True,
) -> JudgedAttempt:
    """An attempt with what a judge finds in its questions, beside what the checks found.

    `evaluator` None means that no judge can be asked, which is a failure like any other.
    """
    if evaluator is None:
        return _unchecked(attempt, Unanswered(reason="misconfigured", details=(NO_EVALUATOR,)))
    found = await evaluate_content(
        attempt.quiz, judge=evaluator, deadline=deadline, language=language_for(ui_language), use_cache=use_cache
    )
    if isinstance(found, NotScored):
        return replace(_unchecked(attempt, unanswered_of(found), found.spends), failure=found.error)
    ran = {*attempt.checks_run, *JUDGE_RULES}
    evaluated = attempt.model_copy(
        update={
            "violations": in_order(attempt.quiz, (*attempt.violations, *found.violations)),
            "checks_run": tuple(rule for rule in RULES if rule in ran),
        }
    )
    return JudgedAttempt(attempt=evaluated, unchecked=None, spends=found.spends)


def _unchecked(attempt: QuizAttempt, why: Unanswered, spends: tuple[Spend, ...] = ()) -> JudgedAttempt:
    ids = json.dumps([question.id for question in attempt.quiz.questions])
    logger.warning("A quiz was not judged (%s). Its questions: %s", why.reason, ids)
    return JudgedAttempt(attempt=attempt, unchecked=why, spends=spends)


def apply_checks(
    quiz: Quiz,
    *,
    ui_language: str | None = None,
    taught: Iterable[str] | None = None,
    known: Iterable[str] | None = None,
) -> QuizAttempt:
    """The quiz as a first attempt, with every rule applied that needs no judge and whose facts are known.

    If `ui_language` is None, or a language that the check does not know, the language of the questions is not checked.
    `taught` is what a question may test; None means that this is not checked. `known` is all that the learner has met;
    None means that quoted words are not checked. `checks_run` names the rules that were applied. Raises `InputError`
    for an argument of another kind and for a language that is no BCP 47 tag (english), `SettingsError` if the tables of
    OpenCC and pypinyin are not installed.
    """
    require_model("quiz", quiz, Quiz)
    require_kind("ui_language", ui_language, str | None, "a text")
    if ui_language is not None and not (knows_language(ui_language) or re.fullmatch(LANGUAGE_TAG, ui_language)):
        raise InputError("ui_language must be a BCP 47 tag, as en, ja or zh-TW.", where="ui_language")
    for name, words in (("taught", taught), ("known", known)):
        if words is not None:
            require_list(name, words, of="texts")
    content = check_content(quiz, ui_language=ui_language, taught=taught, known=known)
    return QuizAttempt(
        number=1,
        quiz=quiz,
        violations=in_order(quiz, (*validate_structure(quiz), *content.violations)),
        checks_run=("structure", *content.checks_run),
    )


async def check_quiz(
    quiz: Quiz,
    *,
    ui_language: str | None = None,
    taught: Iterable[str] | None = None,
    known: Iterable[str] | None = None,
    evaluator: Judge | None = None,
    seconds: float = SECONDS,
    use_cache: bool = True,
) -> MadeQuiz:
    """Apply every rule whose facts are known. Ask the evaluator, if there is one and the structure is sound.

    The state is `clean` only if every rule was applied, those of the judge included. Without a judge, or without a
    `ui_language`, a quiz in which nothing was found is `unchecked`, and `checks_run` names the rules that it passed.
    Raises `SettingsError` if the tables of the checks are not installed; never for a judge that fails.
    """
    attempt = apply_checks(quiz, ui_language=ui_language, taught=taught, known=known)
    if evaluator is None or attempt.structural:
        return outcome([attempt])
    found = await judge_attempt(
        attempt, ui_language=ui_language, evaluator=evaluator, deadline=Deadline.after(seconds), use_cache=use_cache
    )
    return outcome([found.attempt], unchecked=found.unchecked, spends=found.spends)
