"""`import touchstone` and one call: each job whole, from plain code, async code and a notebook."""

import asyncio
import inspect
from collections.abc import Iterator
from fractions import Fraction

import pytest

import touchstone
from tests.support.course_quizzes import CURRICULUM, evaluated, made
from tests.support.providers import ProviderServer
from touchstone.answers.model import AnswerRecord
from touchstone.errors import InputError, JudgeError, SettingsError
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.judges.base import JudgeCount

TWINS = [name for name in dir(touchstone) if f"a{name}" in dir(touchstone)]
PASSED = {"independent_answer": "Canberra", "is_correct": True, "confidence": 0.9, "error_description": None}
CAPITAL = ("Name the capital of Australia.", "Canberra")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        server.reply(PASSED, schema="VerifyReply")
        yield server


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_takes_and_gives_the_same(name: str) -> None:
    blocking, awaited = getattr(touchstone, name), getattr(touchstone, f"a{name}")
    assert inspect.signature(blocking) == inspect.signature(awaited)
    assert inspect.iscoroutinefunction(awaited)
    assert not inspect.iscoroutinefunction(blocking)
    assert blocking.__name__ == name
    assert blocking.__doc__ == awaited.__doc__


def test_every_job_with_judges_has_both() -> None:
    assert set(TWINS) == {
        *("verify", "solve", "deep_evaluate", "judge_submission", "make_quiz"),
        *("evaluate_quiz", "evaluate_summary", "evaluate_flashcards"),
    }


def test_what_computation_decides_needs_no_key() -> None:
    right, wrong = (touchstone.verify("Compute 3/4 + 1/6.", answer) for answer in ("11/12", "1/2"))
    assert (right.verification_status, wrong.verification_status) == ("verified", "caution")


def test_an_answer_key_decides_first() -> None:
    record = touchstone.verify("How far?", "19.6 m", expected=["19.62 m", "64 ft"], tolerance={"relative": 0.01})
    assert record.verification_status == "verified"
    assert "method='expected'" in str(record.attempts[-1].verification)


@pytest.mark.parametrize(
    ("tolerance", "status"),
    [
        (touchstone.Tolerance(relative=Fraction(1, 100)), "verified"),
        (touchstone.Tolerance(absolute=Fraction(1, 100)), "caution"),
        (touchstone.Tolerance(significant_digits=2), "verified"),
    ],
)
def test_the_tolerance_of_checks_will_do_for_a_key(tolerance: touchstone.Tolerance, status: str) -> None:
    record = touchstone.verify("How far?", "19.6 m", expected="19.62 m", tolerance=tolerance)
    assert record.verification_status == status


def test_what_nobody_can_decide_is_unverified_and_says_why() -> None:
    record = touchstone.verify(*CAPITAL)
    assert record.verification_status == "unverified"
    assert "GEMINI_API_KEY" in str(record.attempts[-1].verification)


def test_a_judge_of_the_environment_is_asked(server: ProviderServer) -> None:
    assert touchstone.verify(*CAPITAL).verification_status == "verified"
    assert len(server.calls) == 1


@pytest.mark.parametrize(("wanted", "votes"), [(1, 0), (2, 2), (3, 3), ("until_sure", 1)])
def test_several_judges_vote(server: ProviderServer, wanted: JudgeCount, votes: int) -> None:
    record = touchstone.verify(*CAPITAL, judges=wanted)
    found = record.attempts[-1].verification
    assert found is not None
    assert (record.verification_status, len(found.votes), len(server.calls)) == ("verified", votes, max(votes, 1))


def test_how_many_and_whom_are_said_apart(server: ProviderServer) -> None:
    async def of_ones_own() -> tuple[AnswerRecord, AnswerRecord]:
        judges = Judges(registry := load_registry(), EnvironmentKeys(registry))
        try:
            alone = await touchstone.averify(*CAPITAL, judges=judges)
            return alone, await touchstone.averify(*CAPITAL, judges=2, among=judges)
        finally:
            await judges.aclose()

    alone, both = asyncio.run(of_ones_own())
    assert (alone.judges, both.judges, len(server.calls)) == (1, 2, 3)
    with pytest.raises(InputError, match="judges"):
        touchstone.verify(*CAPITAL, judges=7)  # type: ignore[arg-type]


