"""Two tenants: whatever one has is not there for the other, through any route of the API; and what each role may do."""

import re
import uuid
from typing import Any

import pytest

from tests.support.callers import Caller, refusal, said
from tests.support.cloud import Cloud
from tests.support.contests import OWNER, Contest, in_seconds
from tests.support.judge_server import JudgeServer

pytestmark = pytest.mark.cloud

GIVEN: dict[str, Any] = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}
FOREIGN_KEY = "the-key-that-both-tenants-chose"
NOTHING = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
"""An id of nothing."""
PATHS = {
    "answer_id": "an answer of the other tenant",
    "record_id": "the record whose calls another tenant's judge answered",
    "batch_id": "a batch of the other tenant",
    "token_id": "a token of the other tenant",
    "subject": "a subject that the other tenant pinned",
    "task_id": "a task of the other tenant",
    "submission_id": "work that was handed in to it",
}
"""The parameters of the API's paths; a new one must be thought of here before this file passes."""
BODIES: dict[str, Any] = {
    "/v1/verifications": GIVEN,
    "/v1/solutions": {"problem": "Compute 3/4 + 1/6.", "deep_evaluation": False},
    "/v1/tokens": {"role": "reader", "name": "another"},
    "/v1/routing/{subject}": {"provider": "openai"},
    "/v1/tasks": {
        "brief": {"description": "Compare.", "acceptance_criteria": ["It does."]},
        "path": "quality_first",
        "owner": OWNER,
        "deadline": in_seconds(3600),
    },
    "/v1/tasks/{task_id}": {"deadline": in_seconds(7200)},
    "/v1/tasks/{task_id}/submissions": {"submitter": "ann", "text": "Work."},
    "/v1/tasks/{task_id}/challenges": {"challenger": "ann", "submission_id": NOTHING, "reason": "So."},
}
PUBLIC = {"/health"}
IN_PROCESS = (
    "/v1/measurements", "/v1/experiment", "/v1/quiz", "/v1/curricula", "/v1/learners",
    "/v1/audits", "/v1/labels", "/v1/judges",
)  # fmt: skip
"""Begins the paths of which `tests/integration/api/test_tenants.py` shows that nothing of another tenant is reached."""


@pytest.fixture(scope="module")
def ours(cloud: Cloud) -> Caller:
    """The tenant that owns one of everything."""
    cloud.judge.arrange(reset=True)
    return cloud.tenant("ours")


@pytest.fixture(scope="module")
def theirs(cloud: Cloud) -> Caller:
    """The tenant that tries."""
    return cloud.tenant("theirs")


@pytest.fixture(scope="module")
def owned(cloud: Cloud, ours: Caller) -> dict[str, str]:
    """One of everything that has an id, with a text that nobody else uses."""
    canary = f"canary{uuid.uuid4().hex}"
    answer = ours.verify(problem=f"{GIVEN['problem']} ({canary})", answer="11/12", key=FOREIGN_KEY)
    for _ in range(2):
        ours.verify(**GIVEN, subject=canary)
    batch = said(ours.send("POST", "v1/batches"), 201)
    token = said(ours.send("POST", "v1/tokens", json={"role": "reader", "name": canary}), 201)
    said(ours.send("PUT", "v1/routing/optics", json={"provider": "openai"}), 200)
    image = said(ours.send("POST", "v1/images"), 200)
    cursor = ours.get("v1/answers", params={"limit": 1})["cursor"]
    task = Contest.opened(ours, owner=canary)
    task.taken("ann", text=f"Work of {canary}.")
    return {
        "canary": canary,
        "answer_id": answer["id"],
        "record_id": answer["id"],
        "batch_id": batch["id"],
        "token_id": token["id"],
        "token": token["token"],
        "subject": "optics",
        "task_id": task.id,
        "submission_id": task.ids["ann"],
        "s3_key": image["s3_key"],
        "cursor": cursor,
    }


