"""The pages of audits: the ratings, each case with what its proofs came to and printed, and what drifted since."""

import json
from typing import Any

import pytest

from functions.pages.routes import audits
from tests.support.api import Api
from tests.support.deployed_audits import BENCHMARK, RATINGS, begun, settled
from tests.support.deployment import Deployment
from tests.support.pages import Visitor, rows

SCRIPT = "<script>alert(1)</script>"
UNKNOWN = "01JD7Z00000000000000000000"
A_PAGE = 10
"""Cases on a page."""
ROWS = 50


@pytest.fixture
def member(judged: Deployment, demo: Api) -> Visitor:
    """A member of the tenant whose audits these are, signed in."""
    someone = Visitor()
    assert someone.sign_in(judged.token("demo")).response.status == 200
    return someone


def audited(demo: Api, **changes: Any) -> str:
    """The address of the page of an audit that was made."""
    return begun(demo, **changes).replace("/v1/", "/app/")


def unsolvable(demo: Api, cases: list[dict[str, Any]]) -> str:
    """The same of cases that nobody tries to prove, since it may cost nothing."""
    return audited(demo, files=[{"name": "many.json", "text": json.dumps(cases)}], max_cost_usd=1e-9)


def case(name: str) -> dict[str, Any]:
    """A case that defines nothing but itself."""
    options = {"A": "lid", "B": "hinge"}
    return {"id": name, "question": f"What does a box of {name} take?", "options": options, "correct_answer": "A"}


def test_the_list_says_what_each_audit_found_and_leads_to_it(member: Visitor, demo: Api) -> None:
    address = audited(demo, files=[{"name": "one.json", "text": json.dumps(case("valid"))}])
    page = member.open("/app/audits")
    assert "tinylib==1.0 Done 0 0 0" in page.text
    assert address.removeprefix("/app/") in page.links
    assert member.open(address.removeprefix("/app/")).response.status == 200


def test_each_case_is_shown_with_its_options_and_the_script_and_output_that_decided_each(
    member: Visitor, demo: Api
) -> None:
    address = audited(demo)
    found = member.open(address, format="json")
    assert {row["rating"]: row["cases"] for row in rows(found, "ratings")} == dict.fromkeys(RATINGS.values(), 1)
    (audit,) = rows(found, "audit")
    assert (audit["requirement"], audit["state"], audit["done"]) == ("tinylib==1.0", "done", 4)
    assert [row["case"] for row in rows(found, "cases")] == ["incorrect", "both", "hidden", "valid"]
    page = member.open(address)
    for rating in RATINGS.values():
        assert f"?rating={rating}" in page.links, "a figure leads to the cases that it counts"
        assert "1 to 1 of 1" in member.open(f"?rating={rating}").text
    for said in (
        "incorrect · Incorrect What does a box of incorrect take? Make A the key: it holds, and the key B is refuted.",
        "What the model says of it Seen: incorrect.",
        "A (the key) lid holds",
        "the script asks nothing of the library that decides its end",
        "bench.yaml:3",
        "1 to 4 of 4",
    ):
        assert said in page.text, said
    assert "Script and output Script import tinylib tinylib.Box(1, hinge=2)" in page.text
    assert "Printed nothing of the library" in page.text
    assert "Ended by TypeError" in page.text
    folded = [given for tag, given in page.elements if tag == "details"]
    assert len(folded) == len(rows(found, "options")) == 8
    assert not [given for given in folded if "open" in given]


def test_what_the_proofs_came_to_and_what_to_change_are_said_in_chinese(member: Visitor, demo: Api) -> None:
    page = member.open(audited(demo), lang="zh")
    for said in (
        "请把标准答案改为 A：它成立，而原标准答案 B 被证伪。",
        "B 与标准答案 A 同样成立：请在题目中问能区分 A 的内容，或替换 B。",
        "在 A 得到证明之前，无法对标准答案下结论",
        "选项 A 未能证实或证伪：它的脚本没有向被测库问任何能决定结果的问题。",
        "脚本运行到了结尾。",
        "被测库在第 2 行的表现与此相反：TypeError",
    ):
        assert said in page.text, said
    assert not [given for _, given in page.elements if given.get("lang") == "en" and "hreflang" not in given]
    assert "Make A the key" in member.open(member.at, format="json").response.body, "exports stay as they are"


def test_one_rating_or_one_case_can_be_looked_at_alone(member: Visitor, demo: Api) -> None:
    address = unsolvable(demo, [case("one"), case("two")])
    assert len(rows(member.open(address, rating="Unproven", format="json"), "cases")) == 2
    assert rows(member.open(address, rating="Valid", format="json"), "cases") == []
    assert [row["case"] for row in rows(member.open(address, case="two", format="json"), "cases")] == ["two"]
    assert "There is no such case." in member.open(address, case="nowhere").text
    assert member.open(address, rating="Splendid").response.status == 400
    assert member.open(address, cursor="-1").response.status == 400


