"""The command that serves Touchstone's tools to a model's client."""

import typer

from touchstone.extras import require_extras

app = typer.Typer()


@app.command()
def mcp() -> None:
    """Serve checks, judges and proofs to clients as MCP tools.

    MCP is the Model Context Protocol. The command reads standard input and writes standard output. Your client starts
    it: enter `touchstone mcp` as the command in the client's settings. Checks need no key; judges are those whose keys
    are in the environment. It ends when the client closes its input.
    """
    require_extras("mcp")
    from touchstone.cli.local.inprocess import warnings_printed
    from touchstone.cli.local.mcp_tools import server

    with warnings_printed():
        server().run("stdio")
