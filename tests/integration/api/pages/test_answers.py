"""Overview and answers: what became of what was sent, with badges, and nothing that was sent can act on a page."""

import csv
import html
import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.composition import stores
from functions.pages import finding
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Page, Visitor, signed_in, verified
from tests.support.providers import ProviderServer, error
from tests.support.records import an_answer, an_attempt
from touchstone.answers.model import EvaluationProgress, SubmittedPlace
from touchstone.clock import system_clock
from touchstone.records import Role

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> &amp; {{ 7*7 }} \u202egnissik"


def test_the_overview_counts_by_status_and_shows_badges(visitor: Visitor, acme: Api) -> None:
    verified(acme, "Compute 3/4 + 1/6.", "11/12")
    verified(acme, "Compute 2 + 2.", "5")
    verified(acme, "Name the capital of Australia.", "Canberra")
    page = visitor.open("/")
    assert "Answers in 30 days 3" in page.text
    for shown in ("Verified ✓ 1 33.3 %", "Check this ⚠ 1 33.3 %", "Not verified 1 33.3 %"):
        assert shown in page.text
    badges = [attributes["class"] for _, attributes in page.elements if "badge" in attributes.get("class", "")]
    assert "badge unverified" not in badges, "what nobody decided has no badge"
    assert "$0.00 spent and $0.00 held back for calls under way, of $5.00 a day." in page.text
    assert "No judge, or not set up 1" in page.text


def test_a_list_says_of_an_answer_that_it_failed(visitor: Visitor, acme: Api) -> None:
    acme.post("/v1/solutions", {"problem": "Name the capital of Peru."})
    page = visitor.open("/app/answers")
    assert any(given.get("class") == "badge failed" for _, given in page.elements)
    (row,) = visitor.open("/app/answers", format="json").response.json["answers"]["rows"]
    assert (row["status"], row["verification_status"]) == ("failed", None)


def test_a_list_says_of_an_answer_that_it_has_not_ended(visitor: Visitor) -> None:
    stores.answers().create(an_answer(at=system_clock(), stage="solving"))
    page = visitor.open("/app/answers")
    assert "Not ended yet What is 2 + 2?" in page.text
    (row,) = visitor.open("/app/answers", format="json").response.json["answers"]["rows"]
    assert (row["status"], row["verification_status"]) == ("unfinished", None)


def test_a_label_that_is_refused_leads_back_to_its_answer(visitor: Visitor, acme: Api) -> None:
    address = f"/app/answers/{verified(acme, 'Compute 2 + 2.', '4')}"
    form = next(form for form in visitor.open(address).forms if form.action.endswith("/label"))
    page = visitor.send(form, label="perhaps")
    assert page.response.status == 400
    back = next(link for link in page.links if link.endswith(address.lstrip("/")))
    assert visitor.open(back).response.status == 200


def test_the_overview_counts_evaluations_in_a_batch(visitor: Visitor) -> None:
    now = system_clock()
    place = SubmittedPlace(provider_batch_id="b1", number=0, at=now)
    waits = EvaluationProgress(state="submitted", requested_at=now, not_before=now, submitted=place)
    stores.answers().create(an_answer(at=now, stage="finished", attempts=(an_attempt(),), evaluation=waits))
    assert "In a batch 1" in visitor.open("/").text


def test_an_attempt_that_came_with_the_request_says_so(visitor: Visitor, acme: Api) -> None:
    page = visitor.open(f"/app/answers/{verified(acme, 'Compute 2 + 2.', '4')}")
    assert "Attempt 1 not told (sent with the answer) 4" in page.text
    body = {"problem": "Compute 2 + 2.", "answer": "4", "model": "gpt-5.5"}
    named = acme.post("/v1/verifications", body).json["id"]
    assert "Attempt 1 gpt-5.5 4" in visitor.open(f"/app/answers/{named}").text


def test_why_a_deep_evaluation_waits_is_said_in_words(judged: Deployment, buyer: Api, judges: ProviderServer) -> None:
    judges.rule(error("day_quota"), schema="EvaluateReply")
    body = {"problem": "Compute 1 + 1.", "answer": "2", "deep_evaluation": True}
    address = f"/app/answers/{buyer.post('/v1/verifications', body).json['id']}"
    reader = signed_in(judged)
    assert "Deep evaluation Deferred – The day's quota is spent" in reader.open(address).text
    assert "深度评估 已推迟 – 当日配额已用完" in reader.open(address, lang="zh").text


