"""The report for people, in GitHub's Markdown: totals, then the cases that need a maintainer, then the others.

Questions, options, scripts, outputs and critiques come from elsewhere. They are escaped, so that each is shown as plain
text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from touchstone.audits.report.model import RATINGS, AuditedCase, QualityReport, StoredProof
from touchstone.audits.verdict import ProofStanding, Rating
from touchstone.markdown import as_markdown, block, code, prose
from touchstone.usage import dollars

if TYPE_CHECKING:
    from jinja2 import Template

MEANINGS: dict[Rating, str] = {
    "Incorrect": "the key is refuted",
    "Ambiguous": "more than one option holds",
    "Unproven": "an option is not proved either way",
    "Valid": "the key holds, and all others are refuted",
}
STANDINGS: dict[ProofStanding, str] = {"holds": "holds", "refuted": "refuted", "unproven": "not proved"}
QUESTION_CHARS, CRITIQUE_CHARS, SCRIPT_CHARS, OUTPUT_CHARS = 4_000, 4_000, 8_000, 2_000
"""How many characters of each text are shown; quality_report.json has the whole text."""
CUT = "\n[… the rest is in quality_report.json]"


class Shown(str):
    """A text that is Markdown already and is not escaped again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    label: str
    text: Shown
    is_key: bool
    standing: ProofStanding
    why: Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    heading: str
    script: Shown
    ended: Shown | None
    outputs: tuple[tuple[str, Shown], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    id: str
    rating: Rating
    place: str
    question: Shown
    options: tuple[_Option, ...]
    change: str
    missing: str
    critique: Shown | None
    stopped: str | None
    proofs: tuple[_Proof, ...]


def report_markdown(report: QualityReport) -> str:
    """The report as a Markdown page."""
    cases = [_case(one) for rating in RATINGS for one in report.cases if one.quality_rating == rating]
    return _page().render(
        title=f"{report.target.target.name} {report.target.version}",
        totals=[(rating, report.totals[rating], MEANINGS[rating]) for rating in RATINGS],
        facts=list(_facts(report)),
        groups=[
            ("Cases that need a maintainer", [one for one in cases if one.rating != "Valid"]),
            ("Valid cases", [one for one in cases if one.rating == "Valid"]),
        ],
        standings=STANDINGS,
        trusted=report.trusted,
    )


def _facts(report: QualityReport) -> Iterator[tuple[str, object]]:
    yield "proved against", Shown(code(report.target.target.requirement))
    yield "resolved to", f"{report.target.version} ({report.target.python}, {report.target.platform})"
    yield "bundle", Shown(code(report.target.digest))
    yield "made at", f"{report.made_at:%Y-%m-%d %H:%M} {report.made_at.tzname()}"
    if report.input_tokens or report.output_tokens:
        yield "tokens", f"{report.input_tokens:,} in, {report.output_tokens:,} out"
        yield "cost", dollars(report.cost_usd, report.unpriced_calls)


def _case(one: AuditedCase) -> _Case:
    case = one.case
    reasons = {proof.label: proof.reason for proof in one.proofs}
    texts = {option.label: option for option in case.options}
    options: list[_Option] = []
    for option in one.options:
        computed = texts[option.label].catch_all is not None
        why = "it follows from the others" if computed else reasons.get(option.label, "nothing was run for it")
        options.append(
            _Option(
                label=option.label,
                text=Shown(prose(_cut(texts[option.label].text, QUESTION_CHARS))),
                is_key=option.label == case.ground_truth,
                standing=option.standing,
                why=Shown(prose(why)),
            )
        )
    place = case.kind if one.source is None else f"{case.kind}, {one.source.file}, line {one.source.line}"
    return _Case(
        id=case.id,
        rating=one.quality_rating,
        place=place,
        question=_text(case.question, QUESTION_CHARS),
        options=tuple(options),
        change=one.change,
        missing=" ".join(one.missing),
        critique=None if one.critique is None else _text(one.critique, CRITIQUE_CHARS),
        stopped=one.stopped,
        proofs=tuple(_proof(proof) for proof in one.proofs),
    )


def _proof(proof: StoredProof) -> _Proof:
    outputs = [
        (name, Shown(block(_cut(text, OUTPUT_CHARS), "text")))
        for name, text in (("Printed", proof.stdout), ("Printed to standard error", proof.stderr))
        if text.strip()
    ]
    return _Proof(
        heading=f"{proof.label}: {proof.outcome}",
        script=Shown(block(_cut(proof.script, SCRIPT_CHARS), "python")),
        ended=None if proof.exception is None else Shown(code(proof.exception)),
        outputs=tuple(outputs),
    )


def _text(text: str, most: int) -> Shown:
    """A text as a quote if it has one line, or as a block that keeps its lines."""
    shown = _cut(text.strip(), most)
    return Shown(block(shown, "text")) if "\n" in shown else Shown("> " + prose(shown))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + CUT


@cache
def _page() -> "Template":
    from jinja2 import Environment, StrictUndefined

    def shown(value: Any) -> str:
        return value if isinstance(value, Shown) else as_markdown(value)

    environment = Environment(
        autoescape=False,  # noqa: S701 - it is no HTML; every value is escaped by `finalize` instead
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = files("touchstone.audits.report").joinpath("templates/quality_audit.md").read_text(encoding="utf-8")
    return environment.from_string(text)
