"""Two tenants with one of everything, in a deployment whose bucket keeps versions."""

from collections.abc import Iterator

import pytest

from tests.support.deployment import BUCKET, Deployment, deployed
from tests.support.everything import own_one_of_everything
from tests.support.providers import ProviderServer

TENANTS = ("acme", "acme-2")
"""The one's id begins the other's."""


@pytest.fixture
def full(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """The deployment."""
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, POWERTOOLS_METRICS_DISABLED="true", **addresses) as here:
        here.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        for tenant in TENANTS:
            here.tenant(tenant)
        for tenant in TENANTS:
            own_one_of_everything(here, judges, tenant)
        yield here
