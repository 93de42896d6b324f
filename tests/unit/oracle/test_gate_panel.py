"""Several judges of one gate: a majority of those wanted decides each criterion, a split is a split."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest

from tests.support import replies
from tests.support.briefs import brief, dimensions
from tests.support.judges import Line, Script
from tests.support.oracle import NOW, a_request, a_submission, judging_of
from tests.support.scripted_adapters import FreeTicket
from touchstone.errors import ConflictError, OverloadedError, RefusedError, StoreError
from touchstone.judges import load_registry
from touchstone.judges.base import Admission, Call, Permit
from touchstone.judges.cache import MemoryCache
from touchstone.judges.caller import ATTEMPTS
from touchstone.judges.calls import NotScored
from touchstone.judges.prompts import load_prompt
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds, SureFrom
from touchstone.oracle.choice import OracleChoice, open_another_judge, open_judge, open_panel
from touchstone.oracle.gate import GateResult
from touchstone.oracle.gate_panel import check_gate_by_judges
from touchstone.oracle.handing_in import check_follows
from touchstone.oracle.labelling import agreement_of, judged_criterion
from touchstone.oracle.submission import gated
from touchstone.oracle.task import locked, new_task
from touchstone.statistics.agreement import nominal_alpha_of_counts

TEXT = "The harvest of 2025 was the best in ten years, by the consortium. Next season, growers should thin earlier."
FIRST_ONLY, BOTH, NEITHER = (
    replies.gate(
        *(
            replies.criterion(number)
            if met
            else replies.criterion(number, passed=False, reason="Not there.", revision_hint="Add it.")
            for number, met in enumerate(said, start=1)
        )
    )
    for said in ((True, False), (True, True), (False, False))
)
OVERLOADED, REFUSED = OverloadedError("Overloaded."), RefusedError("Declined.")
ALL = ("claude", "openai", "gemini")
ORDER = ("claude", *(name for name in load_registry(environ={}).providers if name in {"openai", "gemini"}))
"""In which they are asked: the chosen one first."""


def panel(*lines: Line, providers: Sequence[str] = ALL) -> Script:
    """Judges of the three providers."""
    return Script({f"{name}/gate": [line] for name, line in zip(ORDER, lines, strict=False)}, providers=providers)


async def check(
    script: Script,
    wanted: int | Literal["until_sure"],
    *,
    text: str = TEXT,
    sure: JudgeThresholds = NO_THRESHOLDS,
    use_cache: bool = True,
    cache: MemoryCache | None = None,
    admission: Admission | None = None,
) -> GateResult | NotScored:
    judges = script.judges(cache=cache, admission=admission)
    choice = OracleChoice(registry=load_registry(environ={}), provider="claude")
    task, read = await judging_of(text, open_judge(judges, choice), use_cache=use_cache)
    return await check_gate_by_judges(
        task,
        read,
        panel=open_panel(judges, choice, wanted),
        load_thresholds=lambda: sure,
        another=lambda: open_another_judge(judges, choice, than=["claude"]),
    )


@pytest.mark.parametrize(
    ("lines", "criteria", "end"),
    [
        ([BOTH, BOTH], [True, True], "gate_passed"),
        ([BOTH, FIRST_ONLY, BOTH], [True, True], "gate_passed"),
        ([BOTH, FIRST_ONLY, FIRST_ONLY], [True, False], "gate_failed"),
        # On the second criterion they do not agree, and the first one is met.
        ([BOTH, FIRST_ONLY], [True, None], "unscored"),
        # One that is not met fails the whole, whatever the judges think of another.
        ([FIRST_ONLY, NEITHER], [None, False], "gate_failed"),
        # Two of three are a majority, whatever became of the third.
        ([BOTH, OVERLOADED, BOTH], [True, True], "gate_passed"),
        ([FIRST_ONLY, REFUSED, FIRST_ONLY], [True, False], "gate_failed"),
        # One against one, and the third will never say anything.
        ([BOTH, FIRST_ONLY, REFUSED], [True, None], "unscored"),
        # The second criterion fails by two, so that it does not matter what the third would have said of the first.
        ([FIRST_ONLY, NEITHER, OVERLOADED], [None, False], "gate_failed"),
    ],
)
async def test_a_majority_of_the_judges_that_are_wanted_decides_each_criterion(
    lines: Sequence[Line], criteria: list[bool | None], end: str
) -> None:
    found = await check(panel(*lines), len(lines))
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == criteria
    assert found.check.judge is None
    assert [vote.provider for vote in found.check.votes] == list(ORDER[: len(lines)])
    assert len(found.spends) == sum(isinstance(line, dict) for line in lines), "each is paid for"
    after = gated(a_submission(state="received", gate=None), found.check)
    assert after.state == end
    assert (after.failure is not None) == (end == "unscored")


async def test_a_split_says_who_said_what_and_another_may_be_handed_in() -> None:
    found = await check(panel(BOTH, FIRST_ONLY), 2)
    assert isinstance(found, GateResult)
    assert found.check.undecided == "split"
    assert not found.check.passed
    after = gated(a_submission(state="received", gate=None), found.check)
    assert after.failure is not None
    assert (after.failure.stage, after.failure.reason) == ("gate", "split")
    (sentence,) = after.failure.details
    assert sentence.startswith("2: The judges do not agree: claude-")
    assert "says met" in sentence
    assert "says not met" in sentence
    check_follows(after)


@pytest.mark.parametrize(
    ("lines", "reason", "whose"),
    [
        ([BOTH, OVERLOADED], "overloaded", 1),
        ([BOTH, REFUSED], "refused", 1),
        ([BOTH, FIRST_ONLY, OVERLOADED], "overloaded", 2),
        # What may pass is told before what no try changes.
        ([BOTH, REFUSED, OVERLOADED], "overloaded", 2),
        ([OVERLOADED, BOTH], "overloaded", 0),
    ],
)
async def test_judges_that_failed_are_no_vote_and_their_failure_is_told(
    lines: Sequence[Line], reason: str, whose: int
) -> None:
    found = await check(panel(*lines), len(lines))
    assert isinstance(found, NotScored)
    assert found.reason == reason
    assert found.error is not None
    assert found.failed_by == ORDER[whose]
    assert any(spend.failure is None for spend in found.spends), "what the others cost is told"


async def test_nobody_is_asked_where_too_few_can_be() -> None:
    script = panel(BOTH, providers=("claude",))
    found = await check(script, 2)
    assert isinstance(found, NotScored)
    assert found.reason == "misconfigured"
    assert "2 judges of different providers are wanted, and only claude" in str(found.error)
    assert not script.asked


async def test_two_of_three_that_can_be_asked_decide_together() -> None:
    found = await check(panel(BOTH, FIRST_ONLY, providers=ORDER[:2]), 3)
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == [True, None]
    assert [(vote.provider, vote.unscored) for vote in found.check.votes] == [
        (ORDER[0], None),
        (ORDER[1], None),
        (None, "misconfigured"),
    ]


async def test_a_blank_submission_fails_without_a_call_however_many_are_wanted() -> None:
    script = panel(BOTH, BOTH)
    found = await check(script, 2, text="…")
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == [False, False]
    assert not script.asked


async def test_another_try_pays_only_those_that_had_not_answered() -> None:
    cache = MemoryCache()
    names = [f"{name}/gate" for name in ORDER]
    script = Script({names[0]: [BOTH], names[1]: [REFUSED, BOTH]}, providers=ALL)
    first = await check(script, 2, cache=cache)
    assert isinstance(first, NotScored)
    again = await check(script, 2, cache=cache)
    assert isinstance(again, GateResult)
    assert again.check.passed
    assert script.prompts().count(names[0]) == 1


async def test_several_judges_are_asked_anew_where_no_cache_is_wanted() -> None:
    cache = MemoryCache()
    names = [f"{name}/gate" for name in ORDER]
    script = Script({names[0]: [BOTH, FIRST_ONLY], names[1]: [BOTH, FIRST_ONLY]}, providers=ALL)
    first = await check(script, 2, cache=cache)
    assert isinstance(first, GateResult)
    assert first.check.passed
    again = await check(script, 2, cache=cache, use_cache=False)
    assert isinstance(again, GateResult)
    assert [one.passed for one in again.check.criteria_checks] == [True, False]
    assert [script.prompts().count(name) for name in names[:2]] == [2, 2]


class _NoTableForOne:
    """Admits everybody but one provider, for whom the table fails."""

    def __init__(self) -> None:
        self.admitted: list[str] = []

    async def admit(self, call: Call) -> Permit:
        if call.provider == "claude":
            raise StoreError("The table was throttled.")
        self.admitted.append(call.provider)
        return FreeTicket()


async def test_a_quota_is_reserved_for_each_and_a_fault_of_the_table_fails_one_judge_alone() -> None:
    admission = _NoTableForOne()
    found = await check(panel(BOTH, BOTH, BOTH), 3, admission=admission)
    assert isinstance(found, GateResult)
    assert found.check.passed
    assert sorted(admission.admitted) == ["gemini", "openai"]
    assert [vote.unscored for vote in found.check.votes] == ["overloaded", None, None]


async def test_a_label_counts_for_the_card_of_each_and_the_cards_tell_how_they_agree() -> None:
    found = await check(panel(BOTH, FIRST_ONLY, BOTH), 3)
    assert isinstance(found, GateResult)
    request = a_request("quality_first", brief=brief())
    open_task = locked(new_task(request, tenant="acme", task_id="t", now=NOW), dimensions())
    decided = open_task.model_copy(update={"state": "final", "closed_at": NOW})
    submission = a_submission(state="gate_passed", gate=found.check)
    judged = judged_criterion(decided, submission, "2")
    assert (judged.verdict, judged.judge) == ("pass", None)
    assert [vote.verdict for vote in judged.votes] == ["pass", "fail", "pass"]
    assert len({vote.judge for vote in judged.votes}) == 3
    version = load_prompt("touchstone.oracle", "gate", "en").version
    assert {vote.judge.prompt_version for vote in judged.votes} == {version}
    panels = [tally.panels for _, tally in agreement_of(gated(a_submission(state="received", gate=None), found.check))]
    assert panels.count({("pass", "pass", "pass"): 1}) == 3
    assert panels.count({("fail", "pass", "pass"): 1}) == 3
    alpha = nominal_alpha_of_counts({("pass", "pass", "pass"): 1, ("fail", "pass", "pass"): 1})
    assert alpha.units == 2
    with pytest.raises(ConflictError):
        judged_criterion(open_task, submission, "2")


def thresholds(**confidences: float | None) -> JudgeThresholds:
    """What labels ask of these providers' judges; None: they decide nothing."""
    version, judges = load_prompt("touchstone.oracle", "gate", "en").version, Script({}, providers=ALL).judges()
    return {
        (f"{judges.get(name, 'strong').model}-answered", version): SureFrom(
            confidence=confidence, labels=212, wanted=0.95, card="c" * 16, version="v" * 8
        )
        for name, confidence in confidences.items()
    }


