"""Every kind of work that asks judges has its trace, by its id, for its tenant's admins; none where none is wanted."""

import pytest

from functions.environment import environment
from tests.support.api import Api, refusal
from tests.support.api_tasks import ApiTask
from tests.support.deployment import BUCKET, Deployment
from tests.support.pages import Visitor
from tests.support.quizzes import experiment

QUIZ = {"curriculum": "book-1", "chapter": "1", "learner": "ann", "questions": 2}
FEW = ["quiz_clarity", "quiz_item_flaws"]


@pytest.fixture
def admin(judged: Deployment) -> Api:
    """An admin of the tenant acme."""
    return Api(token=judged.token("acme", "admin"))


@pytest.fixture
def visitor(judged: Deployment) -> Visitor:
    """An admin of the tenant acme with a browser."""
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    return visitor


def _asked(admin: Api, record_id: str) -> set[str]:
    """For what judges were asked for a record."""
    return {call["prompt_name"] for call in admin.get(f"/v1/traces/{record_id}").json["calls"]}


def _trace_link(visitor: Visitor, page: str) -> str:
    """The link from a page to its trace."""
    (link,) = {each for each in visitor.open(page).links if "traces" in each}
    return link


def test_a_quiz_tells_what_wrote_and_evaluated_it(teacher: Api, admin: Api, visitor: Visitor) -> None:
    quiz_id = teacher.post("/v1/quizzes", QUIZ).json["id"]
    assert len(_asked(admin, quiz_id)) == 2
    link = _trace_link(visitor, f"/app/quizzes/{quiz_id}")
    assert visitor.open(link).response.status == 200


@pytest.mark.parametrize("path", ["quality_first", "fastest_first"])
def test_a_submission_tells_its_gate_and_scoring_once_its_task_is_closed(
    buyer: Api, judged: Deployment, admin: Api, visitor: Visitor, path: str
) -> None:
    task = ApiTask.created(buyer, judged, path)
    task.hand_in("ann", 59)
    record, page = f"{task.id}.{task.ids['ann']}", f"/app/tasks/{task.id}/submissions/{task.ids['ann']}"
    assert "closed" in refusal(admin.get(f"/v1/traces/{record}"), 409)["detail"]
    assert visitor.open(f"/app/traces/{record}").response.status == 409
    assert not [each for each in visitor.open(page).links if "traces" in each]
    opened = admin.get(f"/v1/traces/{task.id}").json["calls"]
    assert all(task.ids["ann"] not in str(call) and "59" not in str(call["value"]) for call in opened)
    task.pass_time()
    asked = _asked(admin, record)
    assert len(asked) >= 2
    assert asked.isdisjoint(_asked(admin, task.id)), "what made the task is told apart"
    assert visitor.open(_trace_link(visitor, page)).response.status == 200
    assert visitor.open(_trace_link(visitor, f"/app/tasks/{task.id}")).response.status == 200


def test_an_experiment_tells_all_its_pairs_and_each_alone(buyer: Api, admin: Api, visitor: Visitor) -> None:
    made = buyer.post("/v1/experiments", {"experiment": experiment(2, metrics=FEW)}).json["id"]
    whole = admin.get(f"/v1/traces/{made}").json["calls"]
    parts = [admin.get(f"/v1/traces/{made}-{number}").json["calls"] for number in (1, 2)]
    assert all(parts)
    assert len(whole) == sum(map(len, parts))
    assert refusal(admin.get(f"/v1/traces/{made}-3"), 404)
    assert visitor.open(_trace_link(visitor, f"/app/experiments/{made}")).response.status == 200


def test_no_other_tenant_and_no_lesser_role_reads_any(
    teacher: Api, judged: Deployment, admin: Api, visitor: Visitor
) -> None:
    quiz_id = teacher.post("/v1/quizzes", QUIZ).json["id"]
    made = teacher.post("/v1/experiments", {"experiment": experiment(1, metrics=FEW)}).json["id"]
    task = ApiTask.created(teacher, judged)
    task.hand_in("ann")
    task.pass_time()
    rival = Api(token=judged.token("rival", "admin"))
    for record in (quiz_id, made, f"{made}-1", task.id, f"{task.id}.{task.ids['ann']}"):
        assert admin.get(f"/v1/traces/{record}").status == 200
        unknown = refusal(rival.get("/v1/traces/01JD7Z00000000000000000000"), 404)["detail"]
        assert refusal(rival.get(f"/v1/traces/{record}"), 404)["detail"] == unknown
        assert refusal(teacher.get(f"/v1/traces/{record}"), 403)
    for strange in (f"{made}-", f"{made}-x", f"{made}-1/..", f"{task.id}.", f".{task.id}", f"{task.id}.x"):
        assert admin.get(f"/v1/traces/{strange}").status == 404
    found = admin.get(f"/v1/traces/{made}", cursor=f"rival/{made}/x")
    assert refusal(found, 400)["detail"].startswith("This cursor does not belong to this trace")


def test_nothing_is_kept_where_it_is_turned_off(
    teacher: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_KEEP_PROMPTS", "off")
    environment.cache_clear()
    teacher.post("/v1/quizzes", QUIZ)
    teacher.post("/v1/experiments", {"experiment": experiment(1, metrics=FEW)})
    ApiTask.created(teacher, judged).hand_in("ann")
    assert "Contents" not in judged.s3.list_objects_v2(Bucket=BUCKET, Prefix="traces/")
