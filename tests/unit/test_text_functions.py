"""Whoever adds a function that takes a text gives it a door of the hostile corpus, or says here why it needs none."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from tests.support.text_functions import text_functions

ROOMS: Mapping[str, str] = {
    "cli": "commands and what they show: their readers have rows, and hand what they read to the rooms below",
    "operations": "ids, and records that were read at a door",
    "records": "ids and keys, escaped or digested, and records that were read at a door",
    "budgets": "names of providers and numbers",
    "statistics": "numbers, and labels out of a fixed list",
}
"""Packages of which no function need have a door, and what their functions take."""

NOT_READ: Mapping[str, str] = {
    "our own words, names and settings": """
        answers.providers: best_provider_for first_choice next_candidate nobody_solves pins_from
        audits.bundles.modules: installed
        audits.sandbox.syscalls: seccomp_filter
        checks.proofs.algebra: evaluated near
        checks.proofs.equations: real_roots
        extras: lacking need_module
        json_places: path_of written
        judges.adapters.failures: bad_base_url credit_spent no_key no_sdk refused timed_out unreachable unreadable
        judges.adapters.loading: sdk_of usable_key
        judges.conversing: numbered
        judges.cost: max_cost_usd without_price
        judges.keys: keys_in
        judges.opening: connect
        oracle.choice: choose open_another_judge open_judge
        oracle.wording: prompt
        quizzes.generation: model_for_generation open_generator
        quizzes.wording: language_for prompt
        surfaces.experiments.estimate: estimate_of
    """,
    "ids and numbers, and texts that are carried as they are": """
        answers.ends: passing_reason passing_reason_of_line
        answers.labelling: judged_attempt
        audits.case_work: case_over case_put_back
        audits.record: failed followed
        audits.report.model: stored_proof
        judges.adapters.replies: counted cut_off
        judges.questions: address_of
        judges.spends: sole_replier
        oracle.aggregation: aggregate
        oracle.challenge: chosen to_compare
        oracle.entries: read_entry whole_entry
        oracle.feedback: reader_of
        oracle.labelling: judged_criterion submission_ref
        oracle.ranking: rank shortlist winner_of
        oracle.submission: compared recompared
        oracle.task: challenged decided draft_put_back given_up new_task won
        quizzes.attempts: best_of
        quizzes.content: allowed_targets
        quizzes.learner: weakest
        quizzes.loop: make_quiz next_step
        quizzes.outcome: stopped_by unanswered_of
        quizzes.retrieval: query_weakness retrieve_content
        quizzes.run: new_run
        surfaces.experiments.behind: denominator
        surfaces.experiments.concluding: conclude
        surfaces.experiments.record: concluded failed
        surfaces.labelling: judged_item
        surfaces.measurement: new_measurement
    """,
    "asks judges about what rows have read, by the fence, and reads replies as rows do": """
        audits.agent.solving: begin open_solver reopened solve solved take_turn
        flat.oracle: ajudge_submission
        flat.quizzes: amake_quiz
        oracle.dimensions: generate_dimensions
        oracle.gate: check_gate
        oracle.horizontal: compare
        oracle.material: read_material
        oracle.placing: faults_of_entries faulty_entries
        oracle.replies: faults_of faults_of_score
        oracle.scoring: score_submission
        oracle.whole: judge_submission
        quizzes.checking: check_quiz
        quizzes.correction: corrected is_correctable
        quizzes.evaluation: evaluate_content
        quizzes.generation: generate_quiz
        quizzes.judging: asked begun judged
        surfaces.experiments.generation: generate
        surfaces.experiments.pairs: measure_pair
        surfaces.experiments.run: run_experiment
    """,
    "JSON of a provider, parsed by its SDK, of which fields are taken": """
        judges.adapters.sending: delivered lost posted
        judges.anthropic: read_reply request_body
        judges.bodies.gemini: candidate_parts
        judges.gemini: read_reply
        judges.openai: request_body
        judges.turns.anthropic: read_turn request_body
        judges.turns.chat: read_turn request_body
        judges.turns.gemini: read_turn
        judges.turns.responses: read_turn request_body
    """,
    "parts of what rows read whole": """
        answers.answer_key: is_proved
        answers.retrieval: retrieve retrieve_exact
        answers.standing: stands
        audits.loading.options: key_of offered
        checks.arithmetic.doubt: is_about is_doubted
        checks.notation.numerals: number_in_words
        checks.proofs.algebra: expression_of
        checks.values.reading: letters_as_product
        surfaces.experiments.report.tables: report_items_csv
    """,
    "an image: bytes of which the first are looked at": """
        answers.reading: image
    """,
    "runs or inspects code within the sandbox's limits": """
        audits.agent.inspection: inspect_fqn
        audits.sandbox.outcomes: read_record
        audits.sandbox.prove: prove
        audits.sandbox.running: run
    """,
    "writes a file": """
        surfaces.experiments.folder: write_whole
    """,
}
"""Functions that need no door, by what they take instead of a text that they would have to read."""


def listed() -> Iterator[str]:
    for lines in NOT_READ.values():
        for line in lines.split("\n"):
            module, _, names = line.strip().partition(":")
            yield from (f"{module}:{name}" for name in names.split())


@pytest.fixture(scope="module")
def undone() -> set[str]:
    """The functions that take a text and that no door goes through."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.text_functions"], capture_output=True, text=True, check=True, timeout=300
    )
    reached = set(json.loads(done.stdout))
    found = {f"{module}:{name}" for module, name in text_functions()}
    assert len(found) > 600
    assert len(found & reached) > 200
    return found - reached


def test_every_function_that_takes_a_text_has_a_door_or_a_reason(undone: set[str]) -> None:
    left = {name for name in undone if name.partition(".")[0] not in ROOMS}
    assert left - set(listed()) == set()


def test_no_reason_is_kept_for_what_has_a_door_or_is_gone(undone: set[str]) -> None:
    assert set(listed()) - undone == set()
