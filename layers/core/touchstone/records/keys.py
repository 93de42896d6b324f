"""The keys of the table. Every tenant's key begins with the tenant, and is built here and nowhere else."""

import hashlib
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from touchstone.errors import InputError, NotFoundError
from touchstone.records.ulids import is_ulid
from touchstone.references import JobKind, Reference

RECORD = "RECORD"
SUBMISSIONS = "SUBMISSION#"
"""How the sort keys of a task's submissions begin, before their ids."""
OUTBOX = "OUTBOX#"
"""How the sort keys of a task's events begin, before their ids."""
CHALLENGES = "CHALLENGE#"
"""How the sort keys of the challenges to a task's ranking begin, before their ids."""
COMPARISON = "COMPARISON#"
"""How the sort keys of comparisons begin, before their round and dimension."""
CHOICE = "CHOICE#"
"""How the sort keys of noted choices of a provider begin, before their subjects; no subject's own key has a `#`."""
PAIR = "PAIR#"
"""How the sort keys of an experiment's pairs begin, before their numbers."""
CASE = "CASE#"
"""How the sort keys of an audit's cases begin, before their numbers."""
IN_THEIR_TASK: frozenset[JobKind] = frozenset({"submission", "challenge"})
"""The jobs whose records lie in the partition of their task."""
LISTED_SHARDS = 16
"""What is listed by its key is written up to twenty times for one answer, and a partition of an index takes 1,000
writes a second: so many carry the 240 answers a second that the counters do."""
UNFINISHED_SHARDS = 8
"""Of each list of what has no end yet. A partition of an index takes 1,000 writes a second, and an answer costs two of
them or more: so many carry what the counters of a dozen tenants do."""
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{1,38}")
_MAX_PART_BYTES = 400
"""Two free parts (a model and a subject) and their prefix stay within a sort key's 1,024 bytes."""

type Key = dict[str, str]


def check_tenant(tenant: str) -> str:
    """The tenant id unchanged. Raises `InputError` where it is not `[a-z0-9][a-z0-9-]{1,38}`."""
    if _TENANT.fullmatch(tenant) is None:
        raise InputError(
            "A tenant id has 2 to 39 characters: lower-case letters, digits and hyphens, the first not a hyphen.",
            where="tenant",
        )
    return tenant


def of_tenant(tenant: str, *parts: str) -> str:
    """A partition key inside the tenant's own space."""
    return "#".join(("T", check_tenant(tenant), *parts))


def batch_key(tenant: str, batch_id: str) -> Key:
    """The key of a batch's record. Raises `NotFoundError` for what cannot be an id."""
    return {"pk": of_tenant(tenant, "BATCH", _known(batch_id, "batch")), "sk": RECORD}


def task_key(tenant: str, task_id: str) -> Key:
    """The key of a task's record. Raises `NotFoundError` for what cannot be an id."""
    return {"pk": of_tenant(tenant, "TASK", _known(task_id, "task")), "sk": RECORD}


def submitter_key(tenant: str, task_id: str, submitter: str) -> Key:
    """The key of what a submitter has handed in to a task. Raises `NotFoundError` for what cannot be an id."""
    return {**task_key(tenant, task_id), "sk": f"SUBMITTER#{part(submitter)}"}


def event_key(tenant: str, task_id: str, event_id: str) -> Key:
    """The key of an event of a task. Raises `NotFoundError` for what cannot be an id."""
    return {**task_key(tenant, task_id), "sk": f"{OUTBOX}{_known(event_id, 'event')}"}


def comparison_key(tenant: str, task_id: str, round_id: str, dimension: str) -> Key:
    """The key of a comparison: its round (a word of ours or an id) and dimension, in its task's partition."""
    return {**task_key(tenant, task_id), "sk": f"{COMPARISON}{part(round_id)}#{part(dimension)}"}


def key_of(which: Reference) -> Key:
    """The key of a job's record. Raises `NotFoundError` for what cannot be an id."""
    word = which.kind.upper()
    if which.kind in IN_THEIR_TASK:
        return {**task_key(which.tenant, which.task_id), "sk": f"{word}#{_known(which.id, which.kind)}"}
    return {"pk": of_tenant(which.tenant, word, _known(which.id, which.kind)), "sk": RECORD}


def reference_of(kind: JobKind, key: Mapping[str, Any]) -> Reference:
    """The record of a kind that has this key."""
    tenant, owner = record_of(str(key["pk"]))
    if kind in IN_THEIR_TASK:
        return Reference(tenant, kind, str(key["sk"]).partition("#")[2], owner)
    return Reference(tenant, kind, owner)


def listed_by_key(tenant: str, key: Key) -> Key:
    """The attributes that list an item in the index by time, where its key is a hash that follows from no record.

    Nothing but a look at all that a tenant has asks for them.
    """
    pk, sk = key["pk"], key["sk"]
    return {"gsi1pk": listed_pk(tenant, zlib.crc32(pk.encode()) % LISTED_SHARDS), "gsi1sk": f"{pk}#{sk}"}


def listed_pk(tenant: str, shard: int) -> str:
    """The scope, in the index by time, of one shard of a tenant's items that are listed by their keys."""
    return of_tenant(tenant, "LISTED", str(shard))


def unfinished_pk(kind: str, record_id: str) -> str:
    """The partition of a record in a list of what has no end yet, of all tenants."""
    return f"{kind}#{zlib.crc32(record_id.encode()) % UNFINISHED_SHARDS}"


def unfinished_pks(kind: str) -> tuple[str, ...]:
    """All partitions of such a list: that of records which an earlier release stored, and one for each shard."""
    return (kind, *(f"{kind}#{shard}" for shard in range(UNFINISHED_SHARDS)))


def record_of(pk: str) -> tuple[str, str]:
    """Tenant and id from the partition key of a record with a partition of its own, and of all that belongs to it."""
    _, tenant, _, record_id = pk.split("#")
    return tenant, record_id


def sortable(moment: datetime) -> str:
    """A moment as text of fixed width that sorts by time (UTC, microseconds)."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"


def part(text: str) -> str:
    """Free text as one part of a key: `#` and `%` escaped; what is longer than 400 bytes ends in its own hash."""
    escaped = text.replace("%", "%25").replace("#", "%23")
    encoded = escaped.encode()
    if len(encoded) <= _MAX_PART_BYTES:
        return escaped
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    return encoded[: _MAX_PART_BYTES - 17].decode(errors="ignore") + "~" + digest


def text_of(escaped: str) -> str:
    """The free text of a key's part (long ones as they were shortened)."""
    return escaped.replace("%23", "#").replace("%25", "%")


def _known(record_id: str, what: str) -> str:
    if not is_ulid(record_id):
        raise NotFoundError(f"There is no {what} with this id.")
    return record_id
