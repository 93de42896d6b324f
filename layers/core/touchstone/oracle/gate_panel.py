"""Whose verdict on each criterion of a gate counts, and what follows from it.

one          ──> it is as sure as its labels ask ──> its verdict; without labels always
                 it is not ──> the next judge, of another provider; neither is ──> None: unsure
two or three ──> more than half of those wanted agree ──> met or not met
                 judges that failed could still make up a majority ──> not scored: their failure, which may pass
                 votes for both sides ──> None: the criterion is split
until sure   ──> one after the other; of each criterion the first that is sure enough decides

One criterion that is not met fails the whole, whatever else is undecided. No further judge is asked then. If no
criterion is failed but one is undecided, the gate ends undecided: `split` or `unsure`.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from touchstone.errors import StoreError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored, not_scored
from touchstone.judges.panel import IsolatedJudge, JudgePanel, PanelSeat, failure_among, seats_of, thresholds_unread
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds, SureFrom, check_confidence, why_unsure
from touchstone.oracle.gate import GateResult, blank_gate_result, check_gate_of
from touchstone.oracle.judging import language_of_task
from touchstone.oracle.material import ReadSubmission, SubmissionJudging
from touchstone.oracle.model import Brief, CriterionCheck, GateCheck, GateVote
from touchstone.statistics.thresholds import DEFAULT_MIN_CONFIDENCE
from touchstone.statistics.votes import panel_vote
from touchstone.text.language import Language

type _Check = Callable[[Judge], Awaitable[GateResult | NotScored]]
"""Asks one judge for its verdicts on all criteria."""


async def check_gate_by_judges(
    task: SubmissionJudging,
    read: ReadSubmission,
    *,
    panel: JudgePanel | None,
    load_thresholds: Callable[[], JudgeThresholds] = lambda: NO_THRESHOLDS,
    another: Callable[[], Judge | None] = lambda: None,
) -> GateResult | NotScored:
    """Check a submission, as it was read, against the criteria of its task.

    The judge of `task` checks it, or the judges of `panel` if it is given. `load_thresholds` returns how sure each
    judge must be, by people's labels. If the judge of `task` alone is not as sure, the judge of `another` is asked,
    which is of a different provider. A judge that fails raises nothing. Another try must be made with `use_cache`, so
    that judges that answered are not paid twice.
    """
    if (blank := blank_gate_result(task)) is not None:
        return blank
    try:
        thresholds = load_thresholds()
    except StoreError as error:
        return not_scored(thresholds_unread(error))
    by_criteria = replace(task, dimensions=())  # sections without their flagged passages are read for criteria alone

    async def check(judge: Judge) -> GateResult | NotScored:
        return await check_gate_of(by_criteria.by(judge), read)

    rule = _Rule(brief=task.brief, thresholds=thresholds)
    if panel is None:
        return await _in_turn(rule, _with_another(task.judge, another), check, alone=True)
    if panel.in_turn:
        return await _in_turn(replace(rule, least=DEFAULT_MIN_CONFIDENCE), panel.judges, check, alone=False)
    return await _side_by_side(rule, panel, check)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """How sure judges must be.

    `thresholds` come from labels; a judge without one must reach `least` (None: any sureness will do).
    """

    brief: Brief
    thresholds: JudgeThresholds
    least: float | None = None

    def outcome(self, seat: PanelSeat[GateResult]) -> "_JudgeOutcome":
        """What one judge said, with its threshold, and with the numbers of the criteria on which it is too unsure."""
        by = None if seat.answer is None else seat.answer.check.judge
        sure_from = None if by is None else self.thresholds.get((by.model, by.prompt_version))
        checks = () if seat.answer is None else seat.answer.check.criteria_checks
        kinds = [
            "without_labels"
            if one.confidence is None
            else check_confidence(one.confidence, sure_from, least=self.least)
            for one in checks
        ]
        checked = tuple(
            one.model_copy(update={"sure_from": sure_from}) if kind == "by_labels" else one
            for one, kind in zip(checks, kinds, strict=True)
        )
        unsure = tuple(number for number, kind in enumerate(kinds, start=1) if kind == "unsure")
        return _JudgeOutcome(seat=seat, checks=checked, unsure=unsure, sure_from=sure_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeOutcome:
    """What one judge said when it was asked.

    `checks` are empty if it said nothing. `unsure` holds numbers of criteria, counted from 1.
    """

    seat: PanelSeat[GateResult]
    checks: tuple[CriterionCheck, ...]
    unsure: tuple[int, ...]
    sure_from: SureFrom | None

    def verdict_on(self, number: int) -> CriterionCheck | None:
        """What the judge says of the criterion with this number; None if its verdict does not count."""
        return self.checks[number - 1] if self.checks and number not in self.unsure else None


def _with_another(judge: Judge, another: Callable[[], Judge | None]) -> Iterator[Judge]:
    yield judge
    if (other := another()) is not None:
        yield IsolatedJudge(other)


async def _in_turn(rule: _Rule, judges: Iterable[Judge], check: _Check, *, alone: bool) -> GateResult | NotScored:
    """The result if judges are asked one after the other.

    `alone`: one judge is wanted. If the first is sure enough, its check is the result; if it fails, its failure is.
    """
    outcomes: list[_JudgeOutcome] = []
    decisions: list[bool | None] = []
    for judge in judges:
        found = await check(judge)
        if alone and not outcomes and isinstance(found, NotScored):
            return found
        outcomes.append(rule.outcome(PanelSeat(judge=judge, result=found)))
        columns = _by_criterion(rule.brief, outcomes)
        decisions = [next((one.passed for one in each if one is not None), None) for each in columns]
        if False in decisions or None not in decisions:
            break
    first = outcomes[0]
    if alone and len(outcomes) == 1 and None not in decisions and first.seat.answer is not None:
        check_of_one = first.seat.answer.check.model_copy(update={"criteria_checks": first.checks})
        return replace(first.seat.answer, check=check_of_one)
    failed = None
    if None in decisions and False not in decisions:
        seats = [one.seat for one in outcomes]
        nobody = all(seat.answer is None for seat in seats)
        failed = failure_among(seats) if nobody else failure_among(seats, pending=True)
    return _concluded(rule.brief, outcomes, decisions, failed, in_turn=True)


def _by_criterion(brief: Brief, outcomes: Sequence[_JudgeOutcome]) -> list[list[CriterionCheck | None]]:
    """What the judges say of each criterion; None for a judge whose verdict does not count."""
    numbers = range(1, len(brief.acceptance_criteria) + 1)
    return [[one.verdict_on(number) for one in outcomes] for number in numbers]


async def _side_by_side(rule: _Rule, judges: JudgePanel, check: _Check) -> GateResult | NotScored:
    """The result of the votes of several judges. No judge is asked if too few are available for a majority."""
    seats = await seats_of(judges, check)
    if isinstance(seats, NotScored):
        return seats
    outcomes = [rule.outcome(seat) for seat in seats]
    pending = sum(seat.pending for seat in seats)
    votes = [
        panel_vote([None if one is None else str(one.passed) for one in each], pending=pending)
        for each in _by_criterion(rule.brief, outcomes)
    ]
    decisions = [None if vote.label is None else vote.label == str(True) for vote in votes]
    kinds = {vote.end for vote in votes}
    failed = None
    if False not in decisions and kinds & {"pending", "lost"}:
        failed = failure_among(seats, pending="pending" in kinds)
    return _concluded(rule.brief, outcomes, decisions, failed)


def _concluded(
    brief: Brief,
    outcomes: Sequence[_JudgeOutcome],
    decisions: Sequence[bool | None],
    failed: NotScored | None,
    *,
    in_turn: bool = False,
) -> GateResult | NotScored:
    """The check with what each judge said, or the failure that left it undecided.

    Both include all calls that were paid for.
    """
    spends = tuple(spend for one in outcomes for spend in one.seat.result.spends)
    if failed is not None:
        return replace(failed, spends=spends)
    language = language_of_task(brief)
    checks = (
        _criterion(number, criterion, end, outcomes, language)
        for number, (criterion, end) in enumerate(zip(brief.acceptance_criteria, decisions, strict=True), start=1)
    )
    check = GateCheck(criteria_checks=tuple(checks), votes=tuple(map(_vote, outcomes)), in_turn=in_turn)
    passages = next((one.seat.answer.passages for one in outcomes if one.seat.answer is not None), ())
    return GateResult(check=check, passages=passages, spends=spends)


def _criterion(
    number: int, criterion: str, passed: bool | None, outcomes: Sequence[_JudgeOutcome], language: Language
) -> CriterionCheck:
    """One criterion: in the words of the first judge whose verdict counts, or with the reason why it is not decided."""
    verdicts = [one for each in outcomes if (one := each.verdict_on(number)) is not None]
    if passed is not None:
        return next(one for one in verdicts if one.passed is passed)
    kind = "lost"
    if len({one.passed for one in verdicts}) > 1:
        kind = "split"
    elif any(number in one.unsure for one in outcomes):
        kind = "unsure"
    words = _BETWEEN[language].join(_words(number, one, language) for one in outcomes if one.seat.judge is not None)
    return CriterionCheck(criterion=criterion, passed=None, reason=_UNDECIDED[language, kind].format(words))


def _words(number: int, one: _JudgeOutcome, language: Language) -> str:
    """What a judge says of a criterion, in words, and why its verdict does not count if it does not."""
    model = "" if one.seat.judge is None else one.seat.judge.model
    check = one.checks[number - 1] if one.checks else None
    words = f"{model} {_SAID[language, None if check is None else check.passed]}"
    if check is None or check.confidence is None or number not in one.unsure:
        return words
    return _BUT[language].format(words, why_unsure(check.confidence, one.sure_from, language, model=model))


def _vote(one: _JudgeOutcome) -> GateVote:
    """The vote of a wanted judge, as the record keeps it."""
    found = one.seat.result
    if isinstance(found, NotScored):
        return GateVote(provider=one.seat.provider, unscored=found.reason, because=found.details)
    by = found.check.judge
    return GateVote(
        provider=one.seat.provider,
        model=None if by is None else by.model,
        prompt_version=None if by is None else by.prompt_version,
        passed=tuple(bool(each.passed) for each in one.checks),
        confidences=tuple(each.confidence for each in one.checks),
        unsure=one.unsure,
        sure_from=one.sure_from,
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
_BUT: Mapping[Language, str] = {"en": "{} ({})", "zh": "{}（{}）"}
_UNDECIDED: Mapping[tuple[Language, str], str] = {
    ("en", "split"): "The judges do not agree: {}.",
    ("en", "unsure"): "No judge is sure enough: {}.",
    ("en", "lost"): "Not decided by a majority of the judges: {}.",
    ("zh", "split"): "评判模型意见不一：{}。",
    ("zh", "unsure"): "没有足够确定的评判模型：{}。",
    ("zh", "lost"): "没有得到多数评判模型的结论：{}。",
}
