"""Looks at the batches of a journal, collects the replies of those that have ended, and cancels batches."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime

from touchstone.cli.batches.batch_journal import (
    BatchJournal,
    Created,
    Dropped,
    EndedBatch,
    Intent,
    ReceivedReply,
    SubmittedBatch,
)
from touchstone.cli.batches.cheap_submitting import BatchSubmitter, tell_where
from touchstone.cli.terminal.screen import say
from touchstone.clock import system_clock
from touchstone.errors import (
    InputError,
    JudgeError,
    MisconfiguredError,
    ResultsGoneError,
    TouchstoneError,
    UnfoundBatchError,
)
from touchstone.judges.batches import BatchLook, ProviderBatches
from touchstone.judges.batches.base import by_line
from touchstone.operations.provider_batches.following import (
    DAY,
    FOUND_WITHIN,
    NEVER_ENDED,
    SHOWN_WITHIN,
    TOO_MANY_QUEUED,
    locate_batch,
    look_at,
    searched,
)
from touchstone.operations.provider_batches.replaying import BatchApis


class BatchCollector:
    """Follows the batches of a journal to their ends. `tell` says a sentence once.

    `submitter` is told what an end means for later batches. `then` is what becomes of questions that a batch did not
    answer: they are `asked at once`, or `left`.
    """

    def __init__(
        self,
        journal: BatchJournal,
        apis: BatchApis,
        submitter: BatchSubmitter,
        tell: Callable[[str], None],
        *,
        then: str,
    ) -> None:
        self._journal = journal
        self._apis = apis
        self._submitter = submitter
        self._tell = tell
        self._then = then
        self._misses = Counter[str]()
        self._unfound: dict[str, datetime] = {}

    async def settle(self) -> bool:
        """Look at each open batch, and collect its replies if it has ended. Return whether any is not open any more."""
        ended = False
        for each in self._journal.open:
            batches = self._apis.batches(each.intent.provider)
            if batches is None:
                raise InputError(
                    f"{self._journal.path} tells of a batch of {each.intent.provider}, which has none by the settings "
                    "of now; --again begins anew.",
                    where="file",
                )
            await self._apis.load(each.intent.provider)
            try:
                ended |= await self._settled(each, batches)
            except MisconfiguredError as error:
                if isinstance(error, UnfoundBatchError) and self._may_be_late(f"batch {each.intent.intent}"):
                    self._tell(f"{error} It is looked for again.")
                    continue
                # A later look fails too until a person mends it, and a second batch would be paid for again.
                raise MisconfiguredError(
                    f"{error} A batch of {len(each.intent.lines)} questions waits there: use the key and the address "
                    "by which it was submitted; --again begins anew."
                ) from None
            except JudgeError as error:
                self._tell(f"{error} It is looked at again.")
        return ended

    async def _settled(self, each: SubmittedBatch, batches: ProviderBatches) -> bool:
        """Look at one batch. Return whether it has ended, or turned out not to exist."""
        intent = each.intent
        if each.batch is None and not await self._located(intent, batches):
            return intent.intent not in self._journal.submissions
        batch_id = self._journal.submissions[intent.intent].batch or ""
        look = await look_at(
            batches,
            batch_id,
            ends_by=each.ends_by or intent.at + DAY,
            cancelled_at=each.cancelled_at,
            now=system_clock(),
        )
        self._unfound.pop(f"batch {intent.intent}", None)
        each.cancelled_at = look.cancelled_at
        if look.state == "under_way":
            tell_where(self._tell, intent, batch_id, look.ends_by)
            return False
        if look.failure == TOO_MANY_QUEUED:
            self._journal.add(Dropped(intent=intent.intent))
            self._submitter.hold(intent, f"{intent.provider}'s batch {batch_id} failed ({look.failure}).")
            self._submitter.pack_fewer(intent)
            return True
        await self._collect(intent, batch_id, look, batches)
        return True

    async def _located(self, intent: Intent, batches: ProviderBatches) -> bool:
        """Search for the batch of a create that was not answered. Return whether it was found.

        An intent that was certainly never carried out is dropped.
        """
        found = await locate_batch(
            batches,
            intent.intent,
            at=intent.at,
            known=self._journal.known,
            misses=self._misses[intent.intent],
            now=system_clock(),
        )
        self._misses[intent.intent] = found.misses
        if found.batch_id is not None:
            self._journal.add(Created(intent=intent.intent, batch=found.batch_id, ends_by=None))
            return True
        if found.never:
            self._journal.add(Dropped(intent=intent.intent))
            self._submitter.count_refusal(intent)
            return False
        when = "when the batches that are under way there have ended."
        if found.known_by is not None:
            when = f"by {found.known_by:%H:%M} UTC: it may be shown late."
        self._tell(
            f"Whether {intent.provider} has a batch of {len(intent.lines)} questions, whose creation was not answered, "
            f"is known {when}"
        )
        return False

    async def _collect(self, intent: Intent, batch_id: str, look: BatchLook, batches: ProviderBatches) -> None:
        """Store what a batch that has ended brought."""
        if look.state != "completed":
            why = f" ({look.failure})" if look.failure else ""
            say(f"{intent.provider}'s batch {batch_id} {look.state}{why}; what it did not answer is {self._then}.")
        lost = look.failure == NEVER_ENDED
        try:
            replies = () if lost or look.state == "failed" else await batches.collect(batch_id)
        except ResultsGoneError as error:
            if self._may_be_late(f"results {intent.intent}"):
                raise
            say(f"{error} They are submitted again.")
            replies, lost = (), True
        if look.state == "completed":
            self._submitter.note_completed(intent)
        brought = by_line(replies, intent.lines.keys(), state=look.state)
        self._journal.add(
            *(ReceivedReply(intent=intent.intent, reply=reply) for reply in brought.values()),
            EndedBatch(intent=intent.intent, lost=lost),
        )

    def _may_be_late(self, what: str) -> bool:
        """Whether a provider did not find a batch, or its results, for so short a time that it may be late."""
        now = system_clock()
        return now < self._unfound.setdefault(what, now) + FOUND_WITHIN


async def cancel_all(journal: BatchJournal, apis: BatchApis) -> None:
    """Cancel the batches that are under way, and say which of them may go on and be paid for."""
    for each in journal.open:
        try:
            remains = await _cancelled(each, journal, apis)
        except TouchstoneError as error:
            remains = str(error)
        if remains:
            named = "A batch" if each.batch is None else f"The batch {each.batch}"
            say(
                f"{named} of {each.intent.provider} with {len(each.intent.lines)} questions was not cancelled and may "
                f"be paid for: {remains}"
            )


async def _cancelled(each: SubmittedBatch, journal: BatchJournal, apis: BatchApis) -> str:
    """Cancel a batch; if its id is not known, search for it first. Return why it may still go on, "" if it does not."""
    provider = each.intent.provider
    batches = apis.batches(provider)
    if batches is None:
        return f"{provider} has no batches by the settings of now."
    await apis.load(provider)
    batch = each.batch
    if batch is None:
        found = await searched(batches, each.intent.intent, at=each.intent.at, known=journal.known)
        if found.open:
            return "its creation was not answered, and which batch it is, is known when it has ended."
        batch = found.batch_id
    if batch is None:
        late = system_clock() < each.intent.at + SHOWN_WITHIN
        return "its creation was not answered, and it is not shown so far." if late else ""
    await batches.cancel(batch)
    return ""
