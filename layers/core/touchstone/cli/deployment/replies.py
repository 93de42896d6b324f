"""The replies of a deployment: what is taken for one, and the error that a refusal means.

The address must be that of a Touchstone whose replies this command can read: /health tells its version. A release that
changes the content of replies raises the second number of the version. So the first two numbers must agree; the third
may be lower or higher.

Each reply must have the model that belongs to its request. Without this check, JSON that is not the requested reply
would look as if nothing were wrong: an answer that has no status has no bad status either. The library's own models are
used if the command has the packages that they need. `reply_models` has models for the other replies, with the fields on
which the command relies. Each model is loaded when it is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from touchstone.cli.deployment.connection import TOKEN_VARIABLE
from touchstone.cli.terminal.exits import ServiceError
from touchstone.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    NotFoundError,
    TouchstoneError,
    UnauthenticatedError,
)
from touchstone.extras import DISTRIBUTION
from touchstone.version import __version__

STRANGE = "The reply is not what Touchstone's API says: is the URL that of a Touchstone API?"
TOKEN_REFUSED = (
    f"The API does not accept the token: it may have expired or been revoked. Check {TOKEN_VARIABLE}, or run "
    "`touchstone login URL` again."
)
TOO_MANY = "The API has too many requests just now; try again in a minute."
MOST_FAULTS_SHOWN = 10
HEALTH_PATH = "health"
AGREEING = 2
"""How many numbers, from the first, must be equal in two versions."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The model of a reply, and its form: one object, a list, a whole list under `items`, or a page with `items`."""

    module: str
    name: str
    form: Literal["one", "list", "items", "page"] = "one"


_OWN = "touchstone.cli.deployment.reply_models"
_ANSWER = Shape("touchstone.answers.view", "AnswerView")
_AUDIT = Shape(_OWN, "WholeAuditResponse")
_BATCH = Shape(_OWN, "BatchResponse")
_EXPERIMENT = Shape("touchstone.surfaces.experiments.record", "ExperimentView")
_MEASUREMENT = Shape("touchstone.surfaces.measured", "MeasurementView")
_QUIZ = Shape("touchstone.quizzes.view", "QuizView")
_TASK = Shape("touchstone.oracle.view", "TaskView")
_SUBMISSION = ("touchstone.oracle.feedback", "SubmissionView")
_CHALLENGE = ("touchstone.oracle.challenge", "ChallengeView")

SHAPES: Mapping[str, Shape | None] = {
    "POST verifications": _ANSWER,
    "POST solutions": _ANSWER,
    "GET answers": Shape(_OWN, "AnswerResponse", "page"),
    "GET answers/*": _ANSWER,
    "POST answers/*/deep-evaluation": _ANSWER,
    "POST images": Shape(_OWN, "UploadResponse"),
    "POST batches": _BATCH,
    "GET batches": Shape(_OWN, "BatchResponse", "page"),
    "GET batches/*": _BATCH,
    "POST batches/*/now": _BATCH,
    "GET traces/*": Shape("touchstone.judges.tracing", "TraceView"),
    "GET budget": Shape(_OWN, "BudgetResponse"),
    "GET backlog": Shape(_OWN, "BacklogResponse"),
    "GET statistics/rates": Shape(_OWN, "RatesResponse"),
    "GET statistics/volume": Shape(_OWN, "DayResponse", "list"),
    "GET statistics/trends": Shape(_OWN, "TrendDayResponse", "list"),
    "GET statistics/suggestions": Shape(_OWN, "SuggestionResponse", "list"),
    "GET statistics/approaches": Shape(_OWN, "ApproachResponse", "list"),
    "GET judges": Shape("touchstone.statistics.card_views", "JudgeSummary", "list"),
    "GET judges/*": Shape("touchstone.statistics.card_views", "JudgeCardView"),
    "GET labels/next": Shape(_OWN, "LabelTasksResponse"),
    "PUT labels/*/*": Shape(_OWN, "LabelResponse"),
    "DELETE labels/*/*": None,
    "GET routing": Shape(_OWN, "RoutingResponse"),
    "PUT routing/*": Shape(_OWN, "PinnedResponse"),
    "DELETE routing/*": None,
    "POST tokens": Shape(_OWN, "NewTokenResponse"),
    "GET tokens": Shape(_OWN, "TokenResponse", "items"),
    "DELETE tokens/*": Shape(_OWN, "TokenResponse"),
    "PUT curricula/*": Shape(_OWN, "CurriculumResponse"),
    "GET curricula": Shape(_OWN, "CurriculumResponse", "page"),
    "GET curricula/*": Shape(_OWN, "WholeCurriculumResponse"),
    "DELETE curricula/*": None,
    "PUT learners/*": Shape(_OWN, "LearnerResponse"),
    "GET learners": Shape(_OWN, "LearnerResponse", "page"),
    "GET learners/*": Shape(_OWN, "WholeLearnerResponse"),
    "DELETE learners/*": None,
    "POST quizzes": _QUIZ,
    "GET quizzes": Shape(_OWN, "QuizResponse", "page"),
    "GET quizzes/*": _QUIZ,
    "GET measurements": Shape(_OWN, "MeasurementResponse", "page"),
    "POST measurements": _MEASUREMENT,
    "GET measurements/*": _MEASUREMENT,
    "POST measurements/*/now": _MEASUREMENT,
    "GET experiments": Shape(_OWN, "ExperimentResponse", "page"),
    "POST experiments": _EXPERIMENT,
    "GET experiments/*": _EXPERIMENT,
    "POST experiments/*/now": _EXPERIMENT,
    "POST experiment-files": Shape(_OWN, "ExperimentUploadResponse"),
    "POST tasks": _TASK,
    "GET tasks": Shape(_OWN, "TaskResponse", "page"),
    "GET tasks/*": _TASK,
    "PATCH tasks/*": _TASK,
    "POST tasks/*/submissions": Shape(*_SUBMISSION),
    "GET tasks/*/submissions": Shape(*_SUBMISSION, "page"),
    "GET tasks/*/submissions/*": Shape(*_SUBMISSION),
    "POST tasks/*/challenges": Shape(*_CHALLENGE),
    "GET tasks/*/challenges": Shape(*_CHALLENGE, "items"),
    "POST submission-files": Shape(_OWN, "TextUploadResponse"),
    "POST audits": _AUDIT,
    "GET audits": Shape(_OWN, "AuditResponse", "page"),
    "GET audits/*": _AUDIT,
    "POST audits/*/recheck": _AUDIT,
    "POST audits/*/now": _AUDIT,
    "DELETE audits/*/weekly": _AUDIT,
}
"""The shape of the reply to each request; None: the reply is empty.

A key has the method and the steps of the path after /v1, in which `*` is an id.
"""


