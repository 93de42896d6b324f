"""GATE: does a submission meet every acceptance criterion? One that it does not meet fails the whole.

    submission without content ──> fails each criterion, no call
    judge ──> each criterion in its order: a reason, the passage that decides it, and a hint if it is not met
    passed, with passages that speak to whoever grades ──> judged again without them, and that check counts
    no judge, no time, no quota, a reply against the rules twice ──> not scored, with the reason

So a passage that code finds, or a judge that reads a long text, can never pay: whatever a judge makes of it, a
submission that would fail without it fails.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from touchstone import checks
from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import JudgeReply, NotScored
from touchstone.judges.fence import visible
from touchstone.judges.spends import BY_CHECKS, Spend
from touchstone.judges.sureness import Confidence
from touchstone.oracle.flags import flag_passages
from touchstone.oracle.material import Material, ReadSubmission, SubmissionJudging
from touchstone.oracle.model import Brief, CriterionCheck, GateCheck
from touchstone.oracle.passages import NOTHING_LEFT, Passage, seen_by_judges
from touchstone.oracle.replies import faults_of_evidence
from touchstone.text.language import Language

BASE_OUTPUT_TOKENS, TOKENS_PER_CRITERION = 512, 384
"""Output tokens of a check. A quote of two sentences, a reason and a hint take about 200 tokens a criterion in either
language. With the most criteria that a task may have, the limit is 8192."""

_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Han characters and kana. Word processors count each of them as a word."""
_WORD = re.compile(rf"[{_SINGLE}]|(?:(?![{_SINGLE}])[^\W_])+(?:['’.,-](?:(?![{_SINGLE}])[^\W_])+)*")
"""A word: one of `_SINGLE`, or a run of other letters and digits. `don't`, `well-known` and `1,200.5` are one word
each."""
_PARAGRAPH = re.compile(r"\S[\s\S]*?(?=\n[ \t]*\n|\Z)")


class CriterionReply(JudgeReply):
    """What a judge says of one criterion. The order of the fields is the order of the work: first the passage."""

    number: int
    evidence: str | None
    reason: str
    passed: bool
    confidence: Confidence
    revision_hint: str | None


class GateReply(JudgeReply):
    """What a judge says of all criteria, in whatever order."""

    criteria_checks: list[CriterionReply]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """A gate check and the judge calls that were paid for it.

    `provider` and `model` name the judge; they are None if no call was needed or several judges were asked. `passages`
    are places in the submission that speak to whoever grades.
    """

    check: GateCheck
    provider: str | None = None
    model: str | None = None
    passages: tuple[Passage, ...] = ()
    spends: tuple[Spend, ...] = ()


async def check_gate(
    brief: Brief,
    submission: str,
    *,
    judge: Judge,
    deadline: Deadline,
    read: ReadSubmission | None = None,
    use_cache: bool = True,
) -> GateResult | NotScored:
    """Check a submission against every acceptance criterion of its task.

    `read` is the submission as an earlier stage read it and paid for it; None: it is read here, for the criteria alone.
    If no judge decided a criterion, it is neither met nor unmet: nothing is decided, and `NotScored` says why. A judge
    that fails raises nothing.
    """
    task = SubmissionJudging(brief=brief, submission=submission, judge=judge, deadline=deadline, use_cache=use_cache)
    if (blank := blank_gate_result(task)) is not None:
        return blank
    if read is not None:
        return await check_gate_of(task, read)
    found = await task.read()
    if isinstance(found, NotScored):
        return found
    gated = await check_gate_of(task, found)
    return replace(gated, spends=found.spends + gated.spends)


def blank_gate_result(task: SubmissionJudging) -> GateResult | None:
    """The check of a submission without content, which meets no criterion. None if there is something to judge."""
    if not checks.is_contentless(task.submission):
        return None
    return GateResult(check=_fails_all(task, _CONTENTLESS))


async def check_gate_of(task: SubmissionJudging, read: ReadSubmission) -> GateResult | NotScored:
    """The check of a submission with content, as it was read, by the judge of `task`.

    Hidden text needs no second check: it never reaches a judge, because fences remove it.
    """
    sent = await _judge(task, read.material)
    if isinstance(sent, NotScored):
        return sent
    passages = (*await flag_passages(task.submission), *read.passages)
    seen = seen_by_judges(passages)
    if not seen or not sent.check.passed:
        return replace(sent, passages=passages)
    counts = await _judge_without(task, seen, read)
    counts = replace(counts, spends=sent.spends + counts.spends)
    return counts if isinstance(counts, NotScored) else replace(counts, passages=passages)


