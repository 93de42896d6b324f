"""The steps of answers: one function for each state of the machines `solve` and `evaluate`."""

from typing import Any

from functions.composition.contexts import of_answers
from functions.composition.work import bulk_evaluations, run
from functions.observability import count_evaluation, count_verdict
from functions.steps import StepReferences, references_handler, seconds_until
from touchstone.errors import SkipReason


class AnswerReferences(StepReferences):
    """The answer of a step.

    `number` is the attempt that SOLVE is about to make, or the attempt that was made. `skip` says why a verification
    did not come back; None if it did. `error` is the fault that ended the way to an answer; None if there was none.
    """

    named_by = "answer_id"

    answer_id: str
    number: int = 1
    skip: SkipReason | None = None
    error: str | None = None


_step = references_handler(AnswerReferences)


@_step
def read_image(references: AnswerReferences) -> dict[str, Any]:
    """OCR: reads the problem from the picture and stores it in the record."""
    from touchstone.operations.answers.steps import read_problem

    run(read_problem(of_answers(references.tenant, patient=True), references.answer_id))
    return {}


@_step
def analyze(references: AnswerReferences) -> dict[str, Any]:
    """ANALYZE: finds the problem's subject, difficulty, knowledge points and language, and stores them."""
    from touchstone.operations.answers.steps import analyze_problem

    run(analyze_problem(of_answers(references.tenant, patient=True), references.answer_id))
    return {}


@_step
def retrieve(references: AnswerReferences) -> dict[str, Any]:
    """RETRIEVE: says whether the very same problem was answered before. If so, the record now holds that answer."""
    from touchstone.operations.answers.steps import retrieve_solution

    return {"found": run(retrieve_solution(of_answers(references.tenant), references.answer_id))}


@_step
def solve(references: AnswerReferences) -> dict[str, Any]:
    """SOLVE: adds attempt `number` to the record."""
    from touchstone.operations.answers.steps import solve_problem

    context = of_answers(references.tenant, patient=True)
    run(solve_problem(context, references.answer_id, number=references.number))
    return {}


@_step
def verify(references: AnswerReferences) -> dict[str, Any]:
    """QUICK_VERIFY: proves, judges or skips the attempt `number`. Says with which step the pipeline goes on."""
    from touchstone.operations.answers.steps import verify_attempt

    context = of_answers(references.tenant, patient=True)
    verified = run(verify_attempt(context, references.answer_id, number=references.number))
    return {"route": verified.route, "number": verified.number}


@_step
def enrich(references: AnswerReferences) -> dict[str, Any]:
    """ENRICH: adds what helps the learner, and finishes the record. Says whether a deep evaluation is to start."""
    from touchstone.operations.answers.steps import enrich_and_finish

    context = of_answers(references.tenant, patient=True)
    record = run(enrich_and_finish(context, references.answer_id, skipped=references.skip))
    count_verdict(record)
    return {"evaluate": record.evaluation.state == "waiting"}


@_step
def fail(references: AnswerReferences) -> dict[str, Any]:
    """Finish a record whose pipeline broke off, with the attempts that it has; without any, mark it as failed.

    If the record already gives a reason for its failure, that reason is kept. Says whether a deep evaluation is to
    start.
    """
    from functions.composition.stores import answers
    from touchstone.operations.answers.finishing import fail_or_finish
    from touchstone.references import Reference

    failure = f"The problem could not be solved ({references.error or 'unknown'}); ask again later."
    record = answers().get(Reference(references.tenant, "answer", references.answer_id))
    record = fail_or_finish(answers(), record, failure=failure)
    count_verdict(record)
    return {"answer_id": record.id, "stage": record.stage, "evaluate": record.evaluation.state == "waiting"}


@_step
def evaluate(references: AnswerReferences) -> dict[str, Any]:
    """DEEP_EVALUATE: one try at a fresh deep evaluation. Says the record's state and how long the record waits."""
    from touchstone.operations.answers.evaluating import evaluate_answer

    outcome = run(evaluate_answer(of_answers(references.tenant), references.answer_id))
    count_evaluation(outcome)
    wait_seconds = seconds_until(outcome.until)
    if outcome.state == "deferred":
        from touchstone.operations.answers.draining import SOON

        if wait_seconds <= SOON.total_seconds():
            bulk_evaluations().wake()
    return {"state": outcome.state, "request_id": outcome.request_id, "wait_seconds": wait_seconds}
