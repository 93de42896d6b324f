"""The lines of a file that go by the batches of providers, which answer at a fraction of the price.

    look at every batch ──> replay the lines with the replies ──> submit their open questions ──> rest ──┐
            ^                     │ decided: kept      │ not decided by batches: asked at once            │
            └─────────────────────┴────────────────────┴────────────────────────────────────────────────┘

Only lines that verify an answer go by batches, together with their deep evaluation. The first batch has the questions
of both, a later batch has the question to the second judge. A line that solves a problem takes up to five rounds of
questions that depend on each other, and each round may take a day, so it is asked at once.
"""

from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby

from touchstone.answers.view import AnswerView
from touchstone.cli.batches.batch_journal import BatchJournal, LinePlace
from touchstone.cli.batches.cheap_collecting import BatchCollector
from touchstone.cli.batches.cheap_submitting import BatchSubmitter, OpenQuestion
from touchstone.cli.batches.local_rounds import Lines
from touchstone.cli.files.batch_files import ResultsFile, answer_id, reported_lines, undecided_reason
from touchstone.cli.local import inprocess
from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.screen import SayOnce, say
from touchstone.clock import system_clock
from touchstone.errors import InputError, TouchstoneError
from touchstone.judges.base import ReplyCache
from touchstone.judges.questions import cost_usd, max_usage_of
from touchstone.judges.spends import Spend
from touchstone.operations.batches.chunks import request_of
from touchstone.operations.batches.lines import LineResult, VerifyLine, failed_line, parse_line
from touchstone.operations.provider_batches.replaying import (
    BatchApis,
    CheapLine,
    ReplayJudges,
    WaitingQuestion,
    replayed_line,
    with_savings,
)

FIRST_REST = 5.0
LONGEST_REST = 60.0
"""Seconds between two looks at batches. A look costs nothing. The median batch takes seven minutes."""
GROWTH = 1.5
BYTES_A_TOKEN = 3
"""Bytes of a prompt for each token: about four in English, and in Chinese three, which are one character."""

type AtOnce = Callable[[Lines], Awaitable[None]]


@dataclass(slots=True)
class _Round:
    """The outcome of replaying lines with the replies that batches have brought so far.

    `wanted` are the open questions of the lines. `so_far` has, for each line with open questions, its calls that are
    paid for. `decided` and `undecided` are the numbers of the lines without open questions.
    """

    wanted: list[OpenQuestion] = field(default_factory=list)
    so_far: dict[int, tuple[Spend, ...]] = field(default_factory=dict)
    decided: set[int] = field(default_factory=set)
    undecided: set[int] = field(default_factory=set)


class CheapRun:
    """One run over a file of requests. `paid` has the calls that are in the results so far, by the line's number.

    `finished` are the results of the lines that are done already. `max_cost_usd` is the ceiling for the cost of the
    whole file; None: there is none. With a ceiling, no batch is submitted that could take the cost of the file above
    it, and nothing is asked at once: a line that no batch takes is left out.
    """

    def __init__(
        self,
        journal: BatchJournal,
        results: ResultsFile,
        paid: dict[int, tuple[Spend, ...]],
        apis: BatchApis,
        cache: ReplyCache | None,
        *,
        finished: Collection[LineResult],
        max_cost_usd: float | None,
    ) -> None:
        self._done_by = frozenset(reported_lines(finished))
        self._max_cost_usd = max_cost_usd
        self._spent_usd = sum(one.answer.cost_usd or 0.0 for one in finished if one.answer)
        self._journal = journal
        self._results = results
        self._paid = paid
        self._apis = apis
        self._cache = cache
        self._tell = SayOnce()
        self._submitter = BatchSubmitter(journal, apis, self._tell)
        then = "asked at once" if max_cost_usd is None else "left"
        self._collector = BatchCollector(journal, apis, self._submitter, self._tell, then=then)
        self._replayed: dict[int, tuple[LineResult, list[WaitingQuestion]]] = {}

    async def all(self, lines: Lines, at_once: AtOnce) -> None:
        """Work on lines until each is decided by batches, or was asked by `at_once`, or is left out by the ceiling."""
        left = {number: text for number, text in lines.items() if can_be_batched(text)}
        others = {number: text for number, text in lines.items() if number not in left}
        pause = FIRST_REST
        while True:
            ended = await self._collector.settle()
            if ended:
                self._replayed.clear()
            found = await self._replay(left)
            held = self._hold_back(found)
            refused = self._without_batches(await self._submitter.submit(found.wanted), left)
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
            most = self._submitter.most_usd(group)
            if most is None or most > room:
                held.add(number)
            else:
                room -= most
        found.wanted = [one for one in found.wanted if one.number not in held]
        return held

    def _without_batches(self, refused: set[int], lines: Lines) -> set[int]:
        """The refused lines that have no question in a batch now, and so are asked at once.

        A line that has one waits for its reply first, since that is paid for.
        """
        waiting_answers = {place.answer for place in self._journal.waiting()}
        return {number for number in refused if answer_id(number, lines[number]) not in waiting_answers}

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
                found.wanted.append(OpenQuestion(number=number, place=place, wanted=one))
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
        try:
            async with replayed_line(self._apis, brought, cache=self._cache) as (judges, work):
                record = await inprocess.answered(request_of(line), judges, answer_id=answer)
        except TouchstoneError as error:
            return failed_line(number, line.id, error), []
        spends = (*paid, *with_savings(record.spends, self._apis.registry))
        view = AnswerView.of(record.model_copy(update={"spends": spends}))
        return LineResult(line=number, id=line.id, answer=view, finished_at=system_clock()), work.wanted


