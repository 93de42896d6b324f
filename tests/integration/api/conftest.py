"""A deployment, and callers of its API."""

import json
from collections.abc import Iterator

import pytest

from tests.support.api import Api
from tests.support.course_quizzes import evaluated, made
from tests.support.courses import CURRICULUM, LEARNER
from tests.support.deployment import Deployment, deployed
from tests.support.providers import ProviderServer
from tests.support.sinks import SaidAloud, listening


@pytest.fixture
def deployment(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment without any judge's key: what checks can prove is decided, all else is not."""
    with deployed(monkeypatch) as here:
        yield here


@pytest.fixture
def acme(deployment: Deployment) -> Api:
    """A member of the tenant acme."""
    return Api(token=deployment.token("acme"))


@pytest.fixture
def rival(deployment: Deployment) -> Api:
    """A member of another tenant."""
    return Api(token=deployment.token("rival"))


@pytest.fixture
def warnings_printed(capsys: pytest.CaptureFixture[str]) -> Iterator[SaidAloud]:
    """What the process logs and prints during a test."""
    printed: list[str] = []

    def so_far() -> str:
        printed.extend(capsys.readouterr())
        return "".join([heard(), *printed])

    with listening() as heard:
        yield so_far


@pytest.fixture
def judged(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment whose judges are on loopback, where they grade a submission as it says itself."""
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, **addresses) as here:
        yield here


@pytest.fixture
def buyer(judged: Deployment) -> Api:
    """A member of the tenant acme, whose tasks are judged."""
    return Api(token=judged.token("acme"))


@pytest.fixture
def teacher(buyer: Api, judges: ProviderServer) -> Api:
    """A member of a tenant with a course and a learner, whose models write well and find nothing."""
    judges.reply(made(), schema="QuizReply")
    judges.reply(evaluated(), schema="QuizVerdictsReply")
    for path, body in (("curricula/book-1", CURRICULUM), ("learners/ann", LEARNER)):
        assert buyer.call("PUT", f"/v1/{path}", json.dumps(body)).status == 200
    return buyer
