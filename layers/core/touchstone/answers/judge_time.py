"""How long a judge has for a verification where nobody waits for it.

Where somebody waits, at the API, the door's own deadline cuts it shorter.
"""

import math
import os
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from touchstone.errors import SettingsError

VARIABLE = "TOUCHSTONE_VERIFY_SECONDS"
DEFAULT_SECONDS = 60.0
"""A model on a machine of one's own takes 5 to 40 s for a short problem."""
LEAST_SECONDS = 1.0
MOST_SECONDS = 300.0
"""What is waited for in a deployment must end before the state machine and the queue around it give up."""
START_SECONDS = 15.0
"""For the checks and for loading an SDK, a few seconds together on a machine that is busy."""

type VerifySeconds = Annotated[float, Field(ge=LEAST_SECONDS, le=MOST_SECONDS)]


def judge_seconds(own: float | None = None, environ: Mapping[str, str] | None = None) -> float:
    """How long a judge has for one verification, in seconds: a request's `own`, else what the environment says.

    Loading an SDK does not count. `environ` None: `os.environ`. Raises `SettingsError` for what is no such number.
    """
    if own is not None:
        return own
    given = (os.environ if environ is None else environ).get(VARIABLE, "").strip()
    try:
        seconds = float(given) if given else DEFAULT_SECONDS
    except ValueError:
        seconds = math.nan
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise SettingsError(
            f"{VARIABLE} is {given!r}; set it to a number of seconds from {LEAST_SECONDS:g} to {MOST_SECONDS:g}."
        )
    return seconds


def whole_seconds(seconds: float, *, in_turn: int = 2) -> float:
    """The most that a verification takes where a judge has `seconds`, and so many are asked one after the other.

    Each further one has what those before it left of that.
    """
    return START_SECONDS + min(in_turn * seconds, MOST_SECONDS)