def test_an_empty_overview_says_what_to_do(visitor: Visitor) -> None:
    assert "Verify one with the command or the API, and it appears here." in visitor.open("/").text


def test_the_list_filters_by_status_and_leads_to_each_answer(visitor: Visitor, acme: Api) -> None:
    verified(acme, "Compute 3/4 + 1/6.", "11/12")
    wrong = verified(acme, "Compute 2 + 2.", "5")
    assert "Compute 3/4" in visitor.open("/app/answers").text
    page = visitor.open("/app/answers", status="caution")
    assert "Compute 3/4" not in page.text
    assert f"answers/{wrong}" in page.links
    assert visitor.open(f"answers/{wrong}").response.status == 200
    assert visitor.open("/app/answers", status="wonderful").response.status == 400


def test_an_answer_shows_how_it_was_decided(visitor: Visitor, acme: Api) -> None:
    page = visitor.open(f"/app/answers/{verified(acme, 'Compute 2 + 2.', '5')}")
    for shown in ("Check this ⚠ ●●●", "Attempt 1", "Decided by A check, without a judge", "Proof", "2 + 2"):
        assert shown in page.text


@pytest.mark.parametrize(("role", "may"), [("reader", False), ("member", True), ("admin", True)])
def test_only_who_may_label_is_asked_to(
    stranger: Visitor, deployment: Deployment, acme: Api, role: Role, *, may: bool
) -> None:
    stranger.sign_in(deployment.token("acme", role))
    page = stranger.open(f"/app/answers/{verified(acme, 'Compute 2 + 2.', '5')}")
    assert any(form.action.endswith("/label") for form in page.forms) == may


@pytest.mark.parametrize("label", ["", "right"])
def test_a_form_that_names_no_attempt_is_answered_as_one_that_names_another(
    visitor: Visitor, acme: Api, label: str
) -> None:
    page = visitor.open(f"/app/answers/{verified(acme, 'Compute 2 + 2.', '5')}")
    form = next(form for form in page.forms if form.action.endswith("/label"))
    for item in ("", "7"):
        assert visitor.send(form, item=item, label=label).response.status == 404


def test_nobody_s_confidence_is_shown_where_nobody_decided_and_what_is_cut_says_so(visitor: Visitor, acme: Api) -> None:
    said = "Name the capital of Australia. " + "And say why. " * 20
    answer_id = verified(acme, said, "Canberra")
    (row,) = visitor.open("/app/answers", format="json").response.json["answers"]["rows"]
    assert (row["verification_status"], row["verification_confidence"]) == ("unverified", None)
    assert row["problem"] == said[:159] + "…"
    page = visitor.open(f"/app/answers/{answer_id}")
    page = visitor.send(next(form for form in page.forms if form.action.endswith("/label")), label="right")
    assert "No judge decided this, so the label counts for no card." in page.text
    assert "attempt-1" in {found.get("id") for _, found in page.elements}


def test_many_answers_come_in_pages(visitor: Visitor, acme: Api) -> None:
    for number in range(51):
        verified(acme, f"Compute {number} + 1.", str(number + 1))
    page = visitor.open("/app/answers")
    assert page.text.count("Compute") == 50
    older = next(link for link in page.links if "cursor" in link)
    assert visitor.open(older).text.count("Compute") == 1


@pytest.mark.parametrize("address", ["/app/answers", "/app/answers/{id}"])
def test_a7_what_was_sent_is_text_and_nothing_else(visitor: Visitor, acme: Api, address: str) -> None:
    answer_id = verified(acme, HOSTILE, HOSTILE)
    page = visitor.open(address.format(id=answer_id))
    assert "<script>alert(1)</script>" in page.text, "it can be read as it was sent"
    assert not any(tag == "img" or "onerror" in attributes for tag, attributes in page.elements)
    assert all("src" in attributes for tag, attributes in page.elements if tag == "script")


def test_the_table_of_answers_says_what_is_wrong_with_one(visitor: Visitor, acme: Api) -> None:
    verified(acme, "Compute 2 + 2.", "5")
    (row,) = csv.DictReader(io.StringIO(visitor.open("/app/answers", format="csv").response.body))
    assert row["verification_status"] == "caution"
    assert "4" in row["error"]


