"""Records of every kind of job are found by what is known of them: all that are meant, nothing else, bounded reads."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.listed import asked, audited, compared, measured, quizzed
from tests.support.records import START, a_spend
from touchstone.audits.bundles.target import Target
from touchstone.audits.case import AuditCase, Option
from touchstone.audits.record import AuditFindings, AuditRecord, KeptCase, KeptCases
from touchstone.errors import InputError
from touchstone.oracle.model import Brief
from touchstone.records import AUDIT, EXPERIMENT, MEASUREMENT, QUIZ, Artifacts, JobStore, looking, new_ulid
from touchstone.records.audits import AuditQuery, AuditStore
from touchstone.records.experiments import ExperimentQuery
from touchstone.records.jobs import EVERYTHING, Job
from touchstone.records.labels import Label, Labels
from touchstone.records.list_query import ListQuery, query_of
from touchstone.records.measurements import MeasurementQuery, Measurements
from touchstone.records.quizzes import QuizQuery
from touchstone.records.tasks import TASK, TaskQuery
from touchstone.surfaces.labelling import CLASSES
from touchstone.surfaces.measurement import Measurement

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

type Made = Callable[..., Any]
LATER = START + timedelta(hours=1)


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
    if kind == "audits":
        return AuditStore(AUDIT, table, artifacts, pause=lambda _: None), query, made
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
    asked_of = _counted(monkeypatch, table, "query")
    page = store.page(tenant="acme", query=query_of(query, {"search": "nobody said this"}))
    assert (page.items, len(asked_of) <= looking.MOST_QUERIES) == ((), True)
    assert 5 <= page.looked_at <= looking.MOST_QUERIES * 5
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
        ({"status": "wonderful"}, "status must be"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "`from` is a day after `to`"),
        ({"from": "yesterday"}, "from must be a day"),
        ({"sort": "cost"}, "sort must be 'newest' or 'oldest'."),
        ({"search": "\x00\u202e \n"}, "search has no word to look for."),
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
    store = Measurements(MEASUREMENT, table, artifacts, pause=lambda _: None)
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
    with pytest.raises(InputError, match="label can be CORRECT, "):
        query_of(MeasurementQuery, {"label": "Clear"})


def test_labels_are_read_of_so_many_measurements_a_page_as_may_be_looked_into(
    table: "Table", artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LINES", 20)
    monkeypatch.setattr(looking, "MOST_LOOKED_INTO", 6)
    monkeypatch.setattr(looking, "RECORDS", 3)
    store = Measurements(MEASUREMENT, table, artifacts, pause=lambda _: None)
    made = [store.create(measured(START + timedelta(seconds=number))) for number in range(15)]
    _labelled(table, made[0], "quiz_clarity", "AMBIGUOUS")
    metrics = 3
    assert len([name for name in store.page(tenant="acme").items[0].scores if name in CLASSES]) == metrics
    for label, each in (("AMBIGUOUS", 1), ("none", metrics)):
        query = query_of(MeasurementQuery, {"label": label})
        with monkeypatch.context() as patch:
            asked_of = _counted(patch, table, "query")
            page = store.page(tenant="acme", query=query, limit=2)
            assert page.looked_at >= 6 / each
            assert page.cursor is not None
            assert len(asked_of) == 1 + 6, "one of the list, and those of labels"
        rest = made[1:] if label == "none" else made[:1]
        assert _all(store, query, limit=2) == [one.id for one in reversed(rest)]


def test_audits_are_found_by_the_questions_and_options_of_their_cases(table: "Table", artifacts: Artifacts) -> None:
    store = AuditStore(AUDIT, table, artifacts, pause=lambda _: None)
    wanted = store.create(_audited(artifacts, "Which method reads a session?", 0))
    store.create(_audited(artifacts, "Which one is it?", 1))
    rival = store.create(_audited(artifacts, "Which method reads a session?", 2, tenant="rival"))
    for given in ({"search": "SESSION reads"}, {"search": "google-adk session"}, {"search": "session 全部"}):
        assert _all(store, query_of(AuditQuery, given)) == [wanted.id]
    assert _all(store, query_of(AuditQuery, {"search": "session nothing"})) == []
    assert _all(store, query_of(AuditQuery, {"search": "session", "kind": "recheck"})) == []
    artifacts.delete(tenant="acme", key=wanted.content_key)
    assert _all(store, query_of(AuditQuery, {"search": "session"})) == [], "it is being deleted"
    assert [one.id for one in store.page(tenant="rival", query=query_of(AuditQuery, {"search": "session"})).items] == [
        rival.id
    ]


def test_the_cases_of_so_many_audits_are_read_a_page_as_may_be(
    table: "Table", artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MOST_LOOKED_INTO", 3 * (1 + looking.OBJECT_READS))
    store = AuditStore(AUDIT, table, artifacts, pause=lambda _: None)
    made = [store.create(_audited(artifacts, f"Which one is number-{number}?", number)) for number in range(8)]
    query = query_of(AuditQuery, {"search": "number-0"})
    with monkeypatch.context() as patch:
        opened = _counted(patch, artifacts, "get_text")
        page = store.page(tenant="acme", query=query)
        assert (page.items, len(opened)) == ((), 3)
        assert page.cursor is not None
        opened.clear()
        assert len(store.page(tenant="acme", query=query_of(AuditQuery, {"provider": "claude"})).items) == 0
        assert len(store.page(tenant="acme", query=query_of(AuditQuery, {"search": "google-adk"})).items) == len(made)
        assert opened == [], "the lines say enough"
    assert _all(store, query) == [made[0].id]


def _audited(artifacts: Artifacts, question: str, number: int, *, tenant: str = "acme") -> AuditRecord:
    """An audit of one case, whose object is there."""
    options = (Option(label="A", text="以上皆非"), Option(label="B", text="全部"))
    case = AuditCase(id="one", question=question, options=options, ground_truth="A")
    key = f"{tenant}/audits/{number}.json"
    artifacts.put_text(tenant=tenant, key=key, text=KeptCases(cases=(KeptCase(number=1, case=case),)).model_dump_json())
    return audited(START + timedelta(seconds=number), tenant=tenant).model_copy(update={"content_key": key})


def _counted(patch: pytest.MonkeyPatch, whose: object, name: str) -> list[Any]:
    """What a method is asked from now on."""
    asked_of: list[Any] = []
    ask: Callable[..., Any] = getattr(whose, name)

    def counted(**named: Any) -> Any:
        asked_of.append(named)
        return ask(**named)

    patch.setattr(whose, name, counted)
    return asked_of
