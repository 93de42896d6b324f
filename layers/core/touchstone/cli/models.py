"""Commands about models: what the registry lists, what is about to end, and which provider solves which subject."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.exits import Exit
from touchstone.cli.options import AsJson

if TYPE_CHECKING:
    from touchstone.judges.registry import Registry

app = typer.Typer()
routing = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(routing, name="routing", help="Pin a subject to the provider that solves it.")

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="The subject.")]


@app.command()
def models(
    *,
    check: Annotated[
        bool,
        typer.Option("--check", help="Only the defaults that have ended or end within 30 days; exit code 1 if any."),
    ] = False,
    on: Annotated[
        str | None, typer.Option("--date", metavar="YYYY-MM-DD", help="As of this day instead of today.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the models of this installation's registry. Needs no deployment."""
    from touchstone.judges import load_registry

    registry = load_registry()
    if check:
        _check(registry, _day(on), as_json=as_json)
    else:
        _list(registry, as_json=as_json)


@routing.command("list")
def pins(*, as_json: AsJson = False) -> None:
    """List the subjects whose provider is pinned by hand."""
    from touchstone.cli.client import fetch
    from touchstone.cli.screen import Column, field, print_rows

    found = fetch("routing")
    columns = (Column(title="subject", of=field("subject")), Column(title="provider", of=field("provider")))
    rows = [{"subject": subject, "provider": provider} for subject, provider in sorted(found.items())]
    print_rows(found, columns, rows, empty="No subject is pinned: the data decides.", as_json=as_json)


@routing.command()
def pin(
    subject: Subject,
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider that shall solve it.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Have one provider solve a subject. Needs an admin's token."""
    from touchstone.cli.client import open_api
    from touchstone.cli.screen import print_json, say

    with open_api() as api:
        found = api.put("routing", subject, body={"provider": provider})
    if as_json:
        print_json(found)
    say(f"{subject} is solved by {found.get(subject, provider)}.")


@routing.command()
def unpin(subject: Subject) -> None:
    """Leave a subject to the data again. Needs an admin's token."""
    from touchstone.cli.client import open_api
    from touchstone.cli.screen import say

    with open_api() as api:
        api.delete("routing", subject)
    say(f"{subject} is left to the data.")


def _day(text: str | None) -> date:
    from touchstone.clock import system_clock
    from touchstone.errors import InputError

    if text is None:
        return system_clock().date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is no day; write it as 2026-11-30.", where="date") from None


def _check(registry: "Registry", day: date, *, as_json: bool) -> None:
    from dataclasses import asdict

    from touchstone.cli.screen import print_json, say
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
    from touchstone.cli.screen import Column, field, print_rows

    serves: dict[tuple[str, str], list[str]] = {}
    for default in registry.defaults():
        serves.setdefault((default.provider, default.model.name), []).append(default.tier)
    rows: list[dict[str, Any]] = [
        {**model.model_dump(mode="json"), "tiers": serves.get((model.provider, model.name), [])}
        for model in registry.models()
    ]
    columns = (
        Column(title="provider", of=field("provider")),
        Column(title="model", of=field("name")),
        Column(title="serves", of=lambda row: ", ".join(row["tiers"]) or None),
        Column(title="$/M in", of=field("price_in"), right=True),
        Column(title="$/M out", of=field("price_out"), right=True),
        Column(title="a day", of=field("per_day"), right=True),
        Column(title="a minute", of=field("per_minute"), right=True),
        Column(title="ends", of=field("retires")),
        Column(title="successor", of=field("successor")),
    )
    print_rows(rows, columns, rows, empty="The registry is empty.", as_json=as_json)
