"""`touchstone quiz generate`: made in this process through the real SDKs, or by a deployment."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.commands import Command
from tests.support.course_quizzes import CURRICULUM, LEARNER, QUESTION, evaluated, flaw, made, quiz
from tests.support.judges import MOMENT
from tests.support.loopback import Asked, Loopback, Reply
from tests.support.providers import ProviderServer, error, success
from touchstone.cli.terminal import waiting
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.view import AttemptView, QuizView

VIEW = QuizView(
    id="01JD7Z00000000000000000000",
    kind="generate",
    state="clean",
    curriculum="our-course",
    chapter="2",
    learner="mei",
    ui_language="en",
    quiz=quiz(),
    attempt=1,
    violations=(),
    checks_run=("structure",),
    attempts=(AttemptView(number=1, violations=0, rules=(), checks_run=("structure",)),),
    unchecked=None,
    failed=None,
    stopped=None,
    spends=(),
    tokens=1200,
    cost_usd=0.01,
    unpriced_calls=0,
    created_at=MOMENT,
    finished_at=None,
).model_dump(mode="json")
IN_WORK: dict[str, Any] = {**VIEW, "state": "generating", "quiz": None}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """Models that write a good quiz and find it so, with keys and addresses in the environment."""
    with ProviderServer() as server:
        server.reply(made(), schema="QuizReply")
        server.reply(evaluated(), schema="QuizVerdictsReply")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """A course and a learner in files."""
    (tmp_path / "course.json").write_text(CURRICULUM.model_dump_json(), encoding="utf-8")
    (tmp_path / "mei.json").write_text(LEARNER.model_dump_json(), encoding="utf-8")
    return ("--curriculum", str(tmp_path / "course.json"), "--chapter", "2", "--learner", str(tmp_path / "mei.json"))


@pytest.fixture
def generate(touchstone: Command, files: tuple[str, ...]) -> Any:
    """Runs the command on them, for two questions, without a deployment."""

    def run(*options: str, **env: str) -> Result:
        return touchstone("quiz", "generate", *files, "--questions", "2", "--local", *options, env=env)

    return run


def told(server: ProviderServer) -> list[str]:
    return [f"{call.provider} {call.title}" for call in server.calls]


def test_a_clean_quiz_is_one_call_of_each_and_is_checked_as_it_lies(
    models: ProviderServer, generate: Any, touchstone: Command, tmp_path: Path
) -> None:
    out = tmp_path / "quiz.json"
    result = generate("--out", str(out))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Clean: every rule was applied and none is broken." in result.stderr
    assert "tokens." in result.stderr
    assert [call.split(" ")[1] for call in told(models)] == ["QuizReply", "QuizVerdictsReply"]
    assert told(models)[0].startswith("openai ")
    written = json.loads(out.read_text(encoding="utf-8"))
    assert [one["id"] for one in written["questions"]] == ["q1", "q2"]
    assert "explanation" not in written["questions"][0]
    course = ("--curriculum", str(tmp_path / "course.json"), "--chapter", "2", "--ui-language", "en")
    assert touchstone("quiz", "check", str(out), *course).exit_code == 0
    assert json.loads(generate().stdout) == written


def test_the_learner_and_the_chapter_are_what_it_is_made_from(models: ProviderServer, generate: Any) -> None:
    assert generate("--kinds", "single_choice, true_false").exit_code == 0
    asked = str(models.calls[0])
    for words in ("銀行", "60%", "圖書館"):
        assert words in asked
    result = generate("--kinds", "essay")
    assert result.exit_code == 2
    assert "kinds" in result.stderr


def test_what_it_still_violates_is_named_with_what_to_write_instead(models: ProviderServer, generate: Any) -> None:
    models.reply(evaluated([flaw()]), schema="QuizVerdictsReply")
    result = generate("--no-cache")
    assert result.exit_code == 1
    assert "q1: pedagogical_quality All distractors are obviously wrong. → Offer 「練習」 as a choice." in result.stderr
    assert "It still violates the rules in 1 place, named above." in result.stderr
    assert "Attempts: 1: 1 violation; 2: 1 violation; 3: 1 violation. Shown is 3." in result.stderr
    assert told(models).count("openai QuizReply") == 3


def test_an_evaluator_that_fails_leaves_it_unchecked(models: ProviderServer, generate: Any) -> None:
    models.rule(error("refused"), schema="QuizVerdictsReply")
    result = generate()
    assert result.exit_code == 3
    assert "Not every rule was applied, so this is no clean quiz; nothing was found by the others." in result.stderr
    assert "Unchecked: refused." in result.stderr
    assert "Clean" not in result.stderr
    assert len(json.loads(result.stdout)["questions"]) == 2
    found = json.loads(generate("--json").stdout)
    assert (found["state"], found["unchecked"]["reason"]) == ("unchecked", "refused")
    assert "pedagogical_quality" not in found["checks_run"]


def test_a_generator_that_fails_leaves_nothing(models: ProviderServer, generate: Any, tmp_path: Path) -> None:
    models.rule(error("refused"), schema="QuizReply")
    result = generate("--out", str(tmp_path / "quiz.json"))
    assert (result.exit_code, result.stdout) == (3, "")
    assert "There is no quiz: refused." in result.stderr
    assert not (tmp_path / "quiz.json").exists()


def test_a_reply_of_which_no_quiz_can_be_made_is_no_end_for_the_next_command(
    models: ProviderServer, generate: Any
) -> None:
    models.rule(success({"questions": []}), schema="QuizReply")
    assert "There is no quiz: invalid_reply." in generate().stderr
    calls = len(models.calls)
    assert "There is no quiz: invalid_reply." in generate().stderr
    assert len(models.calls) == calls + 1
    generate("--no-cache")
    assert len(models.calls) > calls + 1


def test_without_a_key_the_sentence_says_what_to_set(generate: Any) -> None:
    result = generate()
    assert (result.exit_code, result.stdout) == (3, "")
    assert "No quiz can be written without a key: set GEMINI_API_KEY" in result.stderr


def test_without_the_key_of_the_model_that_is_named_the_sentence_says_which(
    generate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_MODEL", "gpt-nobody-knows")
    result = generate()
    assert (result.exit_code, "OPENAI_API_KEY" in result.stderr) == (3, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--chapter", "9"), "has no chapter 9"),
        (("--learner-id", "eve"), "There is no learner eve"),
        (("--out", "/nowhere/quiz.json"), "No file can be written"),
    ],
)
def test_what_is_not_there_costs_nothing(
    models: ProviderServer, generate: Any, options: tuple[str, ...], words: str
) -> None:
    result = generate(*options)
    assert (result.exit_code, models.calls) == (2, [])
    assert words in result.stderr


def test_a_deployment_is_asked_and_waited_for(
    api: Loopback, online: Command, files: tuple[str, ...], pauses: list[float]
) -> None:
    api.script = [
        Reply(status=202, value=IN_WORK),
        Reply(value=IN_WORK),
        Reply(value=VIEW),
    ]
    result = online("quiz", "generate", *files, "--questions", "2")
    assert result.exit_code == 0
    assert [one.path for one in api.asked] == ["/v1/quizzes", *[f"/v1/quizzes/{VIEW['id']}"] * 2]
    body = api.asked[0].document
    assert (body["chapter"]["id"], body["learner"]["id"], body["questions"]) == ("2", "mei", 2)
    assert QuizRequest.model_validate(body).curriculum is None
    assert json.loads(result.stdout) == {"questions": [dict(QUESTION)]}
    assert len(pauses) == 2


def test_what_is_no_file_is_an_id_of_the_deployment(api: Loopback, online: Command) -> None:
    api.answer = lambda _: Reply(status=202, value=IN_WORK)
    options = ("--curriculum", "first-steps", "--chapter", "2", "--learner", "mei", "--no-wait")
    result = online("quiz", "generate", *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"It is in work; see it with: touchstone quiz show {VIEW['id']}" in result.stderr
    body = api.asked[0].document
    assert (body["curriculum"], body["chapter"], body["learner"]) == ("first-steps", "2", "mei")
    assert QuizRequest.model_validate(body).questions == 10


def test_whoever_stops_waiting_is_told_where_to_look(
    api: Loopback, online: Command, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting, "pause", interrupted)
    api.answer = lambda _: Reply(status=202, value=IN_WORK)
    result = online("quiz", "generate", *files)
    assert result.exit_code == 130
    assert f"It goes on without you; see it with: touchstone quiz show {VIEW['id']}" in result.stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "unchecked", "unchecked": {"reason": "timed_out", "details": []}}, (3, "Unchecked: timed_out.")),
        ({"state": "unchecked"}, (3, "no judge was asked")),
        ({"state": "failed", "quiz": None, "failed": {"reason": "refused", "details": ["No."]}}, (3, "refused. No.")),
        ({"stopped": "time", "state": "violations"}, (1, "There was no time for another attempt.")),
        ({"failed": {"reason": "overloaded", "details": []}}, (0, "A further attempt brought nothing: overloaded.")),
    ],
)
def test_a_quiz_is_shown_with_what_came_of_it(
    api: Loopback, online: Command, tmp_path: Path, changes: dict[str, Any], said: tuple[int, str]
) -> None:
    api.answer = lambda _: Reply(value={**VIEW, **changes})
    result = online("quiz", "show", str(VIEW["id"]), "--out", str(tmp_path / "quiz.json"))
    assert (result.exit_code, result.stdout, said[1] in result.stderr) == (said[0], "", True)
    assert (tmp_path / "quiz.json").exists() == (changes.get("state") != "failed")


def test_quizzes_are_listed(api: Loopback, online: Command) -> None:
    def answer(asked: Asked) -> Reply:
        assert asked.query == {"limit": "20"}
        row = {"id": "01Q", "kind": "check", "state": "clean", "curriculum": "first-steps", "chapter": "2"}
        counts = {"questions": 10, "violations": 0, "attempts": 1}
        times = {"created_at": "2026-11-22T09:00:00Z", "finished_at": None}
        return Reply(value={"items": [{**row, **counts, **times}], "cursor": None})

    api.answer = answer
    result = online("quiz", "list")
    assert result.exit_code == 0
    for words in ("01Q", "check", "clean", "first-steps", "10"):
        assert words in result.stdout
