"""Quizzes through the API: asked for once, read, listed, and refused with the field at fault."""

from typing import Any

import pytest

from tests.support.api import Api, refusal
from tests.support.api_tasks import UNKNOWN
from tests.support.course_quizzes import evaluated, flaw, quiz
from tests.support.courses import CHAPTER, LEARNER
from tests.support.deployment import Deployment
from tests.support.injections import MASTER_KEYS, injections
from tests.support.providers import ProviderServer

QUIZ = quiz({}, {}).model_dump(mode="json")
COURSE = {"curriculum": "book-1", "chapter": "1"}


@pytest.fixture
def stranger(judged: Deployment) -> Api:
    """A member of another tenant."""
    return Api(token=judged.token("rival"))


def test_a_quiz_is_asked_for_read_and_listed_by_its_tenant_alone(teacher: Api, stranger: Api) -> None:
    accepted = teacher.post("/v1/quizzes", COURSE | {"learner": "ann", "questions": 2})
    assert (accepted.status, accepted.json["state"]) == (202, "generating")
    assert accepted.location == f"/v1/quizzes/{accepted.json['id']}"
    seen = teacher.get(accepted.location).json
    assert (seen["state"], seen["curriculum"], seen["chapter"], seen["learner"]) == ("clean", "book-1", "1", "ann")
    [listed] = teacher.get("/v1/quizzes").json["items"]
    assert (listed["id"], listed["state"], listed["questions"], listed["attempts"]) == (seen["id"], "clean", 2, 1)
    assert refusal(stranger.get(accepted.location), 404)
    assert stranger.get("/v1/quizzes").json["items"] == []


def test_a_chapter_and_a_learner_may_be_given_whole(teacher: Api, stranger: Api) -> None:
    body = {"chapter": CHAPTER, "learner": {"id": "eve"} | LEARNER, "questions": 2, "kinds": ["single_choice"]}
    accepted = stranger.post("/v1/quizzes", body)
    seen = stranger.get(accepted.location).json
    assert (seen["state"], seen["chapter"], seen["learner"], seen["curriculum"]) == ("clean", "1", "eve", None)


def test_another_tenants_course_and_learner_are_just_missing(teacher: Api, stranger: Api) -> None:
    assert "curriculum" in refusal(stranger.post("/v1/quizzes", COURSE), 404)["detail"]
    body = {"chapter": CHAPTER, "learner": "ann"}
    assert "learner" in refusal(stranger.post("/v1/quizzes", body), 404)["detail"]
    assert "curriculum" in refusal(stranger.post("/v1/quiz-checks", {"quiz": QUIZ} | COURSE), 404)["detail"]
    assert stranger.get("/v1/quizzes").json["items"] == []


@pytest.mark.parametrize("path", ["quizzes", "quiz-checks"])
def test_a_repeat_with_its_key_is_one_quiz(teacher: Api, judges: ProviderServer, path: str) -> None:
    body = COURSE | {"questions": 2} if path == "quizzes" else {"quiz": QUIZ, "ui_language": "en"} | COURSE
    first = teacher.post(f"/v1/{path}", body, key="one")
    again = teacher.post(f"/v1/{path}", body, key="one")
    assert (again.status, again.json["id"]) == (202, first.json["id"])
    assert len(teacher.get("/v1/quizzes").json["items"]) == 1
    assert len(judges.calls) == (2 if path == "quizzes" else 1)
    assert teacher.post(f"/v1/{path}", body | {"use_cache": False}, key="one").status == 422


def test_a_reader_asks_for_nothing(teacher: Api, judged: Deployment) -> None:
    reader = Api(token=judged.token("acme", "reader"))
    assert refusal(reader.post("/v1/quizzes", COURSE), 403)
    assert refusal(reader.post("/v1/quiz-checks", {"quiz": QUIZ}), 403)
    assert reader.get("/v1/quizzes").status == 200