def test_a7_a_spreadsheet_runs_nothing(visitor: Visitor, acme: Api) -> None:
    verified(acme, '=HYPERLINK("http://a.example","12")', "@SUM(1)")
    response = visitor.open("/app/answers", format="csv").response
    assert response.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    (row,) = csv.DictReader(io.StringIO(response.body))
    assert row["problem"] == '\'=HYPERLINK("http://a.example","12")'
    assert row["answer"] == "'@SUM(1)"


def test_all_that_is_shown_can_be_had_as_json_and_csv(visitor: Visitor, acme: Api) -> None:
    answer_id = verified(acme, "Compute 2 + 2.", "5")
    found = visitor.open("/", format="json").response.json
    assert {row["status"]: row["answers"] for row in found["statuses"]["rows"]}["caution"] == 1
    (today,) = found["today"]["rows"]
    assert (today["spent_usd"], today["ceiling_usd"], today["deferred"]) == (0.0, 5.0, 0)
    assert visitor.open("/", format="csv", table="today").response.body.startswith("spent_usd,reserved_usd,")
    assert visitor.open("/", format="csv", table="days").response.body.startswith("day,verified,")
    shown = visitor.open(f"/app/answers/{answer_id}", format="json").response.json
    (attempt,), (answer,) = shown["attempts"]["rows"], shown["answer"]["rows"]
    assert (attempt["passed"], attempt["label"]) == (False, None)
    assert attempt["derivation"].splitlines() == acme.get(f"/v1/answers/{answer_id}").json["derivation"]
    assert (answer["problem"], answer["answer"], answer["verification_status"]) == ("Compute 2 + 2.", "5", "caution")
    refused = visitor.open("/", format="csv", table="nothing").response
    assert (refused.status, refused.json["where"]) == (400, "table")
    assert visitor.open("/", format="xml").response.status == 400


def test_a1_another_tenant_s_answer_is_not_there(visitor: Visitor, rival: Api) -> None:
    page = visitor.open(f"/app/answers/{verified(rival, 'Compute 2 + 2.', '5')}")
    assert page.response.status == 404
    assert "Compute" not in page.text
    assert "acme, member" in page.text, "the way on is shown"


def test_a_page_in_chinese_stays_chinese(visitor: Visitor, acme: Api) -> None:
    verified(acme, "Compute 3/4 + 1/6.", "11/12")
    page = visitor.open("/", lang="zh")
    assert "已验证 ✓" in page.text
    assert ("html", {"lang": "zh-Hans", "data-theme": "auto"}) in page.elements
    assert "解答" in visitor.open("/app/answers").text
    visitor.cookies.pop("touchstone_language")
    visitor.headers["accept-language"] = "zh-TW,zh;q=0.9,en;q=0.8"
    assert "概览" in visitor.open("/").text


def test_the_theme_is_kept(visitor: Visitor, deployment: Deployment) -> None:
    visitor.open("/", theme="dark")
    assert ("html", {"lang": "en", "data-theme": "dark"}) in visitor.open("/app/answers").elements
    visitor.open("/", theme="pink")
    assert ("html", {"lang": "en", "data-theme": "auto"}) in visitor.open("/app/answers").elements


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ("Decided by The answer key", "Answer key 12 a dozen Any one of these is right.", "Tolerance: 0.01 of")),
        ("zh", ("标准答案 12 a dozen 符合其中任何一条即为正确。", "允许的相对误差：0.01")),
    ],
)
def test_an_answer_shows_its_key_and_that_it_decided(
    visitor: Visitor, acme: Api, language: str, shown: tuple[str, ...]
) -> None:
    request = {"problem": "How many eggs are in the basket?", "answer": "12.1"}
    key = {"expected": ["12", "a dozen"], "tolerance": {"relative": 0.01}}
    answer_id = acme.post("/v1/verifications", request | key).json["id"]
    page = visitor.open(f"/app/answers/{answer_id}", lang=language)
    for words in shown:
        assert words in page.text
    found = visitor.open(f"/app/answers/{answer_id}", format="json").response.json
    (facts,) = found["answer"]["rows"]
    assert (facts["expected"], facts["tolerance"]) == ("12\na dozen", "relative 0.01")
    assert found["attempts"]["rows"][0]["method"] == "expected"
    (row,) = csv.DictReader(
        io.StringIO(visitor.open(f"/app/answers/{answer_id}", format="csv", table="answer").response.body)
    )
    assert (row["expected"], row["tolerance"]) == ("12\na dozen", "relative 0.01")


