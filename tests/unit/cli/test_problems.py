"""What the API's refusals mean to the command."""

from typing import Any

import pytest

from touchstone.cli.deployment.replies import TOKEN_REFUSED, error_of
from touchstone.cli.terminal.exits import ServiceError
from touchstone.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    NotFoundError,
    TouchstoneError,
    UnauthenticatedError,
)

CASES: list[tuple[int, dict[str, Any], type[TouchstoneError], str]] = [
    (400, {"detail": "The problem is blank.", "where": "problem"}, InputError, "The problem is blank."),
    (401, {"message": "Unauthorized"}, UnauthenticatedError, TOKEN_REFUSED),
    (403, {"message": "Forbidden"}, UnauthenticatedError, TOKEN_REFUSED),
    (403, {"detail": "This needs the role admin."}, ForbiddenError, "This needs the role admin."),
    (404, {"detail": "No such answer."}, NotFoundError, "No such answer."),
    (404, {}, NotFoundError, "The API has no such address: is the URL that of a Touchstone API?"),
    (409, {}, ConflictError, "The API cannot do that now."),
    (413, {}, InputError, "The API refused the request (HTTP 413)."),
    (429, {}, ServiceError, "The API has too many requests just now; try again in a minute."),
    (429, {"detail": "The ceiling is reached."}, ServiceError, "The ceiling is reached."),
    (500, {"detail": "Something went wrong."}, ServiceError, "Something went wrong."),
    (502, {}, ServiceError, "The API failed (HTTP 502); it is safe to repeat the command."),
    (302, {}, ServiceError, "The API failed (HTTP 302); it is safe to repeat the command."),
]


@pytest.mark.parametrize(("status", "document", "kind", "sentence"), CASES)
def test_a_refusal_is_one_sentence_of_the_right_kind(
    status: int, document: dict[str, Any], kind: type[TouchstoneError], sentence: str
) -> None:
    error = error_of(status, document)
    assert (type(error), str(error)) == (kind, sentence)


def test_every_field_at_fault_is_named() -> None:
    faults = [{"where": "body.problem", "fault": "Field required"}, {"where": "query.limit", "fault": "too large"}, 7]
    error = error_of(422, {"detail": "x", "errors": faults})
    assert str(error) == "problem: Field required; query.limit: too large."


def test_the_place_of_a_fault_is_kept_and_nonsense_is_not() -> None:
    found = [error_of(400, {"where": where, "errors": "?"}) for where in ("answer", 7)]
    assert [error.where for error in found if isinstance(error, InputError)] == ["answer", None]
