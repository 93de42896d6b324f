"""Trials, the form from which exports to other evaluation tools are made: who answered which case, with what outcome.

Trials are read from what this command keeps or prints: the results of a batch, a single answer as JSON, or the folder
of an experiment. In an experiment each variant is a subject, and its trial passes if the judge prefers it or neither.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from touchstone.answers.model import Attempt
from touchstone.answers.progress import CALLER
from touchstone.answers.view import AnswerView
from touchstone.cli.files.batch_files import result_in
from touchstone.cli.files.requests import name_of, text_of
from touchstone.cli.screens.verdicts import decided_by
from touchstone.errors import InputError
from touchstone.judges.spends import Spend

MAX_BYTES = 256 * 1024 * 1024
"""Of a file of results; it is read into memory whole."""
INSTEAD = "name what `touchstone batch run` wrote, such as answers.results.jsonl"
"""What to do where a file holds something else, as the requests of a batch."""
UNKNOWN_MODEL = "unknown"
"""What an export writes where it must name a model and none is known."""
MADE_BY = frozenset({"analyze", "enrich", "ocr", "solve"})
"""The purposes of calls that make an answer. Calls for all other purposes judge it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSubject:
    """What was tried: its name, prompt and model. `prompt` and `model` are None if unknown, or if there are several."""

    name: str
    prompt: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The output of one subject for one case, and the verdict on it. `subject` is the subject's number from 0.

    `passed` None: nobody decided, and `undecided` is a stable word for the reason; otherwise `undecided` is None. `why`
    explains the verdict, or why there is none, in words. `asked` is the question, part by part, and `targets` are the
    right answers, as far as they are known. `scores` are 0-1. `made` are the calls that made the output, and `judged`
    the calls that judged it. `model` is the model that answered, None if it is not known. `details` are further facts
    about how the verdict came about.
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
    """All trials of a file or folder. `shared` are the calls that several trials have in common.

    `left_out` is the number of lines that hold no verdict on an output. `at` is when the newest trial was done, None if
    the file does not say it.
    """

    name: str
    subjects: tuple[TrialSubject, ...]
    trials: tuple[Trial, ...]
    shared: tuple[Spend, ...] = ()
    left_out: int = 0
    at: datetime | None = None


def trials_in(source: str) -> Trials:
    """The trials in the results of a batch, or in one answer; - is standard input.

    Raises `InputError` if there is no answer with a verdict in it.
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
    """For each line the name of its case, with its answer or, if it was not done, its error; None if it has neither.

    A text that is one answer counts as one line, and its case is `1`.
    """
    single = _single(text)
    if single is not None:
        yield "1", _view(single, name, 1)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found = result_in(Path(name), line.encode(), instead=INSTEAD)
        case = str(found.get("id") or found["line"])
        if isinstance(found.get("answer"), dict) and found.get("kind") != "evaluate":
            yield case, _view(found["answer"], name, number)
        elif isinstance(found.get("error"), dict):
            yield case, found["error"]
        else:
            yield None


def _single(text: str) -> dict[str, Any] | None:
    """The document in a text that is one answer; None if the text is anything else."""
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
    """The stable word for the reason why nobody decided; None if the answer was decided."""
    if view.stage == "failed":
        return view.failure_reason or "no_answer"
    match view.verification_status:
        case None:
            return "unfinished"
        case "unverified":
            return view.skip_reason or "unverified"
        case _:
            return None


def _shown(view: AnswerView) -> Attempt | None:
    """The last attempt whose answer is shown; None if there is none."""
    return next((each for each in reversed(view.attempts) if each.solution.answer == view.answer), None)


def _model(view: AnswerView) -> str | None:
    """The model that answered, as `provider/model`, or as the caller named it if the caller gave the answer.

    None if there is no answer, or if the caller gave it and named no model.
    """
    shown = _shown(view)
    solution = None if shown is None else shown.solution
    if solution is None or solution.model in {"", CALLER}:
        return None
    return solution.model if solution.provider == CALLER else f"{solution.provider}/{solution.model}"


def _details(view: AnswerView) -> dict[str, str]:
    shown = _shown(view)
    verification = None if shown is None else shown.verification
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