def test_the_drift_of_a_recheck_leads_to_the_case_and_to_the_audit_before(member: Visitor, demo: Api) -> None:
    address = audited(demo)
    made = demo.post(f"{address.replace('/app/', '/v1/')}/recheck", {"requirement": "tinylib==2.0"})
    settled()
    after = made.location.replace("/v1/", "/app/")
    found = rows(member.open(after, format="json"), "drifts")
    assert {(row["case"], row["option"], row["stood"], row["stands"]) for row in found} == {
        ("valid", "B", "refuted", "holds"),
        ("incorrect", "B", "refuted", "holds"),
    }
    assert {(row["case"], row["rating_before"], row["rating_now"]) for row in found} == {
        ("valid", "Valid", "Ambiguous"),
        ("incorrect", "Incorrect", "Ambiguous"),
    }
    listed = member.open("/app/audits").links
    for counted in ("?rating=Ambiguous", "#table-drifts"):
        assert f"{after.removeprefix('/app/')}{counted}" in listed
    assert f"{after.removeprefix('/app/')}?rating=Incorrect" not in listed, "it counts no case"
    overview = member.open("/")
    assert "Cases that drifted in the audit of tinylib==2.0 (" in overview.text
    assert "): 2 of 4. Look at what changed" in overview.text
    assert f"{after.removeprefix('/')}#table-drifts" in overview.links
    page = member.open(after)
    assert "table-drifts" in {given.get("id") for _, given in page.elements}
    assert "Recheck of stored proofs" in page.text
    assert "?case=valid" in page.links
    assert any("quality_audit.md" in link for link in page.links)
    assert "1 to 1 of 1" in member.open("?case=valid").text
    assert member.open(address.rpartition("/")[2]).response.status == 200


def test_an_audit_that_is_not_over_says_how_far_it_is(member: Visitor, demo: Api, agent: Any) -> None:
    agent.failing = "overloaded"
    made = demo.post("/v1/audits", {"target": {"requirement": "tinylib==1.0"}, "files": [benchmark()]})
    page = member.open(made.location.replace("/v1/", "/app/"))
    assert "Being audited" in page.text
    assert "0 of 4 done; turns of the agent: " in page.text
    assert "There is no report before all cases are over." in page.text


def test_a_report_too_large_for_a_page_is_left_where_it_is(
    member: Visitor, demo: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = unsolvable(demo, [case("valid")])
    monkeypatch.setattr(audits, "READABLE_BYTES", 100)
    page = member.open(address)
    assert "This report is too large for a page; open it by the links above." in page.text
    assert "What does a box of valid take?" not in page.text
    assert any("quality_report.json" in link for link in page.links)


def test_one_that_failed_says_why(member: Visitor, demo: Api) -> None:
    page = member.open(audited(demo, target={"requirement": "brokenlib==1.0"}))
    assert "cannot be imported" in page.text
    assert "no report before" not in page.text


def test_whoever_has_none_is_told_how_to_begin_one(visitor: Visitor) -> None:
    assert "No audit yet. Begin one with the command or the API" in visitor.open("/app/audits").text


def test_a7_what_a_benchmark_says_is_text_and_formulas_are_none(member: Visitor, demo: Api) -> None:
    hostile = case("one") | {"question": f"=cmd() {SCRIPT}", "options": {"A": SCRIPT, "B": "+1"}}
    address = unsolvable(demo, [hostile])
    page = member.open(address)
    assert page.text.count("alert(1)") >= 2
    assert SCRIPT not in page.response.body
    assert f"'=cmd() {SCRIPT}" in member.open(address, format="csv", table="cases").response.body
    assert '"one","B","\'+1","false"' in member.open(address, format="csv", table="options").response.body


def test_it_can_be_read_in_chinese(member: Visitor, demo: Api) -> None:
    member.headers["accept-language"] = "zh"
    page = member.open(audited(demo, files=[{"name": "one.json", "text": json.dumps(case("hidden"))}]))
    for said in ("未能证明", "标准答案被证伪。", "脚本没有向被测库问任何能决定结果的问题", "模型的评语"):
        assert said in page.text


def test_anothers_audit_is_no_page(member: Visitor, demo: Api, judged: Deployment) -> None:
    address = unsolvable(demo, [case("one")])
    rival = Visitor()
    rival.sign_in(judged.token("rival"))
    assert rival.open(address).response.status == 404
    assert member.open(f"/app/audits/{UNKNOWN}").response.status == 404
    assert "No audit yet." in rival.open("/app/audits").text


def test_many_cases_come_in_pages_that_cost_the_same_reads(member: Visitor, demo: Api, reads: list[str]) -> None:
    taken = []
    for many in (2, 4 * A_PAGE + 1):
        address = unsolvable(demo, [case(f"case-{number}") for number in range(many)])
        reads.clear()
        page = member.open(address)
        taken.append(list(reads))
    assert taken[0] == taken[1]
    assert "1 to 10 of 41" in page.text
    older = next(given["href"] for tag, given in page.elements if given.get("rel") == "next")
    assert "11 to 20 of 41" in member.open(older).text
    assert len(rows(member.open(address, format="json", cursor="40"), "cases")) == 1


def test_the_list_costs_the_same_reads_however_many_there_are(member: Visitor, demo: Api, reads: list[str]) -> None:
    first = audited(demo, target={"requirement": "needylib==1.0"}).rpartition("/")[2]
    member.open("/app/audits")
    reads.clear()
    member.open("/app/audits")
    few = list(reads)
    for _ in range(ROWS):
        demo.post("/v1/audits", {"target": {"requirement": "needylib==1.0"}, "files": [benchmark()]})
    reads.clear()
    page = member.open("/app/audits")
    assert list(reads) == few
    assert first not in page.response.body


def benchmark() -> dict[str, str]:
    """The file of four cases."""
    return {"name": "bench.yaml", "text": BENCHMARK}
