"""Several judges of one answer: from the request to the record, the page, the cards and a line of a file."""

import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from functions import sweep
from functions.composition import judging, stores
from functions.composition.labels import labels
from tests.support import replies
from tests.support.api import Api
from tests.support.api_tasks import ApiTask, task_body
from tests.support.batches import BatchMachine, results_in
from tests.support.clocks import later
from tests.support.deployment import Context, Deployment
from tests.support.experiments import experiment, preferring, told
from tests.support.pages import labelling, signed_in
from tests.support.providers import ProviderServer, error, success
from tests.support.quizzes import measurement, quiz
from tests.support.wire import Asked, Behaviour
from touchstone.budgets.admission import BudgetAdmission, BudgetPermit
from touchstone.errors import StoreError
from touchstone.judges.base import Call
from touchstone.records.labels import Label
from touchstone.statistics import JudgeKey

CITY = "Which city is the capital of Australia?"
WRONG = success(replies.failed(confidence=0.9, independent_answer="Sydney"))


@pytest.fixture
def split(judges: ProviderServer) -> ProviderServer:
    """Judges of whom Claude's calls every answer wrong, and all others right."""
    judges.reply(replies.verify(confidence=0.95), schema="VerifyReply")
    judges.rule(WRONG, schema="VerifyReply", provider="anthropic")
    return judges


def verify(api: Api, **more: Any) -> dict[str, Any]:
    body = {"problem": CITY, "answer": "Canberra", **more}
    # Later than it is, so that a busy machine has time enough.
    received_at = time.time_ns() // 1_000_000 + 60_000
    reply = api.call("POST", "/v1/verifications", json.dumps(body), received_at_ms=received_at)
    assert reply.status == 201, reply.body
    return dict(reply.json)


def test_two_that_do_not_agree_are_a_split_whose_votes_are_kept(buyer: Api, split: ProviderServer) -> None:
    told = verify(buyer, judges=2)
    found = buyer.get(f"/v1/answers/{told['id']}").json
    assert (found["verification_status"], found["skip_reason"]) == ("unverified", "split")
    assert (found["judges"], found["split"], found["evaluation"]["state"]) == (2, True, "none")
    votes = found["attempts"][0]["verification"]["votes"]
    assert [(vote["provider"], vote["passed"], vote["confidence"]) for vote in votes] == [
        ("gemini", True, 0.95),
        ("claude", False, 0.9),
    ]
    assert len(found["spends"]) == 2
    assert found["cost_usd"] == pytest.approx(sum(spend["cost_usd"] for spend in found["spends"]))
    assert len(split.calls) == 2


def test_three_decide_by_their_majority_and_one_is_asked_where_nothing_is_said(
    buyer: Api, split: ProviderServer
) -> None:
    found = verify(buyer, judges=3)
    assert (found["verify_passed"], found["verification_status"], found["split"]) == (True, "caution", True)
    assert found["verification_confidence"] == pytest.approx((0.95 + 0.95 + 0.1) / 3, abs=1e-6)
    asked = len(split.calls)
    before = verify(buyer, problem=f"{CITY} Once more.")
    assert (before["judges"], before["split"], before["verification_status"]) == (1, False, "verified")
    assert len(split.calls) == asked + 1


