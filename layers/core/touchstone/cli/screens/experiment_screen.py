"""The conclusion of an experiment: how the command shows it, its form for CI tools, and its exit code."""

from collections.abc import Iterator

from touchstone.cli.screens.junit import Case, CaseOutcome, Suite
from touchstone.cli.terminal.bars import PREFIXES, shown_score
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import console
from touchstone.cli.terminal.tables import column, print_facts, print_table, styled
from touchstone.cli.terminal.words import dollars
from touchstone.markdown import tidy
from touchstone.surfaces.experiments.conclusion import (
    Conclusion,
    MetricComparison,
    PreferenceComparison,
    Respect,
    Verdict,
    respects_of,
)
from touchstone.surfaces.experiments.estimate import Estimate, EstimateShare
from touchstone.surfaces.experiments.report.sentences import outcome
from touchstone.surfaces.experiments.report.view import ReportView, view_of

COLOURS: dict[Verdict, str] = {
    "a_better": "bold", "b_better": "bold", "no_difference_shown": "", "not_compared": "yellow"
}  # fmt: skip
WORDS: dict[Verdict, str] = {
    "a_better": "A is better", "b_better": "B is better", "no_difference_shown": "no difference shown",
    "not_compared": "not compared",
}  # fmt: skip


def print_conclusion(conclusion: Conclusion) -> None:
    """Print the headline, its limits, and every figure."""
    view = view_of(conclusion)
    console().print(styled(view.headline, "bold"))
    print_facts(("", note) for note in view.notes)
    print_facts((("A", tidy(conclusion.a)), ("B", tidy(conclusion.b))))
    prefix = PREFIXES[conclusion.surface]
    names = [one.name.removeprefix(prefix).replace("_", " ") for one in respects_of(conclusion)]
    rows = [{"row": row, "name": name} for row, name in zip(view.rows, names, strict=True)]
    print_table([one for one in _ROWS if conclusion.replicates > 1 or one is not _RUNS], rows, empty="")
    print_facts(_facts(view))


def print_estimate(estimate: Estimate, *, judge: str | None, done: int) -> None:
    """Print the estimate of an experiment. `judge` is the judge's name, None if there is no key or no judge is wanted.

    `done` pairs are measured already and cost nothing more.
    """
    nobody = estimate.judging is not None and estimate.judging.calls[1] == 0
    print_facts(
        (
            ("pairs", f"{estimate.pairs:,}" + (f", {done:,} of them measured already" if done else "")),
            ("judge", judge or ("nobody" if nobody else "not known: there is no key")),
            ("calls", range_in_words(*(f"{count:,}" for count in estimate.calls))),
            ("cost", cost_in_words(estimate.cost_usd)),
            *(
                (name, _share_in_words(share))
                for name, share in (("making", estimate.making), ("judging", estimate.judging))
                if share is not None and share.calls[1]
            ),
        )
    )


def _share_in_words(share: EstimateShare) -> str:
    """The expected calls, tokens and cost of making or judging, in one line."""
    calls, read, written = (
        range_in_words(*(f"{count:,}" for count in counts))
        for counts in (share.calls, share.input_tokens, share.output_tokens)
    )
    return f"{calls} calls, {read} tokens in, {written} tokens out, {cost_in_words(share.cost_usd)}"


def cost_in_words(cost_usd: tuple[float, float] | None) -> str:
    """An expected cost, from and to (US dollars), in words; None: not known."""
    return "not known" if cost_usd is None else range_in_words(*(str(dollars(cost)) for cost in cost_usd))


def range_in_words(least: str, most: str) -> str:
    """A range in words; one figure if both ends are the same."""
    return least if least == most else f"{least} to {most}"


