"""Each job of a judge, whole, by a real model that is too small for any: it ends, and says how.

A reply is read, or is unreadable; whichever it is, its tokens and time are counted and the model that gave it is kept.
What the model says is never asserted on.
"""

import json
from collections.abc import Sequence

import pytest

from infra.local.tiny_judge import MODEL, MOST_OUTPUT_TOKENS
from touchstone.answers.evaluation import DIMENSIONS, evaluate
from touchstone.answers.model import Solution, VerifyRequest
from touchstone.answers.pipeline import verify_answer
from touchstone.answers.progress import CALLER
from touchstone.audits.agent import Bounds, Library, Workbench, begin, open_solver, proving, take_turn
from touchstone.audits.bundles import Bundle
from touchstone.audits.case import BlindCase, Option
from touchstone.audits.sandbox.bubblewrap import open_sandbox
from touchstone.clock import Deadline
from touchstone.errors import UnreadableError
from touchstone.judges import Judges
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.material import Question, Quiz, Source, Summary
from touchstone.oracle import Brief, Dimension, judge_submission
from touchstone.quizzes.evaluation import evaluate_content
from touchstone.surfaces import evaluate_quiz, evaluate_summary
from touchstone.surfaces.model import MetricResult

SECONDS = 240.0
"""Longest time of one job, less than that of a test. On two idle cores it takes a tenth of it."""
QUIZ = Quiz(
    questions=(
        Question(
            id="q1",
            kind="single_choice",
            question_text="What is the capital of France?",
            choices=("Paris", "Lyon"),
            answers=("Paris",),
        ),
    )
)
DIMENSION_WEIGHTS = {"substantiveness": 0.4, "credibility": 0.3, "completeness": 0.3}


def check_counted(spends: Sequence[Spend]) -> None:
    """At least one call was made; each is this model's, with its tokens and its time."""
    assert spends
    for spend in spends:
        assert (spend.provider, spend.model, spend.cached) == ("compatible", MODEL, False)
        assert spend.input_tokens > 0
        assert 0 < spend.output_tokens <= MOST_OUTPUT_TOKENS
        assert spend.latency_ms > 0
        assert spend.failure in {None, "unreadable"}
        assert spend.prompt_version


def check_measured(result: MetricResult) -> None:
    """Each item has a label or is unscored since the reply was of no use; a score speaks for labels alone."""
    check_counted(result.spends)
    assert result.items or result.unscored
    assert (result.score is None) == (not any(one.weight for one in result.items))
    assert {one.reason for one in result.unscored} <= {"unreadable", "invalid_reply"}


async def test_an_answer_is_verified_or_the_record_says_why_nobody_decided(judges: Judges) -> None:
    request = VerifyRequest(problem="Name the capital of Australia.", answer="Canberra")

    record = await verify_answer(request, judges=judges, deadline=Deadline.after(SECONDS))

    check_counted(record.spends)
    verification = record.attempts[0].verification
    assert verification is not None
    assert (verification.provider, verification.model) == ("compatible", MODEL)
    if verification.passed is None:
        assert verification.skip_reason in {"unreadable", "other_answer"}
        assert record.verification_status == "unverified"
    else:
        assert record.verification_status in {"verified", "caution"}
        assert verification.method == "judge"


async def test_a_solution_is_evaluated_in_depth_or_its_reply_is_unreadable(judges: Judges) -> None:
    solution = Solution(answer="Because ice is less dense than water.", steps="", provider=CALLER, model=CALLER)
    judge = judges.get("compatible", "evaluate")

    try:
        found = await evaluate("Why does ice float?", solution, judge=judge, deadline=Deadline.after(SECONDS))
    except UnreadableError as error:
        check_counted(spends_of_failure(error, "deep_evaluation"))
        return
    check_counted(found.spends)
    scores = [getattr(found.evaluation, name) for name in DIMENSIONS]
    assert found.evaluation.overall == pytest.approx(sum(scores) / len(scores))
    assert found.evaluation.model == MODEL


async def test_a_quiz_is_measured(judges: Judges) -> None:
    judge = judges.get("compatible", "fast")

    report = await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judge, seconds=SECONDS)

    check_measured(report.results["quiz_clarity"])


async def test_a_summary_is_measured(judges: Judges) -> None:
    source = Source(id="moon", markdown="# The Moon\n\nThe Moon makes no light of its own. It reflects sunlight.\n")
    summary = Summary(text="The Moon reflects sunlight.")
    judge = judges.get("compatible", "fast")

    report = await evaluate_summary(
        summary, source, metrics=["summary_information_density"], judge=judge, seconds=SECONDS
    )

    check_measured(report.results["summary_information_density"])


async def test_a_submission_is_gated_and_scored_as_far_as_replies_can_be_used(judges: Judges) -> None:
    brief = Brief(description="Say why ice floats.", acceptance_criteria=("Names the density of ice.",))
    dimensions = tuple(
        Dimension(id=name, name=name.title(), description=f"Its {name}.", weight=weight)
        for name, weight in DIMENSION_WEIGHTS.items()
    )

    found = await judge_submission(
        brief,
        "Ice has 0.917 g/cm³ and water 1.0. It is lighter, so it floats.",
        judge=judges.get("compatible", "strong"),
        deadline=Deadline.after(SECONDS),
        dimensions=dimensions,
    )

    check_counted(found.spends)
    if found.unscored is not None:
        assert found.unscored.reason in {"unreadable", "invalid_reply"}
        assert found.unscored.details
        assert found.scoring is None
    else:
        assert found.gate is not None
        assert (found.scoring is not None) == found.gate.passed


async def test_the_questions_of_a_quiz_that_was_made_are_judged_or_nobody_could(judges: Judges) -> None:
    judge = judges.get("compatible", "fast")

    found = await evaluate_content(QUIZ, judge=judge, deadline=Deadline.after(SECONDS), language="en")

    check_counted(found.spends)


async def test_a_case_of_an_audit_takes_its_first_turn(judges: Judges, bundle: Bundle) -> None:
    case = BlindCase(
        kind="multiple_choice",
        question="Which class does `tinylib` have?",
        options=(Option(label="A", text="`Box`"), Option(label="B", text="`Barrel`")),
    )
    library = Library(bundle, title="tinylib 1.0")
    bench = Workbench(library, proving(bundle, sandbox=open_sandbox()))
    begun = begin(case, library, bounds=Bounds(turns=1))

    state = await take_turn(
        begun, model=open_solver(judges, "compatible"), bench=bench, deadline=Deadline.after(SECONDS)
    )

    check_counted(state.spends)
    assert state.ended is not None
    if state.ended.why == "unanswered":
        assert state.ended.unanswered is not None
        assert state.turns == 0
    else:
        assert state.turns == 1
        assert json.loads(state.model_dump_json())["conversation"]
