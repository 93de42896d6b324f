"""An answer's way through the table: every step once, whatever is repeated."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.records import START, HandClock, a_spend, an_answer, an_attempt, finished
from touchstone.answers.answer_key import AnswerKey, AnswerTolerance
from touchstone.answers.model import Analysis, AnswerRecord, Enrichment, Verification
from touchstone.errors import ConflictError, InputError, NotFoundError
from touchstone.records import Answers, Artifacts, Statistics, new_ulid
from touchstone.records.answer_lists import AnswerQuery
from touchstone.records.lists import cursor_after
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client


def test_an_answer_is_read_back_as_it_was_stored(answers: Answers) -> None:
    record = an_answer(knowledge_points=("addition", "加法"))
    assert answers.create(record) == record
    assert answers.get(Reference("acme", "answer", record.id)) == record


@pytest.mark.parametrize("end", ["finish", "fail"])
def test_an_answer_is_found_as_unfinished_from_its_first_write_to_its_end(
    answers: Answers, clock: HandClock, end: str
) -> None:
    record = answers.create(an_answer())
    which = record.ref
    clock.advance(minutes=5)
    assert answers.unfinished(older_than=timedelta(minutes=6)) == ()
    answers.add_attempt(which, attempt=an_attempt())
    (found,) = answers.unfinished(older_than=timedelta(minutes=4))
    assert found == Reference("acme", "answer", record.id)
    if end == "finish":
        answers.finish(which, status="verified", confidence=0.9, best_attempt=1)
    else:
        answers.fail(which, failure="refused")
    assert answers.unfinished(older_than=timedelta(0)) == ()


def test_a_list_never_reads_a_body(answers: Answers, table: "Table") -> None:
    """An index carries what is read there and no more, in the tests' table as in the deployed one."""
    answers.create(an_answer())
    (item,) = table.scan(IndexName="by_time")["Items"]
    assert set(item) == {"pk", "sk", "gsi1pk", "gsi1sk", "summary"}
    (item,) = table.scan(IndexName="deferred")["Items"]
    assert set(item) == {"pk", "sk", "gsi2pk", "gsi2sk"}


def test_another_tenants_answer_is_just_missing(answers: Answers) -> None:
    record = answers.create(an_answer())
    with pytest.raises(NotFoundError) as theirs:
        answers.get(Reference("rival", "answer", record.id))
    with pytest.raises(NotFoundError) as nobodys:
        answers.get(Reference("rival", "answer", new_ulid(START)))
    assert str(theirs.value) == str(nobodys.value)


@pytest.mark.parametrize("answer_id", ["", "nonsense", "../acme", "x" * 3000, "01ARZ3NDEKTSV4RRFFQ69G5FAV#RECORD"])
def test_what_cannot_be_an_id_is_missing(answers: Answers, answer_id: str) -> None:
    with pytest.raises(NotFoundError):
        answers.get(Reference("acme", "answer", answer_id))


def test_a_repeated_request_meets_its_own_record_however_far_it_came(answers: Answers, clock: HandClock) -> None:
    record = an_answer()
    done = finished(answers, record)
    clock.advance(seconds=5)
    assert answers.create(record.model_copy(update={"created_at": clock(), "updated_at": clock()})) == done


def test_an_id_of_another_request_is_a_conflict(answers: Answers) -> None:
    record = answers.create(an_answer())
    with pytest.raises(ConflictError):
        answers.create(record.model_copy(update={"problem": "What is 3 + 3?"}))


