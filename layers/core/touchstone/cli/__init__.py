"""The `touchstone` command: a client of the API, and of the library where no deployment is needed."""

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of this process, and leave with its exit code (see `touchstone.cli.exits`)."""
    from touchstone.cli.app import run

    run()
