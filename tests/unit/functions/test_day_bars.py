"""The small drawing of a value a day."""

from functions.pages.charts import DayBars


def _bars(*values: float, most: float) -> list[float]:
    drawn = DayBars(
        title="Answers", days=[f"day {number}" for number, _ in enumerate(values)], values=values, most=most
    )
    return [height for _, height in drawn.bars]


def test_a_bar_of_the_most_is_full_and_half_of_it_half() -> None:
    assert _bars(0, 5, 10, most=10) == [0.0, 16.0, 32.0]


def test_one_of_thousands_can_still_be_seen_and_nothing_cannot() -> None:
    assert _bars(0, 1, most=10_000) == [0.0, 1.0]


def test_where_nothing_came_there_is_no_bar() -> None:
    assert _bars(0, 0, most=0) == [0.0, 0.0]
