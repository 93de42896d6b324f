"""What is asked of the scores: how it is written, and what is refused."""

import pytest

from touchstone.cli.terminal.bars import Bars, MetricOutcome, bars_of, exit_of
from touchstone.errors import InputError


def test_metrics_may_be_named_with_or_without_their_surface() -> None:
    bars = bars_of("flashcards", metrics="clarity, flashcard_atomicity", fail_under=["80", "clarity=90.5"])
    assert bars.metrics == ("flashcard_atomicity", "flashcard_clarity")
    assert (bars.of("flashcard_clarity"), bars.of("flashcard_atomicity")) == (90.5, 80.0)


@pytest.mark.parametrize(
    ("metrics", "fail_under", "words"),
    [
        ("clarity,nonsense", [], "nonsense is no metric of quiz; they are quiz_answer_correctness,"),
        ("", [], "An empty name is no metric of quiz"),
        ("summary_coherence", [], "summary_coherence is no metric of quiz"),
        (None, ["80", "90"], "two scores for every metric"),
        (None, ["clarity=80", "quiz_clarity=90"], "two scores for quiz_clarity"),
        (None, ["clarity=high"], "high is no score"),
        (None, ["101"], "101 is no score"),
        (None, ["nan"], "nan is no score"),
        (None, ["-1"], "-1 is no score"),
        (None, ["clarity="], "Nothing is no score"),
        ("item_flaws", ["clarity=80"], "quiz_clarity has a score to reach and is not to be measured"),
    ],
)
def test_what_is_wrong_is_one_sentence(metrics: str | None, fail_under: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        bars_of("quiz", metrics=metrics, fail_under=fail_under)


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        (["scored", "skipped"], 0),
        (["passed", "skipped"], 0),
        (["passed", "failed", "unscored"], 1),
        (["passed", "unscored"], 3),
        (["skipped"], 3),
        ([], 3),
    ],
)
def test_nothing_passes_by_not_being_judged(kinds: list[str], code: int) -> None:
    assert exit_of([MetricOutcome(kind=kind, sentence="") for kind in kinds]) == code  # type: ignore[arg-type]


def test_no_bar_is_no_bar() -> None:
    assert Bars().of("quiz_clarity") is None
