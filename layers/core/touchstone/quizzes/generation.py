"""GENERATE_QUIZ: questions on a chapter by a model, the first time or better than the time before.

What was wrong with the attempt before is told as data: a list of question, rule, detail and what to write instead,
inside a fence. Whether the new quiz is a good one is for the rules to say; a reply is refused here only where no quiz
can be made of it.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pydantic import ValidationError

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, Tier
from touchstone.judges.base import JudgeQuestion as Asked
from touchstone.judges.calls import Checked, JudgeReply, NotScored, ask_checked
from touchstone.judges.fence import visible
from touchstone.judges.opening import Judges, judge_chosen
from touchstone.judges.prompts import prompt_of
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend
from touchstone.material import Question, QuestionKind, Quiz, Reading
from touchstone.quizzes.model import KINDS, MAX_ASKED, Content, QuizAttempt, QuizRequest, Weakness
from touchstone.quizzes.parts import QuizPart, parts_of
from touchstone.quizzes.wording import language_for, shown, told

PURPOSE = "quiz_generation"
MODEL_VARIABLE = "LLM_MODEL"
PROVIDER = "openai"
"""Whose strong model writes quizzes unless another model is named, and whose a model is that nobody lists."""
TIER: Tier = "strong"
SHOWN_KNOWN = 400
"""Words met before that are shown, the latest of them: enough to write sentences with."""
SHOWN_VIOLATIONS = 60
MAX_PART_CHARS = 2_000
"""Longest text of a question that is made: far more than a learner would read."""
BASE_OUTPUT_TOKENS, TOKENS_A_QUESTION = 512, 320


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
class GeneratedQuiz:
    """A quiz with the ids q1, q2, … in its order; who wrote it, and every call that was paid for."""

    quiz: Quiz
    provider: str
    model: str
    prompt_version: str
    spends: tuple[Spend, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorChoice:
    """The registry to open judges with, and the provider that was chosen; None: OpenAI, else whichever has a key."""

    registry: Registry
    provider: str | None


def model_for_generation(registry: Registry, environ: Mapping[str, str] | None = None) -> GeneratorChoice:
    """What `LLM_MODEL` says of who writes quizzes (`environ` None: `os.environ`).

    A model that the registry lists is its provider's; any other is OpenAI's, or of whoever speaks for it at its base
    URL. Without the variable OpenAI's strong model writes, or where it has no key, the strong model at hand.
    """
    environ = os.environ if environ is None else environ
    name = environ.get(MODEL_VARIABLE, "").strip()
    if not name:
        return GeneratorChoice(registry=registry, provider=None)
    provider = next((one.provider for one in registry.models() if one.name == name), PROVIDER)
    return GeneratorChoice(registry=registry.serving(provider, TIER, name=name), provider=provider)


def open_generator(judges: Judges, chosen: GeneratorChoice) -> Judge:
    """Who writes quizzes. Raises `SettingsError`, naming the variable to set, where nobody can be asked."""
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
    """Write a quiz; with `before` one that mends what that attempt violates.

    It is written with one call for up to `A_CALL` questions, and in parts side by side where there are more. A part of
    the attempt before that has no violation is kept. `NotScored`: nobody answered, or no quiz could be made of what was
    answered twice. Raises nothing for a model that fails.
    """
    parts = parts_of(request, content, weakness, before)
    # No template shows the attempt's number. It is part of what identifies the question to whoever knows earlier
    # replies: a retry that is told the same as the one before is not to be answered the same.
    number = 1 if before is None else before.number + 1
    shared = {**_shared(request, content, weakness), "attempt": number}

    async def written(part: QuizPart) -> Checked[QuizReply] | NotScored | None:
        return None if part.kept else await _ask(part, len(parts), shared, request, judge=judge, deadline=deadline)

    found = await asyncio.gather(*(written(part) for part in parts))
    spends = tuple(chain.from_iterable(one.spends for one in found if one is not None))
    questions: list[Question] = []
    answered: list[Checked[QuizReply]] = []
    for part, one in zip(parts, found, strict=True):
        if isinstance(one, NotScored):
            return NotScored(reason=one.reason, faults=one.faults, error=one.error, spends=spends)
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
    """Have one of several parts written."""
    values = {
        **shared,
        "count": part.count,
        "parts": parts,
        "targets": "、".join(part.targets),
        "before": "\n".join(shown(question, with_id=True) for question in part.before),
        "violations": _told_violations(part),
    }

    def asked(faults: Sequence[str]) -> Asked[QuizReply]:
        return Asked(
            prompt=prompt_of(
                __package__, "generate", language_for(shared["ui_language"]), **values, faults=list(faults)
            ),
            reply_type=QuizReply,
            max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_A_QUESTION * part.count,
            use_cache=request.use_cache,
        )

    return await ask_checked(judge, asked, lambda reply: list(_faults(reply)), deadline=deadline, purpose=PURPOSE)


def _shared(request: QuizRequest, content: Content, weakness: Weakness) -> Mapping[str, Any]:
    """What the prompts of all parts show."""
    own = set(content.chapter.items)
    earlier = [word for word in content.known if word not in own][-SHOWN_KNOWN:]
    chapter = content.chapter.model_dump(include={"title", "vocabulary", "grammar"}, exclude_none=True)
    weak = [{"item": point.item, "wrong": f"{point.error_rate:.0%}"} for point in weakness.weak_points]
    return {
        "kinds": list(dict.fromkeys(request.kinds or KINDS)),
        "ui_language": weakness.ui_language,
        "chapter": told(chapter),
        "known": "、".join(earlier),
        "weak_points": told(weak) if weak else "",
    }


def _told_violations(part: QuizPart) -> str:
    """What was wrong, one violation a line. Where there is very much, its beginning: the rest is found again."""
    fields = {"question_id", "rule", "field", "detail", "suggestion"}
    return "\n".join(told(one.model_dump(include=fields)) for one in part.violations[:SHOWN_VIOLATIONS])


def _faults(reply: QuizReply) -> Iterator[str]:
    """Why no quiz can be made of a reply, each fault in one sentence; nothing where one can."""
    if not 1 <= len(reply.questions) <= MAX_ASKED:
        yield f"There are {len(reply.questions)} questions; give as many as are asked for."
    for number, new in enumerate(reply.questions, start=1):
        if max(map(len, (new.question_text, new.explanation or "", *new.choices, *new.answers))) > MAX_PART_CHARS:
            yield f"A text of question {number} has over {MAX_PART_CHARS} characters."
        try:
            _question(new)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            yield f"In question {number}, {'.'.join(map(str, first['loc']))} is wrong: {first['msg']}."


def _question(new: NewQuestion) -> Question:
    """A question of a reply, not numbered yet. A reading without characters or pinyin shows nothing: it is left out."""
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
