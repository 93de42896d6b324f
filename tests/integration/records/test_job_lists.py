"""Records of every kind of job are found by what is known of them: all that are meant, nothing else, bounded reads."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.course_quizzes import CHAPTER, quiz
from tests.support.measurements import a_measurement
from tests.support.oracle import a_request as a_task_request
from tests.support.records import START, a_spend
from touchstone.audits.bundles.target import Target
from touchstone.audits.record import AuditFindings, AuditRecord, AuditTerms
from touchstone.errors import InputError
from touchstone.oracle.model import Brief
from touchstone.oracle.task import new_task
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest, QuizRun, new_run
from touchstone.records import AUDIT, EXPERIMENT, MEASUREMENT, QUIZ, Artifacts, JobStore, looking, new_ulid
from touchstone.records.audits import AuditQuery
from touchstone.records.experiments import ExperimentQuery
from touchstone.records.jobs import EVERYTHING, Job
from touchstone.records.labels import Label, Labels
from touchstone.records.list_query import ListQuery, query_of
from touchstone.records.measurements import MeasurementQuery, Measurements
from touchstone.records.quizzes import QuizQuery
from touchstone.records.tasks import TASK, TaskQuery
from touchstone.surfaces.experiments.estimate import Estimate
from touchstone.surfaces.experiments.record import ExperimentPlan, ExperimentRecord
from touchstone.surfaces.measurement import Measurement

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

type Made = Callable[..., Any]
LATER = START + timedelta(hours=1)


def _placed(record: Any, at: datetime, tenant: str, fields: Mapping[str, Any]) -> Any:
    return record.model_copy(update={"id": new_ulid(at), "tenant": tenant, "created_at": at, **fields})


def measured(at: datetime = START, *, tenant: str = "acme", spend: Any = None, **fields: Any) -> Measurement:
    made = a_measurement() if spend is None else a_measurement(spends=(spend,))
    return _placed(made, at, tenant, fields)  # type: ignore[no-any-return]


def quizzed(at: datetime = START, *, tenant: str = "acme", own: bool = False, **fields: Any) -> QuizRun:
    request = QuizCheckRequest(quiz=quiz()) if own else QuizRequest(chapter=CHAPTER)
    made = new_run(request, tenant=tenant, run_id=new_ulid(at), now=at)
    return _placed(made, at, tenant, fields)  # type: ignore[no-any-return]


def compared(at: datetime = START, *, tenant: str = "acme", plan: Any = None, **fields: Any) -> ExperimentRecord:
    estimate = Estimate(pairs=1, calls=(1, 1), cost_usd=None)
    named = {"name": "trial", "surface": "quiz", "a": "old", "b": "new", "pairs": 3, "sources": 1, "estimate": estimate}
    whole = ExperimentPlan.model_validate(named | (plan or {}))
    made = ExperimentRecord(
        tenant=tenant, id=new_ulid(at), created_at=at, content_key="acme/e.json", content_hash="0", plan=whole
    )
    return made.model_copy(update=fields)


def audited(at: datetime = START, *, tenant: str = "acme", terms: Any = None, **fields: Any) -> AuditRecord:
    given = AuditTerms(target=Target(requirement="google-adk==1.20.0")).model_copy(update=terms or {})
    made = AuditRecord(
        tenant=tenant, id=new_ulid(at), created_at=at, terms=given, content_key="acme/a.json", content_hash="0"
    )
    return made.model_copy(update=fields)


def asked(at: datetime = START, *, tenant: str = "acme", request: Any = None, **fields: Any) -> Any:
    wanted = a_task_request(**{"deadline": at + timedelta(days=2), **(request or {})})
    return new_task(wanted, tenant=tenant, task_id=new_ulid(at), now=at).model_copy(update=fields)


KINDS: dict[str, tuple[Job[Any, Any], type[ListQuery], Made]] = {
    "measurements": (MEASUREMENT, MeasurementQuery, measured),
    "quizzes": (QUIZ, QuizQuery, quizzed),
    "experiments": (EXPERIMENT, ExperimentQuery, compared),
    "audits": (AUDIT, AuditQuery, audited),
    "tasks": (TASK, TaskQuery, asked),
}
CLEAN = {"outcome": "clean", "finished_at": LATER}
FOUND = AuditFindings.model_validate({"totals": {"Valid": 3, "Ambiguous": 0, "Incorrect": 1, "Unproven": 0}})
WELL = AuditFindings.model_validate({"totals": {"Valid": 4, "Ambiguous": 0, "Incorrect": 0, "Unproven": 0}})
SOUGHT: list[tuple[str, dict[str, str], dict[str, Any], dict[str, Any]]] = [
    ("measurements", {"status": "done"}, {"finished_at": LATER, "metrics": measured().metrics[:1]}, {}),
    ("measurements", {"status": "ended"}, {"finished_at": LATER}, {}),
    ("measurements", {"language": "zh"}, {"language": "zh"}, {}),
    ("measurements", {"metric": "quiz_clarity"}, {}, {"metrics": measured().metrics[:1]}),
    ("measurements", {"model": "m-1"}, {"spend": a_spend(model="m-1")}, {"spend": a_spend(model="m-10")}),
    ("measurements", {"provider": "claude"}, {"spend": a_spend(provider="claude")}, {}),
    ("measurements", {"cost_from": "0.5"}, {"spend": a_spend(cost_usd=0.75)}, {"spend": a_spend(cost_usd=None)}),
    ("quizzes", {"status": "clean"}, CLEAN, {"outcome": "violations", "finished_at": LATER}),
    ("quizzes", {"status": "unfinished"}, {}, CLEAN),
    ("quizzes", {"kind": "check"}, {"own": True}, {}),
    ("quizzes", {"chapter": "2"}, {}, {"own": True}),
    ("quizzes", {"search": "圖書館"}, {}, {"own": True}),
    ("quizzes", {"search": "library 學習"}, {"own": True}, {}),
    ("quizzes", {"provider": "claude"}, {"spends": (a_spend(provider="claude"),)}, {"spends": (a_spend(),)}),
    ("quizzes", {"cost_to": "0.5"}, {"spends": (a_spend(cost_usd=0.25),)}, {"spends": (a_spend(cost_usd=0.75),)}),
    ("experiments", {"status": "measuring"}, {}, {"finished_at": LATER}),
    ("experiments", {"surface": "summary"}, {"plan": {"surface": "summary"}}, {}),
    ("experiments", {"variant": "next"}, {"plan": {"b": "next"}}, {"plan": {"name": "next"}}),
    ("experiments", {"verdict": "a_better"}, {"verdict": "a_better"}, {"verdict": "mixed"}),
    ("experiments", {"cost_from": "0.5"}, {"cost_usd": 0.75}, {"cost_usd": 0.75, "unpriced_calls": 1}),
    ("experiments", {"cost_to": "0.5"}, {"cost_usd": 0.25}, {}),
    ("experiments", {"search": "SHORTER prompt"}, {"headline": "The shorter prompt is better."}, {}),
    ("audits", {"status": "failed"}, {"failure": "It cannot be.", "finished_at": LATER}, {"finished_at": LATER}),
    ("audits", {"target": "rich"}, {"terms": {"target": Target(requirement="rich>=13")}}, {}),
    ("audits", {"target": "google-adk==1.20.0"}, {}, {"terms": {"target": Target(requirement="google-adk==1.21.0")}}),
    ("audits", {"kind": "recheck"}, {"terms": {"kind": "recheck"}}, {}),
    ("audits", {"found": "incorrect"}, {"found": FOUND}, {"found": WELL}),
    ("audits", {"found": "nothing"}, {"found": WELL}, {"found": FOUND}),
    ("audits", {"weekly": "yes"}, {"weekly": True}, {}),
    ("audits", {"provider": "claude"}, {"terms": {"provider": "claude"}}, {"terms": {"provider": "openai"}}),
    ("audits", {"cost_from": "0.5", "cost_to": "1"}, {"cost_usd": 0.75}, {"cost_usd": 1.5}),
    ("tasks", {"status": "open"}, {"state": "open"}, {"state": "failed"}),
    ("tasks", {"status": "ended"}, {"state": "failed"}, {"state": "open"}),
    ("tasks", {"path": "fastest_first"}, {"request": {"path": "fastest_first", "challenge_seconds": 0}}, {}),
    ("tasks", {"owner": "buyer-2"}, {"request": {"owner": "buyer-2"}}, {"request": {"owner": "buyer-22"}}),
    ("tasks", {"winner": "yes"}, {"winner": new_ulid(START)}, {}),
    (
        "tasks",
        {"search": "needle"},
        {"request": {"brief": Brief(description="Look. " * 40, acceptance_criteria=("Find the Needle.",))}},
        {},
    ),
]


def _store(table: "Table", artifacts: Artifacts, kind: str) -> tuple[JobStore[Any, Any], type[ListQuery], Made]:
    job, query, made = KINDS[kind]
    return JobStore(job, table, artifacts, pause=lambda _: None), query, made


def _all(store: JobStore[Any, Any], query: ListQuery, *, limit: int = 100) -> list[str]:
    """The ids of all that a query means, page after page."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = store.page(tenant="acme", limit=limit, cursor=cursor, query=query)
        found += [item.id for item in page.items]
        if (cursor := page.cursor) is None:
            return found


