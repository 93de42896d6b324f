"""A submission from its arrival to its scores: what is stored of it, and the steps by which it changes.

    received ─┬─ gate not met ─> gate_failed                  (its submitter may revise and submit again)
              ├─ gate met ─> gate_passed ─┬─ score ─> scored ─ compare ─> scored, of a contest's finalists
              │                           └─ give up ─> unscored
              └─ give up, split ─> unscored                   (gate undecided: its submitter may submit again)
    received, gate_passed ─ the task was decided meanwhile ─> overtaken

Where a submission ends in a contest (`eliminated`, `ranked`) follows from its bands and from the task's ranking, see
`standing`: the ranking is one write of the task, and no submission can say otherwise.

Every step is a pure function. One that finds its work done returns the very same record, so that whatever is delivered
twice changes nothing. They are taken while the task is open or being scored, and from its decision on only `rescored`
and `recompared`, while its ranking may be challenged; `touchstone.records.Judgements` holds that. Nothing changes in a
final task.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from touchstone.attempts import Attempts, TryEnd, When
from touchstone.errors import ConflictError
from touchstone.judges.spends import Spend
from touchstone.oracle.bands import Band, band_of
from touchstone.oracle.compared import TOLERATED
from touchstone.oracle.model import DimensionVote, GateCheck, IndividualScoring, Score
from touchstone.oracle.passages import Passage
from touchstone.oracle.ranking import Contender
from touchstone.oracle.readings import JudgeOpinion
from touchstone.oracle.task import Task
from touchstone.oracle.unjudged import Unjudged
from touchstone.references import Reference
from touchstone.strict import Strict

MAX_REVISIONS = 10
"""Submissions of one submitter to one task: each gate check costs the tenant a judge call."""
PASSES_FROM = 60.0
"""The penalized total from which a submission closes a `fastest_first` task."""
ASKED_BEFORE = timedelta(hours=2)
"""So long before the deadline no scoring waits for a batch any more: time for the quota of a judge that is asked at
once, and for another try."""

type SubmissionState = Literal["received", "gate_failed", "gate_passed", "scored", "unscored", "overtaken"]
"""`unscored`: nobody could check its gate or score it, for the reason in `failure`; never a score of zero.
`overtaken`: the task was decided before it was judged."""
type Standing = SubmissionState | Literal["eliminated", "ranked"]
"""`SubmissionState`, and after a contest's ranking what became of those that were scored."""


class FinalistComparison(Strict):
    """What was said of a finalist on one dimension, side by side with the others in two orders.

    `label` is the name under which the judge knew it. `scores` are those of the two orders; their mean counts. Where
    several judges were asked, `votes` has the mean of each, whose median counts, and `scores` are of the one in the
    middle. `unstable`: on this dimension the order in which entries were shown mattered, for this one or another.
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
        """The mean of both orders (0-100), of several judges the median of theirs."""
        given = [vote.score for vote in self.votes if vote.score is not None]
        if not given:
            return sum(self.scores) / len(self.scores)
        from touchstone.statistics.votes import median  # on first use: it loads the exact arithmetic of fractions

        return median(given).score or 0.0

    @property
    def band(self) -> Band:
        """The band of that score."""
        return band_of(self.score)

    @property
    def disagrees(self) -> bool:
        """Whether the order mattered: the two lie more than `TOLERATED` points apart, or entries changed places."""
        return self.unstable or abs(self.scores[0] - self.scores[1]) > TOLERATED


class ScoringBatch(Strict):
    """The batch at a provider that was made for a scoring last, by our own id.

    Where it brought nothing by `until` (UTC), the judge is asked at once.
    """

    provider_batch_id: str
    until: datetime


class Submission(Strict):
    """A submission as it is stored. Times are UTC.

    `text_key` is where its text lies, as it was handed in and never changed; `uploaded_key` is the file that it came
    from, None for a text that came with the request. `revision` counts the submitter's submissions to this task from
    1. `individual` comes from `readings`; `passages` are places in the text that speak to whoever grades it.
    `attempts` are those at its present state, `failure` is what the last of them said that brought nothing.
    `comparisons` are one a dimension for a finalist, empty for all others; `uncompared` are the dimensions on which
    nobody could compare it with the others, so that it has no place. `wins`: it passed a `fastest_first` task, and
    whether it was the first is not settled yet. `spends` are the judge calls that were paid for. `when` says how the
    judge that scores it is asked from now on, and `batch` is the last one that was made for that, None: none was.
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
        """The reference to it."""
        return Reference(self.tenant, "submission", self.id, self.task_id)

    @property
    def passes(self) -> bool:
        """Whether it closes a `fastest_first` task."""
        return self.individual is not None and self.individual.penalized_total >= PASSES_FROM

    @property
    def judged(self) -> bool:
        """Whether nothing is left to judge of it by itself."""
        return self.state not in {"received", "gate_passed"}

    @property
    def in_batch(self) -> ScoringBatch | None:
        """The batch that may bring its scores; None where a judge is asked at once."""
        return self.batch if self.state == "gate_passed" and self.when == "cheap" else None

    def batched_until(self, task: Task) -> datetime | None:
        """Until when a batch may bring its scores, before a judge is asked at once (UTC); None where none is to."""
        return None if self.in_batch is None else min(self.in_batch.until, task.deadline - ASKED_BEFORE)

    @property
    def contender(self) -> Contender | None:
        """The submission as a contest orders it; None for one without a score."""
        if self.individual is None:
            return None
        return Contender(
            submission_id=self.id,
            submitted_at=self.submitted_at,
            penalized_total=self.individual.penalized_total,
            bands={one.dimension: one.band for one in self.individual.dimension_scores},
        )


