"""Commands about models: the registry, the models that end soon, and which provider solves which subject."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.deployment.api import fetch_whole, open_api
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.tables import column, columns, print_rows, time_column
from touchstone.clock import system_clock
from touchstone.errors import InputError
from touchstone.figures import percent

if TYPE_CHECKING:
    from touchstone.cli.terminal.tables import Row
    from touchstone.judges.registry import Registry

app = typer.Typer()
routing = options.group("routing", "Show, pin and unpin the provider that solves each subject.")
app.add_typer(routing)

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="The subject.")]


@app.command()
def models(
    *,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="List only default models that have ended or end within 30 days. Exit code 1 if there are any.",
        ),
    ] = False,
    on: Annotated[
        str | None, typer.Option("--date", metavar="YYYY-MM-DD", help="With --check: use this day instead of today.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the models in the registry of this installation. Needs no deployment."""
    from touchstone.judges import load_registry

    if on is not None and not check:
        raise InputError("Only --check asks about a day; add it, or leave --date out.", where="--date")
    registry = load_registry()
    if check:
        _check(registry, _day(on), as_json=as_json)
    else:
        _list(registry, as_json=as_json)


@routing.command("list")
def pins(*, as_json: options.AsJson = False) -> None:
    """List the provider that solves each subject.

    Shows why and since when it does, how often it was right, and which provider would take over.
    """
    found = fetch_whole("routing", lists=("subjects",))
    print_rows(found, ROUTING, found["subjects"], empty="No subject has data or a pin.", as_json=as_json)
    if not as_json:
        others = found["default"] or "nobody: no provider has a key"
        say(
            f"All others are solved by {others}. The data decides on a subject from {found['min_samples']} verdicts on."
        )


@routing.command()
def pin(
    subject: Subject,
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider that will solve the subject.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Let one provider always solve a subject. Needs an admin's token."""
    with open_api() as api:
        found = api.put("routing", subject, body={"provider": provider})
    if as_json:
        print_json(found)
    say(f"{subject} is solved by {found.get(subject, provider)}.")


@routing.command()
def unpin(subject: Subject) -> None:
    """Remove the pin of a subject: the data chooses its provider again. Needs an admin's token."""
    with open_api() as api:
        api.delete("routing", subject)
    say(f"{subject} is left to the data.")


def _why(row: "Row") -> str | None:
    """Why the provider of a subject is chosen, and if it is pinned, which provider would be chosen without the pin."""
    without, pinned = row.get("without_pin") or {}, row.get("pinned")
    if row.get("why") == "pinned":
        by = " by the deployment" if row.get("pinned_by") == "deployment" else ""
        return f"pinned{by} (else {without.get('provider')}: {without.get('why')})"
    if pinned is not None:
        return f"{row.get('why') or 'nobody'} (pinned to {pinned}, which has no key)"
    return row.get("why")


def _right(row: "Row") -> str | None:
    """How often the chosen provider was right, with the interval; None if none of its answers was decided."""
    found = (one for one in row.get("evidence", ()) if one["provider"] == row.get("provider") and one["decided"])
    one = next(found, None)
    if one is None:
        return None
    rate, lower, upper = (percent(one[name], 1) for name in ("rate", "lower", "upper"))
    return f"{rate} ({lower} to {upper}) of {one['decided']:,}"


def _next(row: "Row") -> str | None:
    """The provider that would take over without a pin, and after how many more verdicts; None if there is none."""
    candidate = row.get("candidate")
    if candidate is None:
        return None
    rate = percent(candidate["rate"], 1)
    return f"{candidate['provider']} ({rate} of {candidate['decided']:,}), {candidate['lacks']:,} more"


def _day(text: str | None) -> date:
    if text is None:
        return system_clock().date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is no day; write it as 2026-11-30.", where="date") from None


def _check(registry: "Registry", day: date, *, as_json: bool) -> None:
    from dataclasses import asdict

    from touchstone.judges import check

    notices = check(registry, day)
    if as_json:
        print_json([{**asdict(notice), "retires": notice.retires.isoformat()} for notice in notices])
    else:
        for notice in notices:
            typer.echo(str(notice))
    if notices:
        raise typer.Exit(Exit.VERDICT)
    say(f"Every default model answers for at least another month from {day}.")


def _list(registry: "Registry", *, as_json: bool) -> None:
    serves: dict[tuple[str, str], list[str]] = {}
    for default in registry.defaults():
        serves.setdefault((default.provider, default.model.name), []).append(default.tier)
    rows: list[dict[str, Any]] = [
        {**model.model_dump(mode="json"), "tiers": serves.get((model.provider, model.name), [])}
        for model in registry.models()
    ]
    print_rows(rows, MODELS, rows, empty="The registry is empty.", as_json=as_json)


ROUTING = (
    *columns("subject", "provider"),
    column("why", _why),
    time_column("since (UTC)", "since"),
    column("right (95 %)", _right),
    column("would take over", _next),
)
MODELS = (
    column("provider"),
    column("model", "name"),
    column("serves", lambda row: ", ".join(row["tiers"]) or None),
    column("$/M in", "price_in", right=True),
    column("$/M out", "price_out", right=True),
    column("a day", "per_day", right=True),
    column("a minute", "per_minute", right=True),
    column("ends", "retires"),
    column("successor"),
)