def test_a7_a_key_is_text_and_an_answer_without_one_shows_none(visitor: Visitor, acme: Api) -> None:
    hostile = acme.post("/v1/verifications", {"problem": "p", "answer": "a", "expected": HOSTILE}).json["id"]
    page = visitor.open(f"/app/answers/{hostile}")
    assert "<script>alert(1)</script>" in page.text
    assert not any(tag == "img" or "onerror" in attributes for tag, attributes in page.elements)
    assert "Answer key" not in visitor.open(f"/app/answers/{verified(acme, 'Compute 2 + 2.', '4')}").text


def _figures(page: Page) -> list[tuple[int, str]]:
    """The counts of a page that lead to answers, each with its address; sums of money are none."""
    inside = re.findall(r'<a href="([^"]*answers\?[^"]*)">(?:[^<]*?)(?<![\d.,])([\d,]+)</a>', page.response.body)
    return [(int(number.replace(",", "")), html.unescape(address)) for address, number in inside]


def test_every_figure_leads_to_the_answers_that_it_counts(visitor: Visitor, acme: Api, rival: Api) -> None:
    asked = {"problem": "Compute 2 + 2.", "subject": "Maths & more, I", "difficulty": "easy", "model": "m/1"}
    for answer in ("4", "4", "5"):
        acme.post("/v1/verifications", asked | {"answer": answer})
    acme.post("/v1/verifications", asked | {"answer": "4", "model": "m/2"})
    acme.post("/v1/verifications", asked | {"problem": "Name the capital of Australia.", "answer": "Canberra"})
    acme.post("/v1/solutions", {"problem": "Name the capital of Peru.", "subject": "geography"})
    rival.post("/v1/verifications", asked | {"answer": "4"})
    right = an_attempt(model="m/1", answer="4")
    under_way = an_answer(at=system_clock(), stage="solving", subject=asked["subject"], attempts=(right,))
    stores.answers().create(under_way)
    counted: list[str] = []
    for start in ("/", "/app/rates", "/app/quotas"):
        for number, address in _figures(visitor.open(start)):
            visitor.at = start
            found = visitor.open(address, format="json").response.json
            (looked,) = found["found"]["rows"]
            assert (start, address, looked["found"]) == (start, address, number)
            counted.append(address)
    for wanted in ("status=failed", "status=unverified", "skip_reason=misconfigured", "verdict=right", "verdict=none"):
        assert any(wanted in address for address in counted), wanted


def test_a_form_finds_answers_and_shows_what_is_set_and_how_to_take_it_away(visitor: Visitor, acme: Api) -> None:
    found = verified(acme, "Compute 3/4 + 1/6.", "11/12")
    verified(acme, "Compute 2 + 2.", "5")
    page = visitor.open("/app/answers")
    (form,) = [form for form in page.forms if form.method == "get"]
    assert {"search", "from", "to", "subject", "cost_from"} <= form.fields.keys()
    page = visitor.open("/app/answers", **(form.fields | {"search": "3/4", "subject": "math", "sort": "oldest"}))
    assert [link for link in page.links if link.endswith(found)]
    assert "Compute 2 + 2." not in page.text
    assert "Found 1 among 2, as far as" in page.text
    chosen = [link for tag, link in page.elements if tag == "a" and link.get("aria-label", "").startswith("Without")]
    assert [each["aria-label"] for each in chosen] == [
        "Without Words in the problem or the answer: 3/4",
        "Without Subject: math",
        "Without Order: Oldest first",
    ]
    rest = visitor.open(chosen[0]["href"])
    assert "Compute 2 + 2." in rest.text
    assert "search" not in parse_qs(urlsplit(chosen[0]["href"]).query)
    page = visitor.open("/app/answers", search="3/4", lang="zh")
    assert "查到" in page.text
    assert "题目或答案中的词：3/4" in page.text


def test_a_form_that_cannot_be_answered_comes_back_as_it_was_filled_in(visitor: Visitor, acme: Api) -> None:
    verified(acme, "Compute 2 + 2.", "5")
    asked = {"search": "2 + 2", "status": "caution", "from": "2026-12-05", "to": "2026-12-01"}
    page = visitor.open("/app/answers", **asked)
    assert page.response.status == 400
    assert "give the earlier day as `from`." in page.text
    sent = {given["name"]: given["value"] for tag, given in page.elements if tag == "input" and "name" in given}
    assert {name: sent[name] for name in ("search", "from", "to")} == {
        name: asked[name] for name in ("search", "from", "to")
    }
    assert any(given.get("value") == "caution" and "selected" in given for _, given in page.elements)
    assert "Compute" not in page.text, "nothing was looked for"
    page = visitor.open("/app/answers", cost_from="5", cost_to="1", lang="zh")
    assert "费用下限高于上限" in page.text
    assert ("details", {"open": ""}) in page.elements, "the field that is wrong is in sight"
    assert visitor.open("/app/answers", format="json", **asked).response.json["status"] == 400


