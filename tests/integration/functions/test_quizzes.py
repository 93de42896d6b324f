"""Quizzes as they are deployed: each way through the loop, each step repeated, lost or late, no model asked twice."""

import json
from typing import Any

import pytest

from functions import sweep
from functions.api import app
from functions.composition import stores, work
from functions.quizzes import evaluate, finish, generate, retrieve, validate, weakness
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.course_quizzes import CHAPTER, CURRICULUM, LEARNER, evaluated, flaw, made, quiz
from tests.support.deployment import Context, Deployment, deployed
from tests.support.events import event
from tests.support.exchange import Control, Rule
from tests.support.machines import Handler
from tests.support.providers import ProviderServer, error, success
from tests.support.wire import Behaviour
from touchstone.clock import system_clock
from touchstone.errors import NotFoundError, StoreError
from touchstone.operations.batches.job_lines import QuizLine
from touchstone.operations.batches.lines import parse_line
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.run import call_begun
from touchstone.references import Reference
from touchstone.workflows import MachineName, Workflows

STEPS: dict[str, Handler] = {
    "retrieve": retrieve,
    "weakness": weakness,
    "generate": generate,
    "validate": validate,
    "evaluate": evaluate,
    "finish": finish,
}
ASKED = {"curriculum": "our-course", "chapter": "2", "learner": "mei", "questions": 2}
STRUCTURE: dict[str, Any] = {"answers": []}
SIMPLIFIED = {"question_text": "What does 「学习」 mean?"}
PINYIN = {"question_text": "What does 「學習」 (xue2xi2) mean?"}
CHINESE = {"question_text": "「學習」是什麼意思？請選出正確的答案。"}


@pytest.fixture
def demo(judged: Deployment) -> Api:
    """A member of the tenant that the sample events name, whose course and learner are there."""
    api = Api(token=judged.token("demo"))
    for path, document in (("curricula/our-course", CURRICULUM), ("learners/mei", LEARNER)):
        assert api.call("PUT", f"/v1/{path}", _body(document)).status == 200
    return api


def _body(document: Curriculum | LearnerProfile) -> str:
    return json.dumps(document.model_dump(mode="json", exclude={"id"}))


def says(judges: ProviderServer, title: str, *behaviours: Behaviour | dict[str, Any]) -> None:
    """What is answered to the questions for a reply, one after the other; the last one from then on."""
    told = [one if isinstance(one, Behaviour) else success(one) for one in behaviours]
    for at, behaviour in reversed(list(enumerate(told, start=1))):
        times = None if at == len(told) else 1
        rule = Rule(behaviour=behaviour, schema_title=title, times=times)
        judges.exchange.arrange(Control(rules=(rule,)))


@pytest.fixture(autouse=True)
def good(judges: ProviderServer) -> None:
    """Who writes writes well, and who judges finds nothing."""
    says(judges, "QuizReply", made())
    says(judges, "QuizVerdictsReply", evaluated())


def asked(judges: ProviderServer) -> list[str]:
    steps = {"QuizReply": "generate", "QuizVerdictsReply": "evaluate"}
    return [steps[call.title] for call in judges.calls]


def make(api: Api, **changes: Any) -> dict[str, Any]:
    """A quiz that is asked for, as it is read when its machine has done what it could."""
    accepted = api.post("/v1/quizzes", ASKED | changes)
    assert accepted.status == 202, accepted.body
    return dict(api.get(accepted.location).json)


def check(api: Api, **changes: Any) -> dict[str, Any]:
    body = {"quiz": quiz({}, {}).model_dump(mode="json"), "ui_language": "en"} | changes
    accepted = api.post("/v1/quiz-checks", body)
    assert accepted.status == 202, accepted.body
    return dict(api.get(accepted.location).json)


def test_a_clean_first_pass_is_exactly_one_call_of_each(demo: Api, judges: ProviderServer) -> None:
    seen = make(demo)
    assert asked(judges) == ["generate", "evaluate"]
    assert (seen["state"], seen["attempt"], seen["violations"]) == ("clean", 1, [])
    assert len(seen["checks_run"]) == 6
    assert [one["target"] for one in seen["quiz"]["questions"]] == ["學習", "學習"]
    assert (seen["kind"], seen["chapter"], seen["learner"], seen["ui_language"]) == ("generate", "2", "mei", "en")
    assert [spend["purpose"] for spend in seen["spends"]] == ["quiz_generation", "quiz_evaluation"]
    assert seen["tokens"] > 0


