"""A page of a list costs the same of a thousand records and of a hundred thousand, counted over an index made up."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from tests.support.records import START
from touchstone.operations.tasks.reading import SubmissionQuery
from touchstone.records import AnswerSummary, AuditSummary, QuizSummary, TaskSummary, new_ulid
from touchstone.records.answer_lists import AnswerQuery
from touchstone.records.audits import AuditQuery
from touchstone.records.experiments import ExperimentQuery, ExperimentSummary
from touchstone.records.labelled import LabelledQuery
from touchstone.records.list_query import ListQuery, query_of
from touchstone.records.looking import MOST_LOOKED_AT, MOST_LOOKED_INTO, MOST_QUERIES, Looking
from touchstone.records.measurements import MeasurementQuery, MeasurementSummary
from touchstone.records.quizzes import QuizQuery
from touchstone.records.tasks import TaskQuery

SIZES = (1_000, 100_000)


@dataclass
class MadeUpIndex:
    """An index by time with a line for each of many records, as DynamoDB answers for it; what is read is counted."""

    ids: Sequence[str]
    line: str
    queries: int = 0
    read: list[int] = field(default_factory=list)

    def query(self, **asked: Any) -> dict[str, Any]:
        """A query of a range of ids, as many as it may read."""
        self.queries += 1
        values = asked["ExpressionAttributeValues"]
        start = asked.get("ExclusiveStartKey", {}).get("gsi1sk")
        first, last = bisect_left(self.ids, values[":first"]), bisect_right(self.ids, values[":last"])
        if start is not None:
            first, last = (
                (bisect_right(self.ids, start), last)
                if asked["ScanIndexForward"]
                else (first, bisect_left(self.ids, start))
            )
        limit = asked["Limit"]
        found = (
            self.ids[first : min(last, first + limit)]
            if asked["ScanIndexForward"]
            else self.ids[max(first, last - limit) : last][::-1]
        )
        self.read.append(len(found))
        items = [{"gsi1sk": each, "summary": self.line.replace("ID", each)} for each in found]
        more = {"LastEvaluatedKey": {"gsi1sk": found[-1]}} if len(found) == limit and found else {}
        return {"Items": items, "ScannedCount": len(found), **more}


@cache
def _ids(size: int) -> Sequence[str]:
    return [new_ulid(START + timedelta(seconds=number)) for number in range(size)]


EXPERIMENT = ExperimentSummary(
    id="ID", state="done", name="trial", surface="quiz", a="old", b="new", pairs=3, created_at=START,
    finished_at=START, verdict="mixed", headline="Each is better in something.",
)  # fmt: skip
MEASUREMENT = MeasurementSummary(
    id="ID", surface="quiz", state="done", created_at=START, finished_at=START, scores={}, title=f"{'w' * 159}…"
)


ANSWER = AnswerSummary(
    id="ID", kind="verify", stage="finished", created_at=START, updated_at=START, problem=f"{'w' * 159}…", answer="4",
    subject="algebra", difficulty="easy", model="a-model", attempt_count=1, verification_status="verified",
    verification_confidence=0.9, evaluation="none", overall=None, cost_usd=0.1, batch_id=None,
)  # fmt: skip
QUIZ = QuizSummary(
    id="ID", kind="check", state="clean", curriculum=None, chapter=None, questions=2, violations=0, attempts=1,
    created_at=START, finished_at=START, title=f"{'w' * 159}…",
)  # fmt: skip
AUDIT = AuditSummary(
    id="ID", kind="audit", state="done", requirement="tinylib==1.0", version="1.0", cases=1, incorrect=0, ambiguous=0,
    drifted=0, weekly=False, created_at=START, finished_at=START,
)  # fmt: skip
TASK = TaskSummary(
    id="ID", path="quality_first", owner="buyer", state="final", description=f"{'w' * 159}…", created_at=START,
    deadline=START, closed_at=START, winner=None,
)  # fmt: skip
LINES: Mapping[type[ListQuery], Any] = {
    AnswerQuery: ANSWER,
    AuditQuery: AUDIT,
    ExperimentQuery: EXPERIMENT,
    MeasurementQuery: MEASUREMENT,
    QuizQuery: QUIZ,
    TaskQuery: TASK,
}
"""A line of each list along the index, as little as an earlier release may have stored of it."""
OTHERWISE = {LabelledQuery, SubmissionQuery}
"""A part of others, and the list that is looked through in its task's partition."""
UNLIKELY = {
    "from": "2020-01-01",
    "to": "2999-12-31",
    "cost_from": "9999",
    "cost_to": "0",
    "language": "fr",
    "batch": "01JD7Z00000000000000000000",
}


