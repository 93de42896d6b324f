"""The questions of a file, an experiment or an audit: gathered together by provider and model, and followed to the end.

    wanted by an open line ─┬─ in no batch so far ──> gathered into one, as far as the ceiling admits it
                            ├─ in one under way ────> waited for
                            └─ in one that is over ─> its line is due: it is finished by now, or asked at once

A batch that the ceiling did not admit was never sent: its questions count as being in no batch.

The batches of a file are named in one list beside its parts, which is written before they are created. The id of a
batch follows from its questions, so that a step that is repeated after a crash finds the batches that it created. An
experiment's pairs and an audit's cases are handled as such lines too, under their numbers.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from touchstone.errors import NotFoundError
from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.batches.chunks import lines_of, listing_folder
from touchstone.operations.jobs.waiting import (
    LONGEST_PAUSE,
    BatchedLine,
    LineStanding,
    OpenLine,
    PartsStanding,
    WantedQuestion,
)
from touchstone.operations.provider_batches import beginning
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import next_look
from touchstone.operations.provider_batches.questions import ListedQuestion
from touchstone.operations.provider_batches.questions import lines_of as questions_of
from touchstone.operations.provider_batches.sizes import learned_size
from touchstone.records import Batch, derived_ulid
from touchstone.references import Reference
from touchstone.workflows import Workflows

if TYPE_CHECKING:
    from touchstone.audits.record import AuditRecord
    from touchstone.operations.jobs.files import JobFiles
    from touchstone.surfaces.experiments.record import ExperimentRecord

MOST_LINES = 200
"""The most questions of one batch. Before a batch is sent, each of its lines is replayed, which takes up to a second
each, within the time of one function."""
BATCHED_WITHIN = timedelta(days=4)
"""How long after a job's request batches are begun for its parts. What is open later is asked at once, while there is
time for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantingWork:
    """The work whose lines have questions for batches: a file, an experiment or an audit.

    `list_key` is the key in scratch of the list of its batches. `cheap` False: no batch is begun for it any more.
    """

    tenant: str
    id: str
    created_at: datetime
    list_key: str
    cheap: bool = True

    @classmethod
    def of_file(cls, file: Batch) -> "WantingWork":
        """The work of a batch file."""
        folder = listing_folder(file.tenant, file.id, file.version or "")
        return cls(
            tenant=file.tenant, id=file.id, created_at=file.created_at, list_key=f"{folder}/provider-batches.txt"
        )

    @classmethod
    def of_parts(cls, record: "AuditRecord | ExperimentRecord", files: "JobFiles") -> "WantingWork":
        """The work of an audit or an experiment with these files."""
        return cls(
            tenant=record.tenant,
            id=record.id,
            created_at=record.created_at,
            list_key=files.batches_key,
            cheap=record.when == "cheap",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileQuestion:
    """A question that a line has for a batch, and how it is listed there."""

    of: BatchedLine
    listed: ListedQuestion
    wanted: WantedQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBatches:
    """The batches at providers that one tenant's files, experiments and audits use.

    `on` False: no new batches are begun.
    """

    context: BatchingContext
    workflows: Callable[[], Workflows]
    on: bool = True

    def add_to_batches(self, file: WantingWork, lines: Sequence[OpenLine], *, begin: bool) -> dict[int, LineStanding]:
        """Add the open questions of a file's lines to batches. Return each line's new state, keyed by its number.

        `begin` False: no new batch is begun, and a line that is in no batch is due.
        """
        begin = begin and self.on
        known = self._known(file)
        batches = [one for one in known if not one.unpaid]
        if begin:
            made = self._gathered(file, _fresh(lines, batches), known=known)
            batches += [one for one in made if not one.unpaid]
        return {line.line: self._standing(line, batches, begin=begin) for line in lines if line.wanted}

    def begins(self, job: WantingWork) -> bool:
        """Whether new batches may be begun for a job's parts."""
        return job.cheap and self.on and self.context.clock() - job.created_at < BATCHED_WITHIN

    def add_parts_to_batches(self, job: WantingWork, lines: Sequence[OpenLine]) -> PartsStanding:
        """As `add_to_batches`, for the parts of a job. New batches are begun as `begins` says."""
        begin = self.begins(job)
        standing = self.add_to_batches(job, lines, begin=begin)
        waiting = [line for line in lines if standing[line.line].standing != "due"]
        now = self.context.clock()
        until = None
        if waiting:
            looked = next_look(max(line.until for line in waiting), now)
            no_later = [one.until for one in standing.values() if one.standing == "no money"]
            until = min([looked, *(one for one in no_later if one > now)])
        held = frozenset(line.line for line in waiting)
        return PartsStanding(
            due=frozenset(standing) - held,
            held=held,
            again=not begin,
            until=until,
            batches=tuple(batch.id for batch in self.made(job)),
        )

    def _standing(self, line: OpenLine, batches: "Sequence[_KnownBatch]", *, begin: bool) -> LineStanding:
        now = self.context.clock()
        having = [one for wanted in line.wanted if (one := _having(line, wanted, batches)) is not None]
        if any(not one.batch.over for one in having):
            return LineStanding(standing="in a batch", until=now)
        if having or not begin:
            return LineStanding(standing="due", until=now)
        tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
        # When any batch of the tenant ends, the money that it held back may become free.
        return LineStanding(standing="no money", until=min(tomorrow, now + LONGEST_PAUSE))

    def made(self, file: WantingWork) -> list[ProviderBatch]:
        """The batches of the file so far. A batch that was listed but never created is left out."""
        try:
            text = self.context.objects.get_bytes(tenant=file.tenant, key=file.list_key)
        except NotFoundError:
            return []
        which = (Reference(self.context.tenant, "provider_batch", line.decode()) for line in lines_of(text) if line)
        return [batch for each in which if (batch := self.context.batches.find(each)) is not None]

    def _known(self, file: WantingWork) -> "list[_KnownBatch]":
        return [_known(self.context, batch) for batch in self.made(file)]

    def _gathered(
        self, file: WantingWork, fresh: Sequence[_FileQuestion], *, known: "Sequence[_KnownBatch]"
    ) -> "list[_KnownBatch]":
        """Make new batches for questions that are in no batch."""
        ids, made = [one.id for one in known], list[_KnownBatch]()
        unpaid = sum(one.unpaid for one in known)

        def asked(one: _FileQuestion) -> tuple[BatchedLine, str, str]:
            return one.of, one.wanted.provider, one.wanted.model

        for (of, provider, model), group in groupby(sorted(fresh, key=asked), key=asked):
            left = list(group)
            while left:
                chosen, left = self._chosen(left)
                if not chosen:
                    break
                batch_id = _batch_id(file, provider, model, chosen, unpaid=unpaid)
                if batch_id not in ids:
                    ids.append(batch_id)
                    text = "".join(f"{each}\n" for each in ids)
                    self.context.objects.put_text(tenant=file.tenant, key=file.list_key, text=text)
                batch = beginning.begun(
                    *(self.context, provider, model, [one.listed for one in chosen]),
                    most_usd=sum(one.wanted.most_usd for one in chosen),
                    batch_id=batch_id,
                    of=of,
                )
                if not batch.over:
                    self.workflows().start("provider_batch", batch.ref)
                made.append(_known(self.context, batch))
        return made

    def _chosen(self, questions: Sequence[_FileQuestion]) -> tuple[list[_FileQuestion], list[_FileQuestion]]:
        """The questions of one model for one batch, and the rest for later batches.

        A batch stays within its limits, the size that its provider took lately, and the tenant's ceiling. A question
        for which the ceiling has no room is in neither.
        """
        _, left = beginning.spending_left(self.context)
        of, wanted = questions[0].of, questions[0].wanted
        learned = learned_size(self.context, wanted.provider, wanted.model, of)
        most_lines = MOST_LINES if learned is None else min(MOST_LINES, learned)
        chosen: list[_FileQuestion] = []
        size, most = 0, 0.0
        for number, one in enumerate(questions):
            full = len(chosen) == most_lines or size + one.wanted.size > beginning.MOST_BYTES
            if chosen and full:
                return chosen, list(questions[number:])
            if left is None or most + one.wanted.most_usd <= left:
                chosen.append(one)
                size, most = size + one.wanted.size, most + one.wanted.most_usd
        return chosen, []


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownBatch:
    """A batch of the file with its questions: as pairs of answer and address, and the addresses alone."""

    batch: ProviderBatch
    questions: frozenset[ListedQuestion]
    addresses: frozenset[str]

    @property
    def id(self) -> str:
        return self.batch.id

    @property
    def unpaid(self) -> bool:
        """Whether the spending ceiling did not admit the batch, so that it was never sent."""
        return self.batch.ended == "unpaid"


def _known(context: BatchingContext, batch: ProviderBatch) -> _KnownBatch:
    questions = frozenset(questions_of(context, batch))
    return _KnownBatch(
        batch=batch, questions=questions, addresses=frozenset(one.address for one in questions if one.address)
    )


def _having(line: OpenLine, wanted: WantedQuestion, batches: Sequence[_KnownBatch]) -> _KnownBatch | None:
    """The batch that has a line's question, or an equal shared question of another line. None if there is none.

    The line then has the shared reply from the cache.
    """
    question = _listed(line, wanted)
    for one in batches:
        if question in one.questions:
            return one
    if not wanted.shared:
        return None
    for one in reversed(batches):
        ended = one.batch.finished_at
        # If a line was tried after that batch ended and still has the question, the cache has no reply for it.
        if wanted.address in one.addresses and (ended is None or line.until <= ended):
            return one
    return None


def _fresh(lines: Sequence[OpenLine], batches: Sequence[_KnownBatch]) -> list[_FileQuestion]:
    """The questions that are in no batch: each shared question once, each other question once a line."""
    found: dict[ListedQuestion | str, _FileQuestion] = {}
    for line in lines:
        for wanted in line.wanted:
            if _having(line, wanted, batches) is None:
                listed = _listed(line, wanted)
                key = wanted.address if wanted.shared else listed
                found.setdefault(key, _FileQuestion(of=line.of, listed=listed, wanted=wanted))
    return list(found.values())


def _listed(line: OpenLine, wanted: WantedQuestion) -> ListedQuestion:
    return ListedQuestion(answer_id=line.answer_id or "", address=wanted.address)


def _batch_id(file: WantingWork, provider: str, model: str, questions: Sequence[_FileQuestion], *, unpaid: int) -> str:
    """The id of a batch, always the same for the same questions of the same file.

    After each `unpaid` batch of the file it is another one.
    """
    words = "".join(f"{one.listed.answer_id} {one.listed.address}\n" for one in questions)
    digest = hashlib.sha256(words.encode()).hexdigest()
    return derived_ulid(file.created_at, file.tenant, file.id, provider, model, str(unpaid), digest)
