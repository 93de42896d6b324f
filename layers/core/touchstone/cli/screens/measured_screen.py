"""The report of metrics on some material as the command shows it: scores, unscored items, items that lost points."""

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.cli.screens.junit import Case, CaseOutcome, Suite
from touchstone.cli.terminal.bars import Kind, MetricOutcome, reasons_of, shown_score
from touchstone.cli.terminal.screen import say
from touchstone.cli.terminal.tables import Row, column, columns, print_facts, print_table, styled
from touchstone.cli.terminal.words import short
from touchstone.judges.spends import count_unpriced
from touchstone.material import Deck, Quiz
from touchstone.surfaces.catalogue import Material
from touchstone.surfaces.evaluation import Report
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem, words_of_votes
from touchstone.surfaces.names import MetricName
from touchstone.text import shortened
from touchstone.usage import dollars

ITEMS_SHOWN = 20
"""Of one metric; JSON and JUnit have all."""
MAX_WHY_CHARS = 300
"""Of why an item was not judged."""
MILLISECONDS = 1_000
COLOURS: Mapping[Kind, str] = {
    "scored": "",
    "passed": "green",
    "failed": "bold red",
    "unscored": "bold yellow",
    "skipped": "dim",
}

type Outcomes = Mapping[MetricName, MetricOutcome]


def document(report: Report, outcomes: Outcomes) -> dict[str, Any]:
    """The report as JSON, with the values computed from it: scores, the outcome of each metric, tokens and cost."""
    return {
        **report.model_dump(mode="json"),
        "scores": dict(report.scores),
        "outcomes": {name: {"kind": one.kind, "sentence": one.sentence} for name, one in outcomes.items()},
        "tokens": report.tokens,
        "cost_usd": report.cost_usd,
        "unpriced_calls": count_unpriced(report.spends),
    }


def print_report(report: Report, outcomes: Outcomes, material: Material) -> None:
    """Print the report in full."""
    rows = [_row(name, report.results.get(name), outcome) for name, outcome in outcomes.items()]
    print_table(_METRICS, rows, empty="")
    words = words_of(material)
    for result in report.results.values():
        _print_lost(result, words)
    print_facts(_facts(report))


def suite_of(report: Report, outcomes: Outcomes, material: Material, *, name: str) -> Suite:
    """The report for CI tools: a case for each metric, and one for each item that lost points or was not judged.

    An item is a failed or unscored case only if its metric is. So nothing fails here that does not fail the command.
    """
    words = words_of(material)
    cases: list[Case] = []
    for metric, outcome in outcomes.items():
        result = report.results.get(metric)
        group = f"touchstone.{report.surface}"
        cases.append(_case(group, metric, outcome, result))
        if result is not None:
            cases += _item_cases(f"{group}.{metric}", result, outcome, words)
    return Suite(name=f"{report.surface}: {name}", cases=cases)


def words_of(material: Material) -> Mapping[str, str]:
    """The text of each part of some material, by the part's id. Empty for a summary: its metrics tell the text."""
    match material:
        case Quiz():
            return {question.id: question.question_text for question in material.questions}
        case Deck():
            return {card.id: card.front for card in material.cards}
        case _:
            return {}


def lost(result: MetricResult) -> list[ItemLabel]:
    """The items that lost points, in their order: those with a weight and a value below 1."""
    return [item for item in result.items if item.weight and item.value < 1]


def _row(name: MetricName, result: MetricResult | None, outcome: MetricOutcome) -> Row:
    unscored = 0 if result is None else len(result.unscored)
    return {
        "metric": name,
        "score": None if result is None or result.score is None else shown_score(result.score),
        "judged": 0 if result is None else result.judged,
        "unscored": f"{unscored} ({reasons_of(result)})" if result is not None and unscored else 0,
        "outcome": styled(outcome.kind, COLOURS[outcome.kind]),
        "why": "" if outcome.kind == "scored" else outcome.sentence,
    }


