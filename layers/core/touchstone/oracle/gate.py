"""GATE: does a submission meet every acceptance criterion? One that it does not meet fails the whole.

submission without content ──> fails each criterion, no call
judge ──> each criterion in its order: a reason, the passage that decides it, and a hint where it is not met
no judge, no time, no quota, a reply against the rules twice ──> not scored, with the reason
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone import checks
from touchstone.checks.language import Language
from touchstone.clock import Deadline
from touchstone.judges.base import Judge, Question
from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import contains_verbatim, visible
from touchstone.judges.spends import Spend
from touchstone.oracle.asking import NotScored, ask_checked
from touchstone.oracle.model import Brief, CriterionCheck, GateCheck
from touchstone.oracle.wording import language_of_task, prompt

BASE_OUTPUT_TOKENS, TOKENS_A_CRITERION = 512, 384
"""A quote of two sentences, a reason and a hint take about 200 tokens a criterion in either language; the most criteria
that a task may have come to 8192."""

_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Han characters and kana, of which word processors count each as a word."""
_WORD = re.compile(rf"[{_SINGLE}]|(?:(?![{_SINGLE}])[^\W_])+(?:['’.,-](?:(?![{_SINGLE}])[^\W_])+)*")
"""One of those, or a run of other letters and digits: `don't`, `well-known` and `1,200.5` are one word each."""
_PARAGRAPH = re.compile(r"\S[\s\S]*?(?=\n[ \t]*\n|\Z)")


class CriterionReply(JudgeReply):
    """What a judge says of one criterion. The order of the fields is the order of the work: first the passage."""

    number: int
    evidence: str | None
    reason: str
    passed: bool
    revision_hint: str | None


class GateReply(JudgeReply):
    """What a judge says of all criteria, in whatever order."""

    criteria_checks: list[CriterionReply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """A gate check and the judge calls that were paid for it.

    `provider` and `model` are who judged, None where no call was needed.
    """

    check: GateCheck
    provider: str | None
    model: str | None
    spends: tuple[Spend, ...]


async def check_gate(
    brief: Brief, submission: str, *, judge: Judge, deadline: Deadline, use_cache: bool = True
) -> Gated | NotScored:
    """Check a submission against every acceptance criterion of its task.

    A criterion that no judge decided is never a pass and never a failure: then nothing is decided, and `NotScored` says
    why. Raises nothing for a judge that fails.
    """
    language = language_of_task(brief)
    if checks.is_contentless(submission):
        return Gated(check=_without_content(brief, language), provider=None, model=None, spends=())
    criteria = brief.acceptance_criteria
    size = _size(submission)

    def question(faults: Sequence[str]) -> Question[GateReply]:
        return Question(
            prompt=prompt(
                "gate",
                language,
                description=brief.description,
                criteria=list(criteria),
                submission=submission,
                words=size.words,
                characters=size.characters,
                paragraphs=size.paragraphs,
                faults=list(faults),
            ),
            reply_type=GateReply,
            max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_A_CRITERION * len(criteria),
            use_cache=use_cache,
        )

    found = await ask_checked(
        judge,
        question,
        lambda reply: _faults(reply, criteria=len(criteria), submission=submission),
        deadline=deadline,
        purpose="gate",
    )
    if isinstance(found, NotScored):
        return found
    said = sorted(found.value.criteria_checks, key=lambda check: check.number)
    return Gated(
        check=GateCheck(criteria_checks=tuple(_checked(text, one) for text, one in zip(criteria, said, strict=True))),
        provider=found.provider,
        model=found.model,
        spends=found.spends,
    )


def _faults(reply: GateReply, *, criteria: int, submission: str) -> list[str]:
    """What breaks the rules in a judge's reply, each fault in one sentence; nothing where all is well."""
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
            faults += _faults_of_one(check, submission)
    return faults


def _faults_of_one(check: CriterionReply, submission: str) -> list[str]:
    which, hint, evidence = f"criterion {check.number}", _said(check.revision_hint), _said(check.evidence)
    faults = []
    if _said(check.reason) is None:
        faults.append(f"The reason of {which} is blank; say why it is met or not.")
    if not check.passed and hint is None:
        faults.append(f"The revision_hint of {which} is missing; a criterion that is not met needs one.")
    if check.passed and hint is not None:
        faults.append(f"The revision_hint of {which} must be null, since the criterion is met; or it is not met.")
    if evidence is not None and not contains_verbatim(evidence, submission):
        faults.append(
            f"The evidence of {which} does not occur in the submission; copy one continuous passage of it exactly, or "
            "give null."
        )
    return faults


def _checked(criterion: str, said: CriterionReply) -> CriterionCheck:
    return CriterionCheck(
        criterion=criterion,
        passed=said.passed,
        reason=_said(said.reason) or "",
        revision_hint=_said(said.revision_hint),
        evidence=_said(said.evidence),
    )


def _said(text: str | None) -> str | None:
    """A text as a reader sees it, without white space around it; None where there is nothing to see."""
    return visible(text or "").strip() or None


def _without_content(brief: Brief, language: Language) -> GateCheck:
    reason, hint = _CONTENTLESS[language]
    return GateCheck(
        criteria_checks=tuple(
            CriterionCheck(criterion=criterion, passed=False, reason=reason, revision_hint=hint)
            for criterion in brief.acceptance_criteria
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """How long a text is, as a reader sees it. `characters` leaves out white space."""

    words: int
    characters: int
    paragraphs: int


def _size(text: str) -> _Size:
    """Counted here and told to the judge: models count badly, and criteria often ask for a length."""
    seen = visible(text)
    return _Size(
        words=sum(1 for _ in _WORD.finditer(seen)),
        characters=sum(len(piece) for piece in seen.split()),
        paragraphs=sum(1 for _ in _PARAGRAPH.finditer(seen)),
    )


_CONTENTLESS = {
    "en": (
        "The submission says nothing: it holds no statement or work that could meet a criterion.",
        "Submit the work itself; this criterion can only be checked on its content.",
    ),
    "zh": (
        "提交内容是空的：其中没有任何可以满足验收标准的陈述或成果。",
        "请提交成果本身：只有写出内容，才能对照这条标准检查。",
    ),
}
