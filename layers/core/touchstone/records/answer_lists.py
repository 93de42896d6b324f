"""Lists of answers, all of them or those that are looked for: bounded reads a page, however many there are.

DECISION: what is looked for is looked for along the index by time, in its range of days, and a page ends after so many
answers though it may have found none; its cursor goes on (docs/decisions/0063). No list scans, and none has items of
its own to write.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from touchstone.answers.labelling import KIND
from touchstone.errors import InputError
from touchstone.records.answer_items import AnswerSummary, OfAnswers, late_pk, milliseconds, summary_of
from touchstone.records.answer_query import EVERY, WAITS_FOR, AnswerQuery
from touchstone.records.cursors import Page, cursor_after, leads_on, page_size, position_of
from touchstone.records.keys import batch_key, key_of, of_tenant
from touchstone.records.labels import Labels
from touchstone.records.request_keys import KEPT
from touchstone.records.table import Item, read, read_many, store_faults
from touchstone.records.ulids import ulid_moment
from touchstone.references import Reference

MOST_LOOKED_AT = 2_000
"""Answers that a page looks at, by their lines in the index: some 250 read units, and half a second of a function."""
LINES = 500
"""Of one query: half of what one can return, 1 MB."""
MOST_QUERIES = MOST_LOOKED_AT // LINES
MOST_LOOKED_INTO = 200
"""Of those, answers whose record or labels have to be read besides: a unit each, or more."""
MOST_LATE = 200
"""Answers much younger than their ids whose ids are looked at; with more of them the list begins where any could be."""
RECORDS = 25
"""Read at once: so many of the greatest size stay below what one call may return, 16 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAnswers(Page[AnswerSummary]):
    """A page of a list of answers. `looked_at` is how many were looked at for it, and `looked_to` until when they came.

    With a cursor there may be more behind it, also where nothing was found. `looked_to` is None where none was
    looked at.
    """

    looked_at: int
    looked_to: datetime | None


@dataclass(slots=True)
class _Walk:
    """How far a page has come. `ended`: nothing comes behind `last`, the id that was looked at last."""

    last: str | None = None
    looked_at: int = 0
    looked_into: int = 0
    ended: bool = False
    found: list[AnswerSummary] = field(default_factory=list)


