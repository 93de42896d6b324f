"""Days of a deployment rehearsed in seconds: deep evaluations asked for today, and the provider's days that follow."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.callers import Caller
from tests.support.cloud import Cloud
from tests.support.overrides import clock_at, own_model, registry
from tests.support.waiting import eventually

PROVIDER_ZONE = ZoneInfo("America/Los_Angeles")
NOON = datetime(2027, 3, 2, 12, 0, tzinfo=PROVIDER_ZONE)
"""The first day's moment of arrival, by the provider's clock: far from both edges of its day."""
MORNING = timedelta(hours=-11, minutes=-50)
"""From noon to ten past midnight, when the drain of the night runs."""
EVENING = timedelta(hours=10, minutes=30)
"""From noon to half past ten, when what fresh requests did not use is given to the backlog."""
AT_ONCE = 2
"""Functions that take messages side by side: enough to overlap, few enough for a machine of two processors."""
MOVING = 20
"""Messages on their way at which more may be sent."""
IN_WORK = 25
"""Evaluations that may be on their way at once: so far apart may two be that arrived one after the other."""
SWEPT_EVERY = timedelta(minutes=15)
SWEEPS = 4
LOOK_SECONDS = 1.0
"""Between two looks at many records at work: looking is work for the store too."""


@dataclass(kw_only=True)
class Rehearsal:
    """One tenant's evaluations by a model of its own, so that every call and every unit is this test's."""

    cloud: Cloud
    caller: Caller
    model: str
    variables: dict[str, str]
    now: datetime = NOON
    sent: int = 0
    days: list[list[dict[str, Any]]] = field(default_factory=list)

    CLOCKED = ("Intake", "AnswersEvaluate", "AnswersDrain", "AnswersSweep")

    def set_clock(self, moment: datetime, *functions: str) -> None:
        """Let functions believe that it is `moment` now."""
        self.now = moment
        self.cloud.functions.set(*functions, variables={**self.variables, **clock_at(moment.astimezone(UTC))})

    def requests(self, count: int) -> list[dict[str, Any]]:
        """Requests for the deep evaluation of answers that a check proves, so that no other judge is asked."""
        numbers = range(self.sent, self.sent + count)
        self.sent += count
        return [
            {"problem": f"Compute {number} + {number + 1}.", "answer": str(2 * number + 1), "deep_evaluation": True}
            for number in numbers
        ]

    def bodies(self, count: int) -> list[str]:
        """Messages of such requests."""
        first = self.sent
        return [
            json.dumps({"kind": "verify", "tenant": self.caller.tenant, "id": f"answer-{number}", "request": request})
            for number, request in enumerate(self.requests(count), start=first)
        ]

    def ask(self, count: int) -> None:
        """Ask through the API, one after the other: each evaluation has a workflow of its own."""
        for request in self.requests(count):
            self.caller.verify(**request)

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages to the intake, in order, ten at a time as the ones before are taken.

        Sent at once they would all find their functions cold, and a small machine would start hundreds side by side.
        """
        for start in range(0, len(bodies), 10):
            eventually(self._has_room, what="room for more at the intake", seconds=300.0, pause=LOOK_SECONDS / 4)
            entries = [{"Id": str(place), "MessageBody": body} for place, body in enumerate(bodies[start : start + 10])]
            reply = self.cloud.sqs.send_message_batch(QueueUrl=self.cloud.outputs["IntakeQueueUrl"], Entries=entries)
            assert not reply.get("Failed")

    def _has_room(self) -> bool:
        return self.cloud.waiting_messages("IntakeQueueUrl") <= MOVING

    def states(self) -> dict[str, int]:
        """How many evaluations are in which state."""
        return self.cloud.evaluations(self.caller.tenant)

    def settled(self, count: int, *, stuck: int = 0, seconds: float = 600.0) -> dict[str, int]:
        """The states once `count` records are done, failed or deferred, but for `stuck` whose function was killed."""

        def look() -> dict[str, int] | None:
            found = self.states()
            moving = found.get("waiting", 0) + found.get("running", 0)
            return found if sum(found.values()) == count and moving <= stuck else None

        return eventually(look, what=f"{count} evaluations at rest", seconds=seconds, pause=LOOK_SECONDS)

    def come_to(self, *, seconds: float = 240.0, **states: int) -> None:
        """Wait until the records are in these states and no other: one may be deferred for a moment on its way."""
        last: dict[str, int] = {}

        def look() -> bool | None:
            last.clear()
            last.update({state: count for state, count in self.states().items() if count})
            return last == states or None

        try:
            eventually(look, what=f"evaluations that are {states}", seconds=seconds, pause=LOOK_SECONDS)
        except AssertionError as error:
            error.add_note(f"They are {last}.")
            raise

    def swept_to(self, moment: datetime, **states: int) -> int:
        """Sweep each quarter of an hour from `moment` on, until the records are in these states.

        What the first sweep started again. On a busy machine what it starts may break off too, and is the next one's.
        """
        first: int | None = None
        for quarter in range(SWEEPS):
            self.set_clock(moment + quarter * SWEPT_EVERY, "AnswersSweep", "AnswersEvaluate")
            restarted = int(self.cloud.functions.run("AnswersSweep", {"source": "schedule"})["restarted"])
            first = restarted if first is None else first
            with suppress(AssertionError):
                self.come_to(seconds=60.0, **states)
                return first
        self.come_to(seconds=0.0, **states)
        return first or 0

    def drain(self) -> dict[str, Any]:
        """Run the drain as its schedule does, after one that is at work; what it says at the end."""

        def look() -> dict[str, Any] | None:
            run = self.cloud.execution(self.cloud.start_machine("DrainMachineArn"), seconds=600)
            assert run["status"] == "SUCCEEDED", run
            said: dict[str, Any] = json.loads(run["output"])
            return None if said["state"] == "busy" else said

        return eventually(look, what="the drain's turn", seconds=600, pause=LOOK_SECONDS)

    def calls(self) -> list[dict[str, Any]]:
        """All calls of the model so far."""
        return self.cloud.judge.calls(model=self.model)

    def end_day(self) -> list[dict[str, Any]]:
        """The calls since the last end of a day; at the provider a new day begins."""
        today = self.calls()[sum(map(len, self.days)) :]
        self.days.append(today)
        self.cloud.judge.arrange(new_day=True)
        return today

    def end_day_after(self, *times: timedelta) -> list[dict[str, Any]]:
        """Drain at these times of the day, counted from noon, and end it; the day's calls."""
        noon = NOON + timedelta(days=len(self.days))
        for time in times:
            self.set_clock(noon + time, "AnswersDrain")
            self.drain()
        return self.end_day()

    def order(self) -> list[int]:
        """The numbers of the answers in the order in which their evaluations were asked of the judge and given."""
        return [number_of(call) for call in self.calls() if call["status"] == 200]

    def answer_id(self, number: int) -> str:
        """The id of an answer by its number, in the order of arrival."""
        return str(sorted(item["id"] for item in self.caller.summaries())[number])

    def arrived(self) -> list[int]:
        """The numbers of the answers in the order of their arrival."""
        ids = sorted(self.caller.summaries(), key=lambda item: str(item["id"]))
        return [int(re.findall(r"\d+", item["problem"])[0]) for item in ids]

    def assert_in_order(self) -> None:
        """Nobody who came later went before, but for those that were in work side by side."""
        rank = {number: place for place, number in enumerate(self.arrived())}
        ahead = [place - rank[number] for place, number in enumerate(self.order())]
        assert max(map(abs, ahead)) <= IN_WORK

    def assert_each_evaluated_once(self, *, lost_calls: int = 0) -> None:
        """I1, I2: all done, each by one result; no call but theirs, and those that a crash lost."""
        assert {state: count for state, count in self.states().items() if count} == {"done": self.sent}
        assert self.caller.get("v1/backlog")["deferred_before_you"] == 0, "the backlog of all tenants is empty"
        assert sorted(set(self.order())) == list(range(self.sent))
        assert len(self.order()) == self.sent + lost_calls
        assert sum(day.evaluations for day in self.cloud.counters(self.caller.tenant)["trends"]) in {0, self.sent}
        self.cloud.assert_counted_once(self.caller.tenant)


