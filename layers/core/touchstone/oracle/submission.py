"""A submission from its arrival to its scores: the stored record, and the steps that change it.

    received ─┬─ gate not met ─> gate_failed                  (its submitter may revise and submit again)
              ├─ gate met ─> gate_passed ─┬─ score ─> scored ─ compare ─> scored, of a contest's finalists
              │                           └─ give up ─> unscored
              └─ give up, split ─> unscored                   (gate undecided: its submitter may submit again)
    received, gate_passed ─ the task was decided meanwhile ─> overtaken

Where a submission ends in a contest (`eliminated`, `ranked`) is not stored here. It follows from the submission's bands
and from the task's ranking, see `standing`. The ranking is one write of the task, so no submission can contradict it.

Every step is a pure function. A step that finds its work done returns the very same record, so that a message that is
delivered twice changes nothing. Steps are taken while the task is open or being scored. After its decision only
`rescored` and `recompared` are, as long as the ranking may be challenged. `touchstone.records.Judgements` enforces
this. Nothing changes in a final task.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from touchstone.attempts import Attempts, TryEnd, When
from touchstone.errors import ConflictError
from touchstone.judges.spends import Spend
from touchstone.oracle.aggregation import PASSES_FROM
from touchstone.oracle.bands import Band, band_of
from touchstone.oracle.compared import MAX_ORDER_DIFFERENCE
from touchstone.oracle.model import DimensionVote, GateCheck, IndividualScoring, JudgeOpinion, Score, Unjudged
from touchstone.oracle.passages import Passage
from touchstone.oracle.ranking import Contender, place_of
from touchstone.oracle.task import Task
from touchstone.references import Reference
from touchstone.strict import Strict

MAX_REVISIONS = 10
"""Most submissions of one submitter to one task, because each gate check costs the tenant a judge call."""
BATCH_MARGIN = timedelta(hours=2)
"""How long before the deadline a scoring stops waiting for a batch. This leaves time to wait for the quota of a judge
that is asked at once, and for another try."""

type SubmissionState = Literal["received", "gate_failed", "gate_passed", "scored", "unscored", "overtaken"]
"""`unscored`: nobody could check its gate or score it; `failure` gives the reason. It is never a score of zero.
`overtaken`: the task was decided before this submission was judged."""
type Standing = SubmissionState | Literal["eliminated", "ranked"]
"""A `SubmissionState`; after a contest is ranked, `eliminated` or `ranked` for the submissions that were scored."""


class FinalistComparison(Strict):
    """What was said of a finalist on one dimension, side by side with the others in two orders.

    `label` is the name under which the judge knew it. `scores` are those of the two orders, and their mean counts. If
    several judges were asked, `votes` holds the mean of each judge, and the median of these counts; `scores` are those
    of the judge in the middle. `unstable`: on this dimension the order in which entries were shown mattered, for this
    entry or another.
    """

    dimension: str
    label: str
    scores: tuple[Score, Score]
    evidence: str
    feedback: str
    unstable: bool = False
    votes: tuple[DimensionVote, ...] = ()

    @property
    def score(self) -> float:
        """The mean of both orders (0-100). If several judges were asked, the median of their means."""
        given = [vote.score for vote in self.votes if vote.score is not None]
        if not given:
            return sum(self.scores) / len(self.scores)
        from touchstone.statistics.votes import median  # on first use: it loads the exact arithmetic of fractions

        return median(given).score or 0.0

    @property
    def band(self) -> Band:
        """The band of `score`."""
        return band_of(self.score)

    @property
    def disagrees(self) -> bool:
        """Whether the order of the entries mattered.

        It did if the two scores lie more than `MAX_ORDER_DIFFERENCE` points apart, or if the dimension is `unstable`,
        as when entries changed places.
        """
        return self.unstable or abs(self.scores[0] - self.scores[1]) > MAX_ORDER_DIFFERENCE


class ScoringBatch(Strict):
    """The last batch at a provider that was made for a scoring, by our own id.

    If it brings nothing by `until` (UTC), the judge is asked at once.
    """

    provider_batch_id: str
    until: datetime


class Submission(Strict):
    """A submission as it is stored. Times are UTC.

    `text_key` is where its text is stored; the text is kept as handed in and never changes. `uploaded_key` is the file
    that the text came from; None if the text came with the request. `revision` counts the submitter's submissions to
    this task from 1. `individual` is computed from `readings`. `passages` are places in the text that speak to whoever
    grades it. `attempts` are the tries at its present state; `failure` says why the last try brought no result.
    `comparisons` has one entry for each dimension of a finalist, and is empty for all other submissions. `uncompared`
    are the dimensions on which nobody could compare it with the others, so that it has no place. `wins`: it passed a
    `fastest_first` task, and whether it was the first is not settled yet. `spends` are the judge calls that were paid
    for. `when` is how the judge that scores it is asked from now on. `batch` is the last batch that was made for that;
    None if there was none.
    """

    tenant: str
    task_id: str
    id: str
    submitter: str
    submitted_at: datetime
    revision: Annotated[int, Field(ge=1, le=MAX_REVISIONS)]
    text_key: str
    uploaded_key: str | None = None
    state: SubmissionState = "received"
    gate: GateCheck | None = None
    individual: IndividualScoring | None = None
    readings: tuple[JudgeOpinion, ...] = ()
    passages: tuple[Passage, ...] = ()
    attempts: Attempts = Attempts()
    failure: Unjudged | None = None
    comparisons: tuple[FinalistComparison, ...] = ()
    uncompared: tuple[str, ...] = ()
    wins: bool = False
    spends: tuple[Spend, ...] = ()
    when: When = "now"
    batch: ScoringBatch | None = None

    @property
    def ref(self) -> Reference:
        """The reference to the submission."""
        return Reference(self.tenant, "submission", self.id, self.task_id)

    @property
    def passes(self) -> bool:
        """Whether the submission closes a `fastest_first` task."""
        return self.individual is not None and self.individual.penalized_total >= PASSES_FROM

    @property
    def judged(self) -> bool:
        """Whether the judging of the submission by itself is over, with or without scores."""
        return self.state not in {"received", "gate_passed"}

    @property
    def in_batch(self) -> ScoringBatch | None:
        """The batch that may bring the submission's scores; None if a judge is asked at once."""
        return self.batch if self.state == "gate_passed" and self.when == "cheap" else None

    def batched_until(self, task: Task) -> datetime | None:
        """Until when a batch may bring the scores (UTC); None if no batch is awaited.

        After that a judge is asked at once.
        """
        return None if self.in_batch is None else min(self.in_batch.until, task.deadline - BATCH_MARGIN)

    @property
    def contender(self) -> Contender | None:
        """The submission in the form that a contest orders; None if it has no score."""
        if self.individual is None:
            return None
        return Contender(
            submission_id=self.id,
            submitted_at=self.submitted_at,
            penalized_total=self.individual.penalized_total,
            bands={one.dimension: one.band for one in self.individual.dimension_scores},
        )


