"""The sweep as it is deployed: answers that nobody carries any more get their end, and are counted as any other."""

from datetime import timedelta

import pytest

from functions import sweep
from functions.composition import stores
from tests.support.deployment import Context, Deployment
from tests.support.records import an_answer
from tests.support.sinks import listening
from touchstone.answers.model import AnswerRecord, Attempt, Solution
from touchstone.clock import system_clock
from touchstone.errors import StoreError
from touchstone.operations.tasks.context import Announcer
from touchstone.references import Reference


def _abandoned(*attempts: Attempt) -> AnswerRecord:
    received = system_clock() - timedelta(hours=1)
    return stores.answers().create(an_answer(at=received, attempts=attempts))


def test_events_leave_though_nothing_else_of_the_sweep_can_be_done(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def pending(_: Announcer, *, limit: int) -> int:
        asked.append(limit)
        return 1

    def failing() -> None:
        raise StoreError("The store is away.")

    monkeypatch.setattr(Announcer, "pending", pending)
    monkeypatch.setattr(sweep, "answer_sweep", failing)
    with pytest.raises(StoreError):
        sweep.handler({"source": "schedule"}, Context())
    assert len(asked) == 1


def test_r3_a_sweep_ends_what_was_abandoned_counts_it_and_finds_nothing_more(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
) -> None:
    given = Attempt(number=1, solution=Solution(answer="4", provider="caller", model="caller"))
    records = [_abandoned(given), _abandoned()]
    with listening() as heard:
        swept = sweep.handler({"source": "schedule"}, Context())
    assert swept == {"backlog": 0, "restarted": 0, "resent": 0, "ended": 2, "stuck": 0, "events_sent": 0}
    stages = [stores.answers().get(Reference("acme", "answer", record.id)).stage for record in records]
    assert stages == ["finished", "failed"]
    counted = capsys.readouterr().out
    assert '"Answers":[1.0,1.0]' in counted
    assert "'reason': 'timed_out'" in heard()
    assert sweep.handler({"source": "schedule"}, Context())["ended"] == 0
