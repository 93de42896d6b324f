"""The ways through each state machine as it is defined, and a stage on which a machine goes one of them."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.support.machine import Interpreter, StateError, definition
from tests.support.machines import FUNCTIONS

SECONDS = 7
"""Every pause that a step asks for."""
PLATFORM = (
    "Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException", "StoreError",
)  # fmt: skip
REFUSED = "Lambda.TooManyRequestsException"
SENDING = ("SQS.SdkClientException", "SQS.AmazonSQSException")
STARTING = ("StepFunctions.ExecutionLimitExceededException", "StepFunctions.AWSStepFunctionsException")
"""As Step Functions names them: after the class of its client's exception, and not after the API's own word."""
TENANT = {"tenant": "demo"}
TASK = {**TENANT, "task_id": "t"}
ANSWER = {**TENANT, "answer_id": "a"}
DROPPED = {"detail": {"bucket": {"name": "bucket"}, "object": {"key": "inbox/demo/a.jsonl"}}}


def _listed(items: int) -> str:
    """What a Map reads from the bucket."""
    of = {**TENANT, "experiment_id": "e", "audit_id": "a"}
    return "".join(json.dumps({**of, "number": number}) + "\n" for number in range(1, items + 1))


TWO = _listed(2)
ITEMS_THAT_BREAK_OFF = 600
"""More than a Map's result could hold if it held what is known of each."""
MANY: dict[str, Any] = {"listed": _listed(ITEMS_THAT_BREAK_OFF)}
SAYS: Mapping[str, dict[str, Any]] = {
    "draft": {"deadline": "at noon"},
    "close": {"dimensions": ["depth", "clarity"]},
    "rank": {"dimensions": ["depth"]},
    "rescore": {"dimensions": ["depth", "clarity"]},
    "decide": {"dimensions": ["depth"]},
    "plan": {"list_key": "list.jsonl"},
    "prepare": {"list_key": "list.jsonl", "manifest_key": "list.jsonl"},
    "collect": {"manifest_key": "list.jsonl"},
    "evaluate": {"request_id": "r"},
}
"""What a step says beside its word."""
DONE = ("Done",)
STOPPED = ("Interrupted",)


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way through a machine. `given` are parts of what steps are to be given, by their place in the way."""

    machine: str
    state: dict[str, Any]
    steps: str
    ends: tuple[str, ...] = DONE
    error: str = ""
    listed: str | None = TWO
    given: dict[int, dict[str, Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.machine}: {self.steps or 'nothing'}"


def _ways(machine: str, state: dict[str, Any], *rows: tuple[Any, ...]) -> list[Way]:
    """The ways of a machine, each as its steps and, where they are not the usual ones, its ends, its error and more."""
    usual: list[Any] = [DONE, "", {}]
    made = []
    for row in rows:
        ends, error, more = [*row[1:], *usual[len(row) - 1 :]]
        made.append(Way(machine=machine, state=state, steps=row[0], ends=ends, error=error, **more))
    return made


BROKE = (STOPPED, "Boom")
ITEM_BROKE = (("NotCompared", "Interrupted"), "Boom")
WAYS = [
    *_ways(
        "quiz",
        {**TENANT, "quiz_id": "q"},
        ("retrieve:x weakness:generate generate:validate validate:evaluate evaluate:finish finish:clean",),
        ("retrieve:x weakness:validate validate:generate generate:waiting wait generate:finish finish:clean",),
        ("retrieve:x weakness:evaluate evaluate:waiting wait evaluate:generate generate:finish finish:clean",),
        ("retrieve:x weakness:validate validate:finish finish:clean",),
        ("retrieve:x weakness:finish finish:clean",),
        ("retrieve!Boom finish:failed", *BROKE),
        ("retrieve:x weakness!Boom finish:failed", *BROKE),
        ("retrieve:x weakness:generate generate!Boom finish:failed", *BROKE),
        ("retrieve:x weakness:validate validate!Boom finish:failed", *BROKE),
        ("retrieve:x weakness:evaluate evaluate!Boom finish:failed", *BROKE),
        ("retrieve:x weakness:finish finish!Boom", *BROKE),
    ),
    *_ways(
        "evaluate",
        ANSWER,
        ("evaluate:done",),
        ("evaluate:deferred send:x", DONE, "", {"given": {1: {"MessageDeduplicationId": "r"}}}),
        ("evaluate:deferred send!States.Timeout",),
        ("evaluate!Boom", ("NotEvaluated",), "Boom"),
        (" ".join(["evaluate!Lambda.TooManyRequestsException"] * 6),),
    ),
    *_ways(
        "solve",
        ANSWER,
        ("analyze retrieve+found enrich+no",),
        ("analyze retrieve-found solve verify+enrich enrich+no", DONE, "", {"given": {2: {**ANSWER, "number": 1}}}),
        ("analyze retrieve-found solve verify+retry solve verify+enrich enrich+yes start", DONE, "", {
            "given": {4: {**ANSWER, "number": 2}, 5: {**ANSWER, "number": 2}, 7: {"Name": "a-1", "Input": ANSWER}},
        }),
        ("analyze retrieve-found solve verify!States.Timeout enrich+no", DONE, "",
         {"given": {4: {**ANSWER, "skip": "timed_out"}}}),
        ("analyze retrieve-found solve verify!Sandbox.Timedout enrich+no", DONE, "",
         {"given": {4: {**ANSWER, "skip": "timed_out"}}}),
        ("analyze retrieve-found solve verify!Boom enrich+no", DONE, "",
         {"given": {4: {**ANSWER, "skip": "overloaded"}}}),
        ("analyze retrieve+found enrich+yes start!States.Timeout",),
        ("analyze!Boom fail+failed", ("Failed",), "SolveFailed", {"given": {1: {**ANSWER, "error": "Boom"}}}),
        ("analyze retrieve!Boom fail+failed", ("Failed",), "SolveFailed"),
        ("analyze retrieve-found solve!Boom fail+failed", ("Failed",), "SolveFailed"),
        ("analyze retrieve+found enrich!Boom fail+finished+yes start",),
        ("analyze retrieve+found enrich!Boom fail+finished",),
        ("analyze!Boom fail!Bang", ("Failed",), "SolveFailed"),
    ),
    *_ways(
        "solve",
        {**ANSWER, "has_image": True},
        ("read_image analyze retrieve+found enrich+no", DONE, "", {"given": {0: ANSWER}}),
        ("read_image!Boom fail+failed", ("Failed",), "SolveFailed"),
    ),
    *_ways(
        "batch",
        DROPPED,
        ("prepare:x lines:x lines:x collect:finished", DONE, "",
         {"given": {0: {"owner": "run"}, 3: {"owner": "run"}}}),
        ("prepare:x lines:x lines:x collect:waiting wait lines:x lines:x collect:finished",),
        (("prepare:x lines:x lines:x collect+idle wait collect+idle wait collect:waiting wait lines:x lines:x "
          "collect:finished"), DONE, "", {"given": {5: {"owner": "run"}}}),
        ("prepare:x lines!Boom lines:x collect:finished",),
        ("prepare:x " + "lines!Boom " * ITEMS_THAT_BREAK_OFF + "collect:waiting wait " +
         "lines:x " * ITEMS_THAT_BREAK_OFF + "collect:finished", DONE, "", MANY),
        ("prepare+elsewhere",),
        ("prepare!Boom collect:failed", DONE, "", {"given": {1: {"error": "Boom", "owner": "run"}}}),
        ("prepare:x collect:failed", DONE, "",
         {"listed": None, "given": {1: {"error": "States.ItemReaderFailed", "owner": "run"}}}),
        ("prepare:x lines:x lines:x collect!Boom", ("NotCollected",), "Boom"),
    ),
    *_ways("batch", {"bucket": "bucket", "key": "inbox/demo/b.jsonl"}, ("prepare:x lines:x lines:x collect:finished",)),
    *_ways("batch", {"bucket": "bucket", "key": "inbox/demo/b.results.jsonl"}, ("",)),
    *_ways("batch", {"bucket": "bucket", "key": "inbox/demo/b.txt"}, ("",)),
    *_ways(
        "drain",
        {},
        ("drain:finished",),
        ("drain:continue wait drain:continue wait drain:finished",),
        ("drain:continue wait " * 1399 + "drain:continue",),
        ("drain!Boom", *BROKE),
    ),
    *_ways(
        "provider_batch",
        {**TENANT, "provider_batch_id": "b"},
        ("advance:waiting wait advance:waiting wait advance:over", DONE, "",
         {"given": {0: {**TENANT, "provider_batch_id": "b"}, 4: {**TENANT, "provider_batch_id": "b"}}}),
        ("advance!Boom", *BROKE),
        ("advance:waiting wait advance!Boom", *BROKE),
    ),
    *_ways(
        "task",
        TASK,
        ("draft:open wait close:comparing compare:x compare:x rank:challenge wait finalise:final", DONE, "", {
            "given": {2: {**TASK, "deadline": "at noon"}, 3: {"dimension": "depth"}, 4: {"dimension": "clarity"}},
        }),
        ("draft:waiting wait draft:open wait close:waiting wait close:challenge wait finalise:final",),
        ("draft:open wait close:challenge wait finalise:challenge wait finalise:final",),
        ("draft:open wait close:comparing compare:waiting compare:x wait compare:x rank:over",),
        ("draft:open wait close:comparing compare:x compare:x rank:comparing compare:x rank:over",),
        ("draft:cancelled",),
        ("draft:open wait close:superseded",),
        ("draft!Boom", *BROKE),
        ("draft:open wait close!Boom", *BROKE),
        ("draft:open wait close:comparing compare!Boom", *ITEM_BROKE),
        ("draft:open wait close:comparing compare:x compare:x rank!Boom", *BROKE),
        ("draft:open wait close:challenge wait finalise!Boom", *BROKE),
    ),
    *_ways(
        "submission",
        {**TASK, "submission_id": "s"},
        ("gate:waiting wait gate:gate_passed score:waiting wait score:scored",),
        ("gate:gate_failed",),
        ("gate!Boom", *BROKE),
        ("gate:gate_passed score!Boom", *BROKE),
    ),
    *_ways(
        "challenge",
        {**TASK, "challenge_id": "c"},
        ("rescore:waiting wait rescore:comparing compare:waiting compare:x wait compare:x decide:upheld",),
        ("rescore:comparing compare:x compare:x decide:comparing compare:x decide:upheld",),
        ("rescore:deciding decide:rejected",),
        ("rescore:over",),
        ("rescore!Boom", *BROKE),
        ("rescore:comparing compare!Boom", *ITEM_BROKE),
        ("rescore:deciding decide!Boom", *BROKE),
    ),
    *_ways(
        "measure",
        {**TENANT, "measurement_id": "m", "metrics": ["clarity", "coverage"]},
        ("measure:waiting measure:done wait measure:done",),
        ("measure!Boom", ("NotMeasured", "Interrupted"), "Boom"),
    ),
    *_ways(
        "experiment",
        {**TENANT, "experiment_id": "e"},
        ("plan:measuring pair:waiting pair:over wait pair:over conclude:done", DONE, "",
         {"given": {0: {"run": "run"}}}),
        ("plan:measuring pair:batched pair:batched conclude:batched plan:waiting wait plan:done",),
        ("plan:done",),
        ("plan:measuring pair!Boom pair:over conclude:incomplete", ("Incomplete",), "Incomplete"),
        ("plan:measuring " + "pair!Boom " * ITEMS_THAT_BREAK_OFF + "conclude:incomplete", ("Incomplete",), "Incomplete",
         MANY),
        ("plan!Boom", *BROKE),
        ("plan:measuring", STOPPED, "States.ItemReaderFailed", {"listed": None}),
        ("plan:measuring pair:over pair:over conclude!Boom", *BROKE),
    ),
    *_ways(
        "audit",
        {**TENANT, "audit_id": "a"},
        ("install:installed prepare:auditing turn:going_on turn:waiting wait turn:over turn:over conclude:done",),
        ("install:installed prepare:auditing turn:batched turn:batched conclude:batched prepare:waiting wait "  # noqa: ISC004
         "prepare:done",),
        ("install:failed",),
        ("install:installed prepare:done",),
        ("install:installed prepare:auditing turn!Boom turn:over conclude:incomplete", ("Incomplete",), "Incomplete"),
        ("install:installed prepare:auditing " + "turn!Boom " * ITEMS_THAT_BREAK_OFF + "conclude:incomplete",
         ("Incomplete",), "Incomplete", MANY),
        ("install!Boom", *BROKE),
        ("install:installed prepare!Boom", *BROKE),
        ("install:installed prepare:auditing", STOPPED, "States.ItemReaderFailed", {"listed": None}),
        ("install:installed prepare:auditing turn:over turn:over conclude!Boom", *BROKE),
    ),
]  # fmt: skip
WORDS: Mapping[str, dict[str, Any]] = {
    "retrieve+found": {"found": True},
    "retrieve-found": {"found": False},
    "verify+retry": {"route": "retry", "number": 2},
    "verify+enrich": {"route": "enrich"},
    "enrich+yes": {"evaluate": True},
    "enrich+no": {"evaluate": False},
    "fail+failed": {"stage": "failed", "evaluate": False},
    "fail+finished": {"stage": "finished", "evaluate": False},
    "fail+finished+yes": {"stage": "finished", "evaluate": True},
    "prepare+elsewhere": {"elsewhere": True},
    "collect+idle": {"state": "waiting", "wait_seconds": SECONDS, "idle": True},
}
"""What the steps of machines that go by other words than a `state` say."""


class AstrayError(BaseException):
    """The machine takes a step that is not on its way; no Catch is to meet this."""


@dataclass
class Stage:
    """Says what a way says, and looks at what is asked; `step`, at its place in the way, first fails by `faults`."""

    way: Way
    step: str = ""
    place: int = -1
    faults: list[str] = field(default_factory=list)
    taken: int = 0
    ends: list[str] = field(default_factory=list)
    entered: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.steps = self.way.steps.split()

    def run(self) -> str:
        """The error by which the machine ends, empty where it succeeds."""
        machine = Interpreter(self._call, self._read, self._entered)
        execution = machine.run(
            definition(self.way.machine, {"Bucket": "bucket"}), name="run", state=dict(self.way.state)
        )
        error = ""
        try:
            for seconds in execution:
                self._next("wait")
                assert seconds == SECONDS
        except StateError as ended:
            error = ended.error
        assert self.steps[self.taken :] == [], "the machine ended early"
        return error

    def _next(self, step: str) -> str:
        wanted = self.steps[self.taken] if self.taken < len(self.steps) else "its end"
        if wanted.translate(str.maketrans("+-!", ":::")).partition(":")[0] != step:
            raise AstrayError(f"{step}, where {wanted} was due")
        self.taken += 1
        return wanted

    def _call(self, resource: str, arguments: dict[str, Any]) -> Any:
        step, given = _asked(resource, arguments)
        if (step, self.taken) == (self.step, self.place) and self.faults:
            raise StateError(self.faults.pop(0))
        expected = self.way.given.get(self.taken, {})
        said = self._next(step)
        if expected != {name: given.get(name) for name in expected}:
            raise AstrayError(f"{step} was given {given}")
        if "!" in said:
            raise StateError(said.partition("!")[2])
        word = {"state": said.partition(":")[2], "wait_seconds": SECONDS, **SAYS.get(step, {})}
        return {"Payload": WORDS.get(said, word)}

    def _read(self, bucket: str, key: str) -> str:
        assert (bucket, key) == ("bucket", "list.jsonl")
        if self.way.listed is None:
            raise FileNotFoundError(key)
        return self.way.listed

    def _entered(self, title: str, kind: str) -> None:
        self.entered[title] += 1
        if kind in {"Succeed", "Fail"}:
            self.ends.append(title)


def _asked(resource: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    match resource.rpartition(":::")[2]:
        case "lambda:invoke":
            return FUNCTIONS[arguments["FunctionName"].strip("${}")].rpartition(".")[2], arguments["Payload"]
        case "sqs:sendMessage":
            return "send", arguments
        case "states:startExecution":
            return "start", arguments
    raise NotImplementedError(resource)


ITEMS = {"experiment": ("pair", "PairOver"), "audit": ("turn", "CaseOver")}
"""The step of a Map whose items end apart, and where an item of it ends."""


def repeated_faults(machine: str, step: str) -> tuple[tuple[str, ...], ...]:
    """Faults that come before a step, each of which is met by taking it again."""
    match (machine, step):
        case (_, "verify"):
            return ()
        case (_, "send"):
            return tuple((fault,) * 4 for fault in SENDING)
        case (_, "start"):
            return tuple((fault,) * 4 for fault in STARTING)
        case ("quiz", _):
            return (*((fault,) * 3 for fault in PLATFORM), (REFUSED,) * 10)
        case ("evaluate", _):
            return (*((fault,) * 4 for fault in PLATFORM), (REFUSED,) * 5)
    return (*((fault,) * 4 for fault in PLATFORM), (REFUSED,) * 10)


def plain_steps(way: Way) -> list[tuple[int, str]]:
    """The places and names of a way's steps that say something; each step once."""
    found: dict[str, int] = {}
    for place, said in enumerate(way.steps.split()):
        if said != "wait" and "!" not in said:
            found.setdefault(said.translate(str.maketrans("+-", "::")).partition(":")[0], place)
    return [(place, step) for step, place in found.items()]