def test_the_whole_way_keeps_every_part(answers: Answers) -> None:
    record = an_answer(problem=None, subject=None, difficulty=None, language=None, image_key="acme/uploads/1.png")
    which = record.ref
    answers.create(record)
    answers.set_problem(which, text="求 2+2", spends=[a_spend(purpose="ocr")])
    analysis = Analysis(subject="mathematics", difficulty="easy", knowledge_points=("addition",), language="zh")
    answers.set_analysis(which, analysis=analysis, spends=[a_spend(purpose="analyze")])
    unverified = an_attempt().model_copy(update={"verification": None})
    answers.add_attempt(which, attempt=unverified, spends=[a_spend(purpose="solve")])
    verdict = Verification(passed=True, confidence=1.0, method="proof", derivation=("2+2=4",))
    answers.set_verification(which, number=1, verification=verdict)
    enrichment = Enrichment(hints=("Count.",))
    answers.finish(which, status="verified", confidence=1.0, best_attempt=1, enrichment=enrichment)
    stored = answers.get(which)
    assert (stored.stage, stored.verification_status, stored.problem) == ("finished", "verified", "求 2+2")
    assert (stored.subject, stored.difficulty, stored.language) == ("mathematics", "easy", "zh")
    assert stored.best == unverified.model_copy(update={"verification": verdict})
    assert [spend.purpose for spend in stored.spends] == ["ocr", "analyze", "solve"]
    assert stored.enrichment == enrichment


def test_what_the_caller_said_of_subject_and_language_stays(answers: Answers) -> None:
    record = answers.create(an_answer(subject="algebra", difficulty=None, language="zh"))
    analysis = Analysis(subject="geometry", difficulty="hard", language="en")
    after = answers.set_analysis(record.ref, analysis=analysis)
    assert (after.subject, after.language, after.difficulty) == ("algebra", "zh", "hard")


def test_r20_every_step_repeated_after_its_effect_changes_nothing(answers: Answers, clock: HandClock) -> None:
    record = an_answer(problem=None, difficulty=None)
    which = record.ref
    verdict = Verification(passed=False, confidence=0.7, method="judge")
    attempt = an_attempt().model_copy(update={"verification": None})
    analysis = Analysis(subject="mathematics", difficulty="easy", language="en")
    spends = [a_spend()]
    steps: list[Callable[[], AnswerRecord]] = [
        lambda: answers.create(record),
        lambda: answers.set_problem(which, text="What is 2 + 2?", spends=spends),
        lambda: answers.set_analysis(which, analysis=analysis, spends=spends),
        lambda: answers.add_attempt(which, attempt=attempt, spends=spends),
        lambda: answers.set_verification(which, number=1, verification=verdict, spends=spends),
        lambda: answers.finish(which, status="caution", confidence=0.7, best_attempt=1, spends=spends),
        lambda: answers.fail(which, failure="too late"),
    ]
    for done, step in enumerate(steps):
        first = step()
        for repeated in steps[: done + 1]:
            clock.advance(seconds=1)
            assert repeated() == first
    assert len(answers.get(which).spends) == 5


def test_r20_what_came_too_late_is_paid_for_and_counted_once(
    answers: Answers, table: "Table", artifacts: Artifacts, clock: HandClock
) -> None:
    """A verdict after the caller's deadline, an attempt after the sweep gave up: dropped, but not its price."""
    record = answers.create(an_answer(attempts=(an_attempt().model_copy(update={"verification": None}),)))
    which = record.ref
    ended = answers.finish(
        which, status="unverified", confidence=0.0, best_attempt=1, spends=[a_spend(purpose="enrich")]
    )
    verdict = Verification(passed=True, confidence=0.9, method="judge")
    late: list[Callable[[], AnswerRecord]] = [
        lambda: answers.set_verification(
            which, number=1, verification=verdict, spends=[a_spend(cost_usd=0.25, latency_ms=6_000.5)]
        ),
        lambda: answers.add_attempt(
            which, attempt=an_attempt(2), spends=[a_spend(purpose="solve", cost_usd=0.5, latency_ms=9_000.25)]
        ),
        lambda: answers.finish(
            which,
            status="verified",
            confidence=1.0,
            best_attempt=1,
            problem_key="k",
            spends=[a_spend(purpose="enrich", cost_usd=1.0, latency_ms=80.125)],
        ),
        lambda: answers.fail(which, failure="timed_out", spends=[a_spend(purpose="solve", cost_usd=2.0)]),
        lambda: answers.add_spends(which, spends=[a_spend(purpose="analyze", cost_usd=4.0)]),
    ]
    for _ in range(2):
        for step in late:
            after = step()
    dropped = after.model_copy(update={"spends": ended.spends, "updated_at": ended.updated_at})
    assert dropped == ended
    assert [spend.cost_usd for spend in after.spends] == [0.000_123, 0.25, 0.5, 1.0, 2.0, 4.0]
    (today,) = Statistics(table, artifacts, clock=clock).volume("acme", days=1)
    assert today.cost_usd == pytest.approx(7.750_123)


