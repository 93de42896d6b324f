"""How long a judge has for a verification that nobody waits for.

If somebody waits at the API, the API's own deadline is shorter.
"""

import math
import os
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from touchstone.errors import SettingsError

VARIABLE = "TOUCHSTONE_VERIFY_SECONDS"
DEFAULT_SECONDS = 60.0
"""The default. A model on a machine of one's own takes 5 to 40 s for a short problem."""
LEAST_SECONDS = 1.0
MOST_SECONDS = 300.0
"""The most that can be set. A verification in a deployment must end before the state machine and the queue around it
give up."""
START_SECONDS = 15.0
"""Added for the checks and for loading an SDK, which take a few seconds together on a busy machine."""

type VerifySeconds = Annotated[float, Field(ge=LEAST_SECONDS, le=MOST_SECONDS)]


def judge_seconds(own: float | None = None, environ: Mapping[str, str] | None = None) -> float:
    """How many seconds a judge has for one verification: a request's `own` number, else that of the environment.

    The time to load an SDK does not count. `environ` None means `os.environ`. Raises `SettingsError` if the variable
    holds no such number.
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
    """The most seconds that a verification takes if a judge has `seconds`, and `in_turn` judges are asked one by one.

    Each further judge has the time that the judges before it have left over.
    """
    return START_SECONDS + min(in_turn * seconds, MOST_SECONDS)