@pytest.mark.parametrize(("kind", "given", "meant", "other"), SOUGHT)
def test_a_filter_finds_what_it_means_and_nothing_else(
    table: "Table",
    artifacts: Artifacts,
    *,
    kind: str,
    given: dict[str, str],
    meant: dict[str, Any],
    other: dict[str, Any],
) -> None:
    store, query, made = _store(table, artifacts, kind)
    wanted = store.create(made(START + timedelta(seconds=1), **meant))
    store.create(made(START + timedelta(seconds=2), **other))
    store.create(made(START + timedelta(seconds=3), tenant="rival", **meant))
    assert _all(store, query_of(query, given)) == [wanted.id]
    whole = store.page(tenant="acme")
    assert len(whole.items) == 2
    assert wanted.id in {line.id for line in whole.items}


@pytest.mark.parametrize("kind", KINDS)
def test_a_day_and_an_order_are_asked_for_of_every_kind(table: "Table", artifacts: Artifacts, kind: str) -> None:
    store, query, made = _store(table, artifacts, kind)
    ids = [store.create(made(START + timedelta(days=number))).id for number in range(4)]
    days = {
        "from": (START + timedelta(days=1)).date().isoformat(),
        "to": (START + timedelta(days=2)).date().isoformat(),
    }
    assert _all(store, query_of(query, days), limit=1) == ids[2:0:-1]
    assert _all(store, query_of(query, days | {"sort": "oldest"}), limit=1) == ids[1:3]
    cursor = store.page(tenant="acme", limit=1, query=query_of(query, days)).cursor
    with pytest.raises(InputError, match="came with other filters or from another list"):
        store.page(tenant="acme", limit=1, cursor=cursor, query=EVERYTHING)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_every_kind_is_made_by_bounded_reads(
    table: "Table", artifacts: Artifacts, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LINES", 5)
    monkeypatch.setattr(looking, "MOST_LOOKED_INTO", 6)
    monkeypatch.setattr(looking, "RECORDS", 3)
    store, query, made = _store(table, artifacts, kind)
    for number in range(30):
        store.create(made(START + timedelta(seconds=number)))
    asked_of: list[Any] = []
    look: Callable[..., Any] = table.query

    def counted(**named: Any) -> Any:
        asked_of.append(named)
        return look(**named)

    monkeypatch.setattr(table, "query", counted)
    page = store.page(tenant="acme", query=query_of(query, {"search": "nobody said this"}))
    assert (page.items, len(asked_of) <= looking.MOST_QUERIES) == ((), True)
    assert 6 <= page.looked_at <= looking.MOST_QUERIES * 5
    assert page.cursor is not None
    assert page.looked_to is not None
    assert _all(store, query_of(query, {"search": "nobody said this"})) == []


def test_what_an_earlier_release_stored_is_found_by_its_record(table: "Table", artifacts: Artifacts) -> None:
    store, query, made = _store(table, artifacts, "measurements")
    wanted, other = store.create(made(language="zh")), store.create(made(START + timedelta(seconds=1)))
    for each in (wanted, other):
        line = next(one for one in store.page(tenant="acme").items if one.id == each.id)
        early = line.model_dump_json(exclude={"language", "models", "providers", "title"})
        table.update_item(
            Key={"pk": f"T#acme#MEASUREMENT#{each.id}", "sk": "RECORD"},
            UpdateExpression="SET summary = :line",
            ExpressionAttributeValues={":line": early},
        )
    assert _all(store, query_of(query, {"language": "zh"})) == [wanted.id]
    assert set(_all(store, query_of(query, {"model": "strong"}))) == {wanted.id, other.id}
    assert _all(store, query_of(query, {"model": "weak"})) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"status": "wonderful"}, "status: Input should be"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "`from` is a day after `to`"),
        ({"from": "yesterday"}, "from: "),
        ({"sort": "cost"}, "sort: Input should be 'newest' or 'oldest'."),
        ({"search": "\x00\u202e \n"}, "search: it has no word to look for."),
        ({"search": "y" * 1_000_000}, "at most 200 characters"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(kind: str, given: dict[str, str], told: str) -> None:
    with pytest.raises(InputError) as refused:
        query_of(KINDS[kind][1], given)
    assert told in str(refused.value)
    assert len(str(refused.value)) < 600


def _labelled(table: "Table", measurement: Measurement, metric: str, label: str) -> None:
    said = {"tenant": measurement.tenant, "kind": metric, "record_id": measurement.id, "item": "q1", "label": label}
    given = {"verdict": "CLEAR", "confidence": None, "judge": None, "labelled_by": "ann", "labelled_at": START}
    Labels(table).put(Label.model_validate(said | given))


def test_measurements_are_found_by_what_people_called_their_items(table: "Table", artifacts: Artifacts) -> None:
    store = Measurements(table, artifacts, pause=lambda _: None)
    clear, unclear, unsaid, rivals = (
        store.create(measured(START + timedelta(seconds=number), tenant=tenant))
        for number, tenant in enumerate(("acme", "acme", "acme", "rival"))
    )
    _labelled(table, clear, "quiz_clarity", "CLEAR")
    _labelled(table, unclear, "quiz_clarity", "AMBIGUOUS")
    _labelled(table, rivals, "quiz_clarity", "AMBIGUOUS")
    for label, meant in (("CLEAR", clear), ("AMBIGUOUS", unclear), ("none", unsaid)):
        assert _all(store, query_of(MeasurementQuery, {"label": label})) == [meant.id]
        assert _all(store, query_of(MeasurementQuery, {"label": label, "surface": "summary"})) == []
    assert _all(store, query_of(MeasurementQuery, {"label": "ATOMIC"})) == []
    with pytest.raises(InputError, match="label: it can be CORRECT, "):
        query_of(MeasurementQuery, {"label": "Clear"})


def test_labels_are_read_of_so_many_measurements_a_page_as_may_be_looked_into(
    table: "Table", artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LINES", 20)
    monkeypatch.setattr(looking, "MOST_LOOKED_INTO", 6)
    monkeypatch.setattr(looking, "RECORDS", 3)
    store = Measurements(table, artifacts, pause=lambda _: None)
    made = [store.create(measured(START + timedelta(seconds=number))) for number in range(15)]
    _labelled(table, made[0], "quiz_clarity", "AMBIGUOUS")
    asked_of: list[Any] = []
    look: Callable[..., Any] = table.query

    def counted(**named: Any) -> Any:
        asked_of.append(named)
        return look(**named)

    monkeypatch.setattr(table, "query", counted)
    query = query_of(MeasurementQuery, {"label": "AMBIGUOUS"})
    page = store.page(tenant="acme", query=query)
    assert page.items == ()
    assert page.cursor is not None
    assert len(asked_of) <= 1 + 6, "one of the list, and one of each that was looked into"
    monkeypatch.undo()
    assert _all(store, query) == [made[0].id]
