"""GENERATE_QUIZ: questions on a chapter by a model, the first time or better than the time before.

The faults of the attempt before are told to the model as data: a list of question, rule, detail and what to write
instead, inside a fence. The rules say whether the new quiz is a good one. A reply is refused here only if no quiz can
be made of it.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pydantic import ValidationError

from touchstone.clock import Deadline
from touchstone.figures import percent
from touchstone.judges.base import Judge, Tier
from touchstone.judges.calls import Checked, JudgeReply, NotScored, ask_checked
from touchstone.judges.fence import visible
from touchstone.judges.opening import Judges, judge_chosen
from touchstone.judges.prompts import prompt_of
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend
from touchstone.material import Question, QuestionKind, Quiz, Reading
from touchstone.quizzes.content import allowed_targets
from touchstone.quizzes.model import KINDS, MAX_ASKED, Content, QuizAttempt, QuizRequest, Violation, Weakness
from touchstone.quizzes.texts import as_json, language_for, question_json
from touchstone.strict import fault_sentence, first_fault
from touchstone.together import gather_all

PURPOSE = "quiz_generation"
MODEL_VARIABLE = "LLM_MODEL"
PROVIDER = "openai"
"""The provider whose strong model writes quizzes unless another model is named. A named model that no provider lists is
taken for this provider's."""
TIER: Tier = "strong"
SHOWN_KNOWN = 400
"""How many words met before are shown, the latest of them: enough to write sentences with."""
SHOWN_VIOLATIONS = 60
MAX_PART_CHARS = 2_000
"""The most characters of a text in a question that is made: far more than a learner would read."""
BASE_OUTPUT_TOKENS, TOKENS_PER_QUESTION = 512, 320

QUESTIONS_PER_CALL = 10
"""The most questions written with one call: as many as a model writes in the time that a quiz may take."""


class NewReading(JudgeReply):
    """A word that a question shows with its pinyin."""

    hanzi: str
    pinyin: str


class NewQuestion(JudgeReply):
    """A question as a model writes it."""

    kind: QuestionKind
    question_text: str
    choices: list[str]
    answers: list[str]
    explanation: str | None
    target: str
    readings: list[NewReading]


