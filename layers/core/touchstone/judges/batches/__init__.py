"""The providers' batch APIs: many questions sent at once, answered within a day, at a part of the price.

    lines ──submit──> a batch ──look──> under way … ended ──collect──> replies by their lines' ids, in any order

A line is what the single adapter would send, with the line's id as the only value of one more field of the reply; a
reply is read by the single adapter. So a reply that stands under another line's id is told from one of its own. No
provider takes an idempotency key for a batch: `find` looks whether a create whose answer was lost was done all the
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
