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
        from touchstone.extras import install_command

        # 2 is `Exit.INPUT`. The name cannot be imported here: its module needs the packages that are missing.
        sys.stderr.write(f"Error: The library is installed without its command; {install_command('cli')} adds it.\n")
        sys.exit(2)
    except KeyboardInterrupt:  # while the command loads; `exits.INTERRUPTED`, which may not be loaded yet
        sys.exit(130)

    run()
