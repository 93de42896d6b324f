"""What has no end yet is listed over several partitions of an index, and read as one list, oldest first."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.support.records import HandClock, an_answer
from touchstone.records import Answers, Evaluations
from touchstone.records.keys import UNFINISHED_SHARDS, unfinished_pks
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

COUNT = 60
FEWEST = UNFINISHED_SHARDS // 2
"""Partitions that hold less than all: ids are random, and once in some million runs half of the partitions get none."""


def partitions(table: "Table", kind: str) -> set[str]:
    """The partitions of a list in which there is anything."""
    return {name for name in unfinished_pks(kind) if listed_in(table, name)}


def listed_in(table: "Table", partition: str) -> list[dict[str, Any]]:
    return table.query(
        IndexName="deferred", KeyConditionExpression="gsi2pk = :pk", ExpressionAttributeValues={":pk": partition}
    )["Items"]


def as_an_earlier_release_listed_them(table: "Table", kind: str) -> None:
    """Put all that is in a list into the one partition that it had."""
    for partition in unfinished_pks(kind):
        for item in listed_in(table, partition):
            table.update_item(
                Key={"pk": item["pk"], "sk": item["sk"]},
                UpdateExpression="SET gsi2pk = :pk",
                ExpressionAttributeValues={":pk": kind},
            )


def begun(answers: Answers, clock: HandClock, count: int = COUNT, **of: Any) -> list[str]:
    """So many answers, one each second; their ids in order."""
    made = []
    for _ in range(count):
        made.append(answers.create(an_answer(at=clock(), **of)).id)
        clock.advance(seconds=1)
    return made


def test_answers_without_an_end_are_spread_and_listed_oldest_first(
    answers: Answers, clock: HandClock, table: "Table"
) -> None:
    made = begun(answers, clock)
    assert FEWEST < len(partitions(table, "ANSWER#unfinished")) <= UNFINISHED_SHARDS
    found = answers.unfinished(older_than=timedelta(0), limit=COUNT + 1)
    assert [one.id for one in found] == made
    assert [one.id for one in answers.unfinished(older_than=timedelta(0), limit=7)] == made[:7]
    found = answers.unfinished(older_than=timedelta(seconds=10.5), limit=COUNT)
    assert [one.id for one in found] == made[:-10]


def test_what_an_earlier_release_listed_is_found_among_the_others(
    answers: Answers, clock: HandClock, table: "Table"
) -> None:
    before = begun(answers, clock)
    as_an_earlier_release_listed_them(table, "ANSWER#unfinished")
    assert partitions(table, "ANSWER#unfinished") == {"ANSWER#unfinished"}
    after = begun(answers, clock, 20)
    assert [one.id for one in answers.unfinished(older_than=timedelta(0), limit=100)] == before + after


def test_the_line_of_the_deferred_is_one_line_over_all_partitions(
    answers: Answers, evaluations: Evaluations, clock: HandClock, table: "Table"
) -> None:
    finished = begun(answers, clock, stage="finished")
    for place, answer_id in enumerate(finished):
        evaluations.request(Reference("acme", "answer", answer_id))
        evaluations.claim(Reference("acme", "answer", answer_id))
        evaluations.defer(Reference("acme", "answer", answer_id), until=clock(), reason="day")
        clock.advance(seconds=1)
        if place == COUNT // 2:
            as_an_earlier_release_listed_them(table, "EVALUATION#deferred")
    assert FEWEST < len(partitions(table, "EVALUATION#deferred") - {"EVALUATION#deferred"}) <= UNFINISHED_SHARDS
    assert [one.answer_id for one in evaluations.oldest_deferred(limit=COUNT)] == finished
    window = evaluations.oldest_deferred(limit=10)
    behind = evaluations.oldest_deferred(limit=10, behind=window[-1].request_id)
    assert [one.answer_id for one in behind] == finished[9:19]
    assert evaluations.backlog().oldest_requested_at == window[0].requested_at
