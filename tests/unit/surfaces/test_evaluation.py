"""All metrics of a surface side by side: what is measured, what is left out and why, and who is asked."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import pytest

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import DISTRACTORS, fenced
from touchstone.errors import InputError, OverloadedError, SettingsError
from touchstone.judges.registry import load_registry
from touchstone.material import Deck, Flashcard, Pillar, Question, Quiz, Source, Summary
from touchstone.surfaces import evaluation
from touchstone.surfaces.evaluation import Report, evaluate_flashcards, evaluate_quiz, evaluate_summary
from touchstone.surfaces.names import MetricName

SOURCE = Source(pillars=(Pillar(concept="Osmosis", chunks=("Osmosis moves water through a membrane.",)),))
QUOTE = "Osmosis moves water"
QUIZ = Quiz(
    questions=(
        Question(
            id="q1",
            kind="single_choice",
            question_text="What does osmosis move?",
            choices=("Salt", "Water", "Sugar"),
            answers=("Water",),
        ),
    )
)
SUMMARY = Summary(text="Osmosis moves water.")
DECK = Deck(cards=(Flashcard(id="c1", front="What does osmosis move?", back="Water"),))


def listed(field: str, **entry: Any) -> Line:
    return {field: [{"number": 1} | entry]}


def answers(asked: Asked) -> Line:
    """The three choices of the question stand last."""
    return {
        "answers": [
            {
                "number": number,
                "evidence": None,
                "reason": "So.",
                "verdict": "RIGHT" if text == "Water" else "WRONG",
                "confidence": 0.9,
            }
            for number, text in enumerate(fenced(asked)[-3:], start=1)
        ]
    }


MARK = {"reason": "So.", "score": 5, "suggestion": None}
LINES: Mapping[str, list[Line]] = {
    "quiz_answer_correctness": [answers],
    "quiz_distractor_quality": [DISTRACTORS],
    "quiz_coverage": [listed("concepts", tested_by=[1], reason="So.", depth=3, suggestion=None)],
    "quiz_clarity": [listed("questions", reason="So.", label="CLEAR", confidence=0.9, suggestion=None)],
    "claims": [listed("sentences", claims=[{"claim": "Osmosis moves water.", "trivial": False}])],
    "summary_faithfulness": [listed("claims", quote=QUOTE, reason="So.", label="SUPPORTED", confidence=0.9)],
    "summary_coverage": [listed("topics", quote=QUOTE, reason="So.", label="COVERED", confidence=0.9, suggestion=None)],
    "summary_coherence": [{"organization": MARK, "flow": MARK, "completeness": MARK}],
    "summary_information_density": [
        listed("sentences", label="INFORMATIVE", confidence=0.9, quote=None, repeats=None, reason=None)
    ],
    "flashcard_answer_correctness": [
        listed("cards", quote=QUOTE, reason="So.", label="CORRECT", confidence=0.9, suggestion=None)
    ],
    "flashcard_atomicity": [
        listed("cards", facts=["water"], reason="So.", label="ATOMIC", confidence=0.9, suggestion=None)
    ],
    "flashcard_clarity": [listed("cards", reason="So.", label="CLEAR", confidence=0.9, suggestion=None)],
    "flashcard_coverage": [listed("concepts", tested_by=[1], reason="So.", depth=3, suggestion=None)],
}  # fmt: skip
type Evaluate = Callable[..., Any]
ALL: list[tuple[Evaluate, Any, str, int]] = [
    (evaluate_quiz, QUIZ, "quiz", 5),
    (evaluate_summary, SUMMARY, "summary", 4),
    (evaluate_flashcards, DECK, "flashcards", 6),
]


def judge(script: Script) -> Any:
    return script.judges().get("openai", "strong")


@pytest.mark.parametrize(("evaluate", "material", "surface", "metrics"), ALL, ids=[one[2] for one in ALL])
async def test_all_metrics_of_a_surface_are_measured(
    evaluate: Evaluate, material: Any, surface: str, metrics: int
) -> None:
    script = Script(LINES)
    report: Report = await evaluate(material, SOURCE, judge=judge(script))
    assert (report.surface, len(report.results), report.left_out) == (surface, metrics, {})
    assert set(report.scores.values()) == {100.0}, report.scores
    assert report.tokens == 1100 * len(script.asked) == 1100 * len(report.spends)
    assert report.cost_usd == pytest.approx(sum(spend.cost_usd or 0.0 for spend in report.spends))
    assert report.cost_usd
    assert Report.model_validate_json(report.model_dump_json()) == report


async def test_only_the_metrics_named_are_measured_in_the_catalogues_order() -> None:
    script = Script(LINES)
    names: list[MetricName] = ["quiz_item_flaws", "quiz_clarity", "quiz_clarity"]
    report = await evaluate_quiz(QUIZ, metrics=names, judge=judge(script))
    assert list(report.results) == ["quiz_clarity", "quiz_item_flaws"]
    assert [asked.prompt for asked in script.asked] == ["quiz_clarity"]


@pytest.mark.parametrize(
    ("evaluate", "material", "missing"),
    [
        (evaluate_quiz, QUIZ, ["quiz_coverage"]),
        (evaluate_summary, SUMMARY, ["summary_faithfulness", "summary_coverage"]),
        (evaluate_flashcards, DECK, ["flashcard_answer_correctness", "flashcard_coverage"]),
    ],
)
async def test_a_metric_that_needs_a_source_and_has_none_is_left_out_and_named(
    evaluate: Evaluate, material: Any, missing: list[str]
) -> None:
    report: Report = await evaluate(material, judge=judge(Script(LINES)))
    assert report.left_out == dict.fromkeys(missing, "no_source")
    assert set(report.scores.values()) == {100.0}
    named: Report = await evaluate(material, metrics=missing)
    assert (named.results, named.left_out) == ({}, dict.fromkeys(missing, "no_source"))


async def test_cards_with_passages_of_their_own_need_no_source_to_be_checked() -> None:
    card = DECK.cards[0].model_copy(update={"chunk": "Osmosis moves water."})
    report = await evaluate_flashcards(Deck(cards=(card,)), judge=judge(Script(LINES)))
    assert report.scores["flashcard_answer_correctness"] == 100.0
    assert report.left_out == {"flashcard_coverage": "no_source"}


@pytest.mark.usefixtures("no_keys")
async def test_without_a_key_what_needs_no_judge_is_measured_and_the_rest_is_named() -> None:
    quiz = await evaluate_quiz(QUIZ, SOURCE)
    assert quiz.scores == {"quiz_item_flaws": 100.0}
    assert set(quiz.left_out.values()) == {"no_judge"}
    deck = await evaluate_flashcards(DECK)
    assert deck.scores == {"flashcard_duplication": 100.0, "flashcard_answer_leakage": 100.0}
    assert deck.left_out == {
        "flashcard_answer_correctness": "no_source",
        "flashcard_atomicity": "no_judge",
        "flashcard_clarity": "no_judge",
        "flashcard_coverage": "no_source",
    }


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize(
    ("evaluate", "material", "metrics"),
    [(evaluate_summary, SUMMARY, None), (evaluate_quiz, QUIZ, ["quiz_clarity", "quiz_item_flaws"])],
    ids=["nothing would be left", "it was asked for by name"],
)
async def test_without_a_key_a_judge_that_cannot_be_done_without_is_told_of(
    evaluate: Evaluate, material: Any, metrics: list[str] | None
) -> None:
    with pytest.raises(SettingsError, match="GEMINI_API_KEY"):
        await evaluate(material, metrics=metrics)


@pytest.mark.usefixtures("no_keys")
async def test_a_judge_is_opened_from_the_environment_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(LINES, providers=["openai"])
    opened = []

    def judges(*_: Any) -> Any:
        opened.append(script.judges())
        return opened[-1]

    closed: list[object] = []

    async def close(adapter: object) -> None:
        closed.append(adapter)

    monkeypatch.setattr(evaluation, "Judges", judges)
    monkeypatch.setattr("tests.support.judges._Adapter.aclose", close)
    report = await evaluate_summary(SUMMARY, SOURCE)
    assert set(report.scores.values()) == {100.0}
    assert {asked.model for asked in script.asked} == {load_registry(environ={}).model("openai", "strong").name}
    assert (len(opened), len(closed)) == (1, 1)


@pytest.mark.parametrize("evaluate", [evaluate_quiz, evaluate_summary, evaluate_flashcards])
@pytest.mark.parametrize(
    ("wrong", "where"), [({"judge": 3}, "judge"), ({"judge": "gemini"}, "judge"), ({"seconds": "x"}, "seconds")]
)
async def test_a_judge_or_seconds_of_another_kind_are_refused(
    evaluate: Evaluate, wrong: dict[str, Any], where: str
) -> None:
    material = {evaluate_quiz: QUIZ, evaluate_summary: SUMMARY}.get(evaluate, DECK)
    with pytest.raises(InputError) as refused:
        await evaluate(material, SOURCE, **wrong)
    assert refused.value.where == where


@pytest.mark.parametrize("metrics", [[], ["summary_coherence"], ["nonsense"]])
async def test_metrics_that_are_none_of_the_surface_are_refused(metrics: Any) -> None:
    with pytest.raises(InputError) as refused:
        await evaluate_quiz(QUIZ, metrics=metrics)
    assert refused.value.where == "metrics"


async def test_metrics_that_are_named_one_by_one_are_measured() -> None:
    names: Any = (name for name in ["quiz_item_flaws"])
    assert list((await evaluate_quiz(QUIZ, metrics=names)).results) == ["quiz_item_flaws"]


@pytest.mark.parametrize(
    ("evaluate", "material", "language"),
    [
        (evaluate_summary, Summary(text="水通过渗透移动。"), "zh"),
        (evaluate_quiz, Quiz(questions=(QUIZ.questions[0].model_copy(update={"question_text": "什么移动？"}),)), "zh"),
        (evaluate_flashcards, Deck(cards=(Flashcard(id="c1", front="什么移动？", back="水"),)), "zh"),
        (evaluate_summary, SUMMARY, "en"),
    ],
)
async def test_the_judge_is_asked_in_the_language_of_the_material_unless_told_otherwise(
    evaluate: Evaluate, material: Any, language: str
) -> None:
    script = Script(LINES)
    report: Report = await evaluate(material, judge=judge(script))
    assert report.language == language
    assert {"只回复一个 JSON 对象" in asked.system for asked in script.asked} == {language == "zh"}
    told: Report = await evaluate(material, judge=judge(Script(LINES)), language="en")
    assert told.language == "en"


@pytest.mark.parametrize(
    ("wanted", "reason"), [(None, "There are only 2"), ("en", "There are only 2"), ("zh", "只有 2")]
)
async def test_reasons_without_a_judge_are_in_the_language_of_the_report_whatever_a_question_quotes(
    wanted: Any, reason: str
) -> None:
    texts = ("What does 學習 mean?", "Which verb means “to learn”?", "「學習」是什麼意思？")
    quiz = Quiz(
        questions=tuple(
            Question(id=text, kind="single_choice", question_text=text, choices=("Learn", "Run"), answers=("Learn",))
            for text in texts
        )
    )
    report = await evaluate_quiz(quiz, metrics=("quiz_item_flaws",), language=wanted)
    assert report.language == (wanted or "en")
    few = [one for one in report.results["quiz_item_flaws"].items if one.label == "TOO_FEW_OPTIONS"]
    assert [one.reason.startswith(reason) for one in few] == [True] * 3


async def test_a_judge_that_fails_on_one_metric_leaves_the_others() -> None:
    lines: dict[str, list[Line]] = {**LINES, "summary_coherence": [OverloadedError("503")]}
    report = await evaluate_summary(SUMMARY, SOURCE, judge=judge(Script(lines)))
    assert report.scores == {
        "summary_faithfulness": 100.0,
        "summary_coverage": 100.0,
        "summary_coherence": None,
        "summary_information_density": 100.0,
    }


async def test_what_is_not_answered_in_time_is_unscored() -> None:
    lines: dict[str, list[Line]] = {**LINES, "summary_coherence": [60.0]}
    report = await evaluate_summary(SUMMARY, judge=judge(Script(lines)), seconds=0.3)
    assert report.scores == {"summary_coherence": None, "summary_information_density": 100.0}
    assert {one.reason for one in report.results["summary_coherence"].unscored} == {"timed_out"}


BAD: tuple[Any, ...] = (1e9, -1, 7, "0.9", "", "Salt moves osmosis", None, True, [], {}, [1, 1], "SUPPORTED", "ERROR")


def _spoilt(value: Any) -> Iterator[Any]:
    """A reply with one of its parts replaced by what has no business there, in all ways, or left out."""
    yield from BAD
    match value:
        case dict():
            for key, part in value.items():
                yield from ({**value, key: bad} for bad in _spoilt(part))
                yield {name: each for name, each in value.items() if name != key}
            yield {**value, "verdict_of_mine": 100}
        case [first, *others]:
            yield from ([bad, *others] for bad in _spoilt(first))
            yield [first, first, *others]


@pytest.mark.parametrize("prompt", [name for name in LINES if name != "quiz_answer_correctness"])
async def test_a5_whatever_a_judge_replies_a_score_is_of_items_that_obey_the_rules_or_there_is_none(
    prompt: str,
) -> None:
    metric = cast("MetricName", "summary_faithfulness" if prompt == "claims" else prompt)
    evaluate: Evaluate
    evaluate, material, *_ = next(row for row in ALL if metric.startswith(row[2].removesuffix("s")))
    texts = SOURCE.text + SUMMARY.text
    scores = set()
    for reply in _spoilt(LINES[prompt][0]):
        line = json.dumps(reply)
        report: Report = await evaluate(
            material, SOURCE, metrics=[metric], judge=judge(Script({**LINES, prompt: [line]}))
        )
        found = report.results[metric]
        assert found.score is None or 0.0 <= found.score <= 100.0
        assert found.items or found.unscored
        assert all(item.evidence is None or item.evidence in texts for item in found.items)
        assert (found.score is None) == (not any(item.weight for item in found.items))
        scores.add(found.score)
    assert None in scores
