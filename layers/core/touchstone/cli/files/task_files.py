"""A task that is to be created in a deployment: the content of its file, overridden by the options."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from touchstone.attempts import When
from touchstone.cli.files.moments import duration_of, moment_of
from touchstone.cli.files.requests import checked, name_of
from touchstone.cli.files.submissions import brief_of
from touchstone.errors import InputError
from touchstone.judges.base import JudgeCount, PanelSize
from touchstone.oracle.model import Brief, TaskPath
from touchstone.oracle.task import TaskRequest

CHALLENGE_PERIOD = "72h"
NEEDED = {"owner": "NAME", "path": "fastest_first or quality_first", "deadline": "3d"}
"""The fields that a task must have, each with an example of its option."""


class DeployedTaskFile(Brief):
    """A task as a file holds it for a deployment, which makes and locks the dimensions by itself.

    All but the brief may be said by options instead, which go before the file. `deadline` and `challenge_period` are
    written as `touchstone.cli.files.moments` reads them.
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
