"""What is asked of the scores at the command line (`--metrics`, `--fail-under`), and what became of each metric."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from touchstone.cli.terminal.exits import Exit
from touchstone.errors import InputError
from touchstone.surfaces.catalogue import metrics_of
from touchstone.surfaces.evaluation import LeftOut, Report
from touchstone.surfaces.model import MetricName, MetricResult, Surface

HIGHEST = 100.0
FAIL = "--fail-under"
DECIMALS_SHOWN = 2
PREFIXES: Mapping[Surface, str] = {"quiz": "quiz_", "summary": "summary_", "flashcards": "flashcard_"}
"""What all names of a surface's metrics begin with, and nobody needs to write."""
WHY_LEFT_OUT: Mapping[LeftOut, str] = {
    "no_source": "it needs the source (--source)",
    "no_judge": "it needs a judge, and there is no key",
}

type Kind = Literal["scored", "passed", "failed", "unscored", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """What is asked for: the metrics that are to be measured, and the lowest scores (0-100) that are well.

    `metrics` None: all of the surface. `every` is for each metric without a bar of its own in `named`; None: no score
    of those is too low.
    """

    metrics: tuple[MetricName, ...] | None = None
    every: float | None = None
    named: Mapping[MetricName, float] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, metric: MetricName) -> float | None:
        """The lowest score of a metric that is well; None: every one is."""
        return self.named.get(metric, self.every)

    def insists_on(self, metric: MetricName) -> bool:
        """Whether this metric was asked for by its name, so that the work is not done without it."""
        return metric in self.named or (self.metrics is not None and metric in self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutcome:
    """What became of a metric.

    `scored`: it has a score, and no bar to reach. `skipped`: it was not measured, or looks at nothing in the material,
    and need not.
    """

    kind: Kind
    sentence: str


def bars_of(surface: Surface, *, metrics: str | None, fail_under: Sequence[str]) -> Bars:
    """What the options ask for: `metrics` as `a,b`, each of `fail_under` as `80` or `quiz_clarity=90`.

    A metric may be named without its surface (`clarity`). Raises `InputError`.
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
    """The exit code that outcomes stand for. What was not judged and had to be is no pass, nor is nothing at all."""
    kinds = {outcome.kind for outcome in outcomes}
    if "failed" in kinds:
        return Exit.VERDICT
    return Exit.DONE if kinds & {"scored", "passed"} and "unscored" not in kinds else Exit.UNDECIDED


def shown_score(score: float) -> str:
    """A score for people."""
    return f"{round(score, DECIMALS_SHOWN):g}"


def reasons_of(result: MetricResult) -> str:
    """How many items were not judged, reason by reason, the most frequent first."""
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
    return MetricOutcome(kind="passed", sentence=f"{_exact(result.score)} is at least {bar:g}.")


def _left_out(name: MetricName, report: Report, bars: Bars) -> MetricOutcome:
    why = report.left_out[name]
    # Where nothing was measured at all, that is what the command has to tell, and no CI tool may read it as well.
    gated = why == "no_judge" and (bars.every is not None or not report.results)
    kind: Kind = "unscored" if gated or bars.insists_on(name) else "skipped"
    return MetricOutcome(kind=kind, sentence=f"Left out: {WHY_LEFT_OUT[why]}.")


def _exact(score: float) -> str:
    """A score as it was compared, so that 79.999 is never told as 80 that is below 80."""
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
