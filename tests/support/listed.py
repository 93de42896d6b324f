"""Records of every kind that has a list, made without their machines: for what finds them and what counts reads."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.support.course_quizzes import CHAPTER, quiz
from tests.support.measurements import a_measurement
from tests.support.oracle import a_request as a_task_request
from tests.support.records import START
from touchstone.audits.bundles.target import Target
from touchstone.audits.record import AuditRecord, AuditTerms
from touchstone.oracle.task import new_task
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest, QuizRun, new_run
from touchstone.records import new_ulid
from touchstone.surfaces.experiments.estimate import Estimate
from touchstone.surfaces.experiments.record import ExperimentPlan, ExperimentRecord
from touchstone.surfaces.measurement import Measurement


def _placed(record: Any, at: datetime, tenant: str, fields: Mapping[str, Any]) -> Any:
    return record.model_copy(update={"id": new_ulid(at), "tenant": tenant, "created_at": at, **fields})


def measured(at: datetime = START, *, tenant: str = "acme", spend: Any = None, **fields: Any) -> Measurement:
    made = a_measurement() if spend is None else a_measurement(spends=(spend,))
    return _placed(made, at, tenant, fields)  # type: ignore[no-any-return]


def quizzed(at: datetime = START, *, tenant: str = "acme", own: bool = False, **fields: Any) -> QuizRun:
    request = QuizCheckRequest(quiz=quiz()) if own else QuizRequest(chapter=CHAPTER)
    made = new_run(request, tenant=tenant, run_id=new_ulid(at), now=at)
    return _placed(made, at, tenant, fields)  # type: ignore[no-any-return]


def compared(at: datetime = START, *, tenant: str = "acme", plan: Any = None, **fields: Any) -> ExperimentRecord:
    estimate = Estimate(pairs=1, calls=(1, 1), cost_usd=None)
    named = {"name": "trial", "surface": "quiz", "a": "old", "b": "new", "pairs": 3, "sources": 1, "estimate": estimate}
    whole = ExperimentPlan.model_validate(named | (plan or {}))
    made = ExperimentRecord(
        tenant=tenant, id=new_ulid(at), created_at=at, content_key="acme/e.json", content_hash="0", plan=whole
    )
    return made.model_copy(update=fields)


def audited(at: datetime = START, *, tenant: str = "acme", terms: Any = None, **fields: Any) -> AuditRecord:
    given = AuditTerms(target=Target(requirement="google-adk==1.20.0")).model_copy(update=terms or {})
    made = AuditRecord(
        tenant=tenant, id=new_ulid(at), created_at=at, terms=given, content_key="acme/a.json", content_hash="0"
    )
    return made.model_copy(update=fields)


def asked(at: datetime = START, *, tenant: str = "acme", request: Any = None, **fields: Any) -> Any:
    wanted = a_task_request(**{"deadline": at + timedelta(days=2), **(request or {})})
    return new_task(wanted, tenant=tenant, task_id=new_ulid(at), now=at).model_copy(update=fields)
