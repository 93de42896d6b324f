"""Tasks and submissions from files and standard input, checked by the library's own models.

A task is judged in this process, or created in a deployment; there the options override the content of its file.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from touchstone.attempts import When
from touchstone.cli.files.requests import MOST_BYTES_A_CHARACTER, checked, name_of, object_of, text_of, validated
from touchstone.cli.terminal.places import write_json
from touchstone.errors import InputError, TooLargeError
from touchstone.judges.base import JudgeCount, PanelSize
from touchstone.judges.fence import visible
from touchstone.oracle.model import MAX_SUBMISSION_CHARS, Brief, Dimension, Dimensions, TaskPath
from touchstone.oracle.task import TaskRequest

BYTE_ORDER_MARK = 3
"""The number of bytes of a byte order mark in UTF-8."""
CHALLENGE_PERIOD = "72h"
NEEDED = {"owner": "NAME", "path": "fastest_first or quality_first", "deadline": "3d"}
"""The fields that a task must have, each with an example of its option."""
DURATION = re.compile(r"(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?")
"""The number of digits is limited, so that a duration is 440 years at most: `datetime` can add it to the present."""


class TaskFile(Brief):
    """A task as a file holds it. `dimensions` None: they are made; those that an earlier run wrote are locked so.

    `judges` is how many check the criteria, `scoring_judges` how many score.
    """

    dimensions: Dimensions | None = None
    judges: JudgeCount = 1
    scoring_judges: PanelSize = 1


def task_of(source: str) -> TaskFile:
    """The task in a file. Raises as `brief_of`."""
    return brief_of(source, TaskFile)


def brief_of[T: Brief](source: str, kind: type[T]) -> T:
    """The task in a file, as the model `kind`, a kind of brief.

    Raises `InputError` and `TooLargeError` with one sentence that names the file and the field at fault.
    """
    fields = object_of(source, otherwise="A task is one JSON object with a description and acceptance_criteria.")
    return validated(kind, fields, name=name_of(source), of="a task")


def submission_of(source: str) -> str:
    """The text of a submission. Raises `InputError` if it is blank or no text, and `TooLargeError`."""
    name = name_of(source)
    try:
        text = text_of(source, at_most=MOST_BYTES_A_CHARACTER * MAX_SUBMISSION_CHARS + BYTE_ORDER_MARK)
    except TooLargeError:
        text = None
    if text is None or len(text) > MAX_SUBMISSION_CHARS:
        raise TooLargeError(f"{name} is too long; a submission has at most {MAX_SUBMISSION_CHARS:,} characters.")
    if not visible(text).strip():
        raise InputError(f"{name} says nothing that a reader would see; give the text of the submission.")
    return text


def write_task(path: Path, task: TaskFile, dimensions: tuple[Dimension, ...]) -> None:
    """Write a task with its dimensions, so that later submissions are judged by the same ones. Raises `StoreError`."""
    document = task.model_copy(update={"dimensions": dimensions}).model_dump(mode="json", exclude_defaults=True)
    write_json(path, document)


class DeployedTaskFile(Brief):
    """A task as a file holds it for a deployment, which makes and locks the dimensions by itself.

    All but the brief may be said by options instead, which go before the file. `deadline` and `challenge_period` are
    written as `moment_of` and `duration_of` read them.
    """

    owner: str | None = None
    path: TaskPath | None = None
    deadline: str | None = None
    challenge_period: str | None = None
    judges: JudgeCount = 1
    when: When = "now"
    scoring_judges: PanelSize = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """The options of the command line for a task; None: the value in the file counts."""

    owner: str | None = None
    path: TaskPath | None = None
    deadline: str | None = None
    challenge_period: str | None = None
    judges: int | Literal["until_sure"] | None = None
    when: When | None = None
    scoring_judges: int | None = None


def task_request(source: str, options: TaskOptions, *, now: datetime) -> TaskRequest:
    """The request to create a task. A deadline that is a duration counts from `now`.

    Raises `InputError` and `TooLargeError` with one sentence that says what is missing or wrong.
    """
    file = brief_of(source, DeployedTaskFile)
    said = {name: getattr(options, name) or getattr(file, name) for name in NEEDED}
    for name, example in NEEDED.items():
        if not said[name]:
            raise InputError(f"Give --{name} {example}, or {name} in {name_of(source)}.", where=name)
    period = options.challenge_period or file.challenge_period or CHALLENGE_PERIOD
    return checked(
        TaskRequest,
        {
            "brief": file.model_dump(include=set(Brief.model_fields)),
            "owner": said["owner"],
            "path": said["path"],
            "deadline": moment_of(str(said["deadline"]), where="deadline", now=now),
            "judges": options.judges or file.judges,
            "when": options.when or file.when,
            "scoring_judges": options.scoring_judges or file.scoring_judges,
            "challenge_seconds": int(duration_of(period, where="challenge_period").total_seconds()),
        },
    )


def duration_of(text: str, *, where: str) -> timedelta:
    """A duration such as 3d, 12h, 90m, 30s or 1d12h. Raises `InputError`."""
    found = _duration(text)
    if found is None:
        raise InputError(f"{text!r} is no duration; write it as 3d, 12h, 90m, 30s or 1d12h.", where=where)
    return found


def moment_of(text: str, *, where: str, now: datetime) -> datetime:
    """The moment (UTC) that a text gives in ISO form with its time zone, or as a duration from `now`.

    Raises `InputError` for any other text, and for a moment without a time zone.
    """
    duration = _duration(text)
    if duration is not None:
        return now + duration
    try:
        moment = datetime.fromisoformat(text)
        utc = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} is no moment; write it as 2027-01-31T12:00+01:00, or from now on as 3d, 12h, 90m or 30s.",
            where=where,
        ) from None
    if moment.tzinfo is None:
        raise InputError(f"{text!r} has no time zone; add one, as in 2027-01-31T12:00+01:00 or …T12:00Z.", where=where)
    return utc


def _duration(text: str) -> timedelta | None:
    """The duration in a text; None if the text is no duration."""
    found = DURATION.fullmatch(text)
    if found is None or not text:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
