"""A page of a list costs the same of a thousand records and of a hundred thousand, counted over an index made up."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from tests.support.records import START
from touchstone.records import new_ulid
from touchstone.records.experiments import ExperimentQuery, ExperimentSummary
from touchstone.records.list_query import ListQuery, query_of
from touchstone.records.looking import MOST_LOOKED_AT, MOST_LOOKED_INTO, MOST_QUERIES, Looking
from touchstone.records.measurements import MeasurementQuery, MeasurementSummary

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
    looked_into: list[str] = []

    def look_into(found: Sequence[Any]) -> dict[str, Any]:
        looked_into.extend(one.id for one in found)
        return {}

    made: Looking[Any] = Looking(
        table=index,  # type: ignore[arg-type] # made up
        what="the records",
        scope="T#acme#RECORDS",
        line=type(line),
        query=query,
        between=query.ids(oldest=None),
        look_into=look_into,
    )
    made.page(limit=50, cursor=None)
    assert index.queries <= queries
    assert sum(index.read) <= lines
    assert len(looked_into) == records
