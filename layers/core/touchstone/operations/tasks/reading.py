"""What a party may read of a task's submissions: its own as far as the task allows, and all once the task is closed."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.errors import NotFoundError
from touchstone.operations.tasks.finding import ALL_SUBMISSIONS, SubmissionLook, SubmissionQuery, found_in
from touchstone.oracle.challenge import ChallengeView
from touchstone.oracle.feedback import SubmissionView, reader_of, view_of
from touchstone.oracle.labelling import DECIDED, KIND
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.oracle.view import TaskView
from touchstone.records import Challenges, Labels, Submissions, Tasks
from touchstone.records.cursors import MAX_PAGE
from touchstone.records.looking import FoundPage
from touchstone.references import Reference, submission_name

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
            own = self.submissions.of_submitter(tenant=self.tenant, task_id=task_id, submitter=self.party or "")
            in_order = own if query.sort == "oldest" else own[::-1]
            found = tuple(view for one in in_order if (view := look.seen(one)) is not None)
            looked_to = in_order[-1].submitted_at if in_order else None
            return FoundPage(items=found, cursor=None, looked_at=len(own), looked_to=looked_to)
        return found_in(
            self.submissions,
            look,
            tenant=self.tenant,
            task_id=task_id,
            limit=limit,
            cursor=cursor,
            most=most,
            most_bytes=most_bytes,
        )

    def challenged(self, task_id: str) -> tuple[ChallengeView, ...]:
        """The challenges to a task's ranking, oldest first."""
        self._check_party(self._task(task_id))
        return tuple(ChallengeView.of(one) for one in self.challenges.of_task(tenant=self.tenant, task_id=task_id))

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
    return party == task.request.owner or submissions.has_submitted(
        tenant=task.tenant, task_id=task.id, submitter=party
    )
