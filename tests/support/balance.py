"""What every test of faults with batches ends with: invariants I1–I6, over the store and the provider's log.

`balance` is of a deployment, at any moment, and `balance_at_the_end` where nothing comes after it; `balance_local` is
of a file that is done on this machine.

I1 nothing is lost: what was accepted is stored, failed or waiting, each in exactly one place. I2 nothing is counted
twice: every sum equals a recount, and nothing is sent that was not held back. I3 batches use no unit of the live quota.
I4 whoever asks at once is answered by the same request, whatever waits for a batch. I5 a failed call is never counted
as a result. I6 no other tenant reads, hastens or pays for anything of it.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from functions.composition import judging, stores
from functions.environment import environment
from tests.support.api import Api
from tests.support.batching import TENANT, BatchingHouse
from tests.support.providers import ProviderServer
from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend
from touchstone.operations.provider_batches.questions import questions_from_text
from touchstone.operations.reports.budgets import budget_report
from touchstone.records import Statistics
from touchstone.records.jobs import JobStore
from touchstone.records.parts import Parts
from touchstone.references import Reference

WAITS = ("waiting", "deferred", "cheap", "running")
"""The lists of evaluations that are not over."""
STRANGER = "stranger"
LIVE = {"problem": "Name the capital of Australia.", "answer": "Canberra", "deep_evaluation": False}
"""What only a judge can decide."""
MANY_DAYS = timedelta(days=1_000)
MICRO = 2e-6
"""US dollars: money is counted in whole millionths, rounded once a sum."""


def balance(house: BatchingHouse) -> None:
    """Assert the invariants, as far as the house has not been told otherwise (`BatchingHouse.untold_usd`)."""
    answers, batches = _answers(house), house.batches()
    spends = [*house.spends(), *(spend for record in answers for spend in record.spends)]
    _each_in_one_place(answers, batches, house.unreadable)
    _batches_say_what_records_say(batches, spends, house.untold_usd)
    _money_adds_up(batches, spends, untold_usd=house.untold_usd, lost_usd=house.lost_usd)
    _nothing_sent_unreserved(house)
    at_once = sum(not call.by_batch for call in house.server.calls) + house.asked_before
    assert units_used() <= at_once, "I3: batches use no unit of the live quota"
    _no_failure_passed(answers)
    _submissions_in_one_place()
    _jobs_in_one_place()
    if not house.unreadable:
        _counters_equal_a_recount(house, answers)


def balance_at_the_end(house: BatchingHouse) -> None:
    """Assert the invariants, with a live request and a stranger's beside what there is."""
    _live_requests_wait_for_no_batch(house)
    balance(house)
    _nobody_else_gets_in(house)


def balance_local(server: ProviderServer, requests: Path, results: Path) -> None:
    """I1, I2, I5 over a file that is done by `--local --cheap`, whether its run has ended or was left.

    Each line stands in the results once at most, and all of them where no journal says that some are under way; each
    reply of a batch is told once, and was paid for at the provider; and what a judge decided has a call that did so.
    """
    told = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    numbers = [one["line"] for one in told]
    wanted = {number for number, line in enumerate(requests.read_text().splitlines(), start=1) if line.strip()}
    assert len(numbers) == len(set(numbers)), "I1: a line stands in the results twice"
    assert set(numbers) <= wanted, "I1: a result of no line"
    answers = [one["answer"] for one in told if one["answer"] is not None]
    spends = [spend for answer in answers for spend in answer["spends"] if not spend["cached"]]
    lines = Counter(spend["line_id"] for spend in spends if spend["line_id"] is not None)
    assert set(lines.values()) <= {1}, "I2: a reply of a batch is told twice"
    sent = {line_id for batch in server.batches.stored.values() for line_id in batch.line_ids}
    assert set(lines) <= sent, "I2: a reply of a batch that no provider has"
    assert sum(lines.values()) <= sum(call.by_batch for call in server.calls), "I2: more is told than was asked"
    for answer in answers:
        decided = answer["method"] == "judge" and answer["verification_status"] in {"verified", "failed"}
        good = any(spend["failure"] is None for spend in answer["spends"])
        assert good or not decided, "I5: an answer is decided, and every call for it failed"


def units_used() -> int:
    """How many units of the live quotas are used."""
    report = budget_report(
        tenant=TENANT,
        judges=judging.judges(TENANT),
        quotas=stores.quotas(),
        spending=stores.spending(),
        ceiling_usd=environment().daily_ceiling_usd,
    )
    return sum(quota.used for quota in report.quotas)


