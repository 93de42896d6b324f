"""Several judges of one gate: what follows from their votes on each criterion.

more than half of those wanted agree ──> met or not met; one that is not met fails the whole, whatever else is undecided
judges that failed could still make up a majority ──> not scored: their failure, which may pass
votes for both sides ──> None: the criterion is split; a gate with none that is not met is `split`, and an end
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from touchstone.clock import Deadline
from touchstone.errors import LASTING, JudgeError, MisconfiguredError, OverloadedError, StoreError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored, unanswered
from touchstone.oracle.gate import Gated, check_gate, gated_blank
from touchstone.oracle.material import Read
from touchstone.oracle.model import Brief, CriterionCheck, GateCheck, GateVote
from touchstone.oracle.wording import language_of_task
from touchstone.statistics.votes import majority
from touchstone.text.language import Language

if TYPE_CHECKING:
    from touchstone.oracle.choice import GateJudges

type _End = Literal["met", "unmet", "pending", "split", "lost"]
"""What becomes of a criterion. `pending`: judges that failed could still make up a majority; `lost`: they will not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seat:
    """What came of asking one judge; `judge` None: there is nobody to sit here."""

    judge: Judge | None
    found: Gated | NotScored

    @property
    def pending(self) -> bool:
        """Whether it said nothing, and may say something at another try."""
        return self.judge is not None and isinstance(self.found, NotScored) and self.found.reason not in LASTING

    def said(self, number: int) -> bool | None:
        """What it says of a criterion, counted from 0; None where it said nothing."""
        return self.found.check.criteria_checks[number].passed if isinstance(self.found, Gated) else None


async def gate_of(
    brief: Brief,
    submission: str,
    *,
    judge: Judge,
    several: "GateJudges | None",
    deadline: Deadline,
    read: Read | None = None,
    use_cache: bool = True,
) -> Gated | NotScored:
    """Check a submission against the criteria of its task: by this judge, or by `several` where they are wanted.

    As `check_gate` otherwise. Another try of several judges is made with `use_cache`: those that answered are not paid
    twice.
    """

    async def check(one: Judge) -> Gated | NotScored:
        return await check_gate(brief, submission, judge=one, deadline=deadline, read=read, use_cache=use_cache)

    if several is None:
        return await check(judge)
    return await _by_several(brief, submission, judges=several, check=check)


async def _by_several(
    brief: Brief, submission: str, *, judges: "GateJudges", check: Callable[[Judge], Awaitable[Gated | NotScored]]
) -> Gated | NotScored:
    """What follows from the checks of several judges, asked side by side; `check` is that of one.

    Where fewer can be asked than a majority takes, nobody is. Raises nothing for a judge that fails.
    """
    if (blank := gated_blank(brief, submission)) is not None:
        return blank
    if 2 * len(judges.able) <= judges.wanted:
        return _not_scored(_too_few(judges))
    seats: list[_Seat] = [_Seat(judge=None, found=_not_scored(_too_few(judges)))] * judges.wanted

    async def ask(place: int, judge: Judge) -> None:
        try:
            found = await check(judge)
        except StoreError as error:
            # Only this judge failed; raised, the error would end the others in the middle of calls that are paid for.
            sentence = f"{judge.provider} was not asked, since no quota could be reserved for it. {error}"
            found = _not_scored(OverloadedError(sentence, sent=False))
        seats[place] = _Seat(judge=judge, found=found)

    async with asyncio.TaskGroup() as group:
        for place, judge in enumerate(judges.able[: judges.wanted]):
            group.create_task(ask(place, judge))
    return _decided(brief, seats)


