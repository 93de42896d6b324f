"""What the doors ask for: tasks created, deadlines moved, work handed in, rankings challenged; each starts its machine.

Repeats meet the same record: a `key` is the sender's own, and what is stored already is not stored again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.errors import ConflictError, NotFoundError
from touchstone.operations.jobs.intake import Intake
from touchstone.operations.tasks.reading import STRANGER, is_party
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.handing_in import UPLOADS, SubmissionRequest
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import CHALLENGES_A_PARTY, Task, TaskRequest, challenged
from touchstone.records import Artifacts, Challenges, Submissions, Tasks, derived_ulid, new_ulid
from touchstone.references import Reference

TEXT_TYPE = "text/markdown"
"""As which a file to be handed in is uploaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIntake(Intake):
    """Accepts what one tenant asks for."""

    tasks: Tasks
    submissions: Submissions
    challenges: Challenges
    artifacts: Artifacts

    def create(self, request: TaskRequest, *, key: str | None) -> Task:
        """Create a task; its dimensions are made next. Raises `InputError` for a deadline that is past or too far."""
        task = self.tasks.add(tenant=self.tenant, task_id=self.new_id(key, called="task"), request=request)
        if task.state == "drafting":
            self.workflows().start("task", task.ref)
        return task

    def move_deadline(self, task_id: str, deadline: datetime) -> Task:
        """Move a task's deadline. Raises `ConflictError` once it has passed, `InputError` for one past or too far."""
        task = self.tasks.set_deadline(tenant=self.tenant, task_id=task_id, deadline=deadline)
        if task.state == "open":  # before, whoever makes the dimensions reads the deadline after them
            self.workflows().start("task", task.ref, run=f"moved-{task.deadline_moves}")
        return task

    def submit(self, task_id: str, request: SubmissionRequest, *, key: str | None) -> Submission:
        """Hand in work; it is checked and scored next.

        Raises `InputError`, `TooLargeError`, and `ConflictError` where the task takes nothing, or not from this party.
        """
        submission = self.submissions.add(
            tenant=self.tenant,
            task_id=task_id,
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
        """Challenge a ranking. Raises `NotFoundError` for whoever is no party, `ConflictError` where it takes none.

        A party may challenge the place of each submission once, and again where nobody could judge: its own always, and
        `CHALLENGES_A_PARTY` times those of others. The id follows from that, so that a repeat meets the same challenge.
        One that failed its gate has no place.
        """
        task = self.tasks.get(Reference(self.tenant, "task", task_id))
        if not is_party(task, request.challenger, self.submissions):
            raise NotFoundError(STRANGER)
        earlier = self.challenges.of_task(tenant=self.tenant, task_id=task_id)
        named = (request.challenger, request.submission_id)
        in_vain = sum((one.challenger, one.submission_id, one.state) == (*named, "unresolved") for one in earlier)
        challenge_id = derived_ulid(task.created_at, self.tenant, task_id, *named, str(in_vain))
        made = next((one for one in earlier if one.id == challenge_id), None)
        if made is not None and made.reason != request.reason:
            raise ConflictError("This party has challenged the place of this submission already.")
        own = made is None and self._check_challengeable(task, request, challenge_id, earlier)
        challenge = self.challenges.add(
            tenant=self.tenant, task_id=task_id, challenge_id=challenge_id, request=request, own=own
        )
        if challenge.state == "waiting":
            self.workflows().start("challenge", Reference(self.tenant, "challenge", challenge.id, task_id))
        return challenge

    def upload_link(self) -> tuple[str, str]:
        """Where to put a file that is to be handed in: its key, and a link for it that expires soon."""
        key = f"{self.tenant}/{UPLOADS}/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type=TEXT_TYPE)

    def _check_challengeable(
        self, task: Task, request: ChallengeRequest, challenge_id: str, earlier: Sequence[Challenge]
    ) -> bool:
        """Whether a new challenge is one to the challenger's own place. Raises `ConflictError` for one not to be taken.

        What has become of a submission is asked after the task's state: before there is a ranking nobody learns it.
        """
        challenged(task, challenge_id, own=True, now=self.clock())
        submission = self.submissions.get(Reference(self.tenant, "submission", request.submission_id, task.id))
        if submission.gate is None or not submission.gate.passed:
            raise ConflictError("Only a submission that passed its gate has a place that can be challenged.")
        own = {one.id for one in self._of(task, request.challenger)}
        if submission.id in own:
            return True
        others = sum(one.challenger == request.challenger and one.submission_id not in own for one in earlier)
        if others >= CHALLENGES_A_PARTY:
            raise ConflictError(
                f"A party may challenge the places of {CHALLENGES_A_PARTY} others; this one has done so."
            )
        return False

    def _of(self, task: Task, party: str) -> tuple[Submission, ...]:
        return self.submissions.of_submitter(tenant=self.tenant, task_id=task.id, submitter=party)
