"""promptfoo's exported results, after the types that promptfoo 0.121 declares (MIT): `OutputFile`, `EvaluateSummaryV3`.

What its types have as optional and nothing of ours writes is left out, so that nothing slips in unseen.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

type Count = Annotated[int, Field(ge=0)]


class _Typed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class _Details(_Typed):
    reasoning: Count
    accepted_prediction: Count
    rejected_prediction: Count


class _Usage(_Typed):
    total: Count
    prompt: Count
    completion: Count
    cached: Count
    num_requests: Count
    completion_details: _Details


class _Tokens(_Usage):
    assertions: _Usage


class _Metrics(_Typed):
    score: float
    test_pass_count: Count
    test_fail_count: Count
    test_error_count: Count
    assert_pass_count: Count
    assert_fail_count: Count
    total_latency_ms: Count
    token_usage: _Tokens
    named_scores: dict[str, float]
    named_scores_count: dict[str, Count]
    cost: float


class _Prompt(_Typed):
    raw: str
    label: str


class _CompletedPrompt(_Prompt):
    id: str
    provider: str
    metrics: _Metrics


class _Grading(_Typed):
    """`GradingResult`."""

    passed: bool = Field(alias="pass")
    score: float
    reason: str
    named_scores: dict[str, float]
    tokens_used: _Usage
    component_results: list[Any]


class _TestCase(_Typed):
    description: str
    vars: dict[str, str]
    assertions: list[Any] = Field(alias="assert")


class _Provider(_Typed):
    id: str
    label: str


class _Response(_Typed):
    output: str


class _Result(_Typed):
    """`EvaluateResult`."""

    id: str
    prompt_idx: Count
    test_idx: Count
    test_case: _TestCase
    prompt_id: str
    provider: _Provider
    prompt: _Prompt
    vars: dict[str, str]
    response: _Response | None = None
    error: str | None = None
    failure_reason: Literal[0, 1, 2]
    success: bool
    score: float
    latency_ms: Count
    grading_result: _Grading | None = None
    named_scores: dict[str, float]
    cost: float | None = None
    metadata: dict[str, Any]
    token_usage: _Tokens


class _Stats(_Typed):
    successes: Count
    failures: Count
    errors: Count
    token_usage: _Tokens


class _Summary(_Typed):
    version: Literal[3]
    timestamp: str
    prompts: list[_CompletedPrompt]
    results: list[_Result]
    stats: _Stats


class _Config(_Typed):
    description: str


class _OutputFile(_Typed):
    eval_id: str
    results: _Summary
    config: _Config
    shareable_url: None
    vars: list[str]


def promptfoo_results(document: bytes) -> dict[str, Any]:
    """The summary in a document, once promptfoo's types know everything in it and its counts agree."""
    found = _OutputFile.model_validate_json(document).results
    datetime.fromisoformat(found.timestamp)
    for number, prompt in enumerate(found.prompts):
        ends = [one.failure_reason for one in found.results if one.prompt_idx == number]
        metrics = prompt.metrics
        assert [ends.count(0), ends.count(1), ends.count(2)] == [
            metrics.test_pass_count, metrics.test_fail_count, metrics.test_error_count,
        ]  # fmt: skip
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)
