"""Several judges of one answer: what follows from their votes.

two or three ──> more than half of those wanted agree ──> passed or failed, as sure as all of them are of it on average
                 judges that failed could still make up a majority ──> None: their failure, which may pass
                 votes for both sides ──> None: split
until sure   ──> the first that is sure enough decides alone; none is ──> None: unsure
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.answers.judge_time import whole_seconds
from touchstone.answers.model import JudgeVote, UnsureOpinion, Verification
from touchstone.answers.progress import is_sure
from touchstone.errors import PERMANENT_REASONS, JudgeError, LimitError, SkipReason
from touchstone.judges.base import MOST_JUDGES, Judge, JudgeCount, most_judges
from touchstone.judges.sureness import JudgeThresholds, SureFrom, check_confidence, why_unsure
from touchstone.text.language import Language

if TYPE_CHECKING:
    from touchstone.judges.opening import Judges


def apply_thresholds(verification: Verification, judges: JudgeThresholds, language: Language) -> Verification:
    """A judge's verdict, or no verdict if its card's threshold says that the judge is not sure enough.

    What the judge said stays in `opinions`. A judge without a threshold is believed as far as its confidence goes.
    """
    if verification.passed is None or verification.model is None:
        return verification
    sure_from = judges.get((verification.model, verification.prompt_version))
    if sure_from is None:
        return verification
    match check_confidence(verification.confidence, sure_from):
        case "by_labels":
            return verification.model_copy(update={"sure_from": sure_from})
        case "without_labels":
            return verification
        case "unsure":
            pass
    told = {"passed": None, "confidence": 0.0, "method": "none", "skip_reason": "unsure"}
    return verification.model_copy(
        update={
            **told,
            "error": _sentence(verification, sure_from, language),
            "opinions": (_opinion(verification, sure_from),),
        }
    )


def with_earlier_opinions(earlier: Iterable[UnsureOpinion], verification: Verification) -> Verification:
    """A later judge's verification, with the opinions of the earlier judges who were not sure enough."""
    return verification.model_copy(update={"opinions": (*earlier, *verification.opinions)})


def _opinion(verification: Verification, sure_from: SureFrom) -> UnsureOpinion:
    if verification.passed is None or verification.provider is None or verification.model is None:
        raise ValueError("only a judge's verdict is an opinion")
    return UnsureOpinion(
        passed=verification.passed,
        confidence=verification.confidence,
        independent_answer=verification.independent_answer,
        error=verification.error,
        provider=verification.provider,
        model=verification.model,
        prompt_version=verification.prompt_version,
        sure_from=sure_from,
    )


def _sentence(verification: Verification, sure_from: SureFrom, language: Language) -> str:
    why = why_unsure(verification.confidence, sure_from, language, model=verification.model)
    return NOT_VERIFIED[language].format(why)


NOT_VERIFIED = {"en": "Not verified: {}.", "zh": "未验证：{}。"}


CONFIDENCE_DECIMALS = 6
"""Decimals of a mean confidence. The mean of equal confidences is that confidence; without rounding it may end below
it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralJudges:
    """How many judges are wanted (more than one), and how they are found. They are asked only if no check decides."""

    wanted: JudgeCount
    find: Callable[[], Sequence[Judge]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelReply:
    """The result of asking one judge.

    `found` is the judge's verification, as if it had been asked alone. `failure` is why it gave none, if another try
    may bring one; `failed_by` is the provider of that failure.
    """

    vote: JudgeVote
    found: Verification
    failure: JudgeError | LimitError | None = None
    failed_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelVerdict:
    """What follows from the judges' replies. `failure` and `failed_by` are as for `PanelReply`."""

    verification: Verification
    failure: JudgeError | LimitError | None = None
    failed_by: str = ""


def several(judges: "Judges", wanted: JudgeCount) -> SeveralJudges | None:
    """The judges of a request that wants several. None if it wants one."""
    if wanted == 1:
        return None
    most = most_judges(wanted)
    return SeveralJudges(wanted=wanted, find=lambda: judges.distinct("verify", most))


