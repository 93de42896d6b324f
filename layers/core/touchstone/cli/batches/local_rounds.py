"""The rounds in which the lines of a file are asked in one run, and the waits between them.

A line that a passing fault left undecided is asked again in the next round, a limited number of times. A line that met
a spent quota of a day is not asked again before that day is over. The lines that are left then are done by the next
run, or with `--wait` later in this run. But a line whose replies nobody could read is asked only a few times in a run,
however long that waits: each reply is paid for.
"""

import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.screen import say
from touchstone.clock import Clock, system_clock
from touchstone.errors import NEEDS_A_PERSON, JudgeError, LimitError

TRIES = 4
"""How often a line is asked between two long waits, or in the whole run if nobody could read the replies.

If every fifth call fails, sixty lines are done after three.
"""
FEW = 5
"""If no line of a round was decided, another round follows only if it had this many lines at most.

So few lines may all have had bad luck. With more lines, another round would meet the same fault.
"""
SOON = timedelta(minutes=10)
"""A quota that is free again within this time is one of a minute. The run waits for it even without `--wait`."""
FIRST_PAUSE = 2.0
FIRST_LONG_PAUSE = 60.0
LONGEST_PAUSE = 3600.0
"""The longest pause in seconds, with `--wait`, between two rounds if nobody says when the fault ends."""
LONGEST_WAIT = timedelta(days=7)
"""The longest time that a run with `--wait` takes in all. A deployment waits as long for a batch."""
LOOK_SECONDS = 60.0
"""Seconds between two looks at the clock. One long sleep would end late: it does not count while a laptop is closed."""
QUOTAS = frozenset({"quota", "day_quota", "minute_quota", "tenant_share"})

type Lines = Mapping[int, bytes]
type Round = Callable[[Lines], Awaitable[Mapping[int, str]]]
"""Does lines, and returns the reason for each line that is undecided, by its number."""


async def rounds(
    lines: Lines, do: Round, *, failures: Sequence[JudgeError | LimitError], wait: bool, clock: Clock = system_clock
) -> None:
    """Do lines until all are decided, or another round would bring nothing now; with `wait`, nothing within a week.

    `failures` is the growing list of the judges' errors. It tells when a quota is free again.
    """
    begun, seen = clock(), 0
    tries, unread = Counter[int](), Counter[int]()
    pauses, long_pauses = _growing(FIRST_PAUSE), _growing(FIRST_LONG_PAUSE)
    free_at: datetime | None = None
    waited = False
    left: dict[int, str] = {}
    going: Lines = lines
    while going:
        undecided = await do(going)
        decided = len(undecided) < len(going)
        left = {number: why for number, why in left.items() if number not in going} | dict(undecided)
        free_at = _free_at(failures[seen:], clock()) or free_at
        seen = len(failures)
        tries.update(number for number, why in undecided.items() if not (decided and why in QUOTAS))
        unread.update(number for number, why in undecided.items() if why == "unreadable")
        now, lacking = clock(), going
        soon = free_at is None or free_at - now <= SOON
        going = {
            number: lacking[number]
            for number, why in undecided.items()
            if max(tries[number], unread[number]) < TRIES and why not in NEEDS_A_PERSON and (soon or why not in QUOTAS)
        }
        if going and (decided or (len(lacking) <= FEW and not waited)):
            held = free_at is not None and any(undecided[number] in QUOTAS for number in going)
            until = free_at if held and free_at is not None else now
            await _rest_until(max(until, now + timedelta(seconds=next(pauses))), clock)
            continue
        later = {number: why for number, why in left.items() if why not in NEEDS_A_PERSON and unread[number] < TRIES}
        going = {number: lines[number] for number in later}
        if not (wait and going):
            return
        until = _next(later.values(), free_at, now, long_pauses)
        if until > begun + LONGEST_WAIT:
            say(f"Nothing more is waited for after {LONGEST_WAIT.days} days.")
            return
        say(f"{len(going)} lines wait until {until:%Y-%m-%d %H:%M} UTC. Ctrl-C leaves; the same command goes on.")
        await _rest_until(until, clock)
        waited = True
        tries.clear()
        pauses = _growing(FIRST_PAUSE)
        if decided:
            long_pauses = _growing(FIRST_LONG_PAUSE)


def _free_at(failures: Sequence[JudgeError | LimitError], now: datetime) -> datetime | None:
    """The first moment at which one of the limits in `failures` ends; None if none tells its end."""
    known = (error.until for error in failures if isinstance(error, LimitError) and error.until is not None)
    return min((until for until in known if until > now), default=None)


def _next(reasons: Iterable[str], free_at: datetime | None, now: datetime, pauses: Iterator[float]) -> datetime:
    """The moment of the next round: a quota is free again by then, or a fault has had time to pass."""
    if free_at is not None and free_at > now and QUOTAS.issuperset(reasons):
        return free_at
    paused = now + timedelta(seconds=next(pauses))
    return paused if free_at is None or free_at <= now else min(paused, free_at)


async def _rest_until(moment: datetime, clock: Clock) -> None:
    while (seconds := (moment - clock()).total_seconds()) > 0.0:
        await waiting.rest(min(seconds, LOOK_SECONDS))


def _growing(first: float) -> Iterator[float]:
    return (min(first * 2.0**number, LONGEST_PAUSE) for number in itertools.count())
