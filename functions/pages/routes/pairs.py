"""The pairs of an experiment, all of them or those of some outcomes: both texts side by side, differences marked."""

from collections.abc import Sequence
from itertools import batched

from functions.composition.contexts import experiment_files
from functions.composition.intakes import of_experiments as intake
from functions.pages.tables import Column, PageTable, place_of, row_of
from functions.pages.visit import Page, PageView, Visit, router, visit
from touchstone.errors import InputError
from touchstone.surfaces.experiments.pairs import PairResult
from touchstone.surfaces.experiments.record import ExperimentView
from touchstone.surfaces.experiments.report.pages import WORDS
from touchstone.surfaces.experiments.report.sides import (
    OUTCOMES,
    Outcome,
    outcome_of,
    plain,
    shown_pair,
    shown_prompts,
)

SHOWN = 10
"""The most pairs on a page: about 250 KB of texts at most, as each text is cut at 6,000 characters."""
MOST_LOOKED_AT = 100
"""The most pairs that are read for a page; each is an object in the bucket. The page shows the wanted ones among them,
and leads to the next page."""
READ_AT_ONCE = 10
CHOICES: tuple[tuple[Outcome, ...], ...] = (
    ("win",),
    ("loss",),
    ("flip",),
    ("tie",),
    ("flip", "tie"),
    ("not_compared",),
)
"""The choices of outcomes that the form offers. One combines flips and ties, as a flip counts as a tie."""
COLUMNS = (
    Column(name="number", shown="number"),
    *(Column(name=name) for name in ("item", "source", "outcome")),
    Column(name="a", of=lambda pair: None if pair.a.failure is not None else plain(pair.a.pieces)),
    Column(name="b", of=lambda pair: None if pair.b.failure is not None else plain(pair.b.pieces)),
    *(Column(name=name) for name in ("failure_a", "failure_b")),
    Column(name="reason_a_first", of=lambda pair: pair.reasons[0] or None),
    Column(name="reason_b_first", of=lambda pair: pair.reasons[1] or None),
)


@router.get("/app/experiments/<experiment_id>/pairs")
def read_pairs(experiment_id: str) -> Page:
    """The pairs that were measured so far, in their order; with `outcome`, only those with these outcomes."""
    this_visit = visit()
    outcomes = _wanted(this_visit.query.get("outcome") or "")
    behind = place_of(this_visit.query.get("cursor"))
    found = intake(this_visit.tenant).view(experiment_id)
    shown, looked_to = _found(this_visit, found, outcomes=outcomes, behind=behind)
    pairs = [shown_pair(one) for one in shown]
    more = looked_to < (found.pairs or 0)
    table = PageTable(
        name="pairs",
        columns=COLUMNS,
        rows=[row_of(COLUMNS, one, failure_a=one.a.failure, failure_b=one.b.failure) for one in pairs],
        next=str(looked_to) if more else None,
        sorted_by="name",
    )
    conclusion = found.conclusion
    given = {
        "experiment": found,
        "pairs": pairs,
        "prompts": None
        if conclusion is None
        else shown_prompts(*(None if one is None else one.maker for one in conclusion.makers)),
        "chosen": ",".join(outcomes),
        "choices": CHOICES,
        "said": WORDS[this_visit.language],
        "looked_from": behind + 1,
        "looked_to": looked_to,
    }
    about = found.name or found.id
    return this_visit.show(
        PageView(title="pairs.title", about=about, template="pairs.html", facts=(table,), given=given)
    )


def _wanted(asked: str) -> tuple[Outcome, ...]:
    """The outcomes that an address names, separated by commas; empty if all are wanted."""
    named = asked.split(",") if asked else []
    outcomes = tuple(each for each in OUTCOMES if each in named)
    if len(outcomes) != len(named):
        raise InputError(f"An outcome is one of {', '.join(OUTCOMES)}, or several with commas.", where="outcome")
    return outcomes


def _found(
    this_visit: Visit, experiment: ExperimentView, *, outcomes: Sequence[Outcome], behind: int
) -> tuple[list[PairResult], int]:
    """The results for a page, from the pair after number `behind`, and the number of the last pair looked at."""
    files = experiment_files(this_visit.tenant, experiment.id)
    last = min(experiment.pairs or 0, behind + MOST_LOOKED_AT)
    shown: list[PairResult] = []
    for numbers in batched(range(behind + 1, last + 1), READ_AT_ONCE, strict=False):
        for kept in files.pairs(numbers):
            if not outcomes or outcome_of(kept.result) in outcomes:
                shown.append(kept.result)
                if len(shown) == SHOWN:
                    return shown, kept.result.number
    return shown, last
