"""Checks by the reply of /health that an address is a Touchstone whose replies this command can read.

A release that changes the content of replies raises the second number of the version. So the first two numbers must
agree; the third may be lower or higher.
"""

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from touchstone.cli.terminal.exits import ServiceError
from touchstone.extras import DISTRIBUTION
from touchstone.version import __version__

PATH = "health"
AGREEING = 2
"""How many numbers, from the first, must be equal in two versions."""


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
