"""QUICK_VERIFY: is this the answer? Decided by proof where one exists, by a judge otherwise, by nobody if that fails.

answer without content ──> failed, no call
answer key ──> passed or failed, confidence 1.0; what it cannot decide goes on, and the judge is shown the key
proof ──> passed or failed, confidence 1.0
judge ──> passed or failed; capped at 0.5 where it contradicts itself
judge that passes it in other words than its own answer ──> another provider's judge, else None: nobody decided
judge less sure than people's labels ask of it ──> another provider's judge, else None: nobody decided
judge that passes it and names a mistake in it ──> passed, capped at 0.7
several judges, where they are wanted ──> what follows from their votes; see `panel`
no judge, no time, no quota, no readable reply ──> None: skipped, with the reason
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from touchstone import checks
from touchstone.answers.answer_key import AnswerKey, difference, is_proved, meets
from touchstone.answers.checking import CHECK_SECONDS, checked, same_value
from touchstone.answers.judge_time import VARIABLE
from touchstone.answers.model import Verification
from touchstone.answers.panel import (
    PanelReply,
    SeveralJudges,
    apply_thresholds,
    no_further_judge,
    reply_as_vote,
    require_sureness,
    too_few,
    verdict_of,
    with_earlier_opinions,
)
from touchstone.clock import Deadline
from touchstone.errors import (
    NEEDS_A_PERSON,
    PERMANENT_REASONS,
    JudgeError,
    LimitError,
    OverloadedError,
    SkipReason,
    StoreError,
    TimedOutError,
)
from touchstone.judges.base import Judge, JudgeQuestion, Reply
from touchstone.judges.calls import JudgeReply, ask, unanswered_reason
from touchstone.judges.keys import remedy as remedy_in
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend, spends_of, spends_of_failure
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds
from touchstone.text.language import Language, language_of
from touchstone.together import gather_all

if TYPE_CHECKING:
    from touchstone.judges.opening import Judges

ANOTHER_SECONDS = 1.0
"""The least seconds left in which another provider is asked: a judge of the tier takes about as long, and a call that
the deadline cuts off is paid for in vain."""
CONTRADICTED_AT_MOST = 0.5
"""The highest confidence of a judge that contradicts itself: its two statements cancel out, so it is a coin toss."""
WITH_A_MISTAKE_AT_MOST = 0.7
"""The highest confidence of a judge that passes an answer and names a mistake in it, as its prompt asks of it."""
UNDECIDED: frozenset[str | None] = frozenset({"other_answer", "unsure"})
"""The skip reasons of a judge that replied and decided nothing, so that another judge is asked."""
RECALCULATION_SECONDS = 0.5
"""The most seconds to wait for the recalculation of the steps, which loads nothing and is only a hint."""
MAX_OUTPUT_TOKENS = 2048
"""Room for a model that thinks before it answers; the answer itself takes about 100."""
_NOTHING_WRONG = re.compile(
    r"[(\[]?(?!.{0,120}\b(?:but|except|however|though|other than)\b)(?:"
    r"(?:none|null|nil|n/?a|not applicable|nothing(?: is)?(?: wrong)?)"
    r"(?: (?:was |were )?(?:found|identified|detected))?|"
    r"(?:there (?:is|are|were|was) )?no (?:\w{1,20} ){0,3}(?:errors?|mistakes?|issues?|problems?)[^,.;!?]{0,40}|"
    r"(?:the|this|your)(?: given| final)? answer is(?: \w{1,12})? (?:correct|right|accurate)|correct|"
    r"无|無|没有|沒有|(?:无|無|没有|沒有|未)(?:发现|發現|见|見)?(?:任何|明显|明顯)?(?:的)?(?:错误|錯誤|问题|問題)|"
    r"(?:最终|最終)?答案(?:完全)?(?:是)?(?:正确|正確|对|對)的?|正确|正確|无误|無誤|[-–—])?[)\]]?[.。!！]?",
    re.IGNORECASE,
)
"""What models write in place of null."""
IN_THE_ENVIRONMENT = remedy_in("environment")
"""What to do without a judge, if nobody says where its key would come from."""


class VerifyReply(JudgeReply):
    """What a judge says of an answer. The order of the fields is the order of the work: first its own answer."""

    independent_answer: str | None
    is_correct: bool
    error_description: str | None = None
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]

    @property
    def mistake(self) -> str | None:
        """The mistake that the judge names. None if it names none, in whatever words."""
        said = (self.error_description or "").strip()
        return None if _NOTHING_WRONG.fullmatch(said) else said


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A verification and the judge calls that were paid for it. `spends` is empty if a check decided.

    `failure` is why nobody decided, if a judge could be asked and another try may bring a verdict; else None.
    `failed_by` is the provider of that failure.
    """

    verification: Verification
    spends: tuple[Spend, ...] = ()
    failure: JudgeError | LimitError | None = None
    failed_by: str = ""


