"""The judges: their registry and keys, a tenant's judges within their quotas, and which provider is preferred."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from functions.composition import stores
from functions.environment import environment

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    from touchstone.answers.providers import Preferences
    from touchstone.judges import Adapter, Judges
    from touchstone.judges.base import Tier
    from touchstone.judges.keys import Place
    from touchstone.judges.registry import Registry
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.operations.provider_batches.replaying import BatchApis
    from touchstone.oracle.choice import OracleChoice
    from touchstone.quizzes.generation import GeneratorChoice as Generator

THRESHOLDS_KEPT_SECONDS = 60.0
"""How long a process uses thresholds before it reads them again. A new label has an effect only after that time, but
most verifications save a read."""
NO_TENANT = "touchstone"
"""The tenant whose judges are looked at if no tenant is concerned. No judge is asked in its name."""
ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
"""The variable that is set if another service stands in for AWS: a local cloud sets it for its functions."""


@cache
def registry() -> Registry:
    """The model registry of this deployment."""
    from touchstone.judges.registry import load_registry

    return load_registry()


@cache
def choice() -> OracleChoice:
    """The choice of the judge of submissions, from `ORACLE_LLM_PROVIDER` and the variables that belong to it."""
    from touchstone.oracle.choice import choose

    return choose(registry())


@cache
def generator() -> Generator:
    """The choice of the model that writes quizzes, from `LLM_MODEL`."""
    from touchstone.quizzes.generation import model_for_generation

    return model_for_generation(registry())


class DeploymentKeys:
    """The keys in the deployment's secret, read again once they are older than the environment allows (300 s)."""

    def __init__(self, listed: Registry) -> None:
        self._registry = listed

    @property
    def place(self) -> Place:
        """Where the keys are set: in the secret, which a local cloud ("laptop") fills when it is brought up."""
        return "laptop" if ENDPOINT_VARIABLE in os.environ else "deployment"

    def get(self, provider: str) -> str | None:
        """The key of a provider; None if the secret has none.

        Raises `StoreError` if the secret cannot be read, and `SettingsError` if it holds something other than keys.
        """
        from touchstone.judges.keys import EnvironmentKeys

        return EnvironmentKeys(self._registry, _stored_keys()).get(provider)


def _stored_keys() -> dict[str, str]:
    """The keys in the secret, by variable name; empty if the secret is empty. Raises as `DeploymentKeys.get`."""
    from aws_lambda_powertools.utilities.parameters import GetParameterError

    from touchstone.errors import StoreError
    from touchstone.judges.keys import keys_in

    name = environment().require("secret_id")
    try:
        secret = _secrets().get(name, max_age=environment().keys_kept_seconds)
    except GetParameterError:
        # The error's own words come from the service and could name keys, so they are left out.
        raise StoreError(
            "The secret of the judges' keys could not be read; it is safe to repeat. "
            "If it stays so, check that TOUCHSTONE_SECRET_ID names a secret that this function may read."
        ) from None
    return keys_in(secret or b"{}")


@cache
def _secrets() -> SecretsProvider:
    import boto3
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    from functions.clients import for_secrets

    # The client comes from boto3's default session: a new session would read boto3's data on services once more.
    return SecretsProvider(boto3_client=boto3.client("secretsmanager", config=for_secrets()))


@cache
def _adapter(provider: str, base_url: str | None, key: str | None) -> Adapter:
    """The connections to a provider at an address. The judges of all tenants share them."""
    from touchstone.judges.opening import connect

    return connect(registry().provider(provider).model_copy(update={"base_url": base_url}), key)


@lru_cache(maxsize=64)
def judges(tenant: str, *, patient: bool = False, awaited: bool = False, cache_scope: str | None = None) -> Judges:
    """The judges of a tenant: every call stays within the providers' quotas and the tenant's ceiling.

    `awaited`: somebody waits for the reply, so each call is let through at once. Otherwise calls begin slowly with a
    provider that has not yet shown how many calls it takes. `patient`: the judges wait for the next free slot in a
    minute's quota. `cache_scope`: the judges use only cached replies that were stored under this word; None: the
    tenant's common replies.

    The judges of the tenants that were asked for last are kept. Connections stay open for all tenants.
    """
    return _judges(registry(), tenant, patient=patient, awaited=awaited, cache_scope=cache_scope)


