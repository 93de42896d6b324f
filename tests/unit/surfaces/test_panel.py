"""Several judges of one metric: a majority of those wanted decides a class, of scores the median counts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced
from tests.support.scripted_adapters import FreeTicket
from touchstone.clock import Deadline
from touchstone.errors import InputError, OverloadedError, RefusedError, SettingsError, StoreError
from touchstone.judges import load_registry
from touchstone.judges.base import Admission, Call, Permit
from touchstone.judges.cache import MemoryCache
from touchstone.material import Pillar, Question, Quiz, Source, Summary
from touchstone.surfaces.catalogue import CATALOGUE, Material
from touchstone.surfaces.evaluation import evaluate_quiz, evaluate_summary
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import MetricName, MetricResult
from touchstone.surfaces.panel import measured_by_several, metric_judges

ORDER = tuple(name for name in load_registry(environ={}).providers if name in {"claude", "openai", "gemini"})
"""In which they are asked."""
OVERLOADED, REFUSED = OverloadedError("Overloaded."), RefusedError("Declined.")


def question(number: int) -> Question:
    return Question(
        id=f"q{number}", kind="single_choice", question_text=f"Which {number}?", choices=("A", "B"), answers=("A",)
    )


QUIZ = Quiz(questions=(question(1), question(2)))
TEXT = Summary(text="Osmosis moves water.")


def clarity(*labels: str) -> Line:
    return {
        "questions": [
            {
                "number": number,
                "reason": f"It is {label}.",
                "label": label,
                "suggestion": None if label == "CLEAR" else "Say more.",
            }
            for number, label in enumerate(labels, start=1)
        ]
    }


def coherence(*scores: int) -> Line:
    marks = [
        {"reason": f"It is a {score}.", "score": score, "suggestion": "Improve it." if score <= 3 else None}
        for score in scores
    ]
    return dict(zip(("organization", "flow", "completeness"), marks, strict=True))


def panel(prompt: str, *lines: Line, providers: Sequence[str] = ORDER, **more: Sequence[Line]) -> Script:
    """Judges of the three providers, each with its line."""
    own = {f"{name}/{prompt}": [line] for name, line in zip(ORDER, lines, strict=False)}
    return Script({**own, **more}, providers=providers)


async def measure(
    script: Script,
    metric: MetricName,
    wanted: int,
    *,
    material: Material = QUIZ,
    source: Source | None = None,
    cache: MemoryCache | None = None,
    admission: Admission | None = None,
) -> MetricResult:
    return await measured_by_several(
        CATALOGUE[metric],
        material,
        source,
        metric_judges(script.judges(cache=cache, admission=admission), wanted),
        measuring=lambda judge: Measuring(judge=judge, deadline=Deadline.after(30.0), language="en"),
    )


CLEAR, VAGUE, FAULTY = clarity("CLEAR", "CLEAR"), clarity("CLEAR", "AMBIGUOUS"), clarity("CLEAR", "ERROR")


@pytest.mark.parametrize(
    ("lines", "second"),
    [
        ([CLEAR, CLEAR], "CLEAR"),
        ([CLEAR, VAGUE, VAGUE], "AMBIGUOUS"),
        ([CLEAR, VAGUE], "split"),
        # The largest of three minorities is no majority.
        ([CLEAR, VAGUE, FAULTY], "split"),
        # Two of three are a majority, whatever became of the third.
        ([VAGUE, OVERLOADED, VAGUE], "AMBIGUOUS"),
        ([VAGUE, VAGUE, REFUSED], "AMBIGUOUS"),
        # The third could still decide it, and may at another try.
        ([CLEAR, VAGUE, OVERLOADED], "overloaded"),
        ([CLEAR, OVERLOADED], "overloaded"),
        # It never will.
        ([CLEAR, VAGUE, REFUSED], "split"),
        ([CLEAR, REFUSED], "refused"),
    ],
)
async def test_a_majority_of_the_judges_that_are_wanted_decides_each_item(lines: Sequence[Line], second: str) -> None:
    found = await measure(panel("quiz_clarity", *lines), "quiz_clarity", len(lines))
    said: Mapping[str, Any] = {one.item: one.label for one in found.items} | {
        one.item: one.reason for one in found.unscored
    }
    assert said["q2"] == second
    assert said["q1"] == ("CLEAR" if sum(isinstance(line, dict) for line in lines) * 2 > len(lines) else second)
    for one in found.all_items:
        assert [vote.provider for vote in one.votes] == list(ORDER[: len(lines)])
        assert [vote.label is None for vote in one.votes] == [not isinstance(line, dict) for line in lines]
    assert len(found.spends) == sum(isinstance(line, dict) for line in lines), "each is paid for"
    differ = len({str(each) for each in lines if isinstance(each, dict)}) > 1
    assert [one.item for one in found.all_items if one.split] == (["q2"] if differ else [])


async def test_a_split_item_has_no_number_and_says_who_said_what() -> None:
    found = await measure(panel("quiz_clarity", CLEAR, VAGUE), "quiz_clarity", 2)
    (kept,), (split,) = found.items, found.unscored
    assert (kept.item, found.score) == ("q1", 100.0)
    assert (split.item, split.reason, split.judge) == ("q2", "split", None)
    assert [vote.reason for vote in split.votes] == ["It is CLEAR.", "It is AMBIGUOUS."]
    (sentence,) = split.details
    assert sentence.startswith("The judges do not agree: ")
    assert "says CLEAR" in sentence
    assert "says AMBIGUOUS" in sentence
    whole = await measure(
        panel("quiz_clarity", clarity("CLEAR", "CLEAR"), clarity("ERROR", "ERROR")), "quiz_clarity", 2
    )
    assert (whole.score, whole.items) == (None, ())


async def test_the_words_are_those_of_the_first_judge_of_the_majority() -> None:
    found = await measure(panel("quiz_clarity", CLEAR, VAGUE, VAGUE), "quiz_clarity", 3)
    second = found.items[1]
    assert (second.reason, second.suggestion, second.value) == ("It is AMBIGUOUS.", "Say more.", 0.0)
    assert second.judge == second.votes[1].judge
    assert found.score == 50.0


@pytest.mark.parametrize(
    ("lines", "label", "value"),
    [
        ([coherence(5, 4, 3), coherence(1, 4, 3), coherence(4, 4, 3)], "4", 0.75),
        ([coherence(4, 4, 3), coherence(3, 4, 3)], "3.5", 0.625),
        # Whatever the third gives, the median stays; a refusal is final, so that two of three are enough.
        ([coherence(4, 4, 3), coherence(4, 4, 3), OVERLOADED], "4", 0.75),
        ([coherence(5, 4, 3), coherence(2, 4, 3), REFUSED], "3.5", 0.625),
        ([coherence(5, 4, 3), coherence(2, 4, 3), OVERLOADED], "overloaded", None),
        ([coherence(5, 4, 3), OVERLOADED], "overloaded", None),
        ([coherence(5, 4, 3), REFUSED], "refused", None),
    ],
)
async def test_of_scores_the_median_counts_with_the_range_in_the_votes(
    lines: Sequence[Line], label: str, value: float | None
) -> None:
    found = await measure(panel("summary_coherence", *lines), "summary_coherence", len(lines), material=TEXT)
    items = {one.item: one for one in found.items}
    if value is None:
        (lost,) = [one for one in found.unscored if one.item == "organization"]
        assert lost.reason == label
        return
    one = items["organization"]
    assert (one.label, one.value) == (label, value)
    assert [vote.value is None for vote in one.votes] == [not isinstance(line, dict) for line in lines]
    assert (one.judge is None) == ("." in label), "nobody gave what lies between two marks"
    assert (items["flow"].label, items["flow"].split) == ("4", False)


async def test_depths_of_concepts_have_a_median_too() -> None:
    def depth(number: int) -> Line:
        return {
            "concepts": [{"number": 1, "tested_by": [1], "reason": "So.", "depth": number, "suggestion": "Ask more."}]
        }

    source = Source(pillars=(Pillar(concept="Osmosis", chunks=("Osmosis moves water.",)),))
    script = panel("quiz_coverage", depth(1), depth(2))
    found = await measure(script, "quiz_coverage", 2, source=source)
    assert [(one.label, one.value) for one in found.items] == [("DEPTH_1.5", 0.5)]


async def test_all_judges_speak_of_the_claims_and_topics_that_the_first_one_found() -> None:
    def claims(*texts: str) -> Line:
        return {"sentences": [{"number": 1, "claims": [{"claim": text, "trivial": text == "Well."} for text in texts]}]}

    def supported(asked: Asked) -> Line:
        shown = [text for text in fenced(asked) if text.startswith("Water ")]
        return {
            "claims": [
                {"number": number, "quote": "moves", "reason": "So.", "label": "SUPPORTED"}
                for number in range(1, len(shown) + 1)
            ]
        }

    first = ORDER[0]
    script = Script(
        {
            f"{first}/claims": [claims("Water moves.", "Water flows.", "Well.")],
            "claims": [claims("Something else.")],
            "summary_faithfulness": [supported],
            f"{first}/topics": [{"topics": [{"topic": "Osmosis", "quote": "Osmosis"}]}],
            "summary_coverage": [
                {"topics": [{"number": 1, "quote": "Osmosis", "reason": "So.", "label": "COVERED", "suggestion": None}]}
            ],
        },
        providers=ORDER,
    )
    source = Source(markdown="Osmosis moves water.")
    found = await measure(script, "summary_faithfulness", 3, material=TEXT, source=source)
    assert [(one.text, one.label, len(one.votes)) for one in found.items] == [
        ("Water moves.", "SUPPORTED", 3),
        ("Water flows.", "SUPPORTED", 3),
        ("Well.", "TRIVIAL", 0),
    ]
    assert sorted(script.prompts()) == sorted([f"{first}/claims", *(f"{name}/summary_faithfulness" for name in ORDER)])
    assert len(found.spends) == 4, "what the first one found is paid once"
    covered = await measure(script, "summary_coverage", 3, material=TEXT, source=source)
    assert [(one.label, len(one.votes)) for one in covered.items] == [("COVERED", 3)]
    assert [spend.purpose for spend in covered.spends].count("topics") == 1


async def test_what_checks_decide_needs_no_votes() -> None:
    quiz = Quiz(questions=(question(1).model_copy(update={"answers": ()}),))
    script = Script({})
    found = await measure(script, "quiz_answer_correctness", 3, material=quiz)
    assert [(one.label, one.votes) for one in found.items] == [("ERROR", ())]
    assert script.asked == []


async def test_items_keep_their_order_where_one_judge_left_some_out() -> None:
    quiz = Quiz(questions=tuple(map(question, (1, 2, 3))))
    bad = {"number": 2, "reason": " ", "label": "CLEAR", "suggestion": None}
    whole = clarity("CLEAR", "CLEAR", "CLEAR")
    assert isinstance(whole, Mapping)
    holed: Line = {"questions": [whole["questions"][0], bad, whole["questions"][2]]}
    tail: Line = {"questions": [{**bad, "number": 1}, *whole["questions"][1:]]}
    found = await measure(panel("quiz_clarity", holed, tail, whole), "quiz_clarity", 3, material=quiz)
    assert [one.item for one in found.items] == ["q1", "q2", "q3"]


async def test_judges_that_answered_are_not_paid_again_at_another_try() -> None:
    cache, script = MemoryCache(), panel("quiz_clarity", CLEAR, OVERLOADED)
    first = await measure(script, "quiz_clarity", 2, cache=cache)
    script.lines = {**script.lines, f"{ORDER[1]}/quiz_clarity": [CLEAR]}
    second = await measure(script, "quiz_clarity", 2, cache=cache)
    assert {one.reason for one in first.unscored} == {"overloaded"}
    assert [spend.cached for spend in second.spends] == [True, False]
    assert second.score == 100.0


async def test_a_fault_of_the_table_is_the_failure_of_one_judge() -> None:
    class Refusing:
        async def admit(self, call: Call) -> Permit:
            if call.provider == ORDER[1]:
                raise StoreError("The table is throttled.")
            return FreeTicket()

    found = await measure(panel("quiz_clarity", CLEAR, CLEAR, CLEAR), "quiz_clarity", 3, admission=Refusing())
    assert found.score == 100.0
    assert [vote.unscored for vote in found.items[0].votes] == [None, "overloaded", None]
    assert "no quota could be reserved" in found.items[0].votes[1].because[0]


async def test_each_of_three_has_a_seat_and_an_empty_one_is_no_vote() -> None:
    two = ORDER[:2]
    found = await measure(panel("quiz_clarity", CLEAR, VAGUE, providers=two), "quiz_clarity", 3)
    assert (found.items[0].label, found.unscored[0].reason) == ("CLEAR", "split")
    assert [(vote.provider, vote.unscored) for vote in found.items[0].votes][2] == (None, "misconfigured")


async def test_the_library_asks_as_many_as_are_wanted_and_nobody_where_they_are_too_few() -> None:
    script = panel("quiz_clarity", CLEAR, VAGUE, VAGUE)
    judges = script.judges().several("strong", 3)
    report = await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judges, judges=3)
    assert report.scores == {"quiz_clarity": 50.0}
    assert len(script.asked) == 3
    with pytest.raises(SettingsError, match="2 judges of different providers are wanted, and only"):
        await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judges[0], judges=2)
    with pytest.raises(InputError, match="2 judges are given where 1 is wanted"):
        await evaluate_summary(TEXT, metrics=["summary_coherence"], judge=judges[:2])
    assert len(script.asked) == 3
