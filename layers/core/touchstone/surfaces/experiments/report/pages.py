"""Reports for people: one file of HTML that needs nothing else, and Markdown. Both are made from `View`."""

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from touchstone.judges.fence import visible
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.report.view import view_of

if TYPE_CHECKING:
    from jinja2 import Template

MARKUP = re.compile(r"[\\`*\[\]<>&|~$!^{}]|(?<!\w)_|_(?!\w)")
"""What Markdown reads within a line as anything but itself; an underscore only at the edge of a word."""
LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)")
"""What makes a link of a bare address."""
TEMPLATES = "touchstone.surfaces.experiments.report"


def report_html(conclusion: Conclusion) -> str:
    """One page without scripts, fonts or pictures from elsewhere, in light or dark, that can be printed."""
    return _html().render(view=view_of(conclusion, tidy))


def report_markdown(conclusion: Conclusion) -> str:
    """A page in GitHub's Markdown."""
    return _markdown().render(view=view_of(conclusion, tidy))


def tidy(text: str) -> str:
    """A text on one line, without characters that nobody sees and some programs obey."""
    return " ".join(visible(text).split())


def as_markdown(value: object) -> str:
    """A value on one line of Markdown that shows it as it is."""
    return LINKS.sub(r"\\\g<0>", MARKUP.sub(r"\\\g<0>", tidy(str(value))))


@cache
def _html() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_text("report.html"))


@cache
def _markdown() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=False,  # noqa: S701 - it is no HTML; every value is escaped by `finalize` instead
        finalize=as_markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_text("report.md"))


def _text(name: str) -> str:
    return files(TEMPLATES).joinpath(f"templates/{name}").read_text(encoding="utf-8")
