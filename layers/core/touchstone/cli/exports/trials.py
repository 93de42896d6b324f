"""What was tried, one by one, as tools of other evaluations tell it: who answered which case, and what came of it.

It is read from what this command keeps or prints: the results of a batch, a single answer as JSON, and the folder of an
experiment. There each variant is a subject, and a trial passes where the judge prefers it or neither.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from touchstone.answers.model import Solution
from touchstone.answers.progress import CALLER
from touchstone.answers.view import AnswerView
from touchstone.cli.files.batch_files import result_in
from touchstone.cli.files.requests import name_of, text_of
from touchstone.cli.screens.verdicts import decided_by
from touchstone.errors import InputError
from touchstone.judges.spends import Spend

MAX_BYTES = 256 * 1024 * 1024
"""Of a file of results; it is read into memory whole."""
MADE_BY = frozenset({"analyze", "enrich", "ocr", "solve"})
"""Purposes of the calls that make an answer; by all others it is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSubject:
    """What was tried: its name, and the prompt and model that it is, None where that is not known or not one."""

    name: str
    prompt: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One subject's output for one case, by the subject's number from 0.

    `passed` None: nobody decided, and `undecided` is the stable word why, else None. `why` says either in words.
    `asked` is what was asked, part by part, and `targets` what would have been right, as far as that is known. `scores`
    are 0-1. `made` are the calls that made the output, `judged` those that it was judged by. `model` is who answered,
    None where that is not known. `details` are all else that tells how it was decided.
    """

    case: str
    subject: int
    asked: Mapping[str, str]
    output: str | None
    passed: bool | None
    undecided: str | None
    why: str
    targets: tuple[str, ...] = ()
    model: str | None = None
    scores: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    made: tuple[Spend, ...] = ()
    judged: tuple[Spend, ...] = ()
    details: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """All of them. `shared` are calls that no trial had to itself; `left_out` counts what has no verdict on an output.

    `at` is when the newest of it was done, None where nothing says so.
    """

    name: str
    subjects: tuple[TrialSubject, ...]
    trials: tuple[Trial, ...]
    shared: tuple[Spend, ...] = ()
    left_out: int = 0
    at: datetime | None = None


def trials_in(source: str) -> Trials:
    """Read the results of a batch, or one answer; - is standard input.

    Raises `InputError` where it holds nothing of the kind.
    """
    text = text_of(source, at_most=MAX_BYTES)
    found = tuple(_answers(text, name_of(source)))
    answers = [answer for answer in found if answer is not None]
    if not answers:
        raise InputError(f"{name_of(source)} holds no answer with a verdict.", where=name_of(source))
    moments = [view.updated_at for _, view in answers if isinstance(view, AnswerView)]
    return Trials(
        name=name_of(source),
        subjects=(_subject([view for _, view in answers if isinstance(view, AnswerView)]),),
        trials=tuple(_trial(case, one) for case, one in answers),
        left_out=len(found) - len(answers),
        at=max(moments, default=None),
    )


type _Refused = Mapping[str, Any]
"""The error of a line that was not done."""


def _answers(text: str, name: str) -> Iterator[tuple[str, AnswerView | _Refused] | None]:
    """Each answer with the name of its case, a line that was not done by its error; None for a line without either."""
    single = _single(text)
    if single is not None:
        yield "1", _view(single, name, 1)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found = result_in(Path(name), line.encode())
        case = str(found.get("id") or found["line"])
        if isinstance(found.get("answer"), dict) and found.get("kind") != "evaluate":
            yield case, _view(found["answer"], name, number)
        elif isinstance(found.get("error"), dict):
            yield case, found["error"]
        else:
            yield None


def _single(text: str) -> dict[str, Any] | None:
    """The document in a text that is one answer; None where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "verification_status" in found else None


def _view(document: Mapping[str, Any], name: str, line: int) -> AnswerView:
    try:
        return AnswerView.model_validate(document)
    except ValidationError:
        raise InputError(f"{name}: line {line} is no answer of this release.", where=name) from None


def _subject(views: list[AnswerView]) -> TrialSubject:
    models = {_model(view) for view in views}
    return TrialSubject(name="answers", model=models.pop() if len(models) == 1 else None)


def _trial(case: str, found: AnswerView | _Refused) -> Trial:
    if not isinstance(found, AnswerView):
        reason, why = (str(found.get(name) or "") for name in ("reason", "detail"))
        return Trial(
            case=case, subject=0, asked={}, output=None, passed=None, undecided=reason or "error", why=why or reason
        )
    view = found.model_dump(mode="json")
    undecided = _undecided(found)
    how = decided_by(view)
    objection = found.failure or found.verify_error or "\n".join(found.derivation)
    return Trial(
        case=case,
        subject=0,
        asked={
            name: text
            for name, text in (("problem", found.problem), ("steps", found.steps), ("subject", found.subject))
            if text
        },
        output=found.answer,
        passed=None if undecided else found.verification_status == "verified",
        undecided=undecided,
        why=". ".join(part for part in (f"Decided by {how}" if how and not undecided else "", objection) if part),
        targets=found.expected,
        model=_model(found),
        made=tuple(spend for spend in found.spends if spend.purpose in MADE_BY),
        judged=tuple(spend for spend in found.spends if spend.purpose not in MADE_BY),
        details=_details(found),
    )


def _undecided(view: AnswerView) -> str | None:
    """The stable word why nobody decided; None where somebody did."""
    if view.stage == "failed":
        return view.failure_reason or "no_answer"
    match view.verification_status:
        case None:
            return "unfinished"
        case "unverified":
            return view.skip_reason or "unverified"
        case _:
            return None


def _solution(view: AnswerView) -> Solution | None:
    shown = [each.solution for each in view.attempts if each.solution.answer == view.answer]
    return shown[-1] if shown else None


def _model(view: AnswerView) -> str | None:
    """Who answered, as provider and model; None where the caller did and named nobody."""
    solution = _solution(view)
    if solution is None or solution.model in {"", CALLER}:
        return None
    return solution.model if solution.provider == CALLER else f"{solution.provider}/{solution.model}"


def _details(view: AnswerView) -> dict[str, str]:
    shown = [each.verification for each in view.attempts if each.solution.answer == view.answer]
    verification = shown[-1] if shown else None
    told = {
        "touchstone_id": view.id,
        "status": view.verification_status,
        "decided_by": view.method,
        "confidence": None if view.verify_confidence is None else f"{view.verify_confidence:g}",
        "judge": None if verification is None else verification.model,
        "prompt_version": None if verification is None else verification.prompt_version,
        "worked_out": view.independent_answer,
        "language": view.language,
    }
    return {name: value for name, value in told.items() if value is not None}