def number_of(call: dict[str, Any]) -> int:
    """Which answer a call is about."""
    found = re.search(r"Compute (\d+) \+", call["prompt"])
    assert found is not None
    return int(found[1])


@contextmanager
def rehearsal(cloud: Cloud, *, per_day: int, per_minute: int | None = None) -> Iterator[Rehearsal]:
    """A tenant whose evaluations go to a model with these limits, on a day in 2027."""
    name, model = own_model(tier="evaluate", per_day=per_day, per_minute=per_minute)
    here = Rehearsal(cloud=cloud, caller=cloud.tenant("days"), model=name, variables=registry(gemini=model))
    with cloud.functions.changed(*Rehearsal.CLOCKED), cloud.functions.side_by_side("Intake", AT_ONCE):
        here.set_clock(NOON, *Rehearsal.CLOCKED)
        try:
            yield here
        finally:
            _leave_nothing(here)


def _leave_nothing(here: Rehearsal) -> None:
    """Work off what a test that failed leaves in the backlog, which all tenants share."""
    if here.caller.get("v1/backlog")["deferred_before_you"]:
        _, roomy = own_model(tier="evaluate")
        here.variables = registry(gemini=roomy)
        here.set_clock(NOON + timedelta(days=60), "AnswersDrain")
        here.drain()
