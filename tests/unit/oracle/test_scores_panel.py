"""Several judges of scores: the median of each dimension counts, and what each of them gave is kept."""

from collections.abc import Sequence

import pytest

from tests.support.briefs import EQUAL, SUBMISSION, individual
from tests.support.judges import Line, Script
from tests.support.oracle import a_submission, judging_of, passed_gate, scoring
from touchstone.errors import InputError, OverloadedError, RefusedError
from touchstone.judges import MemoryCache, load_registry
from touchstone.judges.calls import NotScored
from touchstone.oracle.choice import OracleChoice, open_judge, open_panel
from touchstone.oracle.labelling import agreement_of
from touchstone.oracle.scores_panel import score_by_judges
from touchstone.oracle.scoring import ScoringResult
from touchstone.oracle.submission import scored
from touchstone.statistics.agreement import nominal_alpha_of_counts

IDS = tuple(EQUAL)
ALL = ("claude", "openai", "gemini")
ORDER = ("claude", *(name for name in load_registry(environ={}).providers if name in {"openai", "gemini"}))
"""In which they are asked: the chosen one first."""
OVERLOADED, REFUSED = OverloadedError("Overloaded."), RefusedError("Declined.")


async def score(
    lines: Sequence[Line],
    wanted: int,
    *,
    text: str = SUBMISSION,
    providers: Sequence[str] = ALL,
    patient: bool = True,
    cache: MemoryCache | None = None,
) -> tuple[ScoringResult | NotScored, Script]:
    script = Script(
        {f"{name}/individual": [line] for name, line in zip(ORDER, lines, strict=False)}, providers=providers
    )
    judges, choice = script.judges(cache=cache), OracleChoice(registry=load_registry(environ={}), provider="claude")
    task, read = await judging_of(text, open_judge(judges, choice))
    found = await score_by_judges(task, read, panel=open_panel(judges, choice, wanted), wait_for_retry=patient)
    return found, script


def given(credibility: int, **others: int) -> Line:
    return individual(*IDS, credibility=credibility, **others)


@pytest.mark.parametrize(
    ("scores", "counts", "band"),
    [
        ((45, 71, 62), 62, "C"),
        ((90, 95, 20), 90, "A"),
        # The mean of two that lie in the middle; half a point that one alone gave is nobody's.
        ((60, 71), 65, "C"),
        ((69, 70), 69, "C"),
        ((59, 60), 59, "C"),
    ],
)
async def test_the_median_of_each_dimension_counts_with_its_band(
    scores: tuple[int, ...], counts: int, band: str
) -> None:
    found, script = await score([given(one) for one in scores], len(scores))
    assert isinstance(found, ScoringResult)
    by_dimension = {one.dimension: one for one in found.scoring.dimension_scores}
    one = by_dimension["credibility"]
    assert (one.score, one.band) == (counts, band)
    assert (one.flag is not None) == (counts < 60)
    assert {by_dimension[name].score for name in IDS if name != "credibility"} == {80}
    assert [(vote.provider, vote.score) for vote in one.votes] == list(zip(ORDER, map(float, scores), strict=False))
    assert all(vote.evidence and vote.feedback and vote.model for vote in one.votes), "the evidence of each is kept"
    assert found.scoring.weighted_base == pytest.approx((3 * 80 + counts) / 4)
    assert found.scoring.penalty == pytest.approx(min(1.0, counts / 60))
    assert [reading.provider for reading in found.readings] == list(ORDER[: len(scores)])
    assert len(found.spends) == len(script.asked) == len(scores), "each is asked, and paid for"


async def test_evidence_and_suggestions_are_those_of_the_judge_in_the_middle() -> None:
    lines = []
    for score_, name in ((90, "best"), (40, "worst"), (60, "middle")):
        reply = individual(*IDS, **dict.fromkeys(IDS, score_))
        for one in reply["dimension_scores"]:
            one["feedback"] = f"Said by the {name}."
        reply["revision_suggestions"][1]["problem"] = f"Missed by the {name}."
        lines.append(reply)
    found, _ = await score(lines, 3)
    assert isinstance(found, ScoringResult)
    assert {one.feedback for one in found.scoring.dimension_scores} == {"Said by the middle."}
    assert found.scoring.revision_suggestions[0].problem == "Missed by the middle."


