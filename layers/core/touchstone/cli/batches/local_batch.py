"""A file of requests in this process: results are appended as they come, and a second run does only the missing lines.

A line is missing if it has no result, or if a passing fault left it undecided: a spent quota, a time-out, an overload.
The calls that were already paid for such a line are in its next result too.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from touchstone.answers.judge_time import judge_seconds
from touchstone.answers.model import AnswerRecord
from touchstone.answers.view import AnswerView
from touchstone.cli.batches.batch_journal import BatchJournal, journal_path
from touchstone.cli.batches.cheap_batch import BatchEstimate, CheapRun, estimated
from touchstone.cli.batches.cheap_collecting import cancel_all
from touchstone.cli.batches.local_rounds import Lines, rounds
from touchstone.cli.files.batch_files import (
    Requests,
    ResultsFile,
    answer_id,
    asked_again,
    exclusively,
    is_done,
    read_results,
    reported_lines,
    undecided_reason,
    written,
)
from touchstone.cli.local import inprocess
from touchstone.cli.terminal.places import replace
from touchstone.cli.terminal.screen import say
from touchstone.cli.terminal.waiting import progress
from touchstone.clock import system_clock
from touchstone.errors import ConflictError, InputError, JudgeError, LimitError, TouchstoneError
from touchstone.figures import usd
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.judges.base import Judge, Purpose, Tier, WorkJudge
from touchstone.judges.spends import Spend
from touchstone.operations.batches.chunks import request_of
from touchstone.operations.batches.job_lines import SubmissionLine
from touchstone.operations.batches.lines import (
    EvaluateLine,
    Line,
    LineResult,
    SolveLine,
    VerifyLine,
    failed_line,
    parse_line,
    reference_in,
)
from touchstone.operations.jobs.patience import PatientJudges
from touchstone.operations.jobs.tries import NotingJudge
from touchstone.operations.provider_batches.replaying import BatchApis

WAIT_SAID = timedelta(seconds=5)
"""A wait of this length or more is announced."""
WAIT_SECONDS = 300.0
"""Extra time for a line to wait for a quota per minute: if several lines need it, that takes some minutes."""


def run(
    requests: Requests,
    *,
    results: Path,
    side_by_side: int,
    again: bool,
    wait: bool = False,
    cheap: bool = False,
    max_cost_usd: float | None = None,
) -> int:
    """Do the lines that are not done yet, `side_by_side` at a time. At the end the results are in the file's order.

    `again`: do all lines anew. `wait`: stay until a spent quota is free again, or a fault has passed. `cheap`: lines
    that can wait go by the providers' batches, and no batch is submitted that could take the cost above `max_cost_usd`.
    Return the number of lines that this ceiling left without a result. After an interruption the lines that were begun
    are finished first; a second interruption ends at once. Without `again`, raises `ConflictError` if `results` holds
    the results of another file. Without `cheap`, raises `ConflictError` if batches are under way, or have brought
    replies that are not in the results. Raises `SettingsError`.
    """
    judge_seconds()  # reads the setting, so that a wrong one is told before anything is begun
    with exclusively(str(results.resolve())):
        if again:
            _forget_batches(results)
        journal = BatchJournal(journal_path(results), requests.digest)
        if journal.open and not cheap:
            raise ConflictError(
                "Questions of this file are in batches at their provider; --cheap collects them, --again begins anew."
            )
        known = {} if again or not results.exists() else read_results(results, requests)
        replace(results, written(known.values()))
        done = {number for number, result in known.items() if is_done(result)}
        missing = {number: text for number, text in requests.lines() if number not in done}
        if not cheap and _unused(journal, known, missing):
            raise ConflictError(
                "Batches have brought replies that are not in the results yet; --cheap puts them there, --again begins "
                "anew."
            )
        if done and not missing:
            say(f"This file is finished: all {len(done)} results are in {results}. --again does its lines anew.")
        elif done:
            say(f"Lines left: {len(missing)} of {len(done) + len(missing)}; the others have their results.")
        with results.open("ab", buffering=0) as file, progress("Batch") as show, inprocess.warnings_printed():
            log = ResultsFile(file, show, done=len(done), total=len(done) + len(missing))
            paid = {n: one.answer.spends for n, one in known.items() if n in missing and one.answer is not None}
            try:
                at_once = _Run(log, paid, side_by_side)
                if cheap:
                    finished = [one for n, one in known.items() if n in done]
                    asyncio.run(_cheaply(at_once, missing, journal, finished, wait=wait, max_cost_usd=max_cost_usd))
                else:
                    asyncio.run(at_once.all(missing, wait=wait))
            except KeyboardInterrupt:
                say(f"{log.done} of {log.total} lines are decided. The same command goes on with the others.")
                raise
            finally:
                journal.close()
        latest = read_results(results, requests)
        replace(results, written(sorted(latest.values(), key=lambda each: each.line)))
        left_out = len(missing.keys() - latest.keys())
        if not journal.open and not left_out and all(undecided_reason(result) is None for result in latest.values()):
            unused = journal.untold(set(reported_lines(latest.values())))
            if words := str(unused):
                most = f"{usd(unused.most_usd)} at most"
                say(f"Paid for by batches, and not in the costs of the results: {words}; {most}.")
            journal.close(remove=True)
        _tell(latest, wait=wait)
        if left_out:
            say(
                f"{left_out} lines were not asked: with them it could cost more than ${max_cost_usd:g}, or no batch "
                "takes them. The same command with a higher --max-cost, or without one, goes on."
            )
        return left_out


def estimate(requests: Requests, *, results: Path) -> BatchEstimate:
    """The estimate by batches for the lines without a result or with an undecided one. Nothing is sent or stored."""
    known = read_results(results, requests) if results.exists() else {}
    done = {number for number, result in known.items() if is_done(result)}
    missing = {number: text for number, text in requests.lines() if number not in done}

    async def asked() -> BatchEstimate:
        return await estimated(missing, _apis(), inprocess.reply_cache())

    return inprocess.done_here(asked())


async def _cheaply(
    at_once: "_Run",
    lines: Lines,
    journal: BatchJournal,
    finished: list[LineResult],
    *,
    wait: bool,
    max_cost_usd: float | None,
) -> None:
    """Do lines by the providers' batches. Without a ceiling, the lines that no batch takes are asked at once."""
    cache, results, paid = inprocess.reply_cache(), at_once.results, at_once.paid
    async with aclosing(_apis()) as apis:
        run = CheapRun(journal, results, paid, apis, cache, finished=finished, max_cost_usd=max_cost_usd)
        await run.all(lines, lambda some: at_once.all(some, wait=wait))


