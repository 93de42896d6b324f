"""Whether an address is a Touchstone, and one whose replies this command reads: what its /health says.

A release that changes what replies hold raises the second number of the version, so that the first two must agree;
the third may differ either way.
"""

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from touchstone.cli.terminal.exits import ServiceError
from touchstone.extras import DISTRIBUTION
from touchstone.version import __version__

PATH = "health"
AGREEING = 2
"""How many numbers of two versions must agree."""


class Health(BaseModel):
    """What a Touchstone says of itself to anybody."""

    model_config = ConfigDict(frozen=True)

    status: Literal["ok"]
    name: Literal["touchstone"]
    version: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,40}$")]


def recognise(url: str, status: int, content: bytes) -> None:
    """Raise `ServiceError` unless what `url` said of its health is what a Touchstone of this version says."""
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
    """Whether the one reads what the other sends."""
    return series(one) == series(other)


def series(version: str) -> str:
    """The numbers of a version that must agree."""
    return ".".join(version.split(".")[:AGREEING])
