"""Several judges of one gate: a majority of those wanted decides each criterion, a split is a split."""

from collections.abc import Sequence

import pytest

from tests.support import replies
from tests.support.briefs import brief, dimensions
from tests.support.judges import Line, Script
from tests.support.oracle import NOW, a_request, a_submission
from tests.support.scripted_adapters import FreeTicket
from touchstone.clock import Deadline
from touchstone.errors import ConflictError, OverloadedError, RefusedError, StoreError
from touchstone.judges import load_registry
from touchstone.judges.base import Admission, Call, Permit
from touchstone.judges.cache import MemoryCache
from touchstone.judges.calls import NotScored
from touchstone.oracle.choice import OracleChoice, open_judge, open_panel
from touchstone.oracle.gate import Gated
from touchstone.oracle.gate_panel import gate_of
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
    wanted: int,
    *,
    text: str = TEXT,
    use_cache: bool = True,
    cache: MemoryCache | None = None,
    admission: Admission | None = None,
) -> Gated | NotScored:
    judges = script.judges(cache=cache, admission=admission)
    choice = OracleChoice(registry=load_registry(environ={}), provider="claude")
    return await gate_of(
        brief(),
        text,
        judge=open_judge(judges, choice),
        several=open_panel(judges, choice, wanted),
        deadline=Deadline.after(30.0),
        use_cache=use_cache,
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
    assert isinstance(found, Gated)
    assert [one.passed for one in found.check.criteria_checks] == criteria
    assert found.check.judge is None
    assert [vote.provider for vote in found.check.votes] == list(ORDER[: len(lines)])
    assert len(found.spends) == sum(isinstance(line, dict) for line in lines), "each is paid for"
    after = gated(a_submission(state="received", gate=None), found.check)
    assert after.state == end
    assert (after.failure is not None) == (end == "unscored")


async def test_a_split_says_who_said_what_and_another_may_be_handed_in() -> None:
    found = await check(panel(BOTH, FIRST_ONLY), 2)
    assert isinstance(found, Gated)
    assert found.check.split
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
    assert isinstance(found, Gated)
    assert [one.passed for one in found.check.criteria_checks] == [True, None]
    assert [(vote.provider, vote.unscored) for vote in found.check.votes] == [
        (ORDER[0], None),
        (ORDER[1], None),
        (None, "misconfigured"),
    ]


async def test_a_blank_submission_fails_without_a_call_however_many_are_wanted() -> None:
    script = panel(BOTH, BOTH)
    found = await check(script, 2, text="…")
    assert isinstance(found, Gated)
    assert [one.passed for one in found.check.criteria_checks] == [False, False]
    assert not script.asked


async def test_another_try_pays_only_those_that_had_not_answered() -> None:
    cache = MemoryCache()
    names = [f"{name}/gate" for name in ORDER]
    script = Script({names[0]: [BOTH], names[1]: [REFUSED, BOTH]}, providers=ALL)
    first = await check(script, 2, cache=cache)
    assert isinstance(first, NotScored)
    again = await check(script, 2, cache=cache)
    assert isinstance(again, Gated)
    assert again.check.passed
    assert script.prompts().count(names[0]) == 1


async def test_several_judges_are_asked_anew_where_no_cache_is_wanted() -> None:
    cache = MemoryCache()
    names = [f"{name}/gate" for name in ORDER]
    script = Script({names[0]: [BOTH, FIRST_ONLY], names[1]: [BOTH, FIRST_ONLY]}, providers=ALL)
    first = await check(script, 2, cache=cache)
    assert isinstance(first, Gated)
    assert first.check.passed
    again = await check(script, 2, cache=cache, use_cache=False)
    assert isinstance(again, Gated)
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
    assert isinstance(found, Gated)
    assert found.check.passed
    assert sorted(admission.admitted) == ["gemini", "openai"]
    assert [vote.unscored for vote in found.check.votes] == ["overloaded", None, None]


async def test_a_label_counts_for_the_card_of_each_and_the_cards_tell_how_they_agree() -> None:
    found = await check(panel(BOTH, FIRST_ONLY, BOTH), 3)
    assert isinstance(found, Gated)
    request = a_request("quality_first", brief=brief())
    open_task = locked(new_task(request, tenant="acme", task_id="t", now=NOW), dimensions())
    decided = open_task.model_copy(update={"state": "final", "closed_at": NOW})
    submission = a_submission(state="gate_passed", gate=found.check)
    judged = judged_criterion(decided, submission, "2")
    assert (judged.verdict, judged.judge) == ("pass", None)
    assert [vote.verdict for vote in judged.votes] == ["pass", "fail", "pass"]
    assert len({vote.judge for vote in judged.votes}) == 3
    panels = [tally.panels for _, tally in agreement_of(gated(a_submission(state="received", gate=None), found.check))]
    assert panels.count({("pass", "pass", "pass"): 1}) == 3
    assert panels.count({("fail", "pass", "pass"): 1}) == 3
    alpha = nominal_alpha_of_counts({("pass", "pass", "pass"): 1, ("fail", "pass", "pass"): 1})
    assert alpha.units == 2
    with pytest.raises(ConflictError):
        judged_criterion(open_task, submission, "2")
