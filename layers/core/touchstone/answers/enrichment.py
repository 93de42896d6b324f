"""ENRICH: what helps the learner beyond the solution."""

from dataclasses import dataclass

from touchstone.answers.analysis import short_texts
from touchstone.answers.model import Enrichment, Solution, Status
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError, SkipReason
from touchstone.judges.base import Judge, JudgeQuestion
from touchstone.judges.calls import JudgeReply, ask, unanswered_reason
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend, spends_of, spends_of_failure
from touchstone.text.language import Language, language_of

MAX_KNOWLEDGE_POINTS = 5
MAX_HINTS = 3
MAX_OUTPUT_TOKENS = 4096


class EnrichReply(JudgeReply):
    """What a model adds for the learner."""

    knowledge_points: list[str]
    hints: list[str]
    related_exercise: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enriched:
    """The result of ENRICH.

    If `enrichment` is None, the judge failed for the reason in `failure`. The answer stands anyway.
    """

    enrichment: Enrichment | None
    spends: tuple[Spend, ...] = ()
    failure: SkipReason | None = None


async def enrich(
    problem: str,
    solution: Solution,
    *,
    status: Status,
    judge: Judge | None,
    deadline: Deadline,
    language: Language | None = None,
    use_cache: bool = True,
) -> Enriched:
    """Add knowledge points, hints and a related exercise. Never raises for a judge that fails.

    `judge` None means that no key is configured. The prompt is told whether the solution is `verified`, so that hints
    do not lead to a result that may be wrong.
    """
    if judge is None:
        return Enriched(enrichment=None, failure="misconfigured")
    question = JudgeQuestion(
        prompt=prompt_of(
            __package__,
            "enrich",
            language or language_of(problem),
            problem=problem,
            steps=solution.steps,
            answer=solution.answer,
            status=status,
            most_points=MAX_KNOWLEDGE_POINTS,
            most_hints=MAX_HINTS,
        ),
        reply_type=EnrichReply,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        use_cache=use_cache,
    )
    try:
        reply = await ask(judge, question, deadline=deadline)
    except (JudgeError, LimitError) as error:
        return Enriched(enrichment=None, spends=spends_of_failure(error, "enrich"), failure=unanswered_reason(error))
    enrichment = Enrichment(
        knowledge_points=short_texts(reply.value.knowledge_points, at_most=MAX_KNOWLEDGE_POINTS),
        hints=short_texts(reply.value.hints, at_most=MAX_HINTS),
        related_exercise=(reply.value.related_exercise or "").strip() or None,
    )
    return Enriched(enrichment=enrichment, spends=spends_of(reply, "enrich"))
