"""Labels through the API, and the cards of judges that they move."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from functions.composition import stores
from tests.support import replies
from tests.support.api import Api, Response, refusal
from tests.support.api_tasks import ApiTask
from tests.support.deployment import Deployment, deployed
from tests.support.overrides import own_model, registry
from tests.support.providers import ProviderServer, success
from tests.support.quizzes import measurement, question

EASY = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}
OPEN = {"problem": "Name the capital of Australia.", "answer": "Canberra"}
UNKNOWN = "01JD7Z00000000000000000000"
STRANGE_IDS = (
    "a/b",
    "q#2",
    "50%2F50",
    "one two",
    "第一题",
    "why?",
    "a,b",
    "x&item=y",
    'say "so"',
    "1+1",
    "../..",
    "é" * 128,
)


def put(api: Api, answer_id: str, label: str, *, item: str = "1", kind: str = "quick_verify") -> Response:
    return api.call("PUT", f"/v1/labels/{kind}/{answer_id}/{item}", json.dumps({"label": label}))


def delete(api: Api, answer_id: str, *, item: str = "1", kind: str = "quick_verify") -> Response:
    return api.call("DELETE", f"/v1/labels/{kind}/{answer_id}/{item}")


def test_labels_of_proofs_make_the_card_of_the_checks(acme: Api) -> None:
    made = [acme.post("/v1/verifications", EASY | {"answer": f"{n}/12"}).json["id"] for n in (10, 11)]
    label = put(acme, made[1], "right")
    assert (label.status, label.json["verdict"], label.json["confidence"]) == (200, "right", 1.0)
    assert label.json["judge"] == {"model": "checks", "tier": None, "prompt_version": None, "kind": "quick_verify"}
    assert put(acme, made[0], "wrong").json["verdict"] == "wrong"
    (line,) = acme.get("/v1/judges").json
    assert (line["model"], line["labels"], line["state"], line["kappa"]) == ("checks", 2, "not_enough_labels", None)
    card = acme.get(f"/v1/judges/{line['id']}").json
    assert card["agreement"] == {"labels": 2, "needed": 30, "state": "not_enough_labels"}


def test_a_label_is_repeated_changed_and_taken_back(acme: Api) -> None:
    answer = acme.post("/v1/verifications", EASY).json["id"]
    assert put(acme, answer, "right").json == put(acme, answer, "right").json
    assert [one["label"] for one in acme.get("/v1/labels").json["items"]] == ["right"]
    put(acme, answer, "wrong")
    assert [one["label"] for one in acme.get("/v1/labels").json["items"]] == ["wrong"]
    (line,) = acme.get("/v1/judges").json
    assert line["labels"] == 1
    assert (delete(acme, answer).status, delete(acme, answer).status) == (204, 204)
    assert acme.get("/v1/labels").json == {"items": [], "cursor": None}
    assert acme.get("/v1/judges").json == []
    refusal(acme.get(f"/v1/judges/{line['id']}"), 404)


def test_a_label_needs_a_member(deployment: Deployment, acme: Api) -> None:
    answer = acme.post("/v1/verifications", EASY).json["id"]
    reader = Api(token=deployment.token("acme", "reader"))
    refusal(put(reader, answer, "right"), 403)
    refusal(delete(reader, answer), 403)
    assert reader.get("/v1/judges").status == reader.get("/v1/labels").status == 200


def test_nothing_of_another_tenant_can_be_labelled_or_seen(acme: Api, rival: Api) -> None:
    answer = acme.post("/v1/verifications", EASY).json["id"]
    put(acme, answer, "right")
    refusal(put(rival, answer, "wrong"), 404)
    refusal(delete(rival, answer), 404)
    (line,) = acme.get("/v1/judges").json
    assert (rival.get("/v1/judges").json, rival.get("/v1/labels").json["items"]) == ([], [])
    refusal(rival.get(f"/v1/judges/{line['id']}"), 404)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"item": "2"}, 404),
        ({"answer_id": UNKNOWN}, 404),
        ({"answer_id": "nonsense"}, 404),
        ({"label": "maybe"}, 400),
        ({"kind": "weather"}, 400),
    ],
)
def test_what_cannot_be_labelled_is_refused(acme: Api, changes: dict[str, Any], status: int) -> None:
    answer = acme.post("/v1/verifications", EASY).json["id"]
    refusal(put(acme, **({"answer_id": answer, "label": "right"} | changes)), status)
    assert acme.get("/v1/judges").json == []


@pytest.fixture
def unhurried(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A member of a deployment whose judge may be asked thirty times a minute."""
    keys, addresses = judges.led_here()
    _, model = own_model(tier="verify", per_day=10_000, per_minute=10_000)
    with deployed(monkeypatch, keys=keys, **addresses, **registry(gemini=model)) as here:
        yield Api(token=here.token("acme"))


