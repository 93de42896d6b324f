"""The questions of a file, or of an experiment: gathered all at once, by provider and model, and looked at until each
has its end.

    wanted by an open line ─┬─ in no batch so far ──> gathered into one, as far as the ceiling admits it
                            ├─ in one under way ────> waited for
                            └─ in one that is over ─> its line is due: it is finished by now, or asked at once

A batch that the ceiling did not admit was never sent: its questions are in none.

Which batches a file has is one list beside its parts, written before they are created. The id of a batch follows from
its questions, so that a step which is repeated after a death meets the batches that it created. An experiment's pairs
are such lines too, by their numbers.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import groupby

from touchstone.errors import NotFoundError
from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.batches.batching import LONGEST_PAUSE
from touchstone.operations.batches.chunks import lines_of, listing_folder
from touchstone.operations.batches.lines import BatchedLine, LineStanding, OpenLine, WantedQuestion
from touchstone.operations.provider_batches import gathering
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import ListedQuestion
from touchstone.records import Batch, derived_ulid
from touchstone.references import Reference
from touchstone.workflows import Workflows

MOST_LINES = 200
"""Questions of one batch: before it is sent each line is done anew, up to a second each, within the time of one
function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantingWork:
    """Whose lines want something: a file or an experiment. `list_key` is where in scratch its batches are listed."""

    tenant: str
    id: str
    created_at: datetime
    list_key: str

    @classmethod
    def of_file(cls, file: Batch) -> "WantingWork":
        """The file of a batch of requests."""
        folder = listing_folder(file.tenant, file.id, file.version or "")
        return cls(
            tenant=file.tenant, id=file.id, created_at=file.created_at, list_key=f"{folder}/provider-batches.txt"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileQuestion:
    """A question that a line wants, and the batch that has it, or the same one of another line."""

    of: BatchedLine
    listed: ListedQuestion
    wanted: WantedQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBatches:
    """The batches at providers that one tenant's files and experiments come to. `on` False: there are to be no more."""

    context: BatchingContext
    workflows: Callable[[], Workflows]
    on: bool = True

    def carried(self, file: WantingWork, lines: Sequence[OpenLine], *, begin: bool) -> dict[int, LineStanding]:
        """Put what the open lines of a file want into batches, and where each line stands then, by its number.

        `begin` False: no batch is begun any more, and a line that is in none is due.
        """
        begin = begin and self.on
        known = self._known(file)
        batches = [one for one in known if not one.unpaid]
        if begin:
            made = self._gathered(file, _fresh(lines, batches), known=known)
            batches += [one for one in made if not one.unpaid]
        return {line.line: self._standing(line, batches, begin=begin) for line in lines if line.wanted}

    def _standing(self, line: OpenLine, batches: "Sequence[_KnownBatch]", *, begin: bool) -> LineStanding:
        now = self.context.clock()
        having = [one for wanted in line.wanted if (one := _having(line, wanted, batches)) is not None]
        if any(not one.batch.over for one in having):
            return LineStanding(standing="in a batch", until=now)
        if having or not begin:
            return LineStanding(standing="due", until=now)
        tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
        # A batch of anybody's that ends may free what it held back.
        return LineStanding(standing="no money", until=min(tomorrow, now + LONGEST_PAUSE))

    def made(self, file: WantingWork) -> list[ProviderBatch]:
        """The batches of the file so far; one that was listed and never created is none."""
        try:
            text = self.context.objects.get_bytes(tenant=file.tenant, key=file.list_key)
        except NotFoundError:
            return []
        found = (self.context.batches.find(self._ref(line.decode())) for line in lines_of(text) if line)
        return [batch for batch in found if batch is not None]

    def _known(self, file: WantingWork) -> "list[_KnownBatch]":
        return [_known(self.context, batch) for batch in self.made(file)]

    def _gathered(
        self, file: WantingWork, fresh: Sequence[_FileQuestion], *, known: "Sequence[_KnownBatch]"
    ) -> "list[_KnownBatch]":
        """New batches for questions that are in none."""
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
                batch = gathering.begun(
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
        """As many of one model's questions as one batch may have and the tenant's ceiling admits, and those after."""
        _, room = gathering.room_of(self.context)
        chosen: list[_FileQuestion] = []
        size, most = 0, 0.0
        for number, one in enumerate(questions):
            full = len(chosen) == MOST_LINES or size + one.wanted.size > gathering.MOST_BYTES
            if chosen and full:
                return chosen, list(questions[number:])
            if room is None or most + one.wanted.most_usd <= room:
                chosen.append(one)
                size, most = size + one.wanted.size, most + one.wanted.most_usd
        return chosen, []

    def _ref(self, provider_batch_id: str) -> Reference:
        return Reference(self.context.tenant, "provider_batch", provider_batch_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownBatch:
    """A batch of the file, and the questions in it: by their answers, and by the addresses alone."""

    batch: ProviderBatch
    questions: frozenset[ListedQuestion]
    addresses: frozenset[str]

    @property
    def id(self) -> str:
        return self.batch.id

    @property
    def unpaid(self) -> bool:
        """Whether the spending ceiling did not admit it, so that it was never sent."""
        return self.batch.ended == "unpaid"


def _known(context: BatchingContext, batch: ProviderBatch) -> _KnownBatch:
    questions = frozenset(gathering.lines_of(context, batch))
    return _KnownBatch(
        batch=batch, questions=questions, addresses=frozenset(one.address for one in questions if one.address)
    )


def _having(line: OpenLine, wanted: WantedQuestion, batches: Sequence[_KnownBatch]) -> _KnownBatch | None:
    """The batch that has a line's question, or the same one of another line, which the line has from the cache then."""
    question = _listed(line, wanted)
    for one in batches:
        if question in one.questions:
            return one
    if not wanted.shared:
        return None
    for one in reversed(batches):
        ended = one.batch.finished_at
        # A line that was tried since that ended, and wants it all the same, does not have it from the cache.
        if wanted.address in one.addresses and (ended is None or line.until <= ended):
            return one
    return None


def _fresh(lines: Sequence[OpenLine], batches: Sequence[_KnownBatch]) -> list[_FileQuestion]:
    """The questions that are in no batch, each once, and once a line where its reply may not be shared."""
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
    """The same for the same questions of the same file, and another one after each batch that was `unpaid`."""
    words = "".join(f"{one.listed.answer_id} {one.listed.address}\n" for one in questions)
    digest = hashlib.sha256(words.encode()).hexdigest()
    return derived_ulid(file.created_at, file.tenant, file.id, provider, model, str(unpaid), digest)
