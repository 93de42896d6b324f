"""Commands for checks, which decide without a model, a key or a deployment, and the server of tools for models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.files.requests import checked, key_options, text_of
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.places import read_file
from touchstone.cli.terminal.screen import print_json, say, visible
from touchstone.extras import require_extras

if TYPE_CHECKING:
    from touchstone import checks
    from touchstone.checks import Finding

VALUES = {"ignore_unknown_options": True}
"""Settings of commands whose value may be a negative number: it must not be read as an option."""

app = typer.Typer()
check = options.group("check", "Run the library's checks: exact, free, without a key.")


@check.command(context_settings=VALUES)
def equivalent(
    given: Annotated[str, typer.Argument(metavar="GIVEN", help="An answer, or a text that ends with an answer.")],
    expected: Annotated[str, typer.Argument(metavar="EXPECTED", help="The right answer, without other text.")],
    *,
    tolerance: options.Tolerance = None,
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What was asked: the right value in an order or a form that it does not ask for is left open.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also say how each side was read, and what decided.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Say whether two answers have the same value.

    Exit code 0: the same value; 1: different values; 3: the check cannot tell.
    """
    from touchstone import checks

    require_extras("checks")
    found = checks.explain(given, expected, tolerance=_tolerance(expected, tolerance), question=question)
    words = {True: "The same value.", False: "Different values.", None: "That cannot be told."}
    lines = [words[found.answer]]
    document: dict[str, object] = {"equivalent": found.answer}
    if explain:
        lines += [f"Given:    {found.given}", f"Expected: {found.expected}", f"Because:  {found.because}"]
        document |= {"given": found.given, "expected": found.expected, "because": found.because}
    _say(document, "\n".join(lines), as_json=as_json)
    raise typer.Exit({True: Exit.DONE, False: Exit.VERDICT, None: Exit.UNDECIDED}[found.answer])


def _tolerance(expected: str, tolerance: str | None) -> "checks.Tolerance | None":
    """The tolerance that the option gives, None without the option. Raises `InputError` if it is malformed."""
    if tolerance is None:
        return None
    from touchstone.answers.answer_key import AnswerTolerance

    told = checked(AnswerTolerance, key_options([expected], tolerance)["tolerance"])
    return told.exact()


@check.command(context_settings=VALUES)
def prove(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="The text of the problem.")],
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="The answer to prove or refute.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Prove or refute an answer from the problem's own text.

    Exit code 0: proved; 1: refuted; 3: neither proved nor refuted.
    """
    from dataclasses import asdict

    from touchstone import checks

    require_extras("checks")
    proof = checks.prove_answer(problem, answer)
    words = {"proved": "Proved.", "refuted": "Refuted.", "unknown": "Neither proved nor refuted."}
    lines = [words[proof.outcome], *(f"  {line}" for line in proof.derivation)]
    if proof.correct_answer is not None:
        lines.append(f"Worked out: {proof.correct_answer}")
    _say(asdict(proof), "\n".join(lines), as_json=as_json)
    raise typer.Exit({"proved": Exit.DONE, "refuted": Exit.VERDICT, "unknown": Exit.UNDECIDED}[proof.outcome])


@check.command()
def arithmetic(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A file with a solution, or - for standard input.")],
    *,
    problem: Annotated[
        str, typer.Option(help="The problem, which may say that it is about clocks, remainders or binary numbers.")
    ] = "",
    as_json: options.AsJson = False,
) -> None:
    """Find the first false calculation in a written solution. Exit code 1 if there is one."""
    from dataclasses import asdict

    from touchstone import checks

    text = text_of(source)
    finding = checks.first_arithmetic_error(text, problem)
    if finding is None:
        _say(None, "No false calculation was found.", as_json=as_json)
        return
    start, end = finding.span
    line = text.count("\n", 0, start) + 1
    advice = "" if finding.suggestion is None else f"\nIt should be: {finding.suggestion}"
    _say(
        {**asdict(finding), "line": line}, f"Line {line}: {text[start:end]}\n{finding.detail}{advice}", as_json=as_json
    )
    raise typer.Exit(Exit.VERDICT)


@check.command()
def script(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A Traditional Chinese text, or - for standard input.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Find Simplified characters and words, by the standard of Taiwan. Exit code 1 if there are any."""
    from touchstone import checks

    require_extras("script")
    text = text_of(source)
    _list(text, checks.find_simplified(text), "Nothing is Simplified.", as_json=as_json)


@check.command()
def pinyin(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A text in pinyin, or - for standard input.")],
    *,
    hanzi: Annotated[str | None, typer.Option(help="The Chinese characters that the pinyin is the reading of.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Find errors in a text in pinyin.

    With --hanzi also find syllables that the characters are not read with. Exit code 1 if there is any error.
    """
    from touchstone import checks

    require_extras("script")
    text = text_of(source)
    _list(text, checks.find_pinyin_errors(text, hanzi), "The pinyin is right.", as_json=as_json)


@check.command()
def image(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A picture: PNG, JPEG, WebP or GIF.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Read the printed text of a picture on this machine.

    Exit code 0: all of the text was read with certainty; 3: a judge should read the picture, for example because of a
    formula or a drawing. With code 3 the text that was read is printed too, and the reason why it may be wrong.
    """
    import asyncio
    from dataclasses import asdict

    from touchstone.answers.model import MAX_IMAGE_BYTES
    from touchstone.answers.printed import left_to_a_judge, read_printed
    from touchstone.answers.reading import image as picture_of

    require_extras("ocr")
    picture = picture_of(read_file(source, at_most=MAX_IMAGE_BYTES + 1))
    found = asyncio.run(read_printed(picture))
    _say(asdict(found), found.text, as_json=as_json)
    if found.unsure is not None:
        say(left_to_a_judge(found.unsure))
        raise typer.Exit(Exit.UNDECIDED)


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


def _list(text: str, findings: "list[Finding]", nothing: str, *, as_json: bool) -> None:
    """Print findings with line and column, both from 1, or the sentence `nothing`. Leave with the exit code.

    The exit code is 1 if there are findings.
    """
    from dataclasses import asdict

    rows = []
    for finding in findings:
        before = text[: finding.span[0]].split("\n")
        rows.append({**asdict(finding), "line": len(before), "column": len(before[-1]) + 1})
    lines = [
        f"{row['line']}:{row['column']} {row['rule']}: {row['detail']}{_advice(row['suggestion'])}" for row in rows
    ]
    _say(rows, "\n".join(lines) or nothing, as_json=as_json)
    raise typer.Exit(Exit.VERDICT if findings else Exit.DONE)


def _advice(suggestion: str | None) -> str:
    return f" → {suggestion}" if suggestion else ""


def _say(document: object, words: str, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        typer.echo(visible(words))
