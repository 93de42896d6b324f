"""The message by which an answer is verified once more; apart, so that whoever sends it loads nothing that verifies."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import StringConstraints

from touchstone.strict import Strict

type Key = Annotated[str, StringConstraints(min_length=1, max_length=255)]

WAITS_FOR = timedelta(days=7)
"""How long an answer is tried again; the try after that is the last."""


class AgainMessage(Strict):
    """An answer that waits for another try at its verification; one that has its end by then keeps it.

    It is for the sweep to send. Its `id` names the try.
    """

    kind: Literal["again"] = "again"
    tenant: str
    id: Key
    answer_id: str
