"""Commands that take quizzes and cards to other tools, and quizzes from them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from touchstone.cli.quizzes import quiz

MAX_GIFT_BYTES = 2_000_000
"""Of a file; it is read into memory whole."""

app = typer.Typer()
cards = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(cards, name="cards", help="Flashcards, for the tools that they are learned in.")

Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write it.")]
Name = Annotated[str | None, typer.Option(metavar="NAME", help="What Anki calls the deck; else the file's name.")]


@quiz.command("export")
def export_quiz(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A quiz as JSON, or - for standard input.")],
    *,
    to: Annotated[
        Literal["gift", "moodle", "qti", "qti3", "anki"],
        typer.Option(help="Moodle's GIFT or XML, a package of QTI 2.1 or 3.0, or a package of cards for Anki."),
    ],
    out: Out,
    name: Name = None,
) -> None:
    """Write a quiz in the form that another tool imports. Every question needs a key."""
    from touchstone.cli.material_files import quiz_of
    from touchstone.cli.places import check_place, replace
    from touchstone.cli.screen import say

    check_place(out, where="--out")
    found = quiz_of(file)
    match to:
        case "gift":
            from touchstone.material.exchange.gift import write_gift

            data = write_gift(found).encode()
        case "moodle":
            from touchstone.material.exchange.moodle import write_moodle_xml

            data = write_moodle_xml(found)
        case "qti" | "qti3":
            from touchstone.material.exchange.qti import write_qti

            data = write_qti(found, "2.1" if to == "qti" else "3.0")
        case "anki":
            from touchstone.material.exchange.anki import cards_of_quiz, write_apkg

            data = write_apkg(cards_of_quiz(found), name=name or out.stem)
    replace(out, [data])
    say(f"{out} has {_count(len(found.questions), 'question')}.")


@quiz.command("import")
def import_quiz(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A quiz in Moodle's GIFT, or - for standard input.")],
    *,
    out: Out,
) -> None:
    """Read a quiz in GIFT, and write it as JSON. What a quiz has no place for is named."""
    import json

    from touchstone.cli.places import check_place, replace
    from touchstone.cli.quiz_views import plain
    from touchstone.cli.requests import name_of, text_of
    from touchstone.cli.screen import say
    from touchstone.errors import InputError
    from touchstone.material.exchange.gift import read_gift

    check_place(out, where="--out")
    try:
        found = read_gift(text_of(file, at_most=MAX_GIFT_BYTES))
    except InputError as error:
        raise InputError(f"{name_of(file)}: {error}", where=name_of(file)) from None
    document = plain(found.quiz.model_dump(mode="json"))
    replace(out, [json.dumps(document, ensure_ascii=False, indent=2).encode(), b"\n"])
    for sentence in found.left_out:
        say(f"Left out: {name_of(file)}: {sentence}.")
    say(f"{out} has {_count(len(found.quiz.questions), 'question')}.")


@cards.command("export")
def export_cards(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Cards as JSON or CSV (front,back), or - for stdin.")],
    *,
    out: Out,
    name: Name = None,
) -> None:
    """Write cards as a package that Anki imports (.apkg)."""
    from touchstone.cli.material_files import deck_of
    from touchstone.cli.places import check_place, replace
    from touchstone.cli.screen import say
    from touchstone.material.exchange.anki import write_apkg

    check_place(out, where="--out")
    deck = deck_of(file)
    replace(out, [write_apkg(deck, name=name or out.stem)])
    say(f"{out} has {_count(len(deck.cards), 'card')}.")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
