"""What a party may read of a task's submissions: its own as far as the task allows, and all once the task is closed.

A search uses only what the searching party may see of each submission.
"""

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from touchstone.errors import NotFoundError
from touchstone.oracle.challenge import ChallengeView
from touchstone.oracle.feedback import SubmissionView, reader_of, view_of
from touchstone.oracle.labelling import KIND
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import DECIDED, Task
from touchstone.oracle.view import TaskView
from touchstone.records import Challenges, Labels, Tasks
from touchstone.records.keys import key_of
from touchstone.records.labelled import LabelledQuery
from touchstone.records.list_query import CostFrom, CostTo, Findable, LineFilter, SearchText, ShortText
from touchstone.records.lists import MAX_PAGE, cursor_after, page_size, resumed_behind, scope_of_filters
from touchstone.records.looking import MOST_LOOKED_INTO, OBJECT_READS, FoundPage
from touchstone.records.submissions import Submissions
from touchstone.records.ulids import ulid_moment
from touchstone.references import Reference, submission_name

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
    task: Reference,
    *,
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
    scope = scope_of_filters(key_of(task)["pk"], query.given)
    behind = resumed_behind(scope, cursor)
    wanted = page_size(limit, most=most)
    found: list[SubmissionView] = []
    looked_at, last, more, size = 0, behind, False, 0
    for one in submissions.of_task_from(task, behind=behind, oldest=query.sort == "oldest"):
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


STRANGER = "There is no task with this id that this party has to do with."


@dataclass(frozen=True, slots=True, kw_only=True)
class PartyReader:
    """Reads one tenant's tasks for one party, named as the tenant names it. `party` None: for nobody in particular.

    Somebody who is no party learns only that: every method raises `NotFoundError` for what the party may not see.
    `labels` opens the store of labels; it is called only if a query filters by them.
    """

    tenant: str
    party: str | None
    tasks: Tasks
    submissions: Submissions
    challenges: Challenges
    labels: Callable[[], Labels]

    def task(self, task_id: str) -> TaskView:
        """A task; its ranking is shown to parties only."""
        task = self._task(task_id)
        return TaskView.of(task, party=self._is_party(task))

    def submission(self, task_id: str, submission_id: str) -> SubmissionView:
        """A submission as the party may see it now."""
        task = self._task(task_id)
        ref = Reference(self.tenant, "submission", submission_id, task_id)
        view = self._view(self.submissions.get(ref), task)
        if view is None:
            raise NotFoundError("There is no submission with this id.")
        return view

    def text(self, task_id: str, submission_id: str) -> str | None:
        """The text of a submission, for a party of a closed task. None while the task is open, also for its author."""
        task = self._task(task_id)
        self._check_party(task)
        ref = Reference(self.tenant, "submission", submission_id, task_id)
        return None if task.closed_at is None else self.submissions.text(self.submissions.get(ref))

    def submitted(
        self,
        task_id: str,
        *,
        limit: int,
        cursor: str | None,
        query: SubmissionQuery = ALL_SUBMISSIONS,
        most: int = MAX_PAGE,
        most_bytes: int | None = None,
    ) -> FoundPage[SubmissionView]:
        """The submissions that the party may see and that `query` means: its own while the task is open, then all.

        Newest first, unless the query says otherwise. `most_bytes` is as in `found_in`. Raises `InputError` for a
        cursor of another list or of other filters, and for a limit outside 1 to `most`.
        """
        task = self._task(task_id)
        self._check_party(task)
        look = SubmissionLook(
            query=query,
            view=lambda one: self._seen(one, task),
            text=self.submissions.text,
            labels=lambda one: self._said(one, task),
        )
        if task.closed_at is None:
            own = self.submissions.of_submitter(task.ref, self.party or "")
            in_order = own if query.sort == "oldest" else own[::-1]
            found = tuple(view for one in in_order if (view := look.seen(one)) is not None)
            looked_to = in_order[-1].submitted_at if in_order else None
            return FoundPage(items=found, cursor=None, looked_at=len(own), looked_to=looked_to)
        return found_in(self.submissions, look, task.ref, limit=limit, cursor=cursor, most=most, most_bytes=most_bytes)

    def challenged(self, task_id: str) -> tuple[ChallengeView, ...]:
        """The challenges to a task's ranking, oldest first."""
        task = self._task(task_id)
        self._check_party(task)
        return tuple(ChallengeView.of(one) for one in self.challenges.of_task(task.ref))

    def _task(self, task_id: str) -> Task:
        return self.tasks.get(Reference(self.tenant, "task", task_id))

    def _is_party(self, task: Task) -> bool:
        return self.party is not None and is_party(task, self.party, self.submissions)

    def _check_party(self, task: Task) -> None:
        if not self._is_party(task):
            raise NotFoundError(STRANGER)

    def _view(self, submission: Submission, task: Task) -> SubmissionView | None:
        """What the party may see of a submission. None if it may see nothing.

        Whether the party handed in anything is read only if that decides: the author and the owner are parties anyway.
        """
        if self.party is None:
            return None
        known = self.party in {submission.submitter, task.request.owner}
        submitted = not known and self._is_party(task)
        return view_of(submission, task, reader_of(task, submission, party=self.party, submitted=submitted))

    def _seen(self, submission: Submission, task: Task) -> SubmissionView | None:
        """What somebody who is a party may see of a submission. None if nothing."""
        return view_of(submission, task, reader_of(task, submission, party=self.party or "", submitted=True))

    def _said(self, submission: Submission, task: Task) -> frozenset[str]:
        """The labels that people gave to a submission's criteria.

        Empty before the task is decided: nobody can label then.
        """
        if task.state not in DECIDED:
            return frozenset()
        record = submission_name(task.id, submission.id)
        given = self.labels().of_record(tenant=self.tenant, kind=KIND, record_id=record)
        return frozenset(label.label for label in given.values())


def is_party(task: Task, party: str, submissions: Submissions) -> bool:
    """Whether a party owns the task or has handed in anything to it."""
    return party == task.request.owner or submissions.has_submitted(task.ref, party)