class QuizReply(JudgeReply):
    """A quiz as a model writes it."""

    questions: list[NewQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizPart:
    """The questions that are written with one call.

    `count` is their number. `targets` are the words and patterns that the part tests, so that no two parts test the
    same; empty if it is the only part. `before` are the part's questions of the attempt before, and `violations` what
    is wrong with them; both are empty on the first attempt. `kept` means that nothing is wrong with them, so that they
    stay as they are.
    """

    count: int
    targets: tuple[str, ...] = ()
    before: tuple[Question, ...] = ()
    violations: tuple[Violation, ...] = ()
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedQuiz:
    """A quiz with the ids q1, q2, … in its order; the model that wrote it, and every call that was paid for."""

    quiz: Quiz
    provider: str
    model: str
    prompt_version: str
    spends: tuple[Spend, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorChoice:
    """The registry to open judges with, and the provider that was chosen.

    `provider` None means OpenAI or, if it has no key, any provider that has one.
    """

    registry: Registry
    provider: str | None


def model_for_generation(registry: Registry, environ: Mapping[str, str] | None = None) -> GeneratorChoice:
    """The model that writes quizzes, as `LLM_MODEL` names it.

    `environ` None means `os.environ`. A model that the registry lists is its provider's. Any other model is OpenAI's,
    or that of the service that stands at OpenAI's base URL. Without the variable, OpenAI's strong model writes or, if
    OpenAI has no key, the strong model at hand.
    """
    environ = os.environ if environ is None else environ
    name = environ.get(MODEL_VARIABLE, "").strip()
    if not name:
        return GeneratorChoice(registry=registry, provider=None)
    provider = next((one.provider for one in registry.models() if one.name == name), PROVIDER)
    return GeneratorChoice(registry=registry.serving(provider, TIER, name=name), provider=provider)


def open_generator(judges: Judges, chosen: GeneratorChoice) -> Judge:
    """The judge that writes quizzes. Raises `SettingsError`, naming the variable to set, if no judge can be asked."""
    provider = chosen.provider or (PROVIDER if PROVIDER in judges.available() else None)
    return judge_chosen(judges, provider, TIER, without_a_key="No quiz can be written")


async def generate_quiz(
    request: QuizRequest,
    content: Content,
    weakness: Weakness,
    *,
    judge: Judge,
    deadline: Deadline,
    before: QuizAttempt | None = None,
) -> GeneratedQuiz | NotScored:
    """Write a quiz. With `before`, write one that mends what that attempt violates.

    Up to `QUESTIONS_PER_CALL` questions are written with one call, and more in parts side by side. A part of the
    attempt before that has no violation is kept. The result is `NotScored` if a call was not answered, or if no quiz
    could be made of its reply twice. Never raises for a model that fails.
    """
    parts = parts_of(request, content, weakness, before)
    # No template shows the attempt's number. It is part of what identifies the question in the reply cache: a retry
    # that is told the same as the one before must not get the same reply.
    number = 1 if before is None else before.number + 1
    shared = {**_shared(request, content, weakness), "attempt": number}

    async def written(part: QuizPart) -> Checked[QuizReply] | NotScored | None:
        return None if part.kept else await _ask(part, len(parts), shared, request, judge=judge, deadline=deadline)

    found = await gather_all(written(part) for part in parts)
    spends = tuple(chain.from_iterable(one.spends for one in found if one is not None))
    questions: list[Question] = []
    answered: list[Checked[QuizReply]] = []
    for part, one in zip(parts, found, strict=True):
        if isinstance(one, NotScored):
            return replace(one, spends=spends)
        if one is not None:
            answered.append(one)
        questions += part.before if one is None else [_question(new) for new in one.value.questions]
    numbered = tuple(one.model_copy(update={"id": f"q{at}"}) for at, one in enumerate(questions, start=1))
    return GeneratedQuiz(
        quiz=Quiz(questions=numbered),
        provider=answered[0].provider,
        model=answered[0].model,
        prompt_version=answered[0].prompt_version,
        spends=spends,
    )


async def _ask(
    part: QuizPart, parts: int, shared: Mapping[str, Any], request: QuizRequest, *, judge: Judge, deadline: Deadline
) -> Checked[QuizReply] | NotScored:
    """Ask the model to write one of several parts."""
    values = {
        **shared,
        "count": part.count,
        "parts": parts,
        "targets": "、".join(part.targets),
        "before": "\n".join(question_json(question, with_id=True) for question in part.before),
        "violations": _violations_shown(part),
    }
    language = language_for(shared["ui_language"])
    return await ask_checked(
        judge,
        lambda faults: prompt_of(__package__, "generate", language, **values, faults=faults),
        QuizReply,
        _faults,
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_PER_QUESTION * part.count,
        deadline=deadline,
        purpose=PURPOSE,
        use_cache=request.use_cache,
    )


def _shared(request: QuizRequest, content: Content, weakness: Weakness) -> Mapping[str, Any]:
    """The values that the prompts of all parts show."""
    own = set(content.chapter.items)
    earlier = [word for word in content.known if word not in own][-SHOWN_KNOWN:]
    chapter = content.chapter.model_dump(include={"title", "vocabulary", "grammar"}, exclude_none=True)
    weak = [{"item": point.item, "wrong": percent(point.error_rate)} for point in weakness.weak_points]
    return {
        "kinds": list(dict.fromkeys(request.kinds or KINDS)),
        "ui_language": weakness.ui_language,
        "chapter": as_json(chapter),
        "known": "、".join(earlier),
        "weak_points": as_json(weak) if weak else "",
    }


def _violations_shown(part: QuizPart) -> str:
    """The violations of a part, one a line.

    If there are very many, only the first are told: the rest is found again.
    """
    fields = {"question_id", "rule", "field", "detail", "suggestion"}
    return "\n".join(as_json(one.model_dump(include=fields)) for one in part.violations[:SHOWN_VIOLATIONS])


def _faults(reply: QuizReply) -> Iterator[str]:
    """Why no quiz can be made of a reply, one sentence for each fault. Nothing if one can be made."""
    if not 1 <= len(reply.questions) <= MAX_ASKED:
        yield f"There are {len(reply.questions)} questions; give as many as are asked for."
    for number, new in enumerate(reply.questions, start=1):
        if max(map(len, (new.question_text, new.explanation or "", *new.choices, *new.answers))) > MAX_PART_CHARS:
            yield f"A text of question {number} has over {MAX_PART_CHARS} characters."
        try:
            _question(new)
        except ValidationError as error:
            yield f"In question {number}, {fault_sentence(first_fault(error))}."


def _question(new: NewQuestion) -> Question:
    """A question of a reply, not numbered yet.

    A reading without characters or pinyin is left out, since it shows nothing.
    """
    return Question(
        id="q",
        kind=new.kind,
        question_text=new.question_text,
        choices=tuple(new.choices),
        answers=tuple(new.answers),
        explanation=new.explanation,
        target=new.target if visible(new.target).strip() else None,
        readings=tuple(
            Reading(hanzi=one.hanzi, pinyin=one.pinyin)
            for one in new.readings
            if visible(one.hanzi).strip() and visible(one.pinyin).strip()
        ),
    )


def parts_of(
    request: QuizRequest, content: Content, weakness: Weakness, before: QuizAttempt | None = None
) -> list[QuizPart]:
    """The parts of a quiz in their order, of nearly the same size. There is one part if few questions are asked for.

    Weak points and words are dealt out to the parts in turn, the weakest first. An attempt without violations counts as
    none.
    """
    number = -(-request.questions // QUESTIONS_PER_CALL)
    items = tuple(dict.fromkeys((*(point.item for point in weakness.weak_points), *allowed_targets(content, weakness))))
    parts: list[QuizPart] = []
    for at, (start, end) in enumerate(_ranges(request.questions, number)):
        dealt = (items[at::number] or items) if number > 1 else ()
        part = QuizPart(count=end - start, targets=dealt)
        parts.append(
            part
            if before is None or not before.violations
            else _mending(part, before, start, end, last=at == number - 1)
        )
    return parts


def _ranges(questions: int, number: int) -> Iterator[tuple[int, int]]:
    size, larger = divmod(questions, number)
    start = 0
    for at in range(number):
        end = start + size + (at < larger)
        yield start, end
        start = end


def _mending(part: QuizPart, before: QuizAttempt, start: int, end: int, *, last: bool) -> QuizPart:
    """A part with its questions of the attempt before. The last part has all questions that were too many."""
    questions = before.quiz.questions[start : None if last else end]
    ids = {question.id for question in questions}
    wrong = tuple(one for one in before.violations if one.question_id is None or one.question_id in ids)
    return QuizPart(
        count=part.count,
        targets=part.targets,
        before=questions,
        violations=wrong,
        kept=not wrong and len(questions) == part.count,
    )