def _answers(house: BatchingHouse) -> list[AnswerRecord]:
    found, cursor = list[AnswerRecord](), None
    while True:
        page = stores.answers().page(tenant=TENANT, limit=100, cursor=cursor)
        ids = [one.id for one in page.items if one.id not in house.unreadable]
        found += [stores.answers().get(Reference(TENANT, "answer", each)) for each in ids]
        if (cursor := page.cursor) is None:
            return found


def _listed(batch: ProviderBatch) -> list[str]:
    return [one.answer_id for one in questions_from_text(stores.scratch().get_text(tenant=TENANT, key=batch.lines_key))]


def _each_in_one_place(
    answers: Sequence[AnswerRecord], batches: Sequence[ProviderBatch], unreadable: Collection[str]
) -> None:
    """I1: an evaluation that was asked for is stored, failed, in one list that somebody reads, or in one batch."""
    waiting = Counter(
        one.answer_id
        for state in WAITS
        for one in stores.evaluations().pending(state, 10_000)  # type: ignore[arg-type] # a word of a tuple of them
        if one.tenant == TENANT and one.answer_id not in unreadable
    )
    carried = {batch.id: _listed(batch) for batch in batches if not batch.over and batch.of == "evaluation"}
    for record in answers:
        progress = record.evaluation
        place = None if progress.submitted is None else carried.get(progress.submitted.provider_batch_id, [])
        places = {
            "stored": progress.state == "done" and record.deep_evaluation is not None,
            "failed": progress.state == "failed" and progress.failure is not None,
            "waiting": waiting[record.id] == 1,
            "in a batch": place is not None and place.count(record.id) == 1,
        }
        found = [name for name, here in places.items() if here]
        wanted = 0 if progress.state == "none" else 1
        assert len(found) == wanted, f"I1: {record.id} is {progress.state}, in {found}, listed {waiting[record.id]} x"
    assert set(waiting) <= {record.id for record in answers}, "I1: an index leads to what is not there"
    for batch in batches:
        done = batch.count if batch.ended != "unpaid" else 0
        assert not batch.over or batch.settled == done, f"I1: {batch.id} is over with lines that nobody settled"


def _submissions_in_one_place() -> None:
    """I1, I5: what was handed in has its scores, a visible end, or one place in the list that the sweep reads."""
    tasks = [one.id for one in stores.tasks().page(tenant=TENANT, limit=100).items]
    waiting = Counter(stores.submissions().unfinished(older_than=-MANY_DAYS, limit=10_000))
    found = [one for task in tasks for one in stores.submissions().of_task(Reference(TENANT, "task", task))]
    for one in found:
        places = {
            "scored": one.state == "scored" and one.individual is not None,
            "ended": one.state in {"gate_failed", "unscored", "overtaken"} and one.individual is None,
            "waiting": not one.judged and waiting[one.ref] == 1,
        }
        assert list(places.values()).count(True) == 1, f"I1: {one.id} is {one.state}, listed {waiting[one.ref]} x"
        if one.state == "scored":
            brought = {spend.purpose for spend in one.spends if spend.failure is None}
            assert "individual" in brought, f"I5: {one.id} is scored, and every call for it failed"
    listed = {ref for ref in waiting if ref.tenant == TENANT}
    assert listed <= {one.ref for one in found}, "I1: an index leads to what is not there"


def _jobs_in_one_place() -> None:
    """I1: a job has its end, with all its parts, or one place in the list that the sweep reads."""
    stored: tuple[JobStore[Any, Any], ...] = (
        stores.measurements(),
        stores.experiments(),
        stores.audits(),
        stores.provider_batches(),
    )
    parts: Mapping[str, Parts[Any]] = {"experiment": stores.pairs(), "audit": stores.cases()}
    for store in stored:
        found = store.page(tenant=TENANT, limit=100).items
        waiting = Counter(one for one in store.unfinished(older_than=-MANY_DAYS, limit=10_000) if one.tenant == TENANT)
        refs = {Reference(TENANT, store.how.kind, one.id) for one in found}
        for ref in refs:
            record = store.get(ref)
            ended = record.done if isinstance(record, ProviderBatch) else record.finished_at is not None
            assert waiting[ref] == (not ended), f"I1: {ref} has ended: {ended}, listed {waiting[ref]} x"
            assert not (ended and ref.kind in parts and parts[ref.kind].open(ref)), f"I1: {ref} ended with open parts"
        assert set(waiting) <= refs, "I1: an index leads to what is not there"