@dataclass(slots=True, kw_only=True)
class _Work:
    """What is to be verified, the calls that were paid for it so far, and what holds if time runs out."""

    problem: str
    answer: str
    steps: str
    language: Language
    use_cache: bool
    deadline: Deadline
    seconds: float | None = None
    key: AnswerKey | None = None
    another: Callable[[], Judge | None] | None = None
    thresholds: Callable[[], JudgeThresholds] | None = None
    several: SeveralJudges | None = None
    replies: list[PanelReply] = field(default_factory=list)
    arithmetic_error: str | None = None
    spends: list[Spend] = field(default_factory=list)
    so_far: Verification | None = None
    failure: JudgeError | LimitError | None = None
    failed_by: str = ""


async def quick_verify(
    problem: str,
    answer: str,
    steps: str = "",
    *,
    judge: Judge | None,
    deadline: Deadline,
    seconds: float | None = None,
    another: Callable[[], Judge | None] | None = None,
    thresholds: Callable[[], JudgeThresholds] | None = None,
    several: SeveralJudges | None = None,
    remedy: str = IN_THE_ENVIRONMENT,
    key: AnswerKey | None = None,
    language: Language | None = None,
    use_cache: bool = True,
) -> Verified:
    """Verify an answer, and end at the deadline whatever happens.

    `seconds` is how long a judge has for its reply once its SDK is loaded; None means until the deadline. `steps` is a
    summary of how the answer was reached, possibly empty. `judge` None means that no key is configured, and `remedy`
    says what to do about it. `another` finds a judge of another provider, who is asked once if the first judge passes
    the answer in other words than its own, or is not sure enough. If `another` is None or finds none, nobody else is
    asked. `thresholds` finds how sure each judge must be by its labels, before a judge is asked; None means that there
    are no labels. `several` is given if more than one judge is wanted: `judge` is the first of them, and nobody else is
    asked. `key` is the answer key that came with the problem, None if it had none. `language` None means that it is
    recognised from the problem. If a judge fails, in whatever way, the verification is skipped, and no exception is
    raised.
    """
    work = _Work(
        problem=problem,
        answer=answer,
        steps=steps.strip(),
        language=language or language_of(problem),
        use_cache=use_cache,
        deadline=deadline,
        seconds=seconds,
        key=key,
        another=another,
        thresholds=thresholds,
        several=several,
    )
    try:
        async with asyncio.timeout(deadline.remaining):
            judging = 0.0 if judge is None else deadline.remaining if seconds is None else seconds
            patience = max(CHECK_SECONDS, deadline.remaining - judging)
            verification = await _by_check(work, patience) or await _by_judge(work, judge, remedy)
    except TimeoutError:
        if work.replies:
            verification = _by_votes(work)
        else:
            late = _skipped("timed_out", "Not verified: the time for it was up.")
            verification = late if work.so_far is None else _second_missing(work.so_far, late)
            work.failure = None if judge is None else TimedOutError("the time for it was up.")
    passing = verification.passed is None and verification.skip_reason not in PERMANENT_REASONS
    return Verified(
        verification=verification,
        spends=tuple(work.spends),
        failure=work.failure if passing else None,
        failed_by=work.failed_by,
    )


def second_judge(judges: "Judges", judge: Judge | None) -> Callable[[], Judge | None]:
    """The function by which `quick_verify` finds `another` judge than this one.

    That judge is made only if it is needed.
    """
    return lambda: None if judge is None else judges.another("verify", than=judge.provider)