def routes(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Method and path of every operation that the document describes."""
    return sorted((method.upper(), path) for path, operations in document["paths"].items() for method in operations)


def test_no_route_shows_or_changes_what_another_tenant_has(
    cloud: Cloud, ours: Caller, theirs: Caller, owned: dict[str, str]
) -> None:
    document = cloud.anybody().get("openapi.json")
    answer, task = owned["answer_id"], owned["task_id"]
    held = ("v1/tokens", "v1/routing", f"v1/answers/{answer}", f"v1/traces/{answer}", f"v1/tasks/{task}")
    before = {path: ours.get(path) for path in held}
    for method, path in routes(document):
        if path.startswith(IN_PROCESS):
            continue
        names = {part.strip("{}") for part in path.split("/") if part.startswith("{")}
        assert names <= PATHS.keys(), f"{path} has a parameter that this test does not know"
        filled = path.format(**owned)
        described = document["paths"][path][method.lower()].get("parameters", [])
        asking = {"party": "ann"} if any(one.get("name") == "party" for one in described) else {}
        reply = theirs.send(
            method,
            filled,
            json=BODIES.get(path),
            params=asking,
            headers={"Idempotency-Key": f"{FOREIGN_KEY} {method} {path}"},
        )
        if names - {"subject"}:
            unknown = refusal(reply, 404)
            nothing = path.format(**dict.fromkeys(names, NOTHING))
            nobodys = refusal(theirs.send(method, nothing, json=BODIES.get(path), params=asking), 404)
            assert unknown == nobodys, f"{method} {path} tells what exists from what does not"
        else:
            assert reply.status_code < 300, f"{method} {path}: {reply.text}"
        for secret in (owned["canary"], owned["token"], owned["answer_id"], owned["batch_id"], ours.tenant):
            assert secret not in reply.text, f"{method} {path} shows what is another's"
    assert {path: ours.get(path) for path in before} == before


def test_a_cursor_of_another_tenant_leads_nowhere(theirs: Caller, owned: dict[str, str]) -> None:
    reply = theirs.send("GET", "v1/answers", params={"cursor": owned["cursor"]})
    assert reply.status_code in {200, 400}
    assert owned["canary"] not in reply.text


def test_an_image_of_another_tenant_is_not_found(theirs: Caller, owned: dict[str, str]) -> None:
    refusal(theirs.send("POST", "v1/solutions", json={"image": {"s3_key": owned["s3_key"]}}), 404)


def test_r19_the_same_idempotency_key_is_each_tenants_own(ours: Caller, theirs: Caller, owned: dict[str, str]) -> None:
    first = theirs.verify(problem="Compute 1 + 1.", answer="2", key=FOREIGN_KEY)
    assert first["id"] != owned["answer_id"]
    assert ours.answer(owned["answer_id"])["problem"] != first["problem"]


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ts_", "Bearer nonsense", "Bearer ts_" + "A" * 43, "Basic dHM6eA==", "Bearer \x01",
     "Bearer eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJkZW1vIn0."],
)  # fmt: skip
def test_a1_without_a_valid_token_every_route_but_the_public_is_closed(cloud: Cloud, header: str | None) -> None:
    nobody = cloud.anybody()
    document = nobody.get("openapi.json")
    headers = {} if header is None else {"Authorization": header}
    for method, path in routes(document) if header in {None, "Bearer ts_" + "A" * 43} else [("GET", "/v1/answers")]:
        if path in PUBLIC:
            continue
        reply = nobody.send(
            method,
            re.sub(r"{[^}]*}", "x", path),
            json=BODIES.get(path),
            headers=headers,
            params={"party": "ann"},
        )
        assert reply.status_code in {401, 403}, f"{method} {path} with {header!r}: {reply.status_code} {reply.text}"


def test_a_revoked_token_stops_at_once(cloud: Cloud, theirs: Caller) -> None:
    made = said(theirs.send("POST", "v1/tokens", json={"role": "member", "name": "for a day"}), 201)
    holder = cloud.anybody(made["token"], tenant=theirs.tenant)
    holder.get("v1/answers")
    said(theirs.send("DELETE", f"v1/tokens/{made['id']}"), 200)
    assert holder.send("GET", "v1/answers").status_code in {401, 403}
    listed = {token["id"]: token for token in theirs.get("v1/tokens")["items"]}
    assert listed[made["id"]]["revoked_at"] is not None
    assert made["token"] not in str(listed), "a token is shown once"


ALLOWED = {
    # what is asked -> the lowest role that may
    ("GET", "v1/answers"): "reader",
    ("GET", "v1/budget"): "reader",
    ("POST", "v1/verifications"): "member",
    ("POST", "v1/solutions"): "member",
    ("POST", "v1/batches"): "member",
    ("POST", "v1/images"): "member",
    ("GET", "v1/tasks"): "reader",
    ("POST", "v1/tasks"): "member",
    ("POST", "v1/submission-files"): "member",
    ("GET", "v1/tokens"): "admin",
    ("POST", "v1/tokens"): "admin",
    ("PUT", "v1/routing/optics"): "admin",
}
ROLES = ("reader", "member", "admin")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_it_is_for_and_no_more(cloud: Cloud, judge: JudgeServer, theirs: Caller, role: Any) -> None:
    somebody = cloud.with_role(theirs.tenant, role)
    for (method, path), lowest in ALLOWED.items():
        body = BODIES.get("/" + path.replace("optics", "{subject}"))
        reply = somebody.send(method, path, json=body)
        if ROLES.index(role) >= ROLES.index(lowest):
            assert reply.status_code < 300, f"{role} {method} {path}: {reply.text}"
        else:
            assert lowest in refusal(reply, 403)["detail"]
