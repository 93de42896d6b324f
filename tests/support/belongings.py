"""What a tenant has in the table and in the bucket."""

from typing import Any

from tests.support.deployment import BUCKET, Deployment

type Key = tuple[str, str]


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
