"""PURGE: removes records whose retention is over, with all that depends on them; counters and statistics stay.

A record is purged a number of days after its end, by its kind. A record that has not ended is in the index of
unfinished records, or its state says so; it is never touched. An audit is not purged while another audit still compares
with it.

Files that people put into the bucket do not belong to a single record: many answers may name one image, and another
file may replace one that was dropped. They are removed a number of days after they were put, or named for the last
time.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pydantic import ValidationError

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import NotFoundError, TouchstoneError
from touchstone.operations.retention import LEEWAY, RetainedKind
from touchstone.operations.surfaces.experiment_files import UPLOADS as EXPERIMENT_UPLOADS
from touchstone.oracle.handing_in import UPLOADS
from touchstone.records import Answers, Artifacts, Audits, Batches, Experiments, Measurements, Quizzes, Tasks, Tenants
from touchstone.records.answer_counters import approaches_pk
from touchstone.records.artifacts import IMAGES
from touchstone.records.audits import WEEKLY
from touchstone.records.jobs import JobStore
from touchstone.records.keys import CHALLENGES, RECORD, SUBMISSIONS, Key, batch_key, key_of
from touchstone.records.labels import labels_pk
from touchstone.records.purges import Purge, Purges, Remains, is_at_rest
from touchstone.records.solutions import solution_keys
from touchstone.references import JobKind, Reference

MOST_BEGUN = 1_000
"""The most unfinished purges of earlier runs that one run takes up."""
PUT: Mapping[RetainedKind, str] = {"answers": IMAGES, "experiments": EXPERIMENT_UPLOADS, "tasks": UPLOADS}
"""The folders of a tenant's artifacts where people put files, by the kind of record that is made from them."""
JOBS: Mapping[RetainedKind, JobKind] = {
    "answers": "answer",
    "audits": "audit",
    "experiments": "experiment",
    "measurements": "measurement",
    "quizzes": "quiz",
    "tasks": "task",
}
"""The job of each kind of record; a batch is no job."""
MOST_AUDITS = 1_000
"""How many audits that are under way, or repeated weekly, are read for the audits that they compare with."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgedRecords:
    """The result of a run: how many records it removed, by kind, and how many `files` that people had put.

    `stuck` counts the records and files that it could not remove. `whole`: it came to the end.
    """

    removed: Mapping[RetainedKind, int]
    files: int
    stuck: int
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgedStores:
    """The stores of the records that a purge looks at."""

    tenants: Tenants
    answers: Answers
    audits: Audits
    batches: Batches
    experiments: Experiments
    measurements: Measurements
    quizzes: Quizzes
    tasks: Tasks
    artifacts: Artifacts

    def of(self, kind: RetainedKind) -> JobStore[Any, Any]:
        """The store of a kind of jobs."""
        store: JobStore[Any, Any] = getattr(self, kind)
        return store


@dataclass(frozen=True, slots=True, kw_only=True)
class Purging:
    """Purges the records of all tenants. `days` is the retention of each kind.

    Safe to repeat, and to stop at any point.
    """

    stores: PurgedStores
    purges: Purges
    days: Mapping[RetainedKind, int]
    clock: Clock = system_clock
    _stuck: list[str] = field(default_factory=list)

    def run(self, *, deadline: Deadline) -> PurgedRecords:
        """Purge what is due, until the deadline. The next run does the rest."""
        removed = dict.fromkeys(self.days, 0)
        files = 0
        self._stuck.clear()

        def so_far(*, whole: bool) -> PurgedRecords:
            return PurgedRecords(removed=removed, files=files, stuck=len(self._stuck), whole=whole)

        for purge in self.purges.begun(limit=MOST_BEGUN):
            if deadline.remaining <= 0:
                return so_far(whole=False)
            self._try(partial(self._ended, purge), purge.record_id)
        compared = self._compared() if "audits" in self.days else frozenset()
        for tenant in self.stores.tenants.ids() if self.days else ():
            for kind, days in self.days.items():
                before = self.clock() - timedelta(days=days)
                for record_id in self.purges.older(tenant, kind.upper(), than=before):
                    if deadline.remaining <= 0:
                        return so_far(whole=False)
                    if (tenant, record_id) not in compared:
                        removed[kind] += self._try(partial(self._purge, tenant, kind, record_id, before), record_id)
                than = before - LEEWAY
                for store, key in self._put_by_people(tenant, kind, than):
                    if deadline.remaining <= 0:
                        return so_far(whole=False)
                    files += self._try(partial(self._removed_file, store, tenant, kind, key, than), key)
        return so_far(whole=True)

    def _put_by_people(self, tenant: str, kind: RetainedKind, than: datetime) -> Iterator[tuple[Artifacts, str]]:
        """The files that people put for records of a kind, and that were put and last named before `than`."""
        if kind == "batches":
            inbox = self.purges.inbox
            yield from ((inbox, key) for key in inbox.older(tenant=tenant, than=than))
        elif kind in PUT:
            artifacts = self.stores.artifacts
            yield from ((artifacts, key) for key in artifacts.older(tenant=tenant, folder=f"{PUT[kind]}/", than=than))

    def _removed_file(self, store: Artifacts, tenant: str, kind: RetainedKind, key: str, than: datetime) -> bool:
        """Remove a file that people put, unless it serves a record. Return whether it was removed."""
        # An image that came with its request is named after its answer, and is removed with it.
        if kind == "answers" and self._record(tenant, "answers", _named(key)) is not None:
            return False
        # Check again: somebody may have named it since it was listed.
        if not store.is_older(tenant=tenant, key=key, than=than):
            return False
        store.delete(tenant=tenant, key=key)
        return True

    def _try(self, work: Callable[[], bool], record_id: str) -> bool:
        """Do one record's work. A record that cannot be read or removed does not stop the others."""
        try:
            return work()
        except (TouchstoneError, ValidationError) as error:
            logger.warning("A record could not be purged: %s (%s)", record_id, type(error).__name__)
            self._stuck.append(record_id)
            return False

    def _compared(self) -> frozenset[tuple[str, str]]:
        """The audits with which others, under way or repeated weekly, compare."""
        audits = self.stores.audits
        listed = (
            *audits.unfinished(older_than=timedelta(0), limit=MOST_AUDITS),
            *audits.listed(WEEKLY, older_than=timedelta(0), limit=MOST_AUDITS),
        )
        records = (audits.find(which) for which in listed)
        return frozenset((one.tenant, one.terms.previous) for one in records if one and one.terms.previous)

    def _purge(self, tenant: str, kind: RetainedKind, record_id: str, before: datetime) -> bool:
        """Purge a record that ended `before`. Return whether it was purged."""
        key = _key(tenant, kind, record_id)
        items = self.purges.partition(key["pk"])
        if not is_at_rest(items):
            return False
        if kind == "batches":
            return self._purge_batch(tenant, record_id, items, before)
        record = self._record(tenant, kind, record_id)
        ended = None if record is None else _ended_at(kind, record)
        if ended is None or ended >= before:
            return False
        remains = self._remains(tenant, kind, record_id, record, items)
        return self._removed(Purge(tenant=tenant, record_id=record_id, remains=remains), items, ("revision",))

    def _purge_batch(self, tenant: str, record_id: str, items: list[dict[str, Any]], before: datetime) -> bool:
        batch = self.stores.batches.get(tenant=tenant, batch_id=record_id)
        if batch.state == "running" or batch.updated_at >= before:
            return False
        # If a file was dropped under another name, it and its results may belong to a younger batch by now.
        files = tuple(key for key in (batch.source_key, batch.results_key) if key and _named(key) == record_id)
        remains = Remains(partitions=(_key(tenant, "batches", record_id)["pk"],), files=files)
        return self._removed(Purge(tenant=tenant, record_id=record_id, remains=remains), items, ("updated_at", "state"))

    def _removed(self, purge: Purge, items: list[dict[str, Any]], unchanged: tuple[str, ...]) -> bool:
        seen = next(item for item in items if item["sk"] == RECORD)
        return self.purges.begin(purge, seen, unchanged=unchanged) and self._ended(purge)

    def _ended(self, purge: Purge) -> bool:
        self.purges.end(purge)
        return True

    def _record(self, tenant: str, kind: RetainedKind, record_id: str) -> Any:
        """The record. None if it is gone."""
        with suppress(NotFoundError):
            return self.stores.of(kind).get(Reference(tenant, JOBS[kind], record_id))
        return None

    def _remains(
        self, tenant: str, kind: RetainedKind, record_id: str, record: Any, items: list[dict[str, Any]]
    ) -> Remains:
        from touchstone.answers import labelling as answers
        from touchstone.oracle import labelling as gates
        from touchstone.surfaces.labelling import CLASSES

        partition = _key(tenant, kind, record_id)["pk"]
        folders = [f"{tenant}/records/{owner}" for owner in _owners(record_id, items)]
        match kind:
            case "answers":
                exact, near = solution_keys(record)
                return Remains(
                    partitions=(partition, labels_pk(tenant, answers.KIND, record_id)),
                    items=((approaches_pk(tenant), record_id), *near),
                    guarded=exact,
                    folders=tuple(folders),
                    # Younger answers may name an image that was uploaded separately. An image that came with the
                    # request is the answer's own.
                    objects=tuple(key for key in (record.image_key,) if key and _named(key) == record_id),
                )
            case "tasks":
                submissions = [str(item["sk"]).removeprefix(SUBMISSIONS) for item in _submissions(items)]
                return Remains(
                    partitions=(
                        partition,
                        *(labels_pk(tenant, gates.KIND, f"{record_id}.{one}") for one in submissions),
                    ),
                    folders=(*folders, f"{tenant}/submissions/{record_id}", f"{tenant}/tasks/{record_id}"),
                    objects=tuple(filter(None, map(self._uploaded, _submissions(items), [tenant] * len(submissions)))),
                )
            case "measurements":
                labels = (labels_pk(tenant, metric, record_id) for metric in CLASSES)
                return Remains(partitions=(partition, *labels), folders=tuple(folders))
            case "audits" | "experiments":
                return Remains(partitions=(partition,), folders=(*folders, f"{tenant}/{kind}/{record_id}"))
            case _:
                return Remains(partitions=(partition,), folders=tuple(folders))

    def _uploaded(self, submission: Mapping[str, Any], tenant: str) -> str | None:
        """The key of the file that was handed in as a submission. None if the submission came as a text."""
        body = submission.get("body")
        text = body if body is not None else self.stores.artifacts.get_text(tenant=tenant, key=submission["body_key"])
        key: str | None = json.loads(text).get("uploaded_key")
        return key


