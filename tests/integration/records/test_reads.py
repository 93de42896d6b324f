"""What is read does not grow with what is stored; the large version is `python -m tests.bench.records`."""

from tests.bench.records import IN_VAIN, measured
from touchstone.records.looking import MOST_QUERIES

SMALL, LARGE = 500, 2_500
OF_EACH = {"an export", "a recount"}
"""These read each answer once."""
TOKEN = 1
"""The read by which a request's token is known."""


def test_pages_lists_the_sweep_and_the_purge_read_the_same_of_five_times_as_much_and_nothing_is_lost() -> None:
    small, large = (measured(answers=answers, others=1).reads for answers in (SMALL, LARGE))
    bounded = {what for what in large if what not in OF_EACH} - {IN_VAIN}
    assert {what: large[what] for what in bounded} == {what: small[what] for what in bounded}
    assert (small[IN_VAIN], large[IN_VAIN]) == (TOKEN + 1, TOKEN + MOST_QUERIES)
    for what in OF_EACH:
        assert small[what] / SMALL >= 0.95 * large[what] / LARGE
        assert large[what] < 1.1 * LARGE + 100
