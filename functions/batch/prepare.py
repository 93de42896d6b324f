"""The first step of a batch: a dropped file is cut into chunks."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from functions.composition.work import batch_desk
from functions.observability import logger, publishing
from touchstone.operations.chunks import tenant_of


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Write the manifest of the file's chunks; the key's first folder names the tenant, `owner` the execution."""
    tenant, name = tenant_of(str(event["key"]))
    logger.append_keys(tenant=tenant, correlation_id=name)
    prepared = batch_desk(tenant).prepare(name, owner=str(event["owner"]))
    return asdict(prepared)
