"""Judges of one metric: who is sure enough decides; of several a majority, and of scores the median counts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced
from tests.support.scripted_adapters import FreeTicket
from touchstone.clock import Deadline
from touchstone.errors import InputError, OverloadedError, RefusedError, SettingsError, StoreError
from touchstone.judges import load_registry
from touchstone.judges.base import Admission, Call, Permit
from touchstone.judges.cache import MemoryCache
from touchstone.judges.caller import ATTEMPTS
from touchstone.judges.prompts import load_prompt
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds, SureFrom
from touchstone.material import Deck, Flashcard, Pillar, Question, Quiz, Source, Summary
from touchstone.surfaces.catalogue import CATALOGUE, Material
from touchstone.surfaces.evaluation import evaluate_quiz, evaluate_summary
from touchstone.surfaces.labelling import agreement_of, judged_item
from touchstone.surfaces.measurement import QuizMeasurementRequest, measured, new_measurement
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import apply_thresholds, measured_by_several, metric_judges

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
                "confidence": 0.9,
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
    wanted: Any,
    *,
    material: Material = QUIZ,
    source: Source | None = None,
    cache: MemoryCache | None = None,
    admission: Admission | None = None,
    sure: JudgeThresholds = NO_THRESHOLDS,
) -> MetricResult:
    return await measured_by_several(
        CATALOGUE[metric],
        material,
        source,
        metric_judges(script.judges(cache=cache, admission=admission), wanted),
        measuring=lambda judge: Measuring(judge=judge, deadline=Deadline.after(30.0), language="en"),
        thresholds=sure,
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
                {"number": number, "quote": "moves", "reason": "So.", "label": "SUPPORTED", "confidence": 0.9}
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
                {
                    "topics": [
                        {
                            "number": 1,
                            "quote": "Osmosis",
                            "reason": "So.",
                            "label": "COVERED",
                            "confidence": 0.9,
                            "suggestion": None,
                        }
                    ]
                }
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
    bad = {"number": 2, "reason": " ", "label": "CLEAR", "confidence": 0.9, "suggestion": None}
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
    judges = script.judges().distinct("strong", 3)
    report = await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judges, judges=3)
    assert report.scores == {"quiz_clarity": 50.0}
    assert len(script.asked) == 3
    with pytest.raises(SettingsError, match="2 judges of different providers are wanted, and only"):
        await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judges[0], judges=2)
    with pytest.raises(InputError, match="2 judges are given where 1 is wanted"):
        await evaluate_summary(TEXT, metrics=["summary_coherence"], judge=judges[:2])
    assert len(script.asked) == 3


def thresholds(metric: MetricName, **confidences: float | None) -> JudgeThresholds:
    """What labels ask of these providers' judges of a metric; None: they decide nothing."""
    version, judges = load_prompt("touchstone.surfaces", metric, "en").version, Script({}, providers=ORDER).judges()
    return {
        (f"{judges.get(name, 'strong').model}-answered", version): SureFrom(
            confidence=confidence, labels=212, wanted=0.95, card="c" * 16, version="v" * 8
        )
        for name, confidence in confidences.items()
    }


def sure(*said: tuple[str, float]) -> Line:
    """What a judge says of questions, and how sure it is of each."""
    reply = clarity(*(label for label, _ in said))
    assert isinstance(reply, Mapping)
    for entry, (_, confidence) in zip(reply["questions"], said, strict=True):
        entry["confidence"] = confidence
    return reply


FIRST, SECOND, THIRD = ORDER
ALL_SURE = dict.fromkeys(ORDER, 0.9)


def questions_in(asked: Asked) -> list[str]:
    return [text for text in fenced(asked) if text.startswith("Which ")]


async def test_without_labels_one_judge_decides_however_sure_it_is() -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 0.3), ("AMBIGUOUS", 0.9)), CLEAR)
    found = await measure(script, "quiz_clarity", 1)
    assert [(one.label, one.confidence, one.sure_from, one.votes) for one in found.items] == [
        ("CLEAR", 0.3, None, ()),
        ("AMBIGUOUS", 0.9, None, ()),
    ]
    assert (len(script.asked), found.score) == (1, 50.0)


