"""Requests that another program makes of the published description (Schemathesis): those that it allows, and others.

Nobody of this project thought of them. `TOUCHSTONE_GENERATED=100` makes more of them for each operation, and others.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.case import Case

from tests.support.api import PUBLISHED, Api, Response
from tests.support.deployment import Deployment
from tests.support.everything import own_one_of_everything
from tests.support.providers import ProviderServer

MORE = int(os.environ.get("TOUCHSTONE_GENERATED", "0"))
EXAMPLES = MORE or 3
"""Requests made for each operation and kind."""
DOCUMENT: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
DESCRIBED = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = [(method, path) for path, operations in DOCUMENT["paths"].items() for method in operations]
LISTS = {
    "answer_id": "answers",
    "audit_id": "audits",
    "batch_id": "batches",
    "curriculum_id": "curricula",
    "learner_id": "learners",
    "measurement_id": "measurements",
    "experiment_id": "experiments",
    "quiz_id": "quizzes",
    "task_id": "tasks",
    "record_id": "answers",
}
"""Where the ids of a path's parts are found, so that not every generated path leads nowhere."""


@pytest.fixture
def owner(judged: Deployment, judges: ProviderServer) -> Api:
    """An admin of a tenant that has one of everything."""
    return own_one_of_everything(judged, judges, "acme")


@pytest.mark.filterwarnings("ignore")  # of Schemathesis about itself
def test_what_the_description_allows_is_answered_as_it_says(owner: Api) -> None:
    _each_sent(owner, GenerationMode.POSITIVE, _check_answer)


@pytest.mark.filterwarnings("ignore")
def test_what_the_description_forbids_is_refused_at_its_place(owner: Api) -> None:
    def check(case: Case, response: Response) -> None:
        _check_answer(case, response)
        if case.meta is not None and case.meta.is_negative_at(ParameterLocation.BODY):
            assert response.status >= 400, f"{case.method} {case.formatted_path} took {_body(case)}"

    _each_sent(owner, GenerationMode.NEGATIVE, check)


def _each_sent(api: Api, mode: GenerationMode, check: Callable[[Case, Response], None]) -> None:
    known = _ids(api)
    for method, path in OPERATIONS:
        operation = DESCRIBED[path][method]
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query):
            continue

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=not MORE,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy(generation_mode=mode), ours=st.booleans())
        def send(case: Case, ours: bool) -> None:
            if ours:
                case.path_parameters = {**case.path_parameters, **_of_path(case.path_parameters, known)}
            check(case, _sent(api, case))

        send()


def _ids(api: Api) -> Mapping[str, str]:
    found = {name: api.get(f"/v1/{listed}").json["items"] for name, listed in LISTS.items()}
    return {name: items[0]["id"] for name, items in found.items() if items}


def _of_path(parameters: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, str]:
    return {name: known[name] for name in parameters if name in known}


def _body(case: Case) -> str | None:
    if case.body is None or not isinstance(case.body, dict | list | str | int | float | bool):
        return None
    return json.dumps(case.body)


def _sent(api: Api, case: Case) -> Response:
    """The answer to a request. Its idempotency key is left out: a repeated one is refused for that alone."""
    headers = {name.lower(): str(value) for name, value in (case.headers or {}).items()}
    headers = {name: value for name, value in headers.items() if name not in ("authorization", "idempotency-key")}
    return api.call(case.method, case.formatted_path, _body(case), query=dict(case.query or {}), headers=headers)


def _check_answer(case: Case, response: Response) -> None:
    """An answer has the form that is described, and a refusal names places that are in the request."""
    asked = f"{case.method} {case.formatted_path} {case.query} {_body(case)}"
    assert response.status < 500, f"{asked}: {response.body[:500]}"
    kind = response.headers.get("content-type", "")
    if kind in ("application/json", "application/problem+json"):
        form = _form(case.method.lower(), case.path, str(response.status), kind)
        faults = [fault.message for fault in form.iter_errors(response.json)]
        assert not faults, f"{asked}: {faults[:3]}"
    if response.status == 422:
        for fault in response.json.get("errors", ()):
            assert _leads_somewhere(fault["where"], case), f"{asked}: {fault}"


def _leads_somewhere(where: str, case: Case) -> bool:
    """Whether a fault's place is in the request; of a long name only the beginning is told."""
    source, *steps = where.removesuffix("…").split(".")
    place: Any = {"body": case.body, "query": case.query}.get(source)
    for number, step in enumerate(steps):
        names = list(place) if isinstance(place, dict) else []
        if isinstance(place, list) and step.isdigit():
            place = place[int(step)]
        elif step in names:
            place = place[step]
        else:  # a field that is missing, or a name with a point or one that was cut
            rest = ".".join(steps[number:])
            is_last = isinstance(place, dict) and number == len(steps) - 1
            return is_last or any(name.startswith(rest) or rest.startswith(f"{name}.") for name in names)
    return True


@cache
def _form(method: str, path: str, status: str, kind: str) -> Any:
    response = DOCUMENT["paths"][path][method]["responses"][status]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return validator_for({**response["content"][kind]["schema"], "components": DOCUMENT["components"]})
