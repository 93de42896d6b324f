"""The pages of quizzes: what a learner gets, what each version broke, and nothing clean that was not checked whole."""

import csv
import io
from typing import Any

import pytest

from functions.composition import stores
from functions.pages import finding
from functions.pages.quiz import CHOICE_CHARS, rules_of, versions_of
from tests.support.api import Api
from tests.support.api_tasks import UNKNOWN
from tests.support.course_quizzes import evaluated, flaw, made, quiz
from tests.support.deployment import Deployment
from tests.support.exchange import Control, Rule
from tests.support.pages import Page, Visitor, signed_in
from tests.support.providers import ProviderServer, error, success
from tests.support.wire import Behaviour
from touchstone.clock import system_clock
from touchstone.quizzes.model import RULES, Violation
from touchstone.quizzes.run import QuizCheckRequest, new_run, validated
from touchstone.records import new_ulid

ASKED = {"curriculum": "book-1", "chapter": "1", "learner": "ann", "questions": 2}
SIMPLIFIED = {"question_text": "What does 「学习」 mean?"}
HOSTILE = "=cmd() <script>alert(1)</script> {{ 7*7 }}"
CLEAN = "Every rule was applied, and none is broken."


@pytest.fixture
def member(judged: Deployment) -> Visitor:
    """A reader of the tenant acme, signed in where models answer."""
    return signed_in(judged, role="reader")


def says(judges: ProviderServer, title: str, *behaviours: Behaviour) -> None:
    """What is answered to the questions for a reply, one after the other; the last one from then on."""
    for at, behaviour in reversed(list(enumerate(behaviours, start=1))):
        rule = Rule(behaviour=behaviour, schema_title=title, times=None if at == len(behaviours) else 1)
        judges.exchange.arrange(Control(rules=(rule,)))


def make(teacher: Api, **changes: Any) -> str:
    accepted = teacher.post("/v1/quizzes", ASKED | changes)
    assert accepted.status == 202, accepted.body
    return str(accepted.json["id"])


def check(teacher: Api, *questions: dict[str, Any], **given: Any) -> str:
    body = {"quiz": quiz(*questions).model_dump(mode="json"), **given}
    accepted = teacher.post("/v1/quiz-checks", body)
    assert accepted.status == 202, accepted.body
    return str(accepted.json["id"])


def address(quiz_id: str, **query: str) -> str:
    return f"/app/quizzes/{quiz_id}" + "".join(f"?{name}={value}" for name, value in query.items())


def rules(visitor: Visitor, quiz_id: str, version: int = 1) -> dict[str, tuple[str, str | None]]:
    """What became of each rule in a version, and why where it was not applied."""
    found = visitor.open(address(quiz_id), format="json").response.json["rules"]["rows"]
    return {row["rule"]: (row["rule_state"], row["because"]) for row in found if row["version"] == version}


def there(page: Page, tag: str, **attributes: str) -> bool:
    return any(found == tag and attributes.items() <= given.items() for found, given in page.elements)


def test_a_quiz_is_listed_and_shown_as_its_learner_gets_it_and_as_it_was_made(
    teacher: Api, member: Visitor, judges: ProviderServer
) -> None:
    first, second = made(SIMPLIFIED | {"explanation": "Version one."}, {}), made({"explanation": "Version two."}, {})
    says(judges, "QuizReply", success(first), success(second), success(made()))
    says(judges, "QuizVerdictsReply", success(evaluated([flaw()])), success(evaluated()))
    quiz_id = make(teacher)
    page = member.open("/app/quizzes")
    assert "認識新同學 Made Clean 0 $" in page.text
    assert f"quizzes/{quiz_id}" in page.links
    (row,) = member.open("/app/quizzes", format="json").response.json["quizzes"]["rows"]
    assert row["seconds"] > 0
    assert row["cost_usd"] > 0
    page = member.open(f"quizzes/{quiz_id}")
    for shown in (
        *("認識新同學", CLEAN, "圖書館 (60.0 %)", "What is 「學習」 in English?", "Version 3 · this one is handed out"),
        *("to study ✓ Key", "library bank", "Single choice", "Tests 學習", "Structure holds"),
        *(
            "Traditional characters q1 in the question 学习 – 「学习」 is Simplified",
            "Said by the judge (1)",
            "All distractors are obviously wrong.",
        ),
        *("→ Offer 「練習」 as a choice.", "The judge was asked and found nothing.", "Write a quiz", "Judge a quiz"),
    ):
        assert shown in page.text, shown
    assert "Version one." not in page.text, "an earlier version is not what is handed out"
    assert there(page, "li", **{"class": "card", "aria-current": "true"})
    earlier = member.open(next(link for link in page.links if "version=1" in link))
    assert "Version one." in earlier.text
    assert "Violations (1)" in earlier.text, "what is wrong stands at the question"
    assert member.open(address(quiz_id, version="4")).response.status == 400
    rows = list(
        csv.DictReader(io.StringIO(member.open(address(quiz_id), format="csv", table="violations").response.body))
    )
    assert [(one["version"], one["rule"], one["said"], one["decided_by"]) for one in rows] == [
        ("1", "traditional_chinese", "学习", "check"),
        ("2", "pedagogical_quality", "", "judge"),
    ]
    found = member.open(address(quiz_id), format="json").response.json["weak_points"]
    assert found["rows"] == [{"item": "圖書館", "error_rate": 0.6}]
    assert rules(member, quiz_id, 3) == dict.fromkeys(RULES, ("held", None))


