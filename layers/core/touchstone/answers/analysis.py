"""ANALYZE: what kind of problem this is."""

from dataclasses import dataclass
from typing import Literal

from touchstone.answers.model import Analysis, Difficulty
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError, SkipReason
from touchstone.judges.base import Judge, JudgeQuestion
from touchstone.judges.calls import JudgeReply, ask, unanswered_reason
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend, spends_of, spends_of_failure
from touchstone.text.language import Language, language_of

type Subject = Literal[
    "math", "physics", "chemistry", "biology", "science", "chinese", "english", "history", "geography", "civics",
    "computing", "other",
]  # fmt: skip
"""The subjects that ANALYZE tells apart, and that providers can be pinned for. `science` is the one subject of primary
school; `other` is none of these."""

MAX_KNOWLEDGE_POINTS = 8
MAX_OUTPUT_TOKENS = 2048


class AnalyzeReply(JudgeReply):
    """How a judge sorts a problem."""

    subject: Subject
    difficulty: Difficulty
    knowledge_points: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyzed:
    """The result of ANALYZE. The language is recognised in code, so it is always known.

    `analysis` is None if the judge failed, for the reason in `failure`. The pipeline then goes on without it.
    """

    analysis: Analysis | None
    language: Language
    spends: tuple[Spend, ...] = ()
    failure: SkipReason | None = None


async def analyze(
    problem: str,
    *,
    judge: Judge | None,
    deadline: Deadline,
    language: Language | None = None,
    use_cache: bool = True,
) -> Analyzed:
    """Sort a problem. Never raises for a judge that fails. `judge` None means that no key is configured."""
    language = language or language_of(problem)
    if judge is None:
        return Analyzed(analysis=None, language=language, failure="misconfigured")
    question = JudgeQuestion(
        prompt=prompt_of(__package__, "analyze", language, problem=problem, most_points=MAX_KNOWLEDGE_POINTS),
        reply_type=AnalyzeReply,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        use_cache=use_cache,
    )
    try:
        reply = await ask(judge, question, deadline=deadline)
    except (JudgeError, LimitError) as error:
        return Analyzed(
            analysis=None,
            language=language,
            spends=spends_of_failure(error, "analyze"),
            failure=unanswered_reason(error),
        )
    analysis = Analysis(
        subject=reply.value.subject,
        difficulty=reply.value.difficulty,
        knowledge_points=short_texts(reply.value.knowledge_points, at_most=MAX_KNOWLEDGE_POINTS),
        language=language,
    )
    return Analyzed(analysis=analysis, language=language, spends=spends_of(reply, "analyze"))


def short_texts(texts: list[str], *, at_most: int) -> tuple[str, ...]:
    """The first `at_most` texts that are not blank, each once, without surrounding white space."""
    kept = dict.fromkeys(text.strip() for text in texts if text.strip())
    return tuple(kept)[:at_most]