def said(first: tuple[bool, float], second: tuple[bool, float]) -> dict[str, Any]:
    """What a judge says of both criteria, and how sure it is of each."""
    hints = {False: {"reason": "Not there.", "revision_hint": "Add it."}, True: {}}
    return replies.gate(
        *(
            replies.criterion(number, passed=met, confidence=confidence, **hints[met])
            for number, (met, confidence) in enumerate((first, second), start=1)
        )
    )


YES, NO = (True, 0.95), (False, 0.95)
MAYBE, RATHER_NOT = (True, 0.7), (False, 0.7)


async def test_without_labels_one_judge_decides_however_sure_it_is() -> None:
    script = panel(said(MAYBE, (False, 0.1)), said(YES, YES))
    found = await check(script, 1)
    assert isinstance(found, GateResult)
    assert [(one.passed, one.confidence, one.sure_from) for one in found.check.criteria_checks] == [
        (True, 0.7, None),
        (False, 0.1, None),
    ]
    assert (len(script.asked), found.check.votes) == (1, ())


async def test_at_its_threshold_a_judge_decides_alone_and_each_criterion_says_by_which() -> None:
    script = panel(said((True, 0.9), YES), said(NO, NO))
    found = await check(script, 1, sure=thresholds(claude=0.9))
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == [True, True]
    assert [
        one.sure_from and (one.sure_from.confidence, one.sure_from.labels) for one in found.check.criteria_checks
    ] == [(0.9, 212)] * 2
    assert found.check.judge is not None
    assert (len(script.asked), found.check.votes) == (1, ())


