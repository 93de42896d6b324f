"""The message by which an answer is tried once more, and how often a message is delivered.

It is a module of its own so that a sender of the message loads nothing that verifies.
"""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import StringConstraints

from touchstone.strict import Strict

type Key = Annotated[str, StringConstraints(min_length=1, max_length=255)]

WAITS_FOR = timedelta(days=7)
"""How long an answer is tried again. The try after that is the last."""
INTAKE_SECONDS = 360
"""How long the function may work on a message: one verification of five minutes, with room for a cold start and
repeated writes."""
VISIBLE_AFTER = timedelta(seconds=6 * INTAKE_SECONDS)
"""After this time a message whose delivery died comes again; six is the factor that AWS recommends."""
DELIVERIES = 5
"""How often a message is delivered before it becomes a dead letter. Throttled receives count too, so with fewer
deliveries good messages would be lost."""
DELIVERED_FOR = (DELIVERIES - 1) * VISIBLE_AFTER
"""The time from the first delivery of a message to the start of its last. Until then its work is not abandoned."""


class AgainMessage(Strict):
    """A message for an answer that waits for another try. If the answer has ended by then, it stays as it is.

    Only the sweep sends it. Its `id` names the try.
    """

    kind: Literal["again"] = "again"
    tenant: str
    id: Key
    answer_id: str