def verifying_seconds(seconds: float, wanted: JudgeCount) -> float:
    """The most seconds that a verification takes if a judge has `seconds`.

    Two or three judges are asked side by side.
    """
    return whole_seconds(seconds, in_turn=MOST_JUDGES) if wanted == "until_sure" else whole_seconds(seconds)


def reply_as_vote(
    found: Verification,
    *,
    provider: str,
    failure: JudgeError | LimitError | None = None,
    failed_by: str = "",
) -> PanelReply:
    """The reply of a judge of this provider, as a vote."""
    said = found.opinions[-1] if found.opinions else found
    vote = JudgeVote(
        passed=said.passed,
        confidence=said.confidence,
        independent_answer=said.independent_answer,
        error=said.error,
        skip_reason=found.skip_reason,
        contradicted=found.contradicted,
        provider=provider,
        model=said.model,
        prompt_version=said.prompt_version,
        sure_from=said.sure_from,
    )
    return PanelReply(vote=vote, found=found, failure=failure, failed_by=failed_by)


def require_sureness(reply: PanelReply, language: Language) -> PanelReply:
    """A judge's reply, if only a sure judge counts. A judge without a threshold by labels must be sure to 0.8."""
    if reply.vote.skip_reason is not None or is_sure(reply.vote):
        return reply
    why = why_unsure(reply.vote.confidence, None, language, model=reply.vote.model)
    found = _undecided("unsure", NOT_VERIFIED[language].format(why))
    return PanelReply(vote=reply.vote.model_copy(update={"skip_reason": "unsure"}), found=found)


def no_further_judge(language: Language) -> PanelReply:
    """The reply in the place of a judge that does not exist."""
    found = _undecided("misconfigured", _NOBODY_ELSE[language])
    vote = JudgeVote(passed=None, confidence=0.0, error=found.error, skip_reason="misconfigured")
    return PanelReply(vote=vote, found=found)


def too_few(wanted: int, able: Sequence[Judge], remedy: str, language: Language) -> Verification:
    """The verification if too few judges can be asked for a majority of those wanted, so that nobody is asked."""
    models = ", ".join(f"{judge.provider} {judge.model}" for judge in able)
    return _undecided("misconfigured", _TOO_FEW[language].format(wanted=wanted, models=models, remedy=remedy))


def verdict_of(replies: Sequence[PanelReply], wanted: JudgeCount, language: Language) -> PanelVerdict:
    """The verdict that follows from the judges' replies: as many as wanted, or in turn until one was sure enough."""
    if wanted == "until_sure":
        return _of_the_sure(replies)
    return _of_the_majority(replies, language)


def _of_the_sure(replies: Sequence[PanelReply]) -> PanelVerdict:
    sure = next((one for one in replies if one.vote.skip_reason is None), None)
    if sure is not None:
        return _with_votes(PanelVerdict(verification=sure.found), replies)
    return _undecided_by(replies, pending=_pending(replies), first="unsure")


def _of_the_majority(replies: Sequence[PanelReply], language: Language) -> PanelVerdict:
    from touchstone.statistics.votes import panel_vote  # on first use: it loads the exact arithmetic of fractions

    counted = [one.vote for one in replies if one.vote.skip_reason is None]
    pending = _pending(replies)
    vote = panel_vote(
        [None if one.vote.skip_reason is not None else str(one.vote.passed) for one in replies], pending=len(pending)
    )
    match vote.end:
        case "agreed":
            decided = _decided(counted, passed=vote.label == str(True), split=vote.split)
            return _with_votes(PanelVerdict(verification=decided), replies)
        case "split":
            verdict = PanelVerdict(verification=_undecided("split", _split(counted, language)))
            return _with_votes(verdict, replies, split=True)
        case "pending" | "lost":
            return _undecided_by(replies, pending=pending if vote.end == "pending" else [], split=vote.split)


