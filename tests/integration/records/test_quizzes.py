"""A quiz's way through the table: every step once, by one of many, and found again where it broke off."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.records import START, HandClock, a_spend
from tests.support.store_faults import losing_replies
from tests.unit.quizzes.samples import CHAPTER, quiz
from touchstone.errors import ConflictError, NotFoundError, StoreError
from touchstone.quizzes.model import RULES, Content, QuizRequest, Unanswered, Weakness
from touchstone.quizzes.run import HELD, QuizCheckRequest, QuizRun
from touchstone.records import Artifacts, Quizzes, new_ulid

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

REQUEST = QuizRequest(chapter=CHAPTER)
AT_ONCE = 8


@pytest.fixture
def quizzes(table: "Table", artifacts: Artifacts, clock: HandClock) -> Quizzes:
    return Quizzes(table, artifacts, clock=clock, pause=lambda _: None)


def begun(quizzes: Quizzes, request: QuizRequest | QuizCheckRequest = REQUEST) -> QuizRun:
    """A quiz whose time has begun, and that is ready to be written."""
    run = quizzes.create(tenant="acme", quiz_id=new_ulid(START), request=request)
    run = quizzes.start(tenant="acme", quiz_id=run.id)
    run = quizzes.retrieve(run, Content(chapter=CHAPTER, known=()))
    return quizzes.query(run, Weakness(ui_language="en"))


def test_a_quiz_is_read_back_as_it_was_asked_for_and_a_repeat_meets_it(quizzes: Quizzes) -> None:
    quiz_id = new_ulid(START)
    made = quizzes.create(tenant="acme", quiz_id=quiz_id, request=REQUEST)
    assert quizzes.get(tenant="acme", quiz_id=quiz_id) == made
    assert quizzes.find(tenant="acme", quiz_id=new_ulid(START)) is None
    ended = quizzes.finish(tenant="acme", quiz_id=quiz_id)
    assert quizzes.create(tenant="acme", quiz_id=quiz_id, request=REQUEST) == ended
    with pytest.raises(ConflictError, match="another request"):
        quizzes.create(tenant="acme", quiz_id=quiz_id, request=QuizRequest(chapter=CHAPTER, questions=3))


def test_another_tenants_quiz_is_just_missing(quizzes: Quizzes) -> None:
    run = begun(quizzes)
    theirs: dict[str, Any] = {"tenant": "rival", "quiz_id": run.id}
    steps: list[Callable[[], object]] = [
        lambda: quizzes.get(**theirs),
        lambda: quizzes.get(tenant="acme", quiz_id="nonsense"),
        lambda: quizzes.start(**theirs),
        lambda: quizzes.begin(**theirs, asking="generate"),
        lambda: quizzes.finish(**theirs),
        lambda: quizzes.add(run.model_copy(update={"tenant": "rival"}), quiz(), number=1, spends=[]),
    ]
    for step in steps:
        with pytest.raises(NotFoundError):
            step()
    assert quizzes.page(tenant="rival").items == ()


def test_r3_of_many_at_once_exactly_one_asks(quizzes: Quizzes, clock: HandClock) -> None:
    run = begun(quizzes)
    barrier = Barrier(AT_ONCE)

    def take(_: int) -> bool:
        barrier.wait()
        return quizzes.begin(tenant="acme", quiz_id=run.id, asking="generate")[1]

    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        assert sum(pool.map(take, range(AT_ONCE))) == 1
    clock.now += HELD
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        assert sum(pool.map(take, range(AT_ONCE))) == 1
    clock.advance(seconds=16)
    after, ours = quizzes.begin(tenant="acme", quiz_id=run.id, asking="generate")
    assert (ours, after.failed and after.failed.reason) == (False, "timed_out")


def test_r3_a_result_that_is_kept_twice_is_one_attempt_and_paid_for_once(quizzes: Quizzes, table: "Table") -> None:
    run, ours = quizzes.begin(tenant="acme", quiz_id=begun(quizzes).id, asking="generate")
    assert ours
    spend = a_spend(purpose="quiz_generation")
    with losing_replies(table.meta.client, "PutItem"), pytest.raises(StoreError):
        quizzes.add(run, quiz(), number=1, spends=[spend])
    kept = quizzes.add(run, quiz({"question_text": "Late?"}), number=1, spends=[spend])
    assert ([one.quiz for one in kept.attempts], kept.spends) == ([quiz()], (spend,))


def test_every_step_is_kept_and_the_end_is_what_is_read(quizzes: Quizzes, clock: HandClock) -> None:
    run, _ = quizzes.begin(tenant="acme", quiz_id=begun(quizzes).id, asking="generate")
    run = quizzes.add(run, quiz(), number=1, spends=[])
    run = quizzes.validate(run, ())
    run, ours = quizzes.begin(tenant="acme", quiz_id=run.id, asking="evaluate")
    assert ours
    judged = run.attempts[-1].model_copy(update={"checks_run": RULES})
    run = quizzes.judge(run, judged, unchecked=None, spends=[a_spend()])
    clock.advance(seconds=5)
    run = quizzes.finish(tenant="acme", quiz_id=run.id)
    assert quizzes.get(tenant="acme", quiz_id=run.id) == run
    assert (run.state, run.finished_at, run.deadline) == ("clean", clock(), START + timedelta(seconds=30))
    [listed] = quizzes.page(tenant="acme").items
    assert (listed.state, listed.questions, listed.violations, listed.attempts) == ("clean", 1, 0, 1)


def test_what_is_missing_or_broken_off_is_kept(quizzes: Quizzes, clock: HandClock) -> None:
    gone = Unanswered(reason="not_found", details=("There is no curriculum with this id.",))
    assert quizzes.lack(begun(quizzes), gone).failed == gone
    run, _ = quizzes.begin(tenant="acme", quiz_id=begun(quizzes).id, asking="generate")
    free = quizzes.break_off(run, "generate")
    assert free.call is not None
    assert free.call.until == clock()
    assert quizzes.begin(tenant="acme", quiz_id=run.id, asking="generate")[1]
    assert quizzes.give_up(run, gone, number=1, spends=[]).failed == gone


def test_a_quiz_that_is_not_over_is_found_when_its_time_has_passed_and_no_longer_when_it_ended(
    quizzes: Quizzes, clock: HandClock
) -> None:
    run = begun(quizzes)
    clock.advance(seconds=40)
    assert quizzes.unfinished(older_than=timedelta(seconds=30)) == ()
    clock.advance(seconds=30)
    [found] = quizzes.unfinished(older_than=timedelta(seconds=30))
    assert (found.tenant, found.quiz_id) == ("acme", run.id)
    quizzes.finish(tenant="acme", quiz_id=run.id)
    assert quizzes.unfinished(older_than=timedelta(0)) == ()


def test_a_long_quiz_lies_beside_the_table(quizzes: Quizzes, s3: "S3Client") -> None:
    long = QuizCheckRequest(quiz=quiz(*({"explanation": "長" * 1_000} for _ in range(200))))
    run = begun(quizzes, long)
    assert quizzes.get(tenant="acme", quiz_id=run.id).request == long
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket="artifacts")["Contents"]]
    assert all(key.startswith("artifacts/acme/") for key in keys)
