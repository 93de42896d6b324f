"""The deployed stack for the tests of this folder; without one they are set aside, and a line says so."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import replies
from tests.support.callers import Caller
from tests.support.cloud import ENDPOINT_VARIABLE, Cloud, take_cloud
from tests.support.contests import FUNCTIONS
from tests.support.judge_server import JudgeServer
from tests.support.overrides import registry
from tests.support.rehearsal import Rehearsal, rehearsal
from tests.support.waiting import eventually

HERE = Path(__file__).parent
ROOMY = {"per_day": 1_000_000, "per_minute": 1_000_000}
"""So that only the tests which mean to meet a quota meet one."""
UNAVAILABLE = {"unauthorized", "forbidden", "unknown_model"}
"""What the judge does whose key or model is gone; for a while nobody is let through to it then."""
JUDGING = (
    "ApiVerifying", "AnswersVerify", "AnswersReadImage", "AnswersAnalyze", "AnswersSolve", "AnswersEnrich",
    "AnswersEvaluate", "AnswersDrain", "BatchLines", "Intake",
)  # fmt: skip
"""The functions that ask judges."""
SURFACES = ("SurfacesMeasure", "SurfacesPair")
"""The functions that ask judges about material."""
LONGEST = (
    "test_evaluating", "test_evaluating_faults", "test_contests", "test_fastest_first", "test_bad_input",
    "test_deadline",
)  # fmt: skip
"""Begun first, so that none of those who share the tests is left with one of them."""
CEILING_USD = "1000"
"""A day's ceiling that nobody meets by many questions at once, for each of which the highest price is held back."""


def pytest_configure() -> None:
    """Each process that shares these tests has a cloud of its own."""
    take_cloud()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set these tests aside where nothing is deployed to drive; where it is, begin with what takes longest."""
    ours = [item for item in items if HERE in item.path.parents]
    if ENDPOINT_VARIABLE in os.environ:
        items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
        return
    if ours:
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if HERE not in item.path.parents]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why."""
    if ENDPOINT_VARIABLE not in os.environ:
        terminalreporter.write_line(
            f"tests/cloud: set aside, as {ENDPOINT_VARIABLE} is not set; `touchstone-local test` deploys and runs them."
        )


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    """The stack, with quotas that no test meets by accident."""
    roomy = registry(gemini={"models": {"gemini-3.8-flash": ROOMY, "gemini-3.5-flash-lite": ROOMY}})
    # The tests' tenants are many, and each may use all of the quota that its test arranges.
    roomy["TOUCHSTONE_TENANT_SHARE"] = "1"
    with (
        Cloud.of_environment() as stack,
        stack.functions.changed(*JUDGING, variables=roomy),
        stack.functions.changed(*FUNCTIONS, *SURFACES, variables={"TOUCHSTONE_DAILY_CEILING_USD": CEILING_USD}),
    ):
        _warm_up(stack)
        yield stack


def _warm_up(cloud: Cloud) -> None:
    """Have every function between a caller and a judge at work, as in a deployment that is in use.

    The first to be started on a laptop's cloud may take longer than anybody waits for a verdict.
    """
    cloud.judge.arrange(reset=True)
    cloud.judge.reply("VerifyReply", replies.verify())
    caller = cloud.tenant("first")

    def decided() -> bool:
        view = caller.verify(problem="Name the capital of Australia.", answer="Canberra")
        return bool(view["method"] == "judge")

    eventually(decided, what="a verdict", seconds=120.0)


@pytest.fixture
def judge(cloud: Cloud) -> Iterator[JudgeServer]:
    """The judge, doing what it was asked until the test arranges something else."""
    server = cloud.judge
    server.arrange(reset=True)
    for title, value in {
        "VerifyReply": replies.verify(),
        "AnalyzeReply": replies.analyze(),
        "SolveReply": replies.solve(),
        "EnrichReply": replies.enrich(),
        "EvaluateReply": replies.evaluate(),
        "ImageReply": replies.image(),
    }.items():
        server.reply(title, value)
    yield server
    if any(call["behaviour"] in UNAVAILABLE for call in server.calls()):
        cloud.forget_refusals()
    server.arrange(reset=True)


@pytest.fixture
def caller(cloud: Cloud, judge: JudgeServer) -> Iterator[Caller]:
    """The admin of a tenant of this test; whatever the test did, everything was counted once."""
    admin = cloud.tenant()
    yield admin
    cloud.assert_counted_once(admin.tenant)


@pytest.fixture
def days(cloud: Cloud, judge: JudgeServer) -> Iterator[Rehearsal]:
    """A rehearsal with ten evaluations a day."""
    with rehearsal(cloud, per_day=10) as here:
        judge.arrange(quotas=[{"rpd": 10, "model": here.model}])
        yield here
