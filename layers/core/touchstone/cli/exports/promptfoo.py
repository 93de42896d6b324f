"""Trials in promptfoo's format for the results of an evaluation (version 3), shown there after `promptfoo import`.

In promptfoo a result passes, fails an assertion, or ends in an error. A trial that nobody decided is written as an
error with the reason, and without an assertion. The format requires a score of every result; promptfoo writes 0 for its
own errors, and so does this module. promptfoo counts errors apart, and they are in no score of a prompt. A result whose
cost is not known has no cost.

https://www.promptfoo.dev/docs/configuration/outputs/
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from touchstone.cli.exports.trials import UNKNOWN_MODEL, Trial, Trials, TrialSubject
from touchstone.cli.terminal.screen import visible
from touchstone.judges.spends import Spend, count_unpriced, known_cost, tokens_of
from touchstone.version import __version__

VERSION = 3
PASSED, FAILED, ERROR = 0, 1, 2
"""The values of `failureReason`: the result succeeded, an assertion failed, or there was an error."""
ID_DIGITS = 16

type Document = dict[str, Any]


def promptfoo(trials: Trials, *, at: datetime) -> bytes:
    """The trials as a document that promptfoo imports. `at` is the time of the document if the trials have none."""
    moment = (trials.at or at).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    cases = {case: number for number, case in enumerate(dict.fromkeys(one.case for one in trials.trials))}
    prompts = [_prompt(one) for one in trials.subjects]
    results = [_result(one, prompts[one.subject], trials.subjects, cases[one.case]) for one in trials.trials]
    for number, prompt in enumerate(prompts):
        prompt["metrics"] = _metrics([one for one in trials.trials if one.subject == number])
    made = [spend for one in trials.trials for spend in one.made]
    judged = [spend for one in trials.trials for spend in one.judged]
    summary = {
        "version": VERSION,
        "timestamp": moment,
        "prompts": prompts,
        "results": results,
        "stats": {**_counts(trials.trials), "tokenUsage": _tokens(made, (*judged, *trials.shared))},
    }
    content = json.dumps(summary, ensure_ascii=False, sort_keys=True).encode()
    document = {
        "evalId": f"touchstone-{hashlib.sha256(content).hexdigest()[:ID_DIGITS]}",
        "results": summary,
        "config": {"description": f"Touchstone {__version__}: {visible(trials.name)}"},
        "shareableUrl": None,
        "vars": list(dict.fromkeys(name for one in trials.trials for name in _vars(one))),
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def _prompt(subject: TrialSubject) -> Document:
    raw = visible(subject.prompt or subject.name)
    return {
        "raw": raw,
        "label": visible(subject.name),
        "id": hashlib.sha256(f"{subject.name}\n{raw}".encode()).hexdigest(),
        "provider": visible(subject.model or UNKNOWN_MODEL),
    }


def _result(one: Trial, prompt: Document, subjects: Sequence[TrialSubject], case: int) -> Document:
    variables = _vars(one)
    model = visible(one.model or subjects[one.subject].model or UNKNOWN_MODEL)
    cost = known_cost((*one.made, *one.judged))
    result: Document = {
        "id": f"{case}-{one.subject}",
        "promptIdx": one.subject,
        "testIdx": case,
        "testCase": {"description": visible(one.case), "vars": variables, "assert": []},
        "promptId": prompt["id"],
        "provider": {"id": model, "label": model},
        "prompt": {"raw": prompt["raw"], "label": prompt["label"]},
        "vars": variables,
        "failureReason": ERROR if one.passed is None else PASSED if one.passed else FAILED,
        "success": one.passed is True,
        "score": 1.0 if one.passed else 0.0,
        "latencyMs": round(sum(spend.latency_ms for spend in one.made)),
        "namedScores": dict(one.scores),
        "metadata": {name: visible(text) for name, text in one.details.items()},
        "tokenUsage": _tokens(one.made, one.judged),
    }
    if one.output is not None:
        result["response"] = {"output": visible(one.output)}
    if cost is not None:
        result["cost"] = cost
    if calls := count_unpriced((*one.made, *one.judged)):
        result["metadata"]["calls_of_unknown_price"] = calls
    if one.passed is None:
        result["error"] = f"{one.undecided}: {visible(one.why)}".removesuffix(": ")
    else:
        result["gradingResult"] = {
            "pass": one.passed,
            "score": 1.0 if one.passed else 0.0,
            "reason": visible(one.why),
            "namedScores": dict(one.scores),
            "tokensUsed": _usage(one.judged),
            "componentResults": [],
        }
    return result


def _vars(one: Trial) -> dict[str, str]:
    """The variables that a row shows: the case, the parts of the question and the right answers."""
    found = {"case": one.case, **one.asked}
    if one.targets:
        found["expected"] = "\n".join(one.targets)
    return {name: visible(text) for name, text in found.items()}


def _metrics(trials: Sequence[Trial]) -> Document:
    """The metrics of a prompt. Only trials that were decided count for its score."""
    named: dict[str, list[float]] = {}
    for one in trials:
        for name, score in one.scores.items():
            named.setdefault(name, []).append(score)
    decided = [one for one in trials if one.passed is not None]
    made = [spend for one in trials for spend in one.made]
    judged = [spend for one in trials for spend in one.judged]
    passed = sum(one.passed is True for one in decided)
    return {
        "score": float(passed),
        "testPassCount": passed,
        "testFailCount": len(decided) - passed,
        "testErrorCount": len(trials) - len(decided),
        "assertPassCount": passed,
        "assertFailCount": len(decided) - passed,
        "totalLatencyMs": round(sum(spend.latency_ms for spend in made)),
        "tokenUsage": _tokens(made, judged),
        "namedScores": {name: sum(scores) for name, scores in named.items()},
        "namedScoresCount": {name: len(scores) for name, scores in named.items()},
        "cost": known_cost([*made, *judged]) or 0.0,
    }


def _counts(trials: Sequence[Trial]) -> Document:
    ends = [one.passed for one in trials]
    return {"successes": ends.count(True), "failures": ends.count(False), "errors": ends.count(None)}


def _tokens(made: Iterable[Spend], judged: Iterable[Spend]) -> Document:
    """The tokens of the calls that made the output, and in `assertions` those of the calls that judged it."""
    return {**_usage(made), "assertions": _usage(judged)}


def _usage(spends: Iterable[Spend]) -> Document:
    calls = list(spends)
    paid = [spend for spend in calls if not spend.cached]
    cached = tokens_of(spend for spend in calls if spend.cached)
    prompt, completion = sum(spend.input_tokens for spend in paid), sum(spend.output_tokens for spend in paid)
    return {
        "total": prompt + completion + cached,
        "prompt": prompt,
        "completion": completion,
        "cached": cached,
        "numRequests": len(paid),
        "completionDetails": {"reasoning": 0, "acceptedPrediction": 0, "rejectedPrediction": 0},
    }
