"""Several judges of one answer: a majority of those wanted decides, a split is a split, a failure is no vote."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from tests.support.records import an_answer, an_attempt
from tests.support.scripted_adapters import FreeTicket
from touchstone.answers.ends import passing_reason
from touchstone.answers.labelling import judged_attempt, verdicts_of
from touchstone.answers.model import AnswerRecord, SolveRequest, Verification, VerifyRequest
from touchstone.answers.panel import apply_thresholds, several
from touchstone.answers.pipeline import solve_and_verify, verify_answer
from touchstone.answers.progress import route, status_of
from touchstone.answers.verification import ANOTHER_SECONDS, Verified, quick_verify, second_judge
from touchstone.answers.view import AnswerView
from touchstone.clock import Deadline
from touchstone.errors import (
    DayQuotaError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    SpendingCeilingError,
    StoreError,
    TimedOutError,
)
from touchstone.judges.base import Call, JudgeCount, Permit
from touchstone.judges.cache import MemoryCache
from touchstone.judges.prompts import load_prompt
from touchstone.judges.sureness import JudgeThresholds, SureFrom
from touchstone.text.language import Language

CITY = "Which city is the capital of Australia?"
RIGHT, WRONG = replies.verify(confidence=0.95), replies.failed(confidence=0.9, independent_answer="Sydney")
OTHER_WORDS = replies.verify(independent_answer="Melbourne")
OVERLOADED, REFUSED = OverloadedError("Overloaded."), RefusedError("Declined.")


def said(confidence: float, **changes: Any) -> dict[str, Any]:
    return replies.verify(confidence=confidence, **changes)


def against(confidence: float) -> dict[str, Any]:
    return replies.failed(confidence=confidence, independent_answer="Sydney")


def panel(*lines: Line) -> Script:
    """Judges of the three providers, in the order in which they are asked."""
    names = ("gemini", "claude", "openai")
    return Script({f"{name}/verify": [line] for name, line in zip(names, lines, strict=False)}, providers=names)


async def ask(
    script: Script,
    wanted: JudgeCount,
    *,
    thresholds: Mapping[str, float] | None = None,
    language: Language = "en",
    seconds: float = 5.0,
) -> Verified:
    judges = script.judges()
    judge = judges.default("verify")
    version = load_prompt("touchstone.answers", "verify", language).version
    found: JudgeThresholds = {
        (f"{judges.get(name, 'verify').model}-answered", version): SureFrom(
            confidence=least, labels=212, wanted=0.95, card="c" * 16, version="v" * 8
        )
        for name, least in (thresholds or {}).items()
    }
    return await quick_verify(
        CITY,
        "Canberra",
        judge=judge,
        another=second_judge(judges, judge),
        thresholds=lambda: found,
        several=several(judges, wanted),
        language=language,
        deadline=Deadline.after(seconds),
    )


@pytest.mark.parametrize(
    ("wanted", "lines", "decided"),
    [
        (2, [said(0.9), said(1.0)], (True, 0.95, "verified", False)),
        (2, [said(0.7), said(0.8)], (True, 0.75, "caution", False)),
        (2, [WRONG, WRONG], (False, 0.9, "caution", False)),
        (3, [said(0.8), said(0.8), said(0.8)], (True, 0.8, "verified", False)),
        # Two are for it, and the one against it is as sure as they are: (0.9 + 0.9 + 0.1) / 3.
        (3, [said(0.9), said(0.9), WRONG], (True, 0.633333, "caution", True)),
        (3, [WRONG, RIGHT, WRONG], (False, 0.616667, "caution", True)),
        # Who is against it without being sure speaks neither for nor against it: (0.7 + 0.7 + 0.5) / 3.
        (3, [said(0.7), said(0.7), against(0.0)], (True, 0.633333, "caution", True)),
        (3, [against(0.7), against(0.7), said(0.2)], (False, 0.633333, "caution", True)),
        # However sure two of three are, a split is never verified.
        (3, [said(0.95), said(0.95), against(0.5)], (True, 0.8, "caution", True)),
        (3, [said(1.0), said(1.0), against(0.0)], (True, 0.833333, "caution", True)),
        # Where two agree, what kept the third from voting changes nothing.
        (3, [said(0.9), OVERLOADED, said(0.9)], (True, 0.9, "verified", False)),
        (3, [said(0.9), OTHER_WORDS, said(0.9)], (True, 0.9, "verified", False)),
    ],
)
async def test_a_majority_of_the_judges_that_are_wanted_decides(
    wanted: JudgeCount, lines: Sequence[Line], decided: tuple[bool, float, str, bool]
) -> None:
    verified = await ask(panel(*lines), wanted)
    found = verified.verification
    assert (found.passed, found.confidence, status_of(found), found.split) == decided
    assert [vote.provider for vote in found.votes] == ["gemini", "claude", "openai"][: len(lines)]
    assert (found.method, found.provider, found.model, verified.failure) == ("judge", None, None, None)
    assert len(verified.spends) == sum(line is not OVERLOADED for line in lines), "each is paid for"


async def test_what_a_majority_says_is_told_in_the_words_of_the_first_that_says_it() -> None:
    silent = replies.failed(independent_answer=None, error_description=None)
    found = (await ask(panel(silent, WRONG), 2)).verification
    assert (found.passed, found.independent_answer) == (False, "Sydney")
    assert found.error == "Sydney is the largest city, not the capital."


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("lines", [[RIGHT, WRONG], [RIGHT, WRONG, OTHER_WORDS], [RIGHT, REFUSED, WRONG]])
async def test_judges_that_do_not_agree_are_split_which_is_an_end(language: Language, lines: Sequence[Line]) -> None:
    wanted: JudgeCount = 2 if len(lines) == 2 else 3
    verified = await ask(panel(*lines), wanted, language=language)
    found = verified.verification
    assert (found.passed, found.confidence, found.method) == (None, 0.0, "none")
    assert (found.skip_reason, found.split, verified.failure) == ("split", True, None)
    assert "0.95" in (found.error or "")
    assert "0.90" in (found.error or ""), "who said what is told"
    assert (status_of(found), route(found, 1)) == ("unverified", "enrich")


@pytest.mark.parametrize(
    ("wanted", "lines", "reason", "again"),
    [
        (2, [RIGHT, OVERLOADED], "overloaded", True),
        (2, [DayQuotaError("Spent."), RIGHT], "day_quota", True),
        (2, [RIGHT, MisconfiguredError("Wrong key.")], "misconfigured", True),
        (2, [RIGHT, "nonsense"], "unreadable", True),
        (2, [RIGHT, REFUSED], "refused", False),
        (2, [RIGHT, OTHER_WORDS], "other_answer", False),
        (3, [RIGHT, OVERLOADED, OVERLOADED], "overloaded", True),
        (3, [RIGHT, OVERLOADED, WRONG], "overloaded", True),
        # Whatever the third says at another try, there is no majority of three.
        (3, [REFUSED, OVERLOADED, OTHER_WORDS], "other_answer", False),
    ],
)
async def test_one_vote_too_few_decides_nothing_and_is_tried_again_where_that_can_change_it(
    wanted: JudgeCount, lines: Sequence[Line], reason: str, again: bool
) -> None:
    verified = await ask(panel(*lines), wanted)
    found = verified.verification
    assert (found.passed, found.method, found.skip_reason) == (None, "none", reason)
    assert [vote.passed for vote in found.votes] == [
        {id(RIGHT): True, id(WRONG): False}.get(id(line)) for line in lines
    ]
    assert (verified.failure is not None) == again
    record = await verify_answer(
        VerifyRequest(problem=CITY, answer="Canberra", judges=wanted), judges=panel(*lines).judges()
    )
    assert (passing_reason(AnswerView.of(record).model_dump(mode="json")) is not None) == again


async def test_judges_are_asked_side_by_side_and_one_that_is_too_slow_is_no_vote() -> None:
    script = panel(said(0.9), 30.0, said(0.9))
    async with asyncio.timeout(20.0):
        verified = await ask(script, 3, seconds=ANOTHER_SECONDS * 1.5)
    assert (verified.verification.passed, len(script.asked)) == (True, 3)
    assert [vote.skip_reason for vote in verified.verification.votes] == [None, "timed_out", None]
    async with asyncio.timeout(20.0):
        alone = await ask(panel(said(0.9), 30.0), 2, seconds=ANOTHER_SECONDS * 1.5)
    assert (alone.verification.passed, alone.verification.skip_reason) == (None, "timed_out")
    assert isinstance(alone.failure, TimedOutError)
    assert (alone.failed_by, alone.failure.sent) == ("claude", True)


class _Purse:
    """Has money for so many calls, and notes for whom it was asked."""

    def __init__(self, calls: int) -> None:
        self.calls, self.asked = calls, list[str]()

    async def admit(self, call: Call) -> Permit:
        self.asked.append(call.provider)
        if len(self.asked) > self.calls:
            raise SpendingCeilingError("The day's money is spent.", until=None)
        return FreeTicket()


async def test_quota_and_money_are_reserved_for_each_and_where_they_end_nobody_decided() -> None:
    script, purse = panel(RIGHT, RIGHT, RIGHT), _Purse(1)
    judges = script.judges(admission=purse)
    record = await verify_answer(VerifyRequest(problem=CITY, answer="Canberra", judges=3), judges=judges)
    found = record.attempts[0].verification
    assert found is not None
    assert (found.passed, found.skip_reason, sorted(purse.asked)) == (
        None, "spending_ceiling", ["claude", "gemini", "openai"]
    )  # fmt: skip
    assert (len(script.asked), len(record.spends)) == (1, 1)


class _Throttled:
    """The table of quotas, where one judge's reservation fails the first time."""

    def __init__(self, provider: str) -> None:
        self.left = [provider]

    async def admit(self, call: Call) -> Permit:
        if call.provider in self.left:
            self.left.remove(call.provider)
            raise StoreError("The table is throttled; it is safe to repeat.")
        return FreeTicket()


