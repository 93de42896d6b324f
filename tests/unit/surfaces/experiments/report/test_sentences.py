"""The first sentence of a report, and what must be known beside it."""

from typing import Any

import pytest

from tests.support.experiment_reports import ALIKE, COMPARISON, NOTHING, conclusion, metric, preference
from touchstone.surfaces.experiments.report import headline, notes

A_BETTER: dict[str, Any] = {"difference": -12.34, "interval": (-19.4, -5.1), "verdict": "a_better"}
LOWEST: dict[str, Any] = {"detectable": 2.0, "verdict": "no_difference_shown"}
CASES: list[tuple[dict[str, Any], str]] = [
    (
        {},
        "“new” is better than “old”: quiz clarity by 12.3 points (95 % interval 5.1 to 19.4, adjusted p < 0.001). In 2 other respects no difference is shown.",  # noqa: E501
    ),
    (
        {"verdict": "a_better", "metrics": (metric(**A_BETTER, adjusted_p_value=0.012),)},
        "“old” is better than “new”: quiz clarity by 12.3 points (95 % interval 5.1 to 19.4, adjusted p = 0.012). In 1 other respect no difference is shown.",  # noqa: E501
    ),
    (
        {"verdict": "mixed", "metrics": (metric(**A_BETTER),), "preference": preference(**COMPARISON)},
        "Neither is better in everything: “old” is in quiz clarity by 12.3 points (95 % interval 5.1 to 19.4, adjusted p < 0.001); “new” is in the judge's preference by 12.3 points (95 % interval 5.1 to 19.4, adjusted p < 0.001).",  # noqa: E501
    ),
    (
        {"verdict": "no_difference_shown", "metrics": (metric(**ALIKE),), "preference": preference(**NOTHING)},
        "No difference is shown between “old” and “new”: one of 4.5 points in quiz clarity would have been found at least four times of five.",  # noqa: E501
    ),
    (
        {"verdict": "no_difference_shown", "metrics": (metric(**(ALIKE | LOWEST)),)},
        "No difference is shown between “old” and “new”: one of 2.0 points (quiz clarity) to 4.5 points (the judge's preference) would have been found at least four times of five.",  # noqa: E501
    ),
    (
        {
            "verdict": "no_difference_shown",
            "metrics": (metric(**(ALIKE | {"detectable": 121.1})),),
            "preference": preference(**NOTHING),
        },
        "No difference is shown between “old” and “new”: even one of 100 points, the whole scale, would have been found less than four times of five.",  # noqa: E501
    ),
    (
        {"verdict": "no_difference_shown", "metrics": (metric(**(ALIKE | {"detectable": 121.1})),)},
        "No difference is shown between “old” and “new”: one of 4.5 points (the judge's preference) would have been found at least four times of five, in quiz clarity not even one of 100 points.",  # noqa: E501
    ),
    (
        {
            "verdict": "no_difference_shown",
            "metrics": (metric(**(ALIKE | {"detectable": None})),),
            "preference": preference(**NOTHING),
        },
        "No difference is shown between “old” and “new”: how large one would have been found cannot be told, since the differences do not vary.",  # noqa: E501
    ),
    (
        {
            "verdict": "no_difference_shown",
            "metrics": (metric(**(ALIKE | {"difference": -50.0, "detectable": None, "sources_needed": 8})),),
            "preference": preference(**NOTHING),
        },
        "No difference is shown between “old” and “new”: how large one would have been found cannot be told, since the differences do not vary. With 2 more sources like these, the 50.0 points seen in quiz clarity would be shown four times of five.",  # noqa: E501
    ),
    (
        {"verdict": "not_compared", "metrics": (metric(**NOTHING),), "preference": preference(**NOTHING)},
        "“old” and “new” could not be compared: no pair has a score for both variants.",
    ),
    (
        {
            "verdict": "not_compared",
            "metrics": (metric(**NOTHING | {"compared": 3, "sources": 1}),),
            "preference": preference(**NOTHING),
        },
        "“old” and “new” could not be compared: an interval needs 5 sources, and there is 1 with scores of both.",
    ),
    (
        {
            "verdict": "not_compared",
            "metrics": (metric(**NOTHING | {"compared": 30, "sources": 8}),),
            "preference": preference(**NOTHING),
        },
        "“old” and “new” could not be compared: one source holds so many of the items that no interval has bounds.",
    ),
]


@pytest.mark.parametrize(("changes", "sentence"), CASES)
def test_the_first_sentence_says_which_is_better_by_how_much_and_how_sure(
    changes: dict[str, Any], sentence: str
) -> None:
    assert headline(conclusion(a="old", b="new", **changes)) == sentence


def test_whatever_limits_the_figures_is_noted() -> None:
    assert notes(conclusion(a="old", b="new")) == (
        "Only 20 of 24 pairs were measured because the next call could have cost more than was allowed; the figures speak for those alone.",  # noqa: E501
        "1 item could not be generated, and has no score.",
        "Quiz clarity has no score for 0 items of “old” and 2 items of “new”; their pairs are left out of it.",
        "Quiz item flaws has no score for 0 items of “old” and 2 items of “new”; their pairs are left out of it.",
        "Quiz coverage has no score for 0 items of “old” and 2 items of “new”; their pairs are left out of it.",
        "Quiz coverage was not compared: no pair has a score for both variants.",
        "2 pairs have no preference, for want of a verdict in one order or both.",
        "In 17 % of the pairs the judge's verdict did not survive the swap of the two; those are ties.",
        "1 call of unknown price is not in the cost.",
    )


def test_a_preference_that_rests_on_excerpts_is_said_to() -> None:
    sentence = "Of 3 pairs too long for one prompt the judge's preference rests on excerpts."
    assert sentence in notes(conclusion(preference=preference(excerpts=3)))


def test_nothing_is_noted_where_nothing_is_missing() -> None:
    whole = metric(b=metric().a)
    outlay = conclusion().outlay.model_copy(update={"unpriced": 0})
    clean = conclusion(
        metrics=(whole,), preference=preference(unscored=0, flipped=0), measured=24, failed=(), outlay=outlay
    )
    assert notes(clean) == ()
