"""A judgement of a submission as the command shows it: the gate, each score with its evidence, and the totals."""

from collections.abc import Iterator, Sequence
from typing import Any

from touchstone import figures
from touchstone.cli.terminal.bars import shown_score
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.tables import Row, column, columns, print_facts, print_table, styled
from touchstone.cli.terminal.words import View, percent, spent
from touchstone.judges.spends import count_unpriced, known_cost
from touchstone.oracle.aggregation import Aggregate, aggregate, written_total
from touchstone.oracle.model import Dimension, GateCheck, IndividualScoring, Unjudged
from touchstone.oracle.whole import Judgement

EXCERPT_CHARS = 120
STAGES = {
    "dimensions": "no dimensions were made for the task",
    "reading": "a part of the submission was not read",
    "gate": "the acceptance criteria were not checked",
    "scoring": "the submission was not scored",
}


def exit_of(judgement: Judgement, *, fail_under: float | None) -> Exit:
    """The exit code of a judgement: `VERDICT` if the gate is not passed, or if the total is below `fail_under`.

    `fail_under` None: every total passes. If nobody could judge the submission, the code is `UNDECIDED`.
    """
    if judgement.unscored is not None:
        return Exit.UNDECIDED
    if judgement.scoring is None:
        return Exit.VERDICT
    below = fail_under is not None and judgement.scoring.penalized_total < fail_under
    return Exit.VERDICT if below else Exit.DONE


def document(judgement: Judgement) -> dict[str, Any]:
    """The judgement as JSON, with the values computed from it: whether the gate passed, the penalties, tokens, cost."""
    found: dict[str, Any] = judgement.model_dump(mode="json")
    if judgement.gate is not None:
        found["gate"] = {"passed": judgement.gate.passed, **found["gate"]}
    penalties = () if (totals := _totals(judgement)) is None else totals.penalties
    found["penalties"] = [{"dimension": one.dimension, "score": one.score, "factor": one.factor} for one in penalties]
    return {
        **found,
        "tokens": sum(spend.input_tokens + spend.output_tokens for spend in judgement.spends),
        "cost_usd": known_cost(judgement.spends),
        "unpriced_calls": count_unpriced(judgement.spends),
    }


def print_judgement(judgement: Judgement, text: str, *, fail_under: float | None) -> None:
    """Print a judgement in full. `text` is the submission, of which the risky passages are shown."""
    if judgement.gate is not None:
        print_gate(judgement.gate.model_dump())
    if judgement.dimensions is not None:
        if judgement.scoring is None:
            rows: Sequence[Row] = [dimension.model_dump() for dimension in judgement.dimensions]
            print_table((*_DIMENSION, column("asks", "description")), rows, empty="")
        else:
            rows = _rows(judgement.dimensions, judgement.scoring)
            print_table((*_DIMENSION, *SCORE), rows, empty="")
            votes = [{**vote, "name": row["name"]} for row in rows for vote in row["votes"]]
            if votes:
                print_table(SCORE_VOTES, votes, empty="")
    print_facts(_facts(judgement, text, fail_under=fail_under))


def print_gate(gate: View) -> None:
    """Print whether each criterion is met, and how several judges voted. An older deployment tells no votes."""
    print_table(_CRITERIA, gate["criteria_checks"], empty="")
    if gate.get("votes"):
        print_table(_VOTES, gate["votes"], empty="")


def _rows(dimensions: Sequence[Dimension], scoring: IndividualScoring) -> list[Row]:
    scores = {score.dimension: score.model_dump() for score in scoring.dimension_scores}
    return [{**scores[dimension.id], **dimension.model_dump()} for dimension in dimensions]


def _facts(judgement: Judgement, text: str, *, fail_under: float | None) -> Iterator[tuple[str, object]]:
    unscored, scoring = judgement.unscored, judgement.scoring
    if judgement.gate is not None:
        yield "gate", _gate(judgement.gate)
    if unscored is not None:
        yield "unscored", f"{STAGES[unscored.stage]} ({unscored.reason})"
        yield from _because(unscored)
    if scoring is not None:
        yield from _scored(judgement, scoring, fail_under=fail_under)
    for passage in judgement.passages:
        yield "risk", f"{passage.flag.replace('_', ' ')}: {_excerpt(text[passage.start : passage.end])}"
    if scoring is not None and "judges_disagree" in scoring.risk_flags:
        yield "risk", "judges disagree: two of them lie more than 20 points apart on a dimension"
    asked = tuple(dict.fromkeys(f"{one.provider} {one.model}" for one in judgement.spends))
    yield "judge" if len(asked) < 2 else "judges", ", ".join(asked) or None  # noqa: PLR2004 - one, or several
    yield from spent(document(judgement))


