"""An experiment's figures for spreadsheets and programs. Numbers are not shortened.

A cell without a figure is empty, never 0.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from touchstone.markdown import tidy
from touchstone.spreadsheets import Cell, as_csv
from touchstone.surfaces.experiments.conclusion import DECIMALS, PREFERENCE, Conclusion, MetricComparison, respects_of
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.panels import flipped_in, mean_scores, preferred_in, scores_of_metric
from touchstone.surfaces.experiments.report.sentences import headline, notes
from touchstone.surfaces.names import MetricName


def report_json(conclusion: Conclusion) -> str:
    """The conclusion as JSON, after its sentences (`headline`, `notes`)."""
    said = {"headline": headline(conclusion), "notes": notes(conclusion)}
    return json.dumps({**said, **conclusion.model_dump(mode="json")}, ensure_ascii=False, indent=2) + "\n"


def report_csv(conclusion: Conclusion) -> str:
    """One row for each metric, and one for the judge's preference."""
    return _table(_respects(conclusion))


def report_items_csv(results: Iterable[PairResult]) -> str:
    """One row for each metric of each item, with the scores of both variants, and one for the judge's preference."""
    return _table(row for result in results for row in _items(result))


def _respects(conclusion: Conclusion) -> Iterator[dict[str, Cell]]:
    for one in respects_of(conclusion):
        found = one.comparison
        a, b = (found.a, found.b) if isinstance(found, MetricComparison) else (None, None)
        yield {
            "experiment": conclusion.name,
            "surface": conclusion.surface,
            "variant_a": conclusion.a,
            "variant_b": conclusion.b,
            "metric": one.name,
            "verdict": found.verdict,
            "a_mean": found.a_mean,
            "b_mean": found.b_mean,
            "difference": found.difference,
            "interval_low": None if found.interval is None else found.interval[0],
            "interval_high": None if found.interval is None else found.interval[1],
            "p_value": found.p_value,
            "adjusted_p_value": found.adjusted_p_value,
            "detectable": found.detectable,
            "sources_needed": found.sources_needed,
            "compared": found.compared,
            "sources": found.sources,
            "a_unscored_items": one.unscored_a,
            "b_unscored_items": one.unscored_b,
            "a_unscored_parts": None if a is None else a.unscored_parts,
            "b_unscored_parts": None if b is None else b.unscored_parts,
            "runs": None if found.replication is None else found.replication.runs,
            "variance_between_runs": None if found.replication is None else found.replication.variance,
            "alpha": None if found.agreement is None else found.agreement.alpha,
        }


def _items(result: PairResult) -> Iterator[dict[str, Cell]]:
    place: dict[str, Cell] = {"pair": result.number, "item": result.item, "source": result.source}
    for name in dict.fromkeys((*result.a.results, *result.b.results)):
        a, b = mean_scores(scores_of_metric(result, name))
        yield {
            **place,
            "metric": name,
            "a": a,
            "b": b,
            "difference": None if a is None or b is None else round(b - a, DECIMALS) + 0.0,
            "a_unscored_parts": _unscored(result.a, name),
            "b_unscored_parts": _unscored(result.b, name),
            "preferred": None,
            "flipped": None,
        }
    empty = dict.fromkeys(("a", "b", "difference", "a_unscored_parts", "b_unscored_parts"))
    verdict = preferred_in(result)
    flipped = None if verdict is None else flipped_in(result)
    yield {**place, "metric": PREFERENCE, **empty, "preferred": verdict, "flipped": flipped}


def _unscored(side: Measured, name: MetricName) -> int | None:
    found = side.results.get(name)
    return None if found is None else len(found.unscored)


def _table(rows: Iterable[Mapping[str, Cell]]) -> str:
    found = list(rows)
    return as_csv(list(found[0]), ([_cell(value) for value in row.values()] for row in found)) if found else ""


def _cell(value: Cell) -> Cell:
    """A text on one line; a number as it is."""
    return tidy(value) if isinstance(value, str) else value