def _apis() -> BatchApis:
    """The batches of the providers whose keys are on this machine."""
    registry = load_registry()
    return BatchApis(registry, EnvironmentKeys(registry))


def _unused(journal: BatchJournal, known: dict[int, LineResult], lines: Lines) -> int:
    """The number of replies that batches have brought for these lines and that are in no result."""
    used = set(reported_lines(known.values()))
    return sum(
        reply.missed is None and reply.status == HTTPStatus.OK and reply.line_id not in used
        for number, text in lines.items()
        for some in journal.replies(answer_id(number, text)).values()
        for reply in some
    )


def _forget_batches(results: Path) -> None:
    """Cancel the known batches of a file that is done anew, and delete their journal."""
    path = journal_path(results)
    try:
        journal = BatchJournal(path, None)
    except ConflictError:  # the journal is damaged: nobody knows which batches are under way
        path.unlink(missing_ok=True)
        return

    async def cancelled() -> None:
        async with aclosing(_apis()) as apis:
            await cancel_all(journal, apis)

    if journal.open:
        asyncio.run(cancelled())
    journal.close(remove=True)


class _Run:
    """One run over a file. `paid` has the calls that were paid for each line so far, by the line's number."""

    def __init__(self, results: ResultsFile, paid: dict[int, tuple[Spend, ...]], side_by_side: int) -> None:
        self.results = results
        self.paid = paid
        self._side_by_side = side_by_side
        self._began = system_clock()
        self._failures: list[JudgeError | LimitError] = []

    async def all(self, lines: Lines, *, wait: bool) -> None:
        """Ask lines at once, in as many rounds as needed. `wait` is as in `run`."""
        if not lines:
            return
        async with inprocess.opened(
            partial(_NotedJudges, self._failures, lambda: self._began), slow_start=True
        ) as judges:
            with suppress(JudgeError):  # each line that needs a judge says what is wrong
                await judges.load("verify")
            await rounds(lines, lambda some: self._round(some, judges), failures=self._failures, wait=wait)

    async def _round(self, lines: Lines, judges: Judges) -> dict[int, str]:
        """Do each line once. Return the reason for each line that is undecided, by its number."""
        undecided: dict[int, str] = {}
        waiting = iter(lines.items())

        async def work() -> None:
            for number, text in waiting:
                result = await self._done(number, text, judges)
                self.results.append(result)
                if (reason := undecided_reason(result)) is not None:
                    undecided[number] = reason

        await _together([asyncio.create_task(work()) for _ in range(min(self._side_by_side, len(lines)))], waiting)
        if "unreadable" in undecided.values():
            self._began = system_clock()  # the next round asks anew, also where the reply was in order but of no use
        return undecided

    async def _done(self, number: int, text: bytes, judges: Judges) -> LineResult:
        reference = None
        try:
            line = parse_line(text)
            reference = line.id
            record = await _record(line, answer_id(number, text), judges)
        except TouchstoneError as error:
            return failed_line(number, reference or reference_in(text), error)
        record = record.model_copy(update={"spends": (*self.paid.get(number, ()), *record.spends)})
        self.paid[number] = record.spends
        return LineResult(line=number, id=reference, answer=AnswerView.of(record), finished_at=system_clock())


