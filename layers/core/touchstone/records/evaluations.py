"""Deep evaluations as a state of the record: `none → waiting → deferred → running | submitted → done | failed`.

    request ─> waiting ─ claim ─> running ─ complete ─> done
               ^  │                   │ └── fail, or too many tries ─> failed
               │  │                   └──── defer ─> deferred ─ claim ─> running
               │  └──────────────── line up ────────────^
               └ finish, where one was wanted

A deferred evaluation that goes by a provider's batch is `submitted` meanwhile (`BatchedEvaluations`).

Waiting, deferred and running evaluations are in the `deferred` index. The write that sets the state also sets the place
in the index. So every unfinished request can be found, whatever the queue, a schedule or a function lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from touchstone.answers.model import AnswerRecord, DeepEvaluation, EvaluationProgress, SubmittedPlace
from touchstone.attempts import LEASE, RETRY_PERIOD, Attempts, TryEnd, When, growing_pause
from touchstone.errors import ConflictError
from touchstone.judges.spends import Spend
from touchstone.records.answer_items import EVALUATION, OfAnswers
from touchstone.records.answers import asked, with_late_spends
from touchstone.records.counters import deferred_pks
from touchstone.records.keys import record_of, sortable, unfinished_pks
from touchstone.records.lists import in_order
from touchstone.records.table import read
from touchstone.records.ulids import first_ulid, last_ulid, ulid_moment
from touchstone.references import Reference

INTERRUPTED = "interrupted"
"""The reason of a failed record whose tries all broke off without a result, for days."""

_BEFORE_ALL, _AFTER_ALL = "0", "~"
"""A position before all others and one behind all others: positions in the index begin with a digit or a letter."""

type Pending = Literal["waiting", "deferred", "cheap", "running"]
"""The lists of unfinished requests. `cheap` has the deferred requests that wait for a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationClaim:
    """The outcome of a claim. `granted` False: another process has the record, or it is over; `record` tells which."""

    granted: bool
    record: AnswerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingEvaluation:
    """An unfinished request. `due` is when it may be taken (again), None for a deferred or cheap request."""

    tenant: str
    answer_id: str
    request_id: str
    requested_at: datetime
    state: Pending
    due: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The deferred evaluations of all tenants. `cheap` of them wait for a batch.

    `oldest_requested_at` is None if there are none.
    """

    count: int
    oldest_requested_at: datetime | None
    cheap: int = 0


class Evaluations(OfAnswers):
    """The deep evaluations of answers. All methods are safe to repeat; if the work is done, nothing changes.

    `spends` are kept all the same, each of them once. Raises `NotFoundError` for an id that this tenant does not have,
    `ConflictError` if no evaluation was asked for.
    """

    def request(self, which: Reference, *, retry_failed: bool = False, when: When | None = None) -> AnswerRecord:
        """Ask for an evaluation. If one was asked for already, return the record as it is.

        `retry_failed` asks again if the evaluation failed. `when` None: the sender did not say when. Raises
        `ConflictError` while the answer itself is not finished.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            if record.stage != "finished":
                raise ConflictError("Only a finished answer can be evaluated.")
            again = retry_failed and record.evaluation.state == "failed"
            if record.evaluation.state != "none" and not again:
                return record
            return record.model_copy(update={"evaluation": asked(self._clock(), when=when)})

        return self.change(which, step)

    def claim(self, which: Reference, *, lease_seconds: float = LEASE.total_seconds()) -> EvaluationClaim:
        """Take a record to evaluate it now: of many callers at once exactly one gets it, for `lease_seconds`.

        A record is granted if it is waiting or deferred, or if it is running and its lease has passed: then the earlier
        try broke off. After such a try the next lease is longer each time. A record whose tries broke off for
        `RETRY_PERIOD` fails here.
        """
        granted = False

        def step(record: AnswerRecord) -> AnswerRecord:
            nonlocal granted
            granted = False
            now, progress = self._clock(), requested(record)
            held = progress.state == "running" and progress.not_before is not None and progress.not_before > now
            if progress.state in {"done", "failed", "submitted"} or held:
                return record
            since, broke_off = progress.since or now, progress.state == "running"
            if progress.state == "deferred" and progress.since is not None and progress.not_before is not None:
                # The time in which a due record waits for its turn does not count as time of trying.
                since += max(timedelta(0), now - progress.not_before)
            if broke_off and now - since >= RETRY_PERIOD:
                return moved(record, state="failed", not_before=None, failure=INTERRUPTED)
            granted = True
            lease = timedelta(seconds=lease_seconds)
            lease = growing_pause(since, now, least=lease) if broke_off else lease
            return moved(record, state="running", not_before=now + lease, since=since)

        record = self.change(which, step)
        return EvaluationClaim(granted=granted, record=record)

    def defer(
        self,
        which: Reference,
        *,
        until: datetime,
        reason: str,
        ended: TryEnd = "limited",
        lease: datetime | None = None,
        spends: Sequence[Spend] = (),
        cheap: bool = False,
    ) -> AnswerRecord:
        """Put a record among the deferred, in the order of the requests, not to be tried before `until`.

        `ended` is what the end of the try says about the record. `lease` is the `not_before` of the record that `claim`
        granted: if it is given and another process has taken the record since, nothing changes. `spends` are the calls
        of this try that were paid for and brought no evaluation. `cheap`: the record goes by a provider's batch, unless
        it was asked for `now`.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            progress = requested(record)
            taken = lease is not None and (progress.state != "running" or progress.not_before != lease)
            if progress.state in {"done", "failed", "submitted"} or taken:
                return with_late_spends(record, spends)
            tried = Attempts(tries=progress.tries, since=progress.since, not_before=progress.not_before)
            if progress.state == "running":
                tried = tried.put_back(until=until, ended=ended, now=self._clock())
            after = moved(
                record, state="deferred", not_before=until, failure=reason, tries=tried.tries, since=tried.since
            )
            after = moved(after, when=_when(record, cheap=cheap))
            after = after.model_copy(update={"spends": (*record.spends, *spends)})
            return record if after == record else after

        return self.change(which, step)

    def enqueue(self, which: Reference, *, cheap: bool = False) -> AnswerRecord:
        """Put a waiting request among the deferred, for its turn. A request in another state stays as it is.

        If the request pauses after a judge failed, the pause goes on. `cheap` as in `defer`.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            if requested(record).state != "waiting":
                return record
            now, due = self._clock(), record.evaluation.not_before
            when = _when(record, cheap=cheap)
            return moved(record, state="deferred", not_before=now if due is None else max(now, due), when=when)

        return self.change(which, step)

    def ask_now(self, which: Reference, *, pay_twice: bool = False) -> AnswerRecord:
        """Take a record out of the line for batches: it is asked as soon as the quota admits it.

        A record that is in a batch already is paid for, so it is asked a second time only with `pay_twice`; without it,
        `ConflictError` is raised. An evaluation that is over stays as it is.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            progress = requested(record)
            if progress.state == "submitted":
                if not pay_twice:
                    raise ConflictError(
                        "This evaluation is in a provider's batch already, and paid for. Wait for it, or say pay_twice "
                        "to have it asked now and pay for it a second time."
                    )
                return moved(record, state="deferred", not_before=self._clock(), when="now")
            over = progress.state in {"done", "failed", "running"} or progress.when == "now"
            return record if over else moved(record, when="now")

        return self.change(which, step)

    def complete(self, which: Reference, *, evaluation: DeepEvaluation, spends: Sequence[Spend] = ()) -> AnswerRecord:
        """Keep the result and everything it counts for in one transaction; only the first result counts.

        A late result also counts, from a process that lost its lease or for a record that was given up meanwhile.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            if requested(record).state == "done":
                return with_late_spends(record, spends)
            done = moved(record, state="done", not_before=None, failure=None)
            return done.model_copy(update={"deep_evaluation": evaluation, "spends": (*record.spends, *spends)})

        return self.change(which, step)

    def fail(self, which: Reference, *, failure: str, spends: Sequence[Spend] = ()) -> AnswerRecord:
        """Give a record up, with the reason. A record that is over stays as it is."""

        def step(record: AnswerRecord) -> AnswerRecord:
            if requested(record).state in {"done", "failed"}:
                return with_late_spends(record, spends)
            failed = moved(record, state="failed", not_before=None, failure=failure)
            return failed.model_copy(update={"spends": (*record.spends, *spends)})

        return self.change(which, step)

    def oldest_deferred(
        self,
        *,
        limit: int,
        not_before: datetime | None = None,
        not_after: datetime | None = None,
        behind: str | None = None,
    ) -> tuple[PendingEvaluation, ...]:
        """The deferred requests of all tenants, oldest first; only those made between the given moments.

        `behind` is a request's id: the result begins with that request as long as it is deferred, else behind it.
        """
        first = behind or (_BEFORE_ALL if not_before is None else first_ulid(not_before))
        last = _AFTER_ALL if not_after is None else last_ulid(not_after)
        return self.pending("deferred", limit, first=first, last=last)

    def stalled(self, *, older_than: timedelta, limit: int = 100) -> tuple[PendingEvaluation, ...]:
        """The waiting and running requests that were due longer ago than `older_than`: their carrier was lost."""
        bound = sortable(self._clock() - older_than)
        waiting = self.pending("waiting", limit, last=bound)
        return (*waiting, *self.pending("running", limit - len(waiting), last=bound))

    def backlog(self) -> Backlog:
        """How many evaluations of all tenants are deferred (exactly), and when the oldest of them was asked for."""
        keys = [{"pk": pk, "sk": "DEFERRED"} for pk in deferred_pks()]
        items = [read(self._table, key, "the backlog") for key in keys]
        counts = [item for item in items if item is not None]
        cheap = sum(int(item.get("cheap", 0)) for item in counts)
        oldest = [*self.oldest_deferred(limit=1), *(self.pending("cheap", 1) if cheap else ())]
        return Backlog(
            count=sum(int(item["deferred"]) for item in counts),
            oldest_requested_at=min((pending.requested_at for pending in oldest), default=None),
            cheap=cheap,
        )

    def pending(
        self, state: Pending, limit: int, *, first: str = _BEFORE_ALL, last: str = _AFTER_ALL
    ) -> tuple[PendingEvaluation, ...]:
        """The requests of all tenants in one of the lists, from the position `first` to `last`."""
        lists = unfinished_pks(f"{EVALUATION}{state}")
        items = in_order(self._table, "pending evaluations", lists=lists, first=first, last=last, limit=limit)
        return tuple(_pending_of(item, state) for item in items)


