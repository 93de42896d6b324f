"""The search among a task's submissions. It uses only what the searching party may see of each."""

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from touchstone.errors import InputError, NotFoundError
from touchstone.oracle.feedback import SubmissionView
from touchstone.oracle.submission import Submission
from touchstone.records.cursors import cursor_after, is_cursor_of, page_size, position_of
from touchstone.records.keys import task_key
from touchstone.records.labelled import LabelledQuery
from touchstone.records.list_query import CostFrom, CostTo, Findable, LineFilter, SearchText, ShortText
from touchstone.records.looking import MOST_LOOKED_INTO, OBJECT_READS, FoundPage
from touchstone.records.submissions import Submissions
from touchstone.records.ulids import ulid_moment

FINDABLE = Findable[str, SubmissionView](
    filters={
        "status": LineFilter(of=lambda view: (view.standing,)),
        "submitter": LineFilter(of=lambda view: (view.submitter,)),
        "reason": LineFilter(of=lambda view: (view.unscored,)),
    },
    said=lambda view: (view.submitter,),
    texts=lambda text: (text,),
    arrived=lambda view: view.submitted_at,
)
"""How submissions are found: by the view of the party, so that no filter reveals what the view hides, and by the text
that was handed in."""


class SubmissionQuery(LabelledQuery):
    """The filters of a list of submissions. A filter that is None excludes nothing; all given filters must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["received", "gate_failed", "gate_passed", "scored", "unscored", "overtaken", "eliminated", "ranked"]
        | None,
        Field(description="The standing of the submission, as the party may see it."),
    ] = None
    submitter: Annotated[ShortText | None, Field(description="The exact name of the submitter.")] = None
    reason: Annotated[
        ShortText | None, Field(description="The reason why nobody could judge it, such as `timed_out`.")
    ] = None
    label: Annotated[
        Literal["pass", "fail", "none"] | None,
        Field(
            description="A label that people gave one of the criteria, once the task is decided. `none`: nobody "
            "labelled a criterion."
        ),
    ] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(
            description="Words. Each must be in the text or in the submitter's name. Upper and lower case are the same."
        ),
    ] = None


MOST_PAGE_BYTES = 2_000_000
"""A page ends with the submission by which it comes to so many bytes of a function's reply, of 6 MB at most. Judges
quote 2,000 characters for each criterion and dimension, and a Chinese character takes seven bytes there."""
ALL_SUBMISSIONS = SubmissionQuery()
"""No filter: all submissions that the party may see, newest first."""


@dataclass(slots=True, kw_only=True)
class SubmissionLook:
    """Matches submissions against a query, and counts the reads that this takes (limit: `MOST_LOOKED_INTO`).

    `view` gives what the party may see of a submission, None for nothing. `text` gives its text, and `labels` what
    people said of its criteria.
    """

    query: SubmissionQuery
    view: Callable[[Submission], SubmissionView | None]
    text: Callable[[Submission], str]
    labels: Callable[[Submission], Collection[str]]
    reads: int = 0

    def seen(self, one: Submission) -> SubmissionView | None:
        """A submission as the party may see it. None if the party may not see it, or the query does not match."""
        self.reads += 1
        view = self.view(one)
        passes = False if view is None else self.query.matches_without_label(view)
        if view is None or passes is False:
            return None
        if self.query.said is not None:
            self.reads += 1
            if not self.query.fits(self.labels(one)):
                return None
        if passes is None:
            self.reads += OBJECT_READS
            if not self.query.matches(view, self._text(one)):
                return None
        return view

    def _text(self, one: Submission) -> str:
        """The text of a submission; empty if the submission is being deleted."""
        with suppress(NotFoundError):
            return self.text(one)
        return ""


def found_in(
    submissions: Submissions,
    look: SubmissionLook,
    *,
    tenant: str,
    task_id: str,
    limit: int,
    cursor: str | None,
    most: int,
    most_bytes: int | None = None,
) -> FoundPage[SubmissionView]:
    """A page of the submissions of a closed task that match the query of `look`.

    With filters, the page also ends after `MOST_LOOKED_INTO` reads, and with `most_bytes` as soon as its submissions
    take so many in the reply of a function. Raises `InputError` for a cursor of another list or
    of other filters, and for a limit outside 1 to `most`.
    """
    query = look.query
    scope = task_key(tenant, task_id)["pk"]
    scope = f"{scope}\x1f{json.dumps(query.given)}" if query.given else scope
    if cursor is not None and not is_cursor_of(scope, cursor):
        raise InputError(
            "This cursor came with other filters or from another list; send it with the filters that it came with, or "
            "start again without one.",
            where="cursor",
        )
    wanted = page_size(limit, most=most)
    behind = None if cursor is None else position_of(scope, cursor)
    found: list[SubmissionView] = []
    looked_at, last, more, size = 0, behind, False, 0
    for one in submissions.of_task_from(tenant=tenant, task_id=task_id, behind=behind, oldest=query.sort == "oldest"):
        full = len(found) == wanted or (most_bytes is not None and size >= most_bytes)
        if full or (query.filters and look.reads >= MOST_LOOKED_INTO):
            more = True
            break
        looked_at, last = looked_at + 1, one.id
        if (view := look.seen(one)) is not None:
            found.append(view)
            size += 0 if most_bytes is None else _bytes_in_reply(view)
    return FoundPage(
        items=tuple(found),
        cursor=cursor_after(scope, last) if more and last is not None else None,
        looked_at=looked_at,
        looked_to=None if last is None else ulid_moment(last),
    )


def _bytes_in_reply(view: SubmissionView) -> int:
    """The bytes of a view in a function's reply: its JSON, in ASCII, is there a text within JSON."""
    return len(json.dumps(json.dumps(view.model_dump(mode="json"))))
