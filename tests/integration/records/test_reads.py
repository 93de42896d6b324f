"""What is read does not grow with what is stored; the large version is `python -m tests.bench.records`."""

from tests.bench.records import IN_VAIN, counted
from touchstone.records.looking import MOST_LOOKED_INTO, MOST_QUERIES

SMALL, LARGE = 500, 2_500
OF_EACH = {"an export", "a recount"}
"""These read each answer once."""
BY_LINES = {IN_VAIN, "experiments by variant in vain", "measurements by search in vain"}
"""Their lines say all, so that no record is read and a page ends by its lines: all of few, `MOST_QUERIES` of many."""
TOKEN = 1
"""The read by which a request's token is known."""


def test_pages_lists_the_sweep_and_the_purge_read_the_same_of_five_times_as_much_and_nothing_is_lost() -> None:
    small, large = (counted(answers=each, others=1, listed=each).reads for each in (SMALL, LARGE))
    bounded = {what for what in large if what not in OF_EACH} - BY_LINES
    assert {what: large[what] for what in bounded} == {what: small[what] for what in bounded}
    for what in BY_LINES:
        assert TOKEN + 1 <= small[what] < large[what] == TOKEN + MOST_QUERIES
    by_label = large["measurements by label in vain"]
    assert by_label == TOKEN + 1 + MOST_LOOKED_INTO, "a query of labels for each, up to the bound"
    assert max(large[what] for what in bounded if "in vain" in what) == by_label
    for what in OF_EACH:
        assert small[what] / SMALL >= 0.95 * large[what] / LARGE
        assert large[what] < 1.1 * LARGE + 100
