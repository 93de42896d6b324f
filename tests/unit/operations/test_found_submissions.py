"""A page of a contest's submissions is a reply that a function can give: Lambda's has six megabytes."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from touchstone.operations.tasks.reading import MOST_PAGE_BYTES, SubmissionLook, SubmissionQuery, found_in
from touchstone.oracle.feedback import SubmissionView
from touchstone.records.looking import FoundPage
from touchstone.records.ulids import new_ulid
from touchstone.references import Reference

LAMBDA_BYTES = 6_291_556
"""https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; the most that a function has replied."""
BEGUN = datetime(2026, 11, 22, 12, tzinfo=UTC)
TASK = new_ulid(BEGUN)
LONG = "這一段論述引用了原文。" * 3_000
"""What a page of judges' quotations of one submission comes to."""


def view(submission_id: str) -> SubmissionView:
    return SubmissionView(
        id=submission_id,
        task_id=TASK,
        submitter="ada",
        submitted_at=BEGUN,
        revision=1,
        standing="ranked",
        because=(LONG,),
    )


def page(ids: list[str], *, cursor: str | None, most_bytes: int | None) -> FoundPage[SubmissionView]:
    def of_task_from(_task: Reference, *, behind: str | None, **_: Any) -> Iterator[Any]:
        return (SimpleNamespace(id=one) for one in ids[0 if behind is None else ids.index(behind) + 1 :])

    look = SubmissionLook(
        query=SubmissionQuery(), view=lambda one: view(one.id), text=lambda _: "", labels=lambda _: ()
    )
    submissions: Any = SimpleNamespace(of_task_from=of_task_from)
    return found_in(
        submissions, look, Reference("acme", "task", TASK), limit=100, cursor=cursor, most=100, most_bytes=most_bytes
    )


def replied(found: FoundPage[SubmissionView]) -> int:
    """The bytes of the function's reply: the body as JSON in ASCII, as a text of the reply's own JSON."""
    body = json.dumps([one.model_dump(mode="json") for one in found.items])
    return len(json.dumps({"statusCode": 200, "body": body}))


def test_r17_a_page_of_long_submissions_ends_before_a_reply_is_too_large_and_the_next_goes_on() -> None:
    ids = [new_ulid(BEGUN + timedelta(seconds=n)) for n in range(60)]
    assert replied(page(ids, cursor=None, most_bytes=None)) > LAMBDA_BYTES
    seen, cursor = [], None
    while True:
        found = page(ids, cursor=cursor, most_bytes=MOST_PAGE_BYTES)
        assert found.items
        assert replied(found) < LAMBDA_BYTES / 2
        seen += [one.id for one in found.items]
        if (cursor := found.cursor) is None:
            break
    assert seen == ids
