"""Reports for people, as one file of HTML that needs nothing else, and as Markdown.

Those of the experiment are made from `ReportView`. Those of its pairs, side by side, are made from `SideBySide`, in
English or Chinese; they are also for programs, as JSON.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from touchstone.judges.fence import visible
from touchstone.markdown import as_markdown, tidy
from touchstone.packaged import own_table
from touchstone.surfaces.experiments.conclusion import Conclusion, MakerOutlay
from touchstone.surfaces.experiments.report.figures import points, score
from touchstone.surfaces.experiments.report.sentences import called
from touchstone.surfaces.experiments.report.sides import OUTCOMES, ShownSide, SideBySide, TextPiece, plain
from touchstone.surfaces.experiments.report.view import view_of
from touchstone.text.language import Language
from touchstone.usage import dollars

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


WORDS: dict[str, dict[str, str]] = own_table(__file__, "sides.json")
"""The words of the pages that show pairs side by side."""


def sides_html(view: SideBySide, conclusion: Conclusion, *, language: Language = "en") -> str:
    """One page without scripts. Its buttons, which need no script, show only wins, losses or flips."""
    return template("sides.html").render(
        view=view, outcomes=OUTCOMES, rows=_rows(view, conclusion, language), words=WORDS[language], language=language
    )


def sides_that_fit(view: SideBySide, conclusion: Conclusion, *, most_bytes: int, language: Language = "en") -> str:
    """The page of `sides_html` with as many pairs as fit into `most_bytes`. It says how many pairs it leaves out."""
    most = len(view.pairs)
    while True:
        shown = replace(view, pairs=view.pairs[:most], left_out=view.left_out + len(view.pairs) - most)
        page = sides_html(shown, conclusion, language=language)
        size = len(page.encode())
        if size <= most_bytes or not most:
            return page
        most = min(most - 1, most * most_bytes // size)


def sides_markdown(view: SideBySide, conclusion: Conclusion, *, language: Language = "en") -> str:
    """Both texts of each pair, with ~~what only A has~~ and **what only B has** marked."""
    words = WORDS[language]
    lines = [f"# {as_markdown(view.name)}: {words['title']}", ""]
    lines += [f"A: {as_markdown(view.a)}; B: {as_markdown(view.b)}. {words['marks']}", ""]
    lines += [f"- {words[outcome]}: {view.counts[outcome]}" for outcome in OUTCOMES]
    rows = _rows(view, conclusion, language)
    lines += ["", f"## {words['makers']}", "", f"| {' | '.join(rows[0])} |", "|---" * len(rows[0]) + "|"]
    lines += [f"| {' | '.join(as_markdown(cell) for cell in row)} |" for row in rows[1:]]
    if view.prompts is not None:
        lines += ["", f"## {words['prompts']}", "", *_text_lines(*view.prompts, words)]
    for pair in view.pairs:
        of = "" if pair.source == pair.item else f" ({as_markdown(pair.source)})"
        title = f"{as_markdown(pair.item)}{of}: {words[pair.outcome]}"
        lines += ["", f"## {title}", "", *_text_lines(pair.a, pair.b, words)]
        for place, reason in zip(("a_first", "b_first"), pair.reasons, strict=True):
            lines += ["", f"{words[place]}: {as_markdown(reason)}"] if reason else []
        votes = ", ".join(f"{as_markdown(model)}: {words[f'vote_{said}']}" for model, said in pair.votes)
        lines += ["", f"{words['votes']}: {votes}"] if votes else []
    if not view.pairs:
        lines += ["", words["no_pair"]]
    if view.left_out:
        lines += ["", f"{view.left_out:,} {words['more']}"]
    return "\n".join(lines) + "\n"


def sides_json(view: SideBySide, conclusion: Conclusion) -> str:
    """The pairs for programs: the texts as they are shown, and the text of the pieces that differ."""

    def side(one: ShownSide) -> dict[str, object]:
        changed = [piece.text for piece in one.pieces if piece.changed]
        text = None if one.failure is not None else plain(one.pieces)
        return {"text": text, "changed": changed, "left_out": one.left_out, "failure": one.failure}

    told = asdict(view) | {
        "counts": dict(view.counts),
        "prompts": None if view.prompts is None else [side(one) for one in view.prompts],
        "makers": [None if one is None else one.model_dump(mode="json") for one in conclusion.makers],
        "pairs": [
            {
                "number": one.number, "item": one.item, "source": one.source, "outcome": one.outcome,
                "a": side(one.a), "b": side(one.b), "reasons": list(one.reasons),
                "votes": [{"model": model, "preferred": said} for model, said in one.votes],
            }
            for one in view.pairs
        ],
    }  # fmt: skip
    return visible(json.dumps(told, ensure_ascii=False, indent=2)) + "\n"


def _rows(view: SideBySide, conclusion: Conclusion, language: Language) -> Sequence[tuple[str, ...]]:
    """The rows of the table of makers: first the names of the columns, then a row for each variant."""
    words = WORDS[language]
    names = ("", *(words[name] for name in ("made", "failed", "calls", "tokens", "cost", "seconds")))
    makers = zip((view.a, view.b), view.makers, conclusion.makers, strict=True)
    return (names, *(_row(f"{name}: {told or words['given']}", outlay, words) for name, told, outlay in makers))


def _row(name: str, outlay: MakerOutlay | None, words: Mapping[str, str]) -> tuple[str, ...]:
    if outlay is None:
        return (name, *[""] * 6)
    cost = words["unknown"] if outlay.cost_usd is None else dollars(outlay.cost_usd, outlay.unpriced)
    return (
        name,
        f"{outlay.made:,}",
        f"{outlay.failed:,}",
        f"{outlay.calls:,}" if not outlay.cached else f"{outlay.calls:,} + {outlay.cached:,} {words['cached']}",
        f"{outlay.input_tokens:,} / {outlay.output_tokens:,}",
        str(cost),
        "" if outlay.seconds is None else f"{outlay.seconds:.1f}",
    )


def _text_lines(a: ShownSide, b: ShownSide, words: Mapping[str, str]) -> list[str]:
    """Both texts with the differences marked. If a text is missing, the line says why."""
    lines = []
    for name, one, mark in (("A", a, "~~"), ("B", b, "**")):
        if one.failure is not None:
            lines += [f"{name}: {words['not_made']}. {as_markdown(one.failure)}", ""]
            continue
        more = f" … {one.left_out:,} {words['left_out']}" if one.left_out else ""
        lines += [f"{name}: {_marked(one.pieces, mark)}{more}", ""]
    return lines[:-1]


def _marked(pieces: Iterable[TextPiece], mark: str) -> str:
    """A text on one line, spaces where it has them; beside a sign a mark needs one, or it would be no mark."""
    text, space = "", False
    for piece in pieces:
        shown = as_markdown(piece.text)
        needs = piece.changed and not (shown[:1].isalnum() and shown[-1:].isalnum())
        space = space or piece.text[:1].isspace() or needs
        if shown:
            text += (" " if space and text else "") + (f"{mark}{shown}{mark}" if piece.changed else shown)
            space = needs or piece.text[-1:].isspace()
    return text
