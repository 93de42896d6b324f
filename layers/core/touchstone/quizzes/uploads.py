"""Courses and learners as people hand them in: JSON, or a table as spreadsheets save it.

A course as CSV has a row for each word and each pattern:

```text
chapter,title,kind,item,pinyin,meaning_en,meaning_ja,explanation,examples
2,去圖書館,word,學習,xuéxí,to study,学ぶ,,
2,去圖書館,grammar,因為……所以……,,,,cause and effect,因為下雨，所以我在家。|因為累，所以他睡了。
```

`chapter`, `kind` (word or grammar) and `item` are needed; `hanzi` and `pattern` are other names for `item`. The title
of a chapter may be given once; examples stand in one cell with `|` between them. Learners as CSV have a row for each
word or pattern:

```text
learner,ui_language,item,error_rate,seen
mei,en,學習,0.35,20
```

`learner`, `item` and `error_rate` (0 to 1, or 35%; also 0,35 or 35,5 %) are needed. Commas, semicolons or tabs between
cells, quotation marks, a byte order mark and any line ends are read alike.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from touchstone.errors import InputError, TooLargeError
from touchstone.json_text import loads
from touchstone.quizzes.curriculum import Chapter, Curriculum, GrammarPoint, Word
from touchstone.quizzes.learner import LearnerProfile, WeakPoint
from touchstone.quizzes.tables import MAX_CHARS, SHOWN_CHARS, TextRow, TextTable
from touchstone.strict import fault_words, first_fault
from touchstone.text import normalised, shortened
from touchstone.text.decoding import decoded

MAX_LEARNERS = 10_000
BETWEEN_EXAMPLES = "|"
PERCENT = 100.0
SHOWN = "updated_at"

_MEANING = "meaning_"
_COURSE = ("chapter", "title", "kind", "item", "pinyin", "explanation", "examples")
_LEARNERS = ("learner", "ui_language", "item", "error_rate", "seen")
_KINDS = ("word", "grammar")
_WHOLE_NUMBER_DIGITS = 9
_DECIMAL_COMMA = re.compile(r"0,[0-9]+|[0-9]{1,2},[0-9]{1,2}\s*%")
"""A rate as spreadsheets write it in most of Europe. In `1,000` the comma may part thousands, so it is not read."""
_WHERE_CHARS, _FAULT_CHARS = 200, 500
"""The most characters of a place and of a sentence. Both may hold a name of the sender's own, of any length."""


def text_of(data: bytes) -> str:
    """A file's text. Raises `InputError` if it is no text, `TooLargeError` if it is too long."""
    if (text := decoded(data)) is None:
        raise InputError("The file is not UTF-8; save it as UTF-8 (in Excel: CSV UTF-8).")
    if len(text) > MAX_CHARS:
        raise TooLargeError(f"The file has {len(text):,} characters; at most {MAX_CHARS:,}.")
    return text


def curriculum_of_json(text: str) -> Curriculum:
    """A course from JSON of its own form. Raises `InputError` naming the field at fault."""
    return _validated(TypeAdapter(Curriculum), _as_put(_json(text)))


def learners_of_json(text: str) -> tuple[LearnerProfile, ...]:
    """One learner or a list of them from JSON. Raises `InputError` naming the field at fault."""
    document = _json(text)
    listed = [_as_put(each) for each in (document if isinstance(document, list) else [document])]
    if not 1 <= len(listed) <= MAX_LEARNERS:
        raise InputError(f"There are {len(listed)} learners; send 1 to {MAX_LEARNERS:,}.")
    return _each_once(_validated(TypeAdapter(tuple[LearnerProfile, ...]), listed))


def curriculum_of_csv(text: str, *, curriculum: str, title: str) -> Curriculum:
    """A course from a table, with the id and title that it is to have.

    Chapters come in the order in which they are first named. Raises `InputError`, naming line and column, or the
    chapter at fault.
    """
    table = TextTable.read(text, columns=_COURSE, needed=("chapter", "kind", "item"), open_columns=(_MEANING,))
    chapters: dict[str, _NewChapter] = {}
    for row in table.rows:
        chapter = chapters.setdefault(row.required("chapter"), _NewChapter(row))
        chapter.entitle(row)
        match row.required("kind").lower():
            case "word":
                chapter.vocabulary.append(row.to_model(Word, _word(row), {"hanzi": "item", "meanings": f"{_MEANING}…"}))
            case "grammar":
                chapter.grammar.append(row.to_model(GrammarPoint, _pattern(row), {"pattern": "item"}))
            case other:
                raise row.error("kind", f"is {other[:SHOWN_CHARS]!r}; write one of {', '.join(_KINDS)}")
    made = tuple(chapter.made(key) for key, chapter in chapters.items())
    return _validated(TypeAdapter(Curriculum), {"id": curriculum, "title": title, "chapters": made})