def exit_of(conclusion: Conclusion, *, fail_if_worse: bool) -> Exit:
    """The exit code of an experiment. Without `fail_if_worse` it is `UNDECIDED` only if nothing was compared.

    With `fail_if_worse` it is `VERDICT` if B is worse in any respect. It is `DONE` only if all pairs were measured, no
    respect is unscored, and at least one respect passed.
    """
    if not fail_if_worse:
        return Exit.UNDECIDED if conclusion.verdict == "not_compared" else Exit.DONE
    outcomes = [_case_outcome(one, conclusion, fail_if_worse=True) for one in respects_of(conclusion)]
    if "failed" in outcomes:
        return Exit.VERDICT
    whole = conclusion.measured == conclusion.pairs
    return Exit.DONE if whole and "unscored" not in outcomes and "passed" in outcomes else Exit.UNDECIDED


def suite_of(conclusion: Conclusion, *, fail_if_worse: bool) -> Suite:
    """A JUnit case for each respect, and one that says whether all pairs were measured.

    Its failures and errors follow the exit code of `exit_of`.
    """
    group = f"touchstone.experiment.{conclusion.surface}"
    whole = Case(
        group=group,
        name="pairs",
        outcome="unscored" if fail_if_worse and conclusion.measured < conclusion.pairs else "passed",
        sentence=f"{conclusion.measured} of {conclusion.pairs} pairs were measured.",
    )
    cases = [
        Case(
            group=group,
            name=respect.name,
            outcome=_case_outcome(respect, conclusion, fail_if_worse=fail_if_worse),
            sentence=outcome(respect, conclusion),
            details="\n".join(_behind(respect)),
        )
        for respect in respects_of(conclusion)
    ]
    return Suite(name=f"{conclusion.name}: {conclusion.b} against {conclusion.a}", cases=(whole, *cases))


def _case_outcome(respect: Respect, conclusion: Conclusion, *, fail_if_worse: bool) -> CaseOutcome:
    if respect.verdict == "not_compared":
        if _nothing_to_judge(respect) or _nobody_asked(respect):
            return "skipped"
        return "unscored" if fail_if_worse or conclusion.verdict == "not_compared" else "skipped"
    return "failed" if fail_if_worse and respect.verdict == "a_better" else "passed"


def _nothing_to_judge(respect: Respect) -> bool:
    """Whether a metric was not compared only because the material holds nothing that it looks at."""
    found = respect.comparison
    if not isinstance(found, MetricComparison) or found.compared:
        return False
    missing = (*found.a.missing, *found.b.missing)
    return bool(missing) and all(one.reason == "nothing_to_judge" for one in missing)


def _nobody_asked(respect: Respect) -> bool:
    """Whether there is no preference because no judge was wanted at all."""
    found = respect.comparison
    return isinstance(found, PreferenceComparison) and not found.asked


def _behind(respect: Respect) -> Iterator[str]:
    if isinstance(respect.comparison, MetricComparison):
        for one in respect.comparison.favouring_a:
            yield f"{one.item}: A {shown_score(one.a)}, B {shown_score(one.b)}"
            yield from (
                f"  B, {label.item}: {label.label}. {label.reason}" for label in one.b_labels if label.value < 1
            )


def _facts(view: ReportView) -> Iterator[tuple[str, object]]:
    yield "preference", view.preference
    yield from (
        (name.lower(), value) for name, value in view.facts if name in {"Judge calls", "Cost", "Agreement", "Models"}
    )


_RUNS = column("between runs", lambda row: row["row"].runs, right=True)
_ROWS = (
    column("", lambda row: row["name"]),
    column("A", lambda row: row["row"].a, right=True),
    column("B", lambda row: row["row"].b, right=True),
    column("B − A", lambda row: row["row"].difference, right=True),
    column("95 % interval", lambda row: row["row"].interval, right=True),
    _RUNS,
    column("p", lambda row: row["row"].p, right=True),
    column("detects", lambda row: row["row"].detectable, right=True),
    column("pairs", lambda row: row["row"].compared, right=True),
    column("unscored", lambda row: row["row"].unscored, right=True),
    column("", lambda row: styled(WORDS[row["row"].shown], COLOURS[row["row"].shown])),
)