def can_be_batched(text: bytes) -> bool:
    """Whether a line verifies an answer, with or without a deep evaluation. Only such lines go by batches."""
    try:
        return isinstance(parse_line(text), VerifyLine)
    except InputError:
        return False


def _say_at_once(lines: Lines) -> None:
    one = len(lines) == 1
    say(f"{len(lines)} line{' is' if one else 's are'} asked at once: no batch takes {'it' if one else 'them'}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEstimate:
    """An estimate of the first questions of lines, without a second judge and without questions that are asked again.

    `calls` is the number of questions that go by batches. `input_tokens` is about the length of their prompts.
    `output_tokens` is the most that the models may write and think; they seldom do. `batch_usd` and `at_once_usd` are
    the highest cost by batches and at once, with a token for each byte of the prompts as when money is held back, and
    without the `unpriced_calls`, whose price is not known. `checked` lines need no judge, and `at_once` lines do not go
    by batches.
    """

    lines: int
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    batch_usd: float = 0.0
    at_once_usd: float = 0.0
    unpriced_calls: int = 0
    checked: int = 0
    at_once: int = 0


async def estimated(lines: Lines, apis: BatchApis, cache: ReplyCache) -> BatchEstimate:
    """The estimate for lines. Nothing is sent. A question whose reply is in the cache costs nothing."""
    found = BatchEstimate(lines=len(lines))
    seen: set[str] = set()
    for text in lines.values():
        if not can_be_batched(text):
            found = replace(found, at_once=found.at_once + 1)
            continue
        wants = await _wanted(text, apis, cache)
        found = replace(found, checked=found.checked + (not wants))
        for one in wants:
            if one.shared and one.address in seen:
                continue
            seen.add(one.address)
            found = _with(found, one, apis)
    return found


async def _wanted(text: bytes, apis: BatchApis, cache: ReplyCache) -> list[WaitingQuestion]:
    line, work = parse_line(text), CheapLine({})
    async with aclosing(ReplayJudges(apis, work, prices=apis.registry, cache=cache)) as judges:
        with suppress(TouchstoneError):  # the line is wrong; its result will say so
            if isinstance(line, VerifyLine):
                await inprocess.answered(request_of(line), judges)
    return work.wanted


def _with(found: BatchEstimate, one: WaitingQuestion, apis: BatchApis) -> BatchEstimate:
    model, provider = apis.registry.find(one.provider, one.model), apis.registry.provider(one.provider)
    most = max_usage_of(one.sample_line)
    about = replace(most, input_tokens=max(1, most.input_tokens // BYTES_A_TOKEN))
    price = cost_usd(model, most, on=system_clock().date())
    factor = provider.batch_factor_of(model.name)
    return replace(
        found,
        calls=found.calls + 1,
        input_tokens=found.input_tokens + about.input_tokens,
        output_tokens=found.output_tokens + about.output_tokens,
        at_once_usd=found.at_once_usd + (price or 0.0),
        batch_usd=found.batch_usd + (price or 0.0) * (1.0 if factor is None else factor),
        unpriced_calls=found.unpriced_calls + (price is None),
    )
