"""A quiz on its way through a deployment: what comes next, once, whoever comes twice, late or not at all."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.course_quizzes import CHAPTER, quiz
from touchstone.judges.spends import Spend
from touchstone.quizzes import run as steps
from touchstone.quizzes.model import RULES, Content, QuizAttempt, QuizRequest, Rule, Unanswered, Violation, Weakness
from touchstone.quizzes.run import CALL_LEASE, QuizCheckRequest, QuizRun, call_begun, new_run
from touchstone.quizzes.view import QuizView

START = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
SPEND = Spend(purpose="quiz_generation", provider="openai", model="gpt-5.5", prompt_version="0" * 16, cost_usd=0.01)
DOWN = Unanswered(reason="overloaded", details=("It is down.",))
WRITE = QuizRequest(chapter=CHAPTER)
CHECK = QuizCheckRequest(quiz=quiz())


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_run(request: QuizRequest | QuizCheckRequest = WRITE) -> QuizRun:
    """A run that has begun and knows what it is about."""
    run = steps.started(new_run(request, tenant="acme", run_id="01JD7Z00000000000000000000", now=START), now=START)
    run = steps.retrieved(run, Content(chapter=CHAPTER, known=CHAPTER.items))
    return steps.queried(run, Weakness(ui_language="en"))


def broken(count: int, rule: Rule = "pedagogical_quality") -> tuple[Violation, ...]:
    one = Violation(question_id="q1", rule=rule, detail="It is wrong.", decided_by="judge", finding="judged")
    return (one,) * count


def written(run: QuizRun, now: datetime) -> QuizRun:
    run = call_begun(run, "generate", now=now)
    return steps.generated(run, quiz(), number=len(run.attempts) + 1, spends=[SPEND])


def looked_at(run: QuizRun, now: datetime, *, errors: int = 0) -> QuizRun:
    return steps.validated(run, broken(errors, "structure"), now=now)


def judged(run: QuizRun, now: datetime, *, violations: int = 0) -> QuizRun:
    run = call_begun(run, "evaluate", now=now)
    attempt = run.attempts[-1].model_copy(update={"violations": broken(violations), "checks_run": RULES})
    return steps.evaluated(run, attempt, unchecked=None, spends=[SPEND])


def attempted(run: QuizRun, *, errors: int = 0, violations: int = 0, seconds: float = 1) -> QuizRun:
    """The run after one more attempt, written, looked at, and judged where its structure is sound."""
    run = looked_at(written(run, at(seconds)), at(seconds), errors=errors)
    return run if errors else judged(run, at(seconds), violations=violations)


def test_a_clean_first_attempt_is_the_only_one() -> None:
    run = a_run()
    assert (run.state, run.step(START)) == ("generating", "generate")
    run = written(run, at(2))
    assert run.step(at(2)) == "validate"
    run = looked_at(run, at(2))
    assert run.step(at(2)) == "evaluate"
    run = judged(run, at(5))
    assert run.step(at(5)) == "finish"
    run = steps.finished(run, now=at(5))
    assert (run.state, run.step(at(5)), run.made.quiz, run.finished_at) == ("clean", "over", quiz(), at(5))
    assert (run.made.stopped, run.made.failed, run.made.unchecked) == (None, None, None)


@pytest.mark.parametrize("errors", [0, 2])
def test_an_attempt_that_breaks_a_rule_goes_back_twice_and_no_more(errors: int) -> None:
    run = a_run()
    for number in (1, 2, 3):
        assert run.step(at(number)) == "generate"
        run = attempted(run, errors=errors, violations=0 if errors else 1, seconds=number)
    assert run.step(at(4)) == "finish"
    made = steps.finished(run, now=at(4)).made
    assert (made.state, made.attempt, len(made.attempts), made.stopped) == ("violations", 3, 3, None)


def test_the_best_attempt_is_handed_out_where_the_last_is_worse() -> None:
    run = a_run()
    for number, violations in ((1, 3), (2, 1), (3, 2)):
        run = attempted(run, violations=violations, seconds=number)
    made = steps.finished(run, now=at(4)).made
    assert (made.state, made.attempt, len(made.violations)) == ("violations", 2, 1)


def test_no_attempt_begins_that_could_not_end_in_time() -> None:
    run = attempted(a_run(), violations=1, seconds=5)
    assert (run.step(at(5)), run.step(at(23))) == ("generate", "finish")
    assert call_begun(run, "generate", now=at(23)) is run
    made = steps.finished(run, now=at(23)).made
    assert (made.state, made.stopped) == ("violations", "time")


def test_where_the_evaluator_fails_its_attempt_is_handed_out_unchecked_at_once() -> None:
    run = looked_at(written(attempted(a_run(), violations=1), at(2)), at(2))
    run = call_begun(run, "evaluate", now=at(2))
    found = broken(2, "pinyin_diacritics")
    attempt = run.attempts[-1].model_copy(
        update={"violations": found, "checks_run": ("structure", "pinyin_diacritics")}
    )
    run = steps.evaluated(run, attempt, unchecked=DOWN, spends=[SPEND])
    assert run.step(at(3)) == "finish"
    made = steps.finished(run, now=at(3)).made
    assert (made.state, made.attempt, made.violations, made.unchecked) == ("unchecked", 2, found, DOWN)
    assert made.checks_run == ("structure", "pinyin_diacritics")


def test_where_the_generator_fails_the_best_so_far_is_handed_out_and_without_one_nothing() -> None:
    run = steps.not_generated(call_begun(a_run(), "generate", now=START), DOWN, number=1, spends=[SPEND])
    made = steps.finished(run, now=at(1)).made
    assert (made.state, made.quiz, made.failed, made.spends) == ("failed", None, DOWN, (SPEND,))
    run = call_begun(attempted(a_run(), violations=1), "generate", now=at(2))
    made = steps.finished(steps.not_generated(run, DOWN, number=2, spends=[]), now=at(3)).made
    assert (made.state, made.attempt, made.failed) == ("violations", 1, DOWN)


def test_a_quiz_of_somebodys_own_is_looked_at_and_judged_and_never_written_again() -> None:
    run = a_run(CHECK)
    assert (run.kind, run.state, run.step(START)) == ("check", "checking", "validate")
    run = looked_at(run, at(1))
    assert run.step(at(1)) == "evaluate"
    assert judged(run, at(1), violations=1).step(at(1)) == "finish"
    wrong = looked_at(a_run(CHECK), at(1), errors=1)
    assert wrong.step(at(1)) == "evaluate"
    told = wrong.attempts[-1].model_copy(update={"checks_run": RULES[:3]})
    done = steps.evaluated(call_begun(wrong, "evaluate", now=at(1)), told, unchecked=None, spends=[])
    assert done.step(at(2)) == "finish"
    for run, ran in ((wrong, RULES[:1]), (done, RULES[:3])):
        made = steps.finished(run, now=at(2)).made
        assert (made.state, made.stopped, made.quiz, made.checks_run) == ("violations", None, CHECK.quiz, ran)


def test_a_check_that_found_more_than_is_kept_is_no_interrupted_one() -> None:
    wrong = looked_at(a_run(CHECK), at(1), errors=1)
    found = (*broken(steps.MOST_VIOLATIONS, "traditional_chinese"), *broken(1, "structure"))
    told = wrong.attempts[-1].model_copy(update={"violations": found, "checks_run": RULES[:3]})
    run = steps.evaluated(call_begun(wrong, "evaluate", now=at(1)), told, unchecked=None, spends=[])
    made = steps.finished(run, now=at(2)).made
    assert (made.state, made.unchecked, len(made.violations)) == ("violations", None, steps.MOST_VIOLATIONS)


@pytest.mark.parametrize("request_", [WRITE, CHECK])
def test_what_is_not_there_any_more_ends_it_with_the_reason(request_: QuizRequest | QuizCheckRequest) -> None:
    why = Unanswered(reason="not_found", details=("There is no curriculum with this id.",))
    run = steps.reference_missing(a_run(request_), why)
    assert (run.step(START), steps.reference_missing(run, DOWN)) == ("finish", run)
    made = steps.finished(run, now=START).made
    assert (made.state, made.failed or made.unchecked) == ("failed" if request_ is WRITE else "unchecked", why)


def test_of_several_at_once_one_asks_and_one_that_broke_off_is_followed_by_one_other() -> None:
    run = call_begun(a_run(), "generate", now=START)
    assert call_begun(run, "generate", now=at(1)) is run
    free = steps.call_broken(run, "generate", now=at(2))
    assert steps.call_broken(run, "evaluate", now=at(2)) is run
    again = call_begun(free, "generate", now=at(2))
    assert again.call is not None
    assert (again.call.tries, again.call.until) == (2, at(2) + CALL_LEASE)
    given_up = call_begun(again, "generate", now=at(2) + CALL_LEASE)
    assert given_up.failed is not None
    assert (given_up.failed.reason, given_up.step(at(20))) == ("timed_out", "finish")


def test_an_evaluation_that_is_interrupted_twice_leaves_the_quiz_unchecked() -> None:
    run = looked_at(written(a_run(), START), START)
    for _ in range(3):
        run = steps.call_broken(call_begun(run, "evaluate", now=at(1)), "evaluate", now=at(1))
    made = steps.finished(run, now=at(2)).made
    assert (made.state, made.checks_run) == ("unchecked", ("structure",))
    assert made.unchecked is not None
    assert made.unchecked.reason == "timed_out"


@pytest.mark.parametrize(
    ("broken_off", "state", "attempt"),
    [
        (a_run, "failed", None),
        (lambda: written(a_run(), START), "unchecked", 1),
        (lambda: looked_at(written(a_run(), START), START), "unchecked", 1),
        (lambda: written(attempted(a_run(), violations=1), at(2)), "violations", 1),
        (lambda: looked_at(written(attempted(a_run(), errors=1), at(2)), at(2)), "violations", 1),
        (lambda: attempted(a_run(), violations=1), "violations", 1),
        (lambda: attempted(a_run()), "clean", 1),
        (lambda: a_run(CHECK), "unchecked", 1),
    ],
)
def test_whoever_breaks_off_leaves_the_best_of_what_there_is(
    broken_off: Callable[[], QuizRun], state: str, attempt: int | None
) -> None:
    run = steps.finished(broken_off(), now=at(9))
    assert (run.state, run.made.attempt) == (state, attempt)
    assert run.state == "clean" or run.made.failed or run.made.unchecked or run.made.stopped is not None


def test_what_came_too_late_is_paid_for_and_changes_nothing_else() -> None:
    run = attempted(a_run(), violations=1)
    late = SPEND.model_copy(update={"cost_usd": 0.5})
    again = steps.generated(run, quiz({"question_text": "Late?"}), number=1, spends=[late])
    assert (again.attempts, again.spends) == (run.attempts, (*run.spends, late))
    assert steps.generated(again, quiz(), number=1, spends=[late]) is again
    too_late: list[Callable[[QuizRun], QuizRun]] = [
        lambda one: steps.not_generated(one, DOWN, number=1, spends=[late]),
        lambda one: steps.evaluated(one, run.attempts[0], unchecked=DOWN, spends=[late]),
    ]
    for step in too_late:
        changed = step(run)
        assert (changed.attempts, changed.failed, changed.unchecked) == (run.attempts, None, None)
        assert changed.spends == (*run.spends, late)


def _steps(now: datetime) -> list[Callable[[QuizRun], QuizRun]]:
    """Every step, as somebody may take it who comes twice or late."""
    content, weakness = Content(chapter=CHAPTER, known=()), Weakness(ui_language="ja")
    attempt = QuizAttempt(number=1, quiz=quiz(), violations=broken(9), checks_run=RULES)
    return [
        lambda run: steps.started(run, now=now),
        lambda run: steps.retrieved(run, content),
        lambda run: steps.queried(run, weakness),
        lambda run: steps.reference_missing(run, DOWN),
        lambda run: call_begun(run, "generate", now=now),
        lambda run: call_begun(run, "evaluate", now=now),
        lambda run: steps.call_broken(run, "generate", now=now),
        lambda run: steps.validated(run, broken(3, "structure"), now=now),
        lambda run: steps.generated(run, quiz(), number=1, spends=[]),
        lambda run: steps.not_generated(run, DOWN, number=1, spends=[]),
        lambda run: steps.evaluated(run, attempt, unchecked=None, spends=[]),
        lambda run: steps.finished(run, now=now),
    ]


@pytest.mark.parametrize("step", range(12))
@pytest.mark.parametrize("state", ["clean", "violations", "unchecked", "failed"])
def test_what_is_over_never_changes(state: str, step: int) -> None:
    over = {
        "clean": attempted(a_run()),
        "violations": attempted(a_run(), violations=1),
        "unchecked": steps.reference_missing(a_run(CHECK), DOWN),
        "failed": steps.reference_missing(a_run(), DOWN),
    }
    run = steps.finished(over[state], now=at(5))
    assert run.state == state
    assert _steps(at(6))[step](run) is run


@given(st.lists(st.tuples(st.integers(0, 11), st.floats(0, 40)), max_size=30))
def test_whatever_steps_come_in_whatever_order_there_is_an_end_and_clean_is_only_what_was_judged(
    taken: list[tuple[int, float]],
) -> None:
    run = a_run()
    for step, seconds in taken:
        before = run
        run = _steps(at(seconds))[step](run)
        assert _steps(at(seconds))[step](run).attempts == run.attempts or step == 8
        assert len(run.attempts) <= 3
        assert run.attempts[: max(0, len(before.attempts) - 1)] == before.attempts[: max(0, len(before.attempts) - 1)]
    made = steps.finished(run, now=at(50)).made
    assert (made.state == "failed") == (made.quiz is None)
    if made.state == "clean":
        assert set(made.checks_run) == set(RULES)
        assert not made.violations
    assert QuizView.of(steps.finished(run, now=at(50))).state == made.state
    assert QuizRun.model_validate_json(run.model_dump_json()) == run


@pytest.mark.parametrize(
    "fields", [{"chapter": "1"}, {"curriculum": "course"}, {"chapter": CHAPTER, "curriculum": "course"}]
)
def test_a_check_names_a_chapter_with_its_curriculum_or_gives_one_whole(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="chapter"):
        QuizCheckRequest(quiz=quiz(), **fields)
    assert QuizCheckRequest(quiz=quiz(), chapter="1", curriculum="course").chapter == "1"
    assert QuizCheckRequest(quiz=quiz(), chapter=CHAPTER).curriculum is None


def test_a_view_shows_the_quiz_when_it_is_over_and_its_attempts_in_short() -> None:
    run = attempted(attempted(a_run(), violations=2), errors=1, seconds=3)
    seen = QuizView.of(run)
    assert (seen.state, seen.quiz, seen.violations) == ("generating", None, ())
    assert [(one.number, one.violations, one.rules) for one in seen.attempts] == [
        (1, 2, ("pedagogical_quality",)),
        (2, 1, ("structure",)),
    ]
    seen = QuizView.of(steps.finished(run, now=at(24)))
    assert (seen.state, seen.attempt, seen.chapter, seen.ui_language) == ("violations", 2, "2", "en")
    assert seen.cost_usd == pytest.approx(0.03)