@pytest.mark.parametrize(
    ("wanted", "lines", "throttled", "passed", "paid"),
    [
        (2, [RIGHT, RIGHT], "claude", None, ["gemini"]),
        (2, [RIGHT, RIGHT], "gemini", None, ["claude"]),
        (3, [RIGHT, RIGHT, RIGHT], "openai", True, ["claude", "gemini"]),
        ("until_sure", [said(0.7), RIGHT, RIGHT], "claude", True, ["gemini", "openai"]),
        ("until_sure", [said(0.7), RIGHT, said(0.7)], "claude", None, ["gemini", "openai"]),
    ],
)
async def test_a_fault_of_the_store_fails_one_judge_and_loses_no_reply_of_the_others(
    wanted: JudgeCount, lines: Sequence[Line], throttled: str, passed: bool | None, paid: list[str]
) -> None:
    script = panel(*lines)
    judges = script.judges(admission=_Throttled(throttled), cache=MemoryCache())
    judge = judges.default("verify")

    async def verified() -> Verified:
        several_judges = several(judges, wanted)
        return await quick_verify(CITY, "Canberra", judge=judge, several=several_judges, deadline=Deadline.after(5.0))

    found = await verified()
    assert (found.verification.passed, sorted(spend.provider for spend in found.spends)) == (passed, paid)
    (failed,) = [vote for vote in found.verification.votes if vote.provider == throttled]
    assert (failed.passed, failed.skip_reason) == (None, "overloaded")
    assert "throttled" in (failed.error or "")
    if passed is None:
        assert isinstance(found.failure, OverloadedError), "another try may reach the store"
        assert (found.failure.sent, found.failed_by) == (False, throttled)
        assert (await verified()).verification.passed is True
    asked = [one.provider for one in script.asked]
    assert len(asked) == len(set(asked)), "nobody is paid twice"


