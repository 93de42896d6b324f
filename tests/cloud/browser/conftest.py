"""A real browser in front of the deployed pages. Without one on the machine these tests are set aside, and say so."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support.auditing import auditing, over, request
from tests.support.browser import Opened, School, opening, set_aside, started
from tests.support.callers import Caller, said
from tests.support.cloud import Cloud
from tests.support.contests import Contest
from tests.support.course_quizzes import CURRICULUM, evaluated, quiz
from tests.support.quizzes import experiment, measurement
from tests.support.waiting import eventually
from tests.support.wheels import make_wheels

VARIABLE = "TOUCHSTONE_CHROMIUM"
HERE = Path(__file__).parent
TRIES = 5
"""How often a quiz is checked until a judge has had its say."""
ANSWERS = (("Compute 3/4 + 1/6.", "11/12"), ("Compute 2 + 2.", "5"), ("解方程：2x + 7 = 15", "x = 4"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set these tests aside where there is no browser."""
    if VARIABLE not in os.environ:
        set_aside(config, items, HERE)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why."""
    if VARIABLE not in os.environ:
        terminalreporter.write_line(
            f"tests/cloud/browser: set aside, as this machine has no Chromium and none could be installed; "
            f"set {VARIABLE} to the path of one."
        )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with started(os.environ[VARIABLE]) as one:
        yield one


@pytest.fixture
def opened(cloud: Cloud, browser: Browser) -> Iterator[Opened]:
    """Opens the pages for one person; in the end, nothing was complained of and no other host was asked."""
    with opening(browser, cloud.api_url) as start:
        yield start


@pytest.fixture(scope="session")
def school(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> School:
    """A tenant with something of every kind, all of it come through the doors."""
    caller = cloud.tenant("school")
    for problem, answer in ANSWERS:
        eventually(partial(_decided, caller, problem, answer), what=f"a verdict on {problem}")
    cloud.judge.arrange(reset=True)
    evaluated = caller.verify(problem="Compute 12 * 12.", answer="144", subject="math", deep_evaluation=True)
    wheels = make_wheels(tmp_path_factory.mktemp("wheels"))
    with auditing(cloud, wheels):
        body: dict[str, Any] = measurement(metrics=["quiz_clarity"])
        measured = said(caller.send("POST", "v1/measurements", json=body), 202)["id"]
        checked = _quiz(cloud, caller)
        body = {"experiment": experiment(6, metrics=["quiz_clarity", "quiz_item_flaws"])}
        tried = said(caller.send("POST", "v1/experiments", json=body), 202)["id"]
        audit = said(caller.send("POST", "v1/audits", json=request("lid", "girth", "both", "word")), 202)["id"]
        contest = Contest.opened(caller)
        for submitter, reading in (("ann", 90), ("bob", 80), ("cy", 55)):
            contest.enter(submitter, reading)
        contest.close()
        over(caller, audit)
        for _ in range(TRIES):  # on a busy machine the first judge may have no time left
            if eventually(partial(_ended, caller, checked), what="the quiz")["state"] != "unchecked":
                break
            checked = _quiz(cloud, caller)
        else:
            pytest.fail("The quiz stays unchecked.")
        eventually(lambda: caller.get(f"v1/measurements/{measured}")["state"] == "done", what="the measurement")
        eventually(
            lambda: caller.get(f"v1/experiments/{tried}")["state"] == "done", what="the experiment", seconds=300.0
        )
    eventually(lambda: caller.get(f"v1/answers/{evaluated['id']}")["deep_evaluation"], what="an evaluation")
    cloud.judge.arrange(reset=True)
    return School(caller=caller, measurement=measured, quiz=checked, experiment=tried, contest=contest.id, audit=audit)


def _ended(caller: Caller, quiz_id: str) -> dict[str, Any] | None:
    found: dict[str, Any] = caller.get(f"v1/quizzes/{quiz_id}")
    return found if found["finished_at"] else None


def _quiz(cloud: Cloud, caller: Caller) -> str:
    """A quiz in which a word is written in Simplified characters; the judge finds nothing else."""
    cloud.judge.reply("QuizVerdictsReply", evaluated())
    course = CURRICULUM.model_dump(mode="json", exclude={"id"})
    said(caller.send("PUT", "v1/curricula/our-course", json=course), 200)
    sent = quiz({"question_text": "What does 「学习」 mean?"}, {}).model_dump(mode="json")
    body = {"quiz": sent, "curriculum": "our-course", "chapter": "2", "ui_language": "en"}
    return str(said(caller.send("POST", "v1/quiz-checks", json=body), 202)["id"])


def _decided(caller: Caller, problem: str, answer: str) -> bool:
    """Whether an answer was decided: a function that is still starting may take longer than anybody waits for it."""
    view = caller.verify(problem=problem, answer=answer, subject="math", difficulty="easy", model="gpt-5.5")
    return bool(view["verification_status"] != "unverified")


@pytest.fixture
def teacher(school: School) -> Caller:
    """The admin of that tenant."""
    return school.caller
