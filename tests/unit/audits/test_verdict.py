"""Ratings: the table row by row, the computed options, and what no rating may depend on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.audit_cases import CASE, case
from touchstone.audits.sandbox.result import Outcome
from touchstone.audits.verdict import rate
from touchstone.errors import InputError

H, R = "holds", "refuted"
NOTHING = ("error", "vacuous", "timeout", "blocked")
ALL = [*CASE["options"][:3], {"label": "D", "text": "All of the above"}]


def outcomes(*each: str | None) -> dict[str, Outcome]:
    return {label: one for label, one in zip("ABCD", each, strict=False) if one is not None}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("proofs", "key", "rating", "selected"),
    [
        ((H, R, R), "A", "Valid", "A"),
        ((R, R, R), "D", "Valid", "D"),
        ((H, H, R), "A", "Ambiguous", None),
        ((H, H, R), "C", "Ambiguous", None),
        ((H, H, None), "C", "Ambiguous", None),
        ((R, H, R), "A", "Incorrect", "B"),
        ((R, H, "error"), "A", "Incorrect", "B"),
        ((H, R, R), "D", "Incorrect", "A"),
        ((R, R, R), "A", "Incorrect", "D"),
        ((R, None, "error"), "A", "Incorrect", None),
        ((H, R, None), "A", "Unproven", "A"),
        ((None, H, R), "A", "Unproven", "B"),
        ((None, None, None), "A", "Unproven", None),
        *(((H, R, nothing), "A", "Unproven", "A") for nothing in NOTHING),
        *(((R, R, nothing), "D", "Unproven", None) for nothing in NOTHING),
    ],
)
def test_a_case_is_rated_by_what_its_proofs_came_to(
    proofs: tuple[str | None, ...], key: str, rating: str, selected: str | None
) -> None:
    verdict = rate(case(ground_truth=key), outcomes(*proofs))
    assert (verdict.rating, verdict.selected_answer) == (rating, selected)
    assert bool(verdict.missing) == (rating == "Unproven")


@pytest.mark.parametrize(
    ("proofs", "key", "rating", "selected"),
    [
        ((H, H, H), "D", "Valid", "D"),
        ((H, H, H), "A", "Ambiguous", "D"),
        ((H, R, R), "A", "Valid", "A"),
        ((H, H, R), "D", "Ambiguous", None),
        ((H, R, R), "D", "Incorrect", "A"),
        ((H, H, None), "D", "Ambiguous", None),
    ],
)
def test_all_of_the_above_stands_for_the_others(
    proofs: tuple[str | None, ...], key: str, rating: str, selected: str | None
) -> None:
    verdict = rate(case(options=ALL, ground_truth=key), outcomes(*proofs))
    assert (verdict.rating, verdict.selected_answer) == (rating, selected)


def test_a_proof_of_a_catch_all_counts_for_nothing() -> None:
    assert rate(case(), outcomes(H, R, R, H)) == rate(case(), outcomes(H, R, R))


def test_what_is_missing_is_said_for_each_option_that_is_not_proved() -> None:
    assert rate(case(), outcomes(H, "vacuous")).missing == (
        "Option B is not proved either way: its script asks nothing of the target that decides its end.",
        "Option C is not proved either way: nothing was run for it.",
    )


def test_a_case_of_which_every_option_is_refuted_is_incorrect_as_after_an_api_was_removed() -> None:
    verdict = rate(case(options=CASE["options"][:3]), outcomes(R, R, R))
    assert (verdict.rating, verdict.selected_answer, verdict.missing) == ("Incorrect", None, ())


def test_an_outcome_of_an_unknown_option_is_refused() -> None:
    with pytest.raises(InputError, match="no option 'X'"):
        rate(case(), {"X": "holds"})


@given(st.lists(st.sampled_from([H, R, *NOTHING, None]), min_size=3, max_size=3), st.sampled_from("ABCD"))
def test_only_what_was_proved_is_called_valid_or_incorrect(proofs: list[str | None], key: str) -> None:
    verdict = rate(case(ground_truth=key), outcomes(*proofs))
    standing = {option.label: option.standing for option in verdict.options}
    if verdict.rating == "Valid":
        assert standing.pop(key) == H
        assert set(standing.values()) == {R}
    if verdict.rating == "Incorrect":
        assert standing[key] == R
