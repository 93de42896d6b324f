"""What a judge said of a submission by itself, as records keep it. The scores that count are computed from it."""

from typing import Literal

from touchstone.oracle.model import DimensionScore, Suggestion
from touchstone.strict import Strict

type Variant = Literal["as_sent", "without_flagged"]


class JudgeOpinion(Strict):
    """What one judge said of the submission, as sent or without the flagged passages.

    If nothing was left to judge, `provider`, `model` and `prompt_version` are None and there are no suggestions.
    """

    variant: Variant
    dimension_scores: tuple[DimensionScore, ...]
    revision_suggestions: tuple[Suggestion, ...]
    provider: str | None
    model: str | None
    prompt_version: str | None
