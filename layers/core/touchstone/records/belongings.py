"""All that a tenant has in the table, found by the partitions and indexes that there are: nothing is ever scanned.

Whatever is kept for a tenant lies in one of three places, so that it can be handed out and removed: in a partition that
every tenant has, in the partition of an item that the index by time lists, or among the items that are listed there by
their keys because nothing else leads to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from touchstone.records.counters import MOST_COUNT_SHARDS
from touchstone.records.keys import (
    CASE,
    CHALLENGES,
    CHOICE,
    COMPARISON,
    LISTED_SHARDS,
    OUTBOX,
    PAIR,
    RECORD,
    SUBMISSIONS,
    Key,
    listed_pk,
    of_tenant,
)
from touchstone.records.table import Item, query, store_faults

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

SPENDING_PARTS = 32
"""Items that hold what a busy tenant spends on one day, at most; the budgets say when there are several."""
OWN = (
    ("SUGGESTIONS",),
    ("APPROACHES",),
    ("ROUTING",),
    ("THRESHOLDS",),
    ("SPEND",),
    *(("SPEND", str(part)) for part in range(1, SPENDING_PARTS)),
    *(("COUNTS", str(shard)) for shard in range(MOST_COUNT_SHARDS)),
)
"""The partitions that every tenant has, beside that of its profile and tokens."""
LISTINGS = (
    "ANSWERS",
    "BATCHES",
    "PROVIDER_BATCHES",
    "TASKS",
    "MEASUREMENTS",
    "QUIZZES",
    "CURRICULA",
    "LEARNERS",
    "EXPERIMENTS",
    "AUDITS",
    "LABELS",
    "SHARES",
)
"""The lists in the index by time whose items have partitions of their own. No record is kept that none of them, or of
those by key, leads to."""
EMPTIED = "EMPTIED#"
"""How the sort keys begin, in the partition of the profile, of the partitions that were removed and may fill again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """One kind of what a tenant has: the first word of its partitions behind the tenant, and how its sort keys begin.

    `name` is that of the file it is exported to. `shared`: there are others in the partition. `documents`: a long body
    lies among those that their tenant replaces. `kept_back` is why it is not exported, None where it is.
    """

    name: str
    word: str
    sk: str
    shared: bool = False
    documents: bool = False
    kept_back: str | None = None


KINDS = (
    Belonging(name="tenant", word="", sk="PROFILE", shared=True),
    Belonging(name="tokens", word="", sk="TOKEN#", shared=True),
    Belonging(name="emptied_partitions", word="", sk=EMPTIED, shared=True, kept_back="it only serves a deletion"),
    Belonging(name="answers", word="ANSWER", sk=RECORD),
    Belonging(name="solutions", word="PROBLEM", sk="SOLUTION"),
    Belonging(name="near_problems", word="NEAR", sk=""),
    Belonging(name="counters", word="COUNTS", sk=""),
    Belonging(name="suggestions", word="SUGGESTIONS", sk=""),
    Belonging(name="approaches", word="APPROACHES", sk=""),
    Belonging(name="batches", word="BATCH", sk=RECORD, shared=True),
    Belonging(name="batch_chunks", word="BATCH", sk="CHUNK#", shared=True),
    Belonging(name="provider_batches", word="PROVIDER_BATCH", sk=RECORD),
    Belonging(name="tasks", word="TASK", sk=RECORD, shared=True),
    Belonging(name="submissions", word="TASK", sk=SUBMISSIONS, shared=True),
    Belonging(name="comparisons", word="TASK", sk=COMPARISON, shared=True),
    Belonging(name="challenges", word="TASK", sk=CHALLENGES, shared=True),
    Belonging(name="submitters", word="TASK", sk="SUBMITTER#", shared=True),
    Belonging(name="events", word="TASK", sk=OUTBOX, shared=True),
    Belonging(name="measurements", word="MEASUREMENT", sk=RECORD),
    Belonging(name="quizzes", word="QUIZ", sk=RECORD),
    Belonging(name="curricula", word="CURRICULUM", sk=RECORD, documents=True),
    Belonging(name="learners", word="LEARNER", sk=RECORD, documents=True),
    Belonging(name="experiments", word="EXPERIMENT", sk=RECORD, shared=True),
    Belonging(name="experiment_pairs", word="EXPERIMENT", sk=PAIR, shared=True),
    Belonging(name="experiment_progress", word="EXPERIMENT", sk="PROGRESS", shared=True),
    Belonging(name="audits", word="AUDIT", sk=RECORD, shared=True),
    Belonging(name="audit_cases", word="AUDIT", sk=CASE, shared=True),
    Belonging(name="audit_progress", word="AUDIT", sk="PROGRESS", shared=True),
    Belonging(name="labels", word="LABEL", sk=""),
    Belonging(name="routing_choices", word="ROUTING", sk=CHOICE),
    Belonging(name="routing", word="ROUTING", sk=""),
    Belonging(name="thresholds", word="THRESHOLDS", sk=""),
    Belonging(name="spending", word="SPEND", sk="DAY#"),
    Belonging(name="ceiling", word="SPEND", sk="CEILING"),
    Belonging(name="request_keys", word="KEY", sk="KEY"),
    Belonging(name="quota_shares", word="QUOTA", sk=""),
    Belonging(name="judge_replies", word="CACHE", sk="REPLY", kept_back="it repeats what the records say"),
    Belonging(name="purges", word="PURGE", sk="PURGE", kept_back="it only serves a removal"),
    Belonging(name="sessions", word="SESSION", sk="SESSION", kept_back="it lets somebody in"),
)
"""Every kind of item that is kept for a tenant."""
OTHER = Belonging(name="others", word="", sk="", shared=True)
"""What lies in a tenant's partitions and is of none of the kinds: it is exported and removed all the same."""


