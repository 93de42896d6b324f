"""What is asked of a deployment's audits: what is refused and how, and what others find."""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from functions import sweep
from functions.composition import stores
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployed_audits import ONE, ONE_FILE, STALLED, begun, request, settled
from tests.support.deployment import BUCKET, Context, Deployment


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("benchmarks:\n  - {id: a, question: q}\n", "bad.yaml:2:5"),
        ("!!python/object/apply:os.system [id]\n", "bad.yaml:1"),
    ],
)
def test_a7_faults_of_definitions_are_told_at_once_with_their_place(demo: Api, text: str, place: str) -> None:
    refused = demo.post("/v1/audits", request(files=[{"name": "bad.yaml", "text": text}]))
    assert refused.status == 400
    assert place in refused.body


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"options": {}}, ("cases.jsonl:1", "2 to 26")),
        ({"options": [f"option {number}" for number in range(200)]}, ("cases.jsonl:1", "this has 200")),
        ({"correct_answer": "C"}, ("cases.jsonl:1", "The key 'C' is none of the options")),
        ({"question": ""}, ("cases.jsonl:1", "question")),
        ({"id": "again"}, ("cases.jsonl:2", "there twice")),
    ],
)
def test_a_case_that_cannot_be_audited_is_refused_with_its_place(
    demo: Api, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    lines = "\n".join(json.dumps(one) for one in (ONE | changes, {**ONE, "id": "again"}))
    refused = demo.post("/v1/audits", request(files=[{"name": "cases.jsonl", "text": lines}]))
    assert refused.status == 400
    for word in words:
        assert word in refused.body
    assert demo.get("/v1/audits").json["items"] == []


@pytest.mark.parametrize(
    "requirement",
    [
        "tinylib @ https://example.org/tinylib-1.0-py3-none-any.whl",
        "tinylib @ file:///etc/passwd",
        "git+https://example.org/tinylib",
        "./tinylib",
        "-r /etc/passwd",
        "tinylib --index-url https://example.org/simple",
        "tinylib; os_name != 'x\\n--index-url https://example.org/simple\\n'",
        "tinylib===${AWS_SECRET_ACCESS_KEY}",
    ],
)
def test_a_target_that_would_come_from_elsewhere_is_refused(demo: Api, requirement: str) -> None:
    refused = demo.post("/v1/audits", request(target={"requirement": requirement}))
    assert (refused.status, "requirement" in refused.body) == (422, True)
    assert demo.get("/v1/audits").json["items"] == []


def test_proofs_are_not_run_against_another_library(demo: Api) -> None:
    path = begun(demo, files=ONE_FILE)
    refused = demo.post(f"{path}/recheck", {"requirement": "tinydep==0.5"})
    assert (refused.status, "another library" in refused.body) == (400, True)


def test_a_report_that_no_reply_has_room_for_is_read_by_its_link(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun(demo, files=ONE_FILE)
    whole = demo.get(f"{path}/report", format="json").body
    monkeypatch.setattr("touchstone.operations.audits.intake.MAX_REPORT_BYTES", len(whole) - 1)
    refused = demo.get(f"{path}/report", format="json")
    assert (refused.status, "report_url" in refused.body) == (409, True)
    assert demo.get(f"{path}/report", format="md").status == 200
    view = demo.get(path).json
    for name, file in (("report_url", "quality_report.json"), ("page_url", "quality_audit.md")):
        key = unquote(urlsplit(view[name]).path).lstrip("/").removeprefix(f"{BUCKET}/")
        assert key == f"artifacts/demo/audits/{view['id']}/{file}"
        assert judged.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def test_a_tenant_has_so_many_at_work_at_once_and_no_more(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchstone.operations.audits.intake.MAX_UNFINISHED", 2)
    judged.machines.lost = frozenset({"install"})
    first = demo.post("/v1/audits", request(files=ONE_FILE), key="first")
    assert demo.post("/v1/audits", request(files=ONE_FILE), key="second").status == 202
    refused = demo.post("/v1/audits", request(files=ONE_FILE), key="third")
    assert (refused.status, "2 audits are at work" in refused.body) == (429, True)
    assert demo.post("/v1/audits", request(files=ONE_FILE), key="first").json["id"] == first.json["id"], (
        "a repeat is no other audit"
    )
    assert Api(token=judged.token("rival")).post("/v1/audits", request(files=ONE_FILE)).status == 202
    judged.machines.lost = frozenset()
    later(STALLED)
    sweep.handler({}, Context())
    settled()
    assert demo.post("/v1/audits", request(files=ONE_FILE), key="third").status == 202


def test_another_tenant_finds_nothing(demo: Api, judged: Deployment) -> None:
    path = begun(demo, files=ONE_FILE)
    rival = Api(token=judged.token("rival"))
    for answer in (rival.get(path), rival.get(f"{path}/report"), rival.post(f"{path}/recheck", {"requirement": "a"})):
        assert answer.status == 404
    assert rival.post("/v1/audits", request(previous=path.rpartition("/")[2])).status == 404
    assert stores.audits().page(tenant="rival").items == ()
