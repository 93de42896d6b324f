"""The command that serves Touchstone's tools to a model's client."""

import typer

from touchstone.extras import need

app = typer.Typer()


@app.command()
def mcp() -> None:
    """Serve checks, judges and proofs as tools of the Model Context Protocol, on standard input and output.

    A client starts it itself: name `touchstone mcp` as its command. Checks need no key; judges are those of the
    environment. It ends when the client closes its input.
    """
    need("mcp")
    from touchstone.cli.local.inprocess import said_aloud
    from touchstone.cli.local.mcp_tools import server

    with said_aloud():
        server().run("stdio")
