"""Lists of every kind through the API, on pages and as files: found by filters, refused in a sentence, linked to."""

from typing import Any

import pytest

from tests.support.api import Api, refusal
from tests.support.api_tasks import OWNER, ApiTask, task_body
from tests.support.deployment import Deployment
from tests.support.pages import Visitor
from tests.support.quizzes import experiment, measurement, quiz
from tests.support.sinks import SaidAloud

LISTS = ("measurements", "quizzes", "experiments", "audits", "tasks")
HOSTILE = "<script>alert(1)</script>"
CANARY = "canaryoftherival"
FORMATS = ("html", "json", "csv")


@pytest.fixture
def visitor(judged: Deployment) -> Visitor:
    """A member of acme with a browser."""
    visitor = Visitor()
    visitor.sign_in(judged.token("acme"))
    return visitor


def _ids(api: Api, path: str, **query: Any) -> list[str]:
    reply = api.get(path, **query)
    assert reply.status == 200, reply.body
    return [one["id"] for one in reply.json["items"]]


def test_measurements_and_experiments_are_found_by_what_they_are(buyer: Api, visitor: Visitor) -> None:
    measured = buyer.post("/v1/measurements", measurement(material=quiz(2))).json["id"]
    summed = {
        "surface": "summary",
        "material": {"text": f"Whales {HOSTILE} are large."},
        "metrics": ["summary_coherence"],
    }
    other = buyer.post("/v1/measurements", summed).json["id"]
    compared = buyer.post("/v1/experiments", {"experiment": experiment(1, metrics=["quiz_item_flaws"])}).json["id"]
    assert _ids(buyer, "/v1/measurements", surface="summary") == [other]
    assert _ids(buyer, "/v1/measurements", search="whales LARGE") == [other]
    assert _ids(buyer, "/v1/measurements", metric="quiz_clarity", status="ended") == [measured]
    assert _ids(buyer, "/v1/measurements", provider="nobody") == []
    assert _ids(buyer, "/v1/experiments", variant="merged_chunks") == [compared]
    page = visitor.open("/app/measurements", surface="summary")
    assert f"measurements/{other}" in page.links
    assert f"measurements/{measured}" not in page.links
    assert HOSTILE in page.text
    assert HOSTILE not in page.response.body
    again = visitor.open(next(link for link in page.links if "surface=summary" in link and "format=json" in link))
    assert [row["id"] for row in again.response.json["measurements"]["rows"]] == [other]
    row = visitor.open("/app/measurements", surface="summary", format="csv").response.body.splitlines()[1]
    assert other in row


def test_submissions_are_found_by_what_their_owner_may_see(buyer: Api, judged: Deployment, visitor: Visitor) -> None:
    task = ApiTask.created(buyer, judged)
    for who, more in (("ann", {}), ("bob", {"unsourced": True}), ("cy", {})):
        task.hand_in(who, **more)
    assert task.listed("ann", status="scored").json["items"] == [], "no filter tells what is hidden"
    assert [one["standing"] for one in task.listed("ann", status="gate_passed").json["items"]] == ["gate_passed"]
    task.pass_time()
    found = task.listed(OWNER, status="gate_failed").json
    assert [one["submitter"] for one in found["items"]] == ["bob"]
    first = task.listed(OWNER, status="ranked", limit=1).json
    rest = task.listed(OWNER, status="ranked", limit=1, cursor=first["cursor"]).json
    assert {one["submitter"] for one in (*first["items"], *rest["items"])} == {"ann", "cy"}
    assert refusal(task.listed(OWNER, cursor=first["cursor"]), 400)["where"] == "cursor"
    page = visitor.open(f"/app/tasks/{task.id}")
    failed = next(link for link in page.links if "status=gate_failed" in link)
    listed = visitor.open(failed)
    assert "bob" in listed.text
    assert not [link for link in listed.links if task.ids["ann"] in link]
    assert visitor.open(next(link for link in listed.links if task.ids["bob"] in link)).response.status == 200


def test_submissions_are_found_by_their_words_by_those_alone_who_may_read_them(
    buyer: Api, judged: Deployment, visitor: Visitor
) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", about="Of whales and 港口.")
    task.hand_in("bob", about="Of whales alone.")

    def found(party: str, search: str) -> list[str]:
        return [one["submitter"] for one in task.listed(party, search=search).json["items"]]

    assert found("ann", "WHALES 港口") == ["ann"]
    assert found("ann", "whales") == ["ann"], "what others handed in is hidden"
    assert found(OWNER, "whales") == found("bob", "港口") == []
    assert refusal(task.listed("stranger", search="whales"), 404)
    task.pass_time()
    assert found(OWNER, "whales") == found("ann", "whales") == ["bob", "ann"]
    assert found("bob", "港口") == ["ann"]
    assert found(OWNER, "whales bob") == ["bob"], "a submitter's name is a word too"
    assert task.listed(OWNER, search="whales", status="gate_failed").json["items"] == []
    rival = Api(token=judged.token("rival"))
    assert refusal(rival.get(f"{task.path}/submissions", party=OWNER, search="whales"), 404)
    page = visitor.open(f"/app/tasks/{task.id}/submissions", search="港口")
    assert [link for link in page.links if task.ids["ann"] in link]
    assert not [link for link in page.links if task.ids["bob"] in link]
    refused = visitor.open(f"/app/tasks/{task.id}/submissions", search="港口", label="perhaps")
    assert refused.response.status == 400


