"""The page of a trace: linked for admins alone, what was sent escaped and its data marked, in both languages."""

import pytest

from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Visitor
from tests.support.providers import ProviderServer, error, success
from tests.support.quizzes import measurement, quiz
from tests.support.wire import Kind
from touchstone.records import Role

HOSTILE = "Name the capital of Australia. <script>alert(1)</script>"


@pytest.fixture
def answer_id(buyer: Api) -> str:
    """An answer that a judge was asked about."""
    found: str = buyer.post("/v1/verifications", {"problem": HOSTILE, "answer": "Canberra"}).json["id"]
    return found


def test_an_admin_is_led_from_an_answer_to_what_its_judge_was_asked(judged: Deployment, answer_id: str) -> None:
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    page = visitor.open(f"/app/answers/{answer_id}")
    (link,) = {each for each in page.links if "traces" in each}
    page = visitor.open(link)
    assert page.response.status == 200
    for shown in ("Question 1", "Prompt, as sent", "Schema of the reply", "Try 1", "What was read of it", "Canberra"):
        assert shown in page.text
    assert "<script>alert" not in page.response.body
    marked = page.response.body.split("<mark>")[1:]
    assert any("alert(1)" in text.split("</mark>")[0] for text in marked), "the data is marked"
    assert "追踪" in visitor.open(link, lang="zh").text
    (row,) = visitor.open(link, format="json").response.json["trace"]["rows"]
    assert (row["prompt_name"], row["tries"], row["failure"]) == ("verify", 1, None)


@pytest.mark.parametrize(("kind", "said"), [("overloaded", "The provider is overloaded"), ("refused", "refused")])
def test_a_judge_that_was_asked_and_gave_no_verdict_leads_to_what_it_was_asked(
    judged: Deployment, buyer: Api, judges: ProviderServer, kind: Kind, said: str
) -> None:
    judges.rule(error(kind), schema="VerifyReply")
    made = buyer.post("/v1/verifications", {"problem": HOSTILE, "answer": "Canberra"}).json["id"]
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    page = visitor.open(f"/app/answers/{made}")
    link = next(each for each in page.links if "traces" in each)
    assert said in visitor.open(link).text


def test_a_deep_evaluation_that_was_refused_leads_to_what_its_judge_was_asked(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.rule(error("day_quota"), schema="EvaluateReply")
    asked = {"problem": "Compute 2 + 2.", "answer": "4", "deep_evaluation": True}
    made = buyer.post("/v1/verifications", asked).json["id"]
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    link = next(each for each in visitor.open(f"/app/answers/{made}").links if "traces" in each)
    assert "The day's quota is spent" in visitor.open(link).text


def test_an_answer_that_a_check_decided_says_that_nobody_was_asked(judged: Deployment, buyer: Api) -> None:
    made = buyer.post("/v1/verifications", {"problem": "Compute 2 + 2.", "answer": "4"}).json["id"]
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    page = visitor.open(f"/app/traces/{made}")
    assert page.response.status == 200
    assert "No judge was asked for it: the checks decided" in page.text
    assert "没有询问任何评判" in visitor.open(f"/app/traces/{made}", lang="zh").text


def test_a_measurement_leads_to_its_trace(judged: Deployment, buyer: Api) -> None:
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    measured = buyer.post("/v1/measurements", measurement(material=quiz(4))).json["id"]
    page = visitor.open(f"/app/measurements/{measured}")
    cost, *figures, link = [each for each in page.links if "traces" in each]
    assert set(figures) == {link}
    assert cost == link, "what it cost leads to the calls, too"
    assert "quiz_clarity" in visitor.open(link).text


def test_a_measurement_without_a_judge_leads_to_no_trace_and_has_one_that_says_so(
    judged: Deployment, buyer: Api
) -> None:
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    measured = buyer.post("/v1/measurements", measurement(metrics=["quiz_item_flaws"])).json["id"]
    assert not [each for each in visitor.open(f"/app/measurements/{measured}").links if "traces" in each]
    page = visitor.open(f"/app/traces/{measured}")
    assert page.response.status == 200
    assert "No judge was asked for it" in page.text


@pytest.mark.parametrize("role", ["reader", "member"])
def test_nobody_else_sees_it_or_a_link_to_it(judged: Deployment, answer_id: str, role: Role) -> None:
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", role))
    assert not [each for each in visitor.open(f"/app/answers/{answer_id}").links if "traces" in each]
    assert visitor.open(f"/app/traces/{answer_id}").response.status == 403


def test_another_tenant_s_admin_finds_nothing(judged: Deployment, answer_id: str) -> None:
    visitor = Visitor()
    visitor.sign_in(judged.token("rival", "admin"))
    page = visitor.open(f"/app/traces/{answer_id}")
    assert page.response.status == 404
    assert "TOUCHSTONE_KEEP_PROMPTS" in page.text


def test_a_reply_that_nobody_could_read_is_shown_as_it_came(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.script(success({"is_correct": "</p><b>rather"}), success({"is_correct": "yes, rather"}))
    answer_id = buyer.post("/v1/verifications", {"problem": HOSTILE, "answer": "Canberra"}).json["id"]
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    page = visitor.open(f"/app/traces/{answer_id}")
    assert "</p><b>rather" in page.text
    assert "<b>rather" not in page.response.body
    assert "yes, rather" in page.text
    assert "Asked again after 0.00 s." in page.text