SHORT = [way for way in WAYS if len(way.steps) < 1000]


def goes_this_way(way: Way) -> None:
    """The machine takes these steps, and ends so."""
    stage = Stage(way)
    assert (stage.run(), tuple(stage.ends)) == (way.error, way.ends)


def ends_its_items_as_often_as_they_are_over(way: Way) -> None:
    """An item that is over or broke off ends, and does not fail unseen."""
    step, end = ITEMS[way.machine]
    stage = Stage(way)
    stage.run()
    left = {f"{step}:over", f"{step}:batched", f"{step}!Boom"}
    assert stage.entered[end] == sum(said in left for said in way.steps.split())


def is_the_same_after_faults_of_the_platform(way: Way) -> None:
    """A fault of the platform before a step changes nothing."""
    for place, step in plain_steps(way):
        for faults in repeated_faults(way.machine, step):
            stage = Stage(way, step=step, place=place, faults=list(faults))
            assert (stage.run(), tuple(stage.ends), stage.faults) == (way.error, way.ends, []), (step, faults)


def does_not_repeat_for_ever(way: Way) -> None:
    """A fault that does not pass is not repeated for ever."""
    for place, step in plain_steps(way):
        for faults in repeated_faults(way.machine, step):
            stage = Stage(way, step=step, place=place, faults=[*faults, faults[0], *["Boom"] * 3])
            with suppress(AstrayError, AssertionError):  # it goes the way of what broke off, which is another one
                stage.run()
            assert len(stage.faults) >= 2, (step, faults)  # the other item of a Map may have met one


BOUND = [way for way in WAYS if way.machine in ITEMS]
"""Ways of machines whose items are looked at each by itself."""
CLAIMS: Mapping[Callable[[Way], None], Sequence[Way]] = {
    goes_this_way: WAYS,
    ends_its_items_as_often_as_they_are_over: BOUND,
    is_the_same_after_faults_of_the_platform: SHORT,
    does_not_repeat_for_ever: SHORT,
}
"""What is asserted of the ways, each with its ways: what a test asserts, and what sees a definition that is wrong."""
