"""The limit of what an audit may cost: whether another turn may be begun under it."""

from touchstone.judges.registry import unpriced_allowed

COST_REACHED = "The limit of cost was reached."
COST_UNKNOWN = "A call came without its cost, so the limit of cost cannot be kept (TOUCHSTONE_UNPRICED=allow goes on)."


def cost_reached(limit: float | None, known: float, unpriced_calls: int) -> str | None:
    """Why no further turn may be begun under a limit of cost; None if one may."""
    if limit is None:
        return None
    if known >= limit:
        return COST_REACHED
    return COST_UNKNOWN if unpriced_calls and not unpriced_allowed() else None