def test_an_attempt_out_of_turn_is_a_conflict(answers: Answers) -> None:
    record = answers.create(an_answer())
    with pytest.raises(ConflictError):
        answers.add_attempt(record.ref, attempt=an_attempt(2))


def test_a_verification_or_choice_of_no_attempt_is_a_conflict(answers: Answers) -> None:
    record = answers.create(an_answer())
    which = record.ref
    verdict = Verification(passed=True, confidence=1.0, method="judge")
    with pytest.raises(ConflictError):
        answers.set_verification(which, number=1, verification=verdict)
    with pytest.raises(ConflictError):
        answers.finish(which, status="verified", confidence=1.0, best_attempt=1)


def test_an_impossible_confidence_is_refused_and_the_record_stays_readable(answers: Answers) -> None:
    record = answers.create(an_answer(attempts=(an_attempt(),)))
    with pytest.raises(InputError):
        answers.finish(record.ref, status="verified", confidence=1.5, best_attempt=1)
    assert answers.get(Reference("acme", "answer", record.id)) == record


def test_a_failed_answer_says_why_and_carries_no_status(answers: Answers) -> None:
    record = answers.create(an_answer())
    failed = answers.fail(record.ref, failure="misconfigured", spends=[a_spend()])
    assert (failed.stage, failed.failure, failed.verification_status) == ("failed", "misconfigured", None)


def test_a_wanted_evaluation_waits_from_the_moment_the_answer_is_finished(answers: Answers, clock: HandClock) -> None:
    progress = finished(answers, an_answer(deep_evaluation_wanted=True)).evaluation
    assert (progress.state, progress.requested_at, progress.not_before) == ("waiting", clock(), clock())


