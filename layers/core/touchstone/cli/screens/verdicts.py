"""An answer as the command shows it: badge, confidence, how it was decided or why it was not, and the cost."""

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.answers.model import Status
from touchstone.answers.progress import CALLER
from touchstone.answers.view import badge
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.tables import NOTHING, column, print_facts, styled, time_column
from touchstone.cli.terminal.words import View, cost_of, moment, percent, short, spent

CODES: Mapping[object, Exit] = {"verified": Exit.DONE, "caution": Exit.VERDICT, "unverified": Exit.UNDECIDED}
METHODS = {
    "expected": "the answer key",
    "proof": "a proof",
    "judge": "a judge",
    "retrieved": "an earlier verified solution",
}
BETWEEN = " | "
"""The separator between the texts of an answer key. Each of these texts is a right answer."""
DIMENSIONS = ("correctness", "completeness", "clarity", "pedagogy", "format")


def exit_of(view: View) -> Exit:
    """The exit code of an answer. While it is in work it is `DONE`: this command has nothing left to do."""
    if view.get("stage") == "failed":
        return Exit.UNDECIDED
    return CODES.get(view.get("verification_status"), Exit.DONE)


def print_answer(view: View) -> None:
    """Print an answer in full."""
    print_facts(_facts(view))


def badge_of(view: View) -> Any:
    """The badge of an answer in its colour; without a badge, the word for its status or stage."""
    status: Status | None = view.get("verification_status")
    shown = badge(status, view.get("language"))
    if shown is not None:
        return styled(shown.text, f"bold {shown.colour}")
    return styled(status or view.get("stage"))


def confidence_of(view: View) -> str | None:
    """The confidence of the verdict as a percentage; None if nobody decided, since then there is no verdict."""
    decided = view.get("verification_status") != "unverified"
    return percent(view.get("verification_confidence")) if decided else None


def _facts(view: View) -> Iterator[tuple[str, object]]:
    yield "status", badge_of(view)
    yield "confidence", confidence_of(view) or (NOTHING if view.get("verification_status") else None)
    yield "decided by", decided_by(view)
    yield from _votes(view)
    yield "problem", view.get("problem")
    yield "answer", view.get("answer")
    yield "steps", view.get("steps") or None
    yield "answered by", _answered_by(view)
    yield "key", BETWEEN.join(view.get("expected") or ()) or None
    yield "tolerance", _tolerance(view.get("tolerance") or {})
    if view.get("independent_answer") != view.get("answer"):
        yield "worked out", view.get("independent_answer")
    for position, line in enumerate(view.get("derivation") or ()):
        yield ("because" if position == 0 else ""), line
    yield "reason", _reason(view)
    yield "arithmetic", _verification(view).get("arithmetic_error")
    yield "subject", view.get("subject")
    yield from _enrichment(view.get("enrichment") or {})
    yield from _evaluation(view)
    attempts = view.get("attempt_count") or 0
    yield "attempts", attempts if attempts > 1 else None
    yield from spent(view)
    yield "id", view.get("id")


def decided_by(view: View) -> str | None:
    """How an answer was decided, in words, and by which model; None if nobody decided."""
    method = METHODS.get(str(view.get("method")))
    last = _verification(view)
    votes = last.get("votes") or ()
    if method == METHODS["judge"] and votes and last.get("model") is None:
        agreeing = sum(vote.get("passed") is last.get("passed") for vote in votes if not vote.get("skip_reason"))
        return f"{agreeing} of {len(votes)} judges"
    if method is None or last.get("model") is None:
        return method
    return f"{method}, {last.get('provider')} {last.get('model')}"


def _votes(view: View) -> Iterator[tuple[str, object]]:
    """The vote of each judge, if there were several."""
    found = _verification(view)
    for position, vote in enumerate(found.get("votes") or ()):
        whose = " ".join(filter(None, (vote.get("provider"), vote.get("model")))) or "nobody"
        said = {True: "right", False: "wrong"}.get(vote.get("passed"))
        sure = "" if said is None else f", sure to {percent(vote.get('confidence'))}"
        why = f" (does not count: {vote['skip_reason']})" if vote.get("skip_reason") else ""
        yield ("votes" if position == 0 else ""), f"{whose}: {said or 'no verdict'}{sure}{why}"
    if found.get("split"):
        yield "", "The judges do not agree."


def _answered_by(view: View) -> str | None:
    """The model that gave the shown answer, for whose rates the verdict counts; None if it is not known."""
    model = _shown(view).get("solution", {}).get("model")
    return None if model in {None, "", CALLER} else str(model)


def _tolerance(tolerance: View) -> str | None:
    return next((f"{kind} {value}" for kind, value in tolerance.items() if value is not None), None)


def _reason(view: View) -> str | None:
    """The reason why nobody decided, why the answer is wrong, or why there is no answer; None if there is nothing."""
    said = view.get("failure") or view.get("verify_error")
    skipped = view.get("skip_reason")
    if skipped is None:
        return said
    return f"{said} ({skipped})" if said else str(skipped)


def _verification(view: View) -> Mapping[str, Any]:
    """The verification of the attempt whose answer is shown; empty if there is none."""
    found: View = _shown(view).get("verification") or {}
    return found


def _shown(view: View) -> View:
    """The last attempt whose answer is shown; empty if there is none."""
    shown = [each for each in view.get("attempts") or () if each["solution"]["answer"] == view.get("answer")]
    return shown[-1] if shown else {}


def _enrichment(enrichment: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "knowledge", ", ".join(enrichment.get("knowledge_points") or ()) or None
    for position, hint in enumerate(enrichment.get("hints") or ()):
        yield f"hint {position + 1}", hint
    yield "exercise", enrichment.get("related_exercise")


def _place(submitted: Mapping[str, Any]) -> str:
    """Since when and until when an evaluation is in a provider's batch, in words; "" if it is in none."""
    if not submitted:
        return ""
    ends_by = moment(submitted.get("ends_by"))
    until = f", answered by {ends_by} UTC at the latest" if ends_by else ""
    return f" at {moment(submitted.get('at'))} UTC to a provider's batch{until}"


def _evaluation(view: View) -> Iterator[tuple[str, object]]:
    progress = view.get("evaluation") or {}
    if progress.get("state") not in {None, "none", "done"}:
        until = moment(progress.get("not_before"))
        why = progress.get("failure")
        yield (
            "evaluation",
            progress["state"]
            + _place(progress.get("submitted") or {})
            + (f", not before {until} UTC" if until else "")
            + (f": {why}" if why else ""),
        )
    evaluated = view.get("deep_evaluation")
    if evaluated is None:
        return
    scores = ", ".join(f"{name} {percent(evaluated.get(name))}" for name in DIMENSIONS)
    yield "evaluation", f"{percent(evaluated.get('overall'))} overall: {scores}"
    for suggestion in evaluated.get("improvement_suggestions") or ():
        yield "suggestion", suggestion
    yield "better", evaluated.get("better_approach")


ANSWERS = (
    time_column("created (UTC)", "created_at"),
    column("id"),
    column("status", badge_of),
    column("confidence", confidence_of, right=True),
    column("problem", lambda row: short(row.get("problem"))),
    column("answer", lambda row: short(row.get("answer"))),
    column("cost", cost_of, right=True),
)
"""The columns of a list of answers."""
