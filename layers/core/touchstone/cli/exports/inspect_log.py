"""Trials as a log of Inspect, built from Inspect's models and written by its own function, so that its tools read it.

A trial that nobody decided is a sample without a score in the log (`Score.unscored`), with the reason: it counts in no
metric, and is neither right nor wrong. A case without an answer is such a sample too, and its output is empty.
"""

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.cli.exports.trials import UNKNOWN_MODEL, Trial, Trials
from touchstone.cli.terminal.places import replace
from touchstone.cli.terminal.screen import visible
from touchstone.errors import InputError
from touchstone.judges.spends import Spend, known_cost, tokens_of
from touchstone.version import __version__

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalMetric, EvalSample
    from inspect_ai.model import ModelUsage
    from inspect_ai.scorer import Score

SCORER = "touchstone"
SUFFIXES = (".eval", ".json")
ID_DIGITS = 22


def write_inspect(path: Path, trials: Trials, *, variant: str | None, at: datetime) -> int:
    """Write the trials of one subject as a log, whole or not at all. Return the number of samples in it.

    `variant` is the name of the subject; None: the only subject. `at` is the time of the log if the trials have none.
    Raises `InputError` if the name of the file is not that of a log of Inspect, if there is no such variant, and if
    there are several and none is named. Raises `StoreError` if the file cannot be written.
    """
    from inspect_ai.log import write_eval_log

    if path.suffix not in SUFFIXES:
        raise InputError("A log of Inspect is called NAME.eval or NAME.json.", where="--out")
    number = _chosen(trials, variant)
    log = inspect_log(trials, number, at=trials.at or at)
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / f"log{path.suffix}"
        write_eval_log(log, written)
        replace(path, [written.read_bytes()])
    return len(log.samples or ())


def inspect_log(trials: Trials, subject: int, *, at: datetime) -> "EvalLog":
    """The log of one subject. `subject` is its number from 0; `at` is the time of the log."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalScore, EvalSpec, EvalStats
    from inspect_ai.log._log import EvalScorer

    named = trials.subjects[subject]
    chosen = [one for one in trials.trials if one.subject == subject]
    ids = _ids(chosen)
    when = at.astimezone(UTC).isoformat()
    identity = hashlib.sha256(repr((trials.name, named, chosen)).encode()).hexdigest()[:ID_DIGITS]
    decided = [one for one in chosen if one.passed is not None]
    usage = _usage([spend for one in chosen for spend in (*one.made, *one.judged)])
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=when,
            eval_id=identity,
            run_id=identity,
            task_id=identity,
            task=f"touchstone/{visible(named.name)}",
            task_version=__version__,
            dataset=EvalDataset(name=visible(trials.name), samples=len(chosen), sample_ids=list(ids)),
            model=visible(named.model or UNKNOWN_MODEL),
            config=EvalConfig(),
            scorers=[EvalScorer(name=SCORER)],
            packages={"touchstone": __version__},
        ),
        results=EvalResults(
            total_samples=len(chosen),
            completed_samples=sum(one.output is not None for one in chosen),
            scores=[
                EvalScore(
                    name=SCORER,
                    scorer=SCORER,
                    scored_samples=len(decided),
                    unscored_samples=len(chosen) - len(decided),
                    metrics=_accuracy([one.passed is True for one in decided]),
                )
            ],
        ),
        stats=EvalStats(started_at=when, completed_at=when, model_usage=usage),
        samples=[_sample(one, identity=name) for name, one in zip(ids, chosen, strict=True)],
    )


def _chosen(trials: Trials, variant: str | None) -> int:
    names = [one.name for one in trials.subjects]
    if variant is None and len(names) == 1:
        return 0
    if variant not in names:
        told = "A log of Inspect is of one variant" if variant is None else f"{variant} is no variant of it"
        raise InputError(f"{told}; name one of {', '.join(names)}.", where="--variant")
    return names.index(variant)


def _ids(trials: Sequence[Trial]) -> list[str]:
    """The id of each sample: the name of its case, with a number if an earlier sample has the same case."""
    times: dict[str, int] = {}
    found = []
    for one in trials:
        times[one.case] = times.get(one.case, 0) + 1
        found.append(visible(one.case) if times[one.case] == 1 else f"{visible(one.case)} ({times[one.case]})")
    return found


def _sample(one: Trial, *, identity: str) -> "EvalSample":
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput

    model = visible(one.model or UNKNOWN_MODEL)
    return EvalSample(
        id=identity,
        epoch=1,
        input="\n\n".join(visible(text) for text in one.asked.values()),
        target=[visible(text) for text in one.targets],
        output=ModelOutput() if one.output is None else ModelOutput.from_content(model, visible(one.output)),
        scores={SCORER: _score(one)},
        metadata={name: visible(text) for name, text in one.details.items()} | {"scores": dict(one.scores)},
        model_usage=_usage([*one.made, *one.judged]),
    )


def _score(one: Trial) -> "Score":
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    answer = None if one.output is None else visible(one.output)
    told = visible(one.why) or None
    if one.passed is None:
        return Score.unscored(reason=one.undecided, answer=answer, explanation=told)
    return Score(value=CORRECT if one.passed else INCORRECT, answer=answer, explanation=told)


def _accuracy(passed: Sequence[bool]) -> "dict[str, EvalMetric]":
    """The share of passed trials among the decided ones, as the metric `accuracy`; empty if none was decided."""
    from inspect_ai.log import EvalMetric

    return {"accuracy": EvalMetric(name="accuracy", value=sum(passed) / len(passed))} if passed else {}


def _usage(spends: Iterable[Spend]) -> "dict[str, ModelUsage]":
    """Tokens and cost by model, judges included, without cached calls. A cost that is not known is left out."""
    from inspect_ai.model import ModelUsage

    by_model: dict[str, list[Spend]] = {}
    for spend in spends:
        if not spend.cached:
            by_model.setdefault(f"{spend.provider}/{spend.model}", []).append(spend)
    return {
        visible(model): ModelUsage(
            input_tokens=sum(spend.input_tokens for spend in calls),
            output_tokens=sum(spend.output_tokens for spend in calls),
            total_tokens=tokens_of(calls),
            total_cost=known_cost(calls),
        )
        for model, calls in by_model.items()
    }