async def test_at_its_threshold_a_judge_decides_alone_and_each_item_says_by_which() -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 0.9), ("CLEAR", 0.95)), VAGUE)
    found = await measure(script, "quiz_clarity", 1, sure=thresholds("quiz_clarity", **{FIRST: 0.9}))
    assert [one.sure_from and (one.sure_from.confidence, one.sure_from.labels) for one in found.items] == [
        (0.9, 212)
    ] * 2
    assert (len(script.asked), found.score) == (1, 100.0)


@pytest.mark.parametrize(
    ("second", "label", "score"),
    [
        (sure(("AMBIGUOUS", 0.95)), "AMBIGUOUS", 50.0),
        (sure(("CLEAR", 0.95)), "CLEAR", 100.0),
        # Nobody decides, though both say the same: that is neither right nor a zero.
        (sure(("CLEAR", 0.7)), "unsure", 100.0),
        (sure(("AMBIGUOUS", 0.7)), "unsure", 100.0),
        # No try changes that this one says nothing, and any other failure may pass.
        (REFUSED, "unsure", 100.0),
        (OVERLOADED, "overloaded", 100.0),
    ],
)
async def test_below_its_threshold_another_providers_judge_is_asked_about_those_items_alone(
    second: Line, label: str, score: float
) -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 0.95), ("CLEAR", 0.7)), second)
    found = await measure(script, "quiz_clarity", 1, sure=thresholds("quiz_clarity", **ALL_SURE))
    said = {one.item: one.label for one in found.items} | {one.item: one.reason for one in found.unscored}
    assert said == {"q1": "CLEAR", "q2": label}
    assert found.score == score
    assert [one.provider for one in script.asked if one.provider == FIRST] == [FIRST]
    assert {tuple(questions_in(one)) for one in script.asked if one.provider == SECOND} == {("Which 2?",)}
    assert {one.provider for one in script.asked} == {FIRST, SECOND}
    (doubtful,) = (one for one in found.all_items if one.item == "q2")
    assert [(vote.provider, vote.label is not None, vote.unsure) for vote in doubtful.votes] == [
        (FIRST, True, True),
        (SECOND, isinstance(second, Mapping), label == "unsure" and isinstance(second, Mapping)),
    ]
    assert not doubtful.split, "who is not sure enough has no vote"
    if isinstance(doubtful, UnscoredItem) and label == "unsure":
        (sentence,) = doubtful.details
        assert sentence.startswith("No judge is sure enough: claude-")
        assert "is sure to 0.70; by 212 labels people agree with 95% from 0.90 on" in sentence


async def test_where_there_is_no_other_judge_nobody_decides() -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 0.95), ("CLEAR", 0.7)), providers=(FIRST,))
    found = await measure(script, "quiz_clarity", 1, sure=thresholds("quiz_clarity", **ALL_SURE))
    assert ([one.item for one in found.items], [one.reason for one in found.unscored]) == (["q1"], ["unsure"])


async def test_a_judge_whose_labels_speak_against_it_decides_nothing() -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 1.0), ("CLEAR", 1.0)), sure(("CLEAR", 0.3), ("AMBIGUOUS", 0.3)))
    found = await measure(script, "quiz_clarity", 1, sure=thresholds("quiz_clarity", **{FIRST: None}))
    assert [one.label for one in found.items] == ["CLEAR", "AMBIGUOUS"]
    assert {one.judge and one.judge.model.split("-")[0] for one in found.items} == {"gpt"}


async def test_what_one_judge_did_not_answer_is_asked_of_no_other_and_may_be_tried_again() -> None:
    script = panel("quiz_clarity", OVERLOADED, CLEAR)
    found = await measure(script, "quiz_clarity", 1, sure=thresholds("quiz_clarity", **ALL_SURE))
    assert {one.reason for one in found.unscored} == {"overloaded"}
    assert {one.provider for one in script.asked} == {FIRST}
    assert [one.votes for one in found.unscored] == [(), ()]


