"""A1: who gets in, what a role allows, and that no route of the API leads to another tenant's data."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from functions.api import app, authorizer
from functions.api.openapi import document
from functions.composition import stores
from tests.support import courses
from tests.support.api import PUBLIC, Api
from tests.support.api_tasks import UNKNOWN, ApiTask, task_body
from tests.support.deployment import Context, Deployment
from tests.support.events import event
from tests.support.quizzes import experiment, measurement, quiz
from touchstone.audits.bundles.target import Target
from touchstone.audits.record import AuditRecord, AuditTerms
from touchstone.clock import system_clock
from touchstone.records import new_ulid

DOCUMENT = json.loads(document(app.app))
ROUTES = [
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if path not in PUBLIC
]
WRITES = [(method, path) for method, path in ROUTES if method != "GET"]
BODIES: dict[str, Any] = {
    "/v1/verifications": {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"},
    "/v1/solutions": {"problem": "Compute 3/4 + 1/6."},
    "/v1/tokens": {"role": "reader", "name": "wall"},
    "/v1/routing/{subject}": {"provider": "openai"},
    "/v1/tasks": task_body(seconds=1_000_000),
    "/v1/tasks/{task_id}": {"deadline": task_body(seconds=2_000_000)["deadline"]},
    "/v1/tasks/{task_id}/submissions": {"submitter": "ann", "text": "Work."},
    "/v1/tasks/{task_id}/challenges": {"challenger": "ann", "submission_id": UNKNOWN, "reason": "So."},
    "/v1/measurements": measurement(metrics=["quiz_item_flaws"]),
    "/v1/experiments": {"experiment": experiment(1, metrics=["quiz_item_flaws"])},
    "/v1/curricula/{curriculum_id}": courses.CURRICULUM,
    "/v1/learners/{learner_id}": courses.LEARNER,
    "/v1/quizzes": {"chapter": courses.CHAPTER, "learner": courses.LEARNER | {"id": "ann"}, "questions": 1},
    "/v1/quiz-checks": {"quiz": quiz(1)},
    "/v1/audits": {
        "target": {"requirement": "tinylib==1.0"},
        "files": [{"name": "bench.yaml", "text": "- id: one\n  question: Which?\n  answer: A\n"}],
    },
    "/v1/audits/{audit_id}/recheck": {"requirement": "tinylib==2.0"},
    "/v1/labels/{kind}/{record_id}/{item}": {"label": "right"},
    "/v1/labels/{kind}/{record_id}": {"label": "right"},
}
OWN_NAMES = frozenset({"subject", "curriculum_id", "learner_id"})
"""Parameters that name what a tenant calls so itself: the same name is another thing of another tenant."""
CANARY = "canary-of-the-rival"


def _authorized(header: str) -> dict[str, Any]:
    return authorizer.handler(event("authorizer", identitySource=[header]), Context())


def _jwt_without_signature() -> str:
    return "eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJhY21lIiwicm9sZSI6ImFkbWluIn0."


def test_a_valid_token_says_whose_it_is(deployment: Deployment) -> None:
    said = _authorized(f"Bearer {deployment.token('acme', 'reader')}")
    assert said["isAuthorized"] is True
    assert (said["context"]["tenant"], said["context"]["role"]) == ("acme", "reader")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer ts_short", f"Bearer ts_{'0' * 43}", f"Bearer {_jwt_without_signature()}",
     "Basic dXNlcjpwYXNz", "bearer null", "Bearer \x00", "Bearer T#acme", "ts_" + "A" * 43],
)  # fmt: skip
def test_whoever_has_no_token_stays_out(deployment: Deployment, header: str) -> None:
    assert _authorized(header) == {"isAuthorized": False}


def test_a_request_without_any_identity_stays_out(deployment: Deployment) -> None:
    assert authorizer.handler(event("authorizer", identitySource=None), Context()) == {"isAuthorized": False}


def test_a_token_in_another_scheme_stays_out(deployment: Deployment) -> None:
    token = deployment.token("acme")
    assert _authorized(f"Basic {token}") == {"isAuthorized": False}
    assert _authorized(token) == {"isAuthorized": False}
    assert _authorized(f"bearer {token}")["isAuthorized"] is True


def test_a_revoked_and_an_expired_token_stay_out(deployment: Deployment) -> None:
    admin = Api(token=deployment.token("acme", "admin"))
    soon = (system_clock() + timedelta(milliseconds=600)).isoformat()
    made = admin.post("/v1/tokens", {"role": "reader", "name": "short", "expires_at": soon}).json
    revoked = admin.post("/v1/tokens", {"role": "reader", "name": "gone"}).json
    assert _authorized(f"Bearer {revoked['token']}")["isAuthorized"] is True
    assert admin.call("DELETE", f"/v1/tokens/{revoked['id']}").json["revoked_at"] is not None
    assert _authorized(f"Bearer {revoked['token']}") == {"isAuthorized": False}
    late = type(stores.tokens())(stores.tokens()._table, clock=lambda: system_clock() + timedelta(seconds=1))
    with pytest.raises(Exception, match="not valid"):
        late.resolve(made["token"])


def _path(path: str, found: str) -> str:
    return re.sub(r"\{[a-z_]+\}", found, path)


def _body(path: str) -> str | None:
    return json.dumps(BODIES[path]) if path in BODIES else None


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_answers_without_an_identity(deployment: Deployment, method: str, path: str) -> None:
    assert Api().call(method, _path(path, "x"), _body(path)).status == 401
    past_the_gateway = event("api_verify", rawPath=_path(path, "x"), body=_body(path))
    past_the_gateway |= {
        "queryStringParameters": {"party": "buyer", "item": "x"},
        "rawQueryString": "party=buyer&item=x",
    }
    past_the_gateway["requestContext"] |= {"authorizer": {}}
    past_the_gateway["requestContext"]["http"] |= {"method": method, "path": _path(path, "x")}
    answer = app.handler(past_the_gateway, Context())
    assert answer["statusCode"] == 401


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_reader_may_not_write(deployment: Deployment, method: str, path: str) -> None:
    reader = Api(token=deployment.token("acme", "reader"))
    refused = reader.call(method, _path(path, "01JD7Z00000000000000000000"), _body(path), query={"item": "x"})
    assert refused.status == 403
    assert "reader" in refused.json["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [(method, path) for method, path in ROUTES if "/tokens" in path or (method != "GET" and "/routing" in path)],
)
def test_only_an_admin_manages_tokens_and_routing(acme: Api, method: str, path: str) -> None:
    assert acme.call(method, _path(path, "01JD7Z00000000000000000000"), _body(path)).status == 403


def _quiz_of_the_rival() -> dict[str, Any]:
    material = quiz(1)
    material["questions"][0]["question_text"] = f"{CANARY}?"
    return material


def _measurement_of_the_rival() -> dict[str, Any]:
    # Two choices alike: the flaw's reason quotes one, so that what is found says whose it is.
    material = _quiz_of_the_rival()
    material["questions"][0]["choices"] += [CANARY, CANARY]
    return measurement(material=material, metrics=["quiz_item_flaws"])


def _audit_of_the_rival() -> str:
    audit_id = new_ulid(system_clock())
    stores.audits().create(
        AuditRecord(
            tenant="rival",
            id=audit_id,
            created_at=system_clock(),
            terms=AuditTerms(target=Target(requirement=f"{CANARY}==1.0")),
            content_key=f"rival/audits/{audit_id}/request.json",
            content_hash="0" * 64,
            weekly=True,
        )
    )
    return audit_id


@pytest.fixture
def owned(judged: Deployment) -> dict[str, str]:
    """One of everything that the rival has, by the name of the parameter that leads to it."""
    rival = Api(token=judged.token("rival", "admin"))
    answer = rival.post("/v1/verifications", {"problem": f"{CANARY}: 1 + 1?", "answer": "2"}, key="shared").json
    rival.post("/v1/verifications", {"problem": CANARY, "answer": "2"})
    rival.call("PUT", "/v1/routing/algebra", '{"provider": "openai"}')
    rival.call("PUT", f"/v1/labels/quick_verify/{answer['id']}/1", '{"label": "right"}')
    tasks = [ApiTask.created(rival, judged, owner=CANARY) for _ in range(2)]
    for name in ("ann", CANARY):
        tasks[0].hand_in(name, about=CANARY)
    tasks[0].pass_time()
    trial = {"experiment": experiment(1, metrics=["quiz_item_flaws"], name=CANARY)}
    made = {}
    for name, path, body in (
        ("measurement_id", "/v1/measurements", _measurement_of_the_rival()),
        ("experiment_id", "/v1/experiments", trial),
        ("quiz_id", "/v1/quiz-checks", {"quiz": _quiz_of_the_rival()}),
    ):
        made[name] = rival.post(path, body).json["id"]
        rival.post(path, body)
    rival.call("PUT", "/v1/curricula/book-1", json.dumps(courses.CURRICULUM | {"title": CANARY}))
    rival.call("PUT", "/v1/learners/ann", json.dumps(courses.LEARNER))
    return {
        **made,
        "curriculum_id": "book-1",
        "learner_id": "ann",
        "measurements": rival.get("/v1/measurements", limit=1).json["cursor"],
        "experiments": rival.get("/v1/experiments", limit=1).json["cursor"],
        "answer_id": answer["id"],
        "kind": "quick_verify",
        "record_id": answer["id"],
        "item": "1",
        "card_id": rival.get("/v1/judges").json[0]["id"],
        "batch_id": rival.post("/v1/batches", key="shared-batch").json["id"],
        "token_id": rival.post("/v1/tokens", {"role": "reader", "name": CANARY}).json["id"],
        "subject": "algebra",
        "task_id": tasks[0].id,
        "submission_id": tasks[0].ids["ann"],
        "audit_id": _audit_of_the_rival(),
        "answers": rival.get("/v1/answers", limit=1).json["cursor"],
        "tasks": rival.get("/v1/tasks", limit=1).json["cursor"],
        "submissions": tasks[0].listed(CANARY, limit=1).json["cursor"],
    }


def _seen_by_rival(deployment: Deployment, owned: dict[str, str]) -> list[Any]:
    rival = Api(token=deployment.token("rival", "admin"))
    task = f"/v1/tasks/{owned['task_id']}"
    party = {"party": CANARY}
    plain = (
        *("/v1/answers", f"/v1/answers/{owned['answer_id']}", "/v1/routing", "/v1/tasks"),
        *("/v1/measurements", f"/v1/measurements/{owned['measurement_id']}", "/v1/experiments"),
        *("/v1/audits", f"/v1/audits/{owned['audit_id']}"),
        *("/v1/labels", "/v1/judges", f"/v1/judges/{owned['card_id']}"),
        *("/v1/curricula/book-1", "/v1/learners/ann", "/v1/quizzes", f"/v1/quizzes/{owned['quiz_id']}"),
    )
    return [
        *(rival.get(path).json for path in plain),
        *(rival.get(f"{task}{rest}", **party).json for rest in ("", "/submissions", "/challenges")),
        [token for token in rival.get("/v1/tokens").json["items"] if token["name"] == CANARY],
    ]


def test_no_route_leads_to_another_tenants_data(judged: Deployment, owned: dict[str, str]) -> None:
    before = _seen_by_rival(judged, owned)
    admin = Api(token=judged.token("acme", "admin"))
    for method, path in ROUTES:
        _assert_leads_nowhere(admin, owned, method, path)
        if method != "GET":
            assert _seen_by_rival(judged, owned) == before, f"{method} {path} changed what is another's"
    mine = admin.post("/v1/verifications", BODIES["/v1/verifications"], key="shared").json
    assert mine["id"] != owned["answer_id"]


def _canaries(method: str, path: str) -> dict[str, str]:
    """The parameters of a route that take a name, each with the canary as its value."""
    described = DOCUMENT["paths"][path][method.lower()].get("parameters", [])
    return {one["name"]: CANARY for one in described if one.get("name") in {"party", "item"}}


def _assert_leads_nowhere(admin: Api, owned: dict[str, str], method: str, path: str) -> None:
    names = re.findall(r"\{([a-z_]+)\}", path)
    assert set(names) <= owned.keys(), f"{path} has a parameter that this test does not know"
    cursors = [{"cursor": owned[each]} for each in ("answers", "tasks", "submissions", "measurements", "experiments")]
    theirs = path.format(**owned)
    for where in (theirs, *(_path(path, each) for each in ("rival", "..", "%23", "T#rival") if names)):
        for number, query in enumerate(({}, *cursors, {"tenant": "rival"})):
            key = f"{method}{where}{number}"
            said = admin.call(method, where, _body(path), key=key, query=_canaries(method, path) | query)
            assert CANARY not in said.body, f"{method} {path}"
            assert said.status < 500, f"{method} {path}"
    if names and not OWN_NAMES.intersection(names):
        there, absent = (
            admin.call(method, where, _body(path), query=_canaries(method, path))
            for where in (theirs, _path(path.replace("{kind}", owned["kind"]), UNKNOWN))
        )
        assert (there.status, there.body) == (404, absent.body), f"{method} {path} tells what is from what is not"
