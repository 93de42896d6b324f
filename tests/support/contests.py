"""Tasks of a deployed stack as their parties meet them: created, handed in to, read, challenged, waited for."""

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx

from tests.support import grading
from tests.support.callers import Caller, said
from tests.support.cloud import Cloud
from tests.support.waiting import eventually
from touchstone.clock import system_clock

OWNER = "buyer"
DESCRIPTION = "Compare three databases for a small shop."
CRITERION = "Names a source for each figure."
FUNCTIONS = tuple(
    f"Oracle{name}" for name in ("Draft", "Gate", "Score", "Close", "Compare", "Rank", "Finalise", "Rescore", "Decide")
)
SOON = 2.0
"""Seconds to a deadline that is moved to now."""
LOOK_SECONDS = 0.5
"""Between two looks at a task: each is work for the machine that the stack runs on."""


def in_seconds(seconds: float) -> str:
    """The moment so many seconds from now."""
    return (system_clock() + timedelta(seconds=seconds)).isoformat()


@dataclass(kw_only=True)
class Contest:
    """A task of one tenant. `ids` are the submissions of each submitter, the last one of each.

    `mark` is a word in every text that is handed in to it, by which judges can be arranged for it alone.
    """

    caller: Caller
    id: str
    mark: str = field(default_factory=lambda: f"mark{uuid.uuid4().hex[:12]}")
    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def asked(
        cls,
        caller: Caller,
        path: str = "quality_first",
        *,
        seconds: float = 3600.0,
        challenge_seconds: int = 1,
        **changes: Any,
    ) -> "Contest":
        """A task that was just asked for."""
        brief = {"description": DESCRIPTION, "acceptance_criteria": [CRITERION]}
        body = {
            "brief": brief,
            "path": path,
            "owner": OWNER,
            "deadline": in_seconds(seconds),
            "challenge_seconds": challenge_seconds,
            **changes,
        }
        return cls(caller=caller, id=said(caller.send("POST", "v1/tasks", json=body), 202)["id"])

    @classmethod
    def opened(cls, caller: Caller, path: str = "quality_first", **changes: Any) -> "Contest":
        """A task that takes submissions."""
        task = cls.asked(caller, path, **changes)
        task.reached("open")
        return task

    @property
    def path(self) -> str:
        """Its address."""
        return f"v1/tasks/{self.id}"

    def seen(self, party: str | None = OWNER) -> dict[str, Any]:
        """The task, as a party sees it."""
        return dict(self.caller.get(self.path, params={} if party is None else {"party": party}))

    def reached(self, *states: str, seconds: float = 300.0) -> dict[str, Any]:
        """The task once it is in one of these states."""

        def look() -> dict[str, Any] | None:
            found = self.seen()
            return found if found["state"] in states else None

        return eventually(look, what=f"task {self.id} {' or '.join(states)}", seconds=seconds, pause=LOOK_SECONDS)

    def send(self, submitter: str, **content: Any) -> httpx.Response:
        """Hand something in."""
        return self.caller.send("POST", f"{self.path}/submissions", json={"submitter": submitter, **content})

    def hand_in(self, submitter: str, readings: Any = 80, **graded: Any) -> str:
        """Hand in what is graded so; the id."""
        return self.taken(submitter, text=self.text(submitter, readings, **graded))

    def taken(self, submitter: str, **content: Any) -> str:
        """Hand something in that is taken; its id."""
        self.ids[submitter] = str(said(self.send(submitter, **content), 202)["id"])
        return self.ids[submitter]

    def text(self, submitter: str, readings: Any, **graded: Any) -> str:
        """A text that is graded so, and that nobody else hands in."""
        return grading.submission(readings=readings, about=f"{self.mark}: three databases, by {submitter}.", **graded)

    def own(self, submitter: str, *, party: str | None = None) -> dict[str, Any]:
        """The last submission of somebody, as a party sees it: by themselves, unless told otherwise."""
        params = {"party": party or submitter}
        return dict(self.caller.get(f"{self.path}/submissions/{self.ids[submitter]}", params=params))

    def judged(self, submitter: str, *, seconds: float = 240.0) -> dict[str, Any]:
        """Somebody's work once it is judged by itself: it has feedback then, or says why it has none."""

        def look() -> dict[str, Any] | None:
            found = self.own(submitter)
            return found if found["feedback"] or found["standing"] in {"unscored", "overtaken"} else None

        return eventually(look, what=f"{submitter} judged", seconds=seconds, pause=LOOK_SECONDS)

    def enter(self, submitter: str, readings: Any = 80, **graded: Any) -> dict[str, Any]:
        """Hand in what is graded so, and see it judged by itself."""
        self.hand_in(submitter, readings, **graded)
        return self.judged(submitter)

    def close(self) -> dict[str, Any]:
        """The task once its deadline, which is moved to now, has passed and a ranking or result is there."""
        said(self.move(SOON), 200)
        return self.reached("challenge", "final")

    def all_judged(self) -> None:
        """Wait for everybody's work."""
        for submitter in self.ids:
            self.judged(submitter)

    def feedback(self, submitter: str, kind: str, *, party: str | None = None) -> dict[str, Any]:
        """One kind of feedback on somebody's work."""
        [found] = [one for one in self.own(submitter, party=party)["feedback"] if one["type"] == kind]
        return dict(found)

    def move(self, seconds: float) -> httpx.Response:
        """Move the deadline to so many seconds from now."""
        return self.caller.send("PATCH", self.path, json={"deadline": in_seconds(seconds)})

    def challenge(self, challenger: str, submitter: str) -> httpx.Response:
        """Challenge somebody's place."""
        body = {"challenger": challenger, "submission_id": self.ids[submitter], "reason": "It is thin."}
        return self.caller.send("POST", f"{self.path}/challenges", json=body)

    def challenges(self) -> list[dict[str, Any]]:
        """The challenges to its ranking."""
        return list(self.caller.get(f"{self.path}/challenges", params={"party": OWNER})["items"])

    def ranking(self) -> list[tuple[str, int | None]]:
        """Who stands at which rank."""
        names = {submission: who for who, submission in self.ids.items()}
        return [(names[place["submission_id"]], place["rank"]) for place in self.seen()["ranking"]]

    def calls(self, cloud: Cloud, title: str, *, provider: str = "anthropic") -> int:
        """How often a provider was asked for this reply about what was handed in."""
        return sum(call["provider"] == provider for call in cloud.judge.calls(title=title, text=self.mark))

    def executions(self, cloud: Cloud) -> dict[str, str]:
        """The ARNs of the executions that carry it and its submissions, and what became of each."""
        return {
            run["executionArn"]: run["status"]
            for kind in ("Task", "Submission", "Challenge")
            for page in cloud.machines.get_paginator("list_executions").paginate(stateMachineArn=machine(cloud, kind))
            for run in page["executions"]
            if run["name"].partition("-")[0] in {self.id, *self.ids.values()}
        }

    def start_again(self, cloud: Cloud, name: str) -> None:
        """Everything that carries it a second time, under another name, as a delivery that came twice would."""
        references = {"tenant": self.caller.tenant, "task_id": self.id}
        begin = cloud.machines.start_execution
        for submission in self.ids.values():
            begin(
                stateMachineArn=machine(cloud, "Submission"),
                name=f"{submission}-{name}",
                input=json.dumps({**references, "submission_id": submission}),
            )
        begin(stateMachineArn=machine(cloud, "Task"), name=f"{self.id}-{name}", input=json.dumps(references))


