"""Gathering: waiting questions are put into batches, by tenant, provider and model, once enough of them wait.

    the line of deferred evaluations ──> by tenant ─┬─ too few, too young      left where they are
                                                    ├─ no batches              asked at once, as the quota admits it
                                                    ├─ no money                left where they are
                                                    └─ enough, or an hour old  a batch, and the machine that carries it

`beginning` stores the batch and secures its money. Questions of files, experiments and audits are gathered by `files`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby

from touchstone.answers.evaluation import Evaluated
from touchstone.aws import MAX_KEYS
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.batches import ProviderBatches
from touchstone.judges.batches.base import size_of
from touchstone.judges.questions import highest_cost_usd
from touchstone.judges.registry import Model
from touchstone.operations.provider_batches.beginning import (
    MOST_BYTES,
    MOST_LINES,
    begun,
    continue_half_begun,
    spending_left,
)
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.evaluations import replayed
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    ListedQuestion,
    log_unreadable,
    passing_over,
    with_records_read,
)
from touchstone.operations.provider_batches.replaying import WaitingQuestion
from touchstone.operations.provider_batches.sizes import learned_size
from touchstone.records import BatchedEvaluations, Leases, PendingEvaluation, ProviderBatchSummary, new_ulid
from touchstone.references import Reference
from touchstone.workflows import Workflows

LEASE = "gathering"
LEASE_SECONDS = 960.0
"""The lease of a look at the line: longer than a Lambda function lives."""
ENOUGH = 100
"""How many waiting questions are enough for a batch. Waiting for more is of no use: most batches take minutes."""
WAIT = timedelta(hours=1)
"""How long a question waits at most for others to join its batch."""
MOST_READ = 5_000
"""How many questions of the line are read at once. Each such window is read after the one before."""
MOST_READS = 50
"""The most windows of one look: enough to pass over a quarter of a million questions of tenants that must wait."""
MOST_TOO_DEAR = 100
"""The most questions passed over for one batch because each costs more than the tenant's whole ceiling."""
MOST_LISTED = 20
"""How many of a tenant's latest batches are searched for one that waits for its provider's quota."""
SECONDS_FOR_A_BATCH = 180.0
"""If less of the function's time is left, the rest is left to the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredQuestions:
    """The counts of one look at the line: `batches` begun, `questions` in them, and questions to be asked `at_once`."""

    batches: int = 0
    questions: int = 0
    at_once: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """Gathers waiting questions into batches.

    `on` False: there are no batches, so no question waits for one any more.
    """

    evaluations: BatchedEvaluations
    leases: Leases
    context: Callable[[str], BatchingContext]
    workflows: Callable[[], Workflows]
    on: bool = True
    clock: Clock = system_clock

    async def run(self, *, owner: str, deadline: Deadline) -> GatheredQuestions:
        """Look at the line once. A second look at the same time does nothing."""
        if not self.evaluations.oldest_cheap(limit=1):
            return GatheredQuestions()
        lease = self.leases.acquire(LEASE, owner=owner, seconds=LEASE_SECONDS)
        if lease is None:
            return GatheredQuestions()
        try:
            return await self._all(deadline)
        finally:
            self.leases.release(lease)

    async def _all(self, deadline: Deadline) -> GatheredQuestions:
        """Go through the line window by window.

        Questions of tenants that may not continue stay in it and are passed over.
        """
        done, stopped = GatheredQuestions(), set[str]()
        behind: str | None = None
        for _ in range(MOST_READS):
            found = self.evaluations.oldest_cheap(limit=MOST_READ, behind=behind)
            # A window may begin with the last question of the window before, if that question still waits.
            waiting = [one for one in found if one.request_id != behind and one.tenant not in stopped]
            done = await self._window(waiting, deadline, stopped, done)
            if len(found) < MOST_READ or deadline.remaining <= SECONDS_FOR_A_BATCH:
                break
            behind = found[-1].request_id
        return done

    async def _window(
        self, waiting: Sequence[PendingEvaluation], deadline: Deadline, stopped: set[str], done: GatheredQuestions
    ) -> GatheredQuestions:
        """Gather one window and add its counts to `done`. Tenants that may not continue are added to `stopped`."""
        by_tenant = groupby(sorted(waiting, key=lambda one: one.tenant), key=lambda one: one.tenant)
        for tenant, group in [(tenant, list(group)) for tenant, group in by_tenant]:
            if deadline.remaining <= SECONDS_FOR_A_BATCH:
                break
            more = await self._of_tenant(self.context(tenant), group, deadline, stopped)
            done = GatheredQuestions(
                batches=done.batches + more.batches,
                questions=done.questions + more.questions,
                at_once=done.at_once + more.at_once,
            )
        return done

    async def _of_tenant(
        self, context: BatchingContext, waiting: Sequence[PendingEvaluation], deadline: Deadline, stopped: set[str]
    ) -> GatheredQuestions:
        batches = questions = 0
        left = list(waiting)
        seat = await _seat(context) if self.on else None
        if seat is None:
            return GatheredQuestions(at_once=_ask_at_once(context, left))
        size = learned_size(context, seat.model.provider, seat.model.name, "evaluation")
        if not self._go_on_with_half_gathered(context, seat.model):
            stopped.add(context.tenant)
            left = []
        while left and deadline.remaining > SECONDS_FOR_A_BATCH and self._time_has_come(left):
            latest = _latest(context, seat.model)
            under_way = [one for one in latest if one.state != "over"]
            if any(each.state == "ready" and each.because is not None for each in under_way):
                stopped.add(context.tenant)
                break  # its batch waits until the provider takes another one
            if size is not None and under_way:
                stopped.add(context.tenant)
                break  # the provider's queue has room for one batch of this size, and not for two
            chosen = await _chosen(context, seat, left if size is None else left[:size])
            left = left[chosen.looked_at :]
            if chosen.stopped:
                stopped.add(context.tenant)
            lately = any(self.clock() - one.created_at < WAIT for one in latest)
            if chosen.stopped and len(chosen.questions) < ENOUGH and (under_way or lately):
                break  # money comes back when a batch ends, and a low ceiling must not make more than one batch an hour
            if chosen.questions:
                batch = begun(
                    *(context, seat.model.provider, seat.model.name),
                    chosen.questions,
                    most_usd=chosen.most_usd,
                    batch_id=new_ulid(self.clock()),
                )
                if batch.over:
                    stopped.add(context.tenant)
                    break  # another call took the money meanwhile
                self.workflows().start("provider_batch", batch.ref)
                batches, questions = batches + 1, questions + len(chosen.questions)
            if chosen.stopped:
                break
        return GatheredQuestions(batches=batches, questions=questions)

    def _go_on_with_half_gathered(self, context: BatchingContext, model: Model) -> bool:
        """Finish batches that an earlier look began before it died.

        So their questions are not gathered again, and no money is held back twice. False if another look is at that
        just now: then the tenant's questions are left for later.
        """
        for one in _latest(context, model):
            if one.state == "gathered" and one.of == "evaluation":
                batch = continue_half_begun(context, Reference(context.tenant, "provider_batch", one.id))
                if batch.state == "gathered":
                    return False
                if not batch.over:
                    self.workflows().start("provider_batch", batch.ref)
        return True

    def _time_has_come(self, waiting: Sequence[PendingEvaluation]) -> bool:
        return len(waiting) >= ENOUGH or self.clock() - waiting[0].requested_at >= WAIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seat:
    """The model that evaluates for a tenant, at the price of a batch, and its provider's batch API."""

    model: Model
    batches: ProviderBatches


