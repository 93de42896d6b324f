"""Every command of README and the guides can be given as it stands: those that need no deployment are run.

A block that is not run says why in a comment before it; its commands and their options must exist all the same.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from infra.layers import ROOT
from tests.support.commands import Command
from tests.support.guides import FILES, Block, blocks, checkout, of_pages
from tests.support.providers import ProviderServer
from touchstone.cli.app import app

__all__ = ["checkout"]

SHELL = of_pages("sh")
BLOCKS = [block for found in SHELL.values() for block in found]
BEFORE = ("uv", "run")
JUDGED = {0, 1, 3}
"""Exit codes of a command that did what it was asked: nothing wrong, something wrong, nobody could tell."""
LOCAL = "http://localhost:11434/v1"


def statements(block: Block) -> Iterator[tuple[dict[str, str], list[str], str]]:
    """The commands of a block: variables set for it alone, its words, and what its comment says."""
    text = re.sub(r"<(\w[^<>\n]*)>", r"\1", block.text.replace("\\\n", " "))
    text = re.sub(r"(?s)<<'END'.*?^END$", "", text, flags=re.MULTILINE)
    for line in whole(text):
        _, _, comment = line.partition(" # ")
        words = shlex.split(line, comments=True)
        for part in " ".join(";" if word in {";", "&&", "|"} else shlex.quote(word) for word in words).split(" ; "):
            own = shlex.split(part)
            variables = {}
            while own and re.match(r"[A-Z_]+=", own[0]):
                name, _, value = own.pop(0).partition("=")
                variables[name] = value
            if tuple(own[:2]) == BEFORE:
                own = own[2:]
            if own:
                yield variables, [own[0].removeprefix(".venv/bin/"), *own[1:]], comment.strip()


def whole(text: str) -> Iterator[str]:
    """The lines of a script; one that ends inside quotation marks with those that follow."""
    begun = ""
    for line in text.splitlines():
        begun += line
        try:
            shlex.split(begun, comments=True)
        except ValueError:
            begun += "\n"
            continue
        yield begun
        begun = ""


def known(words: list[str]) -> None:
    """Raises where a command, or an option of it, does not exist."""
    command: Any = get_command(app)
    words = words[1:]
    while hasattr(command, "commands"):
        context = command.make_context(command.name, list(words))
        left = [*context._protected_args, *context.args]
        if not left:
            return
        _, command, words = command.resolve_command(context, left)
    command.make_parser(command.make_context(command.name, [], resilient_parsing=True)).parse_args(list(words))


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_can_be_read_by_a_shell_and_its_commands_exist(block: Block) -> None:
    script = re.sub(r"<(\w[^<>\n]*)>", r"\1", block.text)
    subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=True)
    for _, words, _ in statements(block):
        match words:
            case ["touchstone", *_]:
                known(words)
            case ["sh", path, *_]:
                assert (ROOT / path).is_file(), path
            case ["python", "-m", module, *_]:
                assert find_spec(module), module


def shown(text: str) -> str:
    """Without what a terminal's width makes of it."""
    return " ".join(text.split())


@pytest.mark.parametrize("page", [page for page in SHELL if any(not one.not_run for one in SHELL[page])], ids=str)
def test_the_commands_of_a_guide_do_what_it_says(
    page: Path, checkout: ProviderServer, touchstone: Command, tmp_path: Path
) -> None:
    variables: dict[str, str] = {"COLUMNS": "200"}
    for data in blocks(page, "json")[:1]:
        (tmp_path / FILES[page.name]).write_text(data.text, encoding="utf-8")
    for block in SHELL[page]:
        if block.not_run:
            continue
        for here in re.finditer(r"cat > (\S+) <<'END'\n(.*?)^END$", block.text, re.DOTALL | re.MULTILINE):
            (tmp_path / here[1]).write_text(here[2], encoding="utf-8")
        printed = ""
        for own, words, comment in statements(block):
            match words:
                case ["touchstone", *_]:
                    printed += run(touchstone, words[1:], {**variables, **own}, comment, tmp_path)
                case ["export", setting]:
                    name, _, value = setting.partition("=")
                    variables[name] = value.replace(LOCAL, checkout.compatible_url)
                case _:
                    assert words[0] == "cat", f"{block}: {shlex.join(words)} is not run: say why in a comment before it"
        for line in following(block):
            assert shown(line) in shown(printed), f"{block}: {line}"


def run(touchstone: Command, words: list[str], env: dict[str, str], comment: str, folder: Path) -> str:
    """What a command prints, once it did what it was asked, and ended as its comment says."""
    to = words[words.index(">") + 1] if ">" in words else None
    words = words[: words.index(">")] if to else words
    result = touchstone(*(str(one) for word in words for one in expanded(word, folder)), env=env)
    told = re.match(r"(\d):", comment)
    expected = {int(told[1])} if told else JUDGED
    assert result.exit_code in expected, f"{shlex.join(words)}\n{result.output}"
    if to:
        (folder / to).write_text(result.stdout, encoding="utf-8")
    return result.output


def expanded(word: str, folder: Path) -> list[str]:
    """The files that a word stands for, as a shell has it; else the word."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else [word]


def following(block: Block) -> list[str]:
    """The lines of the output that stands right behind a block; none where there is none."""
    after = block.page.read_text(encoding="utf-8").partition(f"{block.text}```\n\n")[2]
    text = re.match(r"```text\n(.*?)```", after, re.DOTALL)
    return [line.rstrip("…") for line in text[1].splitlines() if line.strip("…")] if text else []
