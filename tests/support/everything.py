"""A tenant that has one of everything, made through the doors and operations that make it."""

import json
from typing import Any

from functions.composition import stores
from tests.support import replies
from tests.support.api import Api
from tests.support.api_tasks import ApiTask
from tests.support.batches import BatchMachine
from tests.support.course_quizzes import evaluated, made
from tests.support.courses import CHAPTER, CURRICULUM, LEARNER
from tests.support.deployment import Deployment
from tests.support.providers import ProviderServer
from tests.support.quizzes import experiment, measurement
from touchstone.answers.providers import ProviderChoice
from touchstone.audits.bundles.target import Target
from touchstone.audits.record import AuditRecord, AuditTerms
from touchstone.clock import system_clock
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.sureness import SureFrom
from touchstone.records import new_ulid
from touchstone.references import Reference

LONG_CHAPTERS = 200
LONG_TITLE = "學" * 400
"""So many chapters with such titles make a curriculum that lies in the bucket."""


def own_one_of_everything(deployment: Deployment, judges: ProviderServer, tenant: str) -> Api:
    """Make a tenant one of everything; an admin of it. `judges` answers well."""
    judges.reply(made(), schema="QuizReply")
    judges.reply(evaluated(), schema="QuizVerdictsReply")
    judges.reply(replies.evaluate(better_approach="Look at a map."), schema="EvaluateReply")
    token = deployment.token(tenant, "admin")
    api = Api(token=token)
    _answers(api, tenant)
    _contest(api, deployment)
    _material(api)
    _batch(deployment, tenant)
    _audit(tenant)
    _settings(api, tenant)
    _relied_on(tenant)
    stores.sessions().begin(token)
    return api


def _answers(api: Api, tenant: str) -> None:
    """An answer found and evaluated, one whose evaluation is deferred, one that is long."""
    problem = "Name the capital of Australia."
    done(api.post("/v1/solutions", {"problem": problem, "deep_evaluation": True}, key="solve"), 202)
    solution = {"problem": "Compute 2 + 2.", "answer": "4"}
    waiting = done(api.post("/v1/verifications", solution), 201)
    done(api.call("PUT", f"/v1/labels/quick_verify/{waiting['id']}/1", json.dumps({"label": "right"})), 200)
    evaluations = stores.evaluations()
    evaluations.request(Reference(tenant, "answer", waiting["id"]))
    evaluations.enqueue(Reference(tenant, "answer", waiting["id"]))


def _contest(api: Api, deployment: Deployment) -> None:
    task = ApiTask.created(api, deployment)
    task.hand_in("ann", 90)
    task.hand_in("bob", 80)
    task.pass_time()
    assert task.contest("bob", "bob").status == 202


def _material(api: Api) -> None:
    for path, body in (("curricula/book-1", CURRICULUM), ("learners/ann", LEARNER)):
        done(api.call("PUT", f"/v1/{path}", json.dumps(body)), 200)
    pattern = {"pattern": "是", "explanation": LONG_TITLE, "examples": []}
    wordy = CHAPTER | {"title": LONG_TITLE, "grammar": [pattern]}
    long = [wordy | {"id": str(number)} for number in range(LONG_CHAPTERS)]
    done(api.call("PUT", "/v1/curricula/long", json.dumps(CURRICULUM | {"chapters": long})), 200)
    done(api.post("/v1/quizzes", {"curriculum": "book-1", "chapter": "1", "learner": "ann", "questions": 2}), 202)
    done(api.post("/v1/measurements", measurement(metrics=["quiz_clarity"])), 202)
    done(api.post("/v1/experiments", {"experiment": experiment(2, metrics=["quiz_clarity"])}), 202)


def _batch(deployment: Deployment, tenant: str) -> None:
    line = {"kind": "verify", "id": "one", "problem": "Compute 1 + 1.", "answer": "2"}
    BatchMachine(deployment=deployment, tenant=tenant, name="Räume 1").run(json.dumps(line).encode())


def _audit(tenant: str) -> None:
    """An audit with a case that was begun; no library is installed for it."""
    audit_id = new_ulid(system_clock())
    terms = AuditTerms(target=Target(requirement="tinylib==1.0"))
    record = stores.audits().create(
        AuditRecord(
            tenant=tenant,
            id=audit_id,
            created_at=system_clock(),
            terms=terms,
            content_key=f"{tenant}/audits/{audit_id}/request.json",
            content_hash="0" * 64,
            weekly=True,
        )
    )
    stores.cases().begin(record.ref, 1)
    stores.bundles().put_bytes(
        tenant=tenant, key=f"{tenant}/tinylib.tar", data=b"wheels", content_type="application/x-tar"
    )


def _settings(api: Api, tenant: str) -> None:
    done(api.call("PUT", "/v1/routing/mathematics", json.dumps({"provider": "openai"})), 200)
    choice = ProviderChoice(provider="openai", why="data")
    stores.routing_pins().note(tenant=tenant, subject="mathematics", choice=choice, before=None)
    stores.spending().set_ceiling(tenant, 20.0)


def _relied_on(tenant: str) -> None:
    """A judge with a threshold, and a batch of questions at a provider."""
    sure_from = SureFrom(confidence=0.9, labels=120, wanted=0.95, card="card", version="1")
    stores.thresholds().keep(tenant, lambda: {("some-model", "1"): sure_from}, wanted=sure_from.wanted)
    batch_id = new_ulid(system_clock())
    stores.provider_batches().create(
        ProviderBatch(
            tenant=tenant, id=batch_id, provider="openai", model="some-model", created_at=system_clock(), count=1,
            lines_key=f"{tenant}/provider-batches/{batch_id}/lines.jsonl", most_usd=0.01,
        )
    )  # fmt: skip


def done(response: Any, status: int) -> Any:
    """What a response holds that must have this status."""
    assert response.status == status, response.body
    return response.json
