"""R1 R2 R3 R20: in whatever order workers claim, finish, crash and repeat, nothing is lost and nothing is twice."""

from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from itertools import count
from typing import Any

import boto3
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.support.records import HandClock, a_spend, an_answer, an_evaluation, finished
from tests.support.store_faults import losing_replies, refusing
from tests.support.table import create_table
from touchstone.answers.model import AnswerRecord
from touchstone.attempts import TryEnd
from touchstone.errors import StoreError
from touchstone.records import Answers, Artifacts, Evaluations, Statistics
from touchstone.records.answer_counters import COUNTED_STATES
from touchstone.references import Reference

LEASE_SECONDS = 60
REGION = "us-east-1"
_numbers = count()
picks = st.integers(0, 3)


class EvaluationStates(RuleBasedStateMachine):
    """Four records at most, any number of workers that remember the leases they once had."""

    def __init__(self) -> None:
        super().__init__()
        self.table = create_table(boto3.resource("dynamodb", region_name=REGION), name=f"states-{next(_numbers)}")
        self.client = self.table.meta.client
        self.clock = HandClock()
        stores: Any = (self.table, Artifacts(lambda: boto3.client("s3", region_name=REGION), "unused"))
        self.answers = Answers(*stores, clock=self.clock, pause=lambda _: None)
        self.evaluations = Evaluations(*stores, clock=self.clock, pause=lambda _: None)
        self.statistics = Statistics(*stores, clock=self.clock)
        self.ids: list[str] = []
        self.leases: list[tuple[str, Any]] = []
        self.granted: Counter[str] = Counter()
        self.first_results: dict[str, float] = {}

    def teardown(self) -> None:
        self.recount()
        self.table.delete()

    @precondition(lambda self: len(self.ids) < 4)
    @rule(wanted=st.booleans())
    def arrive(self, wanted: bool) -> None:
        record = an_answer(at=self.clock(), deep_evaluation_wanted=wanted)
        self.ids.append(finished(self.answers, record).id)
        self.clock.advance(seconds=1)

    @precondition(lambda self: self.ids)
    @rule(pick=picks, again=st.booleans())
    def request(self, pick: int, again: bool) -> None:
        self.evaluations.request(self._named(pick), retry_failed=again)

    @precondition(lambda self: self.ids)
    @rule(pick=picks)
    def claim(self, pick: int) -> None:
        before = self._record(pick)
        if before.evaluation.state == "none":
            return
        claim = self.evaluations.claim(self._named(pick), lease_seconds=LEASE_SECONDS)
        until = before.evaluation.not_before
        held = before.evaluation.state == "running" and until is not None and until > self.clock()
        assert not (claim.granted and (held or before.evaluation.state in {"done", "failed"}))
        if claim.granted:
            self.leases.append((claim.record.id, claim.record.evaluation.not_before))

    @precondition(lambda self: self.leases)
    @rule(
        pick=st.integers(0, 20),
        score=st.sampled_from([0.1, 0.333333, 0.9]),
        fault=st.sampled_from(["", "", "before", "after"]),
    )
    def complete(self, pick: int, score: float, fault: str) -> None:
        """Any worker that once held a lease comes back with a result, however late; the leases are kept: redelivery."""
        answer_id, _ = self.leases[pick % len(self.leases)]
        which = Reference("acme", "answer", answer_id)
        evaluation = an_evaluation(score, at=self.clock(), suggestions=[f"Suggestion {score}"], better="Shorter.")
        try:
            with ExitStack() as stack:
                if fault == "before":
                    stack.enter_context(refusing(self.client, "TransactWriteItems", "InternalServerError"))
                if fault == "after":
                    stack.enter_context(losing_replies(self.client, "TransactWriteItems"))
                done = self.evaluations.complete(which, evaluation=evaluation, spends=[a_spend(purpose="evaluate")])
        except StoreError:
            done = self.answers.get(which)
        if done.deep_evaluation is not None:
            kept = self.first_results.setdefault(answer_id, done.deep_evaluation.overall)
            assert done.deep_evaluation.overall == kept

    @precondition(lambda self: self.leases)
    @rule(pick=st.integers(0, 20), days=st.integers(0, 2), ended=st.sampled_from(["unread", "unanswered", "limited"]))
    def put_back(self, pick: int, days: int, ended: TryEnd) -> None:
        answer_id, lease = self.leases[pick % len(self.leases)]
        until = self.clock() + timedelta(days=days)
        which = Reference("acme", "answer", answer_id)
        self.evaluations.defer(which, until=until, reason="quota", ended=ended, lease=lease)

    @precondition(lambda self: self.leases)
    @rule(pick=st.integers(0, 20))
    def give_up(self, pick: int) -> None:
        self.evaluations.fail(Reference("acme", "answer", self.leases[pick % len(self.leases)][0]), failure="refused")

    @rule(seconds=st.sampled_from([1, LEASE_SECONDS + 1]))
    def time_passes(self, seconds: int) -> None:
        """Past a lease, whoever held it has crashed."""
        self.clock.advance(seconds=seconds)

    @rule()
    def recount(self) -> None:
        """Every count equals a recount, and every request that is not over is found in exactly one place."""
        records = [self.answers.get(Reference("acme", "answer", each)) for each in self.ids]
        states = Counter(record.evaluation.state for record in records)
        assert self.statistics.evaluations("acme") == {state: states[state] for state in COUNTED_STATES}
        assert self.evaluations.backlog().count == states["deferred"]
        scores = [record.deep_evaluation.overall for record in records if record.deep_evaluation is not None]
        assert len(scores) == states["done"] == len(self.first_results)
        trends = self.statistics.trends("acme", days=30)
        assert sum(trend.evaluations for trend in trends) == len(scores)
        suggestions = {each.text: each.count for each in self.statistics.suggestions("acme")}
        assert suggestions == {f"Suggestion {score}": times for score, times in Counter(scores).items()}
        assert len(self.statistics.approaches("acme")) == len(scores)
        pending = [
            *self.evaluations.oldest_deferred(limit=99),
            *self.evaluations.stalled(older_than=timedelta(days=-99)),
        ]
        found = Counter(each.answer_id for each in pending)
        assert set(found.values()) <= {1}
        over = {"none", "done", "failed"}
        expected = {each.id: each.evaluation.state for each in records if each.evaluation.state not in over}
        assert {each.answer_id: each.state for each in pending} == expected

    def _named(self, pick: int) -> Reference:
        return Reference("acme", "answer", self.ids[pick % len(self.ids)])

    def _record(self, pick: int) -> AnswerRecord:
        return self.answers.get(self._named(pick))


def test_any_interleaving_leaves_each_record_in_one_state_and_counted_once(aws: None) -> None:
    steps = settings(max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(EvaluationStates, settings=steps)
