"""Tasks, submissions and challenges of a deployment: how the command shows them, and their exit codes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from touchstone import figures
from touchstone.cli.screens.judgements import SCORE, print_gate, score_of, total_of
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.tables import column, columns, print_facts, print_table, styled, time_column
from touchstone.cli.terminal.words import View, moment, percent, short, spent
from touchstone.oracle.task import DECIDED

UNSCORED = "unscored"
SUBMISSION_CODES: Mapping[object, Exit] = {
    "gate_failed": Exit.VERDICT,
    "eliminated": Exit.VERDICT,
    UNSCORED: Exit.UNDECIDED,
    "overtaken": Exit.UNDECIDED,
}
CHALLENGE_CODES: Mapping[object, Exit] = {"rejected": Exit.VERDICT, "unresolved": Exit.UNDECIDED}
COLOURS: Mapping[object, str] = {"gate_failed": "bold red", "eliminated": "bold red", UNSCORED: "bold yellow"}


def task_exit(view: View) -> Exit:
    """The exit code of a task: `UNDECIDED` if it failed, or if its dimensions could not be made so far."""
    stuck = view.get("state") == "drafting" and view.get("failure")
    return Exit.UNDECIDED if view.get("state") == "failed" or stuck else Exit.DONE


def submission_exit(view: View) -> Exit:
    """The exit code of a submission. While it is still judged it is `DONE`: this command has nothing left to do."""
    return SUBMISSION_CODES.get(view.get("standing"), Exit.DONE)


def challenge_exit(view: View) -> Exit:
    """The exit code of a challenge. Before its decision it is `DONE`: this command has nothing left to do."""
    return CHALLENGE_CODES.get(view.get("state"), Exit.DONE)


def is_set_up(view: View) -> bool:
    """Whether the dimensions of a task are made, will never be made, or could not be made at the first try."""
    return view.get("state") != "drafting" or bool(view.get("failure"))


def is_judged(view: View) -> bool:
    """Whether a submission has been judged as far as it can be judged without the others.

    In an open contest a submission that passed its gate stays `gate_passed` even after it was scored. Its suggestions
    come with its scores, so feedback shows that it was scored.
    """
    return view.get("standing") not in {"received", "gate_passed"} or bool(view.get("feedback"))


def is_decided(view: View) -> bool:
    """Whether a challenge is decided, or will never be."""
    return view.get("state") != "waiting"


def print_task(view: View) -> None:
    """Print a task: its state, its requirements, its dimensions and, if the view has one, the ranking."""
    print_facts(_task_facts(view))
    print_table(_DIMENSIONS, view.get("dimensions") or (), empty="Its dimensions are not made yet.")
    if view.get("ranking") is not None:
        print_table(_PLACES, view["ranking"], empty="Nobody survived: every submission was eliminated or unscored.")


def with_names(view: View, submissions: Iterable[View]) -> dict[str, Any]:
    """The task with the submitter of each submission in its ranking, as far as `submissions` have it."""
    names = {one.get("id"): one.get("submitter") for one in submissions}
    places = [{**place, "submitter": names.get(place.get("submission_id"))} for place in view.get("ranking") or ()]
    return {**view, "ranking": places}


def print_submission(view: View) -> None:
    """Print a submission and the feedback of each stage, as far as the reader may see it."""
    print_facts(_submission_facts(view))
    for feedback in view.get("feedback") or ():
        match feedback.get("type"):
            case "gate_check":
                print_gate(feedback)
            case "individual_scoring":
                _print_scores("Scored by itself", feedback, _individual_facts(feedback))
            case "scoring":
                _print_scores("In the contest", feedback, _contest_facts(feedback))


def print_challenge(view: View) -> None:
    """Print all facts of a challenge."""
    names = ("state", "id", "challenger", "submission_id", "reason", "provider", "new_total", "unscored")
    shown = {**view, "new_total": total_of(view.get("new_total"))}
    facts = [(name.replace("_", " "), shown.get(name)) for name in names]
    facts += [("because", sentence) for sentence in view.get("because") or ()]
    times = (("made (UTC)", moment(view.get("created_at"))), ("decided (UTC)", moment(view.get("decided_at"))))
    print_facts((*facts, *times))


def _told(name: str) -> Callable[[View], Any]:
    """What the last feedback that has the field `name` says there; None if no feedback of the submission has it."""
    return lambda view: next((one[name] for one in reversed(view.get("feedback") or ()) if name in one), None)


def _task_facts(view: View) -> Iterator[tuple[str, object]]:
    brief = view.get("brief") or {}
    yield "state", styled(view.get("state"), "bold")
    yield "because", view.get("failure")
    yield "tried again (UTC)", moment(view.get("tried_again_at"))
    for name in ("id", "path", "owner"):
        yield name, view.get(name)
    yield "description", short(brief.get("description"))
    for number, criterion in enumerate(brief.get("acceptance_criteria") or (), start=1):
        yield f"criterion {number}", criterion
    yield "scored", "through a provider's batches where there is time" if view.get("when") == "cheap" else None
    yield "deadline (UTC)", moment(view.get("deadline"))
    yield "closed (UTC)", moment(view.get("closed_at"))
    yield "challenges until (UTC)", moment(view.get("challenge_until"))
    yield "undecided challenges", view.get("undecided_challenges") or None
    yield "final (UTC)", moment(view.get("final_at"))
    final = view.get("final_at") is not None
    yield "winner" if final else "winner so far", view.get("winner") or ("nobody" if final else None)
    if view.get("path") == "quality_first" and view.get("state") in DECIDED and view.get("ranking") is None:
        yield "ranking", "for its parties alone: name one with --party"
    yield from spent(view)


def _submission_facts(view: View) -> Iterator[tuple[str, object]]:
    standing = view.get("standing")
    yield "standing", styled(str(standing).replace("_", " "), COLOURS.get(standing, "bold"))
    yield "unscored", view.get("unscored")
    for sentence in view.get("because") or ():
        yield "because", sentence
    for name in ("id", "submitter", "revision"):
        yield name, view.get(name)
    yield "submitted (UTC)", moment(view.get("submitted_at"))
    yield "in a batch until (UTC)", moment(view.get("batched_until"))


def _print_scores(title: str, feedback: View, facts: Iterable[tuple[str, object]]) -> None:
    """Print the feedback of a scoring stage. In an open contest the author sees no scores, only the suggestions."""
    scores = feedback.get("dimension_scores")
    print_facts(((f"{title}:" if scores else "What to improve:", ""),))
    if scores:
        print_table((column("dimension"), *SCORE), scores, empty="")
    print_facts(facts)


def _individual_facts(feedback: View) -> Iterator[tuple[str, object]]:
    if "penalized_total" in feedback:
        yield "penalty", _factor(feedback["penalty"])
        total = f"{total_of(feedback['penalized_total'])}, band {feedback.get('overall_band')}"
        yield "total", styled(total, "bold")
    yield from _risks(feedback)
    for suggestion in feedback.get("revision_suggestions") or ():
        yield f"suggestion ({suggestion['severity']})", f"{suggestion['problem']} {suggestion['suggestion']}"


def _contest_facts(feedback: View) -> Iterator[tuple[str, object]]:
    yield "base", score_of(feedback.get("weighted_base"))
    for one in feedback.get("penalty_reasons") or ():
        yield "penalty", f"{_factor(one['factor'])}, since {one['dimension']} has {one['score']:g}"
    yield "final score", total_of(feedback.get("final_score"))
    yield "rank", feedback.get("rank")
    yield "eliminated by", _listed(feedback.get("eliminated_by"))
    yield "unscored", _listed(feedback.get("unscored"))
    yield from _risks(feedback)


def _risks(feedback: View) -> Iterator[tuple[str, object]]:
    for flag in feedback.get("risk_flags") or ():
        yield "risk", str(flag).replace("_", " ")


def _listed(names: Sequence[str] | None) -> str | None:
    return ", ".join(names) if names else None


def _factor(value: float) -> str | None:
    """The factor by which a penalty multiplies the base, in words; None if it is 1 or more and so costs nothing."""
    return f"× {figures.figure(value, 2, most=1)}" if value < 1 else None


_DIMENSIONS = (
    column("dimension", "id"),
    column("weight", lambda row: percent(row.get("weight")), right=True),
    column("asks", "description"),
)
_PLACES = (
    column("rank", lambda row: row.get("rank") or UNSCORED, right=True),
    column("submitter"),
    column("submission", "submission_id"),
    column("final score", lambda row: total_of(row.get("final_score")), right=True),
)
TASKS = (
    time_column("created (UTC)", "created_at"),
    *columns("id", "path", "owner", "state"),
    time_column("deadline (UTC)", "deadline"),
    column("description", lambda row: short(row.get("description"))),
)
"""The columns of a list of tasks."""
SUBMISSIONS = (
    time_column("submitted (UTC)", "submitted_at"),
    *columns("id", "submitter"),
    column("revision", right=True),
    column("standing", lambda row: str(row.get("standing")).replace("_", " ")),
    column("total", lambda row: total_of(_told("penalized_total")(row)), right=True),
    column("final score", lambda row: total_of(_told("final_score")(row)), right=True),
    column("rank", _told("rank"), right=True),
)
"""The columns of a list of submissions."""
CHALLENGES = (
    time_column("made (UTC)", "created_at"),
    *columns("id", "challenger"),
    column("submission", "submission_id"),
    column("state", lambda row: f"unresolved: {row['unscored']}" if row.get("unscored") else row.get("state")),
    column("new total", lambda row: total_of(row.get("new_total")), right=True),
    column("reason", lambda row: short(row.get("reason"))),
)
"""The columns of a list of challenges."""
