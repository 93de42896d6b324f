"""The first step of a batch: a dropped file is cut into chunks."""

from collections.abc import Mapping
from typing import Any

from functions.composition import batch_desk
from functions.observability import logger
from touchstone.operations.chunks import tenant_of


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Write the manifest of the file's chunks; the key's first folder names the tenant."""
    tenant, name = tenant_of(str(event["key"]))
    logger.append_keys(tenant=tenant, correlation_id=name)
    prepared = batch_desk(tenant).prepare(name)
    return {"tenant": prepared.tenant, "batch_id": prepared.batch_id, "manifest_key": prepared.manifest_key}
