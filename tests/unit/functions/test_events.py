"""The sample events: each is what its door takes, and none is there for nothing."""

import json

import pytest
from pydantic import BaseModel

from functions.answers import AnswerReferences
from functions.audits import AuditReferences
from functions.oracle import TaskReferences
from functions.quizzes import QuizReferences
from functions.surfaces import ExperimentReferences, MetricReferences
from tests.support.events import FOLDER, event
from touchstone.errors import InputError
from touchstone.operations.answers.messages import parse_message
from touchstone.operations.batches.chunks import LineChunk, tenant_of
from touchstone.operations.batches.lines import parse_line

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
STEPS = [name for name in NAMES if name.startswith("step_") and "batch" not in name and name != "step_drain"]
REFERENCES: dict[str, type[BaseModel]] = {
    "task_id": TaskReferences,
    "measurement_id": MetricReferences,
    "experiment_id": ExperimentReferences,
    "quiz_id": QuizReferences,
    "audit_id": AuditReferences,
}
"""What a step takes that is about one of these; every other is about an answer."""
TAKES: dict[str, type[BaseModel]] = {
    name: next((taken for field, taken in REFERENCES.items() if field in event(name)), AnswerReferences)
    for name in STEPS
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_given_references_and_never_a_body(name: str) -> None:
    sample = event(name)
    assert set(sample) <= set(TAKES[name].model_fields)
    assert TAKES[name].model_validate(sample).model_dump()["tenant"] == "demo"
    assert len(json.dumps(sample)) < 200


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("api_")])
def test_a_request_says_who_calls_and_when(name: str) -> None:
    asked = event(name)["requestContext"]
    assert asked["authorizer"]["lambda"]["tenant"] == "demo"
    assert asked["timeEpoch"] > 0


def test_a_chunk_is_what_the_second_step_of_a_batch_takes() -> None:
    chunk = LineChunk.model_validate(event("step_batch_lines"))
    assert chunk.numbers == tuple(range(1, 26))


def test_a_dropped_file_names_its_tenant() -> None:
    assert tenant_of(event("s3_drop")["detail"]["object"]["key"]) == ("demo", "answers")
    assert tenant_of(event("step_batch_prepare")["key"]) == ("demo", "answers")


def test_every_message_but_the_last_can_be_taken() -> None:
    *good, broken = [record["body"] for record in event("sqs_intake_batch")["Records"]]
    assert {parse_message(body).kind for body in good} == {"verify", "solve"}
    assert parse_message(event("sqs_intake")["Records"][0]["body"]).tenant == "demo"
    with pytest.raises(InputError):
        parse_message(broken)


def test_every_sample_answer_is_a_line_of_a_batch() -> None:
    lines = (FOLDER / "answers.jsonl").read_bytes().splitlines()
    assert {parse_line(line).kind for line in lines} <= {"verify", "solve"}
    assert len(lines) > 10
