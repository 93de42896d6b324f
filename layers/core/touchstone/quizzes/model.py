"""What is asked for, what is found wrong with a quiz, and what comes of making one.

A quiz is `clean` only when every rule was applied to it and none is broken. Where the evaluator failed it is
`unchecked`: a state of its own, whatever the checks say.
"""

from typing import Annotated, Literal, Self

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
"""Most questions of a quiz that is made: what one reply of a generator can hold."""
USUAL = 10
MAX_KNOWN = 20_000
"""Most words and patterns of earlier chapters that are kept with a quiz's material."""
KINDS: tuple[QuestionKind, ...] = ("single_choice", "multiple_choice", "true_false", "fill_in_the_blank")

type Rule = Literal[
    "structure",
    "traditional_chinese",
    "pinyin_diacritics",
    "question_language",
    "curriculum_alignment",
    "pedagogical_quality",
]
RULES: tuple[Rule, ...] = (
    "structure",
    "traditional_chinese",
    "pinyin_diacritics",
    "question_language",
    "curriculum_alignment",
    "pedagogical_quality",
)
"""In the order in which they are applied. A judge decides the last two, a check some of `curriculum_alignment`."""
type DecidedBy = Literal["check", "judge"]
type QuizState = Literal["clean", "violations", "unchecked", "failed"]
"""`clean`: all rules hold. `violations`: some do not. `unchecked`: not all rules were applied. `failed`: no quiz."""
type Stopped = Literal["time"]


class QuizRequest(Strict):
    """A quiz that somebody wants.

    `chapter` is the id of one in `curriculum`, or a chapter itself, and then `curriculum` is left out. `learner` is an
    id, a profile, or None: then there are no weak points. `ui_language` None: the learner's, else English. `kinds`
    None: whichever fit.
    """

    chapter: PartId | Chapter
    curriculum: PartId | None = None
    learner: PartId | LearnerProfile | None = None
    ui_language: LanguageTag | None = None
    questions: Annotated[int, Field(ge=1, le=MAX_ASKED)] = USUAL
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
    """What was retrieved: the chapter, and the words and patterns of it and all before it."""

    chapter: Chapter
    known: Annotated[tuple[Item, ...], Field(max_length=MAX_KNOWN)]


class Weakness(Strict):
    """What is known of the learner: the language of questions, and the weak points, the worst first."""

    ui_language: LanguageTag
    weak_points: tuple[WeakPoint, ...] = ()


class Violation(Strict):
    """One rule that a quiz breaks, in one place.

    `question_id` None: the quiz as a whole. `detail` says what is wrong, `suggestion` what to write instead, None where
    that is not known. `field` is the path inside the question (`question_text`, `choices[2]`, `readings[0].pinyin`),
    None where it is the question as a whole; `span` is where in that field, as offsets in characters with the end
    exclusive, None where it is all of it. A check's suggestion with a span is the text to put there, but not that of
    `structure`. `finding` is the check's stable word for the fault, `judged` for a judge's.
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

    `checks_run` are the rules that were applied to it, `curriculum_alignment` also where its check alone was, and
    `pedagogical_quality` only by a judge.
    """

    number: Annotated[int, Field(ge=1)]
    quiz: Quiz
    violations: tuple[Violation, ...] = ()
    checks_run: tuple[Rule, ...] = ()

    @property
    def structural(self) -> bool:
        """Whether it is so wrong in structure that no judge was asked."""
        return any(violation.rule == "structure" for violation in self.violations)

    @property
    def judged(self) -> bool:
        """Whether a judge had its say."""
        return "pedagogical_quality" in self.checks_run


class Unanswered(Strict):
    """Why a generator or an evaluator gave nothing: a stable word, and sentences for people.

    `not_found`: what a quiz was to be made from, or checked against, is not there any more.
    """

    reason: Unscored | Literal["not_found"]
    details: tuple[str, ...] = ()


class MadeQuiz(Strict):
    """What came of making or checking a quiz.

    `quiz` is the best attempt's, None where there is none (`failed`); `violations` and `checks_run` are that attempt's.
    `attempt` is its number. `unchecked` says why the evaluator gave nothing, `failed` why the generator did, also where
    an earlier attempt is handed out. `stopped`: no time was left for another attempt.
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