def test_a_quiz_that_no_judge_saw_is_unchecked_and_never_clean(
    teacher: Api, member: Visitor, judges: ProviderServer
) -> None:
    says(judges, "QuizVerdictsReply", error("refused"))
    quiz_id = make(teacher)
    page = member.open(address(quiz_id))
    assert "Unchecked Not every rule was applied" in page.text
    assert "The judge gave nothing: The judge refused" in page.text
    assert "No judge has had a say on this version." in page.text
    assert CLEAN not in page.text
    assert not there(page, "span", **{"class": "badge verified"})
    found = rules(member, quiz_id)
    assert found["pedagogical_quality"] == ("not_applied", "refused")
    assert found["curriculum_alignment"] == ("check_alone", "refused")
    assert found["structure"] == ("held", None)
    assert "Made Unchecked 0 $" in member.open("/app/quizzes").text


def test_a_quiz_of_ones_own_says_why_a_rule_was_not_applied(teacher: Api, member: Visitor) -> None:
    plain = check(teacher, {}, {})
    assert rules(member, plain)["question_language"] == ("not_applied", "no_language")
    assert "Language of the questions not applied – No language was named" in member.open(address(plain)).text
    assert rules(member, check(teacher, {}, ui_language="tlh"))["question_language"] == (
        "not_applied",
        "unknown_language",
    )
    broken = check(teacher, {"answers": []}, {})
    found = rules(member, broken)
    assert found["structure"] == ("broken", None)
    assert found["curriculum_alignment"] == ("not_applied", "no_chapter")
    assert found["pedagogical_quality"] == ("not_applied", "structure")
    page = member.open(address(broken))
    assert "Structure broken (1)" in page.text
    assert "Key There is none." in page.text


def test_where_nobody_wrote_there_is_no_quiz_and_the_reason(
    teacher: Api, member: Visitor, judges: ProviderServer
) -> None:
    says(judges, "QuizReply", error("refused"))
    page = member.open(address(make(teacher)))
    assert "Failed There is no quiz. Nobody wrote it: The judge refused" in page.text
    assert "There is no version yet." in page.text
    (row,) = member.open("/app/quizzes", format="json").response.json["quizzes"]["rows"]
    assert (row["state"], row["violations"], row["questions"]) == ("failed", None, None)


def test_a_quiz_in_work_is_shown_as_such(teacher: Api, member: Visitor) -> None:
    quiz_id = new_ulid(system_clock())
    run = new_run(QuizCheckRequest(quiz=quiz()), tenant="acme", run_id=quiz_id, now=system_clock())
    stores.quizzes().create(run)
    page = member.open(address(quiz_id))
    assert "Being checked It is being checked" in page.text
    assert set(rules(member, quiz_id).values()) == {("not_applied", "in_work")}
    assert "Checked Being checked – " in member.open("/app/quizzes").text, (
        "nothing found is not said of what is in work"
    )


def test_a_check_whose_structure_is_broken_says_which_rules_are_still_to_come() -> None:
    now = system_clock()
    run = new_run(QuizCheckRequest(quiz=quiz()), tenant="acme", run_id=UNKNOWN, now=now)
    broken = Violation(question_id="q1", rule="structure", detail="None.", decided_by="check", finding="no_key")
    run = validated(run, [broken], now=now)
    assert run.step(now) == "evaluate"
    said = {str(row["rule"]): row["because"] for row in rules_of(versions_of(run, run.made)).rows}
    assert said.pop("structure") is None
    assert said.pop("pedagogical_quality") == "structure"
    assert set(said.values()) == {"in_work"}
    looked = run.attempts[0].model_copy(update={"checks_run": RULES[:-1]})
    run = run.model_copy(update={"attempts": (looked,)})
    said = {str(row["rule"]): row["because"] for row in rules_of(versions_of(run, run.made)).rows}
    assert said["curriculum_alignment"] == "structure", "what its check found is there, and no judge is asked"


