"""The pages of submissions: each criterion of a gate, labels once the task is decided, and nothing before its time."""

from urllib.parse import urlencode

import pytest

from tests.support.api import Api
from tests.support.api_tasks import CRITERION, HIGH, LOW, OWNER, SCRIPT, UNKNOWN, ApiTask, alike
from tests.support.deployment import Deployment
from tests.support.pages import FORM, Page, Visitor, labelling
from touchstone.records import Role

MET, MISSED = "It does so throughout.", "The figures have no source."


def signed_in(judged: Deployment, tenant: str = "acme", role: Role = "member") -> Visitor:
    someone = Visitor()
    assert someone.sign_in(judged.token(tenant, role)).response.status == 200
    return someone


@pytest.fixture
def member(judged: Deployment) -> Visitor:
    """A member of the tenant acme, signed in where judges answer."""
    return signed_in(judged)


@pytest.fixture
def contest(buyer: Api, judged: Deployment) -> ApiTask:
    """An open contest: Ann passed the gate, Dee did not."""
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 90, about=f"By ann. {SCRIPT}")
    task.hand_in("dee", 95, unsourced=True)
    return task


@pytest.fixture
def ranked(contest: ApiTask) -> ApiTask:
    """The same, ranked."""
    contest.pass_time()
    return contest


def address(task: ApiTask, submitter: str) -> str:
    return f"/app/tasks/{task.id}/submissions/{task.ids[submitter]}"


def pressed(page: Page) -> list[str]:
    """The labels that are given."""
    return [given["value"] for tag, given in page.elements if tag == "button" and given.get("aria-pressed") == "true"]


def labels_of_gates(visitor: Visitor) -> int:
    cards = visitor.open("/app/judges", format="json").response.json["cards"]["rows"]
    return sum(card["labels"] for card in cards if card["kind"] == "gate_check")


def test_a_submission_is_found_from_its_task_and_shows_each_criterion_met_or_not(
    member: Visitor, ranked: ApiTask
) -> None:
    links = member.open(f"/app/tasks/{ranked.id}").links
    assert f"{ranked.id}/submissions/{ranked.ids['ann']}" in links
    page = member.open(f"{ranked.id}/submissions/{ranked.ids['ann']}")
    for shown in ("ann", f"Criterion 1 · Pass {CRITERION} Reason {MET}", f"By ann. {SCRIPT}", "State Ranked"):
        assert shown in page.text
    assert "<script>alert" not in page.response.body
    assert "State Ranked Rank 1 Total 90.00" in page.text
    of_ann = member.open(next(link for link in page.links if link.endswith("?submitter=ann")))
    assert [ranked.ids[who] in of_ann.response.body for who in ("ann", "dee")] == [True, False], "her revisions"
    page = member.open(address(ranked, "dee"))
    assert f"Criterion 1 · Fail {CRITERION} Reason {MISSED} How to meet it Name a source for each figure." in page.text
    found = member.open(address(ranked, "ann"), format="json").response.json
    (row,) = found["criteria"]["rows"]
    assert (row["number"], row["met"], row["label"]) == (1, True, None)
    assert len(found["own_scores"]["rows"]) == 4
    (said,) = found["submission"]["rows"]
    assert (said["standing"], said["gate_checked_by"]) == ("ranked", "claude-sonnet-5-5")
    assert (said["rank"], said["total"], said["eliminated_by"], said["risk_flags"]) == (1, 90, None, None)
    assert said["text"].startswith(f"By ann. {SCRIPT}")
    assert said["characters"] == len(said["text"])
    assert member.open(address(ranked, "ann"), format="csv").response.body.startswith("number,criterion,met,")


def test_what_eliminated_a_submission_is_named_as_the_dimensions_are(
    member: Visitor, buyer: Api, judged: Deployment
) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 40)
    task.pass_time()
    page = member.open(address(task, "ann"))
    assert "Eliminated by Substance, Credibility, Completeness, Depth" in page.text
    assert "Depth" in member.open(f"/app/tasks/{task.id}").text.partition("Eliminated by")[2].partition("Submission")[0]
    assert "实质内容、可信度、完整性、Depth" in member.open(address(task, "ann"), lang="zh").text


