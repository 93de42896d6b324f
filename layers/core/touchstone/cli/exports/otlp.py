"""Results of metrics as events of OpenTelemetry: log records named `gen_ai.evaluation.result`, in OTLP's JSON.

There is one event for each metric, and one for each item that the metric looked at. An event has the name of the
metric, a score or a label, and an explanation; if a judge gave the result, it also has the model that answered and the
version of the prompt. An event without a score has an `error.type` in its place: a result that nobody could judge is
reported, and is neither a zero nor left out. A collector takes the file at `/v1/logs`, or by its receiver
`otlpjsonfile`. That receiver takes one document on each line, so the file is written on one line.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/#event-gen_aievaluationresult
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from touchstone.cli.exports.trials import Trials
from touchstone.cli.terminal.bars import MetricOutcome
from touchstone.cli.terminal.screen import visible
from touchstone.judges.spends import JudgedBy, single_judge
from touchstone.surfaces.evaluation import Report
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName
from touchstone.version import __version__

EVENT = "gen_ai.evaluation.result"
VERDICT = "verdict"
"""The name of an evaluation that is the whole verdict on an answer or on an item of an experiment."""
NO_SCORE = "no_score"
"""The `error.type` of a metric that has no score although nothing failed: the material holds nothing it looks at."""
SEVERITY_INFO = 9
SEVERITY_WARN = 13

type Attributes = Mapping[str, str | float | None]


def otlp(report: Report, outcomes: Mapping[MetricName, MetricOutcome], *, name: str, at: datetime) -> bytes:
    """The report on a piece of material called `name` as one export request for logs. `at` is the report's time."""
    return _request(_events(report, outcomes), name=name, at=at, scope="touchstone.surfaces")


def otlp_of_trials(trials: Trials, *, at: datetime) -> bytes:
    """Trials as one export request: an event named `verdict` for each trial, and one for each score of the trial.

    `at` is the time of the events if the trials have none.
    """
    return _request(_events_of_trials(trials), name=trials.name, at=trials.at or at, scope="touchstone.results")


def _request(events: Iterable[Attributes], *, name: str, at: datetime, scope: str) -> bytes:
    nanoseconds = str(int(at.timestamp() * 1_000_000) * 1_000)
    records = [
        {
            "timeUnixNano": nanoseconds,
            "observedTimeUnixNano": nanoseconds,
            "severityNumber": SEVERITY_WARN if attributes.get("error.type") else SEVERITY_INFO,
            "eventName": EVENT,
            "attributes": _attributes({**attributes, "touchstone.material": name}),
        }
        for attributes in events
    ]
    resource = {"service.name": "touchstone", "service.version": __version__}
    logs = {
        "resource": {"attributes": _attributes(resource)},
        "scopeLogs": [{"scope": {"name": scope, "version": __version__}, "logRecords": records}],
    }
    return json.dumps({"resourceLogs": [logs]}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _events(report: Report, outcomes: Mapping[MetricName, MetricOutcome]) -> Iterator[dict[str, str | float | None]]:
    for metric, outcome in outcomes.items():
        result = report.results.get(metric)
        yield _of_metric(metric, outcome, result, report)
        if result is not None:
            yield from (_of_item(metric, item) for item in result.items)
            yield from (_of_unscored(metric, item) for item in result.unscored)


def _events_of_trials(trials: Trials) -> Iterator[Attributes]:
    for one in trials.trials:
        about = {"touchstone.item": one.case, "touchstone.variant": trials.subjects[one.subject].name}
        yield {
            "gen_ai.evaluation.name": VERDICT,
            "gen_ai.evaluation.score.value": None if one.passed is None else float(one.passed),
            "gen_ai.evaluation.score.label": None if one.passed is None else "passed" if one.passed else "failed",
            "gen_ai.evaluation.explanation": one.why or None,
            "gen_ai.response.model": one.details.get("judge"),
            "touchstone.prompt.version": one.details.get("prompt_version"),
            "error.type": one.undecided,
            **about,
        }
        for name, score in one.scores.items():
            yield {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": score, **about}


def _of_metric(
    metric: MetricName, outcome: MetricOutcome, result: MetricResult | None, report: Report
) -> dict[str, str | float | None]:
    score = None if result is None else result.score
    found: dict[str, str | float | None] = {
        "gen_ai.evaluation.name": metric,
        "gen_ai.evaluation.score.value": score,
        "gen_ai.evaluation.score.label": None if score is None else outcome.kind,
        "gen_ai.evaluation.explanation": outcome.sentence,
    }
    if result is not None:
        judges = {JudgedBy(model=spend.model, prompt_version=spend.prompt_version) for spend in result.spends}
        found |= _by(single_judge(judges))
    if score is None:
        unscored = () if result is None else result.unscored
        found["error.type"] = unscored[0].reason if unscored else report.left_out.get(metric, NO_SCORE)
    return found


def _of_item(metric: MetricName, item: ItemLabel) -> dict[str, str | float | None]:
    return {
        "gen_ai.evaluation.name": metric,
        "gen_ai.evaluation.score.value": item.value,
        "gen_ai.evaluation.score.label": item.label,
        "gen_ai.evaluation.explanation": item.reason,
        "touchstone.item": item.item,
        **_by(item.judge),
    }


def _of_unscored(metric: MetricName, item: UnscoredItem) -> dict[str, str | float | None]:
    return {
        "gen_ai.evaluation.name": metric,
        "gen_ai.evaluation.explanation": " ".join(item.details) or None,
        "error.type": item.reason,
        "touchstone.item": item.item,
        **_by(item.judge),
    }


def _by(judge: JudgedBy | None) -> dict[str, str | float | None]:
    if judge is None:
        return {}
    return {"gen_ai.response.model": judge.model, "touchstone.prompt.version": judge.prompt_version}


def _attributes(named: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in named.items() if value is not None]


def _value(value: str | float) -> dict[str, Any]:
    return {"stringValue": visible(value)} if isinstance(value, str) else {"doubleValue": float(value)}