@dataclass(slots=True)
class _Chosen:
    """The first waiting questions, as many as one batch may have. `stopped`: there was no money for the next one."""

    questions: list[ListedQuestion]
    most_usd: float = 0.0
    size: int = 0
    looked_at: int = 0
    stopped: bool = False


async def _seat(context: BatchingContext) -> _Seat | None:
    """The model that evaluates by batches. None if there is none: no key, no batch API, or an unknown price."""
    try:
        seat = context.judges.tier_model("evaluate")
        if seat is None:
            return None
        batches = context.apis.batches(seat.model.provider)
        if batches is None or not seat.model.priced:
            return None
        await context.apis.load(seat.model.provider)
    except (MisconfiguredError, SettingsError):
        return None
    model = context.apis.prices.find(seat.model.provider, seat.model.name)
    return _Seat(model=model, batches=batches)


def _ask_at_once(context: BatchingContext, waiting: Sequence[PendingEvaluation]) -> int:
    """Leave questions to the drain, which asks them as the quota admits it. Return how many were left to it."""
    at_once = 0
    for pending in waiting:
        with passing_over(pending.answer_id):
            context.evaluations().ask_now(Reference(pending.tenant, "answer", pending.answer_id))
            at_once += 1
    return at_once


def _latest(context: BatchingContext, model: Model) -> list[ProviderBatchSummary]:
    """The tenant's latest batches for this model."""
    page = context.batches.page(tenant=context.tenant, limit=MOST_LISTED)
    wanted = model.provider, model.name
    return [one for one in page.items if (one.provider, one.model) == wanted]


