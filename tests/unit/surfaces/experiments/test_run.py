"""Whole experiments: the truth is found, nothing is paid for twice, and a limit of cost is kept."""

import asyncio
import errno
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.support.experiments import METRICS, UNCLEAR, clarity, experiment, judged, quiz
from tests.support.judges import Asked, Line
from touchstone.errors import (
    ConflictError,
    DayQuotaError,
    InputError,
    OverloadedError,
    SettingsError,
    StoreError,
    UnavailableModelError,
)
from touchstone.judges import Judge
from touchstone.surfaces.experiments import Conclusion, ExperimentProgress, Item, Variant, run_experiment
from touchstone.surfaces.measuring import AT_ONCE

NO_PRICES = {"openai": {"models": {"nameless": {}}, "tiers": {"strong": "nameless"}}}


async def test_the_variant_that_was_made_worse_is_found_worse_in_what_it_was_made_worse() -> None:
    judge, script = judged()
    conclusion = await run_experiment(experiment(), judge=judge)
    verdicts = {one.metric: (one.verdict, one.difference) for one in conclusion.metrics}
    assert verdicts == {"quiz_clarity": ("a_better", -40.0), "quiz_item_flaws": ("no_difference_shown", 0.0)}
    assert (conclusion.verdict, conclusion.preference.wins_a, conclusion.preference.flip_rate) == ("a_better", 6, 0.0)
    assert (conclusion.pairs, conclusion.measured, conclusion.stopped) == (6, 6, None)
    assert Counter(asked.prompt for asked in script.asked) == {"quiz_clarity": 12, "preference": 12}
    assert (conclusion.outlay.calls, conclusion.outlay.input_tokens) == (24, 24_000)
    behind = conclusion.metrics[0].favouring_a[0]
    assert [one.label for one in behind.b_labels] == ["AMBIGUOUS"] * 4 + ["CLEAR"]


async def test_a_judge_that_fails_on_three_of_ten_leaves_the_rest_and_lowers_the_denominator() -> None:
    def failing(asked: Asked) -> Line:
        return OverloadedError("503") if any(f"B{number} " in asked.user for number in (1, 4, 7)) else clarity(asked)

    judge, _ = judged({"quiz_clarity": [failing]})
    conclusion = await run_experiment(experiment(sources=10), judge=judge)
    found = conclusion.metrics[0]
    assert (found.compared, found.a.items, found.b.items, found.b.unscored_items) == (7, 10, 7, 3)
    assert (found.b.unscored_parts, {one.reason for one in found.b.missing}) == (30, {"overloaded"})
    assert (found.difference, found.verdict) == (-40.0, "a_better")
    assert conclusion.metrics[1].compared == conclusion.preference.compared == 10


async def test_progress_counts_pairs_and_cost_against_the_estimate() -> None:
    judge, _ = judged()
    told: list[ExperimentProgress] = []
    conclusion = await run_experiment(experiment(), judge=judge, progress=told.append, concurrency=2)
    assert [one.done for one in told] == [0, 1, 2, 3, 4, 5, 6]
    assert {(one.total, one.resumed) for one in told} == {(6, 0)}
    assert told[0].cost_usd == 0 < told[3].cost_usd < told[-1].cost_usd == pytest.approx(conclusion.outlay.cost_usd)
    assert told[0].estimate.calls == (24, 24)


async def stop_after(pairs: int, folder: Path, judge: Judge) -> None:
    """Run and cancel it when so many pairs are done."""
    reached = asyncio.Event()

    def look(progress: ExperimentProgress) -> None:
        if progress.done >= pairs:
            reached.set()

    run = asyncio.create_task(run_experiment(experiment(), folder=folder, judge=judge, progress=look, concurrency=1))
    await reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


async def test_an_interrupted_experiment_goes_on_without_repeating_a_call(tmp_path: Path) -> None:
    judge, script = judged()
    await stop_after(3, tmp_path, judge)
    before = len(script.asked)
    assert 12 <= before < 24
    told: list[ExperimentProgress] = []
    resumed = await run_experiment(experiment(), folder=tmp_path, judge=judge, progress=told.append)
    assert len(script.asked) == 24
    assert told[0].done == told[0].resumed == 3
    assert (resumed.outlay.calls, resumed.measured) == (24, 6)
    whole = await run_experiment(experiment(), judge=judged()[0])
    same = {"outlay"}
    assert resumed.model_dump(exclude=same) == whole.model_dump(exclude=same)
    assert resumed.outlay.cost_usd == pytest.approx(whole.outlay.cost_usd)
    assert Conclusion.model_validate_json((tmp_path / "conclusion.json").read_bytes()) == resumed


async def test_an_experiment_that_has_ended_costs_nothing_when_it_is_run_again(tmp_path: Path) -> None:
    judge, script = judged()
    first = await run_experiment(experiment(), folder=tmp_path, judge=judge)
    assert await run_experiment(experiment(), folder=tmp_path, judge=judge) == first
    assert len(script.asked) == 24


