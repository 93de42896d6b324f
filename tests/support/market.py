"""A deployment's tasks: stores in moto, judges that follow opinions, one clock that is moved by hand."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.support.judges import Script
from tests.support.opinions import Opinions, Scores, text_of
from tests.support.oracle import a_request
from tests.support.records import HandClock
from tests.support.starts import Starts, starts_of_tasks
from touchstone.judges import load_registry
from touchstone.judges.cache import MemoryCache
from touchstone.operations.jobs.restarts import tasks_swept
from touchstone.operations.jobs.sweep import MOST, Sweep
from touchstone.operations.tasks.challenging import compare_again, rescore
from touchstone.operations.tasks.closing import close
from touchstone.operations.tasks.comparing import compare_dimension
from touchstone.operations.tasks.context import Announcer, TaskContext, TaskProgress
from touchstone.operations.tasks.deciding import decide
from touchstone.operations.tasks.drafting import draft
from touchstone.operations.tasks.intake import TaskIntake
from touchstone.operations.tasks.judging import check, score
from touchstone.operations.tasks.ranking import finalise, rank_contest
from touchstone.operations.tasks.reading import PartyReader
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.choice import OracleChoice, open_another_judge, open_judge, open_panel
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.model import TaskPath
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.records import (
    COMPARISON_KIND,
    Artifacts,
    Comparisons,
    Judgements,
    Outbox,
    RequestKeys,
    Tasks,
)
from touchstone.records.challenges import CHALLENGE, Challenges
from touchstone.records.labels import Labels
from touchstone.records.outbox import EventBus
from touchstone.records.submissions import SUBMISSION, Submissions
from touchstone.records.tasks import TASK
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

OWNER = "buyer-1"
STEPS = 200
"""More steps than any machine of a test takes: beyond them it runs in a circle."""
LATER = timedelta(days=40)
"""Beyond every wait of a test."""


@dataclass(kw_only=True)
class Bus:
    """An event bus's client that keeps what it is given, and fails where it is told to."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    fault: Exception | None = None
    refuses: bool = False

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - as the SDK has it
        """Take events."""
        if self.fault is not None:
            raise self.fault
        if self.refuses:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "ThrottlingException"}]}
        self.entries += Entries
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}

    def kinds(self) -> list[str]:
        """What was told, sorted."""
        return sorted(entry["DetailType"] for entry in self.entries)


@dataclass(frozen=True, kw_only=True)
class SweptTasks:
    """What a sweep of a market did: records that it started again, or could not, and events that it sent."""

    restarted: int
    sent: int
    stuck: int


@dataclass(frozen=True, kw_only=True)
class MarketSweep:
    """The sweep of a market, as the function that sweeps does it."""

    market: "Market"

    def run(self) -> SweptTasks:
        """Sweep once."""
        market = self.market
        jobs = tasks_swept(market.tasks, market.submissions, market.challenges)
        found = Sweep(jobs=jobs, workflows=lambda: market.starts, clock=market.clock).run()
        sent = market.announcer.pending(limit=MOST)
        return SweptTasks(restarted=found.restarted, sent=sent, stuck=found.stuck)


