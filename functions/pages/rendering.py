"""Pages from templates: all that a record holds is escaped, and nothing on a page may come or run from elsewhere."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from functions.pages.tables import Column, Row
from functions.pages.words import PageTexts

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MOST_ROWS = 1_000
"""Rows of a table that a page shows: a few tables of so many stay far below what a function may answer, 6 MB."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Of every page: what is on it is one tenant's, and is kept by no cache. Other sites are sent no referrer; were
none sent at all, an older browser would not say of our own forms either which site they come from."""
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
"""What to run where a table of this name is empty, so that it is not."""
ASSETS: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "label.js": "text/javascript; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
}
"""The files that pages load, and what they are."""


@cache
def environment() -> Environment:
    """The templates, which escape all they are given and fail where something is missing."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"share": share, "usd": usd, "decimal": decimal, "moment": moment, "p_value": p_value}
    made.globals |= {
        "version": version,
        "most_rows": MOST_ROWS,
        "cost": cost,
        "next_commands": NEXT_COMMANDS,
        "row_details": row_details,
    }
    return made


def render(template: str, words: PageTexts, **given: Any) -> str:
    """A page as HTML."""
    return environment().get_template(template).render(words=words, **given)


@cache
def asset(name: str) -> str:
    """The text of a file that pages load. Raises `KeyError` for any other name."""
    ASSETS[name]
    return (FOLDER / "static" / name).read_text(encoding="utf-8")


@cache
def version(name: str) -> str:
    """What stands for the content of a file in its address, so that a browser may keep it for ever."""
    return hashlib.sha256(asset(name).encode()).hexdigest()[:12]


def share(value: float | None) -> str:
    """A share (0–1) as a percentage with one decimal; a dash for None."""
    return "–" if value is None else f"{100 * value:.1f} %"


def usd(value: float | None) -> str:
    """US dollars, with as many decimals as a small amount needs; a dash for None."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value == 0 or value >= 1 else f"${value:.4f}"


def cost(words: PageTexts, known: float | None, unpriced: int | None) -> str:
    """What calls cost in US dollars; `known` leaves out those of unknown price. A dash for None and no such call."""
    if not unpriced:
        return usd(known)
    if not known:
        return words("cost.not_known")
    if unpriced == 1:
        return words("cost.partly_one", known=usd(known))
    return words("cost.partly", known=usd(known), calls=f"{unpriced:,}")


def row_details(columns: Sequence[Column], row: Row) -> bool:
    """Whether there is anything to show in the row below a row."""
    return any(row.get(column.name) is not None for column in columns)


def decimal(value: float | None) -> str:
    """A number with two decimals; a dash for None."""
    return "–" if value is None else f"{value:,.2f}"


def p_value(value: float) -> str:
    """The probability (0-1) of a test; what is smaller than three decimals show is said to be."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - the smallest that is shown


def moment(value: date | None) -> str:
    """A moment as people read it (UTC, to the minute), or a day; a dash for None."""
    if value is None:
        return "–"
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else f"{value:%Y-%m-%d}"
