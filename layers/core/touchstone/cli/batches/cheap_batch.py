"""The lines of a file that go by the batches of providers, which answer at a fraction of the price.

    look at every batch ──> replay the lines with the replies ──> submit their open questions ──> rest ──┐
            ^                     │ decided: kept      │ not decided by batches: asked at once            │
            └─────────────────────┴────────────────────┴────────────────────────────────────────────────┘

Only lines that verify an answer go by batches, together with their deep evaluation. The first batch has the questions
of both, a later batch has the question to the second judge. A line that solves a problem takes up to five rounds of
questions that depend on each other, and each round may take a day, so it is asked at once.
"""

import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from touchstone.answers.model import AnswerRecord
from touchstone.answers.view import AnswerView
from touchstone.cli.batches.batch_journal import (
    BatchJournal,
    Created,
    Dropped,
    EndedBatch,
    Intent,
    LinePlace,
    ReceivedReply,
    SubmittedBatch,
)
from touchstone.cli.batches.local_results import ResultsFile, answer_id, undecided_reason
from touchstone.cli.batches.local_rounds import Lines
from touchstone.cli.local import inprocess
from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.screen import say
from touchstone.clock import system_clock
from touchstone.errors import (
    InputError,
    JudgeError,
    MisconfiguredError,
    ResultsGoneError,
    TouchstoneError,
    UnfoundBatchError,
)
from touchstone.judges import retirement
from touchstone.judges.base import ReplyCache
from touchstone.judges.batches import BatchLine, ProviderBatches, as_line
from touchstone.judges.batches.base import FoundBatch, by_line
from touchstone.judges.batches.texts import size_of
from touchstone.judges.questions import highest_cost_usd
from touchstone.judges.spends import Spend
from touchstone.operations.batches.lines import LineResult, VerifyLine, failed_line, parse_line, request_of
from touchstone.operations.following import (
    CERTAINLY_REFUSED,
    DAY,
    FIRST_PAUSE,
    FOUND_WITHIN,
    INTENT_DIGITS,
    LONGEST_PAUSE,
    NEVER_ENDED,
    QUOTA,
    REFUSALS,
    SHOWN_WITHIN,
    TOO_MANY_QUEUED,
    locate_batch,
    look_at,
    may_have_created,
    searched,
)
from touchstone.operations.replaying import (
    BatchApis,
    CheapLine,
    ReplayJudges,
    WaitingQuestion,
    prices_of_batches,
    with_savings,
)

FIRST_REST = 5.0
LONGEST_REST = 60.0
"""Seconds between two looks at batches. A look costs nothing. The median batch takes seven minutes."""
GROWTH = 1.5
SAMPLE_ID = "0" * 26
"""A stand-in that is as long as the id of a line in a batch."""