@pytest.mark.parametrize("wrong", [0, 4, "many", None, True])
def test_another_number_is_refused(buyer: Api, wrong: Any) -> None:
    body = {"problem": CITY, "answer": "Canberra", "judges": wrong}
    reply = buyer.call("POST", "/v1/verifications", json.dumps(body))
    assert reply.status == 422
    assert "judges" in reply.body
    assert "1, 2, 3 or 'until_sure'" in reply.body


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/experiments", {}),
        ("/v1/quizzes", {}),
        ("/v1/audits", {}),
    ],
)
def test_what_one_judge_decides_refuses_several_and_says_so(buyer: Api, path: str, body: dict[str, Any]) -> None:
    reply = buyer.post(path, {**body, "judges": 3})
    assert reply.status == 422
    assert "leave `judges` out" in reply.body


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ["What each judge said", "The judges do not agree", "2 of 3 judges", "claude"]),
        ("zh", ["各评判模型的意见", "评判模型意见不一", "3 个评判模型中的 2 个", "claude"]),
    ],
)
def test_the_page_shows_every_vote_and_a_label_counts_for_every_judge(
    judged: Deployment, buyer: Api, split: ProviderServer, language: str, shown: list[str]
) -> None:
    found = verify(buyer, judges=3)
    visitor = signed_in(judged)
    page = visitor.open(f"/app/answers/{found['id']}", lang=language)
    for words in shown:
        assert words in page.text
    visitor.send(labelling(page), label="right")
    labelled = {one["model"]: one for one in buyer.get("/v1/judges").json if one["labels"]}
    assert len(labelled) == 3
    after = visitor.open(f"/app/answers/{found['id']}", lang=language)
    assert sum("/app/judges/" in link for link in after.links) >= 3
    rows = visitor.open(f"/app/answers/{found['id']}", format="json", table="votes").response.body
    assert "claude" in rows


def test_the_card_of_each_judge_shows_how_several_agree(judged: Deployment, buyer: Api, judges: ProviderServer) -> None:
    judges.reply(replies.verify(confidence=0.95), schema="VerifyReply")
    for number in range(2):
        verify(buyer, judges=3, problem=f"{CITY} Question {number}.")
    judges.rule(WRONG, schema="VerifyReply", provider="anthropic")
    verify(buyer, judges=3, problem=f"{CITY} Question 2.")
    verify(buyer, judges="until_sure", problem=f"{CITY} Question 3.")
    cards = [one for one in buyer.get("/v1/judges").json if one["kind"] == "quick_verify"]
    # By hand: one unit of (right, right, wrong) has 4 unequal ordered pairs over 2, eight right and one wrong 16 in
    # all: 1 - (9 - 1) x 2 / 16.
    assert [one["alpha"] for one in cards] == [pytest.approx(0.0)] * 3
    whole = buyer.get(f"/v1/judges/{cards[0]['id']}").json
    assert (whole["alpha"]["units"], whole["alpha"]["votes"]) == (3, 9), "until sure is no sample of agreement"
    visitor = signed_in(judged)
    assert (
        "Agreement of several judges (Krippendorff's alpha) 0.00 (items: 3)"
        in visitor.open(f"/app/judges/{cards[0]['id']}").text
    )
    shown = visitor.open(f"/app/judges/{cards[0]['id']}", lang="zh").text
    assert "多个评判模型之间的一致性（克里彭多夫系数） 0.00 （共 3 项）" in shown


