"""A tenant's end: nobody gets in, nothing of it is left, nothing of anybody else is touched."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import EndpointConnectionError

from functions.batch import collect, prepare
from functions.composition import contexts, stores, work
from tests.support.api import Api
from tests.support.belongings import items_of, versions_of
from tests.support.clocks import StandingClock
from tests.support.deployment import BUCKET, Context, Deployment, deployed
from tests.support.records import an_answer, finished
from touchstone.errors import ConflictError, NotFoundError, StoreError
from touchstone.operations.answers.messages import parse_message, take
from touchstone.operations.tenants.deleting import STILL_UNDER_WAY, Deleted, Deletion
from touchstone.records import Answers, Artifacts, Evaluations, Replies, Tenants, Tokens
from touchstone.records.belongings import Belongings
from touchstone.records.objects import TenantObjects
from touchstone.records.removal import Removal
from touchstone.records.table import transact
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def delete(table: "Table", clock: StandingClock, tenant: str = "acme") -> Deleted:
    s3 = boto3.client("s3")
    deletion = Deletion(
        tenants=Tenants(table, clock=clock),
        tokens=Tokens(table, clock=clock),
        belongings=Belongings(table),
        removal=Removal(table, pause=lambda _: None),
        objects=TenantObjects(lambda: s3, BUCKET),
        clock=clock,
    )
    return deletion.run(tenant, show=lambda _number, _what: None)


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(NOW)


def shared(deployment: Deployment) -> dict[tuple[str, str], Any]:
    """What belongs to all tenants."""
    return {
        (str(item["pk"]), str(item["sk"])): item
        for item in deployment.table.scan()["Items"]
        if "T#" not in str(item["pk"]) and "tenant" not in item and not str(item["pk"]).startswith("BACKLOG#")
    }


def test_one_tenant_goes_and_the_other_stays_to_the_byte(full: Deployment, clock: StandingClock) -> None:
    token = full.token("acme")
    others, objects, of_all = items_of(full, "acme-2"), versions_of(full, "acme-2"), shared(full)
    experiment = next(pk for pk, _ in items_of(full, "acme") if "#EXPERIMENT#" in pk)
    full.s3.delete_object(Bucket=BUCKET, Key="inbox/acme/Räume 1.jsonl")
    assert stores.evaluations().backlog().count == 2

    first = delete(full.table, clock)
    assert first.again_at == NOW + STILL_UNDER_WAY
    assert {name: first.removed[name] for name in ("tokens", "answers", "tasks", "sessions")} == {
        "tokens": 2,
        "answers": 3,
        "tasks": 1,
        "sessions": 1,
    }
    assert {pk for pk, _ in items_of(full, "acme")} == {"T#acme"}
    assert versions_of(full, "acme") == {}
    assert stores.evaluations().backlog().count == 1
    assert Api(token=token).get("/v1/answers").status == 403
    with pytest.raises(ConflictError, match="is being deleted"):
        Tokens(full.table).issue(tenant="acme", role="admin", name="again")
    with pytest.raises(NotFoundError, match="is being deleted"):
        Tenants(full.table).get("acme")
    with pytest.raises(ConflictError):
        Tenants(full.table).create(tenant="acme", name="Acme")

    # Steps that were under way store what they came to, where no record leads any more.
    full.table.put_item(Item={"pk": experiment, "sk": "PAIR#00009", "body": "{}"})
    Replies(full.table, tenant="acme")._put("a" * 64, "{}")
    full.s3.put_object(Bucket=BUCKET, Key="artifacts/acme/late", Body=b"late")
    finished(stores.answers(), an_answer())
    assert delete(full.table, clock) == Deleted(tenant="acme", removed={}, again_at=first.again_at)

    clock.forward(seconds=STILL_UNDER_WAY.total_seconds())
    second = delete(full.table, clock)
    assert second.again_at == NOW + 2 * STILL_UNDER_WAY
    late = {name: second.removed[name] for name in ("experiment_pairs", "judge_replies", "objects", "answers")}
    assert set(late.values()) == {1}
    clock.forward(seconds=STILL_UNDER_WAY.total_seconds())
    assert delete(full.table, clock) == Deleted(tenant="acme", removed={}, again_at=None)

    assert items_of(full, "acme") == {}
    assert versions_of(full, "acme") == {}
    assert items_of(full, "acme-2") == others
    assert versions_of(full, "acme-2") == objects
    assert shared(full) == of_all
    assert Tenants(full.table).ids() == ("acme-2",)
    with pytest.raises(NotFoundError):
        delete(full.table, clock)
    Tenants(full.table).create(tenant="acme", name="Another school")


@pytest.fixture
def small(table: "Table", clock: StandingClock) -> "Table":
    """A tenant with an answer whose evaluation is deferred."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    Tenants(table, clock=clock).create(tenant="acme", name="Acme School")
    bodies = Artifacts(lambda: s3, BUCKET)
    record = finished(Answers(table, bodies), an_answer(deep_evaluation_wanted=True))
    Evaluations(table, bodies).enqueue(record.ref)
    return table