def _decided(counted: Sequence[JudgeVote], *, passed: bool, split: bool) -> Verification:
    """The verdict of a majority. Its confidence is the mean of all counted judges, those against it included.

    A judge against the verdict counts with 1 less its own confidence, but with 0.5 at most: if it is unsure, that does
    not speak for the verdict.
    """
    agreeing = [vote for vote in counted if vote.passed is passed]
    sure_of_it = [vote.confidence if vote.passed is passed else min(0.5, 1.0 - vote.confidence) for vote in counted]
    return Verification(
        passed=passed,
        confidence=round(math.fsum(sure_of_it) / len(sure_of_it), CONFIDENCE_DECIMALS),
        method="judge",
        independent_answer=next((vote.independent_answer for vote in agreeing if vote.independent_answer), None),
        error=next((vote.error for vote in agreeing if vote.error), None),
        contradicted=any(vote.contradicted for vote in agreeing),
        split=split,
    )


def _pending(replies: Sequence[PanelReply]) -> list[PanelReply]:
    """The judges that failed and may give a verdict at another try."""
    return [one for one in replies if one.failure is not None and one.vote.skip_reason not in PERMANENT_REASONS]


def _undecided_by(
    replies: Sequence[PanelReply],
    *,
    pending: Sequence[PanelReply],
    first: SkipReason | None = None,
    split: bool = False,
) -> PanelVerdict:
    """The verdict if nobody decided, with the reason of one judge.

    It is a failure that may pass, else the reason `first`, else a reason that no further try changes.
    """
    uncounted = [one for one in replies if one.vote.skip_reason is not None]
    for one in pending:
        verdict = PanelVerdict(verification=_bare(one), failure=one.failure, failed_by=one.failed_by)
        return _with_votes(verdict, replies, split=split)
    named = [one for one in uncounted if one.vote.skip_reason == first]
    lasting = [one for one in uncounted if one.vote.skip_reason in PERMANENT_REASONS]
    return _with_votes(PanelVerdict(verification=_bare((named or lasting or uncounted)[-1])), replies, split=split)


def _bare(one: PanelReply) -> Verification:
    """A verification that says why a judge's vote does not count, and nothing else of that judge."""
    return _undecided(one.vote.skip_reason or "split", one.found.error or "")


def _with_votes(verdict: PanelVerdict, replies: Sequence[PanelReply], *, split: bool | None = None) -> PanelVerdict:
    found = verdict.verification
    votes = tuple(one.vote for one in replies)
    told_split = found.split if split is None else split
    return PanelVerdict(
        verification=found.model_copy(update={"votes": votes, "opinions": (), "split": told_split}),
        failure=verdict.failure,
        failed_by=verdict.failed_by,
    )


def _undecided(reason: SkipReason, sentence: str) -> Verification:
    return Verification(passed=None, confidence=0.0, method="none", skip_reason=reason, error=sentence)


def _split(counted: Sequence[JudgeVote], language: Language) -> str:
    said = _BETWEEN[language].join(
        f"{vote.model} {_SAID[language, bool(vote.passed)]} ({vote.confidence:.2f})" for vote in counted
    )
    return _SPLIT[language].format(said)


_SPLIT = {"en": "Not verified: the judges do not agree: {}.", "zh": "未验证：评判模型意见不一：{}。"}
_SAID = {("en", True): "says right", ("en", False): "says wrong", ("zh", True): "判对", ("zh", False): "判错"}
_BETWEEN = {"en": ", ", "zh": "，"}
_NOBODY_ELSE = {"en": "There is no further judge to ask.", "zh": "没有其他评判模型可问。"}
_TOO_FEW = {
    "en": "Not verified: {wanted} judges are wanted, and only {models} can be asked, so that nobody was; {remedy}.",
    "zh": "未验证：需要 {wanted} 个评判模型，但只有 {models} 可用，因此没有询问；{remedy}。",
}
