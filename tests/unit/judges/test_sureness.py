"""Why a verdict does not count: the figures in the sentence agree with the comparison that was made."""

import pytest

from touchstone.judges.sureness import SureFrom, check_confidence, why_unsure

BY_LABELS = SureFrom(confidence=0.95, labels=212, wanted=0.995, card="c" * 16, version="v" * 8)
NEVER = BY_LABELS.model_copy(update={"confidence": None})
SILENT_BELOW = NEVER.model_copy(update={"silent_below": 0.6})


@pytest.mark.parametrize(
    ("confidence", "by", "sentence"),
    [
        (0.6, None, "m is sure to 0.60; without labels of people 0.80 is asked of it"),
        (0.7999, None, "m is sure to 0.7999; without labels of people 0.8000 is asked of it"),
        (0.9499, BY_LABELS, "m is sure to 0.9499; by 212 labels people agree with 99.5% from 0.9500 on"),
        (0.948, BY_LABELS, "m is sure to 0.948; by 212 labels people agree with 99.5% from 0.950 on"),
        (0.99, NEVER, "by 212 labels people agree with fewer than 99.5% of the verdicts of m"),
        (0.5, SILENT_BELOW, "m is sure to 0.50; by 212 labels people agree too seldom below 0.60 (wanted: 99.5%)"),
        (0.7, SILENT_BELOW, "m is sure to 0.70; without labels of people 0.80 is asked of it"),
    ],
)
def test_a_confidence_that_is_too_low_is_not_rounded_up_to_the_one_that_is_asked(
    confidence: float, by: SureFrom | None, sentence: str
) -> None:
    assert check_confidence(confidence, by, least=0.8) == "unsure"
    assert why_unsure(confidence, by, "en", model="m") == sentence


@pytest.mark.parametrize(("confidence", "counts"), [(0.59, "unsure"), (0.6, "without_labels")])
def test_a_judge_that_labels_silence_below_a_confidence_is_heard_from_that_confidence_on(
    confidence: float, counts: str
) -> None:
    assert check_confidence(confidence, SILENT_BELOW) == counts