def _live_requests_wait_for_no_batch(house: BatchingHouse) -> None:
    """I4: an answer that is to be verified at once is, or is `unverified`, by the time its request is answered."""
    before, batches = len(house.server.calls), house.batches()
    live = Api(token=house.deployment.token(TENANT)).post("/v1/verifications", LIVE)
    assert live.status == HTTPStatus.CREATED, live.body
    view = live.json
    assert view["stage"] in ENDED, f"I4: {view['stage']}"
    assert view["verification_status"] in {"verified", "failed", "caution", "unverified"}, "I4"
    assert all(spend["line_id"] is None for spend in view["spends"]), "I4: a live request went by a batch"
    assert not any(call.by_batch for call in house.server.calls[before:]), "I4: a live request went by a batch"
    assert house.batches() == batches, "I4: a live request moved a batch"


def _nobody_else_gets_in(house: BatchingHouse) -> None:
    """I6: another tenant finds none of these records by any route, and changes, hastens and spends nothing."""
    stranger = Api(token=house.deployment.token(STRANGER))
    before = _rows_of_others(house)
    calls = len(house.server.calls)
    lists = {
        "answers": stores.answers(),
        "measurements": stores.measurements(),
        "experiments": stores.experiments(),
        "audits": stores.audits(),
        "tasks": stores.tasks(),
        "batches": stores.batches(),
    }
    for name, store in lists.items():
        seen = stranger.get(f"/v1/{name}")
        assert (seen.status, seen.json["items"]) == (HTTPStatus.OK, []), f"I6: a list of {name}"
        for one in store.page(tenant=TENANT, limit=2).items:  # type: ignore[attr-defined] # each has a list
            address = f"/v1/{name}/{one.id}"
            asked = [stranger.get(address)]
            if name in {"measurements", "experiments", "audits", "batches"}:
                asked.append(stranger.call("POST", f"{address}/now", query={"pay_twice": "true"}))
            if name == "answers":
                asked.append(stranger.post(f"{address}/deep-evaluation"))
            assert {reply.status for reply in asked} == {HTTPStatus.NOT_FOUND}, f"I6: {address}"
    own = {batch.id for batch in house.batches()}
    for path in ("/v1/budget", "/v1/backlog"):
        told = stranger.get(path)
        assert told.status == HTTPStatus.OK, told.body
        assert not any(each in told.body for each in own), f"I6: {path} tells of a batch"
    assert stores.spending().history(STRANGER) == (), "I6: a stranger paid"
    assert len(house.server.calls) == calls, "I6: a stranger had something asked"
    assert _rows_of_others(house) == before, "I6: a stranger changed something"


def _rows_of_others(house: BatchingHouse) -> list[str]:
    """All that is stored of anybody but the stranger."""
    rows = [json.dumps(row, sort_keys=True, default=str) for row in house.deployment.table.scan()["Items"]]
    return sorted(row for row in rows if STRANGER not in row)


def _batches_say_what_records_say(batches: Sequence[ProviderBatch], spends: Sequence[Spend], untold_usd: float) -> None:
    """I2, I5: a line is told once, by the batch that it came with, and counts as answered if it brought something."""
    lines = [spend for spend in spends if spend.line_id is not None]
    told = Counter(spend.line_id for spend in lines)
    assert set(told.values()) <= {1}, f"I2: told twice: {[line for line, times in told.items() if times > 1]}"
    of_batch = {batch.intent: batch for batch in batches if batch.intent is not None}
    strangers = {spend.line_id for spend in lines if str(spend.line_id).rpartition("-")[0] not in of_batch}
    assert not strangers, f"I2: lines of no batch: {strangers}"
    for intent, batch in of_batch.items():
        own = [spend for spend in lines if str(spend.line_id).rpartition("-")[0] == intent]
        if batch.over:
            good = sum(spend.failure is None for spend in own)
            assert batch.answered <= good or untold_usd, f"I5: {batch.id} counts what brought nothing as answered"
            assert batch.answered >= good, f"I2: {batch.id} counts {batch.answered} answered, {good} are told"
    over = [batch for batch in batches if batch.over]
    counted = sum(batch.cost_usd for batch in over)
    paid = sum(spend.cost_usd or 0.0 for spend in lines if of_batch[str(spend.line_id).rpartition("-")[0]].over)
    assert counted == pytest.approx(paid + untold_usd, abs=MICRO), "I2: batches and records differ in what was paid"


