"""What operations work with: stores in moto, judges in memory, one clock that is moved by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import boto3

from tests.support.judges import Line, Script
from tests.support.records import HandClock, an_answer, an_attempt
from tests.support.starts import Starts, starts_of_answers
from touchstone.answers.model import AnswerRecord, Attempt, EvaluationProgress
from touchstone.answers.providers import Preferences
from touchstone.budgets import DynamoAdmission, Quotas, Spending
from touchstone.clock import Deadline
from touchstone.judges import Judges, load_registry
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.draining import Drain, Drained
from touchstone.operations.answers.intake import AnswerIntake, BulkEvaluations
from touchstone.operations.reports.budgets import free_units, spent_for_today
from touchstone.records import (
    Answers,
    Artifacts,
    DeferredQueue,
    Evaluations,
    Leases,
    RequestKeys,
    SolutionRecords,
)
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

BUCKET = "artifacts"
LONG = 900.0
EVALUATOR = load_registry(environ={}).model("gemini", "evaluate").name


@dataclass(kw_only=True)
class House:
    """A deployment's stores and judges.

    `script` is what judges say; `per_day` and `per_minute` are the quota of deep evaluation, a tenth of the default
    one; `ceilings` are tenants' spending ceilings in US dollars, where they have one.
    """

    table: "Table"
    clock: HandClock
    artifacts: Artifacts
    answers: Answers
    evaluations: Evaluations
    quotas: Quotas
    queue: DeferredQueue
    script: Script
    per_day: int = 25
    per_minute: int = 10
    ceilings: dict[str, float] = field(default_factory=dict)
    starts: Starts = field(default_factory=starts_of_answers)
    _judges: dict[str, Judges] = field(default_factory=dict)

    def judges(self, tenant: str) -> Judges:
        """A tenant's judges, within the quotas and its ceiling."""
        if tenant not in self._judges:
            spending = Spending(self.table, clock=self.clock)
            ceiling = self.ceilings.get(tenant, 1000.0)
            admission = DynamoAdmission(self.quotas, spending, ceiling_usd=ceiling)
            limits = {"per_day": self.per_day, "per_minute": self.per_minute}
            self._judges[tenant] = self.script.judges(
                admission=admission,
                clock=self.clock,
                tenant=tenant,
                overrides={"gemini": {"models": {EVALUATOR: limits}}},
            )
        return self._judges[tenant]

    def context(self, tenant: str = "acme") -> AnswerContext:
        """What the steps of a tenant's answers work with."""
        return AnswerContext(
            tenant=tenant,
            answers=self.answers,
            evaluations=self.evaluations,
            solutions=SolutionRecords(self.table, self.artifacts, tenant=tenant, clock=self.clock),
            artifacts=self.artifacts,
            judges=self.judges(tenant),
            preferences=Preferences,
            clock=self.clock,
        )

    @property
    def leases(self) -> Leases:
        """Who does what alone."""
        return Leases(self.table, clock=self.clock)

    def bulk(self) -> BulkEvaluations:
        """Where many evaluations are lined up, as one function sees it."""
        return BulkEvaluations(
            evaluations=self.evaluations,
            queue=lambda: self.queue,
            leases=self.leases,
            workflows=lambda: self.starts,
            spent=lambda: spent_for_today(judges=self.judges("touchstone"), quotas=self.quotas),
        )

    def intake(self, *, bulk: BulkEvaluations | None = None) -> AnswerIntake:
        """Accepts requests of one tenant; `bulk` as for a door of many."""
        return AnswerIntake(
            tenant="acme",
            answers=self.answers,
            evaluations=self.evaluations,
            artifacts=self.artifacts,
            keys=RequestKeys(self.table),
            workflows=lambda: self.starts,
            bulk=bulk,
            clock=self.clock,
        )

    def drain(self, shard: int = 0, shards: int = 1) -> Drain:
        """The drain of all tenants, or one of several."""
        return Drain(
            evaluations=self.evaluations,
            leases=self.leases,
            queue=self.queue,
            context=self.context,
            free=lambda: free_units(judges=self.judges("touchstone"), quotas=self.quotas),
            clock=self.clock,
            shard=shard,
            shards=shards,
        )

    async def drain_whole(self, *, steps: int = 200) -> list[Drained]:
        """Drain as the machine does: step after step, each when the one before it said, until it does not go on."""
        done: list[Drained] = []
        for _ in range(steps):
            done.append(await self.drain().run(owner="drain", deadline=Deadline.after(LONG)))
            if done[-1].state != "continue":
                break
            self.clock.now = max(self.clock.now + timedelta(seconds=1), done[-1].until or self.clock.now)
        return done

    def asked_for(self, count: int, *, tenant: str = "acme", state: str = "deferred") -> list[AnswerRecord]:
        """Finished answers whose evaluations were asked for a second apart, oldest first."""
        made = []
        for number in range(count):
            self.clock.advance(seconds=1)
            now = self.clock()
            progress = EvaluationProgress.model_validate(
                {"state": state, "requested_at": now, "not_before": now if state == "waiting" else None}
            )
            attempt = finished_attempt(number)
            record = an_answer(
                tenant=tenant,
                at=now,
                problem=f"Problem {number}?",
                stage="finished",
                attempts=(attempt,),
                best_attempt=1,
                verification_status="verified",
                verification_confidence=0.9,
                evaluation=progress,
            )
            made.append(self.answers.create(record))
        return made

    def states(self, records: list[AnswerRecord]) -> dict[str, int]:
        """How many of these records' evaluations are in which state."""
        found: dict[str, int] = {}
        for record in records:
            state = self.answers.get(Reference(record.tenant, "answer", record.id)).evaluation.state
            found[state] = found.get(state, 0) + 1
        return found


def finished_attempt(number: int) -> Attempt:
    """A verified attempt, its answer a number."""
    return an_attempt(answer=str(number))


def build(table: "Table", lines: dict[str, Sequence[Line]]) -> House:
    """A house whose judges say these lines."""
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket=BUCKET)
    sqs = boto3.client("sqs", region_name="us-east-1")
    url = sqs.create_queue(QueueName="deferred.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    clock = HandClock()
    artifacts = Artifacts(lambda: s3, BUCKET)
    return House(
        table=table,
        clock=clock,
        artifacts=artifacts,
        answers=Answers(table, artifacts, clock=clock, pause=_at_once),
        evaluations=Evaluations(table, artifacts, clock=clock, pause=_at_once),
        quotas=Quotas(table, clock=clock),
        queue=DeferredQueue(sqs, url),
        script=Script(lines),
    )


def _at_once(_seconds: float) -> None:
    """No pause between repeated writes."""
