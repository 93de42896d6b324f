"""PURGE as it is deployed, under its own grants: what had its end so many days ago goes, and all that hung on it."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends

from functions import purge
from functions.composition import stores
from functions.environment import environment
from tests.support.api import Api
from tests.support.batches import BatchMachine
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.enforcement import elsewhere
from tests.support.everything import own_one_of_everything
from tests.support.providers import ProviderServer
from touchstone.clock import OFFSET_VARIABLE
from touchstone.errors import ConflictError, StoreError
from touchstone.operations.purging import Purging
from touchstone.operations.retention import RETENTION
from touchstone.records import Statistics
from touchstone.records.artifacts import Artifacts
from touchstone.records.keys import key_of
from touchstone.references import Reference

DAY = 86_400
EASY = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}
NOTHING = dict.fromkeys(("answers", "audits", "batches", "experiments", "measurements", "quizzes", "tasks"), 0)


@pytest.fixture
def days_later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has the days pass, and purges once under a retention; what the run says."""

    def later(days: int, retention: str) -> dict[str, Any]:
        monkeypatch.setenv(OFFSET_VARIABLE, str(days * DAY))
        monkeypatch.setenv(RETENTION, retention)
        environment.cache_clear()
        return purge.handler({"source": "schedule"}, Context(600_000))

    return later


def of_record(deployment: Deployment, record_id: str) -> list[str]:
    """Whatever in the table and the bucket names a record, but for what is forgotten by itself."""
    named = [
        f"{row['pk']} {row['sk']}"
        for row in deployment.rows()
        if "pk" in row and record_id in f"{row['pk']} {row['sk']}"
    ]
    by_itself = ("scratch/", "traces/")
    return [*named, *(key for key in list(deployment.keys()) if record_id in key and not key.startswith(by_itself))]


def put_days_ago(deployment: Deployment, key: str, content: bytes, *, days: int) -> None:
    """Have people put an object into the bucket so many days ago."""
    deployment.s3.put_object(Bucket=BUCKET, Key=key, Body=content)
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[BUCKET].keys[key].last_modified -= timedelta(days=days)


def counted(deployment: Deployment, tenant: str) -> dict[Any, Any]:
    """A tenant's counters, without better approaches and the count of purges."""
    counters = Statistics(deployment.table, stores.artifacts()).counters(tenant)
    return {key: item for key, item in counters.items() if "APPROACHES" not in key[0] and key[1] != "PURGED"}


def test_what_ended_goes_with_all_that_hung_on_it_and_counters_and_what_has_no_end_stay(
    judged: Deployment, judges: ProviderServer, days_later: Any
) -> None:
    api = own_one_of_everything(judged, judges, "acme")
    labelled = api.post("/v1/verifications", EASY).json
    assert api.call("PUT", f"/v1/labels/quick_verify/{labelled['id']}/1", json.dumps({"label": "right"})).status == 200
    other = Api(token=judged.token("rival")).post("/v1/verifications", EASY).json
    listed = {kind: api.get(f"/v1/{kind}").json["items"] for kind in NOTHING}
    (deferred,) = [one["id"] for one in listed["answers"] if one["evaluation"] == "deferred"]
    before = counted(judged, "acme")
    assert days_later(29, "30")["removed"] == NOTHING

    said = days_later(31, "30")
    answers = [one["id"] for one in listed["answers"] if one["id"] != deferred]
    assert said == {
        "removed": NOTHING
        | {"answers": len(answers) + 1, "batches": 1, "experiments": 1, "measurements": 1, "quizzes": 1},
        "files": 0,
        "stuck": 0,
        "whole": True,
    }
    ended = [
        *answers,
        other["id"],
        *(one["id"] for kind in ("experiments", "measurements", "quizzes") for one in listed[kind]),
    ]
    assert [found for record_id in ended for found in of_record(judged, record_id)] == []
    dropped = {"inbox/acme/Räume 1.jsonl", "inbox/acme/Räume 1.results.jsonl"}
    assert {key for key in list(judged.keys()) if key.startswith("inbox/")} == dropped
    assert [one["id"] for one in api.get("/v1/answers").json["items"]] == [deferred]
    assert [one["record_id"] for one in api.get("/v1/labels").json["items"]] == [deferred]
    assert len(api.get("/v1/tasks").json["items"]) == len(api.get("/v1/audits").json["items"]) == 1
    assert not [
        row for row in judged.rows() if str(row.get("pk", "")).split("#")[2:3] in (["PROBLEM"], ["NEAR"], ["PURGE"])
    ]
    assert counted(judged, "acme") == before
    with pytest.raises(ConflictError, match=f"{len(answers) + 4} of its records"):
        Statistics(judged.table, stores.artifacts()).rebuild("acme")
    assert days_later(31, "30")["removed"] == NOTHING


def test_only_the_kinds_that_are_named_go_and_by_default_none(deployment: Deployment, days_later: Any) -> None:
    api = Api(token=deployment.token("acme"))
    made = api.post("/v1/verifications", EASY).json["id"]
    assert days_later(9_000, "")["removed"] == {}
    assert days_later(9_000, "quizzes=40")["removed"] == {"quizzes": 0}
    assert api.get(f"/v1/answers/{made}").status == 200
    assert days_later(9_000, "answers=8999")["removed"] == {"answers": 1}
    assert api.get(f"/v1/answers/{made}").status == 404