@lru_cache(maxsize=64)
def judges_of_submissions(tenant: str, *, patient: bool = False) -> Judges:
    """As `judges`, but with the model and address that were chosen for the judge of submissions."""
    return _judges(choice().registry, tenant, patient=patient)


@lru_cache(maxsize=64)
def judges_of_quizzes(
    tenant: str, *, patient: bool = False, awaited: bool = False, cache_scope: str | None = None
) -> Judges:
    """As `judges`, but with the model that was chosen to write quizzes."""
    return _judges(generator().registry, tenant, patient=patient, awaited=awaited, cache_scope=cache_scope)


def forget() -> None:
    """Open new connections from now on: the open ones belong to an event loop that this process no longer uses."""
    for kept in (_adapter, judges, judges_of_submissions, judges_of_quizzes):
        kept.cache_clear()


def _judges(
    listed: Registry, tenant: str, *, patient: bool, awaited: bool = False, cache_scope: str | None = None
) -> Judges:
    from touchstone.budgets import DynamoAdmission
    from touchstone.judges.opening import Judges
    from touchstone.operations.jobs.patience import PatientJudges
    from touchstone.records import Replies

    return (PatientJudges if patient else Judges)(
        listed,
        DeploymentKeys(listed),
        admission=DynamoAdmission(
            stores.quotas(), stores.spending(), ceiling_usd=environment().daily_ceiling_usd, slow_start=not awaited
        ),
        cache=Replies(stores.table(), tenant=tenant, cache_scope=cache_scope),
        tenant=tenant,
        connect=lambda provider, key: _adapter(provider.name, provider.base_url, key),
    )


@dataclass(slots=True)
class _KeptThresholds:
    """The thresholds of a tenant's judges as they were read last. `read_at` is in seconds of the monotonic clock."""

    judges: JudgeThresholds | None = None
    read_at: float = 0.0


@lru_cache(maxsize=1024)
def _kept_thresholds(_tenant: str) -> _KeptThresholds:
    return _KeptThresholds()


def sure_judges(tenant: str) -> JudgeThresholds:
    """How sure each of a tenant's judges must be, from the tenant's labels; read once a minute at most."""
    kept = _kept_thresholds(tenant)
    now = time.monotonic()
    if kept.judges is None or now - kept.read_at >= THRESHOLDS_KEPT_SECONDS:
        from touchstone.operations.labels.labelling import read_thresholds

        kept.judges = read_thresholds(stores.thresholds(), stores.statistics, tenant=tenant)
        kept.read_at = now
    return kept.judges


def batched(tier: Tier = "evaluate") -> bool:
    """Whether work of this tier that can wait goes by a provider's batches.

    It does if batches are on, and if the provider of the tier's model has a batch API and known prices for it.
    """
    if environment().batches == "off":
        return False
    seat = judges(NO_TENANT).tier_model(tier)
    if seat is None:
        return False
    provider = registry().provider(seat.model.provider)
    return provider.kind != "compatible" and seat.model.priced and provider.batch_factor_of(seat.model.name) is not None


def batch_apis(listed: Registry | None = None) -> BatchApis:
    """The providers' batch APIs, on the connections that all judges share. `listed` None: the deployment's registry."""
    from touchstone.operations.provider_batches.replaying import BatchApis

    listed = listed or registry()
    return BatchApis(
        listed, DeploymentKeys(listed), connect=lambda provider, key: _adapter(provider.name, provider.base_url, key)
    )


def preferences(tenant: str) -> Preferences:
    """What decides between providers: the pins set by hand and the data. A tenant's pin overrides the deployment's."""
    from touchstone.answers.providers import Preferences

    routing = stores.routing_pins().read(tenant)
    pins = {**environment().subject_provider_map, **routing.providers}
    return Preferences(
        pins=pins,
        rates=stores.statistics().rates(tenant).of_providers,
        noted=routing.noted,
        explore=environment().explore_share,
    )