async def test_another_try_pays_neither_judge_twice() -> None:
    cache = MemoryCache()
    script = Script(
        {
            f"{FIRST}/quiz_clarity": [sure(("CLEAR", 0.95), ("CLEAR", 0.7))],
            f"{SECOND}/quiz_clarity": [*[OVERLOADED] * ATTEMPTS, sure(("CLEAR", 0.95))],
        },
        providers=ORDER,
    )
    held = thresholds("quiz_clarity", **ALL_SURE)
    first = await measure(script, "quiz_clarity", 1, cache=cache, sure=held)
    again = await measure(script, "quiz_clarity", 1, cache=cache, sure=held)
    assert ([one.reason for one in first.unscored], again.score) == (["overloaded"], 100.0)
    assert [spend.cached for spend in again.spends] == [True, False]


async def test_quota_and_money_are_reserved_for_the_next_judge_and_a_fault_of_the_table_is_its_failure() -> None:
    class Refusing:
        admitted: ClassVar[list[str]] = []

        async def admit(self, call: Call) -> Permit:
            self.admitted.append(call.provider)
            if call.provider == SECOND:
                raise StoreError("The table is throttled.")
            return FreeTicket()

    script = panel("quiz_clarity", sure(("CLEAR", 0.95), ("CLEAR", 0.7)), CLEAR)
    held = thresholds("quiz_clarity", **ALL_SURE)
    found = await measure(script, "quiz_clarity", 1, admission=Refusing(), sure=held)
    assert Refusing.admitted == [FIRST, SECOND]
    assert ([one.item for one in found.items], [one.reason for one in found.unscored]) == (["q1"], ["overloaded"])


@pytest.mark.parametrize(
    ("lines", "labels", "asked"),
    [
        ([sure(("CLEAR", 0.8), ("CLEAR", 0.9))], ["CLEAR", "CLEAR"], [2]),
        ([sure(("CLEAR", 0.9), ("CLEAR", 0.7)), sure(("AMBIGUOUS", 0.9))], ["CLEAR", "AMBIGUOUS"], [2, 1]),
        (
            [sure(("CLEAR", 0.7), ("CLEAR", 0.7)), sure(("CLEAR", 0.9), ("CLEAR", 0.7)), sure(("ERROR", 0.9))],
            ["CLEAR", "ERROR"],
            [2, 2, 1],
        ),
        # One that fails is passed over as one that is not sure is.
        ([OVERLOADED, sure(("CLEAR", 0.9), ("CLEAR", 0.9))], ["CLEAR", "CLEAR"], [2, 2]),
        ([REFUSED, sure(("CLEAR", 0.9), ("CLEAR", 0.7)), REFUSED], ["CLEAR", "unsure"], [2, 2, 1]),
        # Whoever failed for a time may be sure of it at another try.
        ([sure(("CLEAR", 0.9), ("CLEAR", 0.7)), OVERLOADED, sure(("CLEAR", 0.7))], ["CLEAR", "overloaded"], [2, 1, 1]),
        ([REFUSED, REFUSED, REFUSED], ["refused", "refused"], [2, 2, 2]),
    ],
)
async def test_until_sure_asks_one_after_the_other_and_without_labels_0_8_is_asked(
    lines: Sequence[Line], labels: list[str], asked: list[int]
) -> None:
    script = panel("quiz_clarity", *lines)
    found = await measure(script, "quiz_clarity", "until_sure")
    said = {one.item: one.label for one in found.items} | {one.item: one.reason for one in found.unscored}
    assert [said["q1"], said["q2"]] == labels
    shown = {one.provider: len(questions_in(one)) for one in script.asked}
    assert list(shown.items()) == list(zip(ORDER, asked, strict=False))