def begun(submission: Submission, *, at: SubmissionState, now: datetime) -> Submission:
    """The submission with one more try at the work of a state; the very same where that is not to be tried now.

    A finalist is read to be compared with others while it is `scored`, or `unscored` until a challenge's scores count.
    """
    if submission.state != at:
        return submission
    attempts = submission.attempts.begun(now=now)
    return submission if attempts is None else submission.model_copy(update={"attempts": attempts})


def put_back(
    submission: Submission, why: Unjudged, *, until: datetime, ended: TryEnd, spends: Sequence[Spend] = ()
) -> Submission:
    """The submission after a try that brought nothing: its stage may be tried again, not before `until`.

    One that was judged or given up meanwhile stays as it is.
    """
    if submission.judged and not submission.attempts.underway:
        return submission
    attempts = submission.attempts.put_back(until=until, ended=ended)
    return _with(submission, spends, attempts=attempts, failure=why)


def gated(submission: Submission, check: GateCheck, *, spends: Sequence[Spend] = ()) -> Submission:
    """The submission after its gate check; the first one counts."""
    if submission.state != "received":
        return submission
    state: SubmissionState = "gate_passed" if check.passed else "unscored" if check.undecided else "gate_failed"
    return _with(submission, spends, state=state, gate=check, attempts=Attempts(), failure=Unjudged.of_undecided(check))


def scored(
    submission: Submission,
    scoring: IndividualScoring,
    *,
    race: bool = False,
    readings: Sequence[JudgeOpinion] = (),
    passages: Sequence[Passage] = (),
    spends: Sequence[Spend] = (),
) -> Submission:
    """The submission with its scores; the first ones count. Raises `ConflictError` before it passed its gate.

    `race`: its task is won by the first that passes; if it does, that is to be settled next (`wins`).
    """
    if submission.state in {"received", "gate_failed"}:
        raise ConflictError("Only a submission that passed its gate is scored.")
    if submission.state != "gate_passed":
        return submission
    return _with(
        submission,
        spends,
        state="scored",
        individual=scoring,
        readings=tuple(readings),
        passages=tuple(passages),
        attempts=Attempts(),
        failure=None,
        wins=race and scoring.penalized_total >= PASSES_FROM,
    )


def put_in(submission: Submission, batch: ScoringBatch) -> Submission:
    """The submission with the batch that the questions of its scoring are to be in."""
    return submission if submission.judged else submission.model_copy(update={"batch": batch})


def awaiting(submission: Submission, *, until: datetime) -> Submission:
    """The submission that waits for its batch, to be looked at again at `until`; no try is counted."""
    if submission.judged:
        return submission
    return submission.model_copy(update={"attempts": Attempts(not_before=until)})