def shape_of(method: str, path: tuple[str, ...]) -> Shape | None:
    """The shape of the reply to a request; None if the reply is empty. Raises `LookupError` for an unknown request."""
    readings = [[path[0]]]  # all versions with `*` for any step but the first, which always names a collection
    for step in path[1:]:
        readings = [[*begun, each] for begun in readings for each in (step, "*")]
    for place in (f"{method} {'/'.join(steps)}" for steps in readings):
        if place in SHAPES:
            return SHAPES[place]
    raise LookupError(f"No reply is known of {method} {path[0]}")


def check(shape: Shape | None, content: bytes) -> None:
    """Raise `ServiceError` if the bytes of a reply do not have this shape."""
    if shape is None:
        if content:
            raise ServiceError(STRANGE)
        return
    try:
        adapter(shape).validate_json(content)
    except (ValidationError, RecursionError):
        raise ServiceError(STRANGE) from None


@cache
def adapter(shape: Shape) -> TypeAdapter[Any]:
    """The adapter that validates replies of a shape."""
    model: Any = getattr(import_module(shape.module), shape.name)
    if shape.form == "one":
        return TypeAdapter(model)
    if shape.form == "list":
        listed: Any = list[model]
        return TypeAdapter(listed)
    from touchstone.cli.deployment.reply_models import ItemsResponse, PageResponse

    several: Any = PageResponse[model] if shape.form == "page" else ItemsResponse[model]
    return TypeAdapter(several)


class Health(BaseModel):
    """What a Touchstone says of itself to anybody."""

    model_config = ConfigDict(frozen=True)

    status: Literal["ok"]
    name: Literal["touchstone"]
    version: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,40}$")]


def recognise(url: str, status: int, content: bytes) -> None:
    """Raise `ServiceError` unless the reply of `url` to /health is that of a Touchstone of this version."""
    try:
        health = Health.model_validate_json(content) if status == HTTPStatus.OK else None
    except ValidationError:
        health = None
    if health is None:
        raise ServiceError(f"{url} is no Touchstone, or one older than this command: check the API's address.")
    if not agree(health.version, __version__):
        raise ServiceError(
            f"{url} is Touchstone {health.version}, and this command is {__version__}: install the one that "
            f"fits, pip install '{DISTRIBUTION}[cli]=={series(health.version)}.*', or deploy this one."
        )


def agree(one: str, other: str) -> bool:
    """Whether a command and a deployment of these two versions understand each other."""
    return series(one) == series(other)


def series(version: str) -> str:
    """The first numbers of a version, which must agree, such as `1.4`."""
    return ".".join(version.split(".")[:AGREEING])


def error_of(status: int, document: Mapping[str, Any]) -> TouchstoneError:
    """The error that a refusal means. `document` is empty if the reply held no JSON object."""
    detail = document.get("detail")
    sentence = detail if isinstance(detail, str) and detail else None
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return UnauthenticatedError(sentence or TOKEN_REFUSED)
        case HTTPStatus.FORBIDDEN:
            # If the authorizer refuses a token, the gateway itself replies, with nothing but "Forbidden".
            return ForbiddenError(sentence) if sentence else UnauthenticatedError(TOKEN_REFUSED)
        case HTTPStatus.NOT_FOUND:
            return NotFoundError(sentence or "The API has no such address: is the URL that of a Touchstone API?")
        case HTTPStatus.CONFLICT:
            return ConflictError(sentence or "The API cannot do that now.")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return ServiceError(sentence or TOO_MANY)
        case _ if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            where = document.get("where")
            return InputError(
                _faults(document) or sentence or f"The API refused the request (HTTP {status}).",
                where=where if isinstance(where, str) else None,
            )
        case _:
            return ServiceError(sentence or f"The API failed (HTTP {status}); it is safe to repeat the command.")


def _faults(document: Mapping[str, Any]) -> str | None:
    """A sentence with the first faults in the document, each with its place; None if the document lists none."""
    listed = document.get("errors")
    if not isinstance(listed, list):
        return None
    faults = [
        f"{str(fault.get('where', '')).removeprefix('body.')}: {fault.get('fault', '')}"
        for fault in listed[:MOST_FAULTS_SHOWN]
        if isinstance(fault, dict)
    ]
    return "; ".join(faults) + "." if faults else None