async def test_a_verdict_that_labels_leave_alone_names_no_threshold() -> None:
    silent = {judge: one.model_copy(update={"silent_below": 0.6}) for judge, one in thresholds(claude=None).items()}
    found = await check(panel(said(MAYBE, YES)), 1, sure=silent)
    assert isinstance(found, GateResult)
    assert [(one.passed, one.sure_from) for one in found.check.criteria_checks] == [(True, None)] * 2


@pytest.mark.parametrize(
    ("first", "second", "criteria", "end"),
    [
        # The second judge is heard on that alone of which the first is not sure.
        (said(YES, RATHER_NOT), said(NO, YES), [True, True], "gate_passed"),
        (said(YES, MAYBE), said(YES, NO), [True, False], "gate_failed"),
        (said(YES, RATHER_NOT), said(YES, RATHER_NOT), [True, None], "unscored"),
        # Nobody decides, though both say the same.
        (said(MAYBE, MAYBE), said(MAYBE, MAYBE), [None, None], "unscored"),
        # No try changes that this one says nothing.
        (said(YES, MAYBE), REFUSED, [True, None], "unscored"),
    ],
)
async def test_below_its_threshold_another_providers_judge_is_asked_and_at_last_nobody_decides(
    first: Line, second: Line, criteria: list[bool | None], end: str
) -> None:
    script = panel(first, second)
    found = await check(script, 1, sure=thresholds(claude=0.9, openai=0.9, gemini=0.9))
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == criteria
    assert len(script.asked) == 2
    assert [vote.provider for vote in found.check.votes] == list(ORDER[:2])
    after = gated(a_submission(state="received", gate=None), found.check)
    assert after.state == end
    if end == "unscored":
        assert after.failure is not None
        assert after.failure.reason == "unsure"
        assert "No judge is sure enough: claude-" in after.failure.details[-1]
        assert "is sure to 0.70; by 212 labels people agree with 95% from 0.90 on" in after.failure.details[-1]
        check_follows(after)


