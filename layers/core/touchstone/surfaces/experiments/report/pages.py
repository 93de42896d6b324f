"""Reports for people: one file of HTML that needs nothing else, and Markdown. Both are made from `ReportView`."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from touchstone.markdown import as_markdown, tidy
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.report.figures import points, score
from touchstone.surfaces.experiments.report.sentences import called
from touchstone.surfaces.experiments.report.view import view_of

if TYPE_CHECKING:
    from jinja2 import Template


def report_html(conclusion: Conclusion) -> str:
    """One page without scripts, fonts or pictures from elsewhere, in light or dark, that can be printed."""
    return template("report.html", shown=_on_one_line).render(view=view_of(conclusion))


def report_markdown(conclusion: Conclusion) -> str:
    """A page in GitHub's Markdown."""
    return template("report.md", shown=as_markdown).render(view=view_of(conclusion))


@cache
def template(name: str, *, shown: Callable[[object], object] | None = None) -> "Template":
    """A template of reports, which fails if a value is missing. `shown` is what becomes of every value.

    In HTML every value is also escaped.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=name.endswith(".html"),  # in Markdown `shown` escapes every value
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=name.endswith(".md"),
    )
    environment.filters |= {"called": called, "points": points, "said": _said, "score": score}
    return environment.from_string(files(__package__).joinpath(f"templates/{name}").read_text(encoding="utf-8"))


def _on_one_line(value: object) -> object:
    return tidy(value) if isinstance(value, str) else value


def _said(text: str | None) -> bool:
    """Whether a text says anything that a reader sees."""
    return bool(text and tidy(text))
