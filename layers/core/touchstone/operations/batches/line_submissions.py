"""Submissions that lines of a batch hand in: taken like any other, and judged beside the other lines."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.clock import Deadline
from touchstone.operations.batches.chunks import request_of
from touchstone.operations.batches.job_lines import SubmissionLine, tried_or
from touchstone.operations.tasks.context import TaskContext
from touchstone.operations.tasks.intake import TaskIntake
from touchstone.operations.tasks.judging import judge_once
from touchstone.operations.tasks.reading import PartyReader
from touchstone.oracle.feedback import SubmissionView
from touchstone.references import Reference

LEAST_SECONDS = 120.0
"""The least time left in which a submission is judged: a gate check and a scoring may take that long, and a try that
the end of its chunk cuts short is paid for and counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSubmissions:
    """Hands in and judges the submissions of one tenant's batches. `reader` gives the reader of a party."""

    context: TaskContext
    intake: TaskIntake
    reader: Callable[[str], PartyReader]

    def hand_in(self, line: SubmissionLine, submission_id: str) -> Reference:
        """Hand in the submission and return its reference; a repeat of the line finds it.

        Raises `NotFoundError`, `InputError`, `TooLargeError`, and `ConflictError` if the task takes no work, or none
        from this party.
        """
        return self.context.submissions.add(
            self.context.ref("task", line.task_id), submission_id=submission_id, request=request_of(line)
        ).ref

    async def judge(self, ref: Reference, *, deadline: Deadline, last: bool, at_once: bool) -> SubmissionView:  # noqa: ARG002 - its machine goes on
        """Judge a submission as far as possible before the deadline. Return what its author may see then.

        Nothing is begun with less than `LEAST_SECONDS` left. The submission's own state machine does the rest, however
        long that waits for a judge.
        """
        submission = self.context.submissions.get(ref)
        if not submission.judged and deadline.remaining >= LEAST_SECONDS:
            submission = await tried_or(
                judge_once(self.context, ref, deadline=deadline),
                lambda: self.context.submissions.get(ref),
                f"Submission {ref.id} was not judged with its line",
            )
        if not submission.judged:
            self.intake.start(ref)
        return self.reader(submission.submitter).submission(ref.task_id, ref.id)
