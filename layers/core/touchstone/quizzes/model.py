"""What is asked for, what is found wrong with a quiz, and the result of making one.

A quiz is `clean` only if every rule was applied to it and none is broken. If the evaluator failed, the quiz is
`unchecked`: a state of its own, whatever the checks say.
"""

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from touchstone.errors import Unscored
from touchstone.judges.spends import Spend
from touchstone.material import QuestionKind, Quiz
from touchstone.material.parts import PartId
from touchstone.quizzes.curriculum import Chapter, Item, LanguageTag
from touchstone.quizzes.learner import LearnerProfile, WeakPoint
from touchstone.strict import Strict

MAX_ASKED = 50
"""The most questions of a quiz that is made: one reply of a generator can hold them."""
DEFAULT_QUESTIONS = 10
MAX_KNOWN = 20_000
"""The most words and patterns of earlier chapters that are kept with a quiz's material."""
KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind.__value__)

type Rule = Literal[
    "structure",
    "traditional_chinese",
    "pinyin_diacritics",
    "question_language",
    "curriculum_alignment",
    "pedagogical_quality",
]
RULES: tuple[Rule, ...] = get_args(Rule.__value__)
"""The rules in the order in which they are applied. A judge decides the last two; a check also decides a part of
`curriculum_alignment`."""
type DecidedBy = Literal["check", "judge"]
type QuizState = Literal["clean", "violations", "unchecked", "failed"]
"""`clean`: all rules hold. `violations`: some do not. `unchecked`: not all rules were applied. `failed`: no quiz."""
type Stopped = Literal["time"]


class QuizRequest(Strict):
    """A request for a quiz.

    `chapter` is a chapter itself, or the id of a chapter in `curriculum`; with a chapter itself, `curriculum` is left
    out. `learner` is an id or a profile; null means that no weak points are known. If `ui_language` is null, it is the
    learner's language, else English. If `kinds` is null, every kind of question that fits may be used.
    """

    chapter: PartId | Chapter
    curriculum: PartId | None = None
    learner: PartId | LearnerProfile | None = None
    ui_language: LanguageTag | None = None
    questions: Annotated[int, Field(ge=1, le=MAX_ASKED)] = DEFAULT_QUESTIONS
    kinds: Annotated[tuple[QuestionKind, ...], Field(min_length=1, max_length=len(KINDS))] | None = None
    use_cache: bool = True

    @model_validator(mode="after")
    def _one_chapter(self) -> Self:
        if isinstance(self.chapter, str) and self.curriculum is None:
            raise PydanticCustomError("no_curriculum", "a chapter named by its id needs the curriculum that it is in")
        if isinstance(self.chapter, Chapter) and self.curriculum is not None:
            raise PydanticCustomError(
                "two_chapters", "a chapter that is given whole is in no curriculum; leave that out"
            )
        return self


class Content(Strict):
    """What was retrieved: the chapter, and the words and patterns of this chapter and of all before it."""

    chapter: Chapter
    known: Annotated[tuple[Item, ...], Field(max_length=MAX_KNOWN)]


class Weakness(Strict):
    """What is known of the learner: the language of questions, and the weak points, the worst first."""

    ui_language: LanguageTag
    weak_points: tuple[WeakPoint, ...] = ()


class Violation(Strict):
    """A rule that a quiz breaks, at one place.

    `question_id` is null if the quiz as a whole breaks the rule. `detail` says what is wrong. `suggestion` says what to
    write instead; it is null if that is not known. `field` is the path inside the question (`question_text`,
    `choices[2]`, `readings[0].pinyin`); it is null if the whole question is meant. `span` is the place in that field,
    as offsets in characters with the end exclusive; it is null if the whole field is meant. If a check gives a
    suggestion with a span, the suggestion is the text to put at that place, except for the check `structure`. `finding`
    is a check's stable word for the fault; it is `judged` for a judge.
    """

    question_id: PartId | None
    rule: Rule
    detail: str
    suggestion: str | None = None
    decided_by: DecidedBy
    field: str | None = None
    span: tuple[int, int] | None = None
    finding: str


class QuizAttempt(Strict):
    """One quiz that was made, and what it violates. `number` counts from 1.

    `checks_run` are the rules that were applied to it. `curriculum_alignment` is among them even if only its check was
    applied, `pedagogical_quality` only if a judge applied it.
    """

    number: Annotated[int, Field(ge=1)]
    quiz: Quiz
    violations: tuple[Violation, ...] = ()
    checks_run: tuple[Rule, ...] = ()

    @property
    def structural(self) -> bool:
        """Whether the attempt is so wrong in structure that no judge was asked."""
        return any(violation.rule == "structure" for violation in self.violations)

    @property
    def judged(self) -> bool:
        """Whether a judge has judged the attempt."""
        return "pedagogical_quality" in self.checks_run


class Unanswered(Strict):
    """Why a generator or an evaluator gave nothing: a stable word, and sentences for people.

    `not_found` means that the chapter or learner that the quiz was to be made from, or checked against, no longer
    exists.
    """

    reason: Unscored | Literal["not_found"]
    details: tuple[str, ...] = ()


class MadeQuiz(Strict):
    """The result of making or checking a quiz.

    `quiz` is that of the best attempt, None if there is no attempt (`failed`). `attempt` is the number of that attempt,
    and `violations` and `checks_run` are its own. `unchecked` says why the evaluator gave nothing, `failed` why the
    generator gave nothing, even if an earlier attempt is handed out. `stopped` means that no time was left for another
    attempt.
    """

    state: QuizState
    quiz: Quiz | None
    attempt: int | None = None
    attempts: tuple[QuizAttempt, ...] = ()
    violations: tuple[Violation, ...] = ()
    checks_run: tuple[Rule, ...] = ()
    unchecked: Unanswered | None = None
    failed: Unanswered | None = None
    stopped: Stopped | None = None
    spends: tuple[Spend, ...] = ()
