"""The message by which an answer is tried once more, and how often any message comes.

Apart, so that whoever sends one loads nothing that verifies.
"""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import StringConstraints

from touchstone.strict import Strict

type Key = Annotated[str, StringConstraints(min_length=1, max_length=255)]

WAITS_FOR = timedelta(days=7)
"""How long an answer is tried again; the try after that is the last."""
INTAKE_SECONDS = 360
"""How long the function may work on a message: one verification of five minutes, with room for a cold start and retried
writes."""
VISIBLE_AFTER = timedelta(seconds=6 * INTAKE_SECONDS)
"""When a message whose delivery died comes again; six is the factor that AWS asks for."""
DELIVERIES = 5
"""How often it comes before it is a dead letter. Throttled receives count too, so fewer would bury good messages."""
DELIVERED_FOR = (DELIVERIES - 1) * VISIBLE_AFTER
"""From the first delivery of a message to the beginning of its last: as long its work is not abandoned."""


class AgainMessage(Strict):
    """An answer that waits for another try; one that has its end by then keeps it.

    It is for the sweep to send. Its `id` names the try.
    """

    kind: Literal["again"] = "again"
    tenant: str
    id: Key
    answer_id: str