def machine(cloud: Cloud, kind: str) -> str:
    """The ARN of the machine that carries tasks, submissions or challenges."""
    [arn] = [
        physical
        for logical, (what, physical) in cloud.resources.items()
        if what == "AWS::StepFunctions::StateMachine" and logical.startswith(f"Oracle{kind}Machine")
    ]
    return arn


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Somebody who listens to all that is told of tasks, by a rule on the bus and a queue of their own."""

    sqs: Any
    url: str
    _heard: list[dict[str, Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def heard(self, task_id: str | None = None) -> list[dict[str, Any]]:
        """The events so far, of one task or of all, each as often as it came."""
        with self._lock:
            while found := self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages", []):
                self._heard.extend(json.loads(message["Body"]) for message in found)
                for message in found:
                    self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
            return [event for event in self._heard if task_id in {None, event["detail"]["task_id"]}]

    def told(self, task_id: str, *, least: int) -> dict[str, Any]:
        """The details of a task's events by kind, once there are at least so many; none of them came twice."""
        found = eventually(
            lambda: events if len(events := self.heard(task_id)) >= least else None, what=f"events of {task_id}"
        )
        kinds = [event["detail-type"] for event in found]
        assert len(set(kinds)) == len(kinds), kinds
        return {event["detail-type"]: event["detail"] for event in found}


@contextmanager
def listening(cloud: Cloud) -> Iterator[Listener]:
    """A listener for the length of a `with`."""
    events, bus = cloud.client("events"), cloud.outputs["EventBusName"]
    name = f"listener-{threading.get_ident()}"
    url = cloud.sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = cloud.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps({"source": ["touchstone"]}))
    events.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": "queue", "Arn": arn}])
    try:
        yield Listener(sqs=cloud.sqs, url=url)
    finally:
        events.remove_targets(Rule=name, EventBusName=bus, Ids=["queue"])
        events.delete_rule(Name=name, EventBusName=bus)
        cloud.sqs.delete_queue(QueueUrl=url)


def side_by_side(*work: Callable[[], Any]) -> list[Any]:
    """What callables return that are called at once; the first that fails fails the test."""
    with ThreadPoolExecutor(max_workers=len(work)) as pool:
        return [each.result() for each in [pool.submit(one) for one in work]]