async def _by_check(work: _Work, seconds: float) -> Verification | None:
    """The verdict of a check. None if no check decides within `seconds`."""
    until = Deadline.after(seconds)
    says_nothing = checks.is_contentless(work.answer)
    if work.key is not None:
        met = await checked(meets, work.answer, work.key, work.problem, seconds=until.remaining)
        if met or (met is not None and not says_nothing):
            error = None if met else difference(work.key, work.language)
            return Verification(passed=met, confidence=1.0, method="expected", error=error)
    if says_nothing:
        return Verification(
            passed=False,
            confidence=1.0,
            method="proof",
            error=_CONTENTLESS[work.language],
            skip_reason="contentless",
        )
    proof = await checked(checks.prove_answer, work.problem, work.answer, seconds=until.remaining)
    if proof is None or proof.outcome == "unknown":
        return None
    # A key comes before a calculation. If the two may disagree, the calculation does not decide.
    if work.key and not await checked(is_proved, work.problem, work.key, seconds=until.remaining):
        return None
    refuted = proof.outcome == "refuted"
    return Verification(
        passed=not refuted,
        confidence=1.0,
        method="proof",
        independent_answer=proof.correct_answer,
        error=_refutation(proof.correct_answer, work.language) if refuted else None,
        derivation=proof.derivation,
    )


async def _by_judge(work: _Work, judge: Judge | None, remedy: str) -> Verification:
    """The verdict of a judge, or a skip that says why there is none."""
    arithmetic_error = work.arithmetic_error = await _recalculated(work.steps, work.problem)
    if judge is None:
        sentence = f"Not verified: no check decides this, and there is no judge to ask; {remedy}."
        return _skipped("misconfigured", sentence, arithmetic_error)
    question = JudgeQuestion(
        prompt=prompt_of(
            __package__,
            "verify",
            work.language,
            problem=work.problem,
            answer=work.answer,
            steps=work.steps,
            finding=arithmetic_error,
            expected=list(work.key.expected) if work.key else [],
            tolerance=work.key.tolerance.model_dump(exclude_none=True) if work.key and work.key.tolerance else None,
        ),
        reply_type=VerifyReply,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        use_cache=work.use_cache,
        seconds=work.seconds,
    )
    if work.several is not None:
        return await _by_several(work.several, question, work, remedy)
    verification = await _judged_by(judge, question, work)
    if verification.skip_reason in UNDECIDED:
        work.so_far = verification.model_copy(update={"arithmetic_error": arithmetic_error})
        verification = await _by_another(question, work, first=verification)
    if arithmetic_error is None:
        return verification
    return verification.model_copy(update={"arithmetic_error": arithmetic_error})


async def _by_several(
    several: SeveralJudges, question: JudgeQuestion[VerifyReply], work: _Work, remedy: str
) -> Verification:
    """The verdict that follows from several judges: side by side, or one after the other until one is sure enough."""
    from touchstone.judges.panel import IsolatedJudge  # on first use: one judge needs none of it

    judges = tuple(map(IsolatedJudge, several.find()))
    if several.wanted != "until_sure":
        if 2 * len(judges) <= several.wanted:
            few = too_few(several.wanted, judges, remedy, work.language)
            return few.model_copy(update={"arithmetic_error": work.arithmetic_error})
        lacking = several.wanted - len(judges)
        work.replies = [*map(_cut_off, judges), *(no_further_judge(work.language) for _ in range(lacking))]
        await gather_all(_hear(seat, judge, question, work) for seat, judge in enumerate(judges))
        return _by_votes(work)
    for seat, judge in enumerate(judges):
        if seat and work.deadline.remaining < ANOTHER_SECONDS:
            work.replies.append(_unasked(judge))
            break
        work.replies.append(_cut_off(judge))
        await _hear(seat, judge, question, work)
        work.replies[seat] = require_sureness(work.replies[seat], work.language)
        if work.replies[seat].vote.skip_reason is None:
            break
    return _by_votes(work)


