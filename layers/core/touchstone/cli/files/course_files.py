"""Courses and learners from files in the forms that people write: JSON, or CSV from a spreadsheet."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touchstone.cli.files.requests import BEGINS_JSON, MOST_BYTES_A_CHARACTER
from touchstone.cli.terminal.places import read_file
from touchstone.errors import InputError, TooLargeError
from touchstone.quizzes import uploads
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.tables import MAX_CHARS

NAMED = 10
"""How many ids a sentence lists at most."""


def curriculum_of(path: Path) -> Curriculum:
    """The course in a file. A course in a table has the name of its file as id and title.

    Raises `InputError` and `TooLargeError`, whose sentence names the file and the place at fault.
    """
    text = _text(path)
    with _named(path):
        if text.lstrip().startswith(BEGINS_JSON):
            return uploads.curriculum_of_json(text)
        return uploads.curriculum_of_csv(text, curriculum=path.stem, title=path.stem)


def learner_of(path: Path, learner: str | None) -> LearnerProfile:
    """The learner with the id `learner` in a file; None: the only learner in it. Raises as `curriculum_of`."""
    learners = learners_of(path)
    with _named(path):
        if learner is None and len(learners) == 1:
            return learners[0]
        for one in learners:
            if one.id == learner:
                return one
        said = ", ".join(one.id for one in learners[:NAMED]) + (" …" if len(learners) > NAMED else "")
        what = "There are several learners" if learner is None else f"There is no learner {learner[:64]}"
        raise InputError(f"{what}; name one of these with --learner-id: {said}.", where="--learner-id")


def learners_of(path: Path) -> tuple[LearnerProfile, ...]:
    """All learners in a file. Raises as `curriculum_of`."""
    text = _text(path)
    with _named(path):
        is_json = text.lstrip().startswith(BEGINS_JSON)
        return tuple(uploads.learners_of_json(text) if is_json else uploads.learners_of_csv(text))


def _text(path: Path) -> str:
    data = read_file(path, at_most=MAX_CHARS * MOST_BYTES_A_CHARACTER + 1)
    with _named(path):
        return uploads.text_of(data)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Put the name of the file before the sentence of an `InputError` that is raised inside the `with`."""
    try:
        yield
    except InputError as error:
        kind = TooLargeError if isinstance(error, TooLargeError) else InputError
        raise kind(f"{path}: {error}", where=str(path)) from None
