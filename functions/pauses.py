"""How long a state machine is to wait."""

import math
from datetime import datetime

from touchstone.clock import system_clock


def seconds_until(moment: datetime | None) -> int:
    """What a machine is to wait until a moment (UTC): whole seconds, rounded up; 0 for none and for one gone by.

    A duration, since a machine's clock need not be ours.
    """
    return 0 if moment is None else max(0, math.ceil((moment - system_clock()).total_seconds()))