type AtOnce = Callable[[Lines], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """An open question, and the line that needs its reply. `number` is the number of the line."""

    number: int
    place: LinePlace
    wanted: WaitingQuestion


@dataclass(slots=True)
class _Round:
    """The outcome of replaying lines with the replies that batches have brought so far.

    `wanted` are the open questions of the lines. `so_far` has, for each line with open questions, its calls that are
    paid for. `decided` and `undecided` are the numbers of the lines without open questions.
    """

    wanted: list[_Question] = field(default_factory=list)
    so_far: dict[int, tuple[Spend, ...]] = field(default_factory=dict)
    decided: set[int] = field(default_factory=set)
    undecided: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Hold:
    """The state of a model whose provider refused a batch because of a quota.

    `since` is when the first refusal in a row came, and until `until` no other batch is submitted. `pause` is the next
    pause in seconds. A batch has `most` questions at most, because one was too large although no other batch was under
    way; None: no limit.
    """

    since: datetime | None = None
    until: datetime | None = None
    pause: float = FIRST_PAUSE
    most: int | None = None

    def begin_anew(self) -> None:
        """Forget the refusals: a batch was completed, so the quota is free. `most` stays."""
        self.since, self.until, self.pause = None, None, FIRST_PAUSE


class CheapRun:
    """One run over a file of requests. `paid` has the calls that are in the results so far, by the line's number.

    `max_cost_usd` is the ceiling for the cost of the whole file; None: there is none. With a ceiling, no batch is
    submitted that could take the cost of the file above it, and nothing is asked at once: a line that no batch takes is
    left out. `spent_usd` is the cost of the lines that are done already, and `told` are the ids of the batch lines
    whose calls are in the results of those.
    """

    def __init__(
        self,
        journal: BatchJournal,
        results: ResultsFile,
        paid: dict[int, tuple[Spend, ...]],
        apis: BatchApis,
        cache: ReplyCache | None,
        *,
        max_cost_usd: float | None = None,
        spent_usd: float = 0.0,
        told: frozenset[str] = frozenset(),
    ) -> None:
        self._done_by = told
        self._max_cost_usd = max_cost_usd
        self._spent_usd = spent_usd
        self._journal = journal
        self._results = results
        self._paid = paid
        self._apis = apis
        self._cache = cache
        self._prices = prices_of_batches(apis.registry)
        self._refused = Counter[tuple[str, str]]()
        self._holds: dict[tuple[str, str], _Hold] = {}
        self._misses = Counter[str]()
        self._unfound: dict[str, datetime] = {}
        self._replayed: dict[int, tuple[LineResult, list[WaitingQuestion]]] = {}
        self._told: set[str] = set()
        self._warned: set[str] = set()

    async def all(self, lines: Lines, at_once: AtOnce) -> None:
        """Work on lines until each is decided by batches, or was asked by `at_once`, or is left out by the ceiling."""
        left = {number: text for number, text in lines.items() if can_be_batched(text)}
        others = {number: text for number, text in lines.items() if number not in left}
        pause = FIRST_REST
        while True:
            ended = await self._settle()
            if ended:
                self._replayed.clear()
            found = await self._replay(left)
            held = self._hold_back(found)
            refused = self._without_batches(await self._submit(found.wanted), left)
            self._paid |= {number: found.so_far[number] for number in refused}
            others |= {number: left[number] for number in found.undecided | refused}
            gone = found.decided | others.keys()
            left = {number: text for number, text in left.items() if number not in gone}
            if self._max_cost_usd is not None:
                others = {}
                if not self._journal.open and left.keys() <= held:
                    return
            if others:
                _say_at_once(others)
                await at_once(others)
                others = {}
            if not left:
                return
            pause = FIRST_REST if ended else min(pause * GROWTH, LONGEST_REST)
            await waiting.rest(pause)

    def _hold_back(self, found: _Round) -> set[int]:
        """Remove from `found.wanted` the lines whose questions could cost more than the ceiling leaves.

        Return the numbers of these lines.
        """
        if self._max_cost_usd is None:
            return set()
        so_far = {**self._paid, **found.so_far}
        spends = [spend for some in so_far.values() for spend in some]
        told = {spend.line_id for spend in spends if spend.line_id is not None} | self._done_by
        spent = self._spent_usd + sum(spend.cost_usd or 0.0 for spend in spends) + self._journal.untold(told).most_usd
        under_way = [each.intent.most_usd for each in self._journal.open]
        unknown = under_way.count(None)
        if unknown and found.wanted:
            self._tell(
                f"{unknown} batch{'es' if unknown > 1 else ''} under way may cost an amount that is not known; with "
                "--max-cost nothing more is submitted until they have ended."
            )
        room = -1.0 if unknown else self._max_cost_usd - spent - sum(most or 0.0 for most in under_way)
        held: set[int] = set()
        for number, group in groupby(found.wanted, key=lambda one: one.number):
            most = self._most_usd(group)
            if most is None or most > room:
                held.add(number)
            else:
                room -= most
        found.wanted = [one for one in found.wanted if one.number not in held]
        return held

    def _most_usd(self, questions: Iterable[_Question]) -> float | None:
        """The highest cost of questions by batches in US dollars; None if a price is not known."""
        total = 0.0
        for one in questions:
            model = self._prices.find(one.wanted.provider, one.wanted.model)
            most = highest_cost_usd(model, as_line(one.wanted.question, SAMPLE_ID), on=system_clock().date())
            if most is None:
                return None
            total += most
        return total

    def _without_batches(self, refused: set[int], lines: Lines) -> set[int]:
        """The refused lines that have no question in a batch now, and so are asked at once.

        A line that has one waits for its reply first, since that is paid for.
        """
        waiting_answers = {place.answer for place in self._journal.waiting()}
        return {number for number in refused if answer_id(number, lines[number]) not in waiting_answers}

    async def _settle(self) -> bool:
        """Look at each open batch, and collect its replies if it has ended. Return whether any is not open any more."""
        ended = False
        for each in self._journal.open:
            batches = self._apis.batches(each.intent.provider)
            if batches is None:
                raise InputError(
                    f"{self._journal.path} tells of a batch of {each.intent.provider}, which has none by the settings "
                    "of now; --again begins anew.",
                    where="file",
                )
            await self._apis.load(each.intent.provider)
            try:
                ended |= await self._settled(each, batches)
            except MisconfiguredError as error:
                if isinstance(error, UnfoundBatchError) and self._may_be_late(f"batch {each.intent.intent}"):
                    self._tell(f"{error} It is looked for again.")
                    continue
                # A later look fails too until a person mends it, and a second batch would be paid for again.
                raise MisconfiguredError(
                    f"{error} A batch of {len(each.intent.lines)} questions waits there: use the key and the address "
                    "by which it was submitted; --again begins anew."
                ) from None
            except JudgeError as error:
                self._tell(f"{error} It is looked at again.")
        return ended

    async def _settled(self, each: SubmittedBatch, batches: ProviderBatches) -> bool:
        """Look at one batch. Return whether it has ended, or turned out not to exist."""
        intent = each.intent
        if each.batch is None:
            found = await locate_batch(
                batches,
                intent.intent,
                at=intent.at,
                known=_known(self._journal),
                misses=self._misses[intent.intent],
                now=system_clock(),
            )
            self._misses[intent.intent] = found.misses
            if found.batch_id is None:
                if not found.never:
                    when = "when the batches that are under way there have ended."
                    if found.known_by is not None:
                        when = f"by {found.known_by:%H:%M} UTC: it may be shown late."
                    self._tell(
                        f"Whether {intent.provider} has a batch of {len(intent.lines)} questions, whose creation was "
                        f"not answered, is known {when}"
                    )
                    return False
                self._journal.add(Dropped(intent=intent.intent))
                self._refused[intent.provider, intent.model] += 1
                return True
            self._journal.add(Created(intent=intent.intent, batch=found.batch_id, ends_by=None))
        batch_id = self._journal.submissions[intent.intent].batch or ""
        look = await look_at(
            batches,
            batch_id,
            ends_by=each.ends_by or intent.at + DAY,
            cancelled_at=each.cancelled_at,
            now=system_clock(),
        )
        self._unfound.pop(f"batch {intent.intent}", None)
        each.cancelled_at = look.cancelled_at
        if look.state == "under_way":
            self._say_where(intent, batch_id, look.ends_by)
            return False
        if look.failure == TOO_MANY_QUEUED:
            self._journal.add(Dropped(intent=intent.intent))
            self._hold(intent, f"{intent.provider}'s batch {batch_id} failed ({look.failure}).")
            self._pack_fewer(intent)
            return True
        if look.state != "completed":
            why = f" ({look.failure})" if look.failure else ""
            then = "asked at once" if self._max_cost_usd is None else "left"
            say(f"{intent.provider}'s batch {batch_id} {look.state}{why}; what it did not answer is {then}.")
        lost = look.failure == NEVER_ENDED
        try:
            replies = () if lost or look.state == "failed" else await batches.collect(batch_id)
        except ResultsGoneError as error:
            if self._may_be_late(f"results {intent.intent}"):
                raise
            say(f"{error} They are submitted again.")
            replies, lost = (), True
        if look.state == "completed":
            self._holds.get((intent.provider, intent.model), _Hold()).begin_anew()
        brought = by_line(replies, intent.lines.keys(), state=look.state)
        self._journal.add(
            *(ReceivedReply(intent=intent.intent, reply=reply) for reply in brought.values()),
            EndedBatch(intent=intent.intent, lost=lost),
        )
        return True

    def _may_be_late(self, what: str) -> bool:
        """Whether a provider did not find a batch, or its results, for so short a time that it may be late."""
        now = system_clock()
        return now < self._unfound.setdefault(what, now) + FOUND_WITHIN

    async def _replay(self, lines: Lines) -> _Round:
        """Replay lines with the replies that batches have brought.

        Lines with a question in a batch under way are left out, since there is nothing new for them. The result of any
        other line with open questions is reused until a batch has ended, since nothing changes before that.
        """
        under_way = self._journal.waiting()
        waiting_answers = {place.answer for place in under_way}
        taken = {place.question for place in under_way}
        found = _Round()
        for number, text in lines.items():
            answer = answer_id(number, text)
            if answer in waiting_answers:
                continue
            result, wants = self._replayed.get(number) or await self._done_again(number, text)
            if not wants:
                self._keep(number, result, found)
                continue
            self._replayed[number] = (result, wants)
            found.so_far[number] = () if result.answer is None else result.answer.spends
            for one in wants:
                # If two lines have the same question, it is asked once: the other line gets the reply from the cache.
                if one.shared and one.address in taken:
                    continue
                taken.add(one.address)
                place = LinePlace(answer=answer, question=one.address)
                found.wanted.append(_Question(number=number, place=place, wanted=one))
        return found

    def _keep(self, number: int, result: LineResult, found: _Round) -> None:
        """Store the result of a line without open questions, if it is decided or has new calls."""
        if undecided_reason(result) is None or result.answer is None:
            found.decided.add(number)
            self._results.append(result)
            self._paid[number] = () if result.answer is None else result.answer.spends
            return
        found.undecided.add(number)
        if result.answer.spends != self._paid.get(number, ()):
            self._paid[number] = result.answer.spends
            self._results.append(result)

    async def _done_again(self, number: int, text: bytes) -> tuple[LineResult, list[WaitingQuestion]]:
        """Replay a line with the replies that batches have brought. Return its result and its open questions.

        The result counts only if there is no open question.
        """
        line = parse_line(text)
        if not isinstance(line, VerifyLine):
            raise TypeError("only lines that verify go by batches")
        answer = answer_id(number, text)
        paid = self._paid.get(number, ())
        counted = {spend.line_id for spend in paid}
        brought = {
            address: fresh
            for address, some in self._journal.replies(answer).items()
            if (fresh := [reply for reply in some if reply.line_id not in counted])
        }
        work = CheapLine(brought)
        judges = ReplayJudges(self._apis, work, prices=self._prices, cache=self._cache)
        try:
            record = await inprocess.answered(request_of(line), judges, answer_id=answer)
        except TouchstoneError as error:
            return failed_line(number, line.id, error), []
        finally:
            await judges.aclose()
        return self._result(number, line.id, record, paid), work.wanted

    def _result(self, number: int, reference: str | None, record: AnswerRecord, paid: tuple[Spend, ...]) -> LineResult:
        spends = (*paid, *with_savings(record.spends, self._apis.registry))
        view = AnswerView.of(record.model_copy(update={"spends": spends}))
        return LineResult(line=number, id=reference, answer=view, finished_at=system_clock())

    async def _submit(self, wanted: list[_Question]) -> set[int]:
        """Submit questions in batches by provider and model. Return the numbers of the lines that no batch takes."""
        refused: set[int] = set()

        def asked(one: _Question) -> tuple[str, str]:
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
        self, batches: ProviderBatches, provider: str, model: str, questions: list[_Question]
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
                most_usd=self._most_usd(some),
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
            key = (intent.provider, intent.model)
            if may_have_created(error):
                self._tell(f"{error} Whether the batch was created is looked up before it is created again.")
                return True
            self._journal.add(Dropped(intent=intent.intent))
            if isinstance(error, QUOTA):
                why = f"A batch of {len(lines)} questions was not taken: {error}"
                self._hold(intent, why, seconds=error.retry_after or 0.0)
                return False
            passes = not isinstance(error, CERTAINLY_REFUSED)
            self._refused[key] = self._refused[key] + 1 if passes else REFUSALS
            then = "They are asked at once." if self._refused[key] >= REFUSALS else "It is tried again."
            say(f"A batch of {len(lines)} questions was not taken: {error} {then}")
            return False
        self._refused.pop((intent.provider, intent.model), None)
        self._journal.add(Created(intent=intent.intent, batch=look.batch_id, ends_by=look.ends_by))
        self._say_where(intent, look.batch_id, look.ends_by)
        return True

    def _held(self, provider: str, model: str) -> bool:
        """Whether no batch is submitted to this model now, because a quota was spent.

        That is so during the pause after a refusal, and while another batch of the model is under way.
        """
        hold = self._holds.get((provider, model))
        if hold is None:
            return False
        in_flight = any((each.intent.provider, each.intent.model) == (provider, model) for each in self._journal.open)
        return in_flight or (hold.until is not None and system_clock() < hold.until)

    def _hold(self, intent: Intent, why: str, *, seconds: float = 0.0) -> None:
        """Begin a pause after a refusal because of a quota. After a day of refusals the questions are asked at once.

        `why` is the sentence about the refusal, and `seconds` is the shortest pause.
        """
        key, now = (intent.provider, intent.model), system_clock()
        hold = self._holds.setdefault(key, _Hold())
        hold.since = hold.since or now
        if now - hold.since >= DAY:
            self._refused[key] = REFUSALS
            say(f"{why} A day has passed so. They are asked at once.")
            return
        hold.until = now + timedelta(seconds=min(max(hold.pause, seconds), LONGEST_PAUSE))
        hold.pause *= 2.0
        say(
            f"{why} It waits until {hold.until:%Y-%m-%d %H:%M} UTC for that quota. Ctrl-C leaves; the same command "
            "goes on."
        )

    def _pack_fewer(self, intent: Intent) -> None:
        """Halve the size of a model's next batches if this one was too large although no other was under way."""
        key = (intent.provider, intent.model)
        if any((each.intent.provider, each.intent.model) == key for each in self._journal.open):
            return
        hold = self._holds.setdefault(key, _Hold())
        hold.most = max(1, len(intent.lines) // 2)
        self._tell(f"The next batches of {intent.model} have {hold.most} questions at the most.")

    def _say_where(self, intent: Intent, batch_id: str, ends_by: datetime | None) -> None:
        until = "within a day" if ends_by is None else f"by {ends_by:%Y-%m-%d %H:%M} UTC at the latest"
        self._tell(
            f"{len(intent.lines)} questions wait in {intent.provider}'s batch {batch_id} ({intent.model}), answered "
            f"{until}. Ctrl-C leaves; the same command collects them."
        )

    def _tell(self, sentence: str) -> None:
        """Say a sentence, but only once in a run."""
        if sentence not in self._told:
            self._told.add(sentence)
            say(sentence)


def _packed(batches: ProviderBatches, model: str, questions: list[_Question], intent: str) -> list[BatchLine]:
    """The batch lines of as many of the first questions as one batch can hold; at least one."""
    lines: list[BatchLine] = []
    size = 0
    for one in questions[: batches.limits.lines]:
        line = batches.line(model, as_line(one.wanted.question, f"{intent}-{len(lines)}"))
        size += size_of(line)
        if lines and size > batches.limits.bytes:
            break
        lines.append(line)
    return lines


async def cancel_all(journal: BatchJournal, apis: BatchApis) -> None:
    """Cancel the batches that are under way, and say which of them may go on and be paid for."""
    for each in journal.open:
        try:
            remains = await _cancelled(each, journal, apis)
        except TouchstoneError as error:
            remains = str(error)
        if remains:
            named = "A batch" if each.batch is None else f"The batch {each.batch}"
            say(
                f"{named} of {each.intent.provider} with {len(each.intent.lines)} questions was not cancelled and may "
                f"be paid for: {remains}"
            )


async def _cancelled(each: SubmittedBatch, journal: BatchJournal, apis: BatchApis) -> str:
    """Cancel a batch; if its id is not known, search for it first. Return why it may still go on, "" if it does not."""
    provider = each.intent.provider
    batches = apis.batches(provider)
    if batches is None:
        return f"{provider} has no batches by the settings of now."
    await apis.load(provider)
    batch = each.batch
    if batch is None:
        found = await _found(batches, each.intent, journal)
        if found.open:
            return "its creation was not answered, and which batch it is, is known when it has ended."
        batch = found.batch_id
    if batch is None:
        late = system_clock() < each.intent.at + SHOWN_WITHIN
        return "its creation was not answered, and it is not shown so far." if late else ""
    await batches.cancel(batch)
    return ""


async def _found(batches: ProviderBatches, intent: Intent, journal: BatchJournal) -> FoundBatch:
    """The result of a search at the provider for the batch of an intent."""
    return await searched(batches, intent.intent, at=intent.at, known=_known(journal))


def _known(journal: BatchJournal) -> set[str]:
    """The ids of all batches in the journal, whose intents are known."""
    return {other.batch for other in journal.submissions.values() if other.batch is not None}


def can_be_batched(text: bytes) -> bool:
    """Whether a line verifies an answer, with or without a deep evaluation. Only such lines go by batches."""
    try:
        return isinstance(parse_line(text), VerifyLine)
    except InputError:
        return False


def _say_at_once(lines: Lines) -> None:
    one = len(lines) == 1
    say(f"{len(lines)} line{' is' if one else 's are'} asked at once: no batch takes {'it' if one else 'them'}.")