class AnswerLists(OfAnswers):
    """The answers of a tenant, in the order in which they came."""

    def page(
        self, *, tenant: str, limit: int = 50, cursor: str | None = None, query: AnswerQuery = EVERY, most: int = 100
    ) -> FoundAnswers:
        """A tenant's answers that `query` means, newest first unless it says otherwise.

        A page without filters is full until the last one. One with filters ends where it is full, or where it has
        looked at so many answers as it may. Raises `InputError` for a cursor of another list or of other filters, and
        for a limit outside 1 to `most`.
        """
        scope = of_tenant(tenant, "ANSWERS")
        # A cursor is good for the list that it came from: with other filters it would skip what they mean.
        list_scope = f"{scope}\x1f{json.dumps(query.given)}" if query.given else scope
        if cursor is not None and not leads_on(list_scope, cursor):
            raise InputError(
                "This cursor came with other filters or from another list; send it with the filters that it came "
                "with, or start again without one.",
                where="cursor",
            )
        # One more than asked for is found, so that the last page knows that it is the last.
        wanted = page_size(limit, most=most) + 1
        behind = None if cursor is None else position_of(list_scope, cursor)
        walk = _Walk()
        for items in self._queries(tenant, query, walk, behind=behind, wanted=wanted):
            if not self._look(tenant, query, walk, items, wanted=wanted):
                break
        full = len(walk.found) >= wanted
        shown = tuple(walk.found[:limit])
        last = shown[-1].id if full else walk.last
        return FoundAnswers(
            items=shown,
            cursor=cursor_after(list_scope, last) if last is not None and (full or not walk.ended) else None,
            looked_at=walk.looked_at,
            looked_to=None if last is None else ulid_moment(last),
        )

    def _queries(
        self, tenant: str, query: AnswerQuery, walk: _Walk, *, behind: str | None, wanted: int
    ) -> Iterator[Sequence[Item]]:
        """The index's lines in the range of the query, behind a position, a query's at a time."""
        scope = of_tenant(tenant, "ANSWERS")
        oldest = [each for each in (self._oldest_batch(tenant, query), self._oldest_late(tenant, query)) if each]
        first, last = query.ids(oldest=min(oldest, default=None), begun=self._begun(tenant, query))
        if behind is not None:
            first, last = (first, min(last, behind)) if query.sort == "newest" else (max(first, behind), last)
        walk.ended = first > last
        arguments: dict[str, Any] = {
            "IndexName": "by_time",
            "KeyConditionExpression": "gsi1pk = :scope AND gsi1sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {":scope": scope, ":first": first, ":last": last},
            "ScanIndexForward": query.sort == "oldest",
        }
        if query.status in {"verified", "unverified", "caution"}:
            arguments["FilterExpression"] = "verification_status = :status"
            arguments["ExpressionAttributeValues"][":status"] = query.status
        start: dict[str, Any] = {}
        for _ in range(MOST_QUERIES):
            if walk.ended or len(walk.found) >= wanted:
                return
            # The place itself lies in the range, since a key can be held to one condition only.
            lines = LINES if query.filters else wanted - len(walk.found) + (behind is not None)
            with store_faults("list the answers"):
                reply = self._table.query(**arguments, Limit=lines, **start)
            items = [item for item in reply["Items"] if item["gsi1sk"] != behind]
            walk.looked_at += reply["ScannedCount"] - (len(reply["Items"]) - len(items))
            walk.ended = "LastEvaluatedKey" not in reply
            if items:
                walk.last = str(items[-1]["gsi1sk"])
            yield items
            if not walk.ended:
                # Those that the index left out lie behind the last one that it gave.
                walk.last = str(reply["LastEvaluatedKey"]["gsi1sk"])
                start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}

    def _look(self, tenant: str, query: AnswerQuery, walk: _Walk, items: Sequence[Item], *, wanted: int) -> bool:
        """Find those among lines that are meant; False where the page ends among them."""
        waiting: list[tuple[AnswerSummary, bool | None]] = []
        open_ones = 0
        for item in items:
            line = AnswerSummary.model_validate_json(str(item["summary"]))
            passes = query.passes(line)
            if passes is False:
                continue
            waiting.append((line, passes))
            open_ones += passes is None or query.label is not None
            if open_ones == RECORDS:
                self._close(tenant, query, walk, waiting)
                waiting, open_ones = [], 0
                if len(walk.found) >= wanted:
                    return False
                if walk.looked_into >= MOST_LOOKED_INTO:
                    walk.last, walk.ended = line.id, line.id == str(items[-1]["gsi1sk"]) and walk.ended
                    return False
        self._close(tenant, query, walk, waiting)
        return walk.looked_into < MOST_LOOKED_INTO

    def _close(
        self, tenant: str, query: AnswerQuery, walk: _Walk, waiting: Sequence[tuple[AnswerSummary, bool | None]]
    ) -> None:
        """Decide on lines by the records and labels that they need."""
        whole = {line.id: line for line, passes in waiting if passes is None}
        if whole:
            meant = self._meant_whole(tenant, query, list(whole))
            waiting = [(meant.get(line.id, line), line.id not in whole or line.id in meant) for line, _ in waiting]
        lines = [line for line, passes in waiting if passes]
        walk.looked_into += len(lines) if query.label is not None else len(whole)
        walk.found += lines if query.label is None else self._labelled(tenant, query, lines)

    def _meant_whole(self, tenant: str, query: AnswerQuery, ids: Sequence[str]) -> dict[str, AnswerSummary]:
        """Those of answers whose records are meant, each with its line as it is made now."""
        keys = [key_of(Reference(tenant, "answer", each)) for each in ids]
        found = {}
        for item in read_many(self._table, keys, "the answers", pause=self._pause):
            record = self._records.of_item(tenant, item).record
            shown = record.best or (record.attempts[-1] if record.attempts else None)
            line = summary_of(record)
            answer = None if shown is None else shown.solution.answer
            if query.passes_whole(line, problem=record.problem, answer=answer):
                found[record.id] = line
        return found

    def _labelled(self, tenant: str, query: AnswerQuery, lines: Sequence[AnswerSummary]) -> list[AnswerSummary]:
        """Those of lines of which people said what is looked for."""
        things = [(line.id, str(number)) for line in lines for number in range(1, line.attempt_count + 1)]
        labels = Labels(self._table, pause=self._pause)
        said = labels.of_things(tenant=tenant, kind=KIND, things=things)
        given = {record_id: set[str]() for record_id, _ in things}
        for (record_id, _), label in said.items():
            given[record_id].add(label.label)
        if query.label == "none":
            return [line for line in lines if not given.get(line.id)]
        return [line for line in lines if query.label in given.get(line.id, ())]

    def _oldest_batch(self, tenant: str, query: AnswerQuery) -> datetime | None:
        """When the oldest batch was begun whose lines may have arrived since the first day, though it came before."""
        between = query.batches_before()
        if between is None:
            return None
        with store_faults("list the answers"):
            found = self._table.query(
                IndexName="by_time",
                KeyConditionExpression="gsi1pk = :scope AND gsi1sk BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":scope": of_tenant(tenant, "BATCHES"),
                    ":first": between[0],
                    ":last": between[1],
                },
                Limit=1,
            )["Items"]
        return ulid_moment(str(found[0]["gsi1sk"])) if found else None

    def _oldest_late(self, tenant: str, query: AnswerQuery) -> datetime | None:
        """How old the ids are of those that came in the range of days long after their senders' keys."""
        if query.since is None:
            return None
        with store_faults("list the answers"):
            reply = self._table.query(
                IndexName="by_count",
                KeyConditionExpression="gsi3pk = :late AND #came BETWEEN :first AND :last",
                ExpressionAttributeNames={"#came": "count"},
                ExpressionAttributeValues={
                    ":late": late_pk(tenant),
                    ":first": milliseconds(query.begin),
                    ":last": milliseconds(query.end),
                },
                Limit=MOST_LATE,
            )
        if "LastEvaluatedKey" in reply:
            return query.begin - KEPT - WAITS_FOR
        return min((ulid_moment(str(item["pk"]).rpartition("#")[2]) for item in reply["Items"]), default=None)

    def _begun(self, tenant: str, query: AnswerQuery) -> datetime | None:
        """When the batch was begun whose lines are meant; None where none is, or it is there no more."""
        if query.batch is None:
            return None
        item = read(self._table, batch_key(tenant, query.batch), "the batch")
        return None if item is None else datetime.fromisoformat(item["created_at"])