def _decided(brief: Brief, seats: Sequence[_Seat]) -> Gated | NotScored:
    """What follows from all votes."""
    ends = [_end(number, seats) for number in range(len(brief.acceptance_criteria))]
    spends = tuple(spend for seat in seats for spend in seat.found.spends)
    if "unmet" not in ends and (failed := _failure(ends, seats)) is not None:
        return replace(failed, spends=spends)
    checks = (
        _criterion(number, criterion, end, seats, language_of_task(brief))
        for number, (criterion, end) in enumerate(zip(brief.acceptance_criteria, ends, strict=True))
    )
    check = GateCheck(criteria_checks=tuple(checks), votes=tuple(map(_vote, seats)))
    passages = next((seat.found.passages for seat in seats if isinstance(seat.found, Gated)), ())
    return Gated(check=check, passages=passages, spends=spends)


def _end(number: int, seats: Sequence[_Seat]) -> _End:
    """What becomes of one criterion."""
    found = majority([None if (said := seat.said(number)) is None else str(said) for seat in seats])
    most = found.counts[0][1] if found.counts else 0
    if 2 * most > len(seats):
        return "met" if found.label == str(True) else "unmet"
    if 2 * (most + sum(seat.pending for seat in seats)) > len(seats):
        return "pending"
    return "split" if found.split else "lost"


def _failure(ends: Sequence[_End], seats: Sequence[_Seat]) -> NotScored | None:
    """Why the gate is not decided, where it is for judges that failed: one that may pass comes first."""
    if "pending" not in ends and "lost" not in ends:
        return None
    silent = sorted((seat for seat in seats if isinstance(seat.found, NotScored)), key=lambda seat: not seat.pending)
    for seat in silent:
        if isinstance(seat.found, NotScored) and seat.pending is ("pending" in ends):
            return replace(seat.found, failed_by=None if seat.judge is None else seat.judge.provider)
    return None


def _criterion(number: int, criterion: str, end: _End, seats: Sequence[_Seat], language: Language) -> CriterionCheck:
    """One criterion: as the first judge of the majority puts it, or why it is not decided."""
    if end in {"met", "unmet"}:
        said = (seat.found.check.criteria_checks[number] for seat in seats if isinstance(seat.found, Gated))
        return next(one for one in said if one.passed is (end == "met"))
    words = _BETWEEN[language].join(
        f"{seat.judge.model} {_SAID[language, seat.said(number)]}" for seat in seats if seat.judge is not None
    )
    reason = _UNDECIDED[language, end == "split"].format(words)
    return CriterionCheck(criterion=criterion, passed=None, reason=reason)


def _vote(seat: _Seat) -> GateVote:
    """What is kept of a judge that was wanted."""
    provider = None if seat.judge is None else seat.judge.provider
    if isinstance(seat.found, NotScored):
        because = seat.found.faults if seat.found.error is None else (str(seat.found.error),)
        return GateVote(provider=provider, unscored=seat.found.reason, because=because)
    by = seat.found.check.judge
    return GateVote(
        provider=provider,
        model=None if by is None else by.model,
        prompt_version=None if by is None else by.prompt_version,
        passed=tuple(bool(one.passed) for one in seat.found.check.criteria_checks),
    )


def _too_few(judges: "GateJudges") -> MisconfiguredError:
    models = ", ".join(f"{judge.provider} {judge.model}" for judge in judges.able)
    sentence = f"{judges.wanted} judges of different providers are wanted, and only {models} can be asked;"
    return MisconfiguredError(f"{sentence} {judges.remedy}.", sent=False)


def _not_scored(error: JudgeError) -> NotScored:
    return NotScored(reason=unanswered(error), faults=(), error=error, spends=())


_SAID: Mapping[tuple[Language, bool | None], str] = {
    ("en", True): "says met",
    ("en", False): "says not met",
    ("en", None): "said nothing",
    ("zh", True): "判为满足",
    ("zh", False): "判为不满足",
    ("zh", None): "没有给出结论",
}
_BETWEEN: Mapping[Language, str] = {"en": ", ", "zh": "，"}
_UNDECIDED: Mapping[tuple[Language, bool], str] = {
    ("en", True): "The judges do not agree: {}.",
    ("en", False): "Not decided by a majority of the judges: {}.",
    ("zh", True): "评判模型意见不一：{}。",
    ("zh", False): "没有得到多数评判模型的结论：{}。",
}
