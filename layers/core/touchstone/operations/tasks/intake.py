"""Requests: create a task, move a deadline, hand in work, challenge a ranking. Each starts its machine.

A repeat meets the same record: a `key` is the sender's own, and nothing is stored twice.
"""

from dataclasses import dataclass
from datetime import datetime

from touchstone.errors import ConflictError, NotFoundError
from touchstone.operations.jobs.intake import Intake
from touchstone.operations.tasks.reading import STRANGER, is_party
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.handing_in import UPLOADS, SubmissionRequest
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import CHALLENGES_PER_PARTY, Task, TaskRequest, challenged, with_deadline
from touchstone.records import Artifacts, Challenges, Submissions, Tasks, derived_ulid, new_ulid
from touchstone.references import Reference

TEXT_TYPE = "text/markdown"
"""The content type under which a file to be handed in is uploaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIntake(Intake):
    """Accepts one tenant's requests for tasks, submissions and challenges."""

    tasks: Tasks
    submissions: Submissions
    challenges: Challenges
    artifacts: Artifacts

    def create(self, request: TaskRequest, *, key: str | None) -> Task:
        """Create a task; its dimensions are made next. Raises `InputError` if the deadline is past or too far away."""
        task = self.tasks.add(Reference(self.tenant, "task", self.new_id(key, called="task")), request)
        if task.state == "drafting":
            self.workflows().start("task", task.ref)
        return task

    def move_deadline(self, task_id: str, deadline: datetime) -> Task:
        """Move a task's deadline.

        Raises `ConflictError` if the old deadline has passed, `InputError` if the new one is past or too far away.
        """
        which = Reference(self.tenant, "task", task_id)
        task = self.tasks.change(which, lambda one: with_deadline(one, deadline, now=self.clock()))
        if task.state == "open":  # a task that is still drafted reads its deadline once the dimensions are made
            self.workflows().start("task", task.ref, run=f"moved-{task.deadline_moves}")
        return task

    def submit(self, task_id: str, request: SubmissionRequest, *, key: str | None) -> Submission:
        """Hand in work; it is checked and scored next.

        Raises `InputError`, `TooLargeError`, and `ConflictError` if the task takes no work, or none from this party.
        """
        submission = self.submissions.add(
            Reference(self.tenant, "task", task_id),
            submission_id=self.new_id(key, called=f"submission {task_id}"),
            request=request,
        )
        if not submission.judged:
            self.start(submission.ref)
        return submission

    def start(self, ref: Reference) -> None:
        """Start the machine that judges a submission."""
        self.workflows().start("submission", ref)

    def challenge(self, task_id: str, request: ChallengeRequest) -> Challenge:
        """Challenge a ranking.

        Raises `NotFoundError` if the challenger is no party, `ConflictError` if the task takes no challenge, or not
        this one. A party may challenge the place of each submission once, and again if nobody could judge the
        challenge. It may always challenge its own places, and `CHALLENGES_PER_PARTY` places of others. The challenge's
        id follows from these rules, so that a repeat meets the same challenge. A submission that failed its gate has no
        place to challenge.
        """
        task = self.tasks.get(Reference(self.tenant, "task", task_id))
        if not is_party(task, request.challenger, self.submissions):
            raise NotFoundError(STRANGER)
        earlier = self.challenges.of_task(task.ref)
        named = (request.challenger, request.submission_id)
        in_vain = sum((one.challenger, one.submission_id, one.state) == (*named, "unresolved") for one in earlier)
        challenge_id = derived_ulid(task.created_at, self.tenant, task_id, *named, str(in_vain))
        made = next((one for one in earlier if one.id == challenge_id), None)
        if made is not None and made.reason != request.reason:
            raise ConflictError("This party has challenged the place of this submission already.")
        challenge = self.challenges.add(
            task.ref,
            challenge_id=challenge_id,
            request=request,
            is_own=lambda current: self._challenges_own(current, request, challenge_id),
        )
        if challenge.state == "waiting":
            self.workflows().start("challenge", challenge.ref)
        return challenge

    def upload_link(self) -> tuple[str, str]:
        """The key under which to upload a file that is to be handed in, and a link for the upload that expires soon."""
        key = f"{self.tenant}/{UPLOADS}/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type=TEXT_TYPE)

    def _challenges_own(self, task: Task, request: ChallengeRequest, challenge_id: str) -> bool:
        """Whether a new challenge is to the challenger's own place. Raises `ConflictError` if it must not be taken.

        The task's state is checked before the submission's, so that nobody learns the result of a gate before there is
        a ranking.
        """
        challenged(task, challenge_id, own=True, now=self.clock())
        submission = self.submissions.get(Reference(self.tenant, "submission", request.submission_id, task.id))
        if submission.gate is None or not submission.gate.passed:
            raise ConflictError("Only a submission that passed its gate has a place that can be challenged.")
        handed_in = self.submissions.of_submitter(task.ref, request.challenger)
        own = {one.id for one in handed_in}
        if submission.id in own:
            return True
        earlier = self.challenges.of_task(task.ref)
        # The same request, sent twice at one moment, may have been stored meanwhile: it is no other challenge.
        others = sum(
            one.challenger == request.challenger and one.submission_id not in own and one.id != challenge_id
            for one in earlier
        )
        if others >= CHALLENGES_PER_PARTY:
            raise ConflictError(
                f"A party may challenge the places of {CHALLENGES_PER_PARTY} others; this one has done so."
            )
        return False