def test_a_card_of_thirty_labels_has_figures_and_one_label_moves_it(judges: ProviderServer, unhurried: Api) -> None:
    judges.script(*[success(replies.verify(confidence=0.9))] * 30)
    body = OPEN | {"use_cache": False}
    made = [unhurried.post("/v1/verifications", body | {"answer": f"Canberra {n}"}).json["id"] for n in range(30)]
    for number, answer in enumerate(made):
        put(unhurried, answer, "right" if number < 27 else "wrong")
    (line,) = [one for one in unhurried.get("/v1/judges").json if one["labels"]]
    assert (line["tier"], line["labels"], line["state"]) == ("verify", 30, "measured")
    assert (line["kappa"], line["ece"]) == (0.0, pytest.approx(0.0))
    assert line["calls"] >= 30
    card = unhurried.get(f"/v1/judges/{line['id']}").json
    wrong, right = sorted(card["agreement"]["classes"], key=lambda one: one["label"], reverse=True)
    assert (right["precision"]["value"], right["recall"]["value"]) == (0.9, 1.0)
    assert (wrong["precision"]["of"], wrong["recall"]["value"]) == (0, 0.0)
    delete(unhurried, made[0])
    assert unhurried.get(f"/v1/judges/{line['id']}").json["agreement"]["state"] == "not_enough_labels"


def test_items_of_a_measurement_are_labelled_by_the_classes_of_their_metric(buyer: Api) -> None:
    made = buyer.post("/v1/measurements", measurement(metrics=["quiz_clarity"])).json["id"]
    label = put(buyer, made, "CLEAR", kind="quiz_clarity", item="q1").json
    assert (label["verdict"], label["label"]) == ("AMBIGUOUS", "CLEAR")
    assert (label["judge"]["model"], label["judge"]["tier"]) == ("claude-sonnet-5-5", "strong")
    (metric,) = buyer.get(f"/v1/measurements/{made}").json["metrics"]
    assert all(label["judge"].items() >= one["judge"].items() for one in metric["items"])
    refusal(put(buyer, made, "right", kind="quiz_clarity", item="q1"), 400)
    refusal(put(buyer, made, "CLEAR", kind="quiz_clarity", item="q9"), 404)
    refusal(put(buyer, made, "CLEAR", kind="quiz_item_flaws", item="q1"), 400)
    (line,) = [one for one in buyer.get("/v1/judges").json if one["kind"] == "quiz_clarity"]
    assert (line["labels"], line["calls"], line["unreadable_share"]) == (1, 1, 0.0)
    assert line["verdict_cost_usd"] > 0