def test_submissions_are_found_by_what_people_said_of_their_criteria(
    buyer: Api, judged: Deployment, visitor: Visitor
) -> None:
    task = ApiTask.created(buyer, judged)
    for who in ("ann", "bob", "cy"):
        task.hand_in(who, about=f"Of {who}.")

    def found(party: str, label: str, **more: str) -> list[str]:
        return [one["submitter"] for one in task.listed(party, label=label, **more).json["items"]]

    assert (found("ann", "none"), found("ann", "fail")) == (["ann"], [])
    task.pass_time()
    for who, label in (("ann", "fail"), ("bob", "pass")):
        path = f"/v1/labels/gate_check/{task.id}.{task.ids[who]}/1"
        assert buyer.call("PUT", path, f'{{"label": "{label}"}}').status == 200
    for label, who in (("fail", "ann"), ("pass", "bob"), ("none", "cy")):
        assert found(OWNER, label) == [who]
        assert found(OWNER, label, search=f"of {who}.") == [who]
        assert found(OWNER, label, search="nobody") == []
        page = visitor.open(f"/app/tasks/{task.id}/submissions", label=label, format="csv").response.body
        assert [each for each in task.ids if task.ids[each] in page] == [who]
    assert "People said: Fail" in visitor.open(f"/app/tasks/{task.id}/submissions", label="fail").text


@pytest.mark.parametrize("plural", LISTS)
def test_a_list_refuses_what_it_does_not_know_and_shows_no_other_tenant_s(
    buyer: Api, judged: Deployment, visitor: Visitor, plural: str
) -> None:
    for query in ({"status": "wonderful"}, {"from": "yesterday"}, {"search": "y" * 201}, {"sort": "cost"}):
        assert refusal(buyer.get(f"/v1/{plural}", **query), 422)
        assert visitor.open(f"/app/{plural}", **query).response.status == 400
    assert buyer.get(f"/v1/{plural}", cursor="x" * 5000).status == 400
    page = visitor.open(f"/app/{plural}", search=f'"{HOSTILE}', sort="oldest")
    assert page.response.status == 200
    assert HOSTILE not in page.response.body
    assert len(page.response.body.encode()) < 300_000
    (form,) = [form for form in page.forms if "search" in form.fields]
    assert form.fields["search"] == f'"{HOSTILE}'
    for language in ("en", "zh"):
        assert visitor.open(f"/app/{plural}", lang=language).response.status == 200


def _handed_in(api: Api) -> dict[str, str]:
    """One record of every list, each with a word by which only its tenant finds it; their ids."""
    canary = quiz(1)
    canary["questions"][0]["question_text"] = f"Which of these is {CANARY}?"
    brief = {"description": f"Find {CANARY}.", "acceptance_criteria": ["It is found."]}
    audit = {
        "target": {"requirement": f"{CANARY}==1.0"},
        "files": [{"name": "bench.yaml", "text": "- id: one\n  question: Which?\n  options: [a, b]\n  answer: A\n"}],
    }
    sent = {
        "measurements": ("measurements", measurement(material=canary, metrics=["quiz_item_flaws"])),
        "quizzes": ("quiz-checks", {"quiz": canary}),
        "experiments": ("experiments", {"experiment": experiment(1, metrics=["quiz_item_flaws"], name=CANARY)}),
        "audits": ("audits", audit),
        "tasks": ("tasks", task_body(brief=brief)),
    }
    made = {plural: api.post(f"/v1/{path}", body) for plural, (path, body) in sent.items()}
    assert all(reply.status in (201, 202) for reply in made.values()), {each: made[each].body for each in made}
    return {plural: reply.json["id"] for plural, reply in made.items()}


def test_a1_a8_no_list_shows_what_another_tenant_handed_in_and_no_log_what_anybody_did(
    buyer: Api, judged: Deployment, visitor: Visitor, warnings_printed: SaidAloud
) -> None:
    rival = Api(token=judged.token("rival"))
    their_visitor = Visitor()
    their_visitor.sign_in(str(rival.token))
    theirs = _handed_in(rival)
    again = _handed_in(rival)
    for plural, record in theirs.items():
        assert set(_ids(rival, f"/v1/{plural}", search=CANARY)) == {record, again[plural]}, "it can be found by its own"
        assert record in their_visitor.open(f"/app/{plural}", search=CANARY, format="csv").response.body
        assert _ids(buyer, f"/v1/{plural}", search=CANARY) == _ids(buyer, f"/v1/{plural}", sort="oldest") == []
        for form in FORMATS:
            body = visitor.open(f"/app/{plural}", sort="oldest", format=form).response.body
            assert CANARY not in body
            assert record not in body
            assert "rival" not in body
        assert visitor.open(f"/app/{plural}/{record}").response.status == 404
        for query in ({}, {"search": CANARY}):
            cursor = rival.get(f"/v1/{plural}", limit=1, **query).json["cursor"]
            assert cursor, "there is a page behind"
            assert refusal(buyer.get(f"/v1/{plural}", cursor=cursor, **query), 400)["where"] == "cursor"
            assert visitor.open(f"/app/{plural}", cursor=cursor, **query).response.status == 400
    heard = warnings_printed()
    for secret in (CANARY, rival.token or "", buyer.token or ""):
        assert secret not in heard
