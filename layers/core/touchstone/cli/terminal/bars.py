"""The metrics and lowest scores that the options ask for (`--metrics`, `--fail-under`), and each metric's outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from touchstone import figures
from touchstone.cli.terminal.exits import Exit
from touchstone.errors import InputError
from touchstone.surfaces.catalogue import metrics_of
from touchstone.surfaces.evaluation import LeftOut, Report
from touchstone.surfaces.model import FINAL, MetricResult
from touchstone.surfaces.names import MetricName, Surface

HIGHEST = 100.0
FAIL = "--fail-under"
DECIMALS_SHOWN = 2
PREFIXES: Mapping[Surface, str] = {"quiz": "quiz_", "summary": "summary_", "flashcards": "flashcard_"}
"""The prefix that all names of a surface's metrics have. The user may leave it out."""
WHY_LEFT_OUT: Mapping[LeftOut, str] = {
    "no_source": "it needs the source (--source)",
    "no_judge": "it needs a judge, and there is no key",
}

type Kind = Literal["scored", "passed", "failed", "unscored", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """The metrics that are to be measured, and the lowest scores (0-100) that pass.

    `metrics` None: all metrics of the surface. `every` is the bar of each metric that has none of its own in `named`;
    None: every score of such a metric passes.
    """

    metrics: tuple[MetricName, ...] | None = None
    every: float | None = None
    named: Mapping[MetricName, float] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, metric: MetricName) -> float | None:
        """The lowest score of a metric that passes; None: every score does."""
        return self.named.get(metric, self.every)

    def insists_on(self, metric: MetricName) -> bool:
        """Whether the user named this metric, so that a result without its score is no pass."""
        return metric in self.named or (self.metrics is not None and metric in self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutcome:
    """What became of a metric.

    `scored`: the metric has a score, and no bar to reach. `skipped`: the metric was not measured, or the material holds
    nothing that it looks at, and no option insists on it.
    """

    kind: Kind
    sentence: str


def bars_of(surface: Surface, *, metrics: str | None, fail_under: Sequence[str]) -> Bars:
    """The bars that the options ask for: `metrics` has the form `a,b`, each `fail_under` is `80` or `quiz_clarity=90`.

    A metric may be named without its surface (`clarity`). Raises `InputError` for a wrong name or score, for two scores
    of one metric, and for a bar of a metric that `metrics` leaves out.
    """
    wanted = metrics_named(surface, metrics)
    every: float | None = None
    named: dict[MetricName, float] = {}
    for one in fail_under:
        name, equals, score = one.rpartition("=")
        if not equals:
            if every is not None:
                raise InputError("There are two scores for every metric; give one of them as METRIC=SCORE.", where=FAIL)
            every = _score(score)
            continue
        metric = _metric(surface, name, FAIL)
        if metric in named:
            raise InputError(f"There are two scores for {metric}; give one.", where=FAIL)
        if wanted is not None and metric not in wanted:
            raise InputError(f"{metric} has a score to reach and is not to be measured; name it in --metrics.")
        named[metric] = _score(score)
    return Bars(metrics=wanted, every=every, named=named)


def metrics_named(surface: Surface, metrics: str | None) -> tuple[MetricName, ...] | None:
    """The metrics in `a,b`, in the order of the catalogue; None stays None. Raises `InputError`."""
    if metrics is None:
        return None
    named = {_metric(surface, one, "--metrics") for one in metrics.split(",")}
    return tuple(name for name in metrics_of(surface) if name in named)


def outcomes_of(report: Report, bars: Bars) -> dict[MetricName, MetricOutcome]:
    """What became of each metric that was wanted, in the order of the catalogue."""
    return {
        name: _measured(report.results[name], bars) if name in report.results else _left_out(name, report, bars)
        for name in metrics_of(report.surface)
        if name in report.results or name in report.left_out
    }


def exit_of(outcomes: Iterable[MetricOutcome]) -> Exit:
    """The exit code for these outcomes.

    `VERDICT` if a metric failed. `DONE` if at least one metric is scored or passed and none is unscored, which means
    that it had to be judged and was not. Otherwise `UNDECIDED`.
    """
    kinds = {outcome.kind for outcome in outcomes}
    if "failed" in kinds:
        return Exit.VERDICT
    return Exit.DONE if kinds & {"scored", "passed"} and "unscored" not in kinds else Exit.UNDECIDED


def shown_score(score: float) -> str:
    """A score as people read it, with two decimals at most."""
    return figures.score(score, DECIMALS_SHOWN).rstrip("0").rstrip(".")


def reasons_of(result: MetricResult) -> str:
    """The number of items that were not judged for each reason, the most frequent reason first."""
    reasons = [one.reason for one in result.unscored]
    counted = sorted(set(reasons), key=lambda reason: (-reasons.count(reason), reason))
    return ", ".join(f"{reasons.count(reason)} {reason}" for reason in counted)


def _measured(result: MetricResult, bars: Bars) -> MetricOutcome:
    bar = bars.of(result.metric)
    if result.score is None:
        if result.unscored:
            return MetricOutcome(kind="unscored", sentence=f"Nobody could judge it: {reasons_of(result)}.")
        kind: Kind = "unscored" if bars.insists_on(result.metric) else "skipped"
        return MetricOutcome(kind=kind, sentence="There is nothing in this material that it looks at.")
    if bar is None:
        return MetricOutcome(kind="scored", sentence=f"{shown_score(result.score)} of 100.")
    if result.score < bar:
        return MetricOutcome(kind="failed", sentence=f"{_exact(result.score)} is below {bar:g}.")
    if _lowest(result) < bar:
        sentence = (
            f"{_exact(result.score)} of what was judged is at least {bar:g}, and what could not be judged yet "
            f"({reasons_of(result)}) may bring it below."
        )
        return MetricOutcome(kind="unscored", sentence=sentence)
    return MetricOutcome(kind="passed", sentence=f"{_exact(result.score)} is at least {bar:g}.")


def _lowest(result: MetricResult) -> float:
    """The score if all items that another try may still judge were worth nothing, each with the largest weight."""
    waiting = sum(one.reason not in FINAL for one in result.unscored)
    weights = [one.weight for one in result.items]
    worth = sum(one.value * one.weight for one in result.items)
    return HIGHEST * worth / (sum(weights) + waiting * max(weights)) if waiting else HIGHEST


def _left_out(name: MetricName, report: Report, bars: Bars) -> MetricOutcome:
    why = report.left_out[name]
    # If nothing at all was measured for lack of a judge, the metric counts as unscored: no CI tool may read a pass.
    gated = why == "no_judge" and (bars.every is not None or not report.results)
    kind: Kind = "unscored" if gated or bars.insists_on(name) else "skipped"
    return MetricOutcome(kind=kind, sentence=f"Left out: {WHY_LEFT_OUT[why]}.")


def _exact(score: float) -> str:
    """A score with the precision of the comparison, so that 79.999 is never shown as "80 is below 80"."""
    return f"{score:.6f}".rstrip("0").rstrip(".")


def _metric(surface: Surface, named: str, where: str) -> MetricName:
    said = named.strip()
    for name in metrics_of(surface):
        if said in (name, name.removeprefix(PREFIXES[surface])):
            return name
    known = ", ".join(metrics_of(surface))
    raise InputError(f"{said or 'An empty name'} is no metric of {surface}; they are {known}.", where=where)


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0.0 <= score <= HIGHEST:
        raise InputError(f"{text.strip() or 'Nothing'} is no score; give 0 to 100, or METRIC=SCORE.", where=FAIL)
    return score
