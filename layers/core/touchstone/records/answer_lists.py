"""Lists of answers: as the lists of every kind, and also filtered by the labels that people gave.

Every door parses the same query, and each line is tested by it.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from touchstone.answers.labelling import KIND
from touchstone.answers.model import ENDED, AnswerRecord, Difficulty, EvaluationState, Method
from touchstone.aws import store_faults
from touchstone.errors import SkipReason
from touchstone.records.answer_items import AnswerSummary, AttemptSummary, OfAnswers, late_pk, milliseconds
from touchstone.records.keys import batch_key, of_tenant
from touchstone.records.labelled import LabelledQuery, LabelledStore
from touchstone.records.labels import Labels
from touchstone.records.list_query import (
    CLAIMED_BEFORE,
    EPOCH,
    WAITS_FOR,
    CostFrom,
    CostTo,
    Findable,
    LineFilter,
    ListQuery,
    SearchText,
    is_cut,
)
from touchstone.records.request_keys import KEPT
from touchstone.records.table import read
from touchstone.records.ulids import first_ulid, is_ulid, last_ulid, ulid_moment

_OF_ATTEMPTS = ("model", "provider", "decided_by", "verdict", "skip_reason")


def _reasons(of: Any) -> tuple[str, ...]:
    """The words of a type that is a union of words and of other such types."""
    if isinstance(of, str):
        return (of,)
    return tuple(word for part in get_args(getattr(of, "__value__", of)) for word in _reasons(part))


SKIP_REASONS = _reasons(SkipReason)
"""All words for why nobody decided."""


def _a_reason(text: str) -> str:
    if text not in SKIP_REASONS:
        raise ValueError(f"it can be {', '.join(SKIP_REASONS[:-1])} or {SKIP_REASONS[-1]}")
    return text


def _standing(line: AnswerSummary) -> Sequence[str]:
    """The statuses in the query that match a line."""
    if line.stage not in ENDED:
        return ("unfinished",)
    badge = line.verification_status if line.stage == "finished" else None
    return ("ended", *(["failed"] if line.stage == "failed" else []), *([] if badge is None else [badge]))


def _whole(record: AnswerRecord) -> Sequence[str | None]:
    """The problem, and the answer that is returned or else the latest one."""
    shown = record.best or (record.attempts[-1] if record.attempts else None)
    return record.problem, None if shown is None else shown.solution.answer


FINDABLE = Findable[AnswerRecord, AnswerSummary](
    filters={
        "status": LineFilter(of=_standing),
        "subject": LineFilter(of=lambda line: (line.subject,)),
        "difficulty": LineFilter(of=lambda line: (line.difficulty,)),
        "evaluation": LineFilter(of=lambda line: (line.evaluation,)),
        "batch": LineFilter(of=lambda line: (line.batch_id,)),
        "language": LineFilter(of=lambda line: (line.language,), field="language"),
    },
    said=lambda line: (line.problem, line.answer),
    texts=_whole,
    cut=lambda line: is_cut(line.problem) or is_cut(line.answer),
)
"""The filters and texts by which answers are found, beside their attempts and labels."""


def _an_id(text: str) -> str:
    if not is_ulid(text):
        raise ValueError("it is no id of a batch, which has 26 characters")
    return text


class AnswerQuery(LabelledQuery):
    """The filters of a list of answers. A filter that is null excludes nothing; all given filters must hold.

    `model`, `provider`, `decided_by`, `verdict` and `skip_reason` must hold together for one attempt, whether or not it
    is the attempt that is returned. An answer that was taken from an earlier one counts for no model and no provider,
    as in the rates.
    """

    findable = FINDABLE

    status: Annotated[
        Literal["verified", "unverified", "caution", "failed", "unfinished", "ended"] | None,
        Field(
            description="The badge. `failed`: there is no answer at all. `unfinished`: there is no answer yet. "
            "`ended`: any status but `unfinished`."
        ),
    ] = None
    subject: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    difficulty: Difficulty | None = None
    model: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=128)] | None,
        Field(description="The exact name of the model that answered."),
    ] = None
    provider: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=64)] | None,
        Field(description="The provider whose model answered. `caller`: the sender's own answer."),
    ] = None
    language: Literal["zh", "en"] | None = None
    batch: Annotated[
        Annotated[str, AfterValidator(_an_id)] | None,
        Field(description="The id of the batch in which the answers were sent."),
    ] = None
    decided_by: Annotated[
        Method | None, Field(description="How an attempt was decided. `none`: it was not decided.")
    ] = None
    verdict: Annotated[
        Literal["right", "wrong", "decided", "none"] | None,
        Field(description="The verdict on an attempt. `decided`: right or wrong. `none`: nobody decided."),
    ] = None
    skip_reason: Annotated[
        Annotated[str, AfterValidator(_a_reason), WithJsonSchema({"type": "string", "enum": SKIP_REASONS})] | None,
        Field(description="The reason why nobody decided an attempt."),
    ] = None
    evaluation: Annotated[EvaluationState | None, Field(description="The state of the deep evaluation.")] = None
    label: Annotated[
        Literal["right", "wrong", "none"] | None,
        Field(description="The label that people gave an attempt. `none`: nobody gave one."),
    ] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(description="Words. Each must be in the problem or in the answer. Upper and lower case are the same."),
    ] = None

    @property
    def only(self) -> tuple[str, str] | None:
        """The verification status as an attribute of the index, if the query asks for one; None otherwise."""
        status = self.status
        return ("verification_status", status) if status in {"verified", "unverified", "caution"} else None

    def ids_of_batch(self, begun: datetime | None) -> tuple[str, str] | None:
        """The first and the last possible id of the lines of the batch that is asked for; None if none is.

        The lines' ids are as old as the batch, which was `begun` then (None: that is not known, and the batch's id
        tells it).
        """
        if self.batch is None:
            return None
        begun = max(begun or ulid_moment(self.batch), EPOCH + CLAIMED_BEFORE)
        return first_ulid(begun - CLAIMED_BEFORE), last_ulid(begun + CLAIMED_BEFORE)

    def matches_without_label(self, line: AnswerSummary) -> bool | None:
        """As in every list, and also by the attempts."""
        found = super().matches_without_label(line)
        if found is False:
            return False
        if "attempts" not in line.model_fields_set and self._of_attempts():
            return None
        return found if self._attempted(line) else False

    def matches(self, line: AnswerSummary, record: AnswerRecord) -> bool:
        """Whether the query means a record, by its line as it is made now and its whole texts. Ignores its label."""
        return super().matches(line, record) and self._attempted(line)

    def _of_attempts(self) -> bool:
        return any(getattr(self, name) is not None for name in _OF_ATTEMPTS)

    def _attempted(self, line: AnswerSummary) -> bool:
        return not self._of_attempts() or any(self._made(attempt, line) for attempt in line.attempts)

    def _made(self, attempt: AttemptSummary, line: AnswerSummary) -> bool:
        of_somebody = self.model is not None or self.provider is not None
        if of_somebody and (line.retrieved_from is not None or attempt.method == "retrieved"):
            return False
        verdict = None if attempt.method is None else {True: "right", False: "wrong", None: "none"}[attempt.passed]
        if self.verdict == "decided" and verdict in {"right", "wrong"}:
            verdict = "decided"
        found = {
            "model": attempt.model,
            "provider": attempt.provider,
            "decided_by": attempt.method,
            "verdict": verdict,
            "skip_reason": attempt.skip_reason if attempt.passed is None else None,
        }
        return all(getattr(self, name) in {None, value} for name, value in found.items())


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
