"""An audit and its cases as records: steps are pure, a case ends once, and what was paid is told once."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from touchstone.attempts import LEASE, RETRY_PERIOD
from touchstone.audits.bundles.target import Manifest, Target
from touchstone.audits.case_work import (
    CaseTask,
    CaseWork,
    case_advanced,
    case_awaiting,
    case_batch_ended,
    case_over,
    case_put_back,
)
from touchstone.audits.record import (
    AuditFindings,
    AuditPlan,
    AuditRecord,
    AuditRequest,
    AuditTerms,
    AuditView,
    BundlePlace,
    concluded,
    ended_weekly,
    followed,
    hastened,
    placed,
    planned,
)
from touchstone.parts import PartsProgress, failed, waiting_for_batches

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
TARGET = Target(requirement="tinylib==1.0")
MANIFEST = Manifest(
    target=TARGET, version="1.0", python="cpython-3.13", platform="linux-x86_64", digest="d" * 40, modules=("tinylib",)
)
PLACE = BundlePlace(manifest=MANIFEST, key="acme/d/s.tar.gz", sha256="0" * 64)
PLAN = AuditPlan(place=PLACE, cases=2, estimate=None)
FOUND = AuditFindings(totals={"Incorrect": 1, "Ambiguous": 0, "Unproven": 0, "Valid": 1})
RECORD = AuditRecord(
    tenant="acme", id="a", created_at=NOW, terms=AuditTerms(target=TARGET), content_key="acme/a.json", content_hash="0"
)
CASE = CaseWork(tenant="acme", audit_id="a", number=7, at=NOW)

PAID = PartsProgress(done=2, cost_usd=0.5, unpriced_calls=1)


def test_an_audit_goes_from_waiting_to_done_and_what_is_first_stays() -> None:
    assert RECORD.state == "waiting"
    record = planned(placed(RECORD, PLACE), PLAN)
    assert record.state == "auditing"
    other = PLACE.model_copy(update={"sha256": "1" * 64})
    assert placed(record, other) is record
    assert planned(record, PLAN.model_copy(update={"cases": 3})) is record
    done = concluded(record, FOUND, PAID, now=LATER)
    assert (done.state, done.finished_at, done.cost_usd, done.unpriced_calls) == ("done", LATER, 0.5, 1)
    for again in (
        concluded(done, FOUND, PAID, now=NOW), failed(done, "late", PAID, now=NOW),
        placed(done, other), planned(done, PLAN)
    ):  # fmt: skip
        assert again is done
    view = AuditView.of(done, PartsProgress(done=2, turns=9, cost_usd=0.5, because="overloaded"))
    assert (view.version, view.bundle, view.cases, view.totals) == ("1.0", "d" * 40, 2, FOUND.totals)
    assert (view.because, view.turns) == (None, 9)


def test_an_audit_that_came_to_nothing_says_why() -> None:
    record = failed(RECORD, "It cannot be resolved.", PAID, now=LATER)
    view = AuditView.of(record, PartsProgress())
    assert (view.state, view.failure, view.cases, view.totals) == ("failed", "It cannot be resolved.", None, None)


def test_a_weeks_audit_is_followed_by_one_and_can_be_ended() -> None:
    record = RECORD.model_copy(update={"weekly": True})
    after = followed(record, "b")
    assert followed(after, "c") is after
    assert ended_weekly(after).weekly is False
    assert ended_weekly(RECORD) is RECORD
    ended = ended_weekly(record)
    assert followed(ended, "b") is ended


def test_of_many_at_once_one_takes_a_step_and_a_turn_gives_its_tries_back() -> None:
    begun = CASE.begun(now=NOW)
    assert begun.begun(now=LATER) is begun
    assert begun.begun(now=NOW + LEASE).attempts.tries == 0
    on = case_advanced(begun, turns=1, cost_usd=0.1, now=LATER)
    assert (on.attempts.tries, on.turns, on.cost_usd, on.over) == (0, 1, 0.1, False)
    assert on.begun(now=LATER) is not on


def test_a_try_without_a_turn_is_made_again_later_and_not_without_end() -> None:
    case = case_put_back(CASE.begun(now=NOW), "overloaded", until=NOW, ended="unanswered", cost_usd=0.2, now=NOW)
    assert (case.failure, case.cost_usd) == ("overloaded", 0.2)
    while (now := case.attempts.not_before or NOW) - NOW < RETRY_PERIOD:
        case = case.begun(now=now)
    assert case.begun(now=now) is case
    given_back = case_put_back(CASE.begun(now=NOW), "quota", until=LATER, ended="limited", cost_usd=0, now=NOW)
    assert (given_back.attempts.tries, given_back.attempts.not_before) == (0, LATER)


def test_a_case_ends_once_and_a_later_word_only_pays() -> None:
    over = case_over(CASE, "refused", turns=3, cost_usd=0.3, now=NOW)
    assert case_over(over, None, turns=3, cost_usd=0.3, now=LATER) is over
    paid = case_over(over, None, turns=4, cost_usd=0.4, now=LATER)
    assert (paid.failure, paid.turns, paid.cost_usd) == ("refused", 4, 0.4)
    assert over.begun(now=LATER) is over
    assert case_put_back(over, "late", until=LATER, ended="unread", cost_usd=0.3, now=LATER) is over
    assert case_advanced(over, turns=3, cost_usd=0.3, now=LATER) is over
    assert case_advanced(over, turns=4, cost_usd=0.5, now=LATER).over


def test_what_the_work_on_a_case_is_given_has_no_key() -> None:
    fields = {*CaseTask.model_fields, *CaseTask.model_fields["case"].annotation.model_fields}  # type: ignore[union-attr]
    assert fields == {"number", "case", "before", "kind", "question", "options"}


@pytest.mark.parametrize(
    "changes",
    [
        {"target": {"requirement": "tinylib @ https://example.org/x.whl"}},
        {"target": {"requirement": "--index-url https://example.org tinylib"}},
        {"files": []},
        {"files": [{"name": "a\nb.yaml", "text": ""}]},
        {"max_cost_usd": 0},
        {"limits": {"wall_seconds": 3600}},
        {"provider": "../x"},
        {"trust": True},
    ],
)
def test_a_request_that_asks_for_what_there_is_not_is_refused(changes: dict[str, object]) -> None:
    fields = {"target": {"requirement": "tinylib"}, "files": [{"name": "a.yaml", "text": "x"}]}
    AuditRequest.model_validate(fields)
    with pytest.raises(ValidationError):
        AuditRequest.model_validate(fields | changes)


def test_a_case_that_waits_for_a_batch_is_nobodys_until_that_is_over() -> None:
    waiting = case_awaiting(CASE.begun(now=NOW), now=NOW)
    assert (waiting.batched, waiting.because, waiting.attempts.underway) == (True, "batched", False)
    assert waiting.begun(now=LATER) is waiting
    due = waiting.released(now=LATER, again=True)
    assert (due.batched, due.hastened, due.because) == (False, True, None)
    assert due.released(now=LATER, again=True) is due
    assert case_awaiting(due, now=LATER) is due, "it goes by one batch"
    over = case_over(waiting, None, turns=0, cost_usd=0.0, now=LATER)
    assert (over.because, over.released(now=LATER, again=True)) == (None, over)


def test_a_case_is_over_only_once_what_a_batch_brought_is_counted() -> None:
    assert case_batch_ended(CASE, None, now=LATER).hastened
    brought = case_batch_ended(CASE, "B", now=LATER)
    assert (brought.brought_by, brought.hastened) == ("B", True)
    assert case_batch_ended(brought, "B", now=LATER + timedelta(1)) is brought
    assert case_batch_ended(brought, None, now=LATER).brought_by == "B", "what is paid for stays"
    assert case_over(brought, None, turns=3, cost_usd=0.3, now=LATER) is brought
    counted = case_advanced(brought, turns=1, cost_usd=0.1, now=LATER, counted=True)
    assert case_over(counted, None, turns=3, cost_usd=0.3, now=LATER).over
    late = case_batch_ended(case_over(CASE, None, turns=3, cost_usd=0.3, now=NOW), "B", now=LATER)
    told = case_over(late, None, turns=3, cost_usd=0.35, now=LATER, counted=True)
    assert (told.over, told.counted, told.cost_usd) == (True, True, 0.35)


def test_an_audit_that_can_wait_is_hastened_once_and_keeps_all_its_batches() -> None:
    cheap = RECORD.model_copy(update={"terms": RECORD.terms.model_copy(update={"when": "cheap"})})
    assert (RECORD.when, cheap.when, hastened(RECORD)) == ("now", "cheap", RECORD)
    looked_at = waiting_for_batches(waiting_for_batches(cheap, ["B1"], until=NOW), ["B1", "B2"], until=LATER)
    assert (looked_at.batches, looked_at.carried_until) == (("B1", "B2"), LATER)
    now = hastened(looked_at)
    assert (now.when, now.carried_until, now.batches, now.terms) == ("now", None, ("B1", "B2"), cheap.terms)
    assert hastened(now) is now
    done = concluded(planned(placed(cheap, PLACE), PLAN), FOUND, PAID, now=LATER)
    assert hastened(done) is done
    assert waiting_for_batches(done, ["B"], until=LATER) is done
