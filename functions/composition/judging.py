"""Who judges: the model registry, a tenant's judges within their quotas, and which provider is preferred."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from functions.composition import stores
from functions.environment import environment

if TYPE_CHECKING:
    from touchstone.answers.providers import Preferences
    from touchstone.judges import Adapter, Judges
    from touchstone.judges.base import Tier
    from touchstone.judges.registry import Registry
    from touchstone.judges.sureness import SureJudges
    from touchstone.operations.replaying import Desks
    from touchstone.operations.routing import RoutingReport
    from touchstone.oracle.choice import OracleChoice
    from touchstone.quizzes.generation import GeneratorChoice as Generator
    from touchstone.records import Rates
    from touchstone.records.routing_pins import Routing

THRESHOLDS_KEPT_SECONDS = 60.0
"""How long a label may take to be heeded by a process that verifies: each verification saves a read for it."""
NOBODY = "touchstone"
"""Whose judges are looked at where no tenant is concerned; nothing is asked in its name."""


@cache
def registry() -> Registry:
    """The model registry of this deployment."""
    from touchstone.judges.registry import load_registry

    return load_registry()


@cache
def choice() -> OracleChoice:
    """Who judges submissions in this deployment: `ORACLE_LLM_PROVIDER` and the variables beside it."""
    from touchstone.oracle.choice import choose

    return choose(registry())


@cache
def generator() -> Generator:
    """Who writes quizzes in this deployment: `LLM_MODEL`."""
    from touchstone.quizzes.generation import model_for_generation

    return model_for_generation(registry())


@cache
def _adapter(provider: str, base_url: str | None, key: str | None) -> Adapter:
    """The connections to a provider at an address, which all tenants' judges share."""
    from touchstone.judges.opening import connect

    return connect(registry().provider(provider).model_copy(update={"base_url": base_url}), key)


@lru_cache(maxsize=64)
def judges(tenant: str, *, patient: bool = False, awaited: bool = False, apart: str | None = None) -> Judges:
    """The judges of a tenant: every call within the providers' quotas and the tenant's ceiling.

    `awaited`: somebody waits for what they say, so that each call is let through at once; all others begin slowly with
    a provider that has not shown yet how much it takes. `patient`: they wait for a minute's next slot. `apart`: they
    know no replies but those that they gave under this word. Those of a tenant long unheard of are forgotten; the
    connections they used stay open for all others.
    """
    return _judges(registry(), tenant, patient=patient, awaited=awaited, apart=apart)


@lru_cache(maxsize=64)
def judges_of_submissions(tenant: str, *, patient: bool = False) -> Judges:
    """As `judges`, with the model and address that were chosen for the judge of submissions."""
    return _judges(choice().registry, tenant, patient=patient)


@lru_cache(maxsize=64)
def judges_of_quizzes(tenant: str, *, patient: bool = False, awaited: bool = False, apart: str | None = None) -> Judges:
    """As `judges`, with the model that was chosen to write quizzes."""
    return _judges(generator().registry, tenant, patient=patient, awaited=awaited, apart=apart)


def forget() -> None:
    """Open connections anew from now on: those that are open belong to an event loop that is no longer ours."""
    for kept in (_adapter, judges, judges_of_submissions, judges_of_quizzes):
        kept.cache_clear()


def _judges(listed: Registry, tenant: str, *, patient: bool, awaited: bool = False, apart: str | None = None) -> Judges:
    from functions.judge_keys import DeploymentKeys
    from touchstone.budgets import DynamoAdmission
    from touchstone.judges.opening import Judges
    from touchstone.operations.patience import PatientJudges
    from touchstone.records import Replies

    return (PatientJudges if patient else Judges)(
        listed,
        DeploymentKeys(listed),
        admission=DynamoAdmission(
            stores.quotas(), stores.spending(), ceiling_usd=environment().daily_ceiling_usd, slow_start=not awaited
        ),
        cache=Replies(stores.table(), tenant=tenant, apart=apart),
        tenant=tenant,
        connect=lambda provider, key: _adapter(provider.name, provider.base_url, key),
    )


@dataclass(slots=True)
class _KeptThresholds:
    """The thresholds of a tenant's judges as they were read last, and when by this process's clock."""

    judges: SureJudges | None = None
    read_at: float = 0.0


@lru_cache(maxsize=1024)
def _kept_thresholds(_tenant: str) -> _KeptThresholds:
    return _KeptThresholds()


def sure_judges(tenant: str) -> SureJudges:
    """How sure each judge of a tenant's answers must be, by its labels; read once a minute at most."""
    kept = _kept_thresholds(tenant)
    now = time.monotonic()
    if kept.judges is None or now - kept.read_at >= THRESHOLDS_KEPT_SECONDS:
        from touchstone.operations.labelling import read_thresholds

        kept.judges = read_thresholds(stores.thresholds(), stores.statistics, tenant=tenant)
        kept.read_at = now
    return kept.judges


def batched(tier: Tier = "evaluate") -> bool:
    """Whether what waits for a tier goes by a provider's batches: it has some, at a known price, and they are on."""
    if environment().batches == "off":
        return False
    seat = judges(NOBODY).seat(tier)
    if seat is None:
        return False
    provider = registry().provider(seat.model.provider)
    return provider.kind != "compatible" and seat.model.priced and provider.batch_factor_of(seat.model.name) is not None


def batch_apis(listed: Registry | None = None) -> Desks:
    """The providers' batch APIs, by the connections that all judges share; `listed` None: as this deployment has it."""
    from functions.judge_keys import DeploymentKeys
    from touchstone.operations.replaying import Desks

    listed = listed or registry()
    return Desks(
        listed,
        DeploymentKeys(listed),
        connect=lambda provider, key: _adapter(provider.name, provider.base_url, key),
    )


def preferences(tenant: str) -> Preferences:
    """What decides between providers: pins by hand, of the tenant before the deployment's, and the data."""
    from touchstone.answers.providers import Preferences

    routing = stores.routing_pins().read(tenant)
    pins = {**environment().subject_provider_map, **routing.providers}
    return Preferences(
        pins=pins,
        rates=stores.statistics().rates(tenant).of_providers,
        noted=routing.noted,
        explore=environment().explore_share,
    )


def routing_report(
    tenant: str,
    *,
    rates: Rates | None = None,
    routing: Routing | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> RoutingReport:
    """Which provider solves which subject of a tenant, and why; `rates` and `routing` where they are read already.

    `limit` None: as many as one response tells of. Raises `InputError` for a cursor of another list.
    """
    from touchstone.operations.rates import MOST
    from touchstone.operations.routing import routing_report

    return routing_report(
        tenant=tenant,
        routing=stores.routing_pins().read(tenant) if routing is None else routing,
        everywhere=environment().subject_provider_map,
        rates=(stores.statistics().rates(tenant) if rates is None else rates).of_providers,
        available=judges(tenant).available(),
        limit=limit or MOST,
        cursor=cursor,
    )
