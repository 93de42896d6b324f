"""Asking at once for a job that waits for a provider's batch.

A batch at a provider is paid for already, so the caller must confirm that the job may be paid for twice.
"""

from collections.abc import Iterable

from touchstone.errors import ConflictError
from touchstone.judges.batches.record import ProviderBatch


def refuse_paid(batches: Iterable[ProviderBatch], *, called: str, pay_twice: bool) -> None:
    """Raise `ConflictError` if one of these batches is at its provider, unless `pay_twice` is set."""
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
