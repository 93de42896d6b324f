"""Reports for people: one file of HTML that needs nothing else, and Markdown. Both are made from `ReportView`."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from touchstone.markdown import as_markdown, tidy
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.report.view import view_of

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = "touchstone.surfaces.experiments.report"


def report_html(conclusion: Conclusion) -> str:
    """One page without scripts, fonts or pictures from elsewhere, in light or dark, that can be printed."""
    return _html().render(view=view_of(conclusion, tidy))


def report_markdown(conclusion: Conclusion) -> str:
    """A page in GitHub's Markdown."""
    return _markdown().render(view=view_of(conclusion, tidy))


@cache
def _html() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template_text("report.html"))


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
    return environment.from_string(template_text("report.md"))


def template_text(name: str) -> str:
    """The text of a template of reports."""
    return files(TEMPLATES).joinpath(f"templates/{name}").read_text(encoding="utf-8")
