"""The last step of a round of a batch: the results beside the file, why there are none, or what is still open."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from functions.composition.work import batch_desk
from functions.observability import logger, publishing
from functions.pauses import seconds_until
from touchstone.operations.batching import Rounds
from touchstone.operations.chunks import tenant_of


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Close the batch or say until when it waits, unless another execution than `owner` works on it."""
    owner = str(event["owner"])
    if "batch_id" not in event:
        tenant, name = tenant_of(str(event["key"]))
        logger.append_keys(tenant=tenant, correlation_id=name)
        batch = batch_desk(tenant).refuse(name, str(event.get("error", "unknown")), owner=owner)
        return {"state": batch.state}
    tenant, batch_id = str(event["tenant"]), str(event["batch_id"])
    logger.append_keys(tenant=tenant, correlation_id=batch_id)
    # What the machine carried from the last round, which it did not have before the first.
    since = event.get("since")
    rounds = Rounds(
        done=int(event.get("rounds", 0)),
        since=None if since is None else datetime.fromisoformat(since),
        last=event.get("last") is True,
    )
    gathered = batch_desk(tenant).collect(batch_id, owner=owner, rounds=rounds)
    if gathered.open_key is None or gathered.rounds.since is None:
        return {"state": gathered.batch.state}
    return {
        "state": "waiting",
        "tenant": tenant,
        "batch_id": batch_id,
        "manifest_key": gathered.open_key,
        "rounds": gathered.rounds.done,
        "since": gathered.rounds.since.isoformat(),
        "last": gathered.rounds.last,
        "wait_seconds": seconds_until(gathered.batch.waiting_until),
    }