def requested(record: AnswerRecord) -> EvaluationProgress:
    """The progress of a record's evaluation. Raises `ConflictError` if none was asked for."""
    if record.evaluation.state == "none":
        raise ConflictError("No evaluation was asked for.")
    return record.evaluation


def _when(record: AnswerRecord, *, cheap: bool) -> When | None:
    """How a deferred record is asked for. A request that was made for `now` stays so."""
    return "cheap" if cheap and record.evaluation.when != "now" else record.evaluation.when


def moved(record: AnswerRecord, **changes: Any) -> AnswerRecord:
    """The record with changes to the progress of its evaluation; a record that is not `submitted` loses its batch."""
    if changes.get("state", "submitted") != "submitted":
        changes["submitted"] = None
    return record.model_copy(update={"evaluation": record.evaluation.model_copy(update=changes)})


def _pending_of(item: dict[str, Any], state: Pending) -> PendingEvaluation:
    tenant, answer_id = record_of(item["pk"])
    due, _, request = item["gsi2sk"].rpartition("#")
    return PendingEvaluation(
        tenant=tenant,
        answer_id=answer_id,
        request_id=request,
        requested_at=ulid_moment(request),
        state=state,
        due=datetime.fromisoformat(due).replace(tzinfo=UTC) if due else None,
    )