type SubmissionStep = Callable[[Submission], Submission]
"""Returns a submission as it is after a step."""


def begun(submission: Submission, *, at: SubmissionState, now: datetime) -> Submission:
    """The submission with one more try at the work of state `at`.

    The very same record if it is not in that state, or if no try may begin now. A finalist is read for the comparison
    with others while it is `scored`. It may also be `unscored`, as long as the scores of a challenge do not count yet.
    """
    if submission.state != at:
        return submission
    attempts = submission.attempts.begun(now=now)
    return submission if attempts is None else submission.model_copy(update={"attempts": attempts})


def put_back(submission: Submission, why: Unjudged, *, until: datetime, ended: TryEnd) -> Submission:
    """The submission after a try that brought no result. Its stage may be tried again, but not before `until`.

    A submission that was judged or given up meanwhile stays unchanged.
    """
    if submission.judged and not submission.attempts.underway:
        return submission
    attempts = submission.attempts.put_back(until=until, ended=ended)
    return submission.model_copy(update={"attempts": attempts, "failure": why})


def gated(submission: Submission, check: GateCheck) -> Submission:
    """The submission after its gate check. The first check counts."""
    if submission.state != "received":
        return submission
    state: SubmissionState = "gate_passed" if check.passed else "unscored" if check.undecided else "gate_failed"
    failure = Unjudged.of_undecided(check)
    return submission.model_copy(update={"state": state, "gate": check, "attempts": Attempts(), "failure": failure})


def scored(
    submission: Submission,
    scoring: IndividualScoring,
    *,
    race: bool = False,
    readings: Sequence[JudgeOpinion] = (),
    passages: Sequence[Passage] = (),
) -> Submission:
    """The submission with its scores. The first scores count; raises `ConflictError` if it has not passed its gate.

    `race`: the first submission that passes wins the task. If this submission passes, `wins` is set, and whether it is
    the first is settled next.
    """
    if submission.state in {"received", "gate_failed"}:
        raise ConflictError("Only a submission that passed its gate is scored.")
    if submission.state != "gate_passed":
        return submission
    wins = race and scoring.penalized_total >= PASSES_FROM
    return submission.model_copy(update={**_scores(scoring, readings, passages), "wins": wins})


def with_batch(submission: Submission, batch: ScoringBatch) -> Submission:
    """The submission with the batch that is to hold the questions of its scoring."""
    return submission if submission.judged else submission.model_copy(update={"batch": batch})


