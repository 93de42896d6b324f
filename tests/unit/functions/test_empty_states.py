"""Where a table is empty, its page says what to run: a command that there is, with options that it has."""

from typing import Any

import pytest
from typer.main import get_command

from functions.pages.rendering import NEXT_COMMANDS
from functions.pages.words import words
from touchstone.cli.app import app


@pytest.mark.parametrize(("table", "named"), NEXT_COMMANDS.items())
def test_the_command_that_an_empty_table_names_exists(table: str, named: str) -> None:
    program, *rest = named.split()
    command: Any = get_command(app)
    while rest and not rest[0].startswith("-"):
        command = command.commands[rest.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    assert program == "touchstone"
    assert not command.hidden
    assert set(rest) <= options
    assert f"table.{table}.none" in words("en").texts
