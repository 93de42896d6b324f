"""Submissions as they are handed in and read, in their task's partition of the table.

One transaction decides whether a submission is in or out. It is stored if the task is still open as it was read a
moment ago, and if the submitter's place is free. A task that closes at the same moment either sees the submission or
refuses it. The submission's text is stored apart, in S3 under its own hash: if its owner overwrites the uploaded file
later, nothing changes, and a contest's records stay small.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Never

from touchstone.aws import ConditionFailedError, Table, jitter
from touchstone.errors import StoreError
from touchstone.oracle import handing_in
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.labelling import CARDS_OF_CALLS, agreement_of
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import check_open
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, counted_tallies, writes_of
from touchstone.records.jobs import Job, JobStore
from touchstone.records.judge_counts import calls_of
from touchstone.records.keys import SUBMISSIONS, key_of, of_tenant, reference_of, submitter_key
from touchstone.records.lists import all_of, newest
from touchstone.records.table import Action, Item, partition, query, read
from touchstone.records.tasks import TASK
from touchstone.records.versioned import CHANGE_TRIES
from touchstone.references import Reference

READ_AT_ONCE = 60
"""How many of a task's submissions are read at once when they are looked through."""
TEXT_TYPE = "text/markdown; charset=utf-8"


class Submissions(JobStore[Submission, Never]):
    """The submissions of all tasks.

    Every method raises `NotFoundError` for ids that this tenant does not have, and `StoreError` if the store fails.
    """

    def add(self, task: Reference, *, submission_id: str, request: SubmissionRequest) -> Submission:
        """Hand in a submission; a repeat returns the stored one, even after the deadline.

        Raises `InputError` for a blank text or an invalid file, `TooLargeError`, `NotFoundError` also for a file that
        was never uploaded, and `ConflictError` if the task takes no submission, the submitter may not hand in another,
        or the id belongs to another request.
        """
        key = key_of(Reference(task.tenant, "submission", submission_id, task.id))
        asked = _asked(task, request)
        tasks, text_key = self._beside(TASK), None
        for attempt in range(CHANGE_TRIES):
            now = self._clock()
            current = tasks.read(task.tenant, key_of(task))
            earlier = self._ids(task, request.submitter)
            # This is read after both: if this very submission closed the task or took the place, it is found here.
            if (stored := self._records.find(task.tenant, key)) is not None:
                return self._records.same(stored, stored.record.model_copy(update=asked))
            check_open(current.record, now)
            handing_in.check_follows(
                self.get(Reference(task.tenant, "submission", earlier[-1], task.id)) if earlier else None
            )
            text_key = text_key or self._keep_text(task, request)
            record = Submission(
                tenant=task.tenant,
                task_id=task.id,
                id=submission_id,
                submitter=request.submitter,
                submitted_at=now,
                revision=len(earlier) + 1,
                text_key=text_key,
                uploaded_key=request.text_key,
                when=current.record.request.when,
            )
            try:
                return self._records.insert(record, also_write=(tasks.unchanged(current), _taking(record, earlier)))
            except ConditionFailedError:
                self._pause(jitter(attempt))
        raise StoreError("The task was changed by others each time; it is safe to repeat.")

    def text(self, submission: Submission) -> str:
        """The text of a submission, as it was handed in."""
        return self._artifacts.get_text(tenant=submission.tenant, key=submission.text_key)

    def of_task(self, task: Reference) -> Iterator[Submission]:
        """All submissions of a task, oldest first, strongly consistent. After the deadline there will be no more."""
        return self._found(task)

    def of_submitter(self, task: Reference, submitter: str) -> tuple[Submission, ...]:
        """A submitter's submissions to a task, oldest first; empty for a party that handed in nothing."""
        ids = self._ids(task, submitter)
        return tuple(self.get(Reference(task.tenant, "submission", each, task.id)) for each in ids)

    def has_submitted(self, task: Reference, submitter: str) -> bool:
        """Whether a party handed in anything to a task."""
        return bool(self._ids(task, submitter))

    def of_task_from(self, task: Reference, *, behind: str | None, oldest: bool = False) -> Iterator[Submission]:
        """A task's submissions behind one of them, newest first or `oldest` first, read as they are consumed."""
        start: dict[str, Any] = {}
        if behind is not None:
            start["ExclusiveStartKey"] = {**key_of(task), "sk": f"{SUBMISSIONS}{behind}"}
        return self._found(task, ScanIndexForward=oldest, Limit=READ_AT_ONCE, **start)

    def in_work(self, task: Reference) -> bool:
        """Whether any submission of a task is not judged yet, by an index that may be a moment behind.

        This costs the same however many submissions there are. `of_task` is the certain way.
        """
        scope = _in_work(task)
        return bool(newest(self._table, "the submissions", scope=scope, limit=1, cursor=None)[0])

    def first_passed(self, task: Reference) -> Reference | None:
        """The earliest submission that passed a `fastest_first` task and is not settled yet.

        None if there is none, by an index that may be a moment behind.
        """
        found = query(
            self._table,
            "the submissions",
            IndexName="by_time",
            KeyConditionExpression="gsi1pk = :scope",
            ExpressionAttributeValues={":scope": _in_work(task, passed=True)},
            Limit=1,
        )
        first = next(found, None)
        return None if first is None else Reference(task.tenant, "submission", str(first["gsi1sk"]), task.id)

    def _ids(self, task: Reference, submitter: str) -> tuple[str, ...]:
        """The ids of a submitter's submissions, oldest first, strongly consistent."""
        place = read(self._table, submitter_key(task, submitter), "the submitter's place")
        return () if place is None else tuple(place["submissions"])

    def _found(self, task: Reference, **arguments: Any) -> Iterator[Submission]:
        items = partition(self._table, "the submissions", key_of(task)["pk"], begins=SUBMISSIONS, **arguments)
        return (self._records.of_item(task.tenant, item).record for item in items)

    def _keep_text(self, task: Reference, request: SubmissionRequest) -> str:
        """Store the text under its hash, so that a repeat stores it once. Return the key."""
        if request.text_key is None:
            text = handing_in.checked_text(request.text or "")
        else:
            uploaded = handing_in.check_uploaded(request.text_key, tenant=task.tenant)
            handing_in.check_size(self._artifacts.size(tenant=task.tenant, key=uploaded))
            text = handing_in.text_of_file(self._artifacts.get_bytes(tenant=task.tenant, key=uploaded))
        key = _text_key(task, text)
        self._artifacts.put_text(tenant=task.tenant, key=key, text=text, content_type=TEXT_TYPE)
        return key