async def test_a_pair_that_was_half_written_is_made_again_from_the_journal(tmp_path: Path) -> None:
    judge, script = judged()
    first = await run_experiment(experiment(), folder=tmp_path, judge=judge)
    (tmp_path / "pairs" / "2.json").write_text('{"number": 2, "item"')
    again = await run_experiment(experiment(), folder=tmp_path, judge=judge)
    assert len(script.asked) == 24
    assert again.metrics == first.metrics
    assert again.outlay.cost_usd == pytest.approx(first.outlay.cost_usd)


async def test_what_nobody_answered_is_asked_again_by_the_next_run_and_nothing_else(tmp_path: Path) -> None:
    down = True

    def failing(asked: Asked) -> Line:
        return OverloadedError("503") if down and "B1 " in asked.user else clarity(asked)

    judge, script = judged({"quiz_clarity": [failing]})
    first = await run_experiment(experiment(), folder=tmp_path, judge=judge)
    assert first.metrics[0].compared == 5
    answered, down = len(script.asked), False
    second = await run_experiment(experiment(), folder=tmp_path, judge=judge)
    assert second.metrics[0].compared == 6
    assert len(script.asked) == answered + 1


async def test_another_request_or_another_judge_in_the_folder_is_refused(tmp_path: Path) -> None:
    judge, script = judged()
    await run_experiment(experiment(), folder=tmp_path, judge=judge)
    with pytest.raises(ConflictError, match="holds another experiment"):
        await run_experiment(experiment(sources=5), folder=tmp_path, judge=judge)
    with pytest.raises(ConflictError, match="judged by openai/"):
        await run_experiment(experiment(), folder=tmp_path, judge=script.judges().get("claude", "strong"))
    with pytest.raises(ConflictError, match="written by nobody"):
        await run_experiment(experiment(), folder=tmp_path, judge=judge, generator=judge)


async def test_before_a_call_could_pass_the_limit_the_run_ends_and_can_be_gone_on_with(tmp_path: Path) -> None:
    judge, script = judged()
    whole = await run_experiment(experiment(), judge=judge)
    script.asked.clear()
    limit = 0.26  # one question may cost 0.22 at most, and all together cost 0.07
    stopped = await run_experiment(experiment(), folder=tmp_path, judge=judge, max_cost_usd=limit, concurrency=2)
    assert 0 < (stopped.outlay.cost_usd or 0) <= limit
    assert 0 < stopped.measured < 6
    assert (stopped.stopped, stopped.pairs) == ("max_cost", 6)
    assert stopped.metrics[0].b.unscored_items == 0
    again = await run_experiment(experiment(), folder=tmp_path, judge=judge, max_cost_usd=limit)
    assert again.stopped == "max_cost"
    assert 0 < (again.outlay.cost_usd or 0) <= limit
    more = await run_experiment(experiment(), folder=tmp_path, judge=judge)
    assert (more.stopped, more.measured, len(script.asked)) == (None, 6, 24)
    assert more.outlay.cost_usd == pytest.approx(whole.outlay.cost_usd)


async def test_a_call_that_the_deadline_cut_off_counts_against_the_limit_of_later_runs_too(tmp_path: Path) -> None:
    judge, _ = judged({"quiz_clarity": [30.0], "preference": [30.0]})
    told: list[ExperimentProgress] = []
    await run_experiment(experiment(sources=1), folder=tmp_path, judge=judge, seconds=0.1, progress=told.append)
    judge, script = judged()
    later: list[ExperimentProgress] = []
    stopped = await run_experiment(
        experiment(sources=1), folder=tmp_path, judge=judge, progress=later.append, max_cost_usd=told[-1].cost_usd
    )
    assert later[0].cost_usd == pytest.approx(told[-1].cost_usd)
    assert told[-1].cost_usd > 0.4
    assert (stopped.stopped, script.asked) == ("max_cost", [])


async def test_a_reply_that_cannot_be_kept_ends_the_run_and_none_is_paid_for_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = experiment(sources=1)
    a, b = (
        Variant(name=one.name, items=(Item(id="i", source="s0", material=quiz(one.name, questions=500)),))
        for one in small.variants
    )

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def answered(asked: Asked) -> Line:
        monkeypatch.setattr(os, "write", full)
        return clarity(asked)

    judge, script = judged({"quiz_clarity": [answered]})
    with pytest.raises(StoreError, match="free some space"):
        await run_experiment(small.model_copy(update={"variants": (a, b)}), folder=tmp_path, judge=judge)
    await asyncio.sleep(0.05)
    assert len(script.asked) <= AT_ONCE


