"""Gate and score submissions to a task."""

from touchstone import oracle
from touchstone.clock import Deadline
from touchstone.flat.running import blocking, opened
from touchstone.judges import load_registry
from touchstone.judges.base import JudgeCount, PanelSize
from touchstone.kinds import require_list, require_model, require_one_of, require_seconds, require_texts
from touchstone.oracle import Brief, Dimension, Judgement

SECONDS = 600.0
"""The most seconds for a submission, unless its caller says otherwise."""


async def ajudge_submission(
    brief: Brief,
    text: str,
    *,
    dimensions: tuple[Dimension, ...] | None = None,
    provider: str | None = None,
    judges: JudgeCount = 1,
    scoring_judges: PanelSize = 1,
    seconds: float = SECONDS,
) -> Judgement:
    """Check a submission against its task's acceptance criteria and, if it meets them all, score it.

    ```python
    brief = touchstone.Brief(
        description="Explain to a pupil of ten why ice floats.",
        acceptance_criteria=("Compares the density of ice with that of water.",),
    )
    judgement = touchstone.judge_submission(brief, "Ice floats because it is less dense than water. …")
    judgement.gate.passed  # whether every criterion is met; None if nobody decided
    judgement.scoring.penalized_total  # 0-100; `scoring` is None where the gate is not passed
    ```

    `dimensions` are the task's own if they are locked; None has them made. `provider` None means the provider that
    `ORACLE_LLM_PROVIDER` names, else the first with a key.

    `judges` is how many check the acceptance criteria. Of 2 or 3, each of another provider, more than half must agree
    on a criterion; if they do not, nobody decided (`split`). `judgement.gate.votes` has what each of them said.
    "until_sure" asks one after the other until one is sure enough of each criterion; if none is, nobody decided
    (`unsure`). `scoring_judges` is how many score. Of 2 or 3, the median of each dimension counts, and a dimension's
    `votes` have what each judge gave. If a judge fails, `judgement.unscored` says why. Raises `InputError` for an
    argument of another kind, such as a text as the brief, and `SettingsError` without a key.
    """
    require_model("brief", brief, Brief)
    require_texts(text=text)
    require_seconds(seconds)
    require_one_of("judges", judges, (1, 2, 3, "until_sure"))
    require_one_of("scoring_judges", scoring_judges, (1, 2, 3))
    if dimensions is not None:
        require_list("dimensions", dimensions, of="dimensions")
        for one in dimensions:
            require_model("dimensions", one, Dimension)
    chosen = oracle.choose(load_registry(), provider=provider)
    async with opened(None, registry=chosen.registry) as able:
        return await oracle.judge_submission(
            brief,
            text,
            judge=oracle.open_judge(able, chosen),
            gate_judges=oracle.open_panel(able, chosen, judges),
            scoring_judges=oracle.open_panel(able, chosen, scoring_judges),
            deadline=Deadline.after(seconds),
            dimensions=dimensions,
        )


judge_submission = blocking(ajudge_submission)
