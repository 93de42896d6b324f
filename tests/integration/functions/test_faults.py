"""What leaves a function that fails unexpectedly: the runtime logs an error's own words, which may quote a user."""

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from functions import drain, intake, sweep
from functions.answers import analyze
from functions.api import authorizer
from functions.batch import collect, lines, prepare
from functions.observability import UnexpectedError
from tests.support.deployment import Context, Deployment
from tests.support.events import event
from tests.support.sinks import listening
from touchstone.errors import StoreError

CANARY = "canary-problem"
type Handler = Callable[[Any, Any], Any]
DOORS: list[tuple[Handler, str, dict[str, Any]]] = [
    (analyze, "functions.answers.of_answers", {"tenant": "acme", "answer_id": "a"}),
    (drain.handler, "functions.drain.drain", {"execution_id": "run"}),
    (sweep.handler, "functions.sweep.answer_sweep", {}),
    (intake.handler, "functions.intake.process_partial_response", {"Records": []}),
    (prepare, "functions.batch.batching", {"key": "inbox/acme/a.jsonl", "owner": "run-1"}),
    (collect, "functions.batch.batching", {"tenant": "acme", "batch_id": "b", "owner": "run-1"}),
    (authorizer.handler, "functions.api.authorizer.tokens", event("authorizer")),
]


def _raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(("handler", "part", "given"), DOORS)
def test_a8_an_unexpected_error_leaves_its_words_behind(
    handler: Handler, part: str, given: dict[str, Any], deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, _raising(ZeroDivisionError(CANARY)))
    with listening() as heard, pytest.raises(UnexpectedError) as caught:
        handler(given, Context())
    assert "ZeroDivisionError" in heard()
    assert CANARY not in heard() + "".join(traceback.format_exception(caught.value, chain=True))


@pytest.mark.parametrize("handler", [analyze, lines])
def test_a8_a_fault_of_the_form_does_not_quote_what_was_sent(handler: Handler, deployment: Deployment) -> None:
    with listening() as heard, pytest.raises(UnexpectedError) as caught:
        handler({"tenant": [CANARY], "answer_id": {"text": CANARY}}, Context())
    assert CANARY not in heard() + str(caught.value)
    assert "ValidationError" in str(caught.value)


@pytest.mark.parametrize(("handler", "part", "given"), DOORS)
def test_an_error_raised_on_purpose_keeps_the_name_that_machines_match(
    handler: Handler, part: str, given: dict[str, Any], deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, _raising(StoreError("The store is away.")))
    with pytest.raises(StoreError, match="The store is away"):
        handler(given, Context())