async def test_where_there_are_fewer_providers_another_model_of_theirs_is_asked() -> None:
    script = Script({"verify": [RIGHT]}, providers=("gemini", "claude"))
    found = (await ask(script, 3)).verification
    assert [vote.provider for vote in found.votes] == ["gemini", "claude", "gemini"]
    assert len({asked.model for asked in script.asked}) == 3
    assert (found.passed, len(found.votes)) == (True, 3)


OWN = {
    "mine": {
        "kind": "compatible",
        "base_url": "http://127.0.0.1:9/v1",
        "key_required": False,
        "tiers": {"strong": "small", "fast": "small"},
        "models": {"small": {"source": "a machine of one's own"}},
    }
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_where_no_majority_can_be_asked_nobody_is_and_the_reason_says_so(language: Language) -> None:
    script = Script({"verify": [RIGHT]}, providers=())
    judges = script.judges(overrides=OWN)
    verified = await quick_verify(
        CITY,
        "Canberra",
        judge=judges.default("verify"),
        several=several(judges, 2),
        remedy="set a key",
        language=language,
        deadline=Deadline.after(5.0),
    )
    found = verified.verification
    assert (found.passed, found.skip_reason, script.asked, verified.spends) == (None, "misconfigured", [], ())
    assert "small" in (found.error or "")
    assert "set a key" in (found.error or "")


@pytest.mark.parametrize(
    ("second", "decided"), [(RIGHT, (True, None)), (WRONG, (None, "split")), (OTHER_WORDS, (None, "other_answer"))]
)
async def test_two_of_three_may_decide_where_there_is_no_third(
    second: Line, decided: tuple[bool | None, str | None]
) -> None:
    script = Script({"mine/verify": [RIGHT], "verify": [second]}, providers=("openai",))
    same = {"openai": {"tiers": {"strong": "gpt-6-luna", "fast": "gpt-6-luna"}}}
    judges = script.judges(overrides={**OWN, **same})
    record = await verify_answer(VerifyRequest(problem=CITY, answer="Canberra", judges=3), judges=judges)
    found = record.attempts[0].verification
    assert found is not None
    assert (found.passed, found.skip_reason) == decided
    assert [vote.skip_reason for vote in found.votes if vote.provider is None] == ["misconfigured"]


async def test_a_judge_below_the_threshold_of_its_labels_is_heard_and_does_not_count() -> None:
    found = (await ask(panel(said(0.85), RIGHT, WRONG), 3, thresholds={"gemini": 0.9})).verification
    assert (found.passed, found.skip_reason) == (None, "split")
    first = found.votes[0]
    assert (first.passed, first.confidence, first.skip_reason) == (True, 0.85, "unsure")
    assert first.sure_from is not None
    assert first.sure_from.confidence == 0.9


@pytest.mark.parametrize("model", ["gemini-x", None])
def test_where_a_judge_gave_no_verdict_its_labels_change_nothing(model: str | None) -> None:
    none = Verification(passed=None, confidence=0.0, method="none", model=model)
    threshold = SureFrom(confidence=None, labels=100, wanted=0.95, card="c", version="v")
    assert apply_thresholds(none, {("gemini-x", None): threshold}, "en") == none


async def test_judges_that_are_each_sure_enough_by_labels_verify_it_together_below_0_8() -> None:
    found = (await ask(panel(said(0.7), said(0.72)), 2, thresholds={"gemini": 0.7, "claude": 0.7})).verification
    assert (found.passed, found.confidence, status_of(found)) == (True, 0.71, "verified")
    one = (await ask(panel(said(0.7), said(0.72)), 2, thresholds={"gemini": 0.7})).verification
    assert status_of(one) == "caution", "the other one has no labels, and 0.72 is not enough without them"


async def test_a_pass_that_names_a_mistake_keeps_what_it_says_and_verifies_nothing() -> None:
    doubting = said(0.99, independent_answer=None, error_description="No such town.")
    found = (await ask(panel(doubting, said(0.95)), 2)).verification
    assert (found.passed, found.confidence, found.error) == (True, 0.825, "No such town.")
    assert status_of(found) == "caution"
    low = (await ask(panel(doubting, said(0.95)), 2, thresholds={"gemini": 0.6, "claude": 0.6})).verification
    assert status_of(low) == "caution", "a low threshold of labels does not lift the cap"


async def test_a_pass_that_contradicts_itself_verifies_nothing_however_sure_the_others_are() -> None:
    against_itself = said(1.0, independent_answer="41")
    others = said(1.0, independent_answer="42")
    script = panel(others, others, against_itself)
    record = await verify_answer(
        VerifyRequest(problem="What number is meant in the book?", answer="42", judges=3), judges=script.judges()
    )
    found = record.attempts[0].verification
    assert found is not None
    assert (found.passed, found.confidence, found.contradicted) == (True, 0.833333, True)
    assert record.verification_status == "caution"


@pytest.mark.parametrize("wanted", [1, 2, "until_sure"])
async def test_a_remark_of_a_judge_that_found_the_very_answer_itself_lowers_nothing(wanted: JudgeCount) -> None:
    remarking = said(0.95, error_description="The name could be spelled out.")
    found = (await ask(panel(remarking, RIGHT), wanted)).verification
    assert (found.passed, found.confidence, status_of(found)) == (True, 0.95, "verified")


@pytest.mark.parametrize(
    ("lines", "decided", "asked"),
    [
        ([said(0.8)], (True, 0.8, "gemini"), 1),
        ([said(0.79), said(0.9)], (True, 0.9, "claude"), 2),
        ([said(0.79), replies.failed(confidence=0.7, independent_answer="Sydney"), WRONG], (False, 0.9, "openai"), 3),
        ([OVERLOADED, OTHER_WORDS, RIGHT], (True, 0.95, "openai"), 3),
    ],
)
async def test_until_sure_asks_one_after_the_other_and_the_first_that_is_sure_decides(
    lines: Sequence[Line], decided: tuple[bool, float, str], asked: int
) -> None:
    script = panel(*lines)
    verified = await ask(script, "until_sure")
    found = verified.verification
    assert (found.passed, found.confidence, found.provider) == decided
    assert len(found.votes) == asked
    assert [vote.skip_reason is None for vote in found.votes] == [False] * (asked - 1) + [True]
    assert (found.split, verified.failure) == (False, None)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("thresholds", [{}, {"openai": 0.99}])
async def test_until_sure_decides_nothing_where_no_judge_is_sure(
    thresholds: Mapping[str, float], language: Language
) -> None:
    script = panel(said(0.7), replies.failed(confidence=0.75, independent_answer="Sydney"), said(0.79))
    verified = await ask(script, "until_sure", language=language, thresholds=thresholds)
    found = verified.verification
    assert (found.passed, found.skip_reason, verified.failure) == (None, "unsure", None)
    assert [vote.passed for vote in found.votes] == [True, False, True], "what they said is kept"
    assert "0.79" in (found.error or "")
    assert status_of(found) == "unverified"


async def test_until_sure_holds_a_judge_to_its_labels_and_a_doubtful_pass_to_0_8() -> None:
    sure = (await ask(panel(said(0.7)), "until_sure", thresholds={"gemini": 0.7})).verification
    assert (sure.passed, status_of(sure), len(sure.votes)) == (True, "verified", 1)
    doubting = said(0.99, independent_answer=None, error_description="No such town.")
    found = (await ask(panel(doubting, said(0.9)), "until_sure", thresholds={"gemini": 0.6})).verification
    assert (found.passed, found.provider, len(found.votes)) == (True, "claude", 2)


@pytest.mark.parametrize(("failure", "again"), [(OVERLOADED, True), (REFUSED, False)])
async def test_until_sure_is_tried_again_where_a_judge_failed_that_might_be_sure(failure: Line, again: bool) -> None:
    verified = await ask(panel(said(0.7), failure, said(0.7)), "until_sure")
    assert verified.verification.passed is None
    assert (verified.failure is not None) == again
    assert verified.verification.skip_reason == ("overloaded" if again else "unsure")


async def test_until_sure_asks_nobody_for_whom_no_time_is_left() -> None:
    script = panel(said(0.7), said(0.9))
    verified = await ask(script, "until_sure", seconds=ANOTHER_SECONDS * 0.9)
    assert (verified.verification.passed, verified.verification.skip_reason) == (None, "timed_out")
    assert [vote.passed for vote in verified.verification.votes] == [True, None]
    assert isinstance(verified.failure, TimedOutError)
    assert (len(script.asked), verified.failure.sent) == (1, False)


@pytest.mark.parametrize("wanted", [2, 3, "until_sure"])
async def test_what_a_check_decides_asks_no_judge(wanted: JudgeCount) -> None:
    script = panel(RIGHT, RIGHT, RIGHT)
    request = VerifyRequest(problem="Compute 3/4 + 1/6.", answer="11/12", judges=wanted)
    record = await verify_answer(request, judges=script.judges())
    assert (record.verification_status, script.asked) == ("verified", [])


def _with(verification: Verification) -> AnswerRecord:
    return an_answer(attempts=(an_attempt().model_copy(update={"verification": verification}),), stage="finished")


async def test_a_label_counts_for_every_judge_that_gave_a_verdict() -> None:
    together = (await ask(panel(RIGHT, WRONG, said(0.9)), 3)).verification
    judged = judged_attempt(_with(together), "1")
    assert (judged.verdict, judged.confidence, judged.judge) == ("right", None, None)
    assert [(vote.verdict, vote.confidence) for vote in judged.votes] == [
        ("right", 0.95), ("wrong", 0.9), ("right", 0.9)
    ]  # fmt: skip
    assert [word for _, word in verdicts_of(together)] == ["right", "wrong", "right"]
    alone = (await ask(panel(said(0.7), WRONG), "until_sure")).verification
    judged = judged_attempt(_with(alone), "1")
    assert (judged.verdict, judged.confidence, judged.judge and judged.judge.model) == ("wrong", 0.9, alone.model)
    assert [(vote.verdict, vote.confidence) for vote in judged.votes] == [("right", 0.7)]
    assert sorted(word for _, word in verdicts_of(alone)) == ["right", "wrong"]


async def test_each_attempt_at_a_problem_is_verified_by_as_many_judges() -> None:
    script = Script(
        {
            "analyze": [replies.analyze()],
            "solve": [replies.solve(answer="Canberra")],
            "openai/verify": [WRONG],
            "verify": [RIGHT],
            "enrich": [replies.enrich()],
        }
    )
    record = await solve_and_verify(SolveRequest(problem=CITY, judges=3), judges=script.judges())
    assert record.attempt_count == 2, "two of three are no certainty"
    for attempt in record.attempts:
        assert attempt.verification is not None
        assert (attempt.verification.passed, attempt.verification.split) == (True, True)
    assert sum(spend.purpose == "verify" for spend in record.spends) == 6
    view = AnswerView.of(record)
    assert (view.judges, view.split, view.verification_status) == (3, True, "caution")


@pytest.mark.parametrize("wrong", [0, 4, "2", "until sure", 1.5])
def test_another_number_of_judges_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="judges"):
        VerifyRequest(problem=CITY, answer="Canberra", judges=wrong)