def learners_of_csv(text: str) -> tuple[LearnerProfile, ...]:
    """Learners from a table, in the order in which they are first named. Raises `InputError` naming line and column."""
    table = TextTable.read(text, columns=_LEARNERS, needed=("learner", "item", "error_rate"))
    points: dict[str, list[WeakPoint]] = {}
    languages: dict[str, str] = {}
    for row in table.rows:
        learner, language = row.required("learner"), row.get("ui_language")
        if language and languages.setdefault(learner, language) != language:
            raise row.error("ui_language", f"is {language[:SHOWN_CHARS]!r}, and another one in a row before")
        values = {"item": row.required("item"), "error_rate": _rate(row), "seen": _seen(row)}
        points.setdefault(learner, []).append(row.to_model(WeakPoint, values, {}))
    if len(points) > MAX_LEARNERS:
        raise InputError(f"There are {len(points):,} learners; send {MAX_LEARNERS:,} at most.")
    return tuple(_learner(learner, languages.get(learner), found) for learner, found in points.items())


@dataclass(slots=True)
class _NewChapter:
    first: TextRow
    title: str | None = None
    vocabulary: list[Word] = field(default_factory=list)
    grammar: list[GrammarPoint] = field(default_factory=list)

    def entitle(self, row: TextRow) -> None:
        """Take the title of a row. Raises `InputError` if an earlier row gives another title."""
        title = row.get("title")
        if title and self.title and title != self.title:
            raise row.error("title", f"is {title[:SHOWN_CHARS]!r}, and {self.title[:SHOWN_CHARS]!r} in a row before")
        self.title = self.title or title

    def made(self, chapter: str) -> Chapter:
        """The chapter. If no row gives a title, its id is its title."""
        values = {
            "id": chapter,
            "title": self.title or chapter,
            "vocabulary": tuple(self.vocabulary),
            "grammar": tuple(self.grammar),
        }
        try:
            return Chapter.model_validate(values)
        except ValidationError as error:
            where = f"chapter {chapter[:SHOWN_CHARS]}"
            raise InputError(
                f"The {where}, from line {self.first.line} on, is refused: {fault_words(first_fault(error))}.",
                where=where,
            ) from None


def _word(row: TextRow) -> Mapping[str, Any]:
    meanings = {
        name.removeprefix(_MEANING): told for name, told in row.cells.items() if told and name.startswith(_MEANING)
    }
    return {"hanzi": row.required("item"), "pinyin": row.get("pinyin"), "meanings": meanings}


def _pattern(row: TextRow) -> Mapping[str, Any]:
    examples = [one.strip() for one in (row.get("examples") or "").split(BETWEEN_EXAMPLES)]
    return {
        "pattern": row.required("item"),
        "explanation": row.get("explanation"),
        "examples": tuple(one for one in examples if one),
    }


def _rate(row: TextRow) -> float:
    cell = row.required("error_rate")
    said = normalised(cell, "NFKC")
    if _DECIMAL_COMMA.fullmatch(said):
        said = said.replace(",", ".")
    try:
        return float(said.removesuffix("%")) / PERCENT if said.endswith("%") else float(said)
    except ValueError:
        raise row.error("error_rate", f"is {cell[:SHOWN_CHARS]!r}; write a number from 0 to 1, or 35%") from None


def _seen(row: TextRow) -> int:
    cell = row.get("seen") or "1"
    if not (cell.isascii() and cell.isdecimal() and len(cell) <= _WHOLE_NUMBER_DIGITS):
        raise row.error("seen", f"is {cell[:SHOWN_CHARS]!r}; write how often the item was answered")
    return int(cell)


def _learner(learner: str, language: str | None, points: list[WeakPoint]) -> LearnerProfile:
    values = {"id": learner, "weak_points": tuple(points), **({"ui_language": language} if language else {})}
    try:
        return LearnerProfile.model_validate(values)
    except ValidationError as error:
        where = f"learner {learner[:SHOWN_CHARS]}"
        raise InputError(f"The {where} is refused: {fault_words(first_fault(error))}.", where=where) from None


def _each_once(learners: tuple[LearnerProfile, ...]) -> tuple[LearnerProfile, ...]:
    seen: set[str] = set()
    for learner in learners:
        if learner.id in seen:
            raise InputError(f"The learner {learner.id[:SHOWN_CHARS]} is there twice.", where="id")
        seen.add(learner.id)
    return learners


def _json(text: str) -> Any:
    if len(text) > MAX_CHARS:
        raise TooLargeError(f"The JSON has {len(text):,} characters; at most {MAX_CHARS:,}.")
    return loads(text.removeprefix("\ufeff"))


def _as_put(document: Any) -> Any:
    """A course or learner without the moment that the API adds, so that what a deployment shows can be put again."""
    return (
        {name: value for name, value in document.items() if name != SHOWN} if isinstance(document, dict) else document
    )


def _validated[T](adapter: TypeAdapter[T], value: Any) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = first_fault(error)
        where = shortened(".".join(str(part) for part in first["loc"]), _WHERE_CHARS) or "the whole"
        fault = shortened(fault_words(first), _FAULT_CHARS)
        raise InputError(f"The field {where} is refused: {fault}.", where=where) from None