def test_the_writer_is_told_of_chapter_and_learner_and_the_judge_of_the_questions_alone(
    demo: Api, judges: ProviderServer
) -> None:
    make(demo)
    writer, judge = judges.calls
    assert writer.provider == "openai"
    for word in ("銀行", "60%", "朋友"):
        assert word in writer.prompt
        assert word not in judge.prompt + judge.system


def test_the_model_of_the_deployment_writes(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, LLM_MODEL="claude-sonnet-5-5", **addresses) as here:
        api = Api(token=here.token("demo"))
        assert make(api, chapter=CHAPTER.model_dump(mode="json"), curriculum=None, learner=None)["state"] == "clean"
    assert (judges.calls[0].provider, judges.calls[0].model) == ("anthropic", "claude-sonnet-5-5")


@pytest.mark.parametrize(
    ("first", "verdict", "rule"),
    [
        (made(STRUCTURE, {}), None, "structure"),
        (made(SIMPLIFIED, {}), None, "traditional_chinese"),
        (made(PINYIN, {}), None, "pinyin_diacritics"),
        (made(CHINESE, {}), None, "question_language"),
        (made({"target": "餐廳"}, {}), None, "curriculum_alignment"),
        (made(), evaluated([flaw("curriculum_alignment")]), "curriculum_alignment"),
        (made(), evaluated([flaw()]), "pedagogical_quality"),
    ],
)
def test_each_rule_sends_an_attempt_back_once_with_what_is_wrong_as_data(
    demo: Api, judges: ProviderServer, first: Any, verdict: Any, rule: str
) -> None:
    says(judges, "QuizReply", first, made({"explanation": "Better."}, {}))
    if verdict is not None:
        says(judges, "QuizVerdictsReply", verdict, evaluated())
    seen = make(demo)
    before = ["generate"] if verdict is None else ["generate", "evaluate"]
    assert asked(judges) == [*before, "generate", "evaluate"]
    assert (seen["state"], seen["attempt"]) == ("clean", 2)
    assert [one["rules"] for one in seen["attempts"]] == [[rule], []]
    again = [call for call in judges.calls if call.title == "QuizReply"][1]
    assert f'"rule": "{rule}"' in again.prompt


def test_rules_in_combination_are_listed_question_by_question(demo: Api, judges: ProviderServer) -> None:
    says(judges, "QuizVerdictsReply", evaluated([flaw()], [flaw("curriculum_alignment")]))
    own = quiz(SIMPLIFIED | {"target": "餐廳"}, PINYIN).model_dump(mode="json")
    seen = check(demo, quiz=own, curriculum="our-course", chapter="2")
    assert list(dict.fromkeys((one["question_id"], one["rule"], one["decided_by"]) for one in seen["violations"])) == [
        ("q1", "traditional_chinese", "check"),
        ("q1", "curriculum_alignment", "check"),
        ("q1", "pedagogical_quality", "judge"),
        ("q2", "pinyin_diacritics", "check"),
        ("q2", "curriculum_alignment", "judge"),
    ]
    assert seen["state"] == "violations"


def test_after_two_retries_the_best_of_three_is_handed_out_where_the_last_is_worse(
    demo: Api, judges: ProviderServer
) -> None:
    says(judges, "QuizReply", *(made({"explanation": f"Number {n}."}, {}) for n in (1, 2, 3)))
    says(judges, "QuizVerdictsReply", evaluated([flaw(), flaw()]), evaluated([flaw()]), evaluated([flaw()], [flaw()]))
    seen = make(demo)
    assert asked(judges) == ["generate", "evaluate"] * 3
    assert (seen["state"], seen["attempt"], len(seen["violations"])) == ("violations", 2, 1)
    assert seen["quiz"]["questions"][0]["explanation"] == "Number 2."
    assert [one["violations"] for one in seen["attempts"]] == [2, 1, 2]