def test_a_line_of_a_file_waits_for_the_judge_that_failed_and_pays_nobody_twice(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.reply(replies.verify(confidence=0.95), schema="VerifyReply")
    judges.rule(error("day_quota", limit=1), schema="VerifyReply", provider="anthropic")
    line = {"kind": "verify", "id": "mine", "problem": CITY, "answer": "Canberra", "judges": 2}
    machine = BatchMachine(deployment=judged, tenant="acme")
    assert machine.drop(json.dumps(line).encode()) == "waiting"
    judges.reply(replies.verify(confidence=0.85), schema="VerifyReply")
    while machine.wait() == "waiting":
        pass
    (batch,) = stores.batches().page(tenant="acme").items
    (result,) = results_in(judged, stores.batches().get(tenant="acme", batch_id=batch.id))
    answer = result["answer"]
    assert (answer["verification_status"], answer["judges"]) == ("verified", 2)
    assert answer["verification_confidence"] == 0.9, "the first judge's reply was kept, and it was not asked again"
    assert sorted(vote["provider"] for vote in answer["attempts"][0]["verification"]["votes"]) == ["claude", "gemini"]


def test_a_fault_of_the_table_at_one_judge_leaves_a_line_waiting_and_pays_nobody_twice(
    judged: Deployment, buyer: Api, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges.reply(replies.verify(confidence=0.95), schema="VerifyReply")
    left, reserve = ["claude"], BudgetAdmission._reserve

    def throttled(self: BudgetAdmission, call: Call) -> BudgetPermit:
        if call.provider in left:
            left.remove(call.provider)
            raise StoreError("The table is throttled.")
        return reserve(self, call)

    monkeypatch.setattr(BudgetAdmission, "_reserve", throttled)
    line = {"kind": "verify", "id": "mine", "problem": CITY, "answer": "Canberra", "judges": 2}
    machine = BatchMachine(deployment=judged, tenant="acme")
    batch = machine.run(json.dumps(line).encode())
    assert (batch.done, batch.failed, len(machine.waits)) == (1, 0, 1)
    (result,) = machine.results()
    answer = result["answer"]
    assert (answer["verification_status"], result["error"]) == ("verified", None)
    paid = sorted(spend["provider"] for spend in answer["spends"] if not spend["cached"])
    assert paid == ["claude", "gemini"], "what was paid before the fault is kept"
    assert len(judges.calls) == 2


def test_who_asks_until_sure_has_the_first_sure_one_decide(buyer: Api, split: ProviderServer) -> None:
    split.rule(success(replies.verify(confidence=0.7)), schema="VerifyReply", provider="gemini")
    found = verify(buyer, judges="until_sure")
    verification = found["attempts"][0]["verification"]
    assert (found["verify_passed"], verification["provider"]) == (False, "claude")
    assert [vote["skip_reason"] for vote in verification["votes"]] == ["unsure", None]


@pytest.mark.usefixtures("buyer")
def test_lines_of_a_file_are_asked_until_one_judge_is_sure(judged: Deployment, judges: ProviderServer) -> None:
    judges.reply(replies.verify(confidence=0.95), schema="VerifyReply")
    judges.rule(success(replies.verify(confidence=0.7)), schema="VerifyReply", provider="gemini")
    judges.rule(clear(0.9), schema="ClarityReply")
    judges.rule(clear(0.9, 0.7), schema="ClarityReply", provider="anthropic")
    material = {"kind": "quiz_evaluation", "id": "quiz", "material": quiz(2), "metrics": ["quiz_clarity"]}
    rows = [
        {"kind": "verify", "id": "one", "problem": CITY, "answer": "Canberra", "judges": "until_sure"},
        {**material, "judges": "until_sure"},
    ]
    machine = BatchMachine(deployment=judged, tenant="acme")
    batch = machine.run("\n".join(map(json.dumps, rows)).encode())
    assert (batch.done, batch.failed) == (2, 0)
    by_id = {one["id"]: one for one in machine.results()}
    answer = by_id["one"]["answer"]
    assert (answer["verification_status"], answer["judges"]) == ("verified", "until_sure")
    votes = answer["attempts"][0]["verification"]["votes"]
    assert [(vote["provider"], vote["skip_reason"]) for vote in votes] == [("gemini", "unsure"), ("claude", None)]
    (metric,) = by_id["quiz"]["measurement"]["metrics"]
    assert (by_id["quiz"]["measurement"]["judges"], metric["score"]) == ("until_sure", 100.0)
    assert [[vote["unsure"] for vote in item["votes"]] for item in metric["items"]] == [[], [True, False]]


NOT_MET = success(
    replies.gate(replies.criterion(1, passed=False, reason="Two figures have none.", revision_hint="Name both."))
)


def test_several_check_the_criteria_of_a_task_and_their_votes_are_kept_and_shown(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    task = ApiTask.created(buyer, judged, judges=3)
    assert task.seen()["judges"] == 3
    judges.rule(NOT_MET, schema="GateReply", provider="anthropic")
    assert task.hand_in("ann")["standing"] == "gate_passed", "two of three say that it is met"
    failed = task.hand_in("bob", unsourced=True)
    assert failed["standing"] == "gate_failed"
    assert [vote["passed"] for vote in task.feedback("bob", "gate_check")["votes"]] == [[False]] * 3
    task.pass_time()
    gate = task.own("ann")["gate"]
    assert gate["judge"] is None
    assert sorted((vote["provider"], vote["passed"]) for vote in gate["votes"]) == [
        ("claude", [False]),
        ("gemini", [True]),
        ("openai", [True]),
    ]
    visitor = signed_in(judged)
    page = visitor.open(f"/app/tasks/{task.id}/submissions/{task.ids['ann']}")
    assert "What each judge said" in page.text
    visitor.send(labelling(page), label="pass")
    after = visitor.open(f"/app/tasks/{task.id}/submissions/{task.ids['ann']}")
    assert sum("/app/judges/" in link for link in after.links) >= 3
    cards = [one for one in buyer.get("/v1/judges").json if one["kind"] == "gate_check"]
    assert [card["labels"] for card in cards] == [1, 1, 1]
    assert buyer.get(f"/v1/judges/{cards[0]['id']}").json["alpha"]["units"] == 2


def test_two_that_do_not_agree_on_a_criterion_leave_the_work_unscored_and_it_may_be_handed_in_again(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    task = ApiTask.created(buyer, judged, judges=2)
    judges.rule(NOT_MET, schema="GateReply", provider="anthropic")
    found = task.hand_in("ann")
    assert (found["standing"], found["unscored"]) == ("unscored", "split")
    (check,) = task.feedback("ann", "gate_check")["criteria_checks"]
    assert check["passed"] is None
    assert "The judges do not agree" in check["reason"]
    assert task.offer("ann", text="Another try. Source: the shop.").status == 202
    task.pass_time()
    page = signed_in(judged).open(f"/app/tasks/{task.id}/submissions/{task.ids['ann']}")
    assert "Nobody could decide" in page.text


@pytest.mark.parametrize("wanted", [True, 4, "2", "many"])
def test_criteria_are_checked_by_one_two_three_or_until_one_is_sure(buyer: Api, wanted: Any) -> None:
    reply = buyer.post("/v1/tasks", task_body(judges=wanted))
    assert reply.status == 422
    assert "1, 2, 3 or 'until_sure'" in reply.body
    reply = buyer.post("/v1/tasks", task_body(scoring_judges="until_sure"))
    assert reply.status == 422
    assert "do not say how sure they are" in reply.body


def test_criteria_are_checked_by_one_after_the_other_until_one_is_sure(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    task = ApiTask.created(buyer, judged, judges="until_sure")
    assert task.seen()["judges"] == "until_sure"
    judges.rule(success(replies.gate(replies.criterion(1, confidence=0.7))), schema="GateReply", provider="anthropic")
    assert task.hand_in("ann")["standing"] == "gate_passed", "the next one is sure to 0.9"
    judges.rule(success(replies.gate(replies.criterion(1, confidence=0.7))), schema="GateReply")
    nobody = task.hand_in("bob")
    assert (nobody["standing"], nobody["unscored"]) == ("unscored", "unsure")
    task.pass_time()
    gate = task.own("ann")["gate"]
    assert [vote["unsure"] for vote in gate["votes"]] == [[1], []]
    assert gate["votes"][0]["provider"] == "claude"
    assert "is sure to 0.70; without labels of people 0.80 is asked of it" in json.dumps(task.own("bob"))
    page = signed_in(judged).open(f"/app/tasks/{task.id}/submissions/{task.ids['bob']}")
    assert "sure to 0.70" in page.text


def test_a_judge_of_criteria_is_held_to_the_threshold_that_labels_give_it(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann")
    task.pass_time()
    place = f"/v1/labels/gate_check/{task.id}.{task.ids['ann']}/1"
    told = buyer.call("PUT", place, json.dumps({"label": "pass"}))
    assert told.status == 200, told.body
    judge = JudgeKey(**told.json["judge"])
    for number in range(100):
        label = {"item": "1", "label": "pass", "verdict": "pass", "confidence": 0.95, "judge": judge}
        who = {"labelled_by": "somebody", "labelled_at": datetime(2026, 11, 21, tzinfo=UTC)}
        labels().put(Label(tenant="acme", kind="gate_check", record_id=f"t.{number}", **label, **who))
    # The last of the labels comes by the API, as it does, and what a process has read holds for a minute.
    assert buyer.call("PUT", place, json.dumps({"label": "fail"})).status == 200
    assert buyer.call("PUT", place, json.dumps({"label": "pass"})).status == 200
    judging._kept_thresholds.cache_clear()
    judges.rule(success(replies.gate(replies.criterion(1, confidence=0.75))), schema="GateReply", provider="anthropic")
    after = ApiTask.created(buyer, judged)
    after.hand_in("eve")
    after.pass_time()
    gate = after.own("eve")["gate"]
    first, second = gate["votes"]
    assert (first["unsure"], first["sure_from"]["confidence"], second["unsure"]) == ([1], 0.9, [])
    assert first["sure_from"]["labels"] >= 100
    assert gate["criteria_checks"][0]["passed"]


AMBIGUOUS = success(
    {
        "questions": [
            {
                "number": number,
                "reason": "It has two answers.",
                "label": label,
                "confidence": 0.9,
                "suggestion": suggestion,
            }
            for number, label, suggestion in ((1, "AMBIGUOUS", "Say which."), (2, "CLEAR", None))
        ]
    }
)


def measured(api: Api, **more: Any) -> dict[str, Any]:
    body = measurement(material=quiz(2), metrics=["quiz_clarity"], **more)
    return dict(api.get(api.post("/v1/measurements", body).location).json)


def test_several_measure_and_their_votes_are_kept_shown_and_labelled(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.rule(AMBIGUOUS, schema="ClarityReply", provider="anthropic")
    view = measured(buyer, judges=2)
    (one,) = view["metrics"]
    assert (view["judges"], view["state"], one["score"], one["split"]) == (2, "done", 100.0, 1)
    (kept,), (split,) = one["items"], one["unscored"]
    assert (kept["item"], split["item"], split["reason"]) == ("q2", "q1", "split")
    assert {vote["provider"]: vote["label"] for vote in split["votes"]} == {"claude": "AMBIGUOUS", "openai": "CLEAR"}
    assert len(judges.calls) == 2
    assert one["outlay"]["cost_usd"] > 0
    visitor = signed_in(judged)
    path = f"/app/measurements/{view['id']}"
    for language, shown in (
        ("en", ["What each judge said", "The judges do not agree", "It has two answers."]),
        ("zh", ["各评判模型的意见", "评判模型意见不一", "每项的评判模型数"]),
    ):
        text = visitor.open(path, lang=language).text
        assert [words for words in shown if words not in text] == []
    assert "AMBIGUOUS" in visitor.open(path, table="quiz_clarity", format="csv").response.body
    assert buyer.call("PUT", f"/v1/labels/quiz_clarity/{view['id']}/q1", json.dumps({"label": "CLEAR"})).status == 200
    cards = [one for one in buyer.get("/v1/judges").json if one["kind"] == "quiz_clarity"]
    assert [card["labels"] for card in cards] == [1, 1]
    assert {buyer.get(f"/v1/judges/{card['id']}").json["alpha"]["units"] for card in cards} == {2}


def test_one_measures_where_nothing_is_said(buyer: Api, judges: ProviderServer) -> None:
    view = measured(buyer)
    (one,) = view["metrics"]
    assert (view["judges"], one["split"], len(judges.calls)) == (1, 0, 1)
    assert {len(item["votes"]) for item in one["items"]} == {0}
    assert all(item["judge"] for item in one["items"])


@pytest.mark.parametrize("wanted", [True, 4, "2", "many"])
def test_one_two_three_measure_or_until_one_is_sure(buyer: Api, wanted: Any) -> None:
    reply = buyer.post("/v1/measurements", measurement(judges=wanted))
    assert reply.status == 422
    assert "1, 2, 3 or 'until_sure'" in reply.body


def clear(*confidences: float) -> Behaviour:
    entry = {"reason": "One reading.", "label": "CLEAR", "suggestion": None}
    told = enumerate(confidences, start=1)
    return success({"questions": [{"number": number, "confidence": each, **entry} for number, each in told]})


def test_items_are_measured_by_one_after_the_other_until_one_is_sure(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.rule(clear(0.9), schema="ClarityReply")
    judges.rule(clear(0.9, 0.7), schema="ClarityReply", provider="anthropic")
    view = measured(buyer, judges="until_sure")
    (one,) = view["metrics"]
    assert (view["judges"], view["state"], one["score"], len(judges.calls)) == ("until_sure", "done", 100.0, 2)
    assert [[vote["unsure"] for vote in item["votes"]] for item in one["items"]] == [[], [True, False]]
    judges.rule(clear(0.7), schema="ClarityReply")
    judges.rule(clear(0.9, 0.7), schema="ClarityReply", provider="anthropic")
    nobody = measured(buyer, judges="until_sure", use_cache=False)
    (one,) = nobody["metrics"]
    assert [(each["item"], each["reason"]) for each in one["unscored"]] == [("q2", "unsure")]
    assert (one["over"], one["score"]) == (True, 100.0), "neither right nor a zero"
    assert len(one["unscored"][0]["votes"]) == 3
    for language, shown in (("en", "No judge was sure enough"), ("zh", "没有评判模型有足够把握")):
        page = signed_in(judged).open(f"/app/measurements/{nobody['id']}", lang=language)
        assert shown in page.text
    assert "sure to 0.70, not enough" in signed_in(judged).open(f"/app/measurements/{nobody['id']}").text


def test_a_judge_of_a_metric_is_held_to_the_threshold_that_labels_give_it(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.rule(clear(0.95), schema="ClarityReply")
    judges.rule(clear(0.95, 0.75), schema="ClarityReply", provider="anthropic")
    before = measured(buyer)
    assert len(judges.calls) == 1, "without labels nobody else is asked"
    place = f"/v1/labels/quiz_clarity/{before['id']}/q1"
    told = buyer.call("PUT", place, json.dumps({"label": "CLEAR"}))
    assert told.status == 200, told.body
    judge = JudgeKey(**told.json["judge"])
    for number in range(100):
        label = {"item": "q1", "label": "CLEAR", "verdict": "CLEAR", "confidence": 0.95, "judge": judge}
        who = {"labelled_by": "somebody", "labelled_at": datetime(2026, 11, 21, tzinfo=UTC)}
        labels().put(Label(tenant="acme", kind="quiz_clarity", record_id=f"m{number}", **label, **who))
    # The last of the labels comes by the API, as it does, and what a process has read holds for a minute.
    assert buyer.call("PUT", place, json.dumps({"label": "AMBIGUOUS"})).status == 200
    assert buyer.call("PUT", place, json.dumps({"label": "CLEAR"})).status == 200
    judging._kept_thresholds.cache_clear()
    after = measured(buyer, use_cache=False)
    (one,) = after["metrics"]
    first, second = one["items"]
    assert (first["sure_from"]["confidence"], first["sure_from"]["labels"] >= 100, first["votes"]) == (0.9, True, [])
    assert [(vote["provider"], vote["unsure"]) for vote in second["votes"]] == [("claude", True), ("openai", False)]
    assert len(judges.calls) == 3
    assert buyer.get(f"/v1/judges/{first['sure_from']['card']}").json["kind"] == "quiz_clarity"
    page = signed_in(judged).open(f"/app/measurements/{after['id']}")
    assert f"its {first['sure_from']['labels']} labels ask for at least 0.90" in page.text
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(stores.thresholds(), "read", _throttled)
        judging._kept_thresholds.cache_clear()
        waits = measured(buyer, use_cache=False)
    assert (waits["metrics"][0]["over"], waits["metrics"][0]["because"], len(judges.calls)) == (False, "overloaded", 3)


def test_several_people_label_one_item_and_the_card_shows_how_they_agree_beside_the_judge(
    judged: Deployment, buyer: Api
) -> None:
    view = measured(buyer)
    people = [buyer, *(Api(token=judged.token("acme")) for _ in range(2))]
    for person, said in zip(people, ("CLEAR", "CLEAR", "AMBIGUOUS"), strict=True):
        place = f"/v1/labels/quiz_clarity/{view['id']}/q1"
        assert person.call("PUT", place, json.dumps({"label": said})).status == 200
    (line,) = [one for one in buyer.get("/v1/judges").json if one["kind"] == "quiz_clarity"]
    card = buyer.get(f"/v1/judges/{line['id']}").json
    assert (card["labels"], card["people"]["count"], card["people"]["of"]) == (1, 1, 3), "of three pairs one agrees"
    assert line["people_agree"] == pytest.approx(1 / 3)
    assert "Two people agree" in signed_in(judged).open(f"/app/judges/{line['id']}").text


def _throttled(*_: object, **__: object) -> None:
    raise StoreError("The table was throttled.")


def test_several_judges_measure_fewer_choices_at_once(buyer: Api) -> None:
    questions = [
        {"id": str(n), "kind": "single_choice", "question_text": "Which?", "choices": [str(c) for c in range(50)],
         "answers": ["1"]}
        for n in range(27)
    ]  # fmt: skip
    reply = buyer.post("/v1/measurements", measurement(material={"questions": questions}, judges=3))
    assert reply.status == 413
    assert "at most 1333 are measured at once by 3 judges" in reply.body


def test_several_score_a_submission_and_the_median_of_each_dimension_counts(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    task = ApiTask.created(buyer, judged, scoring_judges=3)
    assert task.seen()["scoring_judges"] == 3
    asked = len(judges.calls)
    task.hand_in("ann", 90, by={"openai": {"credibility": 20}, "gemini": {"credibility": 70}})
    task.hand_in("bob", 75)
    assert len(judges.calls) == asked + 2 * (1 + 3), "one checks the criteria, three score"
    task.pass_time()
    own = task.feedback("ann", "individual_scoring")
    credibility = next(one for one in own["dimension_scores"] if one["dimension"] == "credibility")
    assert (credibility["score"], credibility["band"]) == (70, "B")
    assert sorted((vote["provider"], vote["score"]) for vote in credibility["votes"]) == [
        ("claude", 90.0),
        ("gemini", 70.0),
        ("openai", 20.0),
    ]
    assert all(vote["evidence"] for vote in credibility["votes"])
    assert own["risk_flags"] == ["judges_disagree"]
    beside = task.feedback("ann", "scoring")
    assert {len(one["votes"]) for one in beside["dimension_scores"]} == {3}
    for language, words in (("en", "What each judge gave"), ("zh", "各评判模型给出的得分")):
        page = signed_in(judged).open(f"/app/tasks/{task.id}/submissions/{task.ids['ann']}", lang=language)
        assert words in page.text
    cards = [one for one in buyer.get("/v1/judges").json if one["kind"] == "individual_scoring"]
    assert len(cards) == 3
    assert buyer.get(f"/v1/judges/{cards[0]['id']}").json["alpha"]["units"] == 8


def test_an_experiment_is_measured_by_several_as_often_as_is_wanted_and_the_page_says_so(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.script(told)
    asked = experiment(sources=2, judges=2, replicates=2).model_dump(mode="json")
    path = buyer.post("/v1/experiments", {"experiment": asked}).location
    view = buyer.get(path).json
    assert view["state"] == "done", view
    # Two pairs: the clarity of both variants and both orders of the preference, by two judges, twice.
    assert len(judges.calls) == 2 * 4 * 2 * 2
    assert view["estimate"]["calls"] == [32, 32]
    conclusion = view["conclusion"]
    assert (conclusion["judges"], conclusion["replicates"], conclusion["outlay"]["calls"]) == (2, 2, 32)
    clarity = conclusion["metrics"][0]
    assert clarity["replication"]["differences"] == [-40.0, -40.0]
    assert (clarity["agreement"]["judges"], clarity["agreement"]["split"]) == (2, 0)
    assert conclusion["preference"]["wins_a"] == 2
    page = signed_in(judged).open(path.replace("/v1/", "/app/"))
    assert "Standard deviation between runs" in page.text
    assert "Judges differ on" in page.text
    cards = {one["kind"] for one in buyer.get("/v1/judges").json}
    assert {"quiz_clarity", "preference"} <= cards


def test_an_experiment_is_measured_by_one_after_the_other_until_one_is_sure(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    def doubtful(asked: Asked) -> Behaviour:
        if (asked.provider, asked.title) == ("anthropic", "PreferenceReply"):
            return told(asked, preferring(lambda *_: "FIRST"))
        if (asked.provider, asked.title) == ("anthropic", "ClarityReply"):
            return clear(*[0.9] * 9, 0.7)
        return told(asked)

    judges.script(doubtful)
    asked = experiment(sources=1, judges="until_sure").model_dump(mode="json")
    path = buyer.post("/v1/experiments", {"experiment": asked}).location
    view = buyer.get(path).json
    assert view["state"] == "done", view
    by = Counter((call.provider, call.title) for call in judges.calls)
    assert by["anthropic", "ClarityReply"] == by["anthropic", "PreferenceReply"] == 2
    assert by["openai", "ClarityReply"] == by["openai", "PreferenceReply"] == 2, "what the first was not sure of"
    assert sum(by.values()) == 8
    assert view["estimate"]["calls"] == [4, 12]
    conclusion = view["conclusion"]
    assert (conclusion["judges"], conclusion["preference"]["wins_a"]) == ("until_sure", 1)
    assert (conclusion["preference"]["flipped"], conclusion["preference"]["agreement"]) == (1, None)
    page = signed_in(judged).open(path.replace("/v1/", "/app/"))
    assert "Judges differ on" not in page.text


def test_a_pair_of_which_it_cannot_be_read_how_sure_its_judge_must_be_waits_and_asks_nobody(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.script(told)
    asked = experiment(sources=1).model_dump(mode="json")
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(stores.thresholds(), "read", _throttled)
        judging._kept_thresholds.cache_clear()
        path = buyer.post("/v1/experiments", {"experiment": asked}).location
        view = buyer.get(path).json
    assert (view["state"], view["because"], judges.calls) == ("measuring", "overloaded", [])
    later(3600)
    sweep.handler({}, Context())
    assert (buyer.get(path).json["state"], len(judges.calls)) == ("done", 4)


def test_a_pair_waits_for_the_judge_that_failed_and_pays_nobody_twice(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    paid: list[tuple[str, str]] = []
    spent = True

    def reply(asked: Asked) -> Behaviour:
        if spent and (asked.provider, asked.title) == ("anthropic", "PreferenceReply"):
            return error("day_quota")
        paid.append((asked.provider, asked.title))
        return told(asked)

    judges.script(reply)
    asked = experiment(sources=1, judges=2).model_dump(mode="json")
    path = buyer.post("/v1/experiments", {"experiment": asked}).location
    view = buyer.get(path).json
    assert view["state"] == "measuring"
    assert view["because"] in {"day_quota", "quota"}, "the provider's word, or our own count that remembers it"
    spent = False
    later(36 * 3600)
    sweep.handler({}, Context())
    view = buyer.get(path).json
    assert view["state"] == "done"
    each = [(name, title) for name in {name for name, _ in paid} for title in ("ClarityReply", "PreferenceReply")]
    assert Counter(paid) == Counter(each * 2), "both variants and both orders, by each judge, once"
    assert len(each) == 4
    assert view["conclusion"]["preference"]["wins_a"] == 1
