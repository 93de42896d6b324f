"""Several judges of one gate: what follows from their votes on each criterion.

more than half of those wanted agree ──> met or not met; one that is not met fails the whole, whatever else is undecided
judges that failed could still make up a majority ──> not scored: their failure, which may pass
votes for both sides ──> None: the criterion is split; a gate with none that is not met is `split`, and an end
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.panel import JudgePanel, PanelSeat, failure_among, seats_of, why_silent
from touchstone.oracle.gate import Gated, check_gate, gated_blank
from touchstone.oracle.material import Read
from touchstone.oracle.model import Brief, CriterionCheck, GateCheck, GateVote
from touchstone.oracle.wording import language_of_task
from touchstone.statistics.votes import PanelVote, panel_vote
from touchstone.text.language import Language

type _Seat = PanelSeat[Gated]


async def gate_of(
    brief: Brief,
    submission: str,
    *,
    judge: Judge,
    several: JudgePanel | None,
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
    brief: Brief, submission: str, *, judges: JudgePanel, check: Callable[[Judge], Awaitable[Gated | NotScored]]
) -> Gated | NotScored:
    """What follows from the checks of several judges, asked side by side; `check` is that of one.

    Where fewer can be asked than a majority takes, nobody is. Raises nothing for a judge that fails.
    """
    if (blank := gated_blank(brief, submission)) is not None:
        return blank
    seats = await seats_of(judges, check)
    return seats if isinstance(seats, NotScored) else _decided(brief, seats)


def _decided(brief: Brief, seats: Sequence[_Seat]) -> Gated | NotScored:
    """What follows from all votes."""
    ends = [_end(number, seats) for number in range(len(brief.acceptance_criteria))]
    spends = tuple(spend for seat in seats for spend in seat.found.spends)
    unmet = any(one.label == str(False) for one in ends)
    if not unmet and (failed := _failure(ends, seats)) is not None:
        return replace(failed, spends=spends)
    checks = (
        _criterion(number, criterion, end, seats, language_of_task(brief))
        for number, (criterion, end) in enumerate(zip(brief.acceptance_criteria, ends, strict=True))
    )
    check = GateCheck(criteria_checks=tuple(checks), votes=tuple(map(_vote, seats)))
    passages = next((seat.said.passages for seat in seats if seat.said is not None), ())
    return Gated(check=check, passages=passages, spends=spends)


def _said(seat: _Seat, number: int) -> bool | None:
    """What a judge says of a criterion, counted from 0; None where it said nothing."""
    return None if seat.said is None else seat.said.check.criteria_checks[number].passed


def _end(number: int, seats: Sequence[_Seat]) -> PanelVote:
    """What becomes of one criterion."""
    votes = [None if (said := _said(seat, number)) is None else str(said) for seat in seats]
    return panel_vote(votes, pending=sum(seat.pending for seat in seats))


def _failure(ends: Sequence[PanelVote], seats: Sequence[_Seat]) -> NotScored | None:
    """Why the gate is not decided, where it is for judges that failed: one that may pass comes first."""
    kinds = {one.end for one in ends}
    return failure_among(seats, pending="pending" in kinds) if kinds & {"pending", "lost"} else None


def _criterion(
    number: int, criterion: str, vote: PanelVote, seats: Sequence[_Seat], language: Language
) -> CriterionCheck:
    """One criterion: as the first judge of the majority puts it, or why it is not decided."""
    if vote.end == "agreed":
        said = (seat.said.check.criteria_checks[number] for seat in seats if seat.said is not None)
        return next(one for one in said if str(one.passed) == vote.label)
    words = _BETWEEN[language].join(
        f"{seat.judge.model} {_SAID[language, _said(seat, number)]}" for seat in seats if seat.judge is not None
    )
    reason = _UNDECIDED[language, vote.end == "split"].format(words)
    return CriterionCheck(criterion=criterion, passed=None, reason=reason)


def _vote(seat: _Seat) -> GateVote:
    """What is kept of a judge that was wanted."""
    if isinstance(seat.found, NotScored):
        return GateVote(provider=seat.provider, unscored=seat.found.reason, because=why_silent(seat.found))
    by = seat.found.check.judge
    return GateVote(
        provider=seat.provider,
        model=None if by is None else by.model,
        prompt_version=None if by is None else by.prompt_version,
        passed=tuple(bool(one.passed) for one in seat.found.check.criteria_checks),
    )


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