def _print_lost(result: MetricResult, words: Mapping[str, str]) -> None:
    items = lost(result)
    rows = [_item_row(item, words) for item in items[:ITEMS_SHOWN]]
    rows += [
        {
            "item": one.item,
            "label": "UNSCORED",
            "text": short(one.text or words.get(one.item)),
            "reason": _told(_why(one), one),
        }
        for one in result.unscored[: ITEMS_SHOWN - len(rows)]
    ]
    if not rows:
        return
    counts = [f"{len({one.item for one in items})} of {result.judged} lost points"] if result.judged else []
    counts += [f"{len(result.unscored)} not judged"] if result.unscored else []
    print_facts(((f"{result.metric}:", ", ".join(counts)),))
    print_table(_ITEMS, rows, empty="")
    if (more := len(items) + len(result.unscored) - len(rows)) > 0:
        say(f"{result.metric}: {more} more are in --json.")


def _item_row(item: ItemLabel, words: Mapping[str, str]) -> Row:
    return {
        "item": item.item,
        "text": short(item.text or words.get(item.item)),
        "label": item.label,
        "reason": _told(item.reason, item),
        "suggestion": item.suggestion or "",
    }


def _why(one: UnscoredItem) -> str:
    """Why nobody judged it: the reason's word, and what failed."""
    return ": ".join((one.reason, *([shortened(" ".join(one.details), MAX_WHY_CHARS)] if one.details else [])))


def _told(reason: str, one: ItemLabel | UnscoredItem) -> str:
    """A reason; if judges that were sure enough disagree, with the vote of each judge."""
    return f"{reason} ({words_of_votes(one.votes)})" if one.split else reason


def _facts(report: Report) -> Iterator[tuple[str, object]]:
    models = sorted({f"{spend.provider} {spend.model}" for spend in report.spends})
    yield "judge", ", ".join(models) or None
    voted = [one for result in report.results.values() for one in result.all_items if one.votes]
    if voted:
        split = sum(one.split for one in voted)
        unsure = sum(any(vote.unsure for vote in one.votes) for one in voted)
        asked = max(len(one.votes) for one in voted)
        sentence = (
            f"{asked} for each item" if not unsure else f"up to {asked} for an item; not all are sure of {unsure}"
        )
        yield "judges", f"{sentence}; they differ on {split} of {len(voted)}"
    if models:
        cached = sum(spend.cached for spend in report.spends)
        from_cache = f", {cached} of {len(report.spends)} replies from the cache" if cached else ""
        yield "cost", f"{dollars(report.cost_usd, count_unpriced(report.spends))}, {report.tokens:,} tokens{from_cache}"


def _case(group: str, name: str, outcome: MetricOutcome, result: MetricResult | None) -> Case:
    seconds = 0.0 if result is None else sum(spend.latency_ms for spend in result.spends) / MILLISECONDS
    details = "" if result is None or not result.unscored else f"Not judged: {reasons_of(result)}."
    return Case(
        group=group,
        name=name,
        outcome="passed" if outcome.kind == "scored" else outcome.kind,
        sentence=outcome.sentence,
        details=details,
        seconds=seconds,
    )


def _item_cases(group: str, result: MetricResult, outcome: MetricOutcome, words: Mapping[str, str]) -> Iterator[Case]:
    case_outcome: CaseOutcome = "failed" if outcome.kind == "failed" else "passed"
    for item in lost(result):
        details = (
            f"Evidence: {item.evidence}" if item.evidence else "",
            f"Suggestion: {item.suggestion}" if item.suggestion else "",
            f"Judges: {words_of_votes(item.votes)}" if item.split else "",
        )
        yield Case(
            group=group,
            name=_named(item.item, item.text or words.get(item.item)),
            outcome=case_outcome,
            sentence=f"{item.label}: {item.reason}",
            details="\n".join(part for part in details if part),
        )
    for missing in result.unscored:
        yield Case(
            group=group,
            name=_named(missing.item, missing.text or words.get(missing.item)),
            outcome="unscored" if outcome.kind == "unscored" else "skipped",
            sentence=f"Nobody could judge it: {missing.reason}.",
            details="\n".join(missing.details),
        )


def _named(item: str, text: str | None) -> str:
    return f"{item}: {short(text)}" if text else item


_METRICS = (
    column("metric"),
    column("score", right=True),
    column("items judged", "judged", right=True),
    column("unscored", right=True),
    column("outcome"),
    column("because", "why"),
)
_ITEMS = (*columns("item", "text", "label", "reason", "suggestion"),)