@pytest.mark.parametrize("always", [made(STRUCTURE), made(SIMPLIFIED, {})])
def test_r22_a_generator_that_always_violates_is_asked_three_times_and_never_passed(
    demo: Api, judges: ProviderServer, always: Any
) -> None:
    says(judges, "QuizReply", always)
    seen = make(demo)
    assert asked(judges).count("generate") == 3
    assert seen["state"] == "violations"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("overloaded", "overloaded"),
        ("server_error", "overloaded"),
        ("day_quota", "day_quota"),
        ("refused", "refused"),
        ("html", "unreadable"),
        ("truncated", "unreadable"),
        ("max_tokens", "unreadable"),
        ("off_schema", "unreadable"),
        ("unauthorized", "misconfigured"),
    ],
)
def test_r13_where_the_evaluator_is_down_the_quiz_is_unchecked_and_its_questions_are_logged_by_id(
    demo: Api, judges: ProviderServer, caplog: pytest.LogCaptureFixture, kind: Any, reason: str
) -> None:
    says(judges, "QuizReply", made(SIMPLIFIED, {}), made())
    says(judges, "QuizVerdictsReply", error(kind))
    seen = make(demo)
    assert asked(judges).count("generate") == 2, "what a check found is written again all the same"
    assert (seen["state"], seen["attempt"], seen["unchecked"]["reason"]) == ("unchecked", 2, reason)
    assert seen["violations"] == []
    assert [one["rules"] for one in seen["attempts"]] == [["traditional_chinese"], []]
    assert "pedagogical_quality" not in seen["checks_run"]
    [warned] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert '["q1", "q2"]' in warned
    assert "學習" not in caplog.text
    assert "学习" not in caplog.text


@pytest.mark.parametrize("reply", [evaluated(questions=1), evaluated(questions=3), {"questions": []}])
def test_a5_a_verdict_that_does_not_cover_every_question_is_none(demo: Api, judges: ProviderServer, reply: Any) -> None:
    says(judges, "QuizVerdictsReply", reply)
    seen = make(demo)
    assert asked(judges) == ["generate", "evaluate", "evaluate"]
    assert (seen["state"], seen["unchecked"]["reason"]) == ("unchecked", "invalid_reply")


def test_where_the_generator_is_down_there_is_no_quiz_and_the_reason(demo: Api, judges: ProviderServer) -> None:
    says(judges, "QuizReply", error("overloaded"))
    seen = make(demo)
    assert (seen["state"], seen["quiz"], seen["failed"]["reason"]) == ("failed", None, "overloaded")


def test_where_the_generator_fails_later_the_best_so_far_is_handed_out(demo: Api, judges: ProviderServer) -> None:
    says(judges, "QuizReply", made(SIMPLIFIED, {}), error("refused"))
    seen = make(demo)
    assert (seen["state"], seen["attempt"], seen["failed"]["reason"]) == ("violations", 1, "refused")


def test_without_a_key_a_quiz_says_what_to_set_and_a_check_is_done_as_far_as_it_goes(deployment: Deployment) -> None:
    api = Api(token=deployment.token("demo"))
    chapter = CHAPTER.model_dump(mode="json")
    seen = make(api, chapter=chapter, curriculum=None, learner=None)
    assert (seen["state"], seen["failed"]["reason"]) == ("failed", "misconfigured")
    assert "OPENAI_API_KEY" in seen["failed"]["details"][0]
    body = quiz(SIMPLIFIED).model_dump(mode="json")
    seen = check(api, quiz=body)
    assert (seen["state"], seen["unchecked"]["reason"]) == ("unchecked", "misconfigured")
    assert [one["rule"] for one in seen["violations"]] == ["traditional_chinese"]


def test_a_quiz_of_somebodys_own_is_checked_against_its_chapter_and_never_written(
    demo: Api, judges: ProviderServer
) -> None:
    course = {"curriculum": "our-course", "chapter": "2"}
    seen = check(demo, **course)
    assert asked(judges) == ["evaluate"]
    assert (seen["kind"], seen["state"], seen["attempt"]) == ("check", "clean", 1)
    wrong = quiz({"target": "餐廳"}, STRUCTURE).model_dump(mode="json")
    seen = check(demo, quiz=wrong, **course)
    assert asked(judges) == ["evaluate"]
    assert (seen["state"], [one["rule"] for one in seen["violations"]]) == (
        "violations",
        ["curriculum_alignment", "structure"],
    )


def test_of_a_checked_quiz_whose_structure_is_broken_all_that_a_program_decides_is_told_without_a_key(
    deployment: Deployment,
) -> None:
    api = Api(token=deployment.token("demo"))
    seen = check(api, quiz=quiz(SIMPLIFIED, STRUCTURE).model_dump(mode="json"))
    assert (seen["state"], seen["unchecked"], seen["spends"]) == ("violations", None, [])
    assert [one["rule"] for one in seen["violations"]] == ["traditional_chinese", "structure"]
    assert seen["checks_run"] == ["structure", "traditional_chinese", "pinyin_diacritics", "question_language"]