def awaiting(submission: Submission, *, until: datetime) -> Submission:
    """The submission that waits for its batch and is looked at again at `until`. The wait does not count as a try."""
    if submission.judged:
        return submission
    return submission.model_copy(update={"attempts": Attempts(not_before=until)})


def hastened(submission: Submission) -> Submission:
    """The submission whose judge is asked at once from now on.

    The very same if that is so already, or if it was judged.
    """
    if submission.judged or submission.when == "now":
        return submission
    return submission.model_copy(update={"when": "now"})


def race_settled(submission: Submission) -> Submission:
    """The submission that passed, after its task was decided: `wins` is cleared, whether it or another one won."""
    return submission.model_copy(update={"wins": False}) if submission.wins else submission


def read_anew(submission: Submission) -> Submission:
    """The finalist with its tries reset, because a challenge has it read and compared once more."""
    if submission.state not in {"scored", "unscored"} or submission.attempts == Attempts():
        return submission
    return submission.model_copy(update={"attempts": Attempts()})


def paid(submission: Submission, spends: Sequence[Spend]) -> Submission:
    """The submission with these paid judge calls added, each only once."""
    new = tuple(spend for spend in spends if spend not in submission.spends)
    return submission.model_copy(update={"spends": (*submission.spends, *new)}) if new else submission


def given_up(submission: Submission, why: Unjudged) -> Submission:
    """The submission that nobody could judge, with the reason. A submission that is already judged stays unchanged."""
    if submission.judged:
        return submission
    return submission.model_copy(update={"state": "unscored", "attempts": Attempts(), "failure": why})


def compared(
    submission: Submission,
    comparisons: Sequence[FinalistComparison],
    *,
    uncompared: Sequence[str] = (),
    why: Unjudged | None = None,
) -> Submission:
    """The finalist with what the judge said of it side by side with the others. The first comparisons count.

    `uncompared` holds the dimensions on which nobody could compare it, and `why` gives the reason. Raises
    `ConflictError` for a submission that was not scored by itself.
    """
    if submission.state != "scored":
        raise ConflictError("Only a submission that was scored by itself is compared with others.")
    if submission.comparisons or submission.uncompared:
        return submission
    return submission.model_copy(update=_comparisons(comparisons, uncompared, why))


def recompared(
    submission: Submission,
    comparisons: Sequence[FinalistComparison],
    *,
    uncompared: Sequence[str] = (),
    why: Unjudged | None = None,
) -> Submission:
    """The submission with the comparisons of a challenge; without any if it is no longer a finalist."""
    if submission.state != "scored":
        raise ConflictError("Only a submission that was scored is compared again.")
    after = submission.model_copy(update=_comparisons(comparisons, uncompared, why))
    return submission if after == submission else after


def rescored(
    submission: Submission,
    scoring: IndividualScoring,
    *,
    readings: Sequence[JudgeOpinion] = (),
    passages: Sequence[Passage] = (),
) -> Submission:
    """The submission with the scores of a challenge in place of its earlier ones. A repeat changes nothing.

    A submission that was `unscored` becomes `scored`. Raises `ConflictError` for a submission that did not pass its
    gate.
    """
    if submission.gate is None or not submission.gate.passed or submission.state not in {"scored", "unscored"}:
        raise ConflictError("Only a submission that passed its gate is scored again.")
    after = submission.model_copy(update=_scores(scoring, readings, passages))
    return submission if after == submission else after


def overtaken(submission: Submission) -> Submission:
    """The submission whose task was decided before it was judged. A submission that was judged stays unchanged."""
    if submission.judged:
        return submission
    return submission.model_copy(update={"state": "overtaken", "attempts": Attempts()})


def standing(submission: Submission, task: Task) -> Standing:
    """Where the submission stands: its state or, after its contest is ranked, whether it is `ranked` or `eliminated`.

    A finalist that nobody could compare with the others is `unscored` and has no rank.
    """
    contender = submission.contender
    if contender is None or not (task.contest and task.closed_at):
        return submission.state
    if contender.eliminated_by:
        return "eliminated"
    place = place_of(submission.id, task.places)
    if place is None:
        return submission.state
    return "unscored" if place.rank is None else "ranked"


def _scores(
    scoring: IndividualScoring, readings: Sequence[JudgeOpinion], passages: Sequence[Passage]
) -> dict[str, object]:
    found = {"individual": scoring, "readings": tuple(readings), "passages": tuple(passages)}
    return {**found, "state": "scored", "attempts": Attempts(), "failure": None}


def _comparisons(
    comparisons: Sequence[FinalistComparison], uncompared: Sequence[str], why: Unjudged | None
) -> dict[str, object]:
    return {"comparisons": tuple(comparisons), "uncompared": tuple(uncompared), "failure": why}
