"""Answers are found by what is known of them: all that are meant, nothing else, and by bounded reads a page."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.records import START, a_spend, an_answer, an_attempt
from touchstone.answers.labelling import KIND
from touchstone.answers.model import AnswerRecord, Solution
from touchstone.errors import InputError
from touchstone.records import Answers, Batches, answer_lists, looking, new_ulid
from touchstone.records.answer_items import summary_of
from touchstone.records.answer_lists import AnswerQuery
from touchstone.records.labels import Label, Labels
from touchstone.records.list_query import query_of
from touchstone.records.ulids import derived_ulid

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

BATCH = new_ulid(START)
LONG = "Read this. " * 30


def _ended(answers: Answers, number: int = 0, *, tenant: str = "acme", **fields: Any) -> AnswerRecord:
    given: dict[str, Any] = {
        "kind": "verify",
        "stage": "finished",
        "attempts": (an_attempt(),),
        "best_attempt": 1,
        "verification_status": "verified",
        "verification_confidence": 0.9,
    }
    at = fields.pop("at", START + timedelta(seconds=number))
    return answers.create(an_answer(tenant=tenant, at=at, **(given | fields)))


def _all(answers: Answers, query: AnswerQuery, *, limit: int = 100) -> list[str]:
    """The ids of all that a query means, page after page."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = answers.page(tenant="acme", limit=limit, cursor=cursor, query=query)
        found += [item.id for item in page.items]
        if (cursor := page.cursor) is None:
            return found


@pytest.mark.parametrize(
    ("asked", "meant", "other"),
    [
        ({"status": "caution"}, {"verification_status": "caution"}, {}),
        ({"status": "failed"}, {"stage": "failed", "verification_status": None, "best_attempt": None}, {}),
        ({"status": "unfinished"}, {"stage": "solving", "verification_status": None, "best_attempt": None}, {}),
        ({"status": "ended"}, {}, {"stage": "solving", "verification_status": None, "best_attempt": None}),
        ({"subject": "physics"}, {"subject": "physics"}, {"subject": "physics II"}),
        ({"difficulty": "hard"}, {"difficulty": "hard"}, {}),
        ({"model": "m-1"}, {"attempts": (an_attempt(model="m-1"),)}, {"attempts": (an_attempt(model="m-10"),)}),
        ({"provider": "claude"}, {"attempts": (an_attempt(provider="claude"),)}, {}),
        ({"language": "zh"}, {"language": "zh"}, {"language": None}),
        ({"batch": BATCH}, {"batch_id": BATCH}, {"batch_id": new_ulid(START)}),
        ({"verdict": "wrong"}, {"attempts": (an_attempt(passed=False),)}, {"attempts": (an_attempt(passed=None),)}),
        ({"verdict": "none"}, {"attempts": (an_attempt(passed=None),)}, {"attempts": (an_attempt(passed=False),)}),
        (
            {"skip_reason": "quota"},
            {"attempts": (an_attempt(passed=None, skip_reason="quota"),)},
            {"attempts": (an_attempt(passed=None, skip_reason="timed_out"),)},
        ),
        (
            {"model": "m-1", "verdict": "wrong"},
            {"attempts": (an_attempt(model="m-1", passed=False), an_attempt(2, model="m-2"))},
            {"attempts": (an_attempt(model="m-1"), an_attempt(2, model="m-2", passed=False))},
        ),
        ({"provider": "gemini"}, {}, {"retrieved_from": new_ulid(START)}),
        ({"cost_from": "0.5"}, {"spends": (a_spend(cost_usd=0.75),)}, {"spends": (a_spend(cost_usd=None),)}),
        (
            {"cost_from": "0.2", "cost_to": "0.5"},
            {"spends": (a_spend(cost_usd=0.25),)},
            {"spends": (a_spend(cost_usd=0.75),)},
        ),
        (
            {"from": (START + timedelta(days=1)).date().isoformat()},
            {"at": START + timedelta(days=1)},
            {"at": START - timedelta(days=1)},
        ),
        ({"search": "ＢＬＵＥ whale"}, {"problem": "How long is a blue\nwhale?"}, {"problem": "How long is a whale?"}),
        ({"search": "needle"}, {"problem": f"{LONG} Where is the Needle?"}, {"problem": LONG}),
        ({"search": "鲸鱼"}, {"problem": "一头鲸鱼有多重?"}, {"problem": "一头大象有多重?"}),
    ],
)
def test_a_filter_finds_what_it_means_and_nothing_else(
    answers: Answers, asked: dict[str, str], meant: dict[str, Any], other: dict[str, Any]
) -> None:
    wanted = _ended(answers, 1, **meant)
    if other:
        _ended(answers, 2, **other)
    if meant:  # else what is meant is what all others are, too
        _ended(answers, 3)
    _ended(answers, 4, **meant, tenant="rival")
    assert _all(answers, query_of(AnswerQuery, asked)) == [wanted.id]


