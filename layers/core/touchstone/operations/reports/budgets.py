"""What a tenant is shown of budgets, the backlog and the data that routing uses: from counters only, without scans."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from touchstone.clock import Clock, system_clock
from touchstone.judges.base import Tier
from touchstone.records.provider_batches import ProviderBatchSummary

if TYPE_CHECKING:
    from touchstone.budgets import QuotaKey, Quotas, Spending
    from touchstone.judges.opening import Judges, TierModel
    from touchstone.records import Evaluations, ProviderBatchStore, Statistics

SHOWN_TIERS: tuple[Tier, ...] = ("verify", "evaluate")
"""The tiers whose quota decides how long a user waits."""
EVALUATION_STATES = ("waiting", "deferred", "submitted", "running", "done", "failed")
SHOWN_BATCHES = 10
LONGEST_BY_BATCH = timedelta(hours=49)
"""The longest time until a batch is answered: an hour until it is sent, and the time of the slowest provider."""


class View(BaseModel):
    """The base of all views. A view is immutable."""

    model_config = ConfigDict(frozen=True)


class ShareView(View):
    """The caller's own share of a quota today. `used`, `limit` and `left_this_minute` are requests.

    `limit` is null if no share of the day applies now: in the last two hours before `resets_at`, what others did not
    use is free for everyone. `per_minute` and `left_this_minute` are null if no limit per minute is known.
    """

    used: int
    limit: int | None
    per_minute: int | None
    left_this_minute: int | None


class QuotaView(View):
    """The quota of a tier today. `limit` and `left` are requests, null if no limit is known.

    `learned_per_day` and `learned_per_minute` are limits that the provider named itself, null if it named none.
    `resets_at` is the provider's next midnight. `blocked_until` is when the provider may be asked again after it
    refused, and `blocked_why` what it said then. Both times are UTC. `share` is the part of the quota that one tenant
    may use, null if one tenant may use all of it.
    """

    tier: Tier
    provider: str
    model: str
    limit: int | None
    used: int
    left: int | None
    per_minute: int | None
    left_this_minute: int | None
    learned_per_day: int | None
    learned_per_minute: int | None
    resets_at: datetime
    blocked_until: datetime | None
    blocked_why: str | None
    share: ShareView | None


class BudgetReport(View):
    """Today's budget: the quotas of the judges, and the tenant's spending of this UTC day in US dollars.

    `unpriced_calls` is the number of calls without a known price; they are not in `spent_usd`. `quotas` is empty if no
    judge has a key.
    """

    quotas: tuple[QuotaView, ...]
    spent_usd: float
    reserved_usd: float
    unpriced_calls: int
    ceiling_usd: float | None


class BacklogReport(View):
    """The tenant's deep evaluations by state, and when the deferred ones of all tenants will be done.

    `submitted` evaluations are in a provider's batch. `deferred_before_you` counts the deferred evaluations of all
    tenants, since they share the quota. `waiting_for_batch` of them go by a batch, which uses no quota. `done_by` (UTC)
    assumes that nothing new comes. It is null if nothing is deferred or submitted, or if the time cannot be said.
    `batches` are the tenant's latest batches at providers, newest first.
    """

    waiting: int
    deferred: int
    submitted: int = 0
    running: int
    done: int
    failed: int
    deferred_before_you: int
    waiting_for_batch: int = 0
    oldest_requested_at: datetime | None
    done_by: datetime | None
    batches: tuple[ProviderBatchSummary, ...] = ()


def budget_report(
    *, tenant: str, judges: Judges, quotas: Quotas, spending: Spending, ceiling_usd: float
) -> BudgetReport:
    """The budget of a tenant today."""
    seats = [seat for tier in SHOWN_TIERS if (seat := judges.tier_model(tier)) is not None]
    spent = spending.today(tenant)
    return BudgetReport(
        quotas=tuple(_quota(seat, quotas, tenant=tenant) for seat in seats),
        spent_usd=spent.spent_usd,
        reserved_usd=spent.reserved_usd,
        unpriced_calls=spent.unpriced_calls,
        ceiling_usd=spent.ceiling_usd if spent.ceiling_usd is not None else ceiling_usd,
    )


def backlog_report(
    *,
    tenant: str,
    judges: Judges,
    quotas: Quotas,
    evaluations: Evaluations,
    statistics: Statistics,
    batches: ProviderBatchStore,
    clock: Clock = system_clock,
) -> BacklogReport:
    """The state of a tenant's deep evaluations."""
    from touchstone.budgets import forecast

    counts = statistics.evaluations(tenant)
    backlog = evaluations.backlog()
    seat = judges.tier_model("evaluate")
    sent = batches.page(tenant=tenant, limit=SHOWN_BATCHES).items
    moments: list[datetime | None] = []
    if (asked := backlog.count - backlog.cheap) > 0:
        moments.append(None if seat is None else forecast(asked, quotas.usage(_key(seat), seat.model.limits)))
    if backlog.cheap:
        moments.append(clock() + LONGEST_BY_BATCH)
    moments += [one.ends_by or one.created_at + LONGEST_BY_BATCH for one in sent if one.state != "over"]
    known = [moment for moment in moments if moment is not None]
    return BacklogReport(
        **{state: counts.get(state, 0) for state in EVALUATION_STATES},
        deferred_before_you=backlog.count,
        waiting_for_batch=backlog.cheap,
        oldest_requested_at=backlog.oldest_requested_at,
        done_by=max(known) if known and len(known) == len(moments) else None,
        batches=sent,
    )


def free_units(*, judges: Judges, quotas: Quotas) -> int | None:
    """The units of the quota behind deep evaluation that the backlog may take now. None if nothing limits them."""
    seat = judges.tier_model("evaluate")
    if seat is None:
        return None
    usage = quotas.usage(_key(seat), seat.model.limits)
    of_day = None if usage.left is None else max(0, usage.left - usage.kept)
    known = [units for units in (of_day, usage.left_this_minute, usage.at_once) if units is not None]
    return min(known) if known else None


def spent_for_today(*, judges: Judges, quotas: Quotas) -> bool:
    """Whether the backlog may ask nothing more today: its part of the day's quota is used up, or no judge has a key."""
    seat = judges.tier_model("evaluate")
    if seat is None:
        return True
    usage = quotas.usage(_key(seat), seat.model.limits)
    return usage.left is not None and usage.left <= usage.kept


def _key(seat: TierModel) -> QuotaKey:
    from touchstone.budgets import QuotaKey

    return QuotaKey(provider=seat.model.provider, model=seat.model.name, account=seat.account)


def _quota(seat: TierModel, quotas: Quotas, *, tenant: str) -> QuotaView:
    usage = quotas.usage(_key(seat), seat.model.limits)
    return QuotaView(
        tier=seat.tier,
        provider=seat.model.provider,
        model=seat.model.name,
        limit=usage.limit,
        used=usage.used,
        left=usage.left,
        per_minute=usage.per_minute,
        left_this_minute=usage.left_this_minute,
        learned_per_day=usage.learned.per_day,
        learned_per_minute=usage.learned.per_minute,
        resets_at=usage.resets_at,
        blocked_until=usage.blocked_until,
        blocked_why=usage.blocked_why,
        share=_share(seat, quotas, tenant=tenant),
    )


def _share(seat: TierModel, quotas: Quotas, *, tenant: str) -> ShareView | None:
    usage = quotas.share_usage(_key(seat), seat.model.limits, tenant=tenant)
    return None if usage is None else ShareView.model_validate(usage, from_attributes=True)