@pytest.mark.parametrize("use_cache", [True, False])
def test_r3_every_step_repeated_after_its_effect_asks_nobody_twice(
    demo: Api, judged: Deployment, judges: ProviderServer, use_cache: bool
) -> None:
    judged.machines.repeats = 2
    says(judges, "QuizReply", made(SIMPLIFIED, {}), made())
    seen = make(demo, use_cache=use_cache)
    assert asked(judges) == ["generate", "generate", "evaluate"]
    assert (seen["state"], len(seen["attempts"]), len(seen["spends"])) == ("clean", 2, 3)


def test_a_quiz_that_is_made_anew_is_not_answered_with_what_was_written_before(
    demo: Api, judges: ProviderServer
) -> None:
    make(demo)
    make(demo)
    assert asked(judges) == ["generate", "evaluate"]
    make(demo, use_cache=False)
    assert asked(judges) == ["generate", "evaluate"] * 2


@pytest.mark.parametrize(
    ("lost", "state"),
    [
        ("retrieve", "failed"),
        ("weakness", "failed"),
        ("generate", "failed"),
        ("validate", "unchecked"),
        ("evaluate", "unchecked"),
    ],
)
def test_r3_a_step_that_never_comes_back_ends_the_quiz_with_the_best_of_what_there_is(
    demo: Api, judged: Deployment, judges: ProviderServer, lost: str, state: str
) -> None:
    judged.machines.lost = frozenset({lost})
    seen = make(demo)
    assert (seen["state"], (seen["failed"] or seen["unchecked"])["reason"]) == (state, "timed_out")
    assert (seen["quiz"] is None) == (state == "failed")


def test_r3_a_quiz_that_nobody_ended_is_ended_by_the_sweep(demo: Api, judged: Deployment) -> None:
    judged.machines.lost = frozenset({"finish"})
    seen = make(demo)
    assert (seen["state"], seen["quiz"], seen["finished_at"]) == ("generating", None, None)
    judged.machines.lost = frozenset()
    assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 0
    later(200)
    assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 1
    [listed] = demo.get("/v1/quizzes").json["items"]
    assert (listed["state"], listed["questions"]) == ("clean", 2)
    assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 0


