"""One line of a batch: parsed strictly, done like any other request, and answered with a line of its own."""

import json
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from touchstone.answers.model import SolveRequest, VerifyRequest
from touchstone.answers.view import AnswerView
from touchstone.attempts import When
from touchstone.errors import InputError, TouchstoneError
from touchstone.json_text import loads
from touchstone.operations.batches.chunks import LineName, lines_of
from touchstone.operations.jobs.waiting import OpenLine
from touchstone.strict import Strict, fault_sentence, placed
from touchstone.text import shortened

if TYPE_CHECKING:
    from touchstone.operations.batches.job_lines import MeasurementLine, QuizWorkLine, SubmissionLine

MAX_LINE_BYTES = 6_000_000
"""The largest line. An image of the greatest size fits as base64, and so do the longest texts with every character
escaped."""
MOST_FAULTS = 5
"""How many faults of a line are told; the rest are only counted."""
MAX_PLACE_CHARS = 100
MAX_TOLD_CHARS = 500
"""The lengths to which a place and a fault in words are cut: both may hold a name of any length."""
KINDS = frozenset({
    *("verify", "solve", "evaluate", "submission", "quiz", "quiz_check"),
    *("quiz_evaluation", "summary_evaluation", "flashcards_evaluation"),
})  # fmt: skip
"""The kinds of lines."""


class VerifyLine(VerifyRequest):
    """An answer to verify."""

    kind: Literal["verify"]
    id: LineName = None


class SolveLine(SolveRequest):
    """A problem to solve."""

    kind: Literal["solve"]
    id: LineName = None


class EvaluateLine(Strict):
    """A finished answer to evaluate deeply; `when` means the same as in a request to verify."""

    kind: Literal["evaluate"]
    id: LineName = None
    answer_id: str
    when: When | None = None


type AnswerLine = VerifyLine | SolveLine | EvaluateLine
type RecordLine = SubmissionLine | MeasurementLine | QuizWorkLine
"""Lines whose work has a record of its own. The `result` of their class names the field of a line's result that they
fill."""
type Line = AnswerLine | RecordLine

_REFERENCE: TypeAdapter[str | None] = TypeAdapter(LineName)


class LineError(BaseModel):
    """Why a line was not done: a stable `reason`, a sentence, and the field at fault if one is."""

    model_config = ConfigDict(frozen=True)

    reason: str
    detail: str
    where: str | None = None


class LineResult(BaseModel):
    """The result of one line, identified by its number in the file (from 1): what came of it, or an error.

    `kind` is set if the line asked only for an evaluation, which does not change the decision on its answer.
    `submission` is a `SubmissionView` for its author, `measurement` a `MeasurementView`, and `quiz` a `QuizView`, all
    as JSON: the code that collects results need not load the code that judges.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    id: str | None = None
    kind: Literal["evaluate"] | None = None
    answer: AnswerView | None = None
    submission: dict[str, Any] | None = None
    measurement: dict[str, Any] | None = None
    quiz: dict[str, Any] | None = None
    error: LineError | None = None
    finished_at: datetime | None = None


def given_up(line: OpenLine) -> LineResult:
    """The result of a line that could not be ended otherwise: an error with the reason why it was open."""
    return LineResult(line=line.line, id=line.id, error=LineError(reason=line.reason, detail=line.detail))


def part_of(data: bytes) -> list[LineResult | OpenLine]:
    """The lines of a chunk as `LineWork` stored them."""
    return [
        OpenLine.model_validate_json(line) if is_open(line) else LineResult.model_validate_json(line)
        for line in lines_of(data)
        if line
    ]


def is_open(line: bytes) -> bool:
    """Whether a line of a part has no result so far."""
    return json.loads(line).get("open") is True


def parse_line(text: bytes) -> Line:
    """Parse one line. Raises `InputError` with the fault and, if there is one, the field."""
    if len(text) > MAX_LINE_BYTES:
        raise InputError(f"The line has {len(text):,} bytes; at most {MAX_LINE_BYTES:,} are taken.")
    fields: Any = loads(text)
    try:
        return _parser().validate_python(fields)
    except ValidationError as error:
        raise _fault_of(error, fields) from None


@cache
def _parser() -> TypeAdapter[Line]:
    """The parser of lines, made on first use: loading the models of submissions and materials takes long."""
    from touchstone.operations.batches.job_lines import MeasurementLine, QuizWorkLine, SubmissionLine

    kinds = VerifyLine | SolveLine | EvaluateLine | SubmissionLine | MeasurementLine | QuizWorkLine
    return TypeAdapter(Annotated[kinds, Field(discriminator="kind")])


def _fault_of(error: ValidationError, fields: Any) -> InputError:
    """The faults of a line, as one error: `where` is the first fault's field, and the sentence tells all of them."""
    faults = placed(error.errors(include_url=False), fields)
    for fault in faults:
        fault.pop("input", None)
    told = [
        shortened(fault_sentence(fault, _field(fault["loc"]) or ""), MAX_TOLD_CHARS) for fault in faults[:MOST_FAULTS]
    ]
    if left := len(faults) - len(told):
        told.append(f"and {left} more")
    if faults[0]["type"] == "union_tag_not_found":
        told.append(f"it is one of {', '.join(sorted(map(repr, KINDS)))}")
    where = _field(faults[0]["loc"])
    sentence = f"{'; '.join(told)}."
    return InputError(sentence if where else f"{sentence[:1].upper()}{sentence[1:]}", where=where)


def _field(place: tuple[int | str, ...]) -> str | None:
    """The field at fault; None for the line itself.

    It is cut, because a name that the sender made up may be of any length.
    """
    return shortened(".".join(map(str, place)), MAX_PLACE_CHARS) or None


def reference_in(text: bytes) -> str | None:
    """The sender's name for a line that could not be parsed. None if no name can be read."""
    try:
        fields = loads(text) if len(text) <= MAX_LINE_BYTES else None
    except InputError:
        return None
    name = fields.get("id") if isinstance(fields, dict) else None
    try:
        return _REFERENCE.validate_python(name)
    except ValidationError:
        return None


def failed_line(number: int, reference: str | None, error: TouchstoneError) -> LineResult:
    """The result of a line that was not done."""
    where = error.where if isinstance(error, InputError) else None
    return LineResult(line=number, id=reference, error=LineError(reason=error.reason, detail=str(error), where=where))
