"""Several judges of an experiment, and the same asked several times: what counts, what it costs, and what is told."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import variance
from typing import Any

import pytest

from tests.support.experiments import LINES, clarity, experiment, preferring
from tests.support.judges import Asked, Line, Script
from touchstone.errors import MisconfiguredError, OverloadedError, RefusedError, SettingsError
from touchstone.judges import MemoryCache, load_registry
from touchstone.judges.base import JudgeCount
from touchstone.judges.panel import panel_led_by
from touchstone.judges.prompts import load_prompt
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds, SureFrom
from touchstone.records.experiments import pair_counts
from touchstone.surfaces.experiments import Conclusion, PairResult, estimate_of, measure_pair, run_experiment
from touchstone.surfaces.experiments.model import MAX_REPLICATES
from touchstone.surfaces.experiments.pair_work import PairKept, orders_of
from touchstone.surfaces.experiments.panels import agreement_on_metric
from touchstone.surfaces.experiments.report import report_csv, report_html, report_markdown
from touchstone.surfaces.model import TIER
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import metric_judges

ORDER = tuple(load_registry(environ={}).providers)[:3]
"""In which they are asked."""
A = preferring(lambda one, _: "FIRST" if "A0" in one else "SECOND")
FIRST_PLACE = preferring(lambda *_: "FIRST")
OVERLOADED, REFUSED = OverloadedError("503"), RefusedError("Declined.")
PREFERS_B = preferring(lambda one, _: "SECOND" if "A0" in one else "FIRST")
MODELS = [load_registry({}).model(name, "strong") for name in ORDER]


def clear(asked: Asked) -> dict[str, Any]:
    """What a judge says of the clarity of each question, to be changed."""
    said: Any = clarity(asked)
    return dict(said)


def unsure_of(*numbers: int, label: str | None = None) -> Line:
    """A judge that is sure to 0.6 of the clarity of these questions, and to 0.9 of the others."""

    def said(asked: Asked) -> Line:
        told = clear(asked)
        for one in told["questions"]:
            if one["number"] in numbers:
                one["confidence"] = 0.6
            if label is not None:
                one |= {"label": label, "suggestion": "Say which."}
        return told

    return said


def held_to(least: float) -> JudgeThresholds:
    """The first judge of clarity must be sure to this by the labels of its card."""
    version = load_prompt("touchstone.surfaces", "quiz_clarity", "en").version
    by = SureFrom(confidence=least, labels=212, wanted=0.95, card="c" * 16, version="v" * 8)
    return {(f"{Script({}).judges().get(ORDER[0], 'strong').model}-answered", version): by}


async def measured(
    preferences: Sequence[Line],
    *,
    judges: JudgeCount | None = None,
    sure: JudgeThresholds = NO_THRESHOLDS,
    lines: Mapping[str, Sequence[Line]] | None = None,
    metrics: Sequence[MetricName] = ("quiz_clarity",),
    replicates: int = 1,
    cache: MemoryCache | None = None,
    providers: Sequence[str] = ORDER,
) -> tuple[PairResult, Script]:
    """One pair by as many judges as have a preference, or by `judges`."""
    own = {f"{name}/preference": [line] for name, line in zip(ORDER, preferences, strict=False)}
    script = Script({**LINES, **own, **(lines or {})}, providers=providers)
    asked = experiment(sources=1, metrics=metrics, judges=judges or len(preferences), replicates=replicates)
    able = script.judges(cache=cache)
    first = able.get(ORDER[0], "strong")
    several = metric_judges(able, 1) if sure and asked.judges == 1 else panel_led_by(first, able, TIER, asked.judges)
    return await measure_pair(asked.pairs[0], asked.terms, judge=first, several=several, thresholds=sure), script


@pytest.mark.parametrize(
    ("preferences", "verdict", "split", "unanswered"),
    [
        ([A, A, A], "a", False, False),
        ([A, PREFERS_B, A], "a", True, False),
        ([A, PREFERS_B], "tie", True, False),
        # Whoever looks at places alone has no preference, and its tie is a vote.
        ([A, FIRST_PLACE, PREFERS_B], "tie", True, False),
        ([A, FIRST_PLACE, FIRST_PLACE], "tie", True, False),
        # A majority of those that are wanted needs no further vote.
        ([A, A, OVERLOADED], "a", False, False),
        # The third may still decide.
        ([A, PREFERS_B, OVERLOADED], None, True, True),
        ([A, OVERLOADED], None, False, True),
        # It never will.
        ([A, PREFERS_B, REFUSED], "tie", True, True),
        ([A, REFUSED], None, False, True),
    ],
)
async def test_what_more_than_half_of_the_judges_prefer_in_both_orders_counts(
    preferences: Sequence[Line], verdict: str | None, *, split: bool, unanswered: bool
) -> None:
    found, script = await measured(preferences)
    assert (found.preference.verdict, found.preference.split) == (verdict, split)
    assert [vote.provider for vote in found.preference.votes] == list(ORDER[: len(preferences)])
    answered = sum(callable(line) for line in preferences)
    assert sum(vote.model is not None for vote in found.preference.votes) == answered
    assert len([spend for spend in found.preference.spends if spend.failure is None]) == 2 * answered
    assert PairResult.model_validate_json(found.model_dump_json()) == found
    assert script.prompts().count(f"{ORDER[0]}/preference") == 2
    if verdict is None:
        assert found.unanswered is unanswered
    else:
        assert found.unanswered is False


async def test_the_reasons_shown_are_those_of_a_judge_that_says_what_counts() -> None:
    found, _ = await measured([PREFERS_B, A, A])
    assert [order.verdict for order in found.preference.orders] == ["a", "a"]


async def test_metrics_of_both_variants_are_voted_on_and_the_topics_found_once() -> None:
    def strict(asked: Asked) -> Line:
        told = clear(asked)
        for one in told["questions"]:
            one["label"], one["suggestion"] = "AMBIGUOUS", "Say which."
        return told

    found, script = await measured(
        [A, A, A],
        lines={f"{ORDER[1]}/quiz_clarity": [strict]},
        metrics=("quiz_coverage", "quiz_clarity", "quiz_item_flaws"),
    )
    assert found.a.results["quiz_clarity"].score == 100.0, "two of three call each question clear"
    assert found.b.results["quiz_clarity"].score == 60.0
    assert all(len(item.votes) == 3 for item in found.a.results["quiz_clarity"].items)
    assert found.a.results["quiz_item_flaws"].score is not None, "which no judge votes on"
    asked = Counter(one.prompt for one in script.asked)
    assert asked == {"topics": 1, "quiz_coverage": 6, "quiz_clarity": 6, "preference": 6}
    assert Counter(spend.purpose for spend in found.all_spends()) == asked, "each call is told once"


async def test_until_sure_asks_the_next_judge_about_what_the_first_is_not_sure_of_and_at_last_nobody_decides() -> None:
    found, script = await measured(
        [A, A, A],
        judges="until_sure",
        lines={
            f"{ORDER[0]}/quiz_clarity": [unsure_of(3, 7)],
            f"{ORDER[1]}/quiz_clarity": [unsure_of(2, label="AMBIGUOUS")],
            f"{ORDER[2]}/quiz_clarity": [unsure_of(1)],
        },
    )
    clarity_of_a = found.a.results["quiz_clarity"]
    by_item = {one.item: one for one in clarity_of_a.items}
    assert (by_item["q1"].label, by_item["q1"].votes) == ("CLEAR", ())
    assert by_item["q3"].label == "AMBIGUOUS", "the second one is sure of the first question that it is shown"
    assert [(one.unsure, one.confidence) for one in by_item["q3"].votes] == [(True, 0.6), (False, 0.9)]
    assert [(one.item, one.reason, len(one.votes)) for one in clarity_of_a.unscored] == [("q7", "unsure", 3)]
    assert clarity_of_a.score == pytest.approx(100 * 8 / 9), "neither right nor a zero"
    assert (found.unsure, found.unanswered) == (True, False), "nobody is asked again"
    asked = Counter(script.prompts())
    assert [asked[f"{name}/quiz_clarity"] for name in ORDER] == [2, 2, 2]
    assert [asked[f"{name}/preference"] for name in ORDER] == [2, 0, 0]


async def test_one_judge_is_held_to_its_labels_and_another_asked_about_what_it_is_not_sure_of() -> None:
    lines = {f"{ORDER[0]}/quiz_clarity": [unsure_of(3, 7)], f"{ORDER[1]}/quiz_clarity": [unsure_of(2)]}
    free, script = await measured([A], lines=lines)
    assert free.a.results["quiz_clarity"].score == 100.0
    assert {one.provider for one in script.asked} == {ORDER[0]}, "without labels nobody else is asked"
    held, script = await measured([A], lines=lines, sure=held_to(0.8))
    by_item = {one.item: one for one in held.a.results["quiz_clarity"].items}
    assert [one.unsure for one in by_item["q3"].votes] == [True, False]
    assert by_item["q1"].sure_from == SureFrom(confidence=0.8, labels=212, wanted=0.95, card="c" * 16, version="v" * 8)
    assert Counter(script.prompts()) == {
        f"{ORDER[0]}/quiz_clarity": 2,
        f"{ORDER[1]}/quiz_clarity": 2,
        f"{ORDER[0]}/preference": 2,
    }
    assert (held.preference.verdict, held.preference.votes) == ("a", ())
    two = [A, A]
    vague = {f"{ORDER[0]}/quiz_clarity": [unsure_of(3)], f"{ORDER[1]}/quiz_clarity": [unsure_of(label="AMBIGUOUS")]}
    both, _ = await measured(two, lines=vague, sure=held_to(0.8))
    reasons = {one.item: one.reason for one in both.a.results["quiz_clarity"].unscored}
    assert (reasons["q3"], reasons["q1"]) == ("unsure", "split"), "a vote that is not sure enough is none"
    agreement = agreement_on_metric([both], "quiz_clarity", judges=2)
    assert agreement is not None
    assert agreement.voted == 18, "nor is it one for their agreement"


@pytest.mark.parametrize(
    ("preferences", "verdict", "asked", "unanswered"),
    [
        ([A], "a", 1, False),
        # Whoever looks at places is torn, and the next one is asked.
        ([FIRST_PLACE, A], "a", 2, False),
        ([FIRST_PLACE, FIRST_PLACE, PREFERS_B], "b", 3, False),
        ([FIRST_PLACE, FIRST_PLACE, FIRST_PLACE], "tie", 3, False),
        # A tie in both orders is a verdict.
        ([preferring(lambda *_: "TIE"), A], "tie", 1, False),
        # One that fails is passed over; one that failed for a time may still decide where the others are torn.
        ([OVERLOADED, A], "a", 2, False),
        ([FIRST_PLACE, OVERLOADED, FIRST_PLACE], None, 3, True),
        ([FIRST_PLACE, REFUSED, FIRST_PLACE], "tie", 3, False),
        ([REFUSED, REFUSED, REFUSED], None, 3, True),
    ],
)
async def test_until_sure_prefers_what_the_first_judge_says_whose_verdict_survives_the_swap(
    preferences: Sequence[Line], verdict: str | None, asked: int, *, unanswered: bool
) -> None:
    found, script = await measured(preferences, judges="until_sure")
    assert (found.preference.verdict, found.preference.split) == (verdict, False)
    assert [vote.provider for vote in found.preference.votes] == list(ORDER[:asked])
    assert {one.partition("/")[0] for one in script.prompts() if one.endswith("preference")} == set(ORDER[:asked])
    assert found.unanswered is unanswered
    assert PairResult.model_validate_json(found.model_dump_json()) == found
    if verdict is not None and preferences[0] is FIRST_PLACE:
        ((key, tally),) = orders_of(found.preference).items()
        assert (key.model, tally.both_orders, tally.flips) == (found.preference.votes[0].model, 1, 1)
        assert tally.panels == {}, "those after it see what it was torn on"


async def test_too_few_judges_ask_nobody() -> None:
    with pytest.raises(MisconfiguredError, match="3 judges of different providers are wanted, and only"):
        await measured([A, A, A], providers=ORDER[:1])


async def test_what_several_judges_say_counts_for_the_card_of_each() -> None:
    found, _ = await measured([A, FIRST_PLACE, A])
    counted = orders_of(found.preference)
    assert [(tally.both_orders, tally.flips) for tally in counted.values()] == [(1, 0), (1, 1), (1, 0)]
    assert all(tally.panels == {("a", "a", "tie"): 1} for tally in counted.values())
    counts = pair_counts(PairKept.of(found, None))
    assert counts.orders is not None
    assert {one.model for one in (counts.orders, *counts.others)} == {key.model for key in counted}


async def test_the_same_is_asked_anew_each_time_and_each_time_is_found_by_a_repeat() -> None:
    times, cache = count(), MemoryCache()

    def wavering(asked: Asked) -> Line:
        told = clear(asked)
        if "A0" in asked.user and next(times) == 1:
            told["questions"][0] |= {"label": "AMBIGUOUS", "suggestion": "Say which."}
        return told

    found, script = await measured([A], lines={"quiz_clarity": [wavering]}, replicates=3, cache=cache)
    assert Counter(one.prompt for one in script.asked) == {"quiz_clarity": 6, "preference": 6}
    assert len(found.replicates) == 2
    scores = sorted(run.a["quiz_clarity"].score or 0.0 for run in found.runs)
    assert scores == [90.0, 100.0, 100.0]
    assert not any(spend.cached for spend in found.all_spends())
    again, script = await measured([A], replicates=3, cache=cache)
    assert script.asked == []
    assert [run.a["quiz_clarity"].score for run in again.runs] == [run.a["quiz_clarity"].score for run in found.runs]
    more, script = await measured([A], replicates=4, cache=cache)
    assert Counter(one.prompt for one in script.asked) == {"quiz_clarity": 2, "preference": 2}
    assert len(more.runs) == 4


@pytest.mark.parametrize(("judges", "replicates"), [(1, 1), (2, 1), (1, 3), (3, 2)])
async def test_an_estimate_counts_each_judge_and_each_time(judges: int, replicates: int) -> None:
    script = Script(LINES)
    able = script.judges()
    asked = experiment(judges=judges, replicates=replicates)
    expected = await estimate_of(asked, MODELS[0], others=MODELS[1:judges])
    found = await run_experiment(asked, judge=able.get(ORDER[0], "strong"), judges=able)
    assert expected.calls == (len(script.asked), len(script.asked)) == (24 * judges * replicates,) * 2
    assert found.outlay.calls == len(script.asked)
    assert (found.judges, found.replicates) == (judges, replicates)
    one = await estimate_of(experiment(), MODELS[0])
    assert expected.cost_usd is not None
    assert one.cost_usd is not None
    if judges == 1:
        assert expected.cost_usd[1] == pytest.approx(replicates * one.cost_usd[1])


async def test_an_estimate_of_judges_in_turn_is_from_the_first_one_to_all_of_them() -> None:
    asked = experiment(judges="until_sure")
    assert (await estimate_of(asked, MODELS[0], others=MODELS[1:])).calls == (24, 72)
    numbers = experiment(judges="until_sure", metrics=("quiz_coverage",))
    low, high = (await estimate_of(numbers, MODELS[0], others=MODELS[1:])).calls
    least, most = (await estimate_of(experiment(metrics=("quiz_coverage",)), MODELS[0])).calls
    assert (low, high) == (least, most + 24), "of numbers the first one is asked alone, of preferences all"
    by_labels = await estimate_of(experiment(), MODELS[0], others=MODELS[1:2])
    assert by_labels.calls == (24, 36), "labels may have another one asked about the clarity of all items"


async def test_topics_are_estimated_once_however_many_ask_by_them() -> None:
    asked = experiment(metrics=("quiz_coverage",), judges=3, replicates=2)
    script = Script(LINES)
    able = script.judges()
    low, high = (await estimate_of(asked, MODELS[0], others=MODELS[1:])).calls
    await run_experiment(asked, judge=able.get(ORDER[0], "strong"), judges=able)
    assert low <= len(script.asked) <= high
    assert low == 6 * (1 + 6 * (2 + 2))


async def concluded(
    judges: JudgeCount, replicates: int, lines: Mapping[str, Sequence[Line]] | None = None, **settings: Any
) -> Conclusion:
    script = Script({**LINES, **(lines or {})})
    able = script.judges()
    asked = experiment(judges=judges, replicates=replicates)
    return await run_experiment(asked, judge=able.get(ORDER[0], "strong"), judges=able, **settings)


async def test_how_much_a_figure_varies_between_runs_is_told_beside_its_interval() -> None:
    runs: Counter[str] = Counter()

    def wavering(asked: Asked) -> Line:
        """Of each quiz of A the first question is unclear in the second run, and the first two in the third."""
        told = clear(asked)
        if named := re.search(r"In (A\d) it", asked.user):
            for one in told["questions"][: runs[named[1]]]:
                one |= {"label": "AMBIGUOUS", "suggestion": "Say which."}
            runs[named[1]] += 1
        return told

    found = await concluded(1, 3, {"quiz_clarity": [wavering]})
    measured_clarity = found.metrics[0]
    assert measured_clarity.replication is not None
    assert sorted(one or 0.0 for one in measured_clarity.replication.differences) == [-40.0, -30.0, -20.0]
    assert measured_clarity.replication.variance == pytest.approx(variance([-40, -30, -20]))
    assert measured_clarity.replication.item_variance == pytest.approx(100.0)
    assert (measured_clarity.a_mean, measured_clarity.b_mean) == (90.0, 60.0), "the mean of the runs"
    flaws = found.metrics[1].replication
    assert flaws is not None
    assert flaws.variance == 0.0, "checks say the same each time"
    assert "± 10.0" in report_markdown(found)
    assert "between runs" in report_html(found)
    assert "asked 3 times" in report_html(found)
    assert "variance_between_runs" in report_csv(found).splitlines()[0]
    once = await concluded(1, 1)
    assert once.metrics[0].replication is None
    assert "between runs" not in report_html(once) + report_markdown(once)


async def test_how_several_judges_agree_is_told() -> None:
    found = await concluded(3, 1, {f"{ORDER[1]}/preference": [FIRST_PLACE]})
    assert found.preference.agreement is not None
    assert (found.preference.agreement.judges, found.preference.agreement.voted) == (3, 6)
    assert found.preference.agreement.split == 6
    assert (found.preference.wins_a, found.preference.splits) == (6, 0), "a majority of those wanted is no split"
    assert found.preference.flipped == 6
    assert found.preference.flip_rate == pytest.approx(6 / 18)
    of_clarity = found.metrics[0].agreement
    assert of_clarity is not None
    assert (of_clarity.alpha, of_clarity.voted, of_clarity.split) == (1.0, 120, 0)
    assert found.metrics[1].agreement is None, "no judge was asked"
    page = report_markdown(found)
    assert "3 judges were shown in both orders" in page
    assert "quiz clarity: alpha 1.00, they differ on 0 of 120" in page
    torn = await concluded(2, 1, {f"{ORDER[1]}/preference": [PREFERS_B_EVERYWHERE]})
    assert (torn.preference.ties, torn.preference.splits, torn.preference.difference) == (6, 6, 0.0)
    assert "6 of them since the judges did not agree" in report_markdown(torn)
    assert torn.preference.verdict != "not_compared"


PREFERS_B_EVERYWHERE = preferring(lambda one, _: "SECOND" if " A" in one else "FIRST")


async def test_a_report_of_judges_in_turn_says_so_and_tells_no_agreement() -> None:
    lines = {f"{ORDER[0]}/preference": [FIRST_PLACE]}
    found = await concluded("until_sure", 1, lines)
    assert (found.judges, found.preference.wins_a, found.preference.ties) == ("until_sure", 6, 0)
    assert (found.preference.flipped, found.preference.flip_rate, found.preference.agreement) == (6, 1.0, None)
    assert [one.agreement for one in found.metrics] == [None, None]
    assert Conclusion.model_validate_json(found.model_dump_json()) == found
    for page in (report_markdown(found), report_html(found)):
        assert "one after the other until the verdict of one survived the swap" in page
        assert "asked one after the other, three at most" in page
        assert "Agreement" not in page
    assert len(found.outlay.models) == 2


async def test_a_run_is_gone_on_with_by_the_same_judges_and_pays_nothing_twice(tmp_path: Path) -> None:
    await concluded(2, 2, folder=tmp_path)
    script = Script(LINES)
    able = script.judges()
    asked = experiment(judges=2, replicates=2)
    again = await run_experiment(asked, judge=able.get(ORDER[0], "strong"), judges=able, folder=tmp_path)
    assert script.asked == []
    assert again.outlay.calls == 96
    assert len(list(again.outlay.models)) == 2


async def test_an_experiment_by_more_judges_than_can_be_asked_is_refused_before_anything_is_paid() -> None:
    script = Script(LINES, providers=ORDER[:1])
    able = script.judges()
    with pytest.raises(SettingsError, match="3 judges of different providers"):
        await run_experiment(experiment(judges=3), judge=able.get(ORDER[0], "strong"), judges=able)
    assert script.asked == []


async def test_a_ceiling_counts_every_judge_and_every_time() -> None:
    whole = (await concluded(3, 2)).outlay.cost_usd
    assert whole is not None
    stopped = await concluded(3, 2, max_cost_usd=whole / 2)
    assert stopped.stopped == "max_cost"
    assert (stopped.outlay.cost_usd or 0.0) <= whole / 2


@pytest.mark.parametrize(
    "wanted", [{"judges": 4}, {"judges": "sure"}, {"replicates": 0}, {"replicates": MAX_REPLICATES + 1}]
)
def test_other_numbers_are_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"judges|replicates"):
        experiment(**wanted)