async def test_of_numbers_nobody_is_sure_so_that_the_first_judge_decides() -> None:
    script = panel("summary_coherence", coherence(4, 4, 3), coherence(1, 1, 1))
    found = await measure(script, "summary_coherence", "until_sure", material=TEXT)
    assert [(one.label, one.confidence, one.votes) for one in found.items] == [
        ("4", None, ()),
        ("4", None, ()),
        ("3", None, ()),
    ]
    assert len(script.asked) == 1
    script = panel("summary_coherence", OVERLOADED, coherence(1, 1, 1))
    found = await measure(script, "summary_coherence", "until_sure", material=TEXT)
    assert {one.reason for one in found.unscored} == {"overloaded"}
    assert {one.provider for one in script.asked} == {FIRST}, "no score is of two judges"


async def test_of_several_judges_one_that_is_not_sure_enough_has_no_vote() -> None:
    held = thresholds("quiz_clarity", **{FIRST: 0.9})
    doubtful, vague = sure(("CLEAR", 0.95), ("CLEAR", 0.7)), sure(("CLEAR", 0.95), ("AMBIGUOUS", 0.95))
    three = await measure(panel("quiz_clarity", doubtful, vague, vague), "quiz_clarity", 3, sure=held)
    assert [one.label for one in three.items] == ["CLEAR", "AMBIGUOUS"]
    assert [one.split for one in three.items] == [False, False]
    two = await measure(panel("quiz_clarity", doubtful, vague), "quiz_clarity", 2, sure=held)
    assert [(one.item, one.reason) for one in two.unscored] == [("q2", "unsure")]
    split = await measure(panel("quiz_clarity", doubtful, CLEAR, vague), "quiz_clarity", 3, sure=held)
    assert [(one.item, one.reason) for one in split.unscored] == [("q2", "split")]


async def test_the_next_judge_sees_the_claims_topics_cards_and_choices_in_question_alone() -> None:
    def graded(name: str, confidences: Mapping[str, float], **entry: Any) -> Any:
        """A reply on all texts that are shown of those named, each with its confidence."""

        def reply(asked: Asked) -> Line:
            shown = [text for text in fenced(asked) if text in confidences]
            return {
                name: [
                    {"number": number, "reason": "So.", "confidence": confidences[text], **entry}
                    for number, text in enumerate(shown, start=1)
                ]
            }

        return reply

    def script(metric: str, name: str, entry: dict[str, Any], *texts: str, **more: Sequence[Line]) -> Script:
        unsure = dict(zip(texts, (0.95, 0.6), strict=True))
        first, second = graded(name, unsure, **entry), graded(name, dict.fromkeys(texts, 0.95), **entry)
        return Script({f"{FIRST}/{metric}": [first], f"{SECOND}/{metric}": [second], **more}, providers=ORDER)

    source = Source(pillars=(Pillar(concept="Water", chunks=("x",)), Pillar(concept="Salt", chunks=("y",))))
    covered = {"quote": "Osmosis", "label": "COVERED", "suggestion": None}
    claims: Line = {
        "sentences": [
            {"number": 1, "claims": [{"claim": text, "trivial": False} for text in ("It moves.", "It flows.")]}
        ]
    }
    supported = {"quote": "Osmosis", "label": "SUPPORTED"}
    cards = Deck(cards=(Flashcard(id="c1", front="One?", back="1"), Flashcard(id="c2", front="Two?", back="2")))
    quiz = Quiz(questions=(question(1), question(2).model_copy(update={"choices": ("A", "C"), "answers": ("A",)})))
    given: list[tuple[MetricName, Material, Source | None, Script, str]] = [
        ("summary_coverage", TEXT, source, script("summary_coverage", "topics", covered, "Water", "Salt"), "2"),
        (
            "summary_faithfulness",
            TEXT,
            Source(markdown="Osmosis moves water."),
            script("summary_faithfulness", "claims", supported, "It moves.", "It flows.", claims=[claims]),
            "2",
        ),
        (
            "flashcard_clarity",
            cards,
            None,
            script("flashcard_clarity", "cards", {"label": "CLEAR", "suggestion": None}, "One?", "Two?"),
            "c2",
        ),
        (
            "quiz_distractor_quality",
            quiz,
            None,
            script("quiz_distractor_quality", "distractors", {"label": "PLAUSIBLE", "suggestion": None}, "B", "C"),
            "q2#2",
        ),
    ]
    for metric, material, wanted, asked, item in given:
        found = await measure(asked, metric, 1, material=material, source=wanted, sure=thresholds(metric, **ALL_SURE))
        assert found.score == 100.0, metric
        assert [one.item for one in found.items if one.votes] == [item]
        assert len(found.items) == 2
        of_second = [one for one in asked.asked if one.provider == SECOND]
        assert len(of_second) == 1, metric
        texts = {"Water", "Salt", "It moves.", "It flows.", "One?", "Two?", "B", "C"} & set(fenced(of_second[0]))
        assert len(texts) == 1, metric