async def _hear(seat: int, judge: Judge, question: JudgeQuestion[VerifyReply], work: _Work) -> None:
    """Ask the judge of a seat, and keep its reply. Its paid calls count for the whole verification."""
    own = replace(work, failure=None, failed_by="")  # with the same list of spends
    found = await _judged_by(judge, question, own)
    work.replies[seat] = reply_as_vote(found, provider=judge.provider, failure=own.failure, failed_by=own.failed_by)


def _cut_off(judge: Judge) -> PanelReply:
    """The reply that stands for a judge that was asked, until the judge has replied."""
    return _silent(judge, TimedOutError(f"{judge.provider} did not answer in time."))


def _unasked(judge: Judge) -> PanelReply:
    """The reply that stands for a judge that was not asked, since it would not have answered in time."""
    return _silent(judge, TimedOutError(f"No time was left to ask {judge.provider}.", sent=False))


def _silent(judge: Judge, failure: JudgeError) -> PanelReply:
    """The reply that stands for a judge that said nothing for this reason."""
    nothing = _skipped(unanswered_reason(failure), f"Not verified: {failure}")
    return reply_as_vote(nothing, provider=judge.provider, failure=failure, failed_by=judge.provider)


def _by_votes(work: _Work) -> Verification:
    """The verification that follows from the votes so far."""
    if work.several is None:
        raise ValueError("one judge does not vote")
    verdict = verdict_of(work.replies, work.several.wanted, work.language)
    work.failure, work.failed_by = verdict.failure, verdict.failed_by
    return verdict.verification.model_copy(update={"arithmetic_error": work.arithmetic_error})


async def _by_another(question: JudgeQuestion[VerifyReply], work: _Work, *, first: Verification) -> Verification:
    """The verdict of another provider's judge; what the `first` said if there is none, or it decides nothing."""
    judge = None if work.another is None else work.another()
    if judge is None:
        return first
    if work.deadline.remaining < ANOTHER_SECONDS:
        work.failure, work.failed_by = (
            TimedOutError(f"No time was left to ask {judge.provider}.", sent=False),
            judge.provider,
        )
        return _second_missing(first, _skipped("timed_out", f"Not verified: {work.failure}"))
    second = with_earlier_opinions(first.opinions, await _judged_by(judge, question, work))
    return second if second.passed is not None or second.skip_reason == "unsure" else _second_missing(first, second)


def _second_missing(first: Verification, second: Verification) -> Verification:
    """The first judge's verification, if the second judge gave no verdict.

    It stands as it is if the second would give none at another try either, or has no valid key. Otherwise it takes over
    the second's reason, which may pass.
    """
    if second.skip_reason in PERMANENT_REASONS | NEEDS_A_PERSON:
        return first
    return first.model_copy(update={"skip_reason": second.skip_reason, "error": f"{first.error} {second.error}"})


async def _judged_by(judge: Judge, question: JudgeQuestion[VerifyReply], work: _Work) -> Verification:
    """The verdict of one judge, or a skip that says why it gave none."""
    try:
        thresholds = NO_THRESHOLDS if work.thresholds is None else work.thresholds()
    except StoreError as error:
        # If the judge were asked, it would be paid for a verdict that could not be held against any threshold.
        sentence = "How sure the judge must be by people's labels could not be read; it was not asked."
        work.failure, work.failed_by = OverloadedError(f"{sentence} {error}", sent=False), judge.provider
        return _skipped("overloaded", f"Not verified: {work.failure}")
    try:
        reply = await ask(judge, question, deadline=work.deadline)
    except (JudgeError, LimitError) as error:
        work.failure, work.failed_by = error, judge.provider
        work.spends.extend(spends_of_failure(error, "verify"))
        sentence = f"Not verified: {error}"
        if isinstance(error, TimedOutError) and work.seconds is not None and work.deadline.remaining >= ANOTHER_SECONDS:
            # The judge's own time was up, not the deadline. If somebody waits, the deadline comes first.
            sentence += f" It had {work.seconds:g} s; {VARIABLE}, or the request's verify_seconds, gives it more."
        return _skipped(unanswered_reason(error), sentence).model_copy(update=_asked(error))
    work.spends.extend(spends_of(reply, "verify"))
    own = reply.value.independent_answer
    same = await same_value(work.problem, work.answer, own, work.key)
    verification = _judged(reply, same, work)
    if same is None and own is not None and verification.passed and _differ(work, own):
        undecided = {"passed": None, "confidence": 0.0, "method": "none", "skip_reason": "other_answer"}
        return verification.model_copy(update={**undecided, "error": _OTHER_ANSWER[work.language].format(own.strip())})
    return apply_thresholds(verification, thresholds, work.language)


