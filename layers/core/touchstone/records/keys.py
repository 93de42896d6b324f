"""The keys of the table. Each tenant's keys begin with the tenant; they are built here and nowhere else."""

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
"""The prefix of the sort keys of a task's submissions; the id follows."""
OUTBOX = "OUTBOX#"
"""The prefix of the sort keys of a task's events; the id follows."""
CHALLENGES = "CHALLENGE#"
"""The prefix of the sort keys of the challenges to a task's ranking; the id follows."""
COMPARISON = "COMPARISON#"
"""The prefix of the sort keys of comparisons; the round and the dimension follow."""
CHOICE = "CHOICE#"
"""The prefix of the sort keys of noted choices of a provider; the subject follows. No subject's own key has a `#`."""
PAIR = "PAIR#"
"""The prefix of the sort keys of an experiment's pairs; the number follows."""
CASE = "CASE#"
"""The prefix of the sort keys of an audit's cases; the number follows."""
IN_THEIR_TASK: frozenset[JobKind] = frozenset({"submission", "challenge"})
"""The jobs whose records lie in the partition of their task."""
LISTED_SHARDS = 16
"""The shards of a tenant's items that are listed by key. Up to twenty such items are written for one answer, and a
partition of an index takes 1,000 writes a second: this many shards carry the 240 answers a second that the counters
carry."""
UNFINISHED_SHARDS = 8
"""The shards of each list of unfinished records. A partition of an index takes 1,000 writes a second, and an answer
costs two writes or more: this many shards carry what the counters of a dozen tenants carry."""
LEAVING = "leaving_since"
"""The attribute, in a tenant's own item, of a tenant that is being deleted."""
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{1,38}")
_MAX_PART_BYTES = 400
"""The longest free part of a key. Two such parts (a model and a subject) and their prefix fit a sort key's 1,024
bytes."""

type Key = dict[str, str]


def key_in(item: Mapping[str, Any]) -> Key:
    """The key of an item of the table."""
    return {"pk": str(item["pk"]), "sk": str(item["sk"])}


def check_tenant(tenant: str) -> str:
    """The tenant id unchanged. Raises `InputError` unless it matches `[a-z0-9][a-z0-9-]{1,38}`."""
    if _TENANT.fullmatch(tenant) is None:
        raise InputError(
            "A tenant id has 2 to 39 characters: lower-case letters, digits and hyphens, the first not a hyphen.",
            where="tenant",
        )
    return tenant


def of_tenant(tenant: str, *parts: str) -> str:
    """A partition key inside the tenant's own key space."""
    return "#".join(("T", check_tenant(tenant), *parts))


def batch_key(tenant: str, batch_id: str) -> Key:
    """The key of a batch's record. Raises `NotFoundError` for a text that cannot be an id."""
    return {"pk": of_tenant(tenant, "BATCH", _known(batch_id, "batch")), "sk": RECORD}


def submitter_key(task: Reference, submitter: str) -> Key:
    """The key of the item that lists what a submitter handed in to a task.

    Raises `NotFoundError` for a text that cannot be a task's id.
    """
    return {**key_of(task), "sk": f"SUBMITTER#{part(submitter)}"}


def event_key(task: Reference, event_id: str) -> Key:
    """The key of an event of a task. Raises `NotFoundError` for a text that cannot be an id."""
    return {**key_of(task), "sk": f"{OUTBOX}{_known(event_id, 'event')}"}


def comparison_key(task: Reference, round_id: str, dimension: str) -> Key:
    """The key of a comparison, in its task's partition: its round (a word of ours or an id) and its dimension."""
    return {**key_of(task), "sk": f"{COMPARISON}{part(round_id)}#{part(dimension)}"}


def key_of(which: Reference) -> Key:
    """The key of a job's record. Raises `NotFoundError` for a text that cannot be an id."""
    word = which.kind.upper()
    if which.kind in IN_THEIR_TASK:
        return {**key_of(which.task), "sk": f"{word}#{_known(which.id, which.kind)}"}
    return {"pk": of_tenant(which.tenant, word, _known(which.id, which.kind)), "sk": RECORD}


def reference_of(kind: JobKind, key: Mapping[str, Any]) -> Reference:
    """The reference to the record of this kind that has this key."""
    tenant, owner = record_of(str(key["pk"]))
    if kind in IN_THEIR_TASK:
        return Reference(tenant, kind, str(key["sk"]).partition("#")[2], owner)
    return Reference(tenant, kind, owner)


def listed_by_key(tenant: str, key: Key) -> Key:
    """The attributes that list an item in the index by time by its key, a hash that no record leads to.

    Only a search for everything that a tenant has reads them.
    """
    pk, sk = key["pk"], key["sk"]
    return {"gsi1pk": listed_pk(tenant, zlib.crc32(pk.encode()) % LISTED_SHARDS), "gsi1sk": f"{pk}#{sk}"}


def listed_pk(tenant: str, shard: int) -> str:
    """The scope, in the index by time, of one shard of a tenant's items that are listed by their keys."""
    return of_tenant(tenant, "LISTED", str(shard))


def unfinished_pk(kind: str, record_id: str) -> str:
    """The partition in which a record stands in a list of unfinished records of all tenants."""
    return f"{kind}#{zlib.crc32(record_id.encode()) % UNFINISHED_SHARDS}"


def unfinished_pks(kind: str) -> tuple[str, ...]:
    """All partitions of such a list: one for each shard, and the one in which an earlier release stored its records."""
    return (kind, *(f"{kind}#{shard}" for shard in range(UNFINISHED_SHARDS)))


def profile_key(tenant: str) -> Key:
    """The key of a tenant's own item."""
    return {"pk": of_tenant(tenant), "sk": "PROFILE"}


def record_of(pk: str) -> tuple[str, str]:
    """The tenant and the id from the partition key of a record that has its own partition, and of all items in it."""
    _, tenant, _, record_id = pk.split("#")
    return tenant, record_id


def sortable(moment: datetime) -> str:
    """A moment as text of fixed width that sorts by time (UTC, microseconds)."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"


def part(text: str) -> str:
    """Free text as one part of a key: `#` and `%` are escaped, and above 400 bytes it ends in its own hash."""
    escaped = text.replace("%", "%25").replace("#", "%23")
    encoded = escaped.encode()
    if len(encoded) <= _MAX_PART_BYTES:
        return escaped
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    return encoded[: _MAX_PART_BYTES - 17].decode(errors="ignore") + "~" + digest


def text_of(escaped: str) -> str:
    """The free text of a key's part. A long text stays as it was shortened."""
    return escaped.replace("%23", "#").replace("%25", "%")


def _known(record_id: str, what: str) -> str:
    if not is_ulid(record_id):
        raise NotFoundError(f"There is no {what} with this id.")
    return record_id