def _gate(gate: GateCheck) -> object:
    if gate.undecided is not None:
        why = "the judges do not agree" if gate.undecided == "split" else "no judge is sure enough"
        return styled(why, "bold yellow")
    return styled("passed", "bold green") if gate.passed else styled("not passed", "bold red")


def _because(unscored: Unjudged) -> Iterator[tuple[str, object]]:
    """The sentences about a failure. If a reply was invalid, they are what the judge was told."""
    label = "the judge was told" if unscored.reason == "invalid_reply" else "because"
    for position, detail in enumerate(unscored.details):
        yield (label if position == 0 else ""), detail


def _scored(
    judgement: Judgement, scoring: IndividualScoring, *, fail_under: float | None
) -> Iterator[tuple[str, object]]:
    yield "base", score_of(scoring.weighted_base)
    penalties = () if (totals := _totals(judgement)) is None else totals.penalties
    for one in penalties:
        yield "penalty", f"× {figures.figure(one.factor, 2, most=1)}, since {one.dimension} has {one.score:g}"
    written = total_of(scoring.penalized_total, fail_under=fail_under)
    yield "total", styled(f"{written}, band {scoring.overall_band}", "bold")
    for suggestion in scoring.revision_suggestions:
        yield f"suggestion ({suggestion.severity})", f"{suggestion.problem} {suggestion.suggestion}"


def score_of(value: float | None) -> str | None:
    """A score as it is shown; None stays None."""
    return None if value is None else shown_score(value)


def total_of(value: float | None, *, fail_under: float | None = None) -> str | None:
    """A total as it is shown; None stays None. Rounding never lifts it to `fail_under`."""
    return None if value is None else written_total(value, bars=() if fail_under is None else (fail_under,))


def _excerpt(passage: str) -> str:
    """A passage on one line. The middle of a long passage is left out."""
    line = " ".join(passage.split())
    half = EXCERPT_CHARS // 2
    return line if len(line) <= EXCERPT_CHARS else f"{line[:half]} … {line[-half:]}"


def _totals(judgement: Judgement) -> Aggregate | None:
    """The totals, computed again from the scores; None if there are no scores."""
    if judgement.dimensions is None or judgement.scoring is None:
        return None
    scores = {score.dimension: float(score.score) for score in judgement.scoring.dimension_scores}
    return aggregate(judgement.dimensions, scores)


_MET = {True: "yes", False: "no", None: "undecided"}
_VOTES = (
    column("judge", lambda row: row["model"] or row["provider"]),
    column("says met", lambda row: ", ".join(_MET[said] for said in row["passed"])),
    column("said nothing", "unscored"),
    column("because", lambda row: " ".join(row["because"])),
)
"""The columns for the votes of several judges on the criteria, which a row has in their order."""
SCORE_VOTES = (
    column("dimension", "name"),
    column("judge", lambda row: row["model"] or row["provider"]),
    column("score", lambda row: score_of(row["score"]), right=True),
    column("evidence"),
    column("said nothing", "unscored"),
)
"""The columns for the scores that several judges gave each dimension."""
_CRITERIA = (
    column("criterion"),
    column("met", lambda row: _MET[row["passed"]]),
    column("reason"),
    column("how to meet it", "revision_hint"),
)
_DIMENSION = (
    column("dimension", "name"),
    column("weight", lambda row: percent(row["weight"]), right=True),
)
SCORE = (
    column("band", lambda row: f"{row['band']}, below expected" if row.get("flag") else row["band"]),
    column("score", lambda row: score_of(row["score"]), right=True),
    *columns("evidence", "feedback"),
)
"""The columns for the score of a dimension, after the column that names the dimension."""