def _key(tenant: str, kind: RetainedKind, record_id: str) -> Key:
    return batch_key(tenant, record_id) if kind == "batches" else key_of(Reference(tenant, JOBS[kind], record_id))


def _ended_at(kind: RetainedKind, record: Any) -> datetime | None:
    """When a record that has ended last changed. None if it has not ended."""
    moment: datetime | None
    match kind:
        case "answers":
            assert isinstance(record, AnswerRecord)  # noqa: S101 - narrows the type
            moment = record.updated_at if record.stage in ENDED else None
        case "tasks":
            over = record.state in {"final", "failed"}
            moment = (record.final_at or record.closed_at or record.created_at) if over else None
        case _:
            moment = record.finished_at
    return moment


def _owners(record_id: str, items: list[dict[str, Any]]) -> Iterator[str]:
    """The ids of all records whose long bodies lie in folders of their own."""
    yield record_id
    for item in items:
        sk = str(item["sk"])
        if sk.startswith((SUBMISSIONS, CHALLENGES)):
            yield sk.partition("#")[2]
        elif "body_key" in item and sk != RECORD:
            yield str(item["body_key"]).split("/")[2]


def _submissions(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if str(item["sk"]).startswith(SUBMISSIONS)]


def _named(key: str) -> str:
    """The name of an object or file without its folder and suffixes.

    Files that belong to a record have its id as name.
    """
    return key.rpartition("/")[2].partition(".")[0]
