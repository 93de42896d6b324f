"""Audits of a deployment: how the command shows them, and their exit codes."""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, cast, get_args

from touchstone.cli.screens.experiment_screen import cost_in_words
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.tables import column, columns, print_facts, print_table, styled, time_column
from touchstone.cli.terminal.words import View, cost_of, dollars, is_over, moment
from touchstone.errors import InputError

if TYPE_CHECKING:
    from touchstone.audits.verdict import Rating

type Failing = Literal["incorrect", "ambiguous", "unproven", "drift"]
"""What can make a case fail a build: its rating, or its drift."""
FAILING: tuple[Failing, ...] = get_args(Failing.__value__)
NONE = "none"


def failing_of(text: str, *, drift: bool) -> frozenset[Failing]:
    """The findings that fail a build, as `--fail-on` names them. `drift`: a drift is allowed among them.

    Raises `InputError` for an unknown finding, and if none is named.
    """
    known = [word for word in FAILING if drift or word != "drift"]
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    if words == [NONE]:
        return frozenset()
    for word in words:
        if word not in known:
            raise InputError(f"{word!r} is none of {', '.join(known)}; or say {NONE}.", where="--fail-on")
    if not words:
        raise InputError(f"Name some of {', '.join(known)}; or say {NONE}.", where="--fail-on")
    return cast("frozenset[Failing]", frozenset(words))


def exit_of(view: View, failing: Collection[Failing]) -> Exit:
    """The exit code of an audit. In a recheck, only a case that drifted can fail a build.

    An audit that is still going on has the code `DONE`: this command has nothing left to do.
    """
    if view.get("state") == "failed":
        return Exit.UNDECIDED
    if view.get("kind") == "recheck":
        ratings = [(str(one.get("rating_before")), str(one.get("rating_now"))) for one in view.get("drifts") or ()]
        return Exit.VERDICT if any(drift_fails(before, now, failing) for before, now in ratings) else Exit.DONE
    return exit_of_totals(view.get("totals") or {}, failing)


def drift_fails(before: str, now: str, failing: Collection[Failing]) -> bool:
    """Whether a case that drifted fails a build: any drift does, or its new rating does and is another than before."""
    return "drift" in failing or (now != before and now.lower() in failing)


def exit_of_totals(totals: "Mapping[Rating, int]", failing: Collection[Failing]) -> Exit:
    """The exit code of an audit: `VERDICT` if a rating fails a build, else `UNDECIDED` if a case is Unproven.

    `totals` has the number of cases with each rating.
    """
    if any(count and rating.lower() in failing for rating, count in totals.items()):
        return Exit.VERDICT
    return Exit.UNDECIDED if totals.get("Unproven") else Exit.DONE


def change(before: object, now: object) -> str:
    """What a rating or an outcome was and is, in words."""
    return str(now) if before == now else f"{before} → {now}"


def print_audit(view: View) -> None:
    """Print an audit: its progress, its cost, its findings, and the cases that drifted."""
    print_facts(_facts(view))
    if view.get("state") == "done" and (view.get("previous") or view.get("kind") == "recheck"):
        print_table(_DRIFTS, view.get("drifts") or (), empty="No case drifted.")


def _facts(view: View) -> Iterator[tuple[str, object]]:
    yield "state", styled(view.get("state"), "bold red" if view.get("state") == "failed" else "bold")
    yield "because", view.get("failure") or view.get("because")
    for name in ("id", "kind"):
        yield name, view.get(name)
    version = view.get("version")
    yield "target", f"{view.get('requirement')} (resolved to {version})" if version else view.get("requirement")
    if view.get("cases") is not None:
        yield "cases", f"{view.get('done')} of {view['cases']} done"
    yield "turns", view.get("turns") or None
    yield "cost", cost_of(view) if view.get("turns") else None
    expected = (view.get("estimate") or {}).get("cost_usd")
    if expected and not is_over(view):
        yield "estimated", cost_in_words(expected)
    batches = view.get("batches") or {}
    if batches.get("under_way"):
        until = f", answered by {moment(batches['ends_by'])} UTC at the latest" if batches.get("ends_by") else ""
        yield "in batches", f"the first turns of {batches['questions']} cases{until}"
    yield "saved by batches", dollars(batches.get("saved_usd")) if batches.get("saved_usd") else None
    totals = view.get("totals")
    yield "ratings", ", ".join(f"{count} {rating}" for rating, count in totals.items()) if totals else None
    yield "previous", view.get("previous")
    if view.get("weekly"):
        yield "made again", "each week"
    yield "followed by", view.get("followed_by")
    yield "asked for (UTC)", moment(view.get("created_at"))
    yield "over (UTC)", moment(view.get("finished_at"))


def _options(drift: View) -> str:
    return ", ".join(f"{one['label']} {change(one['before'], one['now'])}" for one in drift.get("options") or ())


_DRIFTS = (
    column("id"),
    column("rating", lambda row: change(row.get("rating_before"), row.get("rating_now"))),
    column("options", _options),
)
AUDITS = (
    time_column("asked for (UTC)", "created_at"),
    *columns("id", "kind", "state"),
    column("target", "requirement"),
    column("version"),
    *columns("cases", "incorrect", "ambiguous", "drifted", right=True),
    column("weekly", lambda row: "yes" if row.get("weekly") else "no"),
    column("cost", cost_of, right=True),
)
"""The columns of a list of audits."""