def hastened(submission: Submission) -> Submission:
    """The submission whose judge is asked at once from now on; the very same where it is already, or is judged."""
    if submission.judged or submission.when == "now":
        return submission
    return submission.model_copy(update={"when": "now"})


def race_settled(submission: Submission) -> Submission:
    """The submission that passed, once its task is decided: by it or by another."""
    return submission.model_copy(update={"wins": False}) if submission.wins else submission


def read_anew(submission: Submission) -> Submission:
    """The finalist that may be read again, with tries of its own: a challenge compares it once more."""
    if submission.state not in {"scored", "unscored"} or submission.attempts == Attempts():
        return submission
    return submission.model_copy(update={"attempts": Attempts()})


def paid(submission: Submission, spends: Sequence[Spend]) -> Submission:
    """The submission with judge calls that were paid for, each once."""
    new = tuple(spend for spend in spends if spend not in submission.spends)
    return _with(submission, new) if new else submission


def given_up(submission: Submission, why: Unjudged, *, spends: Sequence[Spend] = ()) -> Submission:
    """The submission that nobody could judge, and why; what was judged already stays so."""
    if submission.judged:
        return submission
    return _with(submission, spends, state="unscored", attempts=Attempts(), failure=why)


def compared(
    submission: Submission,
    comparisons: Sequence[FinalistComparison],
    *,
    uncompared: Sequence[str] = (),
    why: Unjudged | None = None,
    spends: Sequence[Spend] = (),
) -> Submission:
    """The finalist with what was said of it side by side with the others; the first comparisons count.

    `uncompared` are the dimensions on which nobody could compare it, and `why` says why. Raises `ConflictError` for a
    submission that was not scored by itself.
    """
    if submission.state != "scored":
        raise ConflictError("Only a submission that was scored by itself is compared with others.")
    if submission.comparisons or submission.uncompared:
        return submission
    return _with(submission, spends, comparisons=tuple(comparisons), uncompared=tuple(uncompared), failure=why)


def recompared(
    submission: Submission,
    comparisons: Sequence[FinalistComparison],
    *,
    uncompared: Sequence[str] = (),
    why: Unjudged | None = None,
) -> Submission:
    """The submission with what a challenge's comparisons said of it, none where it is no finalist any more."""
    if submission.state != "scored":
        raise ConflictError("Only a submission that was scored is compared again.")
    after = submission.model_copy(
        update={"comparisons": tuple(comparisons), "uncompared": tuple(uncompared), "failure": why}
    )
    return submission if after == submission else after


def rescored(
    submission: Submission,
    scoring: IndividualScoring,
    *,
    readings: Sequence[JudgeOpinion] = (),
    passages: Sequence[Passage] = (),
    spends: Sequence[Spend] = (),
) -> Submission:
    """The submission with the scores that a challenge brought, in place of those before; a repeat changes nothing.

    One that nobody could score has scores then. Raises `ConflictError` for a submission that did not pass its gate.
    """
    if submission.gate is None or not submission.gate.passed or submission.state not in {"scored", "unscored"}:
        raise ConflictError("Only a submission that passed its gate is scored again.")
    after = submission.model_copy(
        update={
            "state": "scored",
            "individual": scoring,
            "readings": tuple(readings),
            "passages": tuple(passages),
            "attempts": Attempts(),
            "failure": None,
        }
    )
    return submission if after == submission else _with(after, spends)


def overtaken(submission: Submission, *, spends: Sequence[Spend] = ()) -> Submission:
    """The submission of a task that was decided before it was judged; one that was judged stays as it is."""
    return submission if submission.judged else _with(submission, spends, state="overtaken", attempts=Attempts())


def standing(submission: Submission, task: Task) -> Standing:
    """Where the submission stands: its state, and once its contest is ranked whether it is in the ranking.

    A finalist that nobody could compare with the others is `unscored`, and has no rank.
    """
    contender = submission.contender
    if contender is None or not (task.contest and task.closed_at):
        return submission.state
    if contender.eliminated_by:
        return "eliminated"
    place = next((place for place in task.places if place.submission_id == submission.id), None)
    if place is None:
        return submission.state
    return "unscored" if place.rank is None else "ranked"


def _with(submission: Submission, spends: Sequence[Spend], **changes: object) -> Submission:
    return submission.model_copy(update={**changes, "spends": (*submission.spends, *spends)})
