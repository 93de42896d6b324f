"""A submission judged from beginning to end: dimensions if the task has none yet, the gate, the individual scoring.

dimensions ─> gate ─ not met ─> hints, no scores
                └ met ─> individual scoring ─> scores, two suggestions
a stage that nobody could judge is the end: `unscored`, with the stage and the reason
"""

from dataclasses import replace

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.panel import JudgePanel
from touchstone.judges.spends import Spend
from touchstone.oracle.aggregation import aggregate
from touchstone.oracle.dimensions import generate_dimensions
from touchstone.oracle.gate import blank_gate_result
from touchstone.oracle.gate_panel import check_gate_by_judges
from touchstone.oracle.handing_in import check_length
from touchstone.oracle.material import SubmissionJudging
from touchstone.oracle.model import Brief, Dimension, GateCheck, IndividualScoring, JudgeOpinion, Unjudged
from touchstone.oracle.passages import Passage
from touchstone.oracle.scores_panel import score_by_judges
from touchstone.strict import Strict


class Judgement(Strict):
    """A submission's judgement, as far as it got.

    `dimensions` are None if none could be made, or if the submission is without content and the task had none. `gate`
    is None if it was not reached or nobody could check it. `scoring` is None if the gate did not pass or nobody could
    score. `unscored` says at which stage and why the judging ended early; None if nothing is left unjudged. `readings`
    are what the scoring was computed from. `passages` are those that speak to whoever grades (see `scoring`). `spends`
    are all judge calls that were paid for.
    """

    dimensions: tuple[Dimension, ...] | None = None
    gate: GateCheck | None = None
    scoring: IndividualScoring | None = None
    unscored: Unjudged | None = None
    readings: tuple[JudgeOpinion, ...] = ()
    passages: tuple[Passage, ...] = ()
    spends: tuple[Spend, ...] = ()


async def judge_submission(
    brief: Brief,
    text: str,
    *,
    judge: Judge,
    deadline: Deadline,
    gate_judges: JudgePanel | None = None,
    scoring_judges: JudgePanel | None = None,
    dimensions: tuple[Dimension, ...] | None = None,
    use_cache: bool = True,
) -> Judgement:
    """Judge a submission by its task, within one deadline for all stages.

    `gate_judges` check the acceptance criteria, and `scoring_judges` score; if they are None, `judge` does it alone.
    `judge` does everything else. `dimensions` are those of the task if they are locked; if None, they are made first. A
    judge that fails raises nothing. Raises `SettingsError` for dimensions whose weights do not sum to 1, and
    `TooLargeError` for a submission of more than `MAX_SUBMISSION_CHARS`.
    """
    # Faults of what was given are raised before any call is paid, and a submission without content causes no call.
    check_length(text)
    if dimensions is not None:
        aggregate(dimensions, {one.id: 0.0 for one in dimensions})
    judging = SubmissionJudging(
        brief=brief, submission=text, dimensions=dimensions or (), judge=judge, deadline=deadline, use_cache=use_cache
    )
    if (blank := blank_gate_result(judging)) is not None:
        return Judgement(dimensions=dimensions, gate=blank.check)
    spends: tuple[Spend, ...] = ()
    if dimensions is None:
        made = await generate_dimensions(brief, judge=judge, deadline=deadline, use_cache=use_cache)
        if isinstance(made, NotScored):
            return Judgement(unscored=Unjudged.of("dimensions", made), spends=made.spends)
        dimensions, spends = made.dimensions, made.spends
        judging = replace(judging, dimensions=dimensions)
    read = await judging.read()
    spends += read.spends
    if isinstance(read, NotScored):
        return Judgement(dimensions=dimensions, unscored=Unjudged.of("reading", read), spends=spends)
    gated = await check_gate_by_judges(judging, read, panel=gate_judges)
    spends += gated.spends
    if isinstance(gated, NotScored):
        return Judgement(dimensions=dimensions, unscored=Unjudged.of("gate", gated), spends=spends)
    if not gated.check.passed:
        return Judgement(
            dimensions=dimensions,
            gate=gated.check,
            unscored=Unjudged.of_undecided(gated.check),
            passages=gated.passages,
            spends=spends,
        )
    scored = await score_by_judges(judging, read, panel=scoring_judges, wait_for_retry=False)
    spends += scored.spends
    if isinstance(scored, NotScored):
        return Judgement(
            dimensions=dimensions,
            gate=gated.check,
            unscored=Unjudged.of("scoring", scored),
            passages=gated.passages,
            spends=spends,
        )
    return Judgement(
        dimensions=dimensions,
        gate=gated.check,
        scoring=scored.scoring,
        readings=scored.readings,
        passages=scored.passages,
        spends=spends,
    )
