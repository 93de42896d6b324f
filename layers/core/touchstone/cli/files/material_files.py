"""Quizzes, summaries, flashcards and their sources from files and standard input, in the forms that people write.

A quiz is JSON: `{"questions": […]}` or the bare list. A deck is JSON of the same form with `cards`, or CSV as
spreadsheets and flashcard programs write it. A summary is Markdown or plain text, or `{"text": …}`. A source is
Markdown or plain text, or JSON with the fields of `Source`, or a bare list of its pillars. A question or card without
an id gets its number from 1 as id.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touchstone.cli.files.requests import BEGINS_JSON, STANDARD_INPUT, name_of, rows_of, text_of, validated
from touchstone.errors import InputError, TooLargeError
from touchstone.json_text import loads
from touchstone.judges.fence import visible
from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.material.exchange.shown import FORMULA, HtmlText, shown
from touchstone.material.parts import numbered
from touchstone.spreadsheets import delimiter_of
from touchstone.text import normalised

if TYPE_CHECKING:
    from touchstone.surfaces.catalogue import Material
    from touchstone.surfaces.names import Surface


NAMES = {
    "front": ("front", "question", "term", "正面", "問題", "问题"),
    "back": ("back", "answer", "definition", "背面", "答案"),
    "id": ("id",),
    "chunk": ("chunk", "passage", "原文"),
}
"""The columns of a card, and the names that people give them."""
COLUMNS = {name: column for column, names in NAMES.items() for name in names}
OTHER_FRONTS = (
    "word", "prompt", "題目", "题目", "單字", "单词", "術語", "术语", "質問", "表", "앞면", "질문", "vorderseite",
    "frage", "begriff", "recto", "terme", "anverso", "pregunta", "término", "fronte", "domanda", "termine", "frente",
    "pergunta", "termo", "voorkant", "vraag", "вопрос", "pytanie", "soru",
)  # fmt: skip
OTHER_BACKS = (
    "meaning", "response", "反面", "意思", "釋義", "释义", "定義", "定义", "答え", "裏", "뒷면", "답", "rückseite",
    "antwort", "verso", "réponse", "définition", "reverso", "respuesta", "definición", "retro", "risposta",
    "definizione", "resposta", "definição", "achterkant", "antwoord", "ответ", "odpowiedź", "cevap",
)  # fmt: skip
MORE_COLUMNS = {**COLUMNS, **dict.fromkeys(OTHER_FRONTS, "front"), **dict.fromkeys(OTHER_BACKS, "back")}
"""Names that count only where `COLUMNS` does not give both a front and a back: others may stand beside those."""
MAX_CHARS = 5_000_000
"""The limit of a table. A deck has 1,000 cards at most, and a card that people write has some hundred characters."""
DIRECTIVES = re.compile(
    r"(?:sep=[^\n]\r?\n)?+(?:tags:[^\n,;\t]*+\n)?+(?:#(?:[a-z ]++:[^\n]*+|[^\n,;\t]*+)\n)*+", re.IGNORECASE
)
"""The lines at the beginning of an export of Anki, such as `#separator:tab`, and Excel's line `sep=;`. Anki passes over
all lines that begin with #; one that holds a separator may be a card."""
NAMED_SEPARATOR = re.compile(r"(?:#separator:|sep=)([^\n]{0,100})\n", re.IGNORECASE)
NAMED_COLUMNS = re.compile(r"#columns:([^\r\n]*)", re.IGNORECASE)
OWN_COLUMN = re.compile(r"#(?:guid|notetype|deck|tags) column: ?([0-9]{1,3})", re.IGNORECASE)
"""The directive of Anki for a column that is no field of a card, with its number from 1."""
IN_HTML = re.compile(r"^#html: ?true", re.IGNORECASE | re.MULTILINE)
BLANK_LINES = re.compile(r"\n[\r\n]+")
CLOZE = re.compile(r"\{\{c[0-9]{1,3}::")
"""How the text of a cloze note of Anki marks what is to be guessed."""
SEPARATOR_NAMES = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ", "colon": ":"}
WITHOUT_NAMES = ("front", "back")
"""The columns of a table whose first line names none."""
BOTH_SIDES = frozenset(WITHOUT_NAMES)