def _differ(work: _Work, own: str) -> bool:
    """Whether the words of a judge's own answer visibly say something else than the given answer."""
    from touchstone.answers.words import differ_in_words  # on first use: its expressions take a while to compile

    return differ_in_words(work.answer, own, problem=work.problem)


def _judged(reply: Reply[VerifyReply], same: bool | None, work: _Work) -> Verification:
    """A judge's reply as a verification.

    `same` is whether the judge's own answer equals the given one, None if undecided. If it does and there are no steps,
    nothing is left in which a mistake could be.
    """
    answer, language = reply.value, work.language
    contradicted = same is not None and same != answer.is_correct
    doubted = answer.is_correct and answer.mistake and (work.steps or not same)
    at_most = WITH_A_MISTAKE_AT_MOST if doubted else 1.0
    return Verification(
        passed=answer.is_correct,
        confidence=min(answer.confidence, CONTRADICTED_AT_MOST if contradicted else at_most),
        method="judge",
        independent_answer=answer.independent_answer,
        error=_objection(answer, language, contradicted=contradicted),
        contradicted=contradicted,
        provider=reply.provider,
        model=reply.model,
        prompt_version=reply.prompt_version,
    )


def _asked(error: JudgeError | LimitError) -> dict[str, str]:
    """The judge that was paid and brought no verdict, as a verification names it. Empty if none was paid."""
    if not error.failed_calls:
        return {}
    last = error.failed_calls[-1]
    return {"provider": last.provider, "model": last.model, "prompt_version": last.prompt_version}


async def _recalculated(steps: str, problem: str) -> str | None:
    """The objection of a recalculation of the steps. None if it has no objection."""
    if not steps:
        return None
    finding = await checked(checks.first_arithmetic_error, steps, problem, seconds=RECALCULATION_SECONDS)
    return None if finding is None else finding.detail


def _objection(said: VerifyReply, language: Language, *, contradicted: bool) -> str | None:
    """What speaks against the answer, or against the verdict on it. None if nothing does."""
    parts = [_CONTRADICTIONS[language, said.is_correct]] if contradicted else []
    if said.mistake:
        parts.append(said.mistake)
    return " ".join(parts) or None


def _refutation(correct_answer: str | None, language: Language) -> str:
    sentence = _REFUTED[language]
    return sentence if correct_answer is None else f"{sentence}{_COMES_TO[language].format(correct_answer)}"


def _skipped(reason: SkipReason, sentence: str, arithmetic_error: str | None = None) -> Verification:
    return Verification(
        passed=None,
        confidence=0.0,
        method="none",
        error=sentence,
        skip_reason=reason,
        arithmetic_error=arithmetic_error,
    )


_CONTENTLESS = {
    "en": "The answer says nothing: it holds no value and no statement that could be right.",
    "zh": "这个答案没有内容：其中没有可以判断对错的数值或陈述。",
}
_REFUTED = {"en": "A calculation shows that the answer is wrong.", "zh": "计算表明这个答案不对。"}
_COMES_TO = {"en": " It comes to {}.", "zh": "应为 {}。"}
_OTHER_ANSWER = {
    "en": "Not verified: the judge calls the answer correct, but its own answer is another one: {}.",
    "zh": "未验证：评判模型认为答案正确，但它自己的答案与此不同：{}。",
}
_CONTRADICTIONS = {
    ("en", True): "The judge calls the answer correct, but worked out another value itself.",
    ("en", False): "The judge calls the answer wrong, but worked out the same value itself.",
    ("zh", True): "评判模型认为答案正确，但它自己算出的结果不同。",
    ("zh", False): "评判模型认为答案错误，但它自己算出的结果相同。",
}