async def _judge_without(
    task: SubmissionJudging, passages: Sequence[Passage], earlier: ReadSubmission
) -> GateResult | NotScored:
    """The check of a submission without the flagged passages. If nothing else is left, code decides."""
    read = await task.read(passages, earlier)
    if isinstance(read, NotScored):
        return read
    if checks.is_contentless(read.material.text):
        return GateResult(check=_fails_all(task, NOTHING_LEFT), spends=read.spends)
    judged = await _judge(task, read.material)
    return replace(judged, spends=read.spends + judged.spends)


async def _judge(task: SubmissionJudging, material: Material) -> GateResult | NotScored:
    """A single check by the judge."""
    criteria = task.brief.acceptance_criteria
    found = await task.ask(
        "gate",
        GateReply,
        lambda reply: _faults(reply, criteria=len(criteria), texts=(material.text, task.submission)),
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_PER_CRITERION * len(criteria),
        description=task.brief.description,
        criteria=list(criteria),
        **_size(material.text),
        **material.values(),
    )
    if isinstance(found, NotScored):
        return found
    checks_given = sorted(found.value.criteria_checks, key=lambda check: check.number)
    checked = tuple(_checked(criterion, one) for criterion, one in zip(criteria, checks_given, strict=True))
    check = GateCheck(criteria_checks=checked, judge=found.judged_by)
    return GateResult(check=check, provider=found.provider, model=found.model, spends=found.spends)


def _faults(reply: GateReply, *, criteria: int, texts: Sequence[str]) -> list[str]:
    """The faults of a judge's reply, each in one sentence; empty if the reply obeys all rules.

    Evidence must occur in each of `texts`: in the text that was judged and in the text that was sent. Where a passage
    was cut out, the words before and behind it together are no passage of the submission.
    """
    times = Counter(check.number for check in reply.criteria_checks)
    faults = [
        f"Criterion {number} is {f'there {count} times' if count else 'missing'}; judge every criterion exactly once."
        for number in range(1, criteria + 1)
        if (count := times[number]) != 1
    ]
    if any(not 1 <= number <= criteria for number in times):
        faults.append(f"A number belongs to no criterion; they are numbered 1 to {criteria}.")
    for check in reply.criteria_checks:
        if 1 <= check.number <= criteria:
            faults += _faults_of_one(check, texts)
    return faults


def _faults_of_one(check: CriterionReply, texts: Sequence[str]) -> list[str]:
    which, hint, evidence = (
        f"criterion {check.number}",
        _visible_or_none(check.revision_hint),
        _visible_or_none(check.evidence),
    )
    faults = []
    if _visible_or_none(check.reason) is None:
        faults.append(f"The reason of {which} is blank; say why it is met or not.")
    if not check.passed and hint is None:
        faults.append(f"The revision_hint of {which} is missing; a criterion that is not met needs one.")
    if check.passed and hint is not None:
        faults.append(f"The revision_hint of {which} must be null, since the criterion is met; or it is not met.")
    if evidence is not None:
        faults += faults_of_evidence(evidence, texts, which=which)
    return faults


def _checked(criterion: str, reply: CriterionReply) -> CriterionCheck:
    return CriterionCheck(
        criterion=criterion,
        passed=reply.passed,
        reason=_visible_or_none(reply.reason) or "",
        revision_hint=_visible_or_none(reply.revision_hint),
        evidence=_visible_or_none(reply.evidence),
        confidence=reply.confidence,
    )


def _visible_or_none(text: str | None) -> str | None:
    """A text as a reader sees it, without white space around it; None if a reader sees nothing."""
    return visible(text or "").strip() or None


def _fails_all(task: SubmissionJudging, reason: Mapping[Language, str]) -> GateCheck:
    """A check that fails every criterion for the same reason: there is nothing to check."""
    said, hint = reason[task.language], _SUBMIT[task.language]
    return GateCheck(
        criteria_checks=tuple(
            CriterionCheck(criterion=criterion, passed=False, reason=said, revision_hint=hint)
            for criterion in task.brief.acceptance_criteria
        ),
        judge=BY_CHECKS,
    )


def _size(text: str) -> dict[str, int]:
    """How long a text is, as a reader sees it, in the words of the prompt. `characters` leaves out white space.

    It is counted here and told to the judge: models count badly, and criteria often ask for a length.
    """
    seen = visible(text)
    return {
        "words": sum(1 for _ in _WORD.finditer(seen)),
        "characters": sum(len(piece) for piece in seen.split()),
        "paragraphs": sum(1 for _ in _PARAGRAPH.finditer(seen)),
    }


_SUBMIT: Mapping[Language, str] = {
    "en": "Submit the work itself; this criterion can only be checked on its content.",
    "zh": "请提交成果本身：只有写出内容，才能对照这条标准检查。",
}
_CONTENTLESS: Mapping[Language, str] = {
    "en": "The submission says nothing: it holds no statement or work that could meet a criterion.",
    "zh": "提交内容是空的：其中没有任何可以满足验收标准的陈述或成果。",
}