async def _chosen(context: BatchingContext, seat: _Seat, waiting: Sequence[PendingEvaluation]) -> _Chosen:
    """Choose the questions of a batch. An evaluation that the cache answers is stored right away."""
    chosen = _Chosen([])
    ceiling, left_usd = spending_left(context)
    too_dear = 0
    waiting, together = waiting[: min(MOST_LINES, seat.batches.limits.lines)], list[WaitingQuestion | None]()
    for number, pending in enumerate(waiting):
        if number % MAX_KEYS == 0:
            together = await _wanted_of(context, seat, waiting[number : number + MAX_KEYS])
        wanted = together[number % MAX_KEYS]
        if wanted is not None:
            question = wanted.sample_line
            most = highest_cost_usd(seat.model, question, on=context.clock().date())
            size = chosen.size + size_of(seat.batches.line(seat.model.name, question))
            if left_usd and ceiling is not None and (most or 0.0) > ceiling and too_dear < MOST_TOO_DEAR:
                too_dear += 1  # no day has the money for it: it waits for a higher ceiling, and holds up no other
                chosen.looked_at += 1
                continue
            if left_usd is not None and chosen.most_usd + (most or 0.0) > left_usd:
                chosen.stopped = True
                break
            if chosen.questions and size > min(MOST_BYTES, seat.batches.limits.bytes):
                break
            chosen.questions.append(ListedQuestion(answer_id=pending.answer_id, address=wanted.address))
            chosen.most_usd += most or 0.0
            chosen.size = size
        chosen.looked_at += 1
    return chosen


async def _wanted_of(
    context: BatchingContext, seat: _Seat, waiting: Sequence[PendingEvaluation]
) -> list[WaitingQuestion | None]:
    """As `_wanted`, for up to a hundred questions whose records are read, and replies looked up, together."""
    context = with_records_read(context, "evaluation", [ListedQuestion(answer_id=one.answer_id) for one in waiting])
    found = [await _wanted(replace(context, cache=None), seat, pending) for pending in waiting]
    cache = (
        None if context.cache is None else context.cache.preloaded([one.address for one in found if one is not None])
    )
    for number, one in enumerate(found):
        if cache is not None and one is not None and await cache.get(one.address) is not None:
            found[number] = await _wanted(replace(context, cache=cache), seat, waiting[number])
    return found


async def _wanted(context: BatchingContext, seat: _Seat, pending: PendingEvaluation) -> WaitingQuestion | None:
    """The question of a deep evaluation for a batch. None if there is none any more."""
    try:
        record = context.evaluations().get(Reference(pending.tenant, "answer", pending.answer_id))
        if record.evaluation.state != "deferred" or record.evaluation.when != "cheap":
            return None  # the index is a moment behind the record
        found = await replayed(context, record, seat.model.provider)
        if isinstance(found.result, Evaluated):
            context.evaluations().complete(record.ref, evaluation=found.result.evaluation, spends=found.spends)
            return None
        if found.wanted is None:
            context.evaluations().ask_now(record.ref)
    except OUT_OF_REACH as error:
        log_unreadable(pending.answer_id, error)
        return None
    return found.wanted
