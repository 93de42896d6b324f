"""The providers' batch APIs: many questions sent at once, answered within a day, at a part of the price.

    lines ──submit──> a batch ──look──> under way … ended ──collect──> replies by their lines' ids, in any order

A line is what the single adapter would send, with one more field in the reply whose only value is the line's id. The
single adapter reads the reply, so it notices a reply that stands under another line's id. No provider takes an
idempotency key for a batch: if the answer to a create was lost, `find` looks whether the batch was created all the
same.
"""

from touchstone.judges.batches.base import (
    BatchLimits,
    BatchLine,
    BatchLook,
    BatchReply,
    FoundBatch,
    ProviderBatches,
    as_line,
)

__all__ = ["BatchLimits", "BatchLine", "BatchLook", "BatchReply", "FoundBatch", "ProviderBatches", "as_line"]
