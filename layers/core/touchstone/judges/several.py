"""How many judges are asked for one verdict, and how many of them a verdict takes."""

from typing import Annotated, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

MOST_JUDGES = 3
"""Judges that are asked until one is sure: each costs as much as the first."""


def _no_boolean(wanted: object) -> object:
    """What was handed in; true is no number of judges, though it equals 1."""
    return repr(wanted) if isinstance(wanted, bool) else wanted


type JudgeCount = Annotated[Literal[1, 2, 3, "until_sure"], BeforeValidator(_no_boolean)]
"""How many judges are asked for a verdict. 1: another one only where the first is not sure enough. `until_sure`: one
after the other, three at most, until one is sure enough."""


def _no_confidence(wanted: object) -> object:
    """What was handed in, unless it asks for judges that are sure."""
    if wanted == "until_sure":
        raise PydanticCustomError(
            "until_sure",
            "judges of criteria and metrics do not say how sure they are, so that none is sure enough; ask 1, 2 or 3",
        )
    return _no_boolean(wanted)


type PanelSize = Annotated[Literal[1, 2, 3], BeforeValidator(_no_confidence)]
"""How many judges are asked side by side, of whom more than half must agree."""
