"""The pairs of an experiment as trials: each pair gives two trials, one for each variant."""

from collections.abc import Iterator
from pathlib import Path

from touchstone.cli.exports.trials import Trial, Trials, TrialSubject
from touchstone.extras import require_extras
from touchstone.judges.spends import Spend
from touchstone.surfaces.experiments.folder import read_saved
from touchstone.surfaces.experiments.makers import PromptMaker, called
from touchstone.surfaces.experiments.model import Experiment, Variant
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.panels import WHOLE, mean_of
from touchstone.surfaces.experiments.report.sides import Outcome, outcome_of
from touchstone.surfaces.experiments.showing import text_of

MAX_SOURCE_CHARS = 20_000
"""How much of a source is shown beside each output. `[…]` marks where a longer source is cut."""
UNDECIDED: dict[Outcome, str] = {"flip": "orders_disagree", "not_compared": "not_compared"}
JUDGED = (
    "The judge prefers it in both orders.",
    "The judge prefers the other one in both orders.",
    "The judge prefers neither.",
)
BY_METRICS = (
    "Its metrics are better.",
    "The metrics of the other one are better.",
    "By the metrics neither is better.",
)
"""The words in place of `JUDGED` if no judge was asked which output is better."""


def trials_of_experiment(folder: Path) -> Trials:
    """The trials of all pairs that the folder of an experiment holds so far. Raises `InputError` if it holds none."""
    require_extras("statistics")
    kept = read_saved(folder)
    sources = {source.id: source.text for source in kept.experiment.sources}
    return Trials(
        name=kept.experiment.name,
        subjects=tuple(_subject(one) for one in kept.experiment.variants),
        trials=tuple(
            trial for one in kept.results for trial in _trials(one, kept.experiment, sources.get(one.source, ""))
        ),
        shared=tuple(spend for one in kept.results for spend in _shared(one)),
    )


def _shared(pair: PairResult) -> Iterator[Spend]:
    """The calls for both sides of a pair: those that found topics, and those that asked for the preference."""
    yield from pair.spends
    for run in pair.runs:
        yield from run.preference.spends


def _subject(variant: Variant) -> TrialSubject:
    maker = variant.maker
    return TrialSubject(
        name=variant.name,
        prompt=maker.prompt if isinstance(maker, PromptMaker) else None,
        model=None if maker is None else called(maker),
    )


def _trials(pair: PairResult, experiment: Experiment, source: str) -> Iterator[Trial]:
    outcome = outcome_of(pair)
    better = {"loss": 0, "win": 1}.get(outcome)
    asked = all(order.unscored != "not_asked" for order in pair.preference.orders)
    words = JUDGED if asked else BY_METRICS
    shown = source if len(source) <= MAX_SOURCE_CHARS else f"{source[:MAX_SOURCE_CHARS]}\n[…]"
    for number, side in enumerate((pair.a, pair.b)):
        measured = [(run.a, run.b)[number] for run in pair.runs]
        scores = {name: mean_of([run[name].score for run in measured if name in run]) for name in side.results}
        undecided, why = _undecided(pair, side, outcome)
        passed = None if undecided else better in {None, number}
        yield Trial(
            case=pair.item,
            subject=number,
            asked={"item": pair.item, "source": shown},
            output=None if side.material is None else text_of(side.material),
            passed=passed,
            undecided=undecided,
            why=why or words[2 if better is None else int(better != number)],
            model=_subject(experiment.variants[number]).model,
            scores={name: score / WHOLE for name, score in scores.items() if score is not None},
            made=side.spends,
            judged=tuple(spend for run in measured for one in run.values() for spend in one.spends),
            details={"outcome_of_b": outcome, **_unscored(side)},
        )


def _undecided(pair: PairResult, side: Measured, outcome: Outcome) -> tuple[str | None, str]:
    """Why nobody decided about one side: a stable word and a sentence. `(None, "")` if it was decided."""
    if side.failure is not None:
        return side.failure.reason, " ".join(side.failure.details) or "It was not made."
    if outcome not in UNDECIDED:
        return None, ""
    if outcome == "flip":
        return UNDECIDED[outcome], "The judge preferred another one where the two were shown the other way round."
    unscored = next((order for order in pair.preference.orders if order.unscored), None)
    if unscored is None or unscored.unscored is None:
        return UNDECIDED[outcome], "The two were not compared."
    return unscored.unscored, " ".join(unscored.details) or "The two were not compared."


def _unscored(side: Measured) -> dict[str, str]:
    """The metrics without a score, each as `NAME_unscored` with the reasons."""
    return {
        f"{name}_unscored": ", ".join(sorted({each.reason for each in one.unscored})) or "nothing_to_look_at"
        for name, one in side.results.items()
        if one.score is None
    }