def cards_of(text: str, *, name: str) -> Iterator[dict[str, str]]:
    """The cards of a table, each as its fields that are not blank. Blank lines are passed over.

    If the first line names a front and a back (see `MORE_COLUMNS`), or Anki's directive `#columns` does, it names the
    columns; columns with other names are ignored. Otherwise the first line is a card, and the columns are front and
    back, beside the columns that other directives of Anki give to tags and the like. Raises `InputError` that names
    the line at fault, and `TooLargeError`.
    """
    if len(text) > MAX_CHARS:
        raise TooLargeError(
            f"{name}: the table has {len(text):,} characters, and at most {MAX_CHARS:,} are read; split it.", where=name
        )
    if "\n" not in text:
        text = text.replace("\r", "\n")  # Excel for the Mac writes tables with carriage returns alone.
    found = DIRECTIVES.match(text)
    begin = found.end() if found else 0
    directives, table = text[:begin], text[begin:]
    separator = _separator(BLANK_LINES.sub("\n", table), directives, name=name)
    told, in_html = NAMED_COLUMNS.search(directives), IN_HTML.search(directives) is not None
    columns: Sequence[str | None] | None = None if told is None else _columns(told[1].split(separator), name=name)
    for line, row in rows_of(table, separator, lines_before=text.count("\n", 0, begin), name=name):
        if _is_blank(row):
            continue
        if columns is None:
            columns = _columns(row, name=name)
            if columns is not None:
                continue
            columns = _without_names(directives)
        of_anki = directives.startswith(("#", "tags:"))
        fields = list(_fields_of_anki(row, in_html=in_html, line=line, name=name)) if of_anki else row
        yield _card(fields, columns, line=line, name=name)


def _separator(table: str, directives: str, *, name: str) -> str:
    """The separator of the columns: the one that a directive or the names of the columns show.

    Where nothing names the columns, it is the only one that is in each line, else the most frequent one of the first
    line. Raises `InputError` if comma and semicolon are both in each line: `0,5;1/2` may be meant either way. A tab is
    never meant as a part of a text.
    """
    if (named := NAMED_SEPARATOR.search(directives)) is not None:
        said = named[1].strip(" \r")
        return SEPARATOR_NAMES.get(said.lower(), said[:1] or ",")
    if (told := NAMED_COLUMNS.search(directives)) is not None:
        return delimiter_of(told[1])
    frequent = delimiter_of(table.lstrip())
    if _columns(next(_parted(table, frequent, name=name), []), name=name) is not None:
        return frequent
    fitting = [each for each in "\t,;" if all(map(_whole, _parted(table, each, name=name)))]
    if fitting == [",", ";"]:
        raise InputError(
            f"{name}: each line has a comma and a semicolon, and either may part its front from its back; name the "
            "columns in the first line, or put quotes around a text that holds one.",
            where=name,
        )
    return fitting[0] if fitting else frequent


def _parted(table: str, separator: str, *, name: str) -> Iterator[list[str]]:
    """The rows as this separator parts them. Where it makes no table, the last one is empty."""
    try:
        yield from (row for _, row in rows_of(table, separator, name=name) if not _is_blank(row))
    except InputError:
        yield []


def _is_blank(row: Sequence[str]) -> bool:
    return not any(cell.strip() for cell in row)


def _whole(row: Sequence[str]) -> bool:
    """Whether a row was parted, and no text in quotes with it."""
    return len(row) > 1 and all(cell.count('"') % 2 == 0 for cell in row)


def _columns(row: Sequence[str], *, name: str) -> list[str | None] | None:
    """For each cell of the first line, the column of a card that it names; None for a cell that names no column.

    None in place of the list if the first line does not name a front and a back: then it is a card itself. Raises
    `InputError` if two cells name one column, since the texts of only one of them could be read.
    """

    def meant_by(names: Mapping[str, str]) -> list[str | None]:
        return [names.get(normalised(cell, "NFKC").replace("\ufeff", "").strip().casefold()) for cell in row]

    meant = meant_by(COLUMNS)
    if not set(meant) >= BOTH_SIDES:
        meant = meant_by(MORE_COLUMNS)
    if not set(meant) >= BOTH_SIDES:
        return None
    for column in NAMES:
        if meant.count(column) > 1:
            raise InputError(f"{name}: the first line names two columns for {column}; leave one of them.", where=name)
    return meant


def _without_names(directives: str) -> list[str | None]:
    """The columns of a table whose first line names none: front and back; None for a column that is no field."""
    own = {int(number) for number in OWN_COLUMN.findall(directives)}
    fields = iter(WITHOUT_NAMES)
    return [None if at in own else next(fields, None) for at in range(1, len(own) + len(WITHOUT_NAMES) + 1)]


def _fields_of_anki(row: Sequence[str], *, in_html: bool, line: int, name: str) -> Iterator[str]:
    """The fields of a note as a reader sees them. Raises `InputError` for what would be read as another card."""
    for cell in row:
        if CLOZE.search(cell):
            raise InputError(
                f"{name}: line {line} is a cloze note, which has no front and back; export notes of other types.",
                where=name,
            )
        found = shown(cell, keep_media=True) if in_html else HtmlText(cell, frozenset())
        if FORMULA in found.unsaid:
            raise InputError(
                f"{name}: line {line} has a formula in MathML, which is not read; write it as TeX or as text.",
                where=name,
            )
        yield found.text