@dataclass(kw_only=True)
class Market:
    """One tenant's tasks, and the machines that carry them, moved step by step.

    `said` are all the words that steps gave to their machines, in order.
    """

    table: "Table"
    clock: HandClock
    artifacts: Artifacts
    scratch: Artifacts
    opinions: Opinions
    script: Script
    cache: MemoryCache | None = None
    bus: Bus = field(default_factory=Bus)
    starts: Starts = field(default_factory=starts_of_tasks)
    said: list[TaskProgress] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open the stores."""
        options: dict[str, Any] = {"clock": self.clock, "pause": lambda _: None}
        self.tasks = Tasks(TASK, self.table, self.artifacts, **options)
        self.submissions = Submissions(SUBMISSION, self.table, self.artifacts, **options)
        self.judgements = Judgements(SUBMISSION, self.table, self.artifacts, **options)
        self.comparisons = Comparisons(COMPARISON_KIND, self.table, self.artifacts, **options)
        self.challenges = Challenges(CHALLENGE, self.table, self.artifacts, **options)
        self.outbox = Outbox(self.table, clock=self.clock)
        self.announcer = Announcer(outbox=self.outbox, bus=lambda: EventBus(lambda: self.bus, "events"))  # type: ignore[arg-type, return-value] # the part of a client that is used

    def context(self, tenant: str = "acme") -> TaskContext:
        """What the steps work with, opened anew as each function does."""
        judges = self.script.judges(cache=self.cache, clock=self.clock, tenant=tenant)
        choice = OracleChoice(registry=load_registry(environ={}), provider=self.opinions.first)
        return TaskContext(
            tenant=tenant,
            tasks=self.tasks,
            submissions=self.submissions,
            judgements=self.judgements,
            comparisons=self.comparisons,
            challenges=self.challenges,
            scratch=self.scratch,
            announcer=self.announcer,
            judge=lambda: open_judge(judges, choice),
            other_judge=lambda than: open_another_judge(judges, choice, than=than),
            judge_at=lambda provider: judges.get(provider, "strong"),
            panel=lambda wanted: open_panel(judges, choice, wanted),
            clock=self.clock,
        )

    def intake(self, tenant: str = "acme") -> TaskIntake:
        """Accepts requests."""
        return TaskIntake(
            tenant=tenant,
            tasks=self.tasks,
            submissions=self.submissions,
            challenges=self.challenges,
            artifacts=self.artifacts,
            keys=RequestKeys(self.table, clock=self.clock),
            workflows=lambda: self.starts,
            clock=self.clock,
        )

    def reader(self, party: str | None, tenant: str = "acme") -> PartyReader:
        """Reads for a party."""
        return PartyReader(
            tenant=tenant,
            party=party,
            tasks=self.tasks,
            submissions=self.submissions,
            challenges=self.challenges,
            labels=lambda: Labels(self.table),
        )

    def sweep(self) -> "MarketSweep":
        """Takes up what was left."""
        return MarketSweep(market=self)

    def task(self, task_id: str) -> Task:
        """A task as it is stored."""
        return self.tasks.get(Reference("acme", "task", task_id))

    def submission(self, one: Submission) -> Submission:
        """A submission as it is stored."""
        return self.submissions.get(one.ref)

    def created(self, path: TaskPath = "quality_first", **changes: Any) -> Task:
        """A task that was asked for; its deadline is a week after `START`, unless told otherwise."""
        return self.intake().create(a_request(path, **changes), key=None)

    async def drafted(self, task_id: str) -> str:
        """What the machine of a task does up to its deadline; the word at which it ends."""
        return await self._going(lambda: draft(self.context(), task_id))

    async def opened(self, path: TaskPath = "quality_first", **changes: Any) -> Task:
        """A task that takes submissions."""
        task = self.created(path, **changes)
        assert (await draft(self.context(), task.id)).state == "open"
        return self.task(task.id)

    def submitted(self, task: Task, writer: str, *, more: str = "") -> Submission:
        """Work handed in, a second after whatever came before."""
        self.clock.advance(seconds=1)
        request = SubmissionRequest(submitter=writer, text=text_of(writer, more=more))
        return self.intake().submit(task.id, request, key=None)

    async def judged(self, task: Task, *writers: str, more: str = "") -> dict[str, Submission]:
        """Work of these writers, handed in in this order and judged to its end."""
        found = {}
        for writer in writers:
            one = self.submitted(task, writer, more=more)
            await self.carry_submission(one.ref)
            found[writer] = self.submission(one)
        return found

    def challenged(self, task: Task, one: Submission, *, by: str | None = None) -> Challenge:
        """A challenge to a submission's place, by its author unless told otherwise."""
        self.clock.advance(seconds=1)
        request = ChallengeRequest(challenger=by or one.submitter, submission_id=one.id, reason="Look again.")
        return self.intake().challenge(task.id, request)

    async def carry_submission(self, ref: Reference) -> str:
        """What the machine of a submission does; the word at which it ends."""
        word = await self._going(lambda: check(self.context(), ref))
        return await self._going(lambda: score(self.context(), ref)) if word == "gate_passed" else word

    async def carry_task(self, task_id: str) -> str:
        """What the machine of a task does from its deadline on; the word at which it ends, or `challenge`."""
        self.clock.now = max(self.clock.now, self.task(task_id).deadline)
        deadline = self.task(task_id).deadline
        word = await self._going(lambda: close(self.context(), task_id, deadline=deadline))
        while word == "comparing":
            for dimension in self.said[-1].dimensions:
                await self.compared(task_id, dimension)
            word = self.heard(rank_contest(self.context(), task_id))
        return word

    async def compared(self, task_id: str, dimension: str) -> str:
        """What the machine does for one dimension; the word at which it ends."""
        return await self._going(lambda: compare_dimension(self.context(), task_id, dimension=dimension), within=LATER)

    async def carry_challenge(self, challenge: Challenge) -> str:
        """What the machine of a challenge does; the word at which it ends."""
        names = (challenge.task_id, challenge.id)
        word = await self._going(lambda: rescore(self.context(), *names))
        while word == "comparing":
            for dimension in self.said[-1].dimensions:
                await self._going(lambda one=dimension: compare_again(self.context(), *names, dimension=one))  # type: ignore[misc]
            word = self.heard(decide(self.context(), *names))
        return self.heard(decide(self.context(), *names)) if word == "deciding" else word

    def final(self, task_id: str) -> Task:
        """The task once its challenge period is over."""
        until = self.task(task_id).challenge_until
        assert until is not None
        self.clock.now = max(self.clock.now, until)
        assert self.heard(finalise(self.context(), task_id)) == "final"
        return self.task(task_id)

    def heard(self, progress: TaskProgress) -> str:
        """A step's word, kept."""
        self.said.append(progress)
        return progress.state

    async def _going(self, step: Callable[[], Awaitable[TaskProgress]], *, within: timedelta = LATER) -> str:
        """Take a step until it does not wait any more, waiting as it says."""
        ends = self.clock() + within
        for _ in range(STEPS):
            progress = await step()
            if self.heard(progress) != "waiting":
                return progress.state
            assert progress.until is not None, "a machine would not know how long to wait"
            self.clock.now = max(self.clock.now + timedelta(seconds=1), progress.until)
            assert self.clock() <= ends
            await asyncio.sleep(0)  # other machines are at work meanwhile
        raise AssertionError(f"the machine runs in a circle: {self.said[-3:]}")


SECOND = "openai"
"""Whose turn it is in the registry's order where the first judge is another."""
LONG = "The frost came late and took the early varieties. " * 500


async def ranked(market: Market, **scores: Scores) -> tuple[Task, dict[str, Submission]]:
    """A contest whose ranking may be challenged."""
    market.opinions.scores = dict(scores)
    task = await market.opened()
    found = await market.judged(task, *scores)
    assert await market.carry_task(task.id) == "challenge"
    market.said.clear()
    market.script.asked.clear()
    return market.task(task.id), found


def order(market: Market, task: Task, found: dict[str, Submission]) -> list[str]:
    """The writers of the ranking, best first."""
    writers = {one.id: writer for writer, one in found.items()}
    return [writers[place.submission_id] for place in market.task(task.id).places]


def stored(market: Market, challenge: Challenge) -> Challenge:
    """A challenge as it is."""
    return market.challenges.get(Reference("acme", "challenge", challenge.id, challenge.task_id))
