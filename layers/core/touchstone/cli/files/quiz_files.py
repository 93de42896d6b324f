"""Files of quizzes: find them in folders, tell them apart from other JSON, and read them with the place of each value.

A quiz is JSON: `{"questions": […]}` or the bare list; a `.jsonl` file has one quiz on each line. A question without an
id gets its number from 1 as id.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from touchstone import json_places
from touchstone.cli.files.material_files import GIFT_NOT_JSON, MAX_BYTES, is_gift
from touchstone.cli.files.requests import sentence_of
from touchstone.cli.terminal.places import read_file
from touchstone.errors import InputError
from touchstone.json_places import CharSpan, Lines, Located, MisplacedError, located
from touchstone.material import Quiz
from touchstone.material.parts import numbered
from touchstone.text.decoding import encoded, marked_text

LINES_ENDING = ".jsonl"
ENDINGS = frozenset({".json", LINES_ENDING})
SHOWN_ID_CHARS = 64
MOST_FAULTS = 10
"""How many faults of one quiz are told: a field that is missing in all of 500 questions is one mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizText:
    """A quiz and its place in a file. `root` is the path to its questions in the document.

    `numbers` has, for each question of the quiz, its index (from 0) among the questions in the document, some of which
    may be unreadable. A question whose id an earlier question has too gets a new id; `repeated` maps this new id to the
    id in the file.
    """

    document: Located
    root: json_places.Path
    quiz: Quiz
    numbers: tuple[int, ...]
    repeated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizFileFault:
    """A sentence that says what could not be read or done. `line` and `column` count from 1; None: the whole file."""

    file: Path
    sentence: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizFile:
    """The content of a file of quizzes. `text` is without the byte order mark, which is `mark` (empty for none).

    `quizzes` are those that could be read, `faults` tell what is wrong with the rest.
    """

    path: Path
    text: str
    mark: bytes
    lines: Lines
    quizzes: tuple[QuizText, ...] = ()
    faults: tuple[QuizFileFault, ...] = ()

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return encoded(self.mark, self.text)


@dataclass(slots=True, kw_only=True)
class Folders:
    """The result of a search: the files of quizzes, all faults that were found, and the JSON files without a quiz."""

    files: list[QuizFile] = field(default_factory=list)
    faults: list[QuizFileFault] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def read_all(paths: Iterable[Path]) -> Folders:
    """Read the named files and those in the named folders, each once. Nothing is raised: faults are in the result."""
    found = Folders()
    is_quiz_file: dict[Path, bool] = {}
    for path in paths:
        files = list(_in_folder(path)) if path.is_dir() else [path]
        places = [each.resolve() for each in files]
        for each, place in zip(files, places, strict=True):
            if place not in is_quiz_file:
                is_quiz_file[place] = _take(each, found, named=each == path)
        if not any(is_quiz_file[place] for place in places):
            found.faults.append(QuizFileFault(file=path, sentence=_NO_QUIZZES if files else _NO_FILES))
    return found


def read(path: Path, text: str, *, mark: bytes = b"") -> QuizFile:
    """The quizzes and faults in a text that is, or is to be, the content of the file at `path`."""
    return _file(path, text, _documents(path, text), mark=mark)


def marked_text_of(path: Path) -> tuple[bytes, str]:
    """The byte order mark of a file (empty if it has none), and its text behind the mark.

    Raises `InputError` with a sentence about the file if it cannot be read, is too large, or is no text.
    """
    data = read_file(path, at_most=MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"This file is larger than {MAX_BYTES:,} bytes; split it.")
    if (found := marked_text(data)) is None:
        raise InputError("This is not UTF-8 text; save it as UTF-8.")
    return found


_NO_FILES = "This folder holds no files called *.json or *.jsonl."
_NO_QUIZZES = "This folder holds no quiz among its files."
_FORM = 'A quiz is {"questions": [{"id", "kind", "question_text", "choices", "answers"}, …]}.'


class _NoQuizError(Exception):
    """JSON that is no quiz. `faults` are pairs of a sentence and an offset in the text."""

    def __init__(self, faults: Iterable[tuple[str, int]]) -> None:
        self.faults = tuple(faults)


def _in_folder(folder: Path) -> Iterator[Path]:
    """The files in a folder that may hold quizzes, in the order of their names, without hidden ones.

    Links come last, so that a file in this folder is known by its own name and not by that of a link to it.
    """
    for path in sorted(folder.rglob("*"), key=lambda path: (path.is_symlink(), path)):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in ENDINGS and not hidden and path.is_file():
            yield path


def _take(path: Path, found: Folders, *, named: bool) -> bool:
    """Read a file into `found`. Return whether it is a file of quizzes, or should have been one.

    `named`: the user named the file itself, so that it has to hold a quiz.
    """
    try:
        mark, text = marked_text_of(path)
    except InputError as error:
        found.faults.append(QuizFileFault(file=path, sentence=str(error).removeprefix(f"{path} ")))
        return True
    if named and is_gift(path.name):
        found.faults.append(QuizFileFault(file=path, sentence=GIFT_NOT_JSON))
        return True
    documents = list(_documents(path, text))
    if not named and not any(isinstance(each, MisplacedError) or _is_quiz(each.value) for each in documents):
        found.others.append(path)
        return False
    file = _file(path, text, documents, mark=mark)
    found.files.append(file)
    found.faults += file.faults
    return True


