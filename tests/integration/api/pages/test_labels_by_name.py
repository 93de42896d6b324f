"""Lists of labels say what was labelled: a problem and its answer, an item of some material, a criterion. No ids."""

import json

import pytest

from tests.support.api import Api
from tests.support.api_tasks import CRITERION, ApiTask, task_body
from tests.support.deployment import Deployment
from tests.support.pages import Page, signed_in, verified
from tests.support.quizzes import measurement


@pytest.fixture
def labelled(buyer: Api, judged: Deployment) -> dict[str, str]:
    """The ids of an answer, a measurement and a submission, in each of which something has a label."""
    answer = verified(buyer, "Compute 3 + 2.", "4")
    made = buyer.post("/v1/measurements", measurement(metrics=["quiz_clarity"]))
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 90)
    task.hand_in("bob", 80)
    task.pass_time()
    ids = {"answer": answer, "measurement": made.json["id"], "task": task.id, "submission": task.ids["ann"]}
    gate = f"{task.id}.{task.ids['ann']}"
    for kind, record, item, label in (
        ("quick_verify", answer, "1", "right"),
        ("quiz_clarity", ids["measurement"], "q1", "CLEAR"),
        ("gate_check", gate, "1", "fail"),
    ):
        reply = buyer.call("PUT", f"/v1/labels/{kind}/{record}/{item}", json.dumps({"label": label}))
        assert reply.status == 200, reply.body
    return ids


def at_first_sight(page: Page) -> str:
    """What is read of the tables without opening a row."""
    return " ".join(part.partition("</tr>")[2] for part in page.response.body.split('<tr class="details" role="row">'))


@pytest.mark.parametrize("address", ["/app/judges", "/app/disagreements"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_list_of_labels_shows_what_was_labelled_and_no_ids(
    labelled: dict[str, str], judged: Deployment, address: str, language: str
) -> None:
    visitor = signed_in(judged)
    page = visitor.open(address, lang=language)
    question = measurement()["material"]["questions"][0]["question_text"]
    source = measurement()["source"]["pillars"][0]["concept"]
    assert ("a", {"href": f"measurements/{labelled['measurement']}?metric=quiz_clarity"}) in page.elements
    for shown in (
        "Compute 3 + 2.",
        " 4 ",
        f"{source} {question}",
        "ann: ",
        task_body()["brief"]["description"],
        CRITERION,
    ):
        assert shown in page.text
    for found in labelled.values():
        assert f">{found}" not in at_first_sight(page), "no id is shown before a row is opened"
    for link in (
        f"answers/{labelled['answer']}#attempt-1",
        f"measurements/{labelled['measurement']}?metric=quiz_clarity",
        f"tasks/{labelled['task']}/submissions/{labelled['submission']}",
    ):
        assert link in page.links
        assert visitor.open(f"/app/{link.partition('#')[0]}").response.status == 200


def test_a_label_whose_record_is_gone_still_has_its_id_in_the_details(
    labelled: dict[str, str], judged: Deployment
) -> None:
    judged.table.delete_item(Key={"pk": f"T#acme#ANSWER#{labelled['answer']}", "sk": "RECORD"})
    page = signed_in(judged).open("/app/judges")
    assert page.response.status == 200
    assert "Compute 3 + 2." not in page.text
    assert labelled["answer"] in page.text


def test_a_record_that_cannot_be_read_costs_its_own_name_and_no_page(
    labelled: dict[str, str], judged: Deployment
) -> None:
    spoilt = {"pk": f"T#acme#MEASUREMENT#{labelled['measurement']}", "sk": "RECORD"}
    assert "Item" in judged.table.get_item(Key=spoilt)
    judged.table.update_item(
        Key=spoilt, UpdateExpression="SET body = :body REMOVE body_key", ExpressionAttributeValues={":body": "{}"}
    )
    page = signed_in(judged).open("/app/judges")
    assert page.response.status == 200
    assert "Compute 3 + 2." in page.text
    assert labelled["measurement"] in page.text