def test_what_is_long_is_told_by_its_beginning_and_once(
    teacher: Api, member: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.pages.quiz.SAID_CHARS", 5)
    monkeypatch.setattr("functions.pages.quiz.DETAIL_CHARS", 9)
    choice = "a" * CHOICE_CHARS
    given = {"question_text": "学习" * 10, "choices": [f"{choice}bc", "b"], "answers": [f"{choice}bc"]}
    quiz_id = check(teacher, given, given)
    found = member.open(address(quiz_id), format="json").response.json
    assert {row["choices"] for row in found["questions"]["rows"]} == {f"{choice}…\nb"}
    assert {row["key"] for row in found["questions"]["rows"]} == {f"{choice}…"}
    simplified = [row for row in found["violations"]["rows"] if row["rule"] == "traditional_chinese"]
    assert {(row["said"], row["suggestion"]) for row in simplified} == {("学习学习学…", "學習學習學習學習學…")}
    assert {len(row["detail"]) for row in simplified} == {10}
    page = member.open(address(quiz_id))
    assert page.text.count(f"{choice}… ✓ Key") == 2
    assert choice + "b" not in page.text
    assert page.text.count("学习学习学…") == page.text.count("學習學習學習學習學…") == 2, (
        "at its question, and there alone"
    )
    assert page.text.count("Traditional characters q2 in the question") == 2, "under the version by its place"


def test_a_page_has_as_many_questions_as_have_room_and_leads_to_the_others(
    teacher: Api, member: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz_id = check(teacher, *[{"question_text": f"{number} " + "x" * 500} for number in range(4)])
    found = member.open(address(quiz_id), format="json").response.json
    assert (len(found["questions"]["rows"]), found["questions"]["cursor"]) == (4, None)
    monkeypatch.setattr("functions.pages.quiz.MOST_CHARS", 1_400)
    page = member.open(address(quiz_id))
    assert "1 to 2 of 4" in page.text
    assert "3 to 4 of 4" in member.open(next(link for link in page.links if "cursor=2" in link)).text
    found = member.open(address(quiz_id), format="json").response.json["questions"]
    assert ([row["question"] for row in found["rows"]], found["cursor"]) == (["q1", "q2"], "2")
    behind = member.open(address(quiz_id), format="json", cursor="2").response.json["questions"]
    assert ([row["question"] for row in behind["rows"]], behind["cursor"]) == (["q3", "q4"], None)
    monkeypatch.setattr("functions.pages.quiz.MOST_CHARS", 1)
    assert "1 to 1 of 4" in member.open(address(quiz_id)).text, "one is always shown"
    monkeypatch.setattr("functions.pages.quiz.MOST_CHARS", 1_400)
    wrong = check(teacher, *[{"question_text": "学 x " * 30} for _ in range(4)])
    shown = member.open(address(wrong), format="json").response.json["questions"]
    assert len(shown["rows"]) < 4, "what is wrong with them counts, too"


def test_a7_what_was_sent_is_text_and_no_formula(teacher: Api, member: Visitor) -> None:
    quiz_id = check(teacher, {"question_text": HOSTILE, "explanation": HOSTILE, "choices": [HOSTILE, "b"]})
    page = member.open(address(quiz_id))
    assert page.text.count(HOSTILE) >= 3
    assert "<script>alert" not in page.response.body
    (row,) = csv.DictReader(io.StringIO(member.open(address(quiz_id), format="csv").response.body))
    assert row["question_text"] == f"'{HOSTILE}"
    assert row["violations"] != "0"


def test_it_can_be_read_in_chinese(teacher: Api, member: Visitor) -> None:
    member.headers["accept-language"] = "zh"
    page = member.open(address(check(teacher, {"answers": []}, {})))
    for said in ("有违规", "违反了部分规则", "结构 违反 1 处", "没有指定章节", "单选题", "程序检查发现"):
        assert said in page.text, said
    assert "测验（最新在前）" in member.open("/app/quizzes").text


def test_a1_anothers_quiz_is_no_page(teacher: Api, member: Visitor, judged: Deployment) -> None:
    quiz_id = check(teacher, {})
    rival = Visitor()
    rival.sign_in(judged.token("rival"))
    assert rival.open(address(quiz_id)).response.status == 404
    assert "No quiz yet." in rival.open("/app/quizzes").text
    assert member.open(address(UNKNOWN)).response.status == 404


def test_pages_cost_the_same_reads_however_many_there_are(
    teacher: Api, member: Visitor, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "ROWS", 4)
    broken: dict[str, Any] = {"answers": []}
    small = check(teacher, broken)
    counted = []
    for shown in (small, check(teacher, *[broken] * 60)):
        member.open("/app/quizzes")
        made_ = []
        for where in ("/app/quizzes", address(shown)):
            reads.clear()
            assert member.open(where).response.status == 200
            made_.append(list(reads))
        counted.append(made_)
        for _ in range(3):
            check(teacher, broken)
    assert counted[0] == counted[1]
    page = member.open("/app/quizzes")
    assert small not in page.response.body
    older = next(link for link in page.links if "cursor" in link)
    assert small in member.open(older).response.body
    page = member.open(address(shown))
    assert "1 to 50 of 60" in page.text
    assert "q51" not in {given.get("id") for _, given in page.elements}
    assert "51 to 60 of 60" in member.open(next(link for link in page.links if "cursor=50" in link)).text
    assert member.open(address(shown, cursor="x")).response.status == 400
    assert len(member.open(address(shown), format="json").response.json["questions"]["rows"]) == 60