def backlog(table: "Table") -> int:
    return Evaluations(table, Artifacts(lambda: boto3.client("s3"), BUCKET)).backlog().count


def test_an_evaluation_that_leaves_the_deferred_while_its_answer_goes_is_not_taken_out_twice(
    small: "Table", clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = [1]

    def overtaken(*arguments: Any, **how: Any) -> None:
        if pending:
            pending.clear()
            evaluations = Evaluations(small, Artifacts(lambda: boto3.client("s3"), BUCKET))
            [one] = evaluations.oldest_deferred(limit=1)
            assert evaluations.claim(Reference("acme", "answer", one.answer_id)).granted
        transact(*arguments, **how)

    assert backlog(small) == 1
    monkeypatch.setattr("touchstone.records.removal.transact", overtaken)
    assert delete(small, clock).removed["answers"] == 1
    assert backlog(small) == 0


def test_a_deletion_that_broke_off_is_finished_by_a_repeat(
    small: "Table", clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(TenantObjects, "remove", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            delete(small, clock)
    again = delete(small, clock)
    assert again.again_at == NOW + STILL_UNDER_WAY
    clock.forward(seconds=STILL_UNDER_WAY.total_seconds())
    assert delete(small, clock).again_at is None
    assert backlog(small) == 0
    assert [item["pk"] for item in small.scan()["Items"] if str(item["pk"]).startswith("T#")] == []


def test_nothing_is_begun_in_the_name_of_a_tenant_that_is_leaving(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with deployed(monkeypatch, POWERTOOLS_METRICS_DISABLED="true") as here:
        token = here.token("acme", "admin")
        Tenants(here.table).begin_deletion("acme")
        dropped = here.drop("inbox/acme/late.jsonl", b"{}")
        event = {"bucket": BUCKET, "key": dropped["detail"]["object"]["key"], "owner": "run-1"}
        for handler, given in ((prepare, event), (collect, event | {"error": "NotFoundError"})):
            with pytest.raises(NotFoundError, match="is being deleted"):
                handler(given, Context())
        request = {"problem": "Compute 1 + 1.", "answer": "2"}
        body = json.dumps({"kind": "verify", "tenant": "acme", "id": "one", "request": request})
        taken = take(
            parse_message(body),
            tenants=stores.tenants(),
            context=contexts.of_answers("acme"),
            intake=work.intake("acme"),
        )
        with pytest.raises(NotFoundError, match="is being deleted"):
            work.run(taken)
        assert Api(token=token).post("/v1/tokens", {"role": "reader", "name": "late"}).status == 409
        assert {sk.partition("#")[0] for pk, sk in items_of(here, "acme") if pk.startswith("T#")} == {
            "PROFILE",
            "TOKEN",
        }


@pytest.mark.parametrize("operation", ["DeleteObjects", "ListObjectVersions"])
def test_objects_that_cannot_be_removed_keep_the_tenant(
    small: "Table", clock: StandingClock, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    boto3.client("s3").put_object(Bucket=BUCKET, Key="artifacts/acme/one", Body=b"one")
    send = BaseClient._make_api_call  # type: ignore[attr-defined]

    def failing(self: BaseClient, asked: str, parameters: Any) -> Any:
        if asked != operation:
            return send(self, asked, parameters)
        if operation == "DeleteObjects":
            return {"Errors": [{"Key": "artifacts/acme/one", "Code": "AccessDenied"}]}
        raise EndpointConnectionError(endpoint_url="https://bucket")

    with monkeypatch.context() as broken:
        broken.setattr(BaseClient, "_make_api_call", failing)
        with pytest.raises(StoreError, match=r"could not remove.*safe to repeat"):
            delete(small, clock)
    assert Tenants(small).get("acme", in_deletion=True).name == "Acme School"
    assert delete(small, clock).removed == {"objects": 1}


def test_evaluations_that_waited_for_a_batch_leave_the_backlog_of_all_tenants_with_theirs(
    small: "Table", clock: StandingClock
) -> None:
    bodies = Artifacts(lambda: boto3.client("s3"), BUCKET)
    waiting = finished(Answers(small, bodies), an_answer(deep_evaluation_wanted=True))
    evaluations = Evaluations(small, bodies)
    evaluations.enqueue(waiting.ref, cheap=True)
    assert (evaluations.backlog().count, evaluations.backlog().cheap) == (2, 1)
    delete(small, clock)
    assert (evaluations.backlog().count, evaluations.backlog().cheap) == (0, 0)