def test_r3_a_quiz_that_never_began_has_all_of_its_time_when_the_sweep_starts_it(
    demo: Api, judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(judged.machines, "begin", lambda *_: None)
        accepted = demo.post("/v1/quizzes", ASKED)
    assert demo.get(accepted.location).json["state"] == "generating"
    later(3600)
    assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 1
    assert demo.get(accepted.location).json["state"] == "clean"


def test_a_quiz_that_cannot_be_started_again_is_told_and_holds_up_no_other(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [_begun(demo, judged)["id"] for _ in range(2)]
    start = Workflows.start

    def refused(self: Workflows, machine: MachineName, record: Reference, **how: Any) -> None:
        if record.id == ids[0]:
            raise StoreError("The work could not be started; repeat the request.")
        start(self, machine, record, **how)

    later(3600)
    with monkeypatch.context() as broken:
        broken.setattr(Workflows, "start", refused)
        swept = sweep.handler(event("schedule_sweep"), Context())
    assert (swept["restarted"], swept["stuck"]) == (1, 1)
    assert [demo.get(f"/v1/quizzes/{one}").json["state"] for one in ids] == ["generating", "clean"]


def test_a_call_that_somebody_else_is_at_is_waited_for_and_made_once_more_where_it_broke_off(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    accepted = _begun(demo, judged)
    references = {"tenant": "demo", "quiz_id": accepted["id"]}
    retrieve(references, Context())
    weakness(references, Context())
    assert stores.quizzes().begin(
        Reference("demo", "quiz", accepted["id"]), lambda run: call_begun(run, "generate", now=system_clock())
    )[1]
    said = generate(references, Context())
    assert said["state"] == "waiting"
    assert 1 <= said["wait_seconds"] <= 15
    assert asked(judges) == []
    later(16)
    assert generate(references, Context())["state"] == "validate"
    assert asked(judges) == ["generate"]


def test_a_store_that_fails_when_a_call_is_kept_lets_the_next_try_in_at_once_and_nobody_is_asked_twice(
    demo: Api, judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = _begun(demo, judged)
    references = {"tenant": "demo", "quiz_id": accepted["id"]}
    retrieve(references, Context())
    weakness(references, Context())

    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("The store is away.")

    with monkeypatch.context() as broken:
        broken.setattr("touchstone.quizzes.run.generated", fail)
        with pytest.raises(StoreError):
            generate(references, Context())
    assert generate(references, Context())["state"] == "validate"
    assert asked(judges) == ["generate"]


def test_a_step_repeated_after_two_replies_of_no_use_pays_for_no_third_one(
    demo: Api, judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = _begun(demo, judged)
    references = {"tenant": "demo", "quiz_id": accepted["id"]}
    for step in (retrieve, weakness, generate, validate):
        step(references, Context())
    says(judges, "QuizVerdictsReply", {"questions": []})

    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("The store is away.")

    with monkeypatch.context() as broken:
        broken.setattr("touchstone.quizzes.run.evaluated", fail)
        with pytest.raises(StoreError):
            evaluate(references, Context())
    evaluate(references, Context())
    finish(references, Context())
    assert asked(judges) == ["generate", "evaluate", "evaluate"]
    assert demo.get(f"/v1/quizzes/{accepted['id']}").json["unchecked"]["reason"] == "invalid_reply"


def test_what_was_deleted_since_ends_the_quiz_with_the_reason(demo: Api, judged: Deployment) -> None:
    for path, kept in (("curricula/our-course", "curriculum"), ("learners/mei", "learner")):
        accepted = _begun(demo, judged, chapter="2" if kept == "curriculum" else "1")
        assert demo.call("DELETE", f"/v1/{path}").status == 204
        judged.machines.begin("quiz", "again", {"tenant": "demo", "quiz_id": accepted["id"]})
        seen = demo.get(f"/v1/quizzes/{accepted['id']}").json
        assert (seen["state"], seen["failed"]["reason"]) == ("failed", "not_found")
        assert f"no {kept}" in seen["failed"]["details"][0]
        assert demo.call("PUT", "/v1/curricula/our-course", _body(CURRICULUM)).status == 200


def _begun(demo: Api, judged: Deployment, **changes: Any) -> dict[str, Any]:
    """A quiz that is asked for, of which no step was taken."""
    begin, judged.machines.begin = judged.machines.begin, lambda *_: None  # type: ignore[method-assign]
    try:
        return dict(demo.post("/v1/quizzes", ASKED | changes).json)
    finally:
        judged.machines.begin = begin  # type: ignore[method-assign]


@pytest.mark.parametrize("name", STEPS)
def test_the_sample_of_a_step_names_what_is_not_there(deployment: Deployment, name: str) -> None:
    with pytest.raises(NotFoundError, match="There is no quiz"):
        STEPS[name](event(f"step_quiz_{name}"), Context())


@pytest.mark.parametrize("name", ["api_quiz", "api_quiz_check", "api_curriculum", "api_learner"])
def test_the_sample_requests_are_taken(deployment: Deployment, name: str) -> None:
    said = app.handler(event(name), Context())
    assert said["statusCode"] in {200, 202}, said["body"]


def test_r22_no_step_says_anything_but_words(demo: Api, judged: Deployment) -> None:
    make(demo)
    for name, said in judged.machines.said:
        assert set(said) <= {"state", "wait_seconds"}, name
        assert len(json.dumps(said)) < 100


def test_r19_no_key_of_a_quiz_is_the_key_of_a_check(demo: Api) -> None:
    body = {"quiz": quiz({}, {}).model_dump(mode="json"), "ui_language": "en"}
    made = [demo.post("/v1/quizzes", ASKED, key=f"{word} k") for word in ("check", "-check")]
    checked = demo.post("/v1/quiz-checks", body, key="k")
    assert [one.status for one in (*made, checked)] == [202] * 3
    assert len({one.location for one in (*made, checked)}) == 3


def test_a_quiz_of_a_batch_that_waits_its_turn_is_not_taken_for_one_that_broke_off(
    demo: Api, judges: ProviderServer
) -> None:
    line = parse_line(json.dumps({"kind": "quiz", **ASKED}).encode())
    assert isinstance(line, QuizLine)
    quiz_id = work.line_quizzes("demo").hand_in(line, "01M7YCR9J0YEPNXK2F1F80QC0C")
    later(7 * 24 * 3600)
    assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 0, "its batch may come back to it"
    later(2 * 24 * 3600)
    assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 1
    assert demo.get(f"/v1/quizzes/{quiz_id}").json["state"] == "clean"
