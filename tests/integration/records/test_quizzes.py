"""A quiz's way through the table: every step once, by one of many, and found again where it broke off."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from tests.support.course_quizzes import CHAPTER, quiz
from tests.support.records import START, HandClock, a_spend
from tests.support.store_faults import losing_replies
from touchstone.errors import ConflictError, NotFoundError, StoreError
from touchstone.judges.spends import Spend
from touchstone.material import Quiz
from touchstone.quizzes import run as steps
from touchstone.quizzes.model import RULES, Content, QuizRequest, Unanswered, Weakness
from touchstone.quizzes.run import CALL_LEASE, Asking, QuizCheckRequest, QuizRun
from touchstone.records import QUIZ, Artifacts, JobStore, Quizzes, new_ulid
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

REQUEST = QuizRequest(chapter=CHAPTER)
AT_ONCE = 8


@pytest.fixture
def quizzes(table: "Table", artifacts: Artifacts, clock: HandClock) -> Quizzes:
    return JobStore(QUIZ, table, artifacts, clock=clock, pause=lambda _: None)


def begun(quizzes: Quizzes, request: QuizRequest | QuizCheckRequest = REQUEST) -> QuizRun:
    """A quiz whose time has begun, and that is ready to be written."""
    run = quizzes.create(asked(request))
    run = quizzes.change(run.ref, lambda one: steps.started(one, now=START))
    run = quizzes.change(run.ref, lambda one: steps.retrieved(one, Content(chapter=CHAPTER, known=())))
    return quizzes.change(run.ref, lambda one: steps.queried(one, Weakness(ui_language="en")))


def asked(request: QuizRequest | QuizCheckRequest, quiz_id: str | None = None) -> QuizRun:
    """A quiz as it is asked for."""
    return steps.new_run(request, tenant="acme", run_id=quiz_id or new_ulid(START), now=START)


def calling(asking: Asking, clock: HandClock) -> Callable[[QuizRun], QuizRun]:
    """The step that begins a call."""
    return lambda run: steps.call_begun(run, asking, now=clock())


def wrote(written: Quiz, *spends: Spend) -> Callable[[QuizRun], QuizRun]:
    """The step that keeps the first attempt."""
    return lambda run: steps.generated(run, written, number=1, spends=spends)


def test_a_quiz_is_read_back_as_it_was_asked_for_and_a_repeat_meets_it(quizzes: Quizzes) -> None:
    quiz_id = new_ulid(START)
    made = quizzes.create(asked(REQUEST, quiz_id))
    assert quizzes.get(Reference("acme", "quiz", quiz_id)) == made
    assert quizzes.find(Reference("acme", "quiz", new_ulid(START))) is None
    ended = quizzes.change(made.ref, lambda one: steps.finished(one, now=START))
    assert quizzes.create(asked(REQUEST, quiz_id)) == ended
    with pytest.raises(ConflictError, match="another request"):
        quizzes.create(asked(QuizRequest(chapter=CHAPTER, questions=3), quiz_id))


def test_another_tenants_quiz_is_just_missing(quizzes: Quizzes, clock: HandClock) -> None:
    run = begun(quizzes)
    theirs = Reference("rival", "quiz", run.id)
    tried: list[Callable[[], object]] = [
        lambda: quizzes.get(theirs),
        lambda: quizzes.get(Reference("acme", "quiz", "nonsense")),
        lambda: quizzes.begin(theirs, calling("generate", clock)),
        lambda: quizzes.change(theirs, lambda one: steps.finished(one, now=START)),
        lambda: quizzes.change(run.model_copy(update={"tenant": "rival"}).ref, wrote(quiz())),
    ]
    for each in tried:
        with pytest.raises(NotFoundError):
            each()
    assert quizzes.page(tenant="rival").items == ()


def test_r3_of_many_at_once_exactly_one_asks(quizzes: Quizzes, clock: HandClock) -> None:
    run = begun(quizzes)
    barrier = Barrier(AT_ONCE)

    def take(_: int) -> bool:
        barrier.wait()
        after, changed = quizzes.begin(run.ref, calling("generate", clock))
        return changed and after.failed is None

    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        assert sum(pool.map(take, range(AT_ONCE))) == 1
    clock.now += CALL_LEASE
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        assert sum(pool.map(take, range(AT_ONCE))) == 1
    clock.advance(seconds=16)
    after, _ = quizzes.begin(run.ref, calling("generate", clock))
    assert after.failed is not None
    assert after.failed.reason == "timed_out"


def test_r3_a_result_that_is_kept_twice_is_one_attempt_and_paid_for_once(
    quizzes: Quizzes, table: "Table", clock: HandClock
) -> None:
    run, ours = quizzes.begin(begun(quizzes).ref, calling("generate", clock))
    assert ours
    spend = a_spend(purpose="quiz_generation")
    with losing_replies(table.meta.client, "PutItem"), pytest.raises(StoreError):
        quizzes.change(run.ref, wrote(quiz(), spend))
    kept = quizzes.change(run.ref, wrote(quiz({"question_text": "Late?"}), spend))
    assert ([one.quiz for one in kept.attempts], kept.spends) == ([quiz()], (spend,))


def test_every_step_is_kept_and_the_end_is_what_is_read(quizzes: Quizzes, clock: HandClock) -> None:
    run, _ = quizzes.begin(begun(quizzes).ref, calling("generate", clock))
    run = quizzes.change(run.ref, wrote(quiz()))
    run = quizzes.change(run.ref, lambda one: steps.validated(one, (), now=clock()))
    run, ours = quizzes.begin(run.ref, calling("evaluate", clock))
    assert ours
    judged = run.attempts[-1].model_copy(update={"checks_run": RULES})
    run = quizzes.change(run.ref, lambda one: steps.evaluated(one, judged, unchecked=None, spends=[a_spend()]))
    clock.advance(seconds=5)
    run = quizzes.change(run.ref, lambda one: steps.finished(one, now=clock()))
    assert quizzes.get(run.ref) == run
    assert (run.state, run.finished_at, run.deadline) == ("clean", clock(), START + timedelta(seconds=30))
    [listed] = quizzes.page(tenant="acme").items
    assert (listed.state, listed.questions, listed.violations, listed.attempts) == ("clean", 1, 0, 1)


def test_what_is_missing_or_broken_off_is_kept(quizzes: Quizzes, clock: HandClock) -> None:
    gone = Unanswered(reason="not_found", details=("There is no curriculum with this id.",))
    assert quizzes.change(begun(quizzes).ref, lambda one: steps.reference_missing(one, gone)).failed == gone
    run, _ = quizzes.begin(begun(quizzes).ref, calling("generate", clock))
    free = quizzes.change(run.ref, lambda one: steps.call_broken(one, "generate", now=clock()))
    assert free.call is not None
    assert free.call.until == clock()
    assert quizzes.begin(run.ref, calling("generate", clock))[1]
    after = quizzes.change(run.ref, lambda one: steps.not_generated(one, gone, number=1, spends=[]))
    assert after.failed == gone


def test_a_quiz_that_is_not_over_is_found_when_its_time_has_passed_and_no_longer_when_it_ended(
    quizzes: Quizzes, clock: HandClock
) -> None:
    run = begun(quizzes)
    clock.advance(seconds=40)
    assert quizzes.unfinished(older_than=timedelta(seconds=30)) == ()
    clock.advance(seconds=30)
    [found] = quizzes.unfinished(older_than=timedelta(seconds=30))
    assert found == Reference("acme", "quiz", run.id)
    quizzes.change(run.ref, lambda one: steps.finished(one, now=clock()))
    assert quizzes.unfinished(older_than=timedelta(0)) == ()


def test_a_long_quiz_lies_beside_the_table(quizzes: Quizzes, s3: "S3Client") -> None:
    long = QuizCheckRequest(quiz=quiz(*({"explanation": "長" * 1_000} for _ in range(200))))
    run = begun(quizzes, long)
    assert quizzes.get(run.ref).request == long
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket="artifacts")["Contents"]]
    assert all(key.startswith("artifacts/acme/") for key in keys)
