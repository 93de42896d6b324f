"""A line of a batch that cannot be taken: all that is wrong with it is told at once, and never at any length."""

import json

import pytest

from touchstone.errors import InputError
from touchstone.operations.batches.lines import MAX_PLACE_CHARS, MOST_FAULTS, parse_line

EXTRA = "is no field here: leave it out or mend its name"
MISSING = "is missing and must be given"


def _refused(**fields: object) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_line(json.dumps(fields).encode())
    return caught.value


@pytest.mark.parametrize(
    ("fields", "where", "said"),
    [
        ({"kind": "verify", "problem": "1 + 1", "answer": "2", "colour": 1}, "colour", f"colour {EXTRA}."),
        ({"kind": "verify", "colour": 1}, "problem", f"problem {MISSING}; answer {MISSING}; colour {EXTRA}."),
        (
            {"kind": "verify", "verify": {"problem": "1 + 1"}},
            "problem",
            f"problem {MISSING}; answer {MISSING}; verify {EXTRA}.",
        ),
        (
            {"kind": "solve", "problem": 1, "use_cache": []},
            "problem",
            "problem must be a text; use_cache must be true or false.",
        ),
    ],
)
def test_every_fault_of_a_line_is_named(fields: dict[str, object], where: str, said: str) -> None:
    error = _refused(**fields)
    assert (error.where, str(error)) == (where, said)


def test_many_faults_are_counted() -> None:
    error = _refused(kind="evaluate", answer_id="a", **{f"extra_{number:02}": 1 for number in range(40)})
    assert str(error).count(EXTRA) == MOST_FAULTS
    assert str(error).endswith(f"; and {40 - MOST_FAULTS} more.")


def test_a_name_that_the_sender_made_up_is_not_repeated_whole() -> None:
    error = _refused(kind="evaluate", answer_id="a", **{letter * 100_000: 1 for letter in "xyz"})
    assert error.where == "x" * (MAX_PLACE_CHARS - 1) + "…"
    assert len(str(error)) < 500


def test_a_kind_that_there_is_not_is_the_lines_own_fault() -> None:
    error = _refused(kind="dance")
    assert error.where is None
    assert str(error).startswith("The field 'kind' cannot be 'dance', but one of 'verify', 'solve',")


def test_a_line_without_a_kind_is_told_what_it_lacks() -> None:
    with pytest.raises(InputError, match="The field 'kind' is missing, which says what is asked for") as caught:
        parse_line(b'{"problem": "1 + 1", "answer": "2"}')
    assert all(f"'{kind}'" in str(caught.value) for kind in ("verify", "solve", "evaluate", "submission"))
