"""A chart of a page as data: what it shows is decided here, and `static/page.js` draws it.

No chart is the only place of what it shows: the page has the same figures as a table.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

type Kind = Literal["lines", "stacked", "intervals", "reliability"]
"""`lines`: values over days; `stacked`: bars of parts; `intervals`: a point with the interval around it;
`reliability`: how often a judge was right, by how sure it said it was."""

type Tone = Literal["", "good", "warn", "bad", "quiet"]
"""What a colour says; "" takes the next one of those that say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Values under one name; None leaves a gap. `lower` and `upper` are the ends of their intervals."""

    name: str
    values: Sequence[float | None]
    lower: Sequence[float | None] = ()
    upper: Sequence[float | None] = ()
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart. `title` is also its text for who cannot see it.

    `share`: values are 0–1, shown as percentages; other values are shown with so many `decimals`.
    """

    kind: Kind
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    share: bool = False
    decimals: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """What the browser is given."""
        return asdict(self)


BAR_HEIGHT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBars:
    """A bar a day, drawn without a script, small enough that several stand side by side.

    `most` is the value of a bar of full height: the same for all that are to be compared. `days` says each bar, and
    `title` all of them to who cannot see it.
    """

    title: str
    days: Sequence[str]
    values: Sequence[float]
    most: float
    tone: Tone = ""

    @property
    def bars(self) -> list[tuple[str, float]]:
        """Each bar with what it says and its height in 32nds; what is more than nothing can be seen."""
        full = self.most or 1.0
        heights = [max(1.0, round(BAR_HEIGHT * value / full, 1)) if value > 0 else 0.0 for value in self.values]
        return list(zip(self.days, heights, strict=True))