def kinds(of: type[ListQuery] = ListQuery) -> set[type[ListQuery]]:
    """Every kind of query that there is."""
    return {each for one in of.__subclasses__() for each in (one, *kinds(one))}


def each_filter() -> Iterator[tuple[type[ListQuery], dict[str, str]]]:
    """Each filter of each list by itself, with the last of its choices, or with what is hardly there."""
    for query in LINES:
        schema = query.model_json_schema()
        for name, said in schema["properties"].items():
            choices = _choices(said, schema.get("$defs", {})) or [UNLIKELY.get(name, "nobody")]
            yield query, {name: choices[-1]}
        yield query, {"search": "nobody", "sort": "oldest"}


def _choices(said: Mapping[str, Any], named: Mapping[str, Any]) -> list[str]:
    if "$ref" in said:
        return _choices(named[said["$ref"].rpartition("/")[2]], named)
    return [*said.get("enum", ()), *(each for one in said.get("anyOf", ()) for each in _choices(one, named))]


def test_every_list_is_among_those_whose_reads_are_counted() -> None:
    assert kinds() == {*LINES, *OTHERWISE}


@pytest.mark.parametrize("size", SIZES)
def test_no_filter_of_any_list_reads_more_than_a_page_may(size: int) -> None:
    tried = 0
    for query, given in each_filter():
        index = MadeUpIndex(_ids(size), LINES[query].model_dump_json())
        matching_records: list[str] = []

        def match_records(found: Sequence[Any], into: list[str] = matching_records) -> dict[str, Any]:
            into.extend(one.id for one in found)
            return {}

        asked = query_of(query, given)
        Looking[Any](
            table=index,  # type: ignore[arg-type] # made up
            what="the records",
            scope="T#acme#RECORDS",
            line=type(LINES[query]),
            query=asked,
            between=asked.ids(oldest=None),
            match_records=match_records,
        ).page(limit=50, cursor=None)
        read = (index.queries, sum(index.read), len(matching_records))
        bounds = (MOST_QUERIES, MOST_LOOKED_AT, MOST_LOOKED_INTO)
        assert all(one <= most for one, most in zip(read, bounds, strict=True)), (query, given, read)
        tried += 1
    assert tried > 50


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("line", "query", "queries", "lines", "records"),
    [
        (EXPERIMENT, ExperimentQuery(), 1, 51, 0),
        (EXPERIMENT, query_of(ExperimentQuery, {"variant": "new", "sort": "oldest"}), 1, 500, 0),
        (EXPERIMENT, query_of(ExperimentQuery, {"variant": "none"}), MOST_QUERIES, MOST_LOOKED_AT, 0),
        (EXPERIMENT, query_of(ExperimentQuery, {"search": "nobody"}), MOST_QUERIES, MOST_LOOKED_AT, 0),
        (MEASUREMENT, query_of(MeasurementQuery, {"search": "nobody"}), 1, 500, MOST_LOOKED_INTO),
        (MEASUREMENT, query_of(MeasurementQuery, {"status": "failed"}), MOST_QUERIES, MOST_LOOKED_AT, 0),
    ],
)
def test_a_page_reads_no_more_than_its_bounds_however_many_there_are(
    *, size: int, line: Any, query: ListQuery, queries: int, lines: int, records: int
) -> None:
    index = MadeUpIndex(_ids(size), line.model_dump_json())
    matching_records: list[str] = []

    def match_records(found: Sequence[Any]) -> dict[str, Any]:
        matching_records.extend(one.id for one in found)
        return {}

    made: Looking[Any] = Looking(
        table=index,  # type: ignore[arg-type] # made up
        what="the records",
        scope="T#acme#RECORDS",
        line=type(line),
        query=query,
        between=query.ids(oldest=None),
        match_records=match_records,
    )
    made.page(limit=50, cursor=None)
    assert index.queries <= queries
    assert sum(index.read) <= lines
    assert len(matching_records) == records