async def _together(workers: list[asyncio.Task[None]], waiting: Iterator[object]) -> None:
    """Wait for all workers. If one fails or the user interrupts, wait only for the lines that were begun."""
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    except asyncio.CancelledError:
        say("Finishing the lines that were begun; interrupt again to leave at once.")
        raise
    finally:
        for _ in waiting:  # empties the iterator, so that no worker begins a new line
            pass
        await asyncio.wait(workers)
        for worker in workers:
            if not worker.cancelled():
                worker.exception()  # asked for, so that asyncio prints no traceback of a second worker's error
    for worker in workers:
        worker.result()


class _NotedJudges(PatientJudges):
    """As `PatientJudges`. The errors of all their questions are added to `failures`, and a long wait is said once.

    `began` tells when the work began whose tries the rounds are (see `WorkJudge`).
    """

    def __init__(
        self, failures: list[JudgeError | LimitError], began: Callable[[], datetime], *given: Any, **named: Any
    ) -> None:
        super().__init__(*given, **named)
        self._failures = failures
        self._began = began
        self._said_until = system_clock()

    def waits(self, error: JudgeError | LimitError, until: datetime) -> None:
        """Say for what and until when the judges wait, unless the wait is short or an announced one is not over yet."""
        if system_clock() < self._said_until or until - system_clock() < WAIT_SAID:
            return
        self._said_until = until
        say(f"{error} Waiting until {until:%H:%M:%S} UTC.")

    def get(self, provider: str, tier: Tier, *, purpose: Purpose = "fresh") -> Judge:
        """The judge for a tier of a provider."""
        return NotingJudge(WorkJudge(super().get(provider, tier, purpose=purpose), self._began()), self._failures)


async def _record(line: Line, record_id: str, judges: Judges) -> AnswerRecord:
    if isinstance(line, EvaluateLine):
        raise InputError(
            "The answer to evaluate is in a deployment; send this line without --local.", where="answer_id"
        )
    if isinstance(line, SubmissionLine):
        raise InputError(
            "The task of a submission is in a deployment; send this line without --local.", where="task_id"
        )
    if not isinstance(line, VerifyLine | SolveLine):
        raise InputError("Only a deployment does lines of this kind; send this line without --local.", where="kind")
    return await inprocess.answered(request_of(line), judges, wait_seconds=WAIT_SECONDS, answer_id=record_id)


def _words(result: LineResult) -> str:
    """The reason why a line is undecided, in words; "" if none is known."""
    view = result.answer
    if view is None:
        return ""
    last = view.attempts[-1].verification if view.attempts else None
    return view.failure or (last.error if last and last.passed is None else None) or view.evaluation.failure or ""


def _tell(latest: dict[int, LineResult], *, wait: bool) -> None:
    """Say how many lines are undecided, and for which reasons."""
    undecided = {number: (undecided_reason(result), result) for number, result in latest.items()}
    left = {number: (why, result) for number, (why, result) in undecided.items() if why is not None}
    if not left:
        return
    say(f"{len(latest) - len(left)} of {len(latest)} lines are decided; {len(left)} wait:")
    for reason, count in Counter(why for why, _ in left.values()).most_common():
        words = Counter(_words(result) for why, result in left.values() if why == reason).most_common(1)[0][0]
        say(f"  {count} × {reason}: {words}")
    advice = "" if wait else "; --wait stays and asks them by itself"
    say(asked_again({why for why, _ in left.values()}, advice=advice))