def kind_of(key: Key) -> Belonging:
    """Which kind an item is of, by its key."""
    word = _word(key["pk"])
    found = (kind for kind in KINDS if kind.word == word and key["sk"].startswith(kind.sk))
    return next(found, OTHER)


class Belongings:
    """All that a tenant has in the table. Raises `StoreError` where the store fails."""

    def __init__(self, table: "Table") -> None:
        self._table = table

    def partitions(self, tenant: str) -> Iterator[str]:
        """The keys of all partitions in which a tenant has anything but itself and its tokens, each once.

        Those that the index lists come first, before the counters that are made of them. The index is a moment behind:
        what was stored just now may be missing.
        """
        last = None
        labelled = set[str]()
        for scope in (*(of_tenant(tenant, each) for each in LISTINGS), *self._listed(tenant)):
            for item in self._in_index(scope):
                pk = str(item["pk"])
                # Those of one partition stand side by side, but for the labels of a record, given at different times.
                if pk != last and pk not in labelled:
                    yield pk
                last = pk
                if scope.endswith("#LABELS"):
                    labelled.add(pk)
        yield from (item["sk"].removeprefix(EMPTIED) for item in self.items(of_tenant(tenant), begins=EMPTIED))
        yield from (of_tenant(tenant, *parts) for parts in OWN)

    def items(self, pk: str, *, begins: str = "", only: Sequence[str] = ()) -> Iterator[Item]:
        """The items of a partition whose sort keys begin so, strongly consistent; `only` these attributes of them."""
        asked: dict[str, Any] = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": pk}}
        if begins:
            asked["KeyConditionExpression"] += " AND begins_with(sk, :begins)"
            asked["ExpressionAttributeValues"][":begins"] = begins
        if only:
            asked["ProjectionExpression"] = ", ".join(only)
        return query(self._table, "what a tenant has", ConsistentRead=True, **asked)

    def may_fill(self, tenant: str, pk: str) -> None:
        """Note that a partition is about to be emptied in which others may still come after its record.

        Without the record nothing else would lead there.
        """
        with store_faults("note what is removed"):
            self._table.put_item(Item={"pk": of_tenant(tenant), "sk": f"{EMPTIED}{pk}"})

    def _listed(self, tenant: str) -> Iterator[str]:
        return (listed_pk(tenant, shard) for shard in range(LISTED_SHARDS))

    def _in_index(self, scope: str) -> Iterator[Item]:
        return query(
            self._table,
            "what a tenant has",
            IndexName="by_time",
            KeyConditionExpression="gsi1pk = :scope",
            ExpressionAttributeValues={":scope": scope},
        )


def _word(pk: str) -> str:
    """What kind of partition it is: the word behind the tenant, or the first of one that begins with none."""
    first, *rest = pk.split("#")
    if first != "T":
        return first
    return rest[1] if len(rest) > 1 else ""
