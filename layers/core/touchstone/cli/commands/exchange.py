"""Commands that export quizzes, cards and results to other tools, and import quizzes and cards from GIFT."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.commands.quizzes import quiz
from touchstone.cli.files.requests import name_of, text_of
from touchstone.cli.screens.quiz_views import plain
from touchstone.cli.terminal import options
from touchstone.cli.terminal.places import check_place, replace, write_json
from touchstone.cli.terminal.screen import say
from touchstone.clock import system_clock
from touchstone.errors import InputError
from touchstone.extras import require_extras
from touchstone.figures import counted

if TYPE_CHECKING:
    from touchstone.cli.exports.trials import Trials
    from touchstone.material import Deck, Quiz
    from touchstone.material.exchange.gift import GiftQuiz

MAX_GIFT_BYTES = 2_000_000
"""The limit of a file in GIFT, which is read into memory whole."""

cards = options.group("cards", "Export flashcards to learning tools, and import them.")
results = options.group("results", "Export verdicts to tools that show results.")

Form = Literal["gift", "moodle", "qti", "qti3", "anki"]
LeaveOut = Annotated[
    bool,
    typer.Option(
        "--leave-out",
        help="Leave out entries that a quiz cannot hold, and name them. Default: one such entry refuses the whole "
        "file.",
    ),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="The name of the deck in Anki. Default: the name of the file --out.")
]
ONLY_GIFT = "This is another form: only Moodle's GIFT is read here, so have the other tool export that."
OR_LEAVE_OUT = "Nothing was written; --leave-out does without them."
OTHER_FORMS = ("<?xml", "<quiz", "{", "[{")
"""The beginnings of files in other forms: those of other tools, and our own JSON."""
FORMS = "gift, moodle: Moodle's GIFT or XML; qti, qti3: a package of QTI 2.1 or 3.0; anki: a package of cards for Anki."


@quiz.command("export")
def export_quiz(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file with a quiz as JSON, or - for standard input.")],
    *,
    to: Annotated[Form, typer.Option(help=FORMS)],
    out: options.OutFile,
    name: Name = None,
) -> None:
    """Write a quiz in a format that another tool imports. Every question needs a key."""
    from touchstone.cli.files.material_files import quiz_of

    _check_name(name, to)
    check_place(out, where="--out", read=[file])
    found = quiz_of(file)
    replace(out, [_written(found, to, name=name or out.stem)])
    say(f"{out} has {counted(len(found.questions), 'question')}.")


@quiz.command("import")
def import_quiz(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with a quiz in Moodle's GIFT, or - for standard input.")
    ],
    *,
    out: options.OutFile,
    leave_out: LeaveOut = False,
) -> None:
    """Read a quiz in GIFT, and write it as JSON. Entries that a quiz cannot hold are named."""
    found = _of_gift(file, out, leave_out=leave_out)
    write_json(out, plain(found.quiz.model_dump(mode="json")))
    say(f"{out} has {counted(len(found.quiz.questions), 'question')}.")


@cards.command("export")
def export_cards(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A file with cards as JSON or CSV (front,back), or - for standard input."),
    ],
    *,
    to: Annotated[Form, typer.Option(help=FORMS)] = "anki",
    out: options.OutFile,
    name: Name = None,
) -> None:
    """Write cards in a format that another tool imports.

    For Anki they stay cards; in the other formats they become questions that are answered by typing.
    """
    from touchstone.cli.files.material_files import deck_of

    _check_name(name, to)
    check_place(out, where="--out", read=[file])
    deck = deck_of(file)
    replace(out, [_written(deck, to, name=name or out.stem)])
    say(f"{out} has {counted(len(deck.cards), 'card')}.")


@cards.command("import")
def import_cards(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with questions in Moodle's GIFT, or - for standard input.")
    ],
    *,
    out: options.OutFile,
    leave_out: LeaveOut = False,
) -> None:
    """Read questions in GIFT, and write them as cards in JSON.

    The question is the front of the card, and its key is the back.
    """
    from touchstone.material.exchange.anki import cards_of_quiz

    deck = cards_of_quiz(_of_gift(file, out, leave_out=leave_out).quiz)
    write_json(out, deck.model_dump(mode="json", exclude_none=True))
    say(f"{out} has {counted(len(deck.cards), 'card')}.")


@results.command("export")
def export_results(
    given: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="A file with the results of a batch or with an answer as JSON, the folder of an experiment, or - for "
            "standard input.",
        ),
    ],
    *,
    to: Annotated[
        Literal["promptfoo", "inspect", "otlp"],
        typer.Option(
            help="promptfoo: promptfoo's results; inspect: a log of Inspect; otlp: OpenTelemetry events in OTLP's JSON."
        ),
    ],
    out: options.OutFile,
    variant: Annotated[
        str | None,
        typer.Option(
            metavar="VARIANT",
            help="With inspect, for an experiment: the variant to write. Each variant needs a log of its own.",
        ),
    ] = None,
) -> None:
    """Write verdicts in a format that another tool reads.

    A result that nobody decided is an error, or unscored, in that tool.

    To look at the file: `promptfoo import FILE` for promptfoo; `inspect view` for Inspect (call the file NAME.eval or
    NAME.json).
    """
    check_place(out, where="--out", read=[given])
    if to != "inspect" and variant is not None:
        raise InputError("Only a log of Inspect is of one variant; leave it out.", where="--variant")
    if to == "inspect":
        require_extras("inspect")
    found = _trials(given)
    match to:
        case "promptfoo":
            from touchstone.cli.exports.promptfoo import promptfoo

            replace(out, [promptfoo(found, at=system_clock())])
            written = len(found.trials)
        case "otlp":
            from touchstone.cli.exports.otlp import otlp_of_trials

            replace(out, [otlp_of_trials(found, at=system_clock())])
            written = len(found.trials)
        case "inspect":
            from touchstone.cli.exports.inspect_log import write_inspect

            written = write_inspect(out, found, variant=variant, at=system_clock())
    if found.left_out:
        say(f"Left out: {counted(found.left_out, 'line')} with no answer to tell of.")
    say(f"{out} has {counted(written, 'result')}.")


def _check_name(name: str | None, to: Form) -> None:
    """Raise `InputError` if a name was given to something that has none."""
    if name is not None and to != "anki":
        raise InputError("Only a deck of Anki has a name; leave it out.", where="--name")


def _written(found: "Quiz | Deck", to: Form, *, name: str) -> bytes:
    """A quiz or cards in the form of another tool. For Anki a quiz becomes cards, for the others cards become a quiz.

    `name` is that of a deck in Anki.
    """
    from touchstone.material import Deck

    if to == "anki":
        from touchstone.material.exchange.anki import cards_of_quiz, write_apkg

        return write_apkg(found if isinstance(found, Deck) else cards_of_quiz(found), name=name)
    if isinstance(found, Deck):
        from touchstone.material.exchange.keyed import quiz_of_cards

        found = quiz_of_cards(found)
    match to:
        case "gift":
            from touchstone.material.exchange.gift import write_gift

            return write_gift(found).encode()
        case "moodle":
            from touchstone.material.exchange.moodle import write_moodle_xml

            return write_moodle_xml(found)
        case "qti" | "qti3":
            from touchstone.material.exchange.qti import write_qti

            return write_qti(found, "2.1" if to == "qti" else "3.0")


def _of_gift(file: str, out: Path, *, leave_out: bool) -> "GiftQuiz":
    """What a file in GIFT holds; what has no place here is told. Raises `InputError`."""
    from touchstone.material.exchange.gift import GiftEntriesError, read_gift

    check_place(out, where="--out", read=[file])
    name = name_of(file)
    text = text_of(file, at_most=MAX_GIFT_BYTES)
    try:
        found = read_gift(text, leave_out=leave_out)
    except InputError as error:
        hint = ""
        if text.lstrip().startswith(OTHER_FORMS):
            hint = f" {ONLY_GIFT}"
        elif isinstance(error, GiftEntriesError):
            hint = f" {OR_LEAVE_OUT}"
        raise InputError(f"{name}: {error}{hint}", where=name) from None
    for sentence in found.left_out:
        say(f"Left out: {name}: {sentence}.")
    return found


def _trials(given: str) -> "Trials":
    """The trials in the folder of an experiment or in a file of results."""
    if given != "-" and Path(given).is_dir():
        from touchstone.cli.exports.experiment_trials import trials_of_experiment

        return trials_of_experiment(Path(given))
    from touchstone.cli.exports.trials import trials_in

    return trials_in(given)