def test_an_item_may_have_any_name(buyer: Api) -> None:
    questions = [question(number) | {"id": name} for number, name in enumerate(STRANGE_IDS)]
    asked = measurement(metrics=["quiz_clarity"], material={"questions": questions})
    made = buyer.post("/v1/measurements", asked).json["id"]
    path = f"/v1/labels/quiz_clarity/{made}"
    for name in STRANGE_IDS:
        label = buyer.call("PUT", path, '{"label": "CLEAR"}', query={"item": name})
        assert (label.status, label.json["item"]) == (200, name)
    listed = {one["item"] for one in buyer.get("/v1/labels").json["items"]}
    assert listed == set(STRANGE_IDS)
    for name in STRANGE_IDS:
        assert buyer.call("DELETE", path, query={"item": name}).status == 204
    assert buyer.get("/v1/labels").json["items"] == []
    for name in ("one two", "one%20two", "第一题", "%E7%AC%AC%E4%B8%80%E9%A2%98"):
        assert put(buyer, made, "CLEAR", kind="quiz_clarity", item=name).status == 200
        assert delete(buyer, made, kind="quiz_clarity", item=name).status == 204
    refusal(buyer.call("PUT", path, '{"label": "CLEAR"}', query={"item": ""}), 404)
    refusal(buyer.call("PUT", path, '{"label": "CLEAR"}'), 422)
    refusal(buyer.call("DELETE", path), 422)


def test_each_distractor_of_a_question_is_labelled_by_itself(buyer: Api) -> None:
    long = question(1) | {"id": "q" * 128}
    asked = measurement(metrics=["quiz_distractor_quality"], material={"questions": [long]})
    made = buyer.post("/v1/measurements", asked).json["id"]
    (metric,) = buyer.get(f"/v1/measurements/{made}").json["metrics"]
    names = [one["item"] for one in metric["items"]]
    assert len(names) > 1
    for name in names:
        path = f"/v1/labels/quiz_distractor_quality/{made}"
        assert buyer.call("PUT", path, '{"label": "WEAK"}', query={"item": name}, key=name[-2:]).status == 200
    assert {one["item"] for one in buyer.get("/v1/labels").json["items"]} == set(names)


def test_a_key_of_one_item_serves_no_other(buyer: Api) -> None:
    made = buyer.post("/v1/measurements", measurement(metrics=["quiz_clarity"])).json["id"]
    path, said = f"/v1/labels/quiz_clarity/{made}", '{"label": "CLEAR"}'
    assert buyer.call("PUT", path, said, query={"item": "q1"}, key="once").json["item"] == "q1"
    refusal(buyer.call("PUT", path, said, query={"item": "q2"}, key="once"), 422)


def test_counted_again_the_cards_are_what_they_were(buyer: Api, judged: Deployment) -> None:
    made = buyer.post("/v1/measurements", measurement()).json["id"]
    put(buyer, made, "CLEAR", kind="quiz_clarity", item="q1")
    put(buyer, buyer.post("/v1/verifications", EASY).json["id"], "right")
    before = buyer.get("/v1/judges").json
    assert {one["kind"] for one in before} >= {"quick_verify", "quiz_clarity", "quiz_answer_correctness"}
    judged.table.put_item(Item={"pk": "T#acme#COUNTS#0", "sk": "JUDGE#quick_verify#verify#nobody#", "answered": 7})
    assert len(buyer.get("/v1/judges").json) == len(before) + 1
    stores.statistics().rebuild("acme")
    assert buyer.get("/v1/judges").json == before


def test_gate_checks_are_labelled_once_the_task_is_decided(buyer: Api, judged: Deployment) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 90)
    task.hand_in("bob", 70)
    record = f"{task.id}.{task.ids['ann']}"
    refusal(put(buyer, record, "pass", kind="gate_check"), 409)
    task.pass_time()
    label = put(buyer, record, "fail", kind="gate_check").json
    assert (label["verdict"], label["judge"]["tier"], label["record_id"]) == ("pass", "strong", record)
    for wrong in (task.id, f"{task.id}.{UNKNOWN}", f"{UNKNOWN}.{task.ids['ann']}", "."):
        refusal(put(buyer, wrong, "fail", kind="gate_check"), 404)
    before = buyer.get("/v1/judges").json
    (gate,) = [one for one in before if one["kind"] == "gate_check"]
    assert (gate["labels"], gate["calls"]) == (1, 2)
    assert "individual_scoring" in {one["kind"] for one in before}
    (comparison,) = [one for one in before if one["kind"] == "comparison"]
    assert (comparison["calls"], comparison["flip_rate"]) == (2 * len(task.seen()["dimensions"]), 0.0)
    stores.statistics().rebuild("acme")
    assert buyer.get("/v1/judges").json == before
