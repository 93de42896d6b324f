"""Two tenants with one of everything, in a deployment whose bucket keeps versions."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.deployment import BUCKET, Deployment, deployed
from tests.support.everything import own_one_of_everything
from tests.support.providers import ProviderServer

TENANTS = ("acme", "acme-2")
"""The one's id begins the other's."""

type Key = tuple[str, str]


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


def items_of(deployment: Deployment, tenant: str) -> dict[Key, dict[str, Any]]:
    """Every item of the table that names a tenant anywhere, by its key; a look at the whole table."""
    return {
        (str(item["pk"]), str(item["sk"])): item
        for item in deployment.table.scan()["Items"]
        if f"T#{tenant}#" in str(item["pk"]) + "#" or item.get("tenant") == tenant
    }


def versions_of(deployment: Deployment, tenant: str) -> dict[str, int]:
    """How many versions there are of each object of a tenant, markers of deletion among them."""
    found: dict[str, int] = {}
    listed = deployment.s3.list_object_versions(Bucket=BUCKET)
    for version in (*listed.get("Versions", []), *listed.get("DeleteMarkers", [])):
        if f"/{tenant}/" in version["Key"]:
            found[version["Key"]] = found.get(version["Key"], 0) + 1
    return found