async def test_one_criterion_surely_not_met_fails_the_whole_and_nobody_further_is_asked() -> None:
    script = panel(said(NO, MAYBE), said(YES, YES))
    found = await check(script, 1, sure=thresholds(claude=0.9))
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == [False, None]
    assert (len(script.asked), found.check.undecided) == (1, None)


async def test_a_judge_whose_labels_speak_against_it_decides_nothing() -> None:
    script = panel(said(YES, YES), said(YES, NO))
    found = await check(script, 1, sure=thresholds(claude=None))
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == [True, False]
    assert [vote.unsure for vote in found.check.votes] == [(1, 2), ()]
    assert [vote.confidences for vote in found.check.votes] == [(0.95, 0.95), (0.95, 0.95)]


async def test_where_the_next_judge_fails_the_gate_is_tried_again_and_the_first_is_not_paid_twice() -> None:
    cache = MemoryCache()
    names = [f"{name}/gate" for name in ORDER]
    script = Script({names[0]: [said(YES, MAYBE)], names[1]: [*[OVERLOADED] * ATTEMPTS, said(YES, YES)]}, providers=ALL)
    first = await check(script, 1, cache=cache, sure=thresholds(claude=0.9))
    assert isinstance(first, NotScored)
    assert (first.reason, first.failed_by, len(first.spends)) == ("overloaded", ORDER[1], 1)
    again = await check(script, 1, cache=cache, sure=thresholds(claude=0.9))
    assert isinstance(again, GateResult)
    assert again.check.passed
    assert script.prompts().count(names[0]) == 1