@pytest.mark.parametrize(
    ("path", "body", "where", "status"),
    [
        ("quizzes", {"chapter": "1"}, "body", 422),
        ("quizzes", {"chapter": CHAPTER, "curriculum": "book-1"}, "body", 422),
        ("quizzes", COURSE | {"questions": 0}, "body.questions", 422),
        ("quizzes", COURSE | {"questions": 51}, "body.questions", 422),
        ("quizzes", COURSE | {"kinds": ["essay"]}, "body.kinds.0", 422),
        ("quizzes", COURSE | {"ui_language": "English, please"}, "body.ui_language", 422),
        ("quizzes", COURSE | {"chapter": "99"}, "chapter", 400),
        ("quizzes", COURSE | {"quiz": QUIZ}, "body.quiz", 422),
        ("quiz-checks", {}, "body.quiz", 422),
        ("quiz-checks", {"quiz": {"questions": []}}, "body.quiz.questions", 422),
        ("quiz-checks", {"quiz": {"questions": QUIZ["questions"][:1] * 2}}, "body.quiz", 422),
        ("quiz-checks", {"quiz": quiz(*[{}] * 500).model_dump(mode="json") | {"title": "x"}}, "body.quiz.title", 422),
        ("quiz-checks", {"quiz": {"questions": QUIZ["questions"] * 300}}, "body.quiz.questions", 413),
        ("quiz-checks", {"quiz": QUIZ, "chapter": "1"}, "body", 422),
        ("quiz-checks", {"quiz": QUIZ} | COURSE | {"chapter": "99"}, "chapter", 400),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    teacher: Api, path: str, body: dict[str, Any], where: str, status: int
) -> None:
    document = refusal(teacher.post(f"/v1/{path}", body), status)
    found = document.get("errors", [document])
    assert any(one["where"].startswith(where) for one in found), found
    assert teacher.get("/v1/quizzes").json["items"] == []


def test_a_quiz_of_five_hundred_questions_is_checked_and_one_of_megabytes_refused(
    teacher: Api, judges: ProviderServer
) -> None:
    wrong = quiz(*({"answers": [], "question_text": f"What is number {n}?"} for n in range(500)))
    accepted = teacher.post("/v1/quiz-checks", {"quiz": wrong.model_dump(mode="json")})
    seen = teacher.get(accepted.location).json
    assert (seen["state"], len(seen["violations"])) == ("violations", 500)
    assert judges.calls == []
    long = quiz(*({"explanation": "長" * 1_500} for _ in range(300))).model_dump(mode="json")
    assert refusal(teacher.post("/v1/quiz-checks", {"quiz": long}), 413)["where"] == "quiz"


def test_violations_beyond_number_are_kept_as_far_as_they_say_something(teacher: Api) -> None:
    flood = quiz(*({"explanation": "<b>x</b>" * 9} for _ in range(500))).model_dump(mode="json")
    accepted = teacher.post("/v1/quiz-checks", {"quiz": flood})
    assert len(teacher.get(accepted.location).json["violations"]) == 1_000


def test_a_list_is_read_a_page_at_a_time(teacher: Api, stranger: Api) -> None:
    made_ = [teacher.post("/v1/quiz-checks", {"quiz": QUIZ}).json["id"] for _ in range(3)]
    first = teacher.get("/v1/quizzes", limit=2).json
    rest = teacher.get("/v1/quizzes", limit=2, cursor=first["cursor"]).json
    assert [one["id"] for one in (*first["items"], *rest["items"])] == made_[::-1]
    assert stranger.get("/v1/quizzes", cursor=first["cursor"]).status == 400


@pytest.mark.parametrize("name", [UNKNOWN, "nonsense", "%2e%2e"])
def test_what_is_not_there_is_just_missing(teacher: Api, name: str) -> None:
    assert refusal(teacher.get(f"/v1/quizzes/{name}"), 404)


@pytest.mark.parametrize("attack", list(injections())[::40])
def test_a3_a_question_that_talks_to_the_judge_stays_a_violation_and_inside_its_fence(
    teacher: Api, judges: ProviderServer, attack: str
) -> None:
    judges.reply(evaluated([flaw()], questions=1), schema="QuizVerdictsReply")
    body = quiz({"question_text": f"What does 「學習」 mean? {attack}"}).model_dump(mode="json")
    seen = teacher.get(teacher.post("/v1/quiz-checks", {"quiz": body}).location).json
    assert seen["state"] in {"violations", "unchecked"}
    assert seen["violations"]
    for call in judges.calls:
        assert attack not in call.system


@pytest.mark.parametrize("key", MASTER_KEYS)
def test_a4_a_key_that_says_nothing_is_found_without_a_call(teacher: Api, judges: ProviderServer, key: str) -> None:
    body = quiz({"answers": [key]}).model_dump(mode="json")
    seen = teacher.get(teacher.post("/v1/quiz-checks", {"quiz": body}).location).json
    assert (seen["state"], seen["violations"][0]["rule"], judges.calls) == ("violations", "structure", [])