def _documents(path: Path, text: str) -> Iterator[Located | MisplacedError]:
    """The JSON documents in a text; in place of a document that cannot be read, the error."""
    if not text.strip():
        yield MisplacedError("This file is empty.", 0)
        return
    for window in _windows(text) if path.suffix.lower() == LINES_ENDING else (None,):
        try:
            yield located(text, window)
        except MisplacedError as error:
            yield error


def _file(path: Path, text: str, documents: Iterable[Located | MisplacedError], *, mark: bytes) -> QuizFile:
    lines = Lines(text)
    quizzes: list[QuizText] = []
    faults: list[QuizFileFault] = []
    for document in documents:
        found_faults: Iterable[tuple[str, int]] = ()
        if isinstance(document, MisplacedError):
            found_faults = [(str(document), document.offset)]
        else:
            try:
                quiz, found_faults = _quiz(document)
                quizzes.append(quiz)
            except _NoQuizError as error:
                found_faults = error.faults
        for sentence, offset in found_faults:
            line, column = lines.place(offset)
            faults.append(QuizFileFault(file=path, sentence=sentence, line=line, column=column))
    return QuizFile(path=path, text=text, mark=mark, lines=lines, quizzes=tuple(quizzes), faults=tuple(faults))


def _is_quiz(value: Any) -> bool:
    """Whether a JSON value is meant as a quiz, even if it is not a valid one."""
    if isinstance(value, list):
        return any(isinstance(part, dict) and "question_text" in part for part in value)
    return isinstance(value, dict) and "questions" in value


def _windows(text: str) -> Iterator[CharSpan]:
    """The start and end of each line of a text that is not blank."""
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield start, start + len(line)
        start += len(line) + 1


def _quiz(document: Located) -> tuple[QuizText, Sequence[tuple[str, int]]]:
    """The quiz of the questions that can be read, and the faults of the others as pairs of a sentence and an offset.

    Raises `_NoQuizError` if the document is no quiz, or if no question can be read.
    """
    value = document.value
    root: json_places.Path = () if isinstance(value, list) else ("questions",)
    fields = {"questions": value} if isinstance(value, list) else value
    if not _is_quiz(value) or not isinstance(fields["questions"], list):
        raise _NoQuizError([(f"This is no quiz. {_FORM}", document.stretch(root)[0])])
    questions, repeated = _with_distinct_ids(numbered(fields["questions"]))
    try:
        quiz = Quiz.model_validate({**fields, "questions": questions})
        return QuizText(
            document=document, root=root, quiz=quiz, numbers=tuple(range(len(questions))), repeated=repeated
        ), ()
    except ValidationError as error:
        faults = tuple(_faults(document, root, error))
        at_fault = {fault["loc"][1:2] for fault in error.errors() if fault["loc"][:1] == ("questions",)}
    numbers = tuple(number for number in range(len(questions)) if (number,) not in at_fault)
    try:
        quiz = Quiz.model_validate({**fields, "questions": [questions[number] for number in numbers]})
    except ValidationError:
        raise _NoQuizError(faults) from None
    return QuizText(document=document, root=root, quiz=quiz, numbers=numbers, repeated=repeated), faults


def _with_distinct_ids(questions: Sequence[Any]) -> tuple[list[Any], dict[str, str]]:
    """The questions, each with an id of its own, and a map from each new id to the repeated id that it replaces."""
    distinct: list[Any] = []
    repeated: dict[str, str] = {}
    ids = {one.get("id") for one in questions if isinstance(one, dict) and isinstance(one.get("id"), str)}
    seen: set[str] = set()
    for number, one in enumerate(questions, start=1):
        given_id = one.get("id") if isinstance(one, dict) else None
        if isinstance(given_id, str) and given_id in seen:
            own = f"{given_id[:SHOWN_ID_CHARS]} ({number})"
            while own in ids:
                own += "'"
            ids.add(own)
            repeated[own] = given_id
            distinct.append({**one, "id": own})
            continue
        seen |= {given_id} if isinstance(given_id, str) else set()
        distinct.append(one)
    return distinct, repeated


def _faults(document: Located, root: json_places.Path, error: ValidationError) -> Iterator[tuple[str, int]]:
    faults = error.errors(include_url=False)
    # If a part of a list is wrong, pydantic also says that the list is too short: that second fault is left out.
    around = {fault["loc"][:length] for fault in faults for length in range(len(fault["loc"]))}
    for fault in [fault for fault in faults if fault["loc"] not in around][:MOST_FAULTS]:
        path = (*root, *fault["loc"][1:]) if fault["loc"][:1] == ("questions",) else fault["loc"]
        yield _sentence(fault), document.stretch(path)[0]


def _sentence(fault: Mapping[str, Any]) -> str:
    sentence = sentence_of(fault, of="a quiz", fields=Quiz.model_fields)
    return f"{sentence[:1].upper()}{sentence[1:]}." if not fault["loc"] else f"{sentence}."
