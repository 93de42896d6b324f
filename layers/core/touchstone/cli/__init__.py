"""The `touchstone` command: a client of the API, and of the library where no deployment is needed."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of this process, and leave with its exit code (`cli/terminal/exits.py`)."""
    try:
        from touchstone.cli.app import run
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        from touchstone.extras import install

        # The exit code of a wrong setting, by its number: its name lies behind what is missing.
        sys.stderr.write(f"Error: The library is installed without its command; {install('cli')} adds it.\n")
        sys.exit(2)

    run()
