"""The steps of a batch: cut its file into chunks, do the lines of each chunk, and collect the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.composition.batching import of_files, tried
from functions.composition.judging import batched
from functions.composition.stores import leave_quotas
from functions.composition.work import batching, bulk_evaluations, line_work, run
from functions.environment import environment
from functions.observability import count_verdict, logger, publishing
from functions.steps import seconds_until
from touchstone.clock import Deadline
from touchstone.operations.batches.chunks import LineChunk, tenant_of

if TYPE_CHECKING:
    from touchstone.operations.jobs.waiting import LineStanding, OpenLine
    from touchstone.records import Batch

RESERVE_SECONDS = 60.0
"""The part of the function's time that is kept free for storing the results."""


@cache
def load_checks() -> None:
    """Load the mathematics library once per process, by running a proof that needs it.

    Otherwise the checks of the first lines spend their seconds on loading it, and a judge is paid for verdicts that
    the checks can prove.
    """
    from touchstone.checks import prove_answer

    prove_answer("Solve x^2 - 5x + 6 = 0.", "x = 2 or x = 3")


@publishing
def prepare(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Write the manifest of the file's chunks. The key's first folder names the tenant, `owner` the execution."""
    tenant, name = tenant_of(str(event["key"]))
    logger.append_keys(tenant=tenant, correlation_id=name)
    prepared = batching(tenant).prepare(name, owner=str(event["owner"]))
    return asdict(prepared)


@publishing
def lines(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Do the lines of one chunk. Their results are stored in the table and the bucket."""
    chunk = LineChunk.model_validate(event)
    load_checks()
    logger.append_keys(tenant=chunk.tenant, correlation_id=chunk.batch_id)
    deadline = Deadline.after(context.get_remaining_time_in_millis() / 1000 - RESERVE_SECONDS)
    try:
        # With no days to wait for a provider's batch, the next round is the last, and the last round asks at once.
        by_batch = tried(chunk.tenant) if batched("verify") and environment().batch_days > 0 else None
        work = replace(line_work(chunk.tenant, ended=count_verdict), by_batch=by_batch)
        batch = run(work.run(chunk, deadline=deadline))
    finally:
        leave_quotas()
        bulk_evaluations().start()
    return {"done": batch.done, "failed": batch.failed}


def _add_to_batches(file: Batch, lines: Sequence[OpenLine], *, begin: bool) -> dict[int, LineStanding]:
    """Add the open questions of a file's lines to providers' batches; see `FileBatches.add_to_batches`."""
    from touchstone.operations.provider_batches.files import WantingWork

    return of_files(file.tenant).add_to_batches(WantingWork.of_file(file), lines, begin=begin)


@publishing
def collect(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Close the batch or say until when it waits, unless an execution other than `owner` works on it."""
    owner = str(event["owner"])
    if "batch_id" not in event:
        tenant, name = tenant_of(str(event["key"]))
        logger.append_keys(tenant=tenant, correlation_id=name)
        batch = batching(tenant).refuse(name, str(event.get("error", "unknown")), owner=owner)
        return {"state": batch.state}
    tenant, batch_id = str(event["tenant"]), str(event["batch_id"])
    logger.append_keys(tenant=tenant, correlation_id=batch_id)
    from touchstone.operations.batches.rounds import Rounds
    from touchstone.operations.batches.rounds import collect as collect_parts

    # The machine carries these values from the last round; before the first round they are missing.
    since = event.get("since")
    rounds = Rounds(
        done=int(event.get("rounds", 0)),
        since=None if since is None else datetime.fromisoformat(since),
        last=event.get("last") is True,
    )
    gathered = collect_parts(
        batching(tenant),
        batch_id,
        owner=owner,
        rounds=rounds,
        by_batch=_add_to_batches,
    )
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
        "idle": gathered.idle,
        "wait_seconds": seconds_until(gathered.batch.waiting_until),
    }