class BatchedEvaluations(Evaluations):
    """As `Evaluations`, with the steps of providers' batches added.

        deferred, cheap ─ submit ─> submitted ─ complete, fail ─> done, failed
           ^      ^ │                   │ │
           │      │ └── ask now ─┐      │ └── ask now, paid twice ───────┐
           │      └─── put back ─┼──────┘                               │
           └─────────────────────┴─> deferred, now <────────────────────┘

    The batch's own record says which questions it has. A submitted record names its batch, so that each record belongs
    to one batch at a time. What a batch brings too late changes nothing.
    """

    def oldest_cheap(self, *, limit: int, behind: str | None = None) -> tuple[PendingEvaluation, ...]:
        """The deferred requests of all tenants that wait for a batch, oldest first; `behind`: see `oldest_deferred`."""
        return self.pending("cheap", limit) if behind is None else self.pending("cheap", limit, first=behind)

    def submit(self, which: Reference, *, place: SubmittedPlace) -> bool:
        """Put a deferred record into a batch. True if it is in that batch now, by this call or an earlier one."""

        def step(record: AnswerRecord) -> AnswerRecord:
            progress = requested(record)
            if progress.state != "deferred" or progress.when != "cheap":
                return record
            return moved(record, state="submitted", submitted=place, not_before=None)

        record = self.change(which, step)
        return in_batch(record, place.provider_batch_id)

    def put_back(
        self,
        which: Reference,
        *,
        provider_batch_id: str,
        when: When,
        until: datetime,
        reason: str,
        ended: TryEnd = "unanswered",
        spends: Sequence[Spend] = (),
    ) -> AnswerRecord:
        """Put a record that is in this batch back among the deferred. A record that is elsewhere by now stays there.

        `when` says how the record is asked from now on; the other parameters are as in `Evaluations.defer`.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            progress = requested(record)
            if not in_batch(record, provider_batch_id):
                return with_late_spends(record, spends)
            tried = Attempts(tries=progress.tries, since=progress.since)
            tried = tried.put_back(until=until, ended=ended, now=self._clock())
            after = moved(record, state="deferred", not_before=until, failure=reason, when=when)
            after = moved(after, tries=tried.tries, since=tried.since)
            return after.model_copy(update={"spends": (*record.spends, *spends)})

        return self.change(which, step)


def in_batch(record: AnswerRecord, provider_batch_id: str) -> bool:
    """Whether a record is in this batch now."""
    submitted = record.evaluation.submitted
    return submitted is not None and submitted.provider_batch_id == provider_batch_id