async def test_it_works_where_a_loop_runs_and_so_does_its_twin(server: ProviderServer) -> None:
    asyncio.get_running_loop()
    assert touchstone.verify(*CAPITAL).verification_status == "verified"
    both = await asyncio.gather(touchstone.averify(*CAPITAL), touchstone.averify(*CAPITAL))
    assert {record.verification_status for record in both} == {"verified"}


async def test_judges_that_are_given_are_used_and_left_open(server: ProviderServer) -> None:
    from touchstone.judges import EnvironmentKeys, load_registry

    registry = load_registry()
    judges = touchstone.Judges(registry, EnvironmentKeys(registry))
    try:
        for _ in range(2):
            assert (await touchstone.averify(*CAPITAL, judges=judges)).verification_status == "verified"
    finally:
        await judges.aclose()


@pytest.mark.parametrize(
    ("answer", "told", "said"),
    [
        ("", {}, "answer is empty and must say something."),
        ("x", {"verify_seconds": 900}, "verify_seconds must be at most 300."),
        (
            "x",
            {"expected": "1", "tolerance": {"absolut": 1}},
            "tolerance.absolut is no field here: leave it out or mend its name.",
        ),
        ("x", {"expected": "1", "tolerance": {"relative": 0.0}}, "tolerance.relative must be at least 1e-100."),
        ("x", {"expected": ""}, "expected: the expected answer says nothing that an answer could equal."),
        (
            "x",
            {"expected": "1", "tolerance": 0.01},
            'tolerance must be as {"relative": 0.01}, {"absolute": 0.5} or {"significant_digits": 3}.',
        ),
        (
            "x",
            {"expected": "1", "tolerance": touchstone.Tolerance(relative=Fraction(1, 3))},
            "tolerance must be a decimal of 15 digits at most, and 1/3 is none.",
        ),
        (
            "x",
            {"among": 3},
            "among must be opened judges (touchstone.Judges), and this is of type int; None means those with a key.",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(answer: str, told: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        touchstone.verify("p", answer, **told)  # type: ignore[arg-type]  # what is wrong is the point
    assert str(caught.value) == said


def test_a_problem_is_solved_and_evaluated_in_depth(server: ProviderServer) -> None:
    record = touchstone.solve("Compute 3/4 + 1/6.", expected="11/12")
    assert record.stage == "finished"
    assert record.deep_evaluation is None
    assert touchstone.deep_evaluate(record).deep_evaluation is not None


def test_nobody_solves_without_a_key() -> None:
    assert touchstone.solve("Compute 3/4 + 1/6.").stage == "failed"


def test_without_a_key_nothing_is_evaluated_in_depth_and_the_sentence_says_so() -> None:
    with pytest.raises(JudgeError, match=r"^No answer can be evaluated without a model: set .*_API_KEY"):
        touchstone.deep_evaluate(touchstone.verify("Compute 3/4 + 1/6.", "11/12"))


@pytest.mark.parametrize("name", TWINS)
def test_a_wrong_call_names_the_function_that_was_called(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) "):
        getattr(touchstone, name)(unheard_of=1)


BRIEF = touchstone.Brief(description="Compare two databases.", acceptance_criteria=("It names two databases.",))
CHAPTER_2 = touchstone.QuizRequest(curriculum=CURRICULUM.id, chapter="2", ui_language="en", questions=2)


@pytest.mark.parametrize(
    ("name", "given", "told", "said"),
    [
        ("deep_evaluate", ["x"], {}, "An AnswerRecord is wanted, and this is a str; verify and solve give one."),
        ("judge_submission", ["brief", "text"], {}, "A Brief is wanted, and this is a str; Brief.model_validate(…)"),
        ("judge_submission", [BRIEF, 3], {}, "text must be a text, and this is of type int."),
        ("judge_submission", [BRIEF, "text"], {"judges": 5}, "judges is one of 1, 2, 3, 'until_sure'."),
        ("judge_submission", [BRIEF, "text"], {"scoring_judges": "until_sure"}, "scoring_judges is one of 1, 2, 3."),
        ("judge_submission", [BRIEF, "text"], {"dimensions": ["depth"]}, "A Dimension is wanted, and this is a str;"),
        ("make_quiz", ["x"], {}, "A QuizRequest is wanted, and this is a str; QuizRequest.model_validate(…) makes one"),
        ("make_quiz", [CHAPTER_2], {"curriculum": "x"}, "A Curriculum is wanted, and this is a str;"),
        ("make_quiz", [CHAPTER_2], {"learner": "x"}, "A LearnerProfile is wanted, and this is a str;"),
        ("make_quiz", [CHAPTER_2], {"seconds": "x"}, "seconds must be a number of seconds, and this is of type str."),
        ("judge_submission", [BRIEF, "text"], {"seconds": "x"}, "seconds must be a number of seconds,"),
        (
            "judge_submission",
            [BRIEF, "text"],
            {"seconds": float("nan")},
            "seconds is a number of seconds, and nan is none",
        ),
        ("solve", [], {"image": "problem.png"}, "image must be the bytes of a picture, and this is of type str."),
    ],
)
def test_a_wrong_kind_is_refused_before_a_key_is_missed(
    name: str, given: list[object], told: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        getattr(touchstone, name)(*given, **told)
    assert str(caught.value).startswith(said)


def test_material_is_measured(server: ProviderServer) -> None:
    question = touchstone.Question(
        id="q1", kind="single_choice", question_text="Which is a city?", choices=("Paris", "red"), answers=("Paris",)
    )
    report = touchstone.evaluate_quiz(touchstone.Quiz(questions=(question,)), touchstone.Source(markdown="Paris."))
    assert "quiz_clarity" in report.results


@pytest.mark.parametrize(
    ("measure", "given", "told", "said"),
    [
        (
            "evaluate_quiz",
            {"questions": []},
            {},
            "A Quiz is wanted, and this is a dict; Quiz.model_validate(…) makes one",
        ),
        ("evaluate_quiz", touchstone.Summary(text="Ice floats."), {}, "A Quiz is wanted, and this is a Summary;"),
        ("evaluate_flashcards", None, {}, "A Deck is wanted, and this is a NoneType;"),
        ("evaluate_summary", "Ice floats.", {}, "A Summary is wanted, and this is a str;"),
        (
            "evaluate_summary",
            touchstone.Summary(text="Ice."),
            {"source": "Ice."},
            "A Source is wanted, and this is a str;",
        ),
        ("evaluate_summary", touchstone.Summary(text="Ice."), {"judges": 5}, "judges is one of 1, 2, 3, 'until_sure'."),
        (
            "evaluate_summary",
            touchstone.Summary(text="Ice."),
            {"language": "fr"},
            "language is one of None, 'zh', 'en'.",
        ),
        (
            "evaluate_summary",
            touchstone.Summary(text="Ice."),
            {"metrics": "summary_coverage"},
            "metrics must be a list of names, and this is of type str.",
        ),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    measure: str, given: object, told: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        getattr(touchstone, measure)(given, **told)
    assert str(caught.value).startswith(said)


def test_a_submission_is_judged(server: ProviderServer) -> None:
    brief = touchstone.Brief(description="Compare two databases.", acceptance_criteria=("It names two databases.",))
    judgement = touchstone.judge_submission(brief, "SQLite is small. PostgreSQL is large.")
    assert server.calls
    assert judgement.spends


def test_a_quiz_is_made_from_a_chapter(server: ProviderServer) -> None:
    server.reply(made(), schema="QuizReply")
    server.reply(evaluated(), schema="QuizVerdictsReply")
    wanted = touchstone.QuizRequest(curriculum=CURRICULUM.id, chapter="2", ui_language="en", questions=2)
    result = touchstone.make_quiz(wanted, curriculum=CURRICULUM)
    assert result.state == "clean"
    assert result.quiz is not None
    assert len(result.quiz.questions) == 2


def test_jobs_that_need_a_judge_say_so_before_they_begin() -> None:
    brief = touchstone.Brief(description="Compare two databases.", acceptance_criteria=("It names two databases.",))
    with pytest.raises(SettingsError, match="_API_KEY"):
        touchstone.judge_submission(brief, "text")
    with pytest.raises(SettingsError, match="_API_KEY"):
        touchstone.make_quiz(touchstone.QuizRequest(curriculum="c", chapter="1", ui_language="en", questions=5))
