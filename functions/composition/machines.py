"""The state machines, as whatever starts one reaches them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from functions.environment import environment

if TYPE_CHECKING:
    from touchstone.workflows import Workflows


@cache
def workflows() -> Workflows:
    """The state machines."""
    from touchstone.workflows import Workflows, client

    return Workflows(sfn=client(), arns=environment().machines)
