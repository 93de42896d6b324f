"""Verify answers, solve problems, and evaluate answers in depth."""

import base64
from collections.abc import Buffer, Mapping, Sequence
from typing import Any, Literal

from pydantic import ValidationError

from touchstone.answers import pipeline
from touchstone.answers.answer_key import AnswerTolerance
from touchstone.answers.model import AnswerRecord, SolveRequest, VerifyRequest
from touchstone.checks import Tolerance
from touchstone.errors import InputError
from touchstone.flat.running import blocking, opened
from touchstone.judges import Judges
from touchstone.judges.base import JudgeCount
from touchstone.kinds import require_kind, require_model
from touchstone.strict import fault_sentence, first_fault

type Key = str | Sequence[str] | None
type Within = AnswerTolerance | Tolerance | Mapping[str, float] | None


async def averify(
    problem: str,
    answer: str,
    *,
    expected: Key = None,
    tolerance: Within = None,
    steps: str = "",
    language: Literal["zh", "en"] | None = None,
    verify_seconds: float | None = None,
    judges: JudgeCount | Judges | None = None,
    among: Judges | None = None,
) -> AnswerRecord:
    """Verify an answer: by its key if it has one, by computation if that is possible, else by a judge.

    ```python
    record = touchstone.verify("Compute 3/4 + 1/6.", "11/12")
    record.verification_status  # "verified", "caution", or "unverified" where nobody could decide
    record.verification_confidence  # 0-1
    record.attempts[-1].verification  # how it was decided, or why it was not
    ```

    `expected` is the answer key: one text, or several of which any is right. `tolerance` is how far a number may lie
    from it (`{"relative": 0.01}`, or `absolute`, or `significant_digits`). `steps` is a summary of the solution, or the
    whole of it. `language` None means that it is recognised from the problem. `verify_seconds` is how many seconds a
    judge has (1-300; None means `TOUCHSTONE_VERIFY_SECONDS`, 60).

    `judges` is how many judges are asked, each of them another model. 1 asks a second judge only if the first is not
    sure enough. Of 2 or 3, more than half must agree. "until_sure" asks one after the other until one is sure enough.
    Their `votes` are in the verification; if they do not agree, nobody decided (`skip_reason` "split"). `among` are the
    opened judges to ask; None means those whose keys are in the environment. Opened judges that are given as `judges`
    count as 1. Without any judge, what computation cannot decide is `unverified` and says so. Raises `InputError` for a
    blank or too long text; never for a judge that fails.
    """
    wanted, given = _how_many(judges, among)
    fields = {
        "problem": problem,
        "answer": answer,
        "steps": steps,
        "language": language,
        "verify_seconds": verify_seconds,
        "judges": wanted,
    }
    request = _checked(VerifyRequest, fields, expected, tolerance)
    async with opened(given, name="among") as asked:
        return await pipeline.verify_answer(request, judges=asked)


async def asolve(
    problem: str | None = None,
    *,
    image: bytes | None = None,
    expected: Key = None,
    tolerance: Within = None,
    language: Literal["zh", "en"] | None = None,
    verify_seconds: float | None = None,
    judges: JudgeCount | Judges | None = None,
    among: Judges | None = None,
) -> AnswerRecord:
    """Solve a problem and verify the solution. If it fails, solve it once more, by another provider if there is one.

    ```python
    record = touchstone.solve("Solve 2x + 7 = 15.")
    record.attempts[-1].solution.answer  # "x = 4"
    record.verification_status  # "verified"
    ```

    The problem is a text, or an `image` of it (PNG, JPEG, WebP or GIF). No solver sees the key. `verify_seconds` is how
    long a judge has to verify an attempt, and `judges` how many verify it. All else is as for `verify`. A record in
    `stage` "failed" says in `failure` why there is no answer. Raises `InputError` if the problem is blank, or the image
    is no picture.
    """
    wanted, given = _how_many(judges, among)
    require_kind("image", image, Buffer | None, "the bytes of a picture")
    shown = None if image is None else {"data_base64": base64.b64encode(image).decode()}
    fields: dict[str, Any] = {
        "problem": problem,
        "image": shown,
        "language": language,
        "verify_seconds": verify_seconds,
    }
    fields |= {"judges": wanted, "deep_evaluation": False}
    request = _checked(SolveRequest, fields, expected, tolerance)
    async with opened(given, name="among") as asked:
        return await pipeline.solve_and_verify(request, judges=asked)


async def adeep_evaluate(record: AnswerRecord, *, judges: Judges | None = None) -> AnswerRecord:
    """The record with a judge's evaluation of its answer in depth: scores of several dimensions, with reasons.

    `record` is what `verify` or `solve` gave. Raises `InputError` for anything else, `ConflictError` for a record
    without an answer, `JudgeError` or `LimitError` if no judge evaluates it.
    """
    require_model("record", record, AnswerRecord, remedy="verify and solve give one")
    async with opened(judges) as asked:
        return await pipeline.deep_evaluate(record, judges=asked)


verify = blocking(averify)
solve = blocking(asolve)
deep_evaluate = blocking(adeep_evaluate)


def _how_many(judges: JudgeCount | Judges | None, among: Judges | None) -> tuple[JudgeCount, Judges | None]:
    """How many judges are wanted, and the opened judges to ask. Raises `InputError` if two sets of judges are given."""
    if not isinstance(judges, Judges):
        return (1 if judges is None else judges), among
    if among is not None:
        raise InputError("Give the opened judges once: as `among`, with `judges` how many of them.", where="judges")
    return 1, judges


def _checked[R: (VerifyRequest, SolveRequest)](
    kind: type[R], fields: dict[str, Any], expected: Key, tolerance: Within
) -> R:
    fields |= {"tolerance": tolerance} | ({} if expected is None else {"expected": expected})
    try:
        return kind(**fields)
    except ValidationError as error:
        fault = first_fault(error, fields)
        where = ".".join(map(str, fault["loc"])) or None
        raise InputError(f"{fault_sentence(fault, where or 'The problem')}.", where=where) from None
