"""Pages from templates: all texts of a record are escaped, and a page loads and runs nothing from elsewhere."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from functools import cache, partial
from math import inf
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from functions.pages.kept import kept
from functions.pages.tables import Column, Row
from functions.pages.words import PageTexts
from touchstone import figures
from touchstone.oracle.aggregation import written_total
from touchstone.statistics.multiple import FAMILY_LEVEL

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MOST_ROWS = 1_000
"""The most rows of a table that a page shows. A few such tables stay far below 6 MB, the most that a function may
reply."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""The headers of every page. A page holds one tenant's data, so no cache may keep it. Other sites get no referrer, but
our own does: without one, an older browser would not say from which site our own forms come either."""
MOST_POINTS = 100
"""The whole scale of a score: the largest difference that there can be."""
NEXT_COMMANDS: Mapping[str, str] = {
    "answers": "touchstone verify",
    "approaches": "touchstone verify --deep-evaluation",
    "audits": "touchstone audit start",
    "cards": "touchstone verify",
    "label_progress": "touchstone verify",
    "labels_given": "touchstone judge next",
    "model_difficulty": "touchstone verify --model",
    "model_subject": "touchstone verify --model",
    "quizzes": "touchstone quiz generate",
    "routing": "touchstone routing pin",
    "statuses": "touchstone verify",
    "suggestions": "touchstone verify --deep-evaluation",
    "tasks": "touchstone tasks create",
    "trends": "touchstone verify --deep-evaluation",
}
"""The command that fills an empty table, by the table's name."""
ASSETS: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "label.js": "text/javascript; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
}
"""The files that pages load, and their content types."""


@cache
def environment() -> Environment:
    """The templates. They escape all values, and fail if a value is missing."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "share": share,
        "share_at_least": partial(figures.percent_at_least, decimals=1, unit=" %"),
        "usd": usd,
        "decimal": decimal,
        "total": total,
        "moment": moment,
        "p_value": partial(figures.p_value, level=FAMILY_LEVEL),
        "detectable": detectable,
    }
    made.globals |= {
        "version": version,
        "most_rows": MOST_ROWS,
        "unbounded": inf,
        "cost": cost,
        "next_commands": NEXT_COMMANDS,
        "row_details": row_details,
        "kept_said": kept,
    }
    return made


def render(template: str, words: PageTexts, *, about: str = "", **given: Any) -> str:
    """A page as HTML. `about` names the record of the page in its title."""
    return environment().get_template(template).render(words=words, about=about, **given)


@cache
def asset(name: str) -> str:
    """The text of a file that pages load. Raises `KeyError` for any other name."""
    ASSETS[name]
    return (FOLDER / "static" / name).read_text(encoding="utf-8")


@cache
def version(name: str) -> str:
    """A hash of a file's content for its address, so that a browser may keep the file for ever."""
    return hashlib.sha256(asset(name).encode()).hexdigest()[:12]


def share(value: float | None) -> str:
    """A share (0–1) as a percentage with one decimal; a dash for None."""
    return "–" if value is None else figures.percent(value, 1, unit=" %")


def usd(value: float | None) -> str:
    """US dollars, with as many decimals as a small amount needs; a dash for None."""
    return "–" if value is None else figures.usd(value)


def cost(words: PageTexts, known: float | None, unpriced: int | None) -> str:
    """The cost of calls as a text: `known` US dollars, besides the `unpriced` calls, whose price is unknown.

    If no call is unpriced and `known` is None, it is a dash.
    """
    if not unpriced:
        return usd(known)
    if not known:
        return words("cost.not_known")
    if unpriced == 1:
        return words("cost.partly_one", known=usd(known))
    return words("cost.partly", known=usd(known), calls=f"{unpriced:,}")


def row_details(columns: Sequence[Column], row: Row) -> bool:
    """Whether a row has a value in any of these columns, which are shown in an extra row below it."""
    return any(row.get(column.name) is not None for column in columns)


def decimal(value: float | None, most: float, marks: Collection[float] = ()) -> str:
    """A number with two decimals; a dash for None. `most` and `marks` are those of `figures.figure`."""
    return "–" if value is None else figures.figure(value, 2, most=most, marks=marks)


def total(value: float | None) -> str:
    """The total of a submission (0–100), which never seems to reach what it does not; a dash for None."""
    return "–" if value is None else written_total(value)


def detectable(value: float) -> str:
    """The smallest difference of scores that would be found, with two decimals; "> 100" if it is beyond their scale."""
    return f"> {MOST_POINTS}" if value > MOST_POINTS else decimal(value, MOST_POINTS)


def moment(value: date | None) -> str:
    """A moment as people read it (UTC, to the minute), or a day; a dash for None."""
    if value is None:
        return "–"
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else f"{value:%Y-%m-%d}"