def test_r3_a_purge_that_broke_off_is_ended_by_the_next_run(
    deployment: Deployment, days_later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(token=deployment.token("acme"))
    made = [api.post("/v1/verifications", EASY).json["id"] for _ in range(2)]
    for answer_id in made:
        assert api.call("PUT", f"/v1/labels/quick_verify/{answer_id}/1", json.dumps({"label": "right"})).status == 200
        stores.artifacts().put_text(tenant="acme", key=f"acme/records/{answer_id}/{'0' * 64}.json", text="{}")

    def failing(_: Artifacts, **_of: str) -> None:
        raise StoreError("The bucket is away.")

    with monkeypatch.context() as patch:
        patch.setattr(Artifacts, "remove_folder", failing)
        said = days_later(31, "answers=30")
    assert (said["removed"], said["stuck"]) == ({"answers": 0}, 2)
    assert api.get("/v1/answers").json["items"] == []
    assert all(of_record(deployment, answer_id) for answer_id in made)
    assert days_later(31, "answers=30") == {"removed": {"answers": 0}, "files": 0, "stuck": 0, "whole": True}
    assert not any(of_record(deployment, answer_id) for answer_id in made)


def test_an_answer_that_changes_while_it_is_looked_at_stays_whole(
    deployment: Deployment, days_later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody asks for its evaluation after it was read, and before it would be removed."""
    api = Api(token=deployment.token("acme"))
    made = api.post("/v1/verifications", EASY).json["id"]
    remains = Purging._remains

    def meanwhile(*of: Any) -> Any:
        stores.evaluations().request(Reference("acme", "answer", made))
        return remains(*of)

    monkeypatch.setattr(Purging, "_remains", meanwhile)
    assert days_later(31, "answers=30")["removed"] == {"answers": 0}
    assert api.get(f"/v1/answers/{made}").json["evaluation"]["state"] == "waiting"


def test_what_was_dropped_under_a_name_of_its_own_stays_and_what_a_batch_alone_has_goes(
    deployment: Deployment, days_later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each day another `daily.jsonl`: the file and the results of that name are the youngest batch's."""
    api = Api(token=deployment.token("acme"))
    line = {"kind": "verify", "id": "one", "problem": "Compute 1 + 1.", "answer": "2"}
    begun = api.post("/v1/batches", {}).json["id"]
    for name in ("daily", begun):
        BatchMachine(deployment=deployment, tenant="acme", name=name).run(json.dumps(line).encode())
    monkeypatch.setenv(OFFSET_VARIABLE, str(30 * DAY))
    today = json.dumps(line | {"id": "two"}).encode()
    BatchMachine(deployment=deployment, tenant="acme", name="daily", owner="run-2").run(today)

    assert days_later(31, "batches=30")["removed"] == {"batches": 2}
    left = {key for key in list(deployment.keys()) if key.startswith("inbox/")}
    assert left == {"inbox/acme/daily.jsonl", "inbox/acme/daily.results.jsonl"}
    assert deployment.s3.get_object(Bucket=BUCKET, Key="inbox/acme/daily.jsonl")["Body"].read() == today
    (batch,) = api.get("/v1/batches").json["items"]
    assert batch["results_url"]


def test_an_image_that_was_uploaded_stays_for_the_answers_that_name_it(
    judged: Deployment, judges: ProviderServer, days_later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One upload is named by an old request and by one of yesterday; an image that came with its request goes."""
    api = Api(token=judged.token("acme"))
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    upload = api.post("/v1/images").json["s3_key"]
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{upload}", Body=picture)
    inline = {"kind": "solve", "image": {"data_base64": base64.b64encode(picture).decode()}, "deep_evaluation": False}
    named = {"kind": "solve", "image": {"s3_key": upload}, "deep_evaluation": False}
    old = "\n".join(map(json.dumps, (inline, named)))
    BatchMachine(deployment=judged, tenant="acme", name="old").run(old.encode())
    monkeypatch.setenv(OFFSET_VARIABLE, str(30 * DAY))
    young = api.post("/v1/solutions", {"image": {"s3_key": upload}}).json["id"]
    assert len([key for key in list(judged.keys()) if "/images/" in key]) == 2

    assert days_later(31, "answers=30")["removed"] == {"answers": 2}
    assert [key for key in list(judged.keys()) if "/images/" in key] == [f"artifacts/{upload}"]
    assert api.get(f"/v1/answers/{young}").status == 200


def test_an_image_that_people_put_goes_when_nobody_named_it_for_so_long(
    judged: Deployment, judges: ProviderServer, days_later: Any
) -> None:
    api = Api(token=judged.token("acme"))
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    forgotten, used, young = (api.post("/v1/images").json["s3_key"] for _ in range(3))
    for key, days in ((forgotten, 41), (used, 41), (young, 39)):
        put_days_ago(judged, f"artifacts/{key}", picture, days=days)
    solving = api.post("/v1/solutions", {"image": {"s3_key": used}}).json["id"]
    inline = {"image": {"data_base64": base64.b64encode(picture).decode()}}
    own = api.post("/v1/solutions", inline).json["id"]
    put_days_ago(judged, f"artifacts/acme/images/{own}", picture, days=41)

    assert days_later(0, "audits=30")["files"] == 0
    assert days_later(0, "answers=30")["files"] == 1
    left = {key for key in list(judged.keys()) if "/images/" in key}
    assert left == {f"artifacts/{used}", f"artifacts/{young}", f"artifacts/acme/images/{own}"}
    assert api.get(f"/v1/answers/{solving}").status == 200
    assert days_later(3, "answers=30")["files"] == 1, "the young one is 42 days old by then, the used one is 3"
    left = {key for key in list(judged.keys()) if "/images/" in key}
    assert left == {f"artifacts/{used}", f"artifacts/acme/images/{own}"}


def test_a_file_beside_an_unreadable_record_keeps_no_other_tenants_files(
    judged: Deployment, judges: ProviderServer, days_later: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    inline = {"image": {"data_base64": base64.b64encode(picture).decode()}}
    own = Api(token=judged.token("acme")).post("/v1/solutions", inline).json["id"]
    put_days_ago(judged, f"artifacts/acme/images/{own}", picture, days=41)
    judged.token("rival")
    put_days_ago(judged, "artifacts/rival/images/forgotten", picture, days=41)
    judged.table.update_item(
        Key=dict(key_of(Reference("acme", "answer", own))),
        UpdateExpression="SET body = :broken",
        ExpressionAttributeValues={":broken": "{}"},
    )

    capsys.readouterr()
    said = days_later(0, "answers=30")
    assert (said["files"], said["stuck"], said["whole"]) == (1, 1, True)
    assert '"Stuck":[1.0]' in capsys.readouterr().out, "an operator is told"
    assert [key for key in list(judged.keys()) if "/images/" in key] == [f"artifacts/acme/images/{own}"]


def test_an_image_that_is_named_while_old_ones_are_removed_stays(
    judged: Deployment, judges: ProviderServer, days_later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody names it after it was listed, and before it would be removed."""
    api = Api(token=judged.token("acme"))
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    used = api.post("/v1/images").json["s3_key"]
    put_days_ago(judged, f"artifacts/{used}", picture, days=41)
    older = Artifacts.older

    def meanwhile(*of: Any, **named: Any) -> Any:
        for key in older(*of, **named):
            assert api.post("/v1/solutions", {"image": {"s3_key": used}}).status == 202
            yield key

    with monkeypatch.context() as patch:
        patch.setattr(Artifacts, "older", meanwhile)
        assert days_later(0, "answers=30")["files"] == 0
    assert f"artifacts/{used}" in list(judged.keys())


def test_an_image_that_is_removed_while_it_is_named_is_said_to_be_missing(
    judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A purge removes it after its bytes were read, and before it is made young again."""
    api = Api(token=judged.token("acme"))
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    used = api.post("/v1/images").json["s3_key"]
    put_days_ago(judged, f"artifacts/{used}", picture, days=41)
    renew = Artifacts.renew

    def removed_before(self: Artifacts, *, tenant: str, key: str, older_than: timedelta) -> bool:
        with elsewhere():
            self.delete(tenant=tenant, key=key)
        return renew(self, tenant=tenant, key=key, older_than=older_than)

    monkeypatch.setattr(Artifacts, "renew", removed_before)
    refused = api.post("/v1/solutions", {"image": {"s3_key": used}})
    assert (refused.status, refused.json["detail"]) == (404, "There is no object with this key.")
    assert api.get("/v1/answers").json["items"] == []


def test_what_was_dropped_goes_with_its_results_once_nothing_took_its_place_for_so_long(
    deployment: Deployment, days_later: Any
) -> None:
    api = Api(token=deployment.token("acme"))
    other = Api(token=deployment.token("rival"))
    line = json.dumps({"kind": "verify", "id": "one", "problem": "Compute 1 + 1.", "answer": "2"}).encode()
    for tenant, name in (("acme", "old"), ("acme", "daily"), ("rival", "daily")):
        BatchMachine(deployment=deployment, tenant=tenant, name=name).run(line)
    for name in ("old.jsonl", "old.results.jsonl"):
        put_days_ago(deployment, f"inbox/acme/{name}", line, days=41)
    put_days_ago(deployment, "artifacts/acme/experiment-uploads/one", b"{}", days=41)
    put_days_ago(deployment, "artifacts/acme/uploads/one", b"an essay", days=41)

    assert days_later(0, "batches=30")["files"] == 2
    left = {key for key in list(deployment.keys()) if key.startswith("inbox/")}
    assert left == {
        f"inbox/{tenant}/daily{end}" for tenant in ("acme", "rival") for end in (".jsonl", ".results.jsonl")
    }
    assert days_later(0, "experiments=30,tasks=30")["files"] == 2
    assert len(api.get("/v1/batches").json["items"]) == 2
    assert len(other.get("/v1/batches").json["items"]) == 1