def _asked(task: Reference, request: SubmissionRequest) -> dict[str, str | None]:
    """The fields of a record that distinguish its request from others: the submitter, and the file or the text."""
    if request.text is None:
        return {"submitter": request.submitter, "uploaded_key": request.text_key}
    return {
        "submitter": request.submitter,
        "uploaded_key": None,
        "text_key": _text_key(task, request.text),
    }


def _text_key(task: Reference, text: str) -> str:
    return f"{task.tenant}/submissions/{task.id}/{hashlib.sha256(text.encode()).hexdigest()}.md"


def _taking(record: Submission, earlier: Sequence[str]) -> Action:
    """The write that takes the submitter's place for a submission, if nobody took it since `earlier` was read."""
    item: Item = {
        **submitter_key(record.ref.task, record.submitter),
        "submissions": [*earlier, record.id],
        "revisions": record.revision,
    }
    if not earlier:
        return {"Put": {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}}
    return {
        "Put": {
            "Item": item,
            "ConditionExpression": "revisions = :before",
            "ExpressionAttributeValues": {":before": len(earlier)},
        }
    }


def _due(submission: Submission) -> datetime | None:
    if submission.judged and not submission.wins:
        return None
    return submission.attempts.not_before or submission.submitted_at


def _listed(submission: Submission) -> Item:
    if _due(submission) is None:
        return {}
    scope = _in_work(submission.ref.task, passed=submission.wins)
    return {"gsi1pk": scope, "gsi1sk": submission.id}


def _in_work(task: Reference, *, passed: bool = False) -> str:
    """The partition of the index by time with a task's submissions that are not judged, or passed and not settled."""
    return of_tenant(task.tenant, "TASK", task.id, "PASSED" if passed else "IN_WORK")


def _counted(submission: Submission) -> tuple[Increment, ...]:
    """What a submission adds to judges' counters: its calls to them, and how several of them agreed."""
    tallies = calls_of(submission.spends, CARDS_OF_CALLS, also=agreement_of(submission))
    return tuple(counted_tallies(submission.tenant, submission.id, tallies))


SUBMISSION = Job[Submission, Never](
    kind="submission",
    plural="submissions",
    model=Submission,
    asked=lambda one: f"{one.submitter}\n{one.uploaded_key or one.text_key}",
    due=_due,
    more_attributes=_listed,
    counter_writes=writes_of(_counted),
)
"""How submissions are stored."""


def counted_submissions(table: Table, artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What all submissions of a tenant add to the counters; each submission is read again."""
    submissions = Submissions(SUBMISSION, table, artifacts)
    for item in all_of(table, "the tasks", scope=of_tenant(tenant, "TASKS")):
        for submission in submissions.of_task(reference_of("task", item)):
            yield from _counted(submission)
