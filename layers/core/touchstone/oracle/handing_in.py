"""Work as it is handed in: what a request may say, what its text must be, and who may hand in again."""

from typing import Annotated, Self

from pydantic import StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from touchstone.errors import ConflictError, InputError, NotFoundError, TooLargeError
from touchstone.judges.fence import visible
from touchstone.oracle.model import MAX_SUBMISSION_CHARS, Party
from touchstone.oracle.submission import MAX_REVISIONS, Submission
from touchstone.strict import Strict

MAX_SUBMISSION_BYTES = 4 * MAX_SUBMISSION_CHARS + 3
"""No text of the longest length is larger as UTF-8, a byte order mark included."""
MAX_KEY_CHARS = 1024
"""Longest key of an object in S3."""
UPLOADS = "uploads"
"""The folder of a tenant's artifacts where files to be handed in are put. A key elsewhere is nobody's file: a tenant's
records and others' submissions lie beside it."""


class SubmissionRequest(Strict):
    """Work handed in: `text` itself, or `text_key`, the key of a UTF-8 file that the tenant uploaded; one of them."""

    submitter: Party
    text: Annotated[str, StringConstraints(min_length=0)] | None = None  # a constraint: half a character is refused
    text_key: Annotated[str, StringConstraints(max_length=MAX_KEY_CHARS)] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.text is None) == (self.text_key is None):
            raise PydanticCustomError("one_of", "give the text, or the text_key of an uploaded file; exactly one")
        return self


def checked_text(text: str, *, where: str = "text") -> str:
    """The text unchanged. Raises `TooLargeError`, and `InputError` where it says nothing that a reader would see."""
    if len(text) > MAX_SUBMISSION_CHARS:
        raise _too_large(f"has {len(text):,} characters", where)
    if not visible(text).strip():
        raise InputError("The submission says nothing that a reader would see; hand in the work itself.", where=where)
    return text


def text_of_file(data: bytes) -> str:
    """The text of an uploaded file. Raises `TooLargeError`, and `InputError` for what is no text or a blank one."""
    check_size(len(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            "The file is no UTF-8 text; upload the submission as text or markdown.", where="text_key"
        ) from None
    return checked_text(text, where="text_key")


def check_uploaded(key: str, *, tenant: str) -> str:
    """The key of a file unchanged. Raises `NotFoundError` for one that is no uploaded file of this tenant."""
    if not key.startswith(f"{tenant}/{UPLOADS}/"):
        raise NotFoundError("There is no uploaded file with this key; upload one first, and give the key of that.")
    return key


def check_size(size: int) -> None:
    """Raise `TooLargeError` for a file of so many bytes that its text must be too long."""
    if size > MAX_SUBMISSION_BYTES:
        raise _too_large(f"has {size:,} bytes", "text_key")


def check_follows(last: Submission | None) -> None:
    """Raise `ConflictError` where a submitter may not hand in another submission after its last one (None: none yet).

    The next comes after one that failed the gate, or whose gate nobody could check, and up to `MAX_REVISIONS` in all.
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