def test_words_stand_in_the_problem_or_in_the_answer_that_is_returned(answers: Answers) -> None:
    said = an_attempt().model_copy(
        update={"solution": Solution(answer=f"{LONG} It is Canberra.", provider="caller", model="m")}
    )
    wanted = _ended(answers, 1, problem="Name the capital of Australia.", attempts=(said,))
    assert _all(answers, query_of(AnswerQuery, {"search": "canberra AUSTRALIA"})) == [wanted.id]
    assert _all(answers, query_of(AnswerQuery, {"search": "canberra Austria"})) == []


@pytest.mark.parametrize("sort", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_pages_of_what_is_found_hold_each_once_in_order(answers: Answers, sort: str, limit: int) -> None:
    ids = [_ended(answers, number, subject=f"s{number % 3}").id for number in range(12)]
    meant = [each for number, each in enumerate(ids) if number % 3 == 1]
    found = _all(answers, query_of(AnswerQuery, {"subject": "s1", "sort": sort}), limit=limit)
    assert found == (meant if sort == "oldest" else meant[::-1])


def test_a_page_stops_where_it_has_looked_at_enough_and_its_cursor_goes_on(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LINES", 5)
    oldest = _ended(answers, 0, subject="rare")
    for number in range(1, 48):
        _ended(answers, number)
    query = query_of(AnswerQuery, {"subject": "rare"})
    first = answers.page(tenant="acme", query=query)
    assert (first.items, first.looked_at) == ((), 20)
    assert first.looked_to == START + timedelta(seconds=28)
    assert first.cursor is not None
    assert _all(answers, query) == [oldest.id]


@pytest.mark.parametrize("asked", [{"search": "needle"}, {"label": "wrong"}])
def test_records_and_labels_are_looked_into_up_to_a_bound_and_the_cursor_goes_on(
    answers: Answers, table: "Table", monkeypatch: pytest.MonkeyPatch, asked: dict[str, str]
) -> None:
    monkeypatch.setattr(looking, "MOST_LOOKED_INTO", 6)
    monkeypatch.setattr(looking, "RECORDS", 3)
    oldest = _ended(answers, 0, problem=f"{LONG} needle")
    for number in range(1, 20):
        _ended(answers, number, problem=LONG)
    _label(table, oldest, "wrong")
    query = query_of(AnswerQuery, asked)
    pages = []
    cursor: str | None = None
    while True:
        page = answers.page(tenant="acme", query=query, cursor=cursor)
        pages.append([item.id for item in page.items])
        if (cursor := page.cursor) is None:
            break
    assert [each for page in pages for each in page] == [oldest.id]
    assert len(pages) >= 3


def _label(table: "Table", record: AnswerRecord, label: str) -> None:
    said = {"tenant": record.tenant, "kind": KIND, "record_id": record.id, "item": "1", "label": label}
    given = {"verdict": "right", "confidence": None, "judge": None, "labelled_by": "ann", "labelled_at": START}
    Labels(table).put(Label.model_validate(said | given))


def test_what_people_said_is_a_filter(answers: Answers, table: "Table") -> None:
    right, wrong, unsaid = (_ended(answers, number) for number in range(3))
    _label(table, right, "right")
    _label(table, wrong, "wrong")
    _label(table, _ended(answers, 3, tenant="rival"), "wrong")
    for label, meant in (("right", right), ("wrong", wrong), ("none", unsaid)):
        assert _all(answers, query_of(AnswerQuery, {"label": label})) == [meant.id]


@pytest.mark.parametrize("asked", [{"language": "en"}, {"model": "gemini-3.8-flash"}, {"decided_by": "judge"}])
def test_what_an_earlier_release_stored_is_found_by_its_record(
    answers: Answers, table: "Table", asked: dict[str, str]
) -> None:
    record, other = _ended(answers, 1), _ended(answers, 2, language="zh", attempts=(), best_attempt=None)
    for each in (record, other):
        key = {"pk": f"T#acme#ANSWER#{each.id}", "sk": "RECORD"}
        line = summary_of(each).model_dump_json(exclude={"language", "attempts", "retrieved_from"})
        table.update_item(Key=key, UpdateExpression="SET summary = :line", ExpressionAttributeValues={":line": line})
    found = answers.page(tenant="acme", query=query_of(AnswerQuery, asked)).items
    assert [item.id for item in found] == [record.id]


def test_a_line_of_a_batch_is_found_on_the_day_on_which_it_arrived(answers: Answers, table: "Table") -> None:
    begun = START - timedelta(days=6)
    table.put_item(Item={"pk": "T#acme#BATCH#x", "sk": "RECORD", "gsi1pk": "T#acme#BATCHES", "gsi1sk": new_ulid(begun)})
    late = _ended(answers, 1, answer_id=derived_ulid(begun, "acme", "line"), at=START)
    _ended(answers, 2, at=begun)
    day = START.date().isoformat()
    assert _all(answers, query_of(AnswerQuery, {"from": day, "to": day})) == [late.id]


def _claimed_before(answers: Answers, before: timedelta, number: int = 0, **fields: Any) -> AnswerRecord:
    """An answer whose sender's key came a first time in vain, so long before it is stored."""
    return _ended(answers, answer_id=derived_ulid(START - before, "acme", "key", str(number)), at=START, **fields)


@pytest.mark.parametrize("before", [timedelta(minutes=59), timedelta(hours=2), timedelta(days=29, hours=23)])
def test_an_answer_whose_key_was_used_long_before_is_found_on_its_day(answers: Answers, before: timedelta) -> None:
    late = _claimed_before(answers, before)
    _ended(answers, 1, at=START - timedelta(days=1))
    day = START.date().isoformat()
    assert _all(answers, query_of(AnswerQuery, {"from": day, "to": day})) == [late.id]
    assert _all(answers, query_of(AnswerQuery, {"from": day})) == [late.id]
    assert late.id not in _all(answers, query_of(AnswerQuery, {"to": (START - timedelta(days=1)).date().isoformat()}))


def test_of_many_whose_keys_were_used_long_before_each_is_found(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_lists, "MOST_LATE", 3)
    late = [_claimed_before(answers, timedelta(days=number + 1), number).id for number in range(5)]
    day = START.date().isoformat()
    assert sorted(_all(answers, query_of(AnswerQuery, {"from": day, "to": day}))) == sorted(late)


def test_the_lines_of_a_batch_whose_key_was_used_long_before_are_found(answers: Answers, table: "Table") -> None:
    claimed, begun = START - timedelta(days=25), START - timedelta(days=6)
    batch_id = new_ulid(claimed)
    Batches(table, clock=lambda: begun).create(tenant="acme", batch_id=batch_id)
    line = _ended(answers, batch_id=batch_id, answer_id=derived_ulid(begun, "acme", "line"), at=START)
    day = START.date().isoformat()
    assert _all(answers, query_of(AnswerQuery, {"batch": batch_id})) == [line.id]
    assert _all(answers, query_of(AnswerQuery, {"from": day, "to": day})) == [line.id]


def test_a_day_is_read_alone_however_much_lies_around_it(answers: Answers, queried: list[int]) -> None:
    for number in range(300):
        _ended(answers, at=START + timedelta(hours=number))
    _claimed_before(answers, timedelta(days=20))
    day = (START + timedelta(days=5)).date().isoformat()
    queried.clear()
    found = answers.page(tenant="acme", query=query_of(AnswerQuery, {"from": day, "to": day}))
    assert len(found.items) == 24
    assert found.looked_at == sum(queried) <= 25, "the day, and an hour of leeway"
    assert found.cursor is None


@pytest.fixture
def queried(table: "Table", monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items each query so far looked at."""
    looked_at: list[int] = []
    query: Callable[..., Any] = table.query

    def counted(**asked: Any) -> Any:
        reply = query(**asked)
        looked_at.append(reply["ScannedCount"])
        return reply

    monkeypatch.setattr(table, "query", counted)
    return looked_at


def test_a_cursor_is_good_for_its_filters_alone(answers: Answers) -> None:
    for number in range(3):
        _ended(answers, number)
    cursor = answers.page(tenant="acme", limit=1, query=AnswerQuery(language="en")).cursor
    assert cursor is not None
    for query in (AnswerQuery(), AnswerQuery(language="zh"), AnswerQuery(language="en", sort="oldest")):
        with pytest.raises(InputError, match="This cursor came with other filters or from another list; send it with"):
            answers.page(tenant="acme", limit=1, query=query, cursor=cursor)
    with pytest.raises(InputError):
        answers.page(tenant="rival", limit=1, query=AnswerQuery(language="en"), cursor=cursor)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"difficulty": "wild"}, "difficulty must be 'easy', 'medium' or 'hard'."),
        ({"status": "wonderful"}, "'verified', 'unverified', 'caution', 'failed', 'unfinished' or 'ended'"),
        ({"skip_reason": "tired"}, "skip_reason can be day_quota, minute_quota,"),
        ({"from": "yesterday"}, "from must be a day"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "`from` is a day after `to`"),
        ({"cost_from": "2", "cost_to": "1"}, "`cost_from` is more than `cost_to`"),
        ({"cost_from": "nan"}, "finite"),
        ({"batch": "x"}, "batch is no id of a batch"),
        ({"search": "\x00\u202e \n"}, "search has no word to look for."),
        ({"search": "y" * 201}, "at most 200 characters"),
        ({"search": "y" * 1_000_000}, "at most 200 characters"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(given: dict[str, str], told: str) -> None:
    with pytest.raises(InputError) as refused:
        query_of(AnswerQuery, given)
    assert told in str(refused.value)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("day", ["0001-01-01", "1969-12-31", "1970-01-02", "9999-12-31"])
def test_days_long_past_and_far_ahead_are_days(answers: Answers, day: str) -> None:
    record = _ended(answers)
    assert _all(answers, query_of(AnswerQuery, {"from": day})) == ([] if day > "2100" else [record.id])
    assert _all(answers, query_of(AnswerQuery, {"to": day})) == ([record.id] if day > "2100" else [])
