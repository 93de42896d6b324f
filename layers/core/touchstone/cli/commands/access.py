"""Commands about access to a deployment: log in and out, and the tokens of a tenant."""

import sys
from typing import Annotated, Literal

import typer

from touchstone.cli.deployment.api import fetch, open_api
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import ServiceError
from touchstone.cli.terminal.screen import is_interactive, print_json, say
from touchstone.cli.terminal.tables import columns, print_page, time_column
from touchstone.errors import InputError

app = typer.Typer()
tokens = options.group("tokens", "Create, list and revoke tokens of your tenant. Needs an admin's token.")
app.add_typer(tokens)


@app.command()
def login(url: Annotated[str, typer.Argument(metavar="URL", help="The address of the deployment's API.")]) -> None:
    """Store the address and token of a deployment for later commands.

    The command asks for the token on a terminal; otherwise it reads it from standard input. It tests the token before
    it stores it, in a file that only you can read.
    """
    from touchstone.cli.deployment.client import ApiClient
    from touchstone.cli.deployment.connection import Connection, checked_token, checked_url, store

    address = checked_url(url)
    if is_interactive():
        token = typer.prompt("Token", hide_input=True, err=True)
    else:
        token = sys.stdin.buffer.readline().decode(errors="replace")
    found = Connection(url=address, token=checked_token(token.strip()))
    with ApiClient(found) as api:
        api.get("answers", limit=1)
    say(f"The token works; it is kept in {store(found)}, which only you can read.")


@app.command()
def logout() -> None:
    """Delete the stored address and token. The token itself stays valid until it is revoked."""
    from touchstone.cli.deployment.connection import forget

    say("Forgotten." if forget() else "Nothing was kept.")


@tokens.command()
def create(
    *,
    role: Annotated[
        Literal["reader", "member", "admin"], typer.Option(help="The role of the token: what its holder may do.")
    ],
    name: Annotated[str, typer.Option(help="A name that tells this token from others, for example its purpose.")],
    expires: Annotated[
        str | None,
        typer.Option(help="When the token expires, as 2027-01-31 or 2027-01-31T12:00+01:00. Default: never."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Create a token and print it. It is printed only this once, so keep it."""
    body = {"role": role, "name": name, "expires_at": None if expires is None else _moment(expires)}
    with open_api() as api:
        created = api.post("tokens", body=body)
    if created.get("token") is None:  # the first reply was lost, and a repeated request does not show the token again
        its_id = created.get("id")
        raise ServiceError(
            f"The reply with the token {its_id} was lost, and nobody can read that token any more: revoke it with "
            f"touchstone tokens revoke {its_id}, and create another."
        )
    if as_json:
        print_json(created)
        return
    say(f"The {role}'s token {created.get('id')} is shown this once; keep it:")
    typer.echo(created.get("token"))


@tokens.command("list")
def list_tokens(*, as_json: options.AsJson = False) -> None:
    """List the tokens, without their secrets."""
    found = fetch("tokens")
    print_page(found, TOKENS, empty="There are no tokens.", as_json=as_json)


@tokens.command()
def revoke(
    token_id: Annotated[
        str, typer.Argument(metavar="ID", help="The token's id, as `touchstone tokens list` shows it.")
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Revoke a token. It stops working at once."""
    with open_api() as api:
        revoked = api.delete("tokens", token_id)
    if as_json:
        print_json(revoked)
    say(f"The token {token_id} is revoked.")


def _moment(text: str) -> str:
    """A moment in the form of the API. A day without a time is its first moment in UTC. Raises `InputError`."""
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"{text!r} is no moment; write it as 2027-01-31 or 2027-01-31T12:00+01:00.", where="expires"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


TOKENS = (
    *columns("id", "role", "name"),
    time_column("created (UTC)", "created_at"),
    time_column("expires (UTC)", "expires_at"),
    time_column("revoked (UTC)", "revoked_at"),
)
