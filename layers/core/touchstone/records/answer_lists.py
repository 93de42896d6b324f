"""Lists of answers: as the lists of every kind, and also filtered by the labels that people gave."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime

from touchstone.answers.labelling import KIND
from touchstone.answers.model import AnswerRecord
from touchstone.aws import store_faults
from touchstone.records.answer_items import AnswerSummary, OfAnswers, late_pk, milliseconds
from touchstone.records.answer_query import AnswerQuery
from touchstone.records.keys import batch_key, of_tenant
from touchstone.records.labelled import LabelledStore
from touchstone.records.labels import Labels
from touchstone.records.list_query import WAITS_FOR, ListQuery
from touchstone.records.request_keys import KEPT
from touchstone.records.table import read
from touchstone.records.ulids import ulid_moment

MOST_LATE = 200
"""The most late answers (much younger than their ids) whose ids are looked at. With more of them, the list begins at
the oldest id that any of them could have."""


class AnswerLists(LabelledStore[AnswerRecord, AnswerSummary], OfAnswers):
    """The answers of a tenant, in the order in which they arrived."""

    def between(self, tenant: str, query: ListQuery) -> tuple[str, str]:
        """The first and the last id that the query can mean, given the tenant's batches and late answers."""
        if not isinstance(query, AnswerQuery):
            return super().between(tenant, query)
        oldest = [each for each in (self._oldest_batch(tenant, query), self._oldest_late(tenant, query)) if each]
        first, last = query.ids(oldest=min(oldest, default=None))
        if (of_batch := query.ids_of_batch(self._begun(tenant, query))) is not None:
            first, last = max(first, of_batch[0]), min(last, of_batch[1])
        return first, last

    def labels_given(
        self,
        tenant: str,
        wanted: str,  # noqa: ARG002 - an answer's labels are of one kind
        lines: Mapping[str, AnswerSummary],
    ) -> Mapping[str, AbstractSet[str]]:
        """By answer, the labels that people gave to any of its attempts."""
        things = [(line.id, str(number)) for line in lines.values() for number in range(1, line.attempt_count + 1)]
        labels = Labels(self._table, pause=self._pause)
        given = {record_id: set[str]() for record_id in lines}
        for (record_id, _), label in labels.of_things(tenant=tenant, kind=KIND, things=things).items():
            given[record_id].add(label.label)
        return given

    def _oldest_batch(self, tenant: str, query: AnswerQuery) -> datetime | None:
        """When the oldest batch began whose lines may have arrived since the query's first day, though it came before.

        None if there is no such batch, or the query has no first day.
        """
        between = query.batches_before()
        if between is None:
            return None
        with store_faults("list the answers"):
            found = self._table.query(
                IndexName="by_time",
                KeyConditionExpression="gsi1pk = :scope AND gsi1sk BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":scope": of_tenant(tenant, "BATCHES"),
                    ":first": between[0],
                    ":last": between[1],
                },
                Limit=1,
            )["Items"]
        return ulid_moment(str(found[0]["gsi1sk"])) if found else None

    def _oldest_late(self, tenant: str, query: AnswerQuery) -> datetime | None:
        """The moment of the oldest id of a late answer in the range of days; None if there is no late answer.

        A late answer arrived long after its sender's key was made. If there are more than `MOST_LATE`, this is the
        oldest possible moment.
        """
        if query.since is None:
            return None
        with store_faults("list the answers"):
            reply = self._table.query(
                IndexName="by_count",
                KeyConditionExpression="gsi3pk = :late AND #came BETWEEN :first AND :last",
                ExpressionAttributeNames={"#came": "count"},
                ExpressionAttributeValues={
                    ":late": late_pk(tenant),
                    ":first": milliseconds(query.begin),
                    ":last": milliseconds(query.end),
                },
                Limit=MOST_LATE,
            )
        if "LastEvaluatedKey" in reply:
            return query.begin - KEPT - WAITS_FOR
        return min((ulid_moment(str(item["pk"]).rpartition("#")[2]) for item in reply["Items"]), default=None)

    def _begun(self, tenant: str, query: AnswerQuery) -> datetime | None:
        """When the batch that the query asks for began; None if it asks for none, or the batch is gone."""
        if query.batch is None:
            return None
        item = read(self._table, batch_key(tenant, query.batch), "the batch")
        return None if item is None else datetime.fromisoformat(item["created_at"])