async def test_the_next_judge_of_sentences_sees_the_whole_summary_and_decides_the_doubtful_alone() -> None:
    summary = Summary(text="Osmosis moves water. It is so. It matters.")

    def said(*confidences: float, label: str = "INFORMATIVE") -> Line:
        marked = {"quote": "It", "reason": "So.", "repeats": None} if label == "FILLER" else {}
        entry = {"quote": None, "reason": None, "repeats": None, "label": "INFORMATIVE"}
        return {
            "sentences": [
                {"number": number, **entry, "confidence": confidence}
                | ({"label": label, **marked} if number > 1 else {})
                for number, confidence in enumerate(confidences, start=1)
            ]
        }

    script = panel("summary_information_density", said(0.95, 0.95, 0.6), said(0.95, 0.95, 0.95, label="FILLER"))
    held = thresholds("summary_information_density", **ALL_SURE)
    found = await measure(script, "summary_information_density", 1, material=summary, sure=held)
    assert [one.label for one in found.items] == ["INFORMATIVE", "INFORMATIVE", "FILLER"]
    assert [len(one.votes) for one in found.items] == [0, 0, 2], "nobody's word was asked for on the others"


async def test_a_label_counts_for_each_judge_by_how_sure_it_was_and_alpha_for_none_asked_in_turn() -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 0.95), ("CLEAR", 0.7)), sure(("AMBIGUOUS", 0.95)))
    found = await measure(script, "quiz_clarity", 1, sure=thresholds("quiz_clarity", **ALL_SURE))
    request = QuizMeasurementRequest(surface="quiz", material=QUIZ, metrics=("quiz_clarity",))
    begun = new_measurement(request, tenant="acme", measurement_id="m", now=datetime(2026, 11, 26, tzinfo=UTC))
    over = measured(begun, found, now=begun.created_at)
    judged = judged_item(over, "quiz_clarity", "q2")
    assert (judged.verdict, judged.judge) == ("AMBIGUOUS", None)
    assert [(vote.verdict, vote.confidence) for vote in judged.votes] == [("CLEAR", 0.7), ("AMBIGUOUS", 0.95)]
    assert (judged_item(over, "quiz_clarity", "q1").confidence, list(agreement_of(over))) == (0.95, [])


async def test_what_one_judge_said_is_held_against_its_labels_alone() -> None:
    found = await measure(panel("quiz_clarity", sure(("CLEAR", 0.95), ("AMBIGUOUS", 0.7))), "quiz_clarity", 1)
    held = apply_thresholds(found, thresholds("quiz_clarity", **ALL_SURE), "en")
    assert ([one.item for one in held.items], [one.reason for one in held.unscored]) == (["q1"], ["unsure"])
    assert (found.score, held.score, held.spends) == (50.0, 100.0, found.spends)
    assert apply_thresholds(found, NO_THRESHOLDS, "en") is found


async def test_the_library_asks_until_one_is_sure() -> None:
    script = panel("quiz_clarity", sure(("CLEAR", 0.9), ("CLEAR", 0.7)), sure(("AMBIGUOUS", 0.9)))
    judges = script.judges().distinct("strong", 3)
    report = await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judges, judges="until_sure")
    assert report.scores == {"quiz_clarity": 50.0}
    assert [one.provider for one in script.asked] == [FIRST, SECOND]
    alone = await evaluate_quiz(QUIZ, metrics=["quiz_clarity"], judge=judges[0], judges="until_sure")
    assert [one.reason for one in alone.results["quiz_clarity"].unscored] == ["unsure"]