def _card(row: Sequence[str], columns: Sequence[str | None], *, line: int, name: str) -> dict[str, str]:
    if any(cell.strip() for cell in row[len(columns) :]):
        raise InputError(
            f"{name}: line {line} has {len(row)} columns, and the table {len(columns)}; put quotes around a text that "
            "holds the separator, or name the columns in the first line.",
            where=name,
        )
    card = {column: cell for column, cell in zip(columns, row, strict=False) if column is not None and cell.strip()}
    for needed in ("front", "back"):
        if needed not in card:
            raise InputError(f"{name}: line {line} has no {needed}.", where=name)
    return card


GIFT_NOT_JSON = (
    "This is GIFT, and a quiz is wanted as JSON here: `touchstone quiz import FILE --out quiz.json` makes it."
)
"""What is wrong with a file of GIFT."""
MAX_BYTES = 32_000_000
"""The limit of one file. A quiz of 500 questions with 10,000 characters each, and all the rest, is smaller."""
MAX_ID_CHARS = 128
JSON_ENDING = ".json"
TEXT_ENDINGS = frozenset({".md", ".markdown", ".txt", ".csv", ".tsv"})


def is_gift(source: str) -> bool:
    """Whether a file is named as Moodle's GIFT."""
    return source.lower().endswith(".gift")


def quiz_of(source: str) -> Quiz:
    """The quiz in a file.

    Raises `InputError` and `TooLargeError` with one sentence that names the file and the place at fault.
    """
    name = name_of(source)
    if is_gift(source):
        raise InputError(GIFT_NOT_JSON, where=name)
    fields = loads(_text(source), where=name)
    return validated(Quiz, _with_parts(fields, "questions", name), name=name, of="a quiz")


def deck_of(source: str) -> Deck:
    """The flashcards in a file. Raises as `quiz_of`."""
    name = name_of(source)
    text = _text(source)
    if _is_json(source, text):
        fields = _with_parts(loads(text, where=name), "cards", name)
    else:
        fields = {"cards": numbered(list(cards_of(text, name=name)))}
    return validated(Deck, fields, name=name, of="a deck")


def summary_of(source: str) -> Summary:
    """The summary in a file. Raises as `quiz_of`.

    A file is read as JSON only if its name ends in .json, even if its text begins with a brace. Standard input is read
    as JSON if it is an object with a `text`.
    """
    name = name_of(source)
    text = _text(source)
    fields = {"text": text}
    if _named_json(source):
        found = loads(text, where=name)
        fields = found if isinstance(found, dict) else {"text": found}
    elif source == STANDARD_INPUT and (found := _object(text)) is not None and "text" in found:
        fields = found
    return validated(Summary, fields, name=name, of="a summary")


def source_of(source: str, *, called: str | None = None) -> Source:
    """The source in a file. Raises as `quiz_of`.

    `called` is the id of a source that has none of its own; None: the name of its file without the ending.
    """
    name = name_of(source)
    text = _text(source)
    said = called or ("source" if source == STANDARD_INPUT else Path(source).stem)
    given: dict[str, Any] = {"id": said[:MAX_ID_CHARS] or "source"}
    if not _is_json(source, text):
        if not visible(text).strip():
            raise InputError(f"{name} says nothing that a reader would see; give the text of the source.", where=name)
        return validated(Source, {**given, "markdown": text}, name=name, of="a source")
    found = loads(text, where=name)
    fields = found if isinstance(found, dict) else {"pillars": found}
    return validated(Source, {**given, **fields}, name=name, of="a source")


READERS: "Mapping[Surface, Callable[[str], Material]]" = {"quiz": quiz_of, "summary": summary_of, "flashcards": deck_of}
"""The function that reads the material of each surface from a file."""


def _text(source: str) -> str:
    return text_of(source, at_most=MAX_BYTES)


def _named_json(source: str) -> bool:
    return Path(source).suffix.lower() == JSON_ENDING


def _is_json(source: str, text: str) -> bool:
    """Whether a file is read as JSON. Its name decides; if the name does not tell, the first character decides."""
    told = Path(source).suffix.lower() in TEXT_ENDINGS
    return _named_json(source) or (not told and text.lstrip().startswith(BEGINS_JSON))


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = loads(text)
    except InputError:
        return None
    return found if isinstance(found, dict) else None


def _with_parts(found: Any, field: str, name: str) -> dict[str, Any]:
    """The fields of material that a file gives as an object, or as the bare list of its parts.

    `field` is the name of the field with the parts. Each part without an id gets its number from 1 as id.
    """
    fields = {field: found} if isinstance(found, list) else found
    if not isinstance(fields, dict):
        raise InputError(f"{name} must hold one JSON object with {field}, or a list of them.", where=name)
    parts = fields.get(field)
    return {**fields, field: numbered(parts)} if isinstance(parts, list) else fields
