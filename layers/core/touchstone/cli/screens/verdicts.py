"""An answer as the command shows it: badge, confidence, how it was decided, why not where nobody did, and the cost."""

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.answers.model import Status
from touchstone.answers.progress import CALLER
from touchstone.answers.view import badge
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import NOTHING, moment, percent, print_facts, spent, styled

type View = Mapping[str, Any]

CODES: Mapping[object, Exit] = {"verified": Exit.DONE, "caution": Exit.VERDICT, "unverified": Exit.UNDECIDED}
METHODS = {
    "expected": "the answer key",
    "proof": "a proof",
    "judge": "a judge",
    "retrieved": "an earlier verified solution",
}
BETWEEN = " | "
"""Between the texts of an answer key, any of which is right."""
DIMENSIONS = ("correctness", "completeness", "clarity", "pedagogy", "format")


def exit_of(view: View) -> Exit:
    """The exit code that an answer stands for; one that is still worked on is done as far as this command goes."""
    if view.get("stage") == "failed":
        return Exit.UNDECIDED
    return CODES.get(view.get("verification_status"), Exit.DONE)


def print_answer(view: View) -> None:
    """The whole of it."""
    print_facts(_facts(view))


def badge_of(view: View) -> Any:
    """The badge in its colour; without one, the plain word for where the answer stands."""
    status: Status | None = view.get("verification_status")
    shown = badge(status, view.get("language"))
    if shown is not None:
        return styled(shown.text, f"bold {shown.colour}")
    return styled(status or view.get("stage"))


def confidence_of(view: View) -> str | None:
    """How sure the verdict is; None where nobody decided, and so nobody is sure of anything."""
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
    yield "arithmetic", _arithmetic(view)
    yield "subject", view.get("subject")
    yield from _enrichment(view.get("enrichment") or {})
    yield from _evaluation(view)
    attempts = view.get("attempt_count") or 0
    yield "attempts", attempts if attempts > 1 else None
    yield from spent(view)
    yield "id", view.get("id")


def decided_by(view: View) -> str | None:
    """How an answer was decided, in words, and by which model; None where nobody decided."""
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
    """What each of several judges said."""
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
    """Which model gave the answer that is shown: it counts for its rates. None where nobody said."""
    shown = [
        each["solution"] for each in view.get("attempts") or () if each["solution"]["answer"] == view.get("answer")
    ]
    model = shown[-1].get("model") if shown else None
    return None if model in {None, "", CALLER} else str(model)


def _tolerance(tolerance: View) -> str | None:
    return next((f"{kind} {value}" for kind, value in tolerance.items() if value is not None), None)


def _reason(view: View) -> str | None:
    """Why nobody decided, what is wrong with the answer, or why there is none."""
    said = view.get("failure") or view.get("verify_error")
    skipped = view.get("skip_reason")
    if skipped is None:
        return said
    return f"{said} ({skipped})" if said else str(skipped)


def _arithmetic(view: View) -> str | None:
    found: str | None = _verification(view).get("arithmetic_error")
    return found


def _verification(view: View) -> Mapping[str, Any]:
    """The verification of the attempt whose answer is shown."""
    shown = [each for each in view.get("attempts") or () if each["solution"]["answer"] == view.get("answer")]
    found: Mapping[str, Any] = (shown[-1].get("verification") or {}) if shown else {}
    return found


def _enrichment(enrichment: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "knowledge", ", ".join(enrichment.get("knowledge_points") or ()) or None
    for position, hint in enumerate(enrichment.get("hints") or ()):
        yield f"hint {position + 1}", hint
    yield "exercise", enrichment.get("related_exercise")


def _evaluation(view: View) -> Iterator[tuple[str, object]]:
    progress = view.get("evaluation") or {}
    if progress.get("state") not in {None, "none", "done"}:
        until = moment(progress.get("not_before"))
        why = progress.get("failure")
        yield (
            "evaluation",
            progress["state"] + (f", not before {until} UTC" if until else "") + (f": {why}" if why else ""),
        )
    evaluated = view.get("deep_evaluation")
    if evaluated is None:
        return
    scores = ", ".join(f"{name} {percent(evaluated.get(name))}" for name in DIMENSIONS)
    yield "evaluation", f"{percent(evaluated.get('overall'))} overall: {scores}"
    for suggestion in evaluated.get("improvement_suggestions") or ():
        yield "suggestion", suggestion
    yield "better", evaluated.get("better_approach")