@pytest.mark.parametrize(("scores", "split"), [((80, 80, 80), False), ((70, 80, 90), False), ((60, 80, 81), True)])
async def test_judges_that_lie_far_apart_are_a_split_and_it_is_said(scores: tuple[int, ...], *, split: bool) -> None:
    found, _ = await score([given(one) for one in scores], 3)
    assert isinstance(found, ScoringResult)
    assert found.scoring.risk_flags == (("judges_disagree",) if split else ())


@pytest.mark.parametrize(
    ("lines", "reason", "whose"),
    [
        ([given(80), OVERLOADED], "overloaded", 1),
        ([given(80), REFUSED], "refused", 1),
        # The third may still move the median.
        ([given(60), given(70), OVERLOADED], "overloaded", 2),
        ([given(80), REFUSED, OVERLOADED], "overloaded", 2),
    ],
)
async def test_a_judge_that_failed_and_could_move_the_median_is_waited_for(
    lines: Sequence[Line], reason: str, whose: int
) -> None:
    found, _ = await score(lines, len(lines))
    assert isinstance(found, NotScored)
    assert (found.reason, found.failed_by) == (reason, ORDER[whose])
    assert any(spend.failure is None for spend in found.spends), "what the others cost is told"


@pytest.mark.parametrize(
    ("lines", "patient"),
    [
        # Nothing that the third could say would move it.
        ([given(70), given(70), OVERLOADED], True),
        # It will never say anything.
        ([given(60), given(80), REFUSED], True),
        # Nobody waits any longer.
        ([given(60), given(80), OVERLOADED], False),
    ],
)
async def test_two_of_three_decide_where_the_third_is_not_waited_for(lines: Sequence[Line], *, patient: bool) -> None:
    found, _ = await score(lines, 3, patient=patient)
    assert isinstance(found, ScoringResult)
    one = next(one for one in found.scoring.dimension_scores if one.dimension == "credibility")
    assert (one.score, one.votes[2].score) == (70, None)
    assert one.votes[2].unscored in {"overloaded", "refused"}
    assert one.votes[2].because


async def test_a_repeat_asks_only_the_judge_that_failed() -> None:
    cache = MemoryCache()
    lines = [given(60), given(70), OVERLOADED]
    await score(lines, 3, cache=cache)
    found, script = await score([given(1), given(2), given(65)], 3, cache=cache)
    assert isinstance(found, ScoringResult)
    assert script.prompts() == [f"{ORDER[2]}/individual"]
    assert {one.dimension: one.score for one in found.scoring.dimension_scores}["credibility"] == 65


async def test_nobody_is_asked_where_too_few_can_be_or_nothing_is_said() -> None:
    found, script = await score([given(80)], 2, providers=("claude",))
    assert isinstance(found, NotScored)
    assert (found.reason, script.asked) == ("misconfigured", [])
    with pytest.raises(InputError, match="says nothing"):
        await score([given(80)], 2, text="...")


async def test_how_often_judges_give_the_same_band_is_on_the_card_of_each() -> None:
    found, _ = await score([given(80), given(75), given(50)], 3)
    assert isinstance(found, ScoringResult)
    submission = scored(a_submission(state="gate_passed", gate=passed_gate()), found.scoring, readings=found.readings)
    counted = list(agreement_of(submission))
    assert len({judge.model for judge, _ in counted}) == 3
    assert {judge.kind for judge, _ in counted} == {"individual_scoring"}
    of_one = [tally for judge, tally in counted if judge == counted[0][0]]
    panels = {words: sum(tally.panels.get(words, 0) for tally in of_one) for tally in of_one for words in tally.panels}
    assert panels == {("B", "B", "B"): 3, ("B", "B", "C"): 1}
    assert nominal_alpha_of_counts(panels).value is not None
    alone = scored(a_submission(state="gate_passed", gate=passed_gate()), scoring())
    assert not list(agreement_of(alone))