async def test_a_spent_day_ends_the_run_instead_of_failing_pair_by_pair_and_it_goes_on_the_next_day(
    tmp_path: Path,
) -> None:
    spent = [False]

    def until_spent(asked: Asked) -> Line:
        spent[0] = spent[0] or "A3 " in asked.user
        return DayQuotaError("The day is spent.") if spent[0] else clarity(asked)

    judge, script = judged({"quiz_clarity": [until_spent]})
    stopped = await run_experiment(experiment(), folder=tmp_path, judge=judge, concurrency=1)
    assert (stopped.stopped, stopped.measured) == ("day_quota", 3)
    assert len(script.asked) <= 16
    next_day, asked = judged()
    whole = await run_experiment(experiment(), folder=tmp_path, judge=next_day)
    assert (whole.stopped, whole.measured, whole.verdict) == (None, 6, "a_better")
    assert whole.outlay.calls == 24
    assert len(asked.asked) < 12 + 4


async def test_a_refused_key_is_raised_after_the_calls_under_way_and_not_once_for_every_pair(tmp_path: Path) -> None:
    judge, script = judged({"quiz_clarity": [UnavailableModelError("The key is refused.")]})
    with pytest.raises(UnavailableModelError, match="The key is refused"):
        await run_experiment(experiment(sources=50), folder=tmp_path, judge=judge)
    assert len(script.asked) <= 4 * 4
    assert list((tmp_path / "pairs").glob("*")) == []


async def test_a_cost_cannot_be_bounded_where_no_price_is_known() -> None:
    judge, script = judged(overrides=NO_PRICES)
    with pytest.raises(SettingsError, match="No price is known for openai's nameless"):
        await run_experiment(experiment(), judge=judge, max_cost_usd=1.0)
    assert script.asked == []
    told: list[ExperimentProgress] = []
    conclusion = await run_experiment(experiment(), judge=judge, progress=told.append)
    assert (conclusion.outlay.unpriced, conclusion.outlay.cost_usd, told[0].estimate.cost_usd) == (24, None, None)


@pytest.mark.usefixtures("no_keys")
async def test_without_a_key_only_metrics_that_need_no_judge_can_be_compared() -> None:
    with pytest.raises(SettingsError, match="without a key"):
        await run_experiment(experiment())
    conclusion = await run_experiment(experiment(metrics=("quiz_item_flaws",)))
    assert (conclusion.metrics[0].compared, conclusion.metrics[0].verdict) == (6, "no_difference_shown")
    assert (conclusion.preference.compared, conclusion.preference.unscored, conclusion.outlay.calls) == (0, 6, 0)


async def test_where_no_metric_needs_a_judge_nobody_is_asked_though_one_is_given(tmp_path: Path) -> None:
    judge, script = judged()
    told: list[ExperimentProgress] = []
    asked = experiment(metrics=("quiz_item_flaws",))
    conclusion = await run_experiment(asked, folder=tmp_path, judge=judge, progress=told.append)
    assert (told[0].estimate.calls, script.asked, conclusion.preference.asked) == ((0, 0), [], False)
    assert (await run_experiment(asked, folder=tmp_path)).metrics == conclusion.metrics


async def test_two_items_of_one_source_ask_for_its_topics_once() -> None:
    asked = experiment(sources=1, metrics=("quiz_coverage",))
    a, b = (
        Variant(name=one.name, items=(*one.items, Item(id="i9", source="s0", material=quiz(f"{one.name}9"))))
        for one in asked.variants
    )
    judge, script = judged()
    conclusion = await run_experiment(asked.model_copy(update={"variants": (a, b)}), judge=judge)
    assert Counter(one.prompt for one in script.asked) == {"topics": 1, "quiz_coverage": 4, "preference": 4}
    assert conclusion.metrics[0].compared == 2


async def test_a_second_run_in_the_same_folder_at_the_same_time_is_refused(tmp_path: Path) -> None:
    judge, _ = judged()
    inside: list[str] = []

    async def other() -> None:
        with pytest.raises(ConflictError, match="Another run is at work"):
            await run_experiment(experiment(), folder=tmp_path, judge=judge)
        inside.append("refused")

    others: list[asyncio.Task[None]] = []

    def look(progress: ExperimentProgress) -> None:
        if progress.done == 1:
            others.append(asyncio.create_task(other()))

    await run_experiment(experiment(), folder=tmp_path, judge=judge, progress=look, concurrency=1)
    await asyncio.gather(*others)
    assert inside == ["refused"]


async def test_nothing_runs_with_no_pair_at_a_time() -> None:
    with pytest.raises(InputError, match="At least one pair"):
        await run_experiment(experiment(), judge=judged()[0], concurrency=0)


def test_the_sample_is_what_it_says() -> None:
    asked = experiment(sources=2)
    assert [json.dumps(one.b.model_dump()).count(UNCLEAR) for one in asked.pairs if one.b] == [4, 4]
    assert asked.measured == METRICS
