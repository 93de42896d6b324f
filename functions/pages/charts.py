"""A chart of a page as data: this module decides what it shows, and `static/page.js` draws it.

Every page also has the figures of its charts as a table.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

type Kind = Literal["lines", "stacked", "intervals", "reliability"]
"""`lines`: values over days; `stacked`: bars of parts; `intervals`: a point with the interval around it;
`reliability`: how often a judge was right, by the confidence that it gave."""

type Tone = Literal["", "good", "warn", "bad", "quiet"]
"""The meaning of a colour; "" takes the next one of the colours without a meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Values under one name; a value of None leaves a gap. `lower` and `upper` are the ends of their intervals.

    `texts` are the values as people read them, as in the table of the page.
    """

    name: str
    values: Sequence[float | None]
    texts: Sequence[str]
    lower: Sequence[float | None] = ()
    upper: Sequence[float | None] = ()
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart. `title` is also its text for people who cannot see it. `whole`: all values are whole numbers."""

    kind: Kind
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    whole: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """The chart as the data that the browser is given."""
        return asdict(self)


BAR_HEIGHT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBars:
    """One bar for each day, drawn without a script, small enough for several charts side by side.

    `most` is the value of a bar of full height; it is the same for all charts that are to be compared. `days` holds
    the text of each bar. `title` describes all bars to people who cannot see them.
    """

    title: str
    days: Sequence[str]
    values: Sequence[float]
    most: float
    tone: Tone = ""

    @property
    def bars(self) -> list[tuple[str, float]]:
        """The text of each bar and its height in 32nds. A bar with a value above 0 is high enough to be seen."""
        full = self.most or 1.0
        heights = [max(1.0, round(BAR_HEIGHT * value / full, 1)) if value > 0 else 0.0 for value in self.values]
        return list(zip(self.days, heights, strict=True))