def test_of_a_long_text_the_beginning_is_shown_and_how_long_it_is(
    member: Visitor, ranked: ApiTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.pages.routes.submissions.MOST_SHOWN_CHARS", 7)
    found = member.open(address(ranked, "ann"), format="json").response.json["submission"]["rows"]
    assert [row["text"] for row in found] == ["By ann."]
    said = f"By ann. The first 7 of {found[0]['characters']:,} characters."
    assert said in member.open(address(ranked, "ann")).text


def test_a_label_of_a_criterion_moves_the_judge_s_card_and_can_be_taken_back(member: Visitor, ranked: ApiTask) -> None:
    page = member.open(address(ranked, "ann"))
    card = next(link for link in page.links if "/judges/" in link)
    assert "Labels 0" in member.open(card).text, "the card is linked before anything is labelled"
    page = member.open(address(ranked, "ann"))
    page = member.send(labelling(page), label="fail")
    assert member.at == address(ranked, "ann")
    assert pressed(page) == ["fail"]
    assert "Labels 1" in member.open(next(link for link in page.links if "/judges/" in link)).text
    (given,) = member.open("/app/judges", format="json").response.json["labels_given"]["rows"]
    assert (given["label"], given["verdict"], given["item"]) == ("fail", "pass", "1")
    link = next(link for link in member.open("/app/judges").links if "/submissions/" in link)
    page = member.send(labelling(member.open(link)), label="pass")
    assert (pressed(page), labels_of_gates(member)) == (["pass"], 1)
    page = member.send(labelling(member.open(address(ranked, "ann"))), label="")
    assert (pressed(page), labels_of_gates(member)) == ([], 0)


def test_a_form_leads_back_to_its_criterion(member: Visitor, ranked: ApiTask) -> None:
    page = member.open(address(ranked, "dee"))
    sent = {
        "cookie": "; ".join(f"{name}={value}" for name, value in member.cookies.items()),
        "content-type": FORM,
        "sec-fetch-site": "same-origin",
        "x-forwarded-proto": "https",
    }
    body = urlencode({**labelling(page).fields, "label": "fail"})
    said = Api().call("POST", f"{address(ranked, 'dee')}/label", body, headers=sent)
    assert (said.status, said.headers["location"]) == (303, f"../{ranked.ids['dee']}#criterion-1")
    assert any(given.get("id") == "criterion-1" for _, given in page.elements)


def test_nobody_is_asked_before_the_task_is_decided_and_no_form_gets_round_it(
    member: Visitor, contest: ApiTask
) -> None:
    contest.hand_in(OWNER, 80, unsourced=True)
    page = member.open(address(contest, OWNER))
    assert f"Criterion 1 · Fail {CRITERION}" in page.text, "its own failed gate is told to the owner who handed in, too"
    assert "Criteria can be labelled once the task is decided." in page.text
    assert not any(form.action.endswith("/label") for form in page.forms)
    form = next(form for form in page.forms if "form_mark" in form.fields)
    form.action = f"{address(contest, OWNER)}/label"
    assert member.send(form, item="1", label="pass").response.status == 409
    assert labels_of_gates(member) == 0


def test_of_an_open_contest_nothing_of_others_is_there_and_no_score_of_one_s_own(judged: Deployment) -> None:
    said = []
    for tenant, reading in (("acme", HIGH), ("rival", LOW)):
        task = ApiTask.created(Api(token=judged.token(tenant)), judged)
        task.hand_in("quentin", reading)
        task.hand_in(OWNER, reading)
        visitor = signed_in(judged, tenant)
        assert visitor.open(address(task, "quentin")).response.status == 404
        pages = [visitor.open(address(task, OWNER), format=form) for form in ("html", "json")]
        assert {page.response.status for page in pages} == {200}
        said.append([alike(task, page) for page in pages])
    assert said[0] == said[1]
    assert "Criterion" not in said[0][0].partition("<main")[2], "that the gate was passed is said without its reasons"


def test_only_members_label_with_the_mark_of_their_session_what_is_there(
    member: Visitor, ranked: ApiTask, judged: Deployment
) -> None:
    reader, rival = signed_in(judged, role="reader"), signed_in(judged, "rival")
    form = labelling(member.open(address(ranked, "ann")))
    form.action = f"{address(ranked, 'ann')}/label"
    page = reader.open(address(ranked, "ann"))
    assert not any(one.action.endswith("/label") for one in page.forms)
    for someone, status in ((reader, 403), (rival, 404)):
        mark = next(one.fields["form_mark"] for one in someone.open("/").forms if "form_mark" in one.fields)
        assert someone.send(form, label="fail", form_mark=mark).response.status == status
    assert member.send(form, label="fail", form_mark="").response.status == 403
    for item, label, status in (("2", "fail", 404), ("", "fail", 404), ("9", "", 404), ("1", "splendid", 400)):
        assert member.send(form, item=item, label=label).response.status == status
    form.action = f"/app/tasks/{ranked.id}/submissions/{UNKNOWN}/label"
    assert member.send(form, label="fail").response.status == 404
    assert labels_of_gates(member) == 0
    member.send(labelling(member.open(address(ranked, "ann"))), label="fail")
    assert "Label Fail" in reader.open(address(ranked, "ann")).text, "a reader reads what was said"
    assert rival.open(address(ranked, "ann")).response.status == 404
    assert member.open(f"/app/tasks/{ranked.id}/submissions/{UNKNOWN}").response.status == 404


def test_a_page_costs_the_same_reads_however_many_handed_in(
    member: Visitor, contest: ApiTask, reads: list[str], buyer: Api, judged: Deployment
) -> None:
    small = ApiTask.created(buyer, judged)
    small.hand_in("ann", unsourced=True)
    for number in range(6):
        contest.hand_in(f"party-{number}", unsourced=True)
    taken = []
    for task in (small, contest):
        task.pass_time()
        member.open(address(task, "ann"))
        reads.clear()
        assert member.open(address(task, "ann")).response.status == 200
        taken.append(list(reads))
    assert taken[0] == taken[1]


def test_it_can_be_read_in_chinese(member: Visitor, ranked: ApiTask) -> None:
    member.headers["accept-language"] = "zh"
    page = member.open(address(ranked, "dee"))
    for said in ("门槛检查（逐条标准）", "标准 1 · 未通过", "提交是否达到这条标准？", "如何达标", "提交的内容"):
        assert said in page.text
