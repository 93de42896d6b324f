"""Taking what goes by providers' batches out of the line: what is in one is paid for twice only if somebody says so."""

from collections.abc import Iterable

from touchstone.errors import ConflictError
from touchstone.judges.batches.record import ProviderBatch


def refuse_paid(batches: Iterable[ProviderBatch], *, called: str, pay_twice: bool) -> None:
    """Raise `ConflictError` where one of these batches is at its provider, unless it may be paid for twice."""
    if pay_twice:
        return
    sent = next((one for one in batches if one.sent and not one.over), None)
    if sent is not None:
        ends = sent.ends_by
        until = "" if ends is None else f", answered by {ends:%Y-%m-%d %H:%M} UTC at the latest"
        raise ConflictError(
            f"This {called} is in a batch of {sent.provider} already{until}, and paid for. Wait for it, or say "
            "pay_twice to have it asked now and pay for it a second time."
        )
