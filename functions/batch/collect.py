"""The last step of a batch: the results beside the file, or why there are none."""

from collections.abc import Mapping
from typing import Any

from functions.composition.work import batch_desk
from functions.observability import logger, publishing
from touchstone.operations.chunks import tenant_of


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Close the batch, unless another execution than `owner` works on it."""
    owner = str(event["owner"])
    if "batch_id" not in event:
        tenant, name = tenant_of(str(event["key"]))
        logger.append_keys(tenant=tenant, correlation_id=name)
        batch = batch_desk(tenant).refuse(name, str(event.get("error", "unknown")), owner=owner)
        return {"state": batch.state}
    tenant, batch_id = str(event["tenant"]), str(event["batch_id"])
    logger.append_keys(tenant=tenant, correlation_id=batch_id)
    return {"state": batch_desk(tenant).collect(batch_id, owner=owner).state}
