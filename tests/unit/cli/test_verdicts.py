"""An answer as it is shown: its badge, how it was decided, why not where nobody did, what it cost."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.answer_views import EVALUATING, FAILED, SKIPPED, view
from tests.support.judges import MOMENT
from touchstone.answers.model import (
    DeepEvaluation,
    Enrichment,
    EvaluationProgress,
    JudgeVote,
    SubmittedPlace,
    Verification,
)
from touchstone.cli.screens.verdicts import exit_of, print_answer
from touchstone.cli.terminal.exits import Exit
from touchstone.judges.spends import Spend

EVALUATION = DeepEvaluation(
    correctness=1.0, completeness=0.5, clarity=0.8, pedagogy=0.7, format=0.6, overall=0.72,
    improvement_suggestions=("Show each step.",), better_approach="Look it up.",
    provider="gemini", model="gemini-x", prompt_version="1", evaluated_at=MOMENT,
)  # fmt: skip
ARITHMETIC = Verification(passed=False, confidence=0.9, method="judge", error="Wrong.", arithmetic_error="2+2 is 4.")
PLACE = SubmittedPlace(provider_batch_id="b", number=0, at=MOMENT, ends_by=MOMENT + timedelta(days=1))
SPEND = Spend(
    purpose="verify", provider="gemini", model="gemini-x", prompt_version="1", input_tokens=1200, output_tokens=34,
    cost_usd=0.0021,
)  # fmt: skip

VOTES = (
    JudgeVote(passed=True, confidence=0.95, provider="gemini", model="gemini-x"),
    JudgeVote(passed=False, confidence=0.9, provider="claude", model="claude-x"),
    JudgeVote(passed=True, confidence=0.7, provider="openai", model="gpt-x", skip_reason="unsure"),
)
SPLIT = Verification(
    passed=None, confidence=0.0, method="none", skip_reason="split", error="They differ.", votes=VOTES, split=True
)
MAJORITY = Verification(passed=True, confidence=0.65, method="judge", votes=(VOTES[0], *VOTES[:2]), split=True)

SHOWN: list[tuple[dict[str, Any], list[str]]] = [
    (view(), ["Verified ✓", "95%", "a judge, gemini gemini-x", "Canberra", "$0.00, 0 tokens", "01JD7Z"]),
    (view(language="zh"), ["已验证 ✓"]),
    (view(FAILED), ["Check this ⚠", "100%", "a proof", "because", "1 + 1 = 2.", "It is 2."]),
    (view(FAILED, language="zh"), ["建议核实 ⚠"]),
    (view(SKIPPED), ["unverified", "confidence  –", "Nobody answered. (overloaded)"]),
    (view(SKIPPED.model_copy(update={"error": None})), ["overloaded"]),
    (view(ARITHMETIC), ["2+2 is 4."]),
    (
        view(SPLIT),
        ["unverified", "gemini gemini-x: right, sure to 95%", "claude-x: wrong", "does not count: unsure", "(split)"],
    ),
    (view(MAJORITY), ["Check this ⚠", "2 of 3 judges", "The judges do not agree."]),
    (view(spends=(SPEND,)), ["$0.0021, 1,234 tokens"]),
    (
        view(stage="failed", verification_status=None, failure="No provider has a key."),
        ["failed", "No provider has a key."],
    ),
    (view(evaluation=EVALUATING), ["evaluation", "waiting"]),
    (
        view(evaluation=EvaluationProgress(state="deferred", not_before=MOMENT, failure="quota")),
        ["deferred, not before 2026-11-21 12:00:00 UTC: quota"],
    ),
    (
        view(evaluation=EvaluationProgress(state="submitted", submitted=PLACE)),
        [
            "submitted at 2026-11-21 12:00:00 UTC to a provider's batch",
            "answered by 2026-11-22 12:00:00 UTC at the latest",
        ],
    ),
    (view(spends=(SPEND.model_copy(update={"line_id": "a-0", "saved_usd": 0.0021}),)), ["saved by batches", "$0.0021"]),
    (view(deep_evaluation=EVALUATION), ["72% overall: correctness 100%", "Show each step.", "Look it up."]),
    (view(deep_evaluation=EVALUATION.model_copy(update={"correctness": 0.997})), ["correctness > 99%"]),
    (view(spends=(SPEND.model_copy(update={"cost_usd": 0.000021}),)), ["$0.000021, 1,234 tokens"]),
    (
        view(enrichment=Enrichment(knowledge_points=("a", "b"), hints=("h1", "h2"), related_exercise="Try Fiji.")),
        ["a, b", "hint 2", "Try Fiji."],
    ),
]


@pytest.mark.parametrize(("shown", "words"), SHOWN)
def test_an_answer_says_what_a_user_asks(
    shown: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_answer(shown)
    printed = capsys.readouterr().out
    assert [word for word in words if word not in printed] == []


def test_an_answer_that_is_still_worked_on_is_shown_as_far_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer({"id": "x", "stage": "solving"})
    assert capsys.readouterr().out.split() == ["status", "solving", "cost", "$0.00,", "0", "tokens", "id", "x"]


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        (view(), Exit.DONE),
        (view(FAILED), Exit.VERDICT),
        (view(SKIPPED), Exit.UNDECIDED),
        (view(stage="failed", verification_status=None), Exit.UNDECIDED),
        (view(stage="solving", verification_status=None), Exit.DONE),
    ],
)
def test_the_exit_code_is_the_verdict(shown: dict[str, Any], code: Exit) -> None:
    assert exit_of(shown) is code
