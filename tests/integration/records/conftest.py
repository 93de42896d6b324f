"""The stores under test, on moto, all with one clock that is moved by hand and without pauses."""

from typing import TYPE_CHECKING

import boto3
import pytest

from tests.support.records import HandClock
from touchstone.records import (
    COMPARISON_KIND,
    Answers,
    Artifacts,
    Comparisons,
    Evaluations,
    Judgements,
    Outbox,
    Tasks,
)
from touchstone.records.challenges import CHALLENGE, Challenges
from touchstone.records.submissions import SUBMISSION, Submissions
from touchstone.records.tasks import TASK

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

BUCKET = "artifacts"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def s3(aws: None) -> "S3Client":
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture
def artifacts(s3: "S3Client") -> Artifacts:
    return Artifacts(lambda: s3, BUCKET)


@pytest.fixture
def answers(table: "Table", artifacts: Artifacts, clock: HandClock) -> Answers:
    return Answers(table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def evaluations(table: "Table", artifacts: Artifacts, clock: HandClock) -> Evaluations:
    return Evaluations(table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def tasks(table: "Table", artifacts: Artifacts, clock: HandClock) -> Tasks:
    return Tasks(TASK, table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def submissions(table: "Table", artifacts: Artifacts, clock: HandClock) -> Submissions:
    return Submissions(SUBMISSION, table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def judgements(table: "Table", artifacts: Artifacts, clock: HandClock) -> Judgements:
    return Judgements(SUBMISSION, table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def comparisons(table: "Table", artifacts: Artifacts, clock: HandClock) -> Comparisons:
    return Comparisons(COMPARISON_KIND, table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def challenges(table: "Table", artifacts: Artifacts, clock: HandClock) -> Challenges:
    return Challenges(CHALLENGE, table, artifacts, clock=clock, pause=lambda _: None)


@pytest.fixture
def outbox(table: "Table", clock: HandClock) -> Outbox:
    return Outbox(table, clock=clock)
