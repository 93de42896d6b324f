"""Answers verified, problems solved, and verdicts explained."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import ValidationError

from touchstone.answers import pipeline
from touchstone.answers.answer_key import AnswerTolerance
from touchstone.answers.model import AnswerRecord, SolveRequest, VerifyRequest
from touchstone.errors import InputError
from touchstone.flat.running import blocking, opened
from touchstone.judges import Judges
from touchstone.strict import fault_words

type Key = str | Sequence[str] | None
type Within = AnswerTolerance | Mapping[str, float] | None


async def averify(
    problem: str,
    answer: str,
    *,
    expected: Key = None,
    tolerance: Within = None,
    steps: str = "",
    language: Literal["zh", "en"] | None = None,
    verify_seconds: float | None = None,
    judges: Judges | None = None,
) -> AnswerRecord:
    """Verify an answer: by its key where it has one, by computation where that is possible, else by a judge.

    ```python
    record = touchstone.verify("Compute 3/4 + 1/6.", "11/12")
    record.verification_status  # "verified", "caution", or "unverified" where nobody could decide
    record.verification_confidence  # 0-1
    record.attempts[-1].verification  # how it was decided, or why it was not
    ```

    `expected` is the answer key, one text or several of which any is right, and `tolerance` how far a number may lie
    from it (`{"relative": 0.01}`, or `absolute`, or `significant_digits`). `steps` is a summary of the solution, or the
    whole of it. `language` None: recognised from the problem. `verify_seconds` is how long a judge has (1-300; None:
    `TOUCHSTONE_VERIFY_SECONDS`, 60).

    `judges` None: those whose keys are in the environment. Without any, what computation cannot decide is
    `unverified` and says so. Raises `InputError` for a blank or too long text; nothing for a judge that fails.
    """
    fields = {
        "problem": problem,
        "answer": answer,
        "steps": steps,
        "language": language,
        "verify_seconds": verify_seconds,
    }
    request = _checked(VerifyRequest, fields, expected, tolerance)
    async with opened(judges) as asked:
        return await pipeline.verify_answer(request, judges=asked)


async def asolve(
    problem: str | None = None,
    *,
    image: bytes | None = None,
    expected: Key = None,
    tolerance: Within = None,
    language: Literal["zh", "en"] | None = None,
    verify_seconds: float | None = None,
    judges: Judges | None = None,
) -> AnswerRecord:
    """Solve a problem and verify the solution; one that fails is solved once more, by another provider if there is one.

    ```python
    record = touchstone.solve("Solve 2x + 7 = 15.")
    record.attempts[-1].solution.answer  # "x = 4"
    record.verification_status  # "verified"
    ```

    The problem is a text, or an `image` of it (PNG, JPEG or WebP). No solver sees the key. `verify_seconds` is how
    long a judge has to verify an attempt. All else is as for `verify`. A record in `stage` "failed" says in
    `failure` why there is no answer. Raises `InputError` where the problem is blank or no image.
    """
    shown = None if image is None else {"data_base64": base64.b64encode(image).decode()}
    fields = {"problem": problem, "image": shown, "language": language, "verify_seconds": verify_seconds}
    request = _checked(SolveRequest, {**fields, "deep_evaluation": False}, expected, tolerance)
    async with opened(judges) as asked:
        return await pipeline.solve_and_verify(request, judges=asked)


async def adeep_evaluate(record: AnswerRecord, *, judges: Judges | None = None) -> AnswerRecord:
    """The record with a judge's evaluation of its answer in depth: scores of several dimensions, with reasons.

    Raises `ConflictError` for a record without an answer, `JudgeError` or `LimitError` where nobody evaluates it.
    """
    async with opened(judges) as asked:
        return await pipeline.deep_evaluate(record, judges=asked)


verify = blocking(averify)
solve = blocking(asolve)
deep_evaluate = blocking(adeep_evaluate)


def _checked[R: (VerifyRequest, SolveRequest)](
    kind: type[R], fields: dict[str, Any], expected: Key, tolerance: Within
) -> R:
    if expected is not None:
        fields["expected"] = expected
    try:
        return kind(**fields, tolerance=tolerance)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = str(fault["loc"][0]) if fault["loc"] else None
        raise InputError(f"{where or 'The problem'}: {fault_words(fault)}.", where=where) from None