def _stored(answers: Answers, count: int, tenant: str = "acme") -> list[AnswerRecord]:
    return [
        answers.create(an_answer(tenant=tenant, at=START + timedelta(seconds=number), problem=f"Problem {number}"))
        for number in range(count)
    ]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_hold_every_answer_once_newest_first(answers: Answers, limit: int) -> None:
    records = _stored(answers, 7)
    _stored(answers, 2, "rival")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = answers.page(tenant="acme", limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        seen += [summary.id for summary in page.items]
        if (cursor := page.cursor) is None:
            break
    assert seen == [record.id for record in reversed(records)]


def test_a_page_of_one_status_shows_no_other_and_ends(answers: Answers) -> None:
    for number in range(6):
        at = START + timedelta(seconds=number)
        status = "verified" if number % 3 == 0 else "caution"
        finished(answers, an_answer(at=at), status=status)
    first = answers.page(tenant="acme", limit=1, query=AnswerQuery(status="verified"))
    second = answers.page(tenant="acme", limit=1, query=AnswerQuery(status="verified"), cursor=first.cursor)
    assert [item.verification_status for item in (*first.items, *second.items)] == ["verified", "verified"]
    assert first.cursor is not None
    assert second.cursor is None


def test_no_answers_are_an_empty_last_page(answers: Answers) -> None:
    page = answers.page(tenant="acme")
    assert (page.items, page.cursor) == ((), None)


def test_a_summary_shows_the_best_attempt(answers: Answers) -> None:
    record = finished(answers, an_answer(), an_attempt(1, answer="4"), an_attempt(2, answer="5"), best_attempt=1)
    summary = answers.page(tenant="acme").items[0]
    assert (summary.id, summary.answer, summary.attempt_count) == (record.id, "4", 2)
    assert summary.cost_usd == pytest.approx(0.000_246)


@pytest.mark.parametrize("cursor", ["", "x", "%%%", "bm9uc2Vuc2U", "é", "A" * 500, "AAAA="])
def test_a_garbled_cursor_is_refused(answers: Answers, cursor: str) -> None:
    with pytest.raises(InputError):
        answers.page(tenant="acme", cursor=cursor)


def test_a_cursor_of_another_tenant_is_refused(answers: Answers) -> None:
    _stored(answers, 2, "rival")
    cursor = answers.page(tenant="rival", limit=1).cursor
    with pytest.raises(InputError):
        answers.page(tenant="acme", cursor=cursor)
    with pytest.raises(InputError):
        answers.page(tenant="acme", cursor=cursor_after("T#acme#BATCHES", new_ulid(START)))


@pytest.mark.parametrize("limit", [-1, 0, 101])
def test_a_page_has_1_to_100_items(answers: Answers, limit: int) -> None:
    with pytest.raises(InputError):
        answers.page(tenant="acme", limit=limit)


@pytest.mark.parametrize("tenant", ["", "a", "Acme", "-acme", "acme#x", "a" * 40, "acme\n"])
def test_a_malformed_tenant_is_refused(answers: Answers, tenant: str) -> None:
    with pytest.raises(InputError):
        answers.page(tenant=tenant)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_r18_text_is_stored_and_read_back_equal(answers: Answers, text: str) -> None:
    for awkward in (text, f"\x00{text}\x0c\x1f", f'"\\{text}\U0001f9ee繁體'):
        record = an_answer(problem=awkward)
        answers.create(record)
        assert answers.get(Reference("acme", "answer", record.id)).problem == awkward


@pytest.mark.parametrize("size", [349_000, 350_001, 400_000, 1_200_000])
def test_r16_a_record_larger_than_an_item_is_never_lost_or_cut(answers: Answers, table: "Table", size: int) -> None:
    long = an_attempt().model_copy(
        update={"solution": an_attempt().solution.model_copy(update={"steps": "解" * (size // 3)})}
    )
    done = finished(answers, an_answer(), long)
    assert answers.get(Reference("acme", "answer", done.id)) == done
    assert done.attempts[0].solution.steps == "解" * (size // 3)
    assert answers.page(tenant="acme").items[0].id == done.id


def test_r16_a_large_record_lies_under_its_tenants_own_prefix(answers: Answers, s3: "S3Client") -> None:
    answers.create(an_answer(problem="x" * 500_000))
    keys = [item["Key"] for item in s3.list_objects_v2(Bucket="artifacts")["Contents"]]
    assert [key.split("/")[:3] for key in keys] == [["artifacts", "acme", "records"]]


def test_a_key_is_kept_with_its_answer_and_tells_one_request_from_another(answers: Answers, table: "Table") -> None:
    key = AnswerKey(expected=("4", "four"), tolerance=AnswerTolerance(relative=0.01))
    record = an_answer(answer_key=key)
    answers.create(record)
    assert answers.get(Reference("acme", "answer", record.id)).answer_key == key
    assert answers.create(record) == record
    for other in (None, key.model_copy(update={"tolerance": None}), key.model_copy(update={"expected": ("4",)})):
        with pytest.raises(ConflictError):
            answers.create(record.model_copy(update={"answer_key": other}))
    (summary,) = (str(item["summary"]) for item in table.scan(IndexName="by_time")["Items"])
    assert "four" not in summary


def test_a_request_without_a_key_is_the_one_that_it_was_before_there_were_any(answers: Answers, table: "Table") -> None:
    record = an_answer()
    answers.create(record)
    (item,) = table.scan()["Items"]
    body = json.loads(record.model_dump_json())
    del body["answer_key"], body["trying"], body["waiting"], body["evaluation"]["since"]
    del body["verify_seconds"], body["failure_reason"], body["left_until"], body["judges"]
    del body["evaluation"]["failure_reason"], body["evaluation"]["when"], body["evaluation"]["submitted"]
    before = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    asked = {name: value for name, value in body.items() if name not in {"created_at", "updated_at"}}
    request = hashlib.sha256(json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    table.put_item(Item=item | {"body": before, "request": request})
    assert answers.get(Reference("acme", "answer", record.id)) == record
    assert answers.create(record) == record


def test_what_is_null_is_stored_only_where_it_says_something(answers: Answers, table: "Table") -> None:
    record = answers.create(an_answer())
    which = record.ref
    (item,) = table.scan()["Items"]
    assert "null" not in str(item["body"])
    kept = answers.add_attempt(which, attempt=an_attempt(passed=None))
    assert '"passed":null' in str(table.scan()["Items"][0]["body"])
    assert answers.get(record.ref) == kept
