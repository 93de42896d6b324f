"""A task's submissions that are looked for: by what a party may see of each, and by nothing else."""

import json
from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from pydantic import Field

from touchstone.errors import InputError
from touchstone.oracle.feedback import SubmissionView
from touchstone.oracle.submission import Submission
from touchstone.records.cursors import cursor_after, leads_on, page_size, position_of
from touchstone.records.keys import task_key
from touchstone.records.list_query import CostFrom, CostTo, Findable, LineFilter, ListQuery, ShortText
from touchstone.records.looking import MOST_LOOKED_INTO, FoundPage
from touchstone.records.submissions import Submissions
from touchstone.records.ulids import ulid_moment

FINDABLE = Findable[Submission, SubmissionView](
    filters={
        "status": LineFilter(of=lambda view: (view.standing,)),
        "submitter": LineFilter(of=lambda view: (view.submitter,)),
        "reason": LineFilter(of=lambda view: (view.unscored,)),
    },
    arrived=lambda view: view.submitted_at,
)
"""By what submissions are found: by the views of a party, so that no filter tells what a view keeps to itself."""


class SubmissionQuery(ListQuery):
    """Which submissions a list shows. What is left out (null) leaves out nothing; all that is given must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["received", "gate_failed", "gate_passed", "scored", "unscored", "overtaken", "eliminated", "ranked"]
        | None,
        Field(description="Where they stand, as the party may see it."),
    ] = None
    submitter: Annotated[ShortText | None, Field(description="Whose they are, to the letter.")] = None
    reason: Annotated[ShortText | None, Field(description="Why nobody could judge them, such as `timed_out`.")] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None


ALL_SUBMISSIONS = SubmissionQuery()
"""All that the party may see, newest first."""


def found_in(
    submissions: Submissions,
    query: SubmissionQuery,
    view: Callable[[Submission], SubmissionView | None],
    *,
    tenant: str,
    task_id: str,
    limit: int,
    cursor: str | None,
    most: int,
) -> FoundPage[SubmissionView]:
    """A page of a closed task's submissions that `query` means, of which `view` gives what the party may see.

    One with filters ends also where it has looked at `MOST_LOOKED_INTO`. Raises `InputError` for a cursor of another
    list or of other filters, and for a limit outside 1 to `most`.
    """
    scope = task_key(tenant, task_id)["pk"]
    scope = f"{scope}\x1f{json.dumps(query.given)}" if query.given else scope
    if cursor is not None and not leads_on(scope, cursor):
        raise InputError(
            "This cursor came with other filters or from another list; send it with the filters that it came with, or "
            "start again without one.",
            where="cursor",
        )
    wanted = page_size(limit, most=most)
    behind = None if cursor is None else position_of(scope, cursor)
    found: list[SubmissionView] = []
    looked_at, last, more = 0, behind, False
    for one in submissions.of_task_from(tenant=tenant, task_id=task_id, behind=behind, oldest=query.sort == "oldest"):
        if len(found) == wanted or (query.filters and looked_at == MOST_LOOKED_INTO):
            more = True
            break
        looked_at, last = looked_at + 1, one.id
        found += meant(query, [view(one)])
    return FoundPage(
        items=tuple(found),
        cursor=cursor_after(scope, last) if more and last is not None else None,
        looked_at=looked_at,
        looked_to=None if last is None else ulid_moment(last),
    )


def meant(query: SubmissionQuery, views: Iterable[SubmissionView | None]) -> list[SubmissionView]:
    """Those of views that a query means."""
    return [view for view in views if view is not None and query.passes(view)]