async def test_nobody_is_asked_where_it_cannot_be_read_how_sure_a_judge_must_be() -> None:
    def broken() -> JudgeThresholds:
        raise StoreError("The table was throttled.")

    script = panel(BOTH)
    judges = script.judges()
    choice = OracleChoice(registry=load_registry(environ={}), provider="claude")
    task, read = await judging_of(TEXT, open_judge(judges, choice))
    found = await check_gate_by_judges(task, read, panel=None, load_thresholds=broken)
    assert isinstance(found, NotScored)
    assert (found.reason, script.asked) == ("overloaded", [])


@pytest.mark.parametrize(
    ("lines", "criteria", "asked"),
    [
        ([said(YES, YES), said(NO, NO)], [True, True], 1),
        ([said(YES, MAYBE), said(NO, YES)], [True, True], 2),
        ([said(YES, MAYBE), OVERLOADED, said(YES, NO)], [True, False], 3),
        ([said(MAYBE, YES), said(MAYBE, YES), said(MAYBE, YES)], [None, True], 3),
    ],
)
async def test_until_sure_asks_one_after_the_other_and_without_labels_0_8_is_asked(
    lines: Sequence[Line], criteria: list[bool | None], asked: int
) -> None:
    script = panel(*lines)
    found = await check(script, "until_sure")
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == criteria
    assert list(dict.fromkeys(one.provider for one in script.asked)) == list(ORDER[:asked])
    assert [vote.provider for vote in found.check.votes] == list(ORDER[:asked])


async def test_of_several_judges_one_that_is_not_sure_enough_has_no_vote() -> None:
    found = await check(panel(said(YES, MAYBE), said(YES, NO), said(YES, NO)), 3, sure=thresholds(claude=0.9))
    assert isinstance(found, GateResult)
    assert [one.passed for one in found.check.criteria_checks] == [True, False]
    undecided = await check(panel(said(YES, MAYBE), said(YES, YES)), 2, sure=thresholds(claude=0.9))
    assert isinstance(undecided, GateResult)
    assert [one.passed for one in undecided.check.criteria_checks] == [True, None]


async def test_a_label_counts_for_each_judge_by_how_sure_it_was_and_alpha_for_none_asked_in_turn() -> None:
    found = await check(panel(said(YES, MAYBE), said(YES, NO)), 1, sure=thresholds(claude=0.9))
    assert isinstance(found, GateResult)
    request = a_request("quality_first", brief=brief())
    task = locked(new_task(request, tenant="acme", task_id="t", now=NOW), dimensions())
    task = task.model_copy(update={"state": "final", "closed_at": NOW})
    submission = a_submission(state="gate_failed", gate=found.check)
    judged = judged_criterion(task, submission, "2")
    assert [(vote.verdict, vote.confidence) for vote in judged.votes] == [("pass", 0.7), ("fail", 0.95)]
    assert [list(tally.panels) for _, tally in agreement_of(submission)] == []
    alone = await check(panel(said(YES, MAYBE)), 1)
    assert isinstance(alone, GateResult)
    judged = judged_criterion(task, a_submission(state="gate_passed", gate=alone.check), "2")
    assert (judged.verdict, judged.confidence, judged.votes) == ("pass", 0.7, ())
