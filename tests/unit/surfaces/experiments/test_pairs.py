"""One pair: the topics of its source serve both variants, and each failure is its own."""

from collections import Counter
from typing import Any

from tests.support.experiments import coverage, experiment, judged, topics
from tests.support.judges import Asked, Line
from touchstone.errors import OverloadedError, RefusedError
from touchstone.surfaces.experiments import PairResult, measure_pair
from touchstone.surfaces.names import MetricName
from touchstone.text.language import language_of

ALL: tuple[MetricName, ...] = ("quiz_coverage", "quiz_clarity", "quiz_item_flaws")


async def measured(lines: dict[str, list[Line]] | None = None, **settings: Any) -> tuple[PairResult, list[Asked]]:
    judge, script = judged(lines)
    asked = experiment(sources=1, metrics=ALL)
    return await measure_pair(asked.pairs[0], asked.terms, judge=judge, **settings), script.asked


async def test_the_topics_of_the_source_are_found_once_and_serve_both_variants() -> None:
    found, script = await measured()
    assert Counter(one.prompt for one in script) == {
        "topics": 1, "quiz_coverage": 2, "quiz_clarity": 2, "preference": 2,
    }  # fmt: skip
    assert found.a.results["quiz_coverage"].items[0].text == found.b.results["quiz_coverage"].items[0].text == "Osmosis"
    assert [spend.purpose for spend in found.spends] == ["topics"]
    assert Counter(spend.purpose for spend in found.all_spends()) == Counter(one.prompt for one in script)
    assert list(found.a.results) == list(found.b.results) == list(ALL)
    assert PairResult.model_validate_json(found.model_dump_json()) == found
    assert not found.unanswered


async def test_topics_that_nobody_found_leave_both_variants_unscored_there_and_the_rest_measured() -> None:
    found, script = await measured({"topics": [RefusedError("No.")]})
    assert Counter(one.prompt for one in script)["topics"] == 1
    for side in (found.a, found.b):
        assert side.results["quiz_coverage"].score is None
        assert [one.item for one in side.results["quiz_coverage"].unscored] == ["section 1"]
        assert side.results["quiz_clarity"].score is not None
    assert found.unanswered


async def test_one_variant_that_nobody_could_judge_leaves_the_other() -> None:
    def failing(asked: Asked) -> Line:
        return OverloadedError("503") if "B0 " in asked.user else coverage(asked)

    found, _ = await measured({"quiz_coverage": [failing], "topics": [topics]})
    assert (found.a.results["quiz_coverage"].score, found.b.results["quiz_coverage"].score) == (100.0, None)
    assert found.b.results["quiz_clarity"].score == 60.0
    assert found.unanswered


async def test_a_reply_that_broke_the_rules_twice_is_settled_and_not_asked_again() -> None:
    found, _ = await measured({"quiz_coverage": [{"concepts": []}]})
    assert found.a.results["quiz_coverage"].unscored[0].reason == "invalid_reply"
    assert not found.unanswered


async def test_without_a_judge_what_needs_none_is_measured() -> None:
    asked = experiment(sources=1, metrics=ALL)
    found = await measure_pair(asked.pairs[0], asked.terms, judge=None)
    assert list(found.a.results) == ["quiz_item_flaws"]
    assert {order.unscored for order in found.preference.orders} == {"not_asked"}
    assert (found.preference.verdict, found.unanswered, list(found.all_spends())) == (None, False, [])


async def test_the_language_of_the_source_is_that_of_both_variants_reasons() -> None:
    asked = experiment(sources=1, metrics=ALL)
    source = asked.sources[0].model_copy(update={"markdown": "渗透使水穿过薄膜，扩散可以移动任何物质。"})
    judge, script = judged({"topics": [{"topics": [{"topic": "渗透", "quote": "渗透使水穿过薄膜"}]}]})
    pair = asked.model_copy(update={"sources": (source,)}).pairs[0]
    found = await measure_pair(pair, asked.terms, judge=judge)
    assert found.language == "zh"
    assert all("陌生人" in one.system for one in script.asked)
    flaws = [item for side in (found.a, found.b) for item in side.results["quiz_item_flaws"].items]
    assert flaws
    assert {language_of(item.reason) for item in flaws} == {"zh"}


async def test_where_no_metric_needs_a_judge_none_is_asked_for_a_preference_either() -> None:
    asked = experiment(sources=1, metrics=("quiz_item_flaws",))
    judge, script = judged()
    found = await measure_pair(asked.pairs[0], asked.terms, judge=judge)
    assert (script.asked, found) == ([], await measure_pair(asked.pairs[0], asked.terms, judge=None))
    assert asked.terms.judged is False is not experiment().terms.judged