def _money_adds_up(
    batches: Sequence[ProviderBatch], spends: Sequence[Spend], *, untold_usd: float, lost_usd: float
) -> None:
    """I2: the days say what the records say, and hold back what is under way, nothing else."""
    days = stores.spending().history(TENANT)
    lost = sum(batch.most_usd for batch in batches if batch.over and batch.ended == "lost")
    of_open = {batch.intent for batch in batches if not batch.over}
    paid = sum(
        spend.cost_usd or 0.0
        for spend in spends
        if spend.line_id is None or str(spend.line_id).rpartition("-")[0] not in of_open
    )
    rounding = MICRO * (len(spends) + len(batches) + 1)
    spent = sum(day.spent_usd for day in days)
    beyond = spent - paid - lost - untold_usd
    assert -rounding <= beyond <= rounding + lost_usd, f"I2: the days count {beyond} more than the records"
    held = sum(batch.most_usd for batch in batches if not batch.over and batch.state != "gathered")
    gathered = sum(batch.most_usd for batch in batches if batch.state == "gathered")
    reserved = sum(day.reserved_usd for day in days)
    assert held - rounding <= reserved <= held + gathered + rounding + lost_usd, (
        "I2: held back for what is not under way"
    )


def _nothing_sent_unreserved(house: BatchingHouse) -> None:
    """I2: each line at the provider is one of a batch whose money is held back, and of no other."""
    ours, page = set[object](), dict[str, Any]()
    while True:  # a scan of a thousand records has several pages
        found = house.deployment.table.scan(**page)
        bodies = [json.loads(str(row["body"])) for row in found["Items"] if "body" in row]
        ours |= {body.get("intent") for body in bodies if "lines_key" in body}
        if "LastEvaluatedKey" not in found:
            break
        page = {"ExclusiveStartKey": found["LastEvaluatedKey"]}
    for stored in house.server.batches.stored.values():
        if stored.plan.end == "failed":
            continue  # nothing of it was asked, and its questions went by another intent
        intents = {line_id.rpartition("-")[0] for line_id in stored.line_ids}
        assert len(stored.line_ids) == len(set(stored.line_ids)), "I2: one line is asked twice"
        assert intents <= ours, f"I2: a batch was created by an intent that no record holds money for: {intents}"
    sent = sum(len(stored.line_ids) for stored in house.server.batches.stored.values())
    assert sum(call.by_batch for call in house.server.calls) <= sent, "I2: calls beyond what was held back"


def _no_failure_passed(answers: Sequence[AnswerRecord]) -> None:
    """I5: what a judge is said to have decided, a call that brought something has decided."""
    for record in answers:
        brought = {spend.purpose for spend in record.spends if spend.failure is None}
        judged = [each.verification for each in record.attempts if each.verification is not None]
        # Records that tests make as finished keep no calls.
        if record.spends and any(one.method == "judge" and one.passed is not None for one in judged):
            assert brought, f"I5: {record.id} is decided, and every call failed"
        if record.deep_evaluation is not None:
            assert "evaluate" in brought, f"I5: {record.id} is evaluated, and every call for it failed"
        if record.evaluation.state != "done":
            assert record.deep_evaluation is None, f"I5: {record.id} is {record.evaluation.state}, with a result"


def _counters_equal_a_recount(house: BatchingHouse, answers: Sequence[AnswerRecord]) -> None:
    """I2: every counter is what a recount of the records makes it."""
    states = Counter(record.evaluation.state for record in answers)
    statistics = Statistics(house.deployment.table, stores.artifacts())
    counted = statistics.evaluations(TENANT)
    assert counted == {state: states[state] for state in counted}, "I2: evaluations by their states"  # type: ignore[index]
    backlog = stores.evaluations().backlog()
    others = sum(one.tenant != TENANT for state in WAITS[1:3] for one in stores.evaluations().pending(state, 10_000))  # type: ignore[arg-type]
    assert backlog.count == states["deferred"] + others, "I2: the backlog"

    def sums() -> dict[tuple[str, str], dict[str, object]]:
        found = statistics.counters(TENANT)
        return {
            key: item
            for key, item in found.items()
            if any(value for name, value in item.items() if name not in {"pk", "sk"})
        }

    before = sums()
    statistics.rebuild(TENANT)
    assert sums() == before, "I2: the counters and a recount differ"