@pytest.mark.parametrize(
    "search",
    [HOSTILE, "'\"><svg onload=alert(1)>", "=1+1", "\r\nSet-Cookie: a=b", "\u202e\u0000x", "%s{0}{{x}}", "😀" * 200],
)
def test_a7_what_is_looked_for_is_text_wherever_it_is_shown(visitor: Visitor, acme: Api, search: str) -> None:
    verified(acme, f"{search} Compute 2 + 2.", "5")
    verified(acme, f"{search} Compute 2 + 3.", "5")
    page = visitor.open("/app/answers", search=search)
    assert page.response.status == 200
    assert not any(tag in {"img", "svg"} or "onerror" in has or "onload" in has for tag, has in page.elements)
    assert all("src" in attributes for tag, attributes in page.elements if tag == "script")
    for kind in ("csv", "json"):
        response = visitor.open("/app/answers", search=search, format=kind).response
        assert response.status == 200
        assert "\n" not in "".join(map(str, response.headers.values()))
        assert "set-cookie" not in {name.lower() for name in response.headers}
    rows = csv.DictReader(io.StringIO(visitor.open("/app/answers", search=search, format="csv").response.body))
    assert all(not str(value).startswith(("=", "+", "-", "@")) for row in rows for value in row.values())


@pytest.mark.parametrize(
    "query",
    [{"search": "y" * 9_000}, {"from": "never"}, {"cost_from": "1e999"}, {"batch": "../.."}, {"cursor": "x"}],
)
def test_a_page_that_cannot_be_is_refused_in_a_sentence(visitor: Visitor, acme: Api, query: dict[str, str]) -> None:
    page = visitor.open("/app/answers", **query)
    assert page.response.status == 400
    assert len(page.text) < 1_500, "the form and a sentence"


def test_an_export_holds_what_the_page_shows_and_leads_on(
    visitor: Visitor, acme: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        verified(acme, f"Compute {number} + 1.", str(number + 1))
    verified(acme, "Compute 2 + 2.", "5")
    monkeypatch.setattr(finding, "EXPORTED", 2)
    asked, seen = {"status": "verified", "format": "csv"}, []
    response = visitor.open("/app/answers", **asked).response
    seen += [row["problem"] for row in csv.DictReader(io.StringIO(response.body))]
    link = response.headers["link"]
    assert link.endswith('; rel="next"')
    response = visitor.open(link.partition(">")[0].removeprefix("<")).response
    seen += [row["problem"] for row in csv.DictReader(io.StringIO(response.body))]
    assert "link" not in response.headers
    assert seen == ["Compute 2 + 1.", "Compute 1 + 1.", "Compute 0 + 1."]


def test_the_language_of_answers_and_that_of_the_pages_are_chosen_apart(visitor: Visitor, acme: Api) -> None:
    for problem, answer in (("Compute 3/4 + 1/6.", "11/12"), ("解方程：2x + 7 = 15", "x = 4")):
        verified(acme, problem, answer)
    page = visitor.open("/app/answers", language="zh")
    assert "Answers" in page.text
    (choice,) = [each for each in page.links if "lang=zh" in each]
    assert "解答" in visitor.open("/app/answers" + choice).text
    shown = visitor.open("/app/answers")
    assert "解答" in shown.text
    assert "Compute 3/4" in shown.text, "the pages' language is no filter"


def test_why_nobody_decided_and_what_is_not_there_are_said_in_chinese(visitor: Visitor, acme: Api) -> None:
    answer_id = verified(acme, "Name the capital of Australia.", "Canberra")
    page = visitor.open(f"/app/answers/{answer_id}", lang="zh")
    assert "没有检查能判定它，也没有可询问的评判模型" in page.text
    assert "Not verified" not in page.text
    missing = visitor.open(f"/app/answers/{'0' * 26}", lang="zh")
    assert missing.response.status == 404
    assert "这里没有所要的内容。" in missing.text
    assert ("span", {"lang": "en"}) in missing.elements, "the sentence itself is marked as English"
