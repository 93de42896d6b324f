"""How work is handed in: the fields of a request, the rules for its text, and who may hand in again."""

from typing import Annotated, Self

from pydantic import StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from touchstone.errors import ConflictError, InputError, NotFoundError, TooLargeError
from touchstone.judges.fence import visible
from touchstone.oracle.model import MAX_SUBMISSION_CHARS, Party
from touchstone.oracle.submission import MAX_REVISIONS, Submission
from touchstone.strict import Strict
from touchstone.text.decoding import decoded

MAX_SUBMISSION_BYTES = 4 * MAX_SUBMISSION_CHARS + 3
"""Most bytes of a file: the longest text is no larger as UTF-8, including a byte order mark."""
MAX_KEY_CHARS = 1024
"""Longest key of an object in S3."""
UPLOADS = "uploads"
"""The folder in a tenant's artifacts for files that are to be handed in. A key outside it is refused, because the
tenant's records and the submissions of others lie beside it."""


class SubmissionRequest(Strict):
    """Work that is handed in. Exactly one of `text` and `text_key` is given.

    `text` is the work itself. `text_key` is the key of a UTF-8 file that the tenant uploaded.
    """

    submitter: Party
    text: Annotated[str, StringConstraints(min_length=0)] | None = None  # the constraint refuses half a character
    text_key: Annotated[str, StringConstraints(max_length=MAX_KEY_CHARS)] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.text is None) == (self.text_key is None):
            raise PydanticCustomError("one_of", "give the text, or the text_key of an uploaded file; exactly one")
        return self


def checked_text(text: str, *, where: str = "text") -> str:
    """The text unchanged.

    Raises `TooLargeError` if it is too long, and `InputError` if a reader would see nothing in it.
    """
    check_length(text, where=where)
    if not visible(text).strip():
        raise InputError("The submission says nothing that a reader would see; hand in the work itself.", where=where)
    return text


def check_length(text: str, *, where: str = "text") -> None:
    """Raise `TooLargeError` for a text that is too long."""
    if len(text) > MAX_SUBMISSION_CHARS:
        raise _too_large(f"has {len(text):,} characters", where)


def text_of_file(data: bytes) -> str:
    """The text of an uploaded file. Raises `TooLargeError`, and `InputError` if it is no text or if it is blank."""
    check_size(len(data))
    if (text := decoded(data)) is None:
        raise InputError("The file is no UTF-8 text; upload the submission as text or markdown.", where="text_key")
    return checked_text(text, where="text_key")


def check_uploaded(key: str, *, tenant: str) -> str:
    """The key of a file unchanged.

    Raises `NotFoundError` if the key is not in the folder of this tenant's uploaded files.
    """
    if not key.startswith(f"{tenant}/{UPLOADS}/"):
        raise NotFoundError("There is no uploaded file with this key; upload one first, and give the key of that.")
    return key


def check_size(size: int) -> None:
    """Raise `TooLargeError` if a file has so many bytes (`size`) that its text must be too long."""
    if size > MAX_SUBMISSION_BYTES:
        raise _too_large(f"has {size:,} bytes", "text_key")


def check_follows(last: Submission | None) -> None:
    """Raise `ConflictError` if a submitter may not hand in another submission after `last` (None: there is none yet).

    It may if the last one failed the gate, or if nobody could check its gate, up to `MAX_REVISIONS` submissions in all.
    """
    if last is None:
        return
    if last.gate is not None and last.gate.passed:
        raise ConflictError("The submitter's work has passed the gate; it stands and cannot be replaced.")
    if not last.judged:
        raise ConflictError("The submitter's last submission is being checked; wait for what its gate check says.")
    if last.revision >= MAX_REVISIONS:
        raise ConflictError(f"The submitter has handed in {MAX_REVISIONS} submissions, which is all that a task takes.")


def _too_large(what: str, where: str) -> TooLargeError:
    return TooLargeError(
        f"The submission {what}; at most {MAX_SUBMISSION_CHARS:,} characters are taken. Shorten it.", where=where
    )
