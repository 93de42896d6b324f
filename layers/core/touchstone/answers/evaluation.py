"""DEEP_EVALUATE: a judge's view of a whole solution, after the response is out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import Field

from touchstone.answers.analysis import short_texts
from touchstone.answers.model import DeepEvaluation, Solution
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import SettingsError
from touchstone.judges.base import Judge, JudgeQuestion
from touchstone.judges.calls import JudgeReply, ask
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend, spends_of
from touchstone.text.language import Language, language_of

type Dimension = Literal["correctness", "completeness", "clarity", "pedagogy", "format"]
type Score = Annotated[float, Field(ge=0.0, le=1.0)]

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension.__value__)
EQUAL_WEIGHTS: Mapping[Dimension, float] = MappingProxyType(dict.fromkeys(DIMENSIONS, 1.0))
MAX_SUGGESTIONS = 5
"""The most suggestions that are kept: more than a person acts on at once. The most common ones are counted over all
evaluations anyway."""
MAX_OUTPUT_TOKENS = 8192


class EvaluateReply(JudgeReply):
    """A judge's scores, 0-1 each; a value outside is a reply that was not understood."""

    correctness: Score
    completeness: Score
    clarity: Score
    pedagogy: Score
    format: Score
    improvement_suggestions: list[str]
    better_approach: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """An evaluation and the judge calls it took."""

    evaluation: DeepEvaluation
    spends: tuple[Spend, ...]


def overall(scores: Mapping[Dimension, float], weights: Mapping[Dimension, float] = EQUAL_WEIGHTS) -> float:
    """The weighted mean of the five scores, 0-1: sum of weight times score, divided by the sum of the weights.

    Weights need not sum to 1. Raises `SettingsError` unless they name the five dimensions exactly, none is negative or
    infinite, and at least one is positive.
    """
    if set(weights) != set(DIMENSIONS):
        raise SettingsError(f"The weights of a deep evaluation must name exactly {', '.join(DIMENSIONS)}.")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights.values()) or not any(weights.values()):
        raise SettingsError("The weights of a deep evaluation must be 0 or more, and one of them above 0.")
    largest = max(weights.values())
    total = math.fsum(weight / largest for weight in weights.values())
    mean = math.fsum(weights[name] / largest * scores[name] for name in DIMENSIONS) / total
    return min(1.0, max(0.0, mean))


async def evaluate(
    problem: str,
    solution: Solution,
    *,
    judge: Judge,
    deadline: Deadline,
    seconds: float | None = None,
    weights: Mapping[Dimension, float] = EQUAL_WEIGHTS,
    clock: Clock = system_clock,
    language: Language | None = None,
    use_cache: bool = True,
) -> Evaluated:
    """Evaluate a whole solution.

    `seconds` is how long the judge has once its SDK is loaded; None means until the deadline. Raises `JudgeError` or
    `LimitError`, and `SettingsError` for wrong weights.
    """
    overall(EQUAL_WEIGHTS, weights)  # so that wrong weights are known before a call is paid
    question = JudgeQuestion(
        prompt=prompt_of(
            __package__,
            "evaluate",
            language or language_of(problem),
            problem=problem,
            steps=solution.steps,
            answer=solution.answer,
            most_suggestions=MAX_SUGGESTIONS,
        ),
        reply_type=EvaluateReply,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        use_cache=use_cache,
        seconds=seconds,
    )
    reply = await ask(judge, question, deadline=deadline)
    said = reply.value
    scores: dict[Dimension, float] = {name: getattr(said, name) for name in DIMENSIONS}
    evaluation = DeepEvaluation(
        **scores,
        overall=overall(scores, weights),
        improvement_suggestions=short_texts(said.improvement_suggestions, at_most=MAX_SUGGESTIONS),
        better_approach=(said.better_approach or "").strip() or None,
        provider=reply.provider,
        model=reply.model,
        prompt_version=reply.prompt_version,
        evaluated_at=clock(),
    )
    return Evaluated(evaluation=evaluation, spends=spends_of(reply, "evaluate"))
