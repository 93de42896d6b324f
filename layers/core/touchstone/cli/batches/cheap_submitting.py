"""Submits the open questions of lines in providers' batches, by provider and model, as their quotas admit it."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from touchstone.cli.batches.batch_journal import BatchJournal, Created, Dropped, Intent, LinePlace
from touchstone.cli.terminal.screen import say
from touchstone.clock import system_clock
from touchstone.errors import JudgeError, MisconfiguredError
from touchstone.judges import retirement
from touchstone.judges.batches import BatchLine, ProviderBatches, as_line
from touchstone.judges.batches.base import size_of
from touchstone.judges.questions import highest_cost_usd
from touchstone.operations.provider_batches.following import (
    CERTAINLY_REFUSED,
    DAY,
    INTENT_DIGITS,
    QUOTA,
    REFUSALS,
    line_id_of,
    may_have_created,
    quota_pause,
)
from touchstone.operations.provider_batches.replaying import BatchApis, WaitingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """An open question, and the line that needs its reply. `number` is the number of the line."""

    number: int
    place: LinePlace
    wanted: WaitingQuestion


@dataclass(slots=True)
class _Hold:
    """The state of a model whose provider refused a batch because of a quota.

    `since` is when the first of the `refusals` in a row came, and until `until` no other batch is submitted. A batch
    has `most` questions at most, because one was too large although no other batch was under way; None: no limit.
    """

    since: datetime | None = None
    until: datetime | None = None
    refusals: int = 0
    most: int | None = None


class BatchSubmitter:
    """Submits batches, and keeps what providers say to that in one run. `tell` says a sentence once."""

    def __init__(self, journal: BatchJournal, apis: BatchApis, tell: Callable[[str], None]) -> None:
        self._journal = journal
        self._apis = apis
        self._tell = tell
        self._refused = Counter[tuple[str, str]]()
        self._holds: dict[tuple[str, str], _Hold] = {}
        self._warned: set[str] = set()

    def most_usd(self, questions: Iterable[OpenQuestion]) -> float | None:
        """The highest cost of questions by batches in US dollars; None if a price is not known."""
        total = 0.0
        for one in questions:
            model = self._apis.prices.find(one.wanted.provider, one.wanted.model)
            most = highest_cost_usd(model, one.wanted.sample_line, on=system_clock().date())
            if most is None:
                return None
            total += most
        return total

    async def submit(self, wanted: list[OpenQuestion]) -> set[int]:
        """Submit questions in batches by provider and model. Return the numbers of the lines that no batch takes."""
        refused: set[int] = set()

        def asked(one: OpenQuestion) -> tuple[str, str]:
            return one.wanted.provider, one.wanted.model

        for (provider, model), group in groupby(sorted(wanted, key=asked), key=asked):
            questions = list(group)
            batches = self._apis.batches(provider)
            if batches is None:
                self._tell(f"{provider} has no batches; {len(questions)} questions are asked of it at once.")
                refused |= {one.number for one in questions}
                continue
            try:
                await self._apis.load(provider)
            except MisconfiguredError:  # each line says it when it is asked at once
                refused |= {one.number for one in questions}
                continue
            if model not in self._warned:
                self._warned.add(model)
                retirement.warn(self._apis.registry.find(provider, model), on=system_clock().date())
            refused |= await self._submit_to(batches, provider, model, questions)
        return refused

    async def _submit_to(
        self, batches: ProviderBatches, provider: str, model: str, questions: list[OpenQuestion]
    ) -> set[int]:
        """Submit the questions of one model in as many batches as needed. Return the numbers of the refused lines."""
        left = questions
        while left and self._refused[provider, model] < REFUSALS:
            if self._held(provider, model):
                return set()  # the same questions come again after a rest
            intent = uuid.uuid4().hex[:INTENT_DIGITS]
            hold = self._holds.get((provider, model))
            lines = _packed(batches, model, left if hold is None else left[: hold.most], intent)
            some, rest = left[: len(lines)], left[len(lines) :]
            places = {line.line_id: one.place for line, one in zip(lines, some, strict=True)}
            written = Intent(
                intent=intent,
                provider=provider,
                model=model,
                at=system_clock(),
                lines=places,
                most_usd=self.most_usd(some),
            )
            if await self._created(batches, written, lines):
                left = rest
            elif self._refused[provider, model] < REFUSALS:
                return set()  # the same questions come again after a rest
        return {one.number for one in left}

    async def _created(self, batches: ProviderBatches, intent: Intent, lines: list[BatchLine]) -> bool:
        """Create a batch. Return whether it was created, or may have been."""
        self._journal.add(intent)
        try:
            look = await batches.submit(intent.model, intent.intent, lines)
        except JudgeError as error:
            key = intent.recipient
            if may_have_created(error):
                self._tell(f"{error} Whether the batch was created is looked up before it is created again.")
                return True
            self._journal.add(Dropped(intent=intent.intent))
            if isinstance(error, QUOTA):
                why = f"A batch of {len(lines)} questions was not taken: {error}"
                self.hold(intent, why, seconds=error.retry_after or 0.0)
                return False
            passes = not isinstance(error, CERTAINLY_REFUSED)
            self._refused[key] = self._refused[key] + 1 if passes else REFUSALS
            then = "They are asked at once." if self._refused[key] >= REFUSALS else "It is tried again."
            say(f"A batch of {len(lines)} questions was not taken: {error} {then}")
            return False
        self._refused.pop(intent.recipient, None)
        self._journal.add(Created(intent=intent.intent, batch=look.batch_id, ends_by=look.ends_by))
        tell_where(self._tell, intent, look.batch_id, look.ends_by)
        return True

    def _held(self, provider: str, model: str) -> bool:
        """Whether no batch is submitted to this model now, because a quota was spent.

        That is so during the pause after a refusal, and while another batch of the model is under way.
        """
        hold = self._holds.get((provider, model))
        if hold is None:
            return False
        in_flight = any(each.intent.recipient == (provider, model) for each in self._journal.open)
        return in_flight or (hold.until is not None and system_clock() < hold.until)

    def hold(self, intent: Intent, why: str, *, seconds: float = 0.0) -> None:
        """Begin a pause after a refusal because of a quota. After a day of refusals the questions are asked at once.

        `why` is the sentence about the refusal, and `seconds` is the shortest pause.
        """
        key, now = intent.recipient, system_clock()
        hold = self._holds.setdefault(key, _Hold())
        hold.since = hold.since or now
        if now - hold.since >= DAY:
            self._refused[key] = REFUSALS
            say(f"{why} A day has passed so. They are asked at once.")
            return
        hold.until = now + quota_pause(hold.refusals, at_least=seconds)
        hold.refusals += 1
        say(
            f"{why} It waits until {hold.until:%Y-%m-%d %H:%M} UTC for that quota. Ctrl-C leaves; the same command "
            "goes on."
        )

    def pack_fewer(self, intent: Intent) -> None:
        """Halve the size of a model's next batches if this one was too large although no other was under way."""
        key = intent.recipient
        if any(each.intent.recipient == key for each in self._journal.open):
            return
        hold = self._holds.setdefault(key, _Hold())
        hold.most = max(1, len(intent.lines) // 2)
        self._tell(f"The next batches of {intent.model} have {hold.most} questions at the most.")

    def count_refusal(self, intent: Intent) -> None:
        """Count that the batch of an intent was not created, for a fault that may pass."""
        self._refused[intent.recipient] += 1

    def note_completed(self, intent: Intent) -> None:
        """Forget the refusals of a model whose batch was completed, so that the quota is free. Its `most` stays."""
        if (hold := self._holds.get(intent.recipient)) is not None:
            hold.since, hold.until, hold.refusals = None, None, 0


def tell_where(tell: Callable[[str], None], intent: Intent, batch_id: str, ends_by: datetime | None) -> None:
    """Tell where the questions of a batch wait, and for how long at most."""
    until = "within a day" if ends_by is None else f"by {ends_by:%Y-%m-%d %H:%M} UTC at the latest"
    tell(
        f"{len(intent.lines)} questions wait in {intent.provider}'s batch {batch_id} ({intent.model}), answered "
        f"{until}. Ctrl-C leaves; the same command collects them."
    )


def _packed(batches: ProviderBatches, model: str, questions: list[OpenQuestion], intent: str) -> list[BatchLine]:
    """The batch lines of as many of the first questions as one batch can hold; at least one."""
    lines: list[BatchLine] = []
    size = 0
    for one in questions[: batches.limits.lines]:
        line = batches.line(model, as_line(one.wanted.question, line_id_of(intent, len(lines))))
        size += size_of(line)
        if lines and size > batches.limits.bytes:
            break
        lines.append(line)
    return lines
