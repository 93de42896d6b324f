"""The steps of the state machines, with real SDKs asking judges on loopback."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from functions import answers
from functions.answers import enrich, evaluate, fail, solve, verify
from functions.composition import stores, work
from tests.support import replies
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.events import event
from tests.support.providers import ProviderServer, error, hang, success
from tests.support.wire import Behaviour
from touchstone.answers.model import AnswerRecord, ImageSource, SolveRequest, VerifyRequest
from touchstone.errors import StoreError
from touchstone.operations.answers.finishing import NOT_CARRIED_OUT
from touchstone.operations.answers.intake import SYNC_SECONDS
from touchstone.records import Answers
from touchstone.references import Reference

PROBLEM = "Name the capital of Australia."
UNSURE = replies.verify(confidence=0.79)
FAILED = replies.failed(independent_answer="Melbourne")
TENANT = "demo"


def _solved(deployment: Deployment, **changes: Any) -> AnswerRecord:
    request = SolveRequest(**({"problem": PROBLEM, "deep_evaluation": False} | changes))
    record = work.intake(TENANT).solve(request, key=None)
    return stores.answers().get(Reference(TENANT, "answer", record.id))


def _verified(seconds: float = SYNC_SECONDS, **changes: Any) -> AnswerRecord:
    request = VerifyRequest(**({"problem": PROBLEM, "answer": "Canberra"} | changes))
    arrived_ms = time.time_ns() // 1_000_000 - round((SYNC_SECONDS - seconds) * 1000)
    return work.intake(TENANT).verify(request, key=None, received_at_ms=arrived_ms)


def _verifications(judges: ProviderServer, *said: dict[str, Any] | Behaviour) -> None:
    """What the verifying judge says, one after the other. Each provider solves in words of its own."""
    left = [each if isinstance(each, Behaviour) else success(each) for each in said]

    def respond(asked: Any) -> Behaviour:
        if asked.title == "VerifyReply":
            return left.pop(0) if len(left) > 1 else left[0]
        if asked.title == "SolveReply":
            return success(replies.solve(steps=[f"{asked.provider} knows it."]))
        return next(rule.behaviour for rule in reversed(judges.exchange._rules) if rule.fits(asked))

    judges.script(respond)


type Row = tuple[list[dict[str, Any] | Behaviour], int, int, str, float]
"""Verifications in order, then: attempts made, the one returned, the badge, the confidence shown."""
TABLE: list[Row] = [
    ([replies.verify(confidence=0.8)], 1, 1, "verified", 0.8),
    ([error("refused")], 1, 1, "unverified", 0.0),
    ([UNSURE, replies.verify()], 2, 2, "verified", 0.95),
    ([FAILED, replies.verify()], 2, 2, "verified", 0.95),
    ([FAILED, FAILED], 2, 1, "caution", 0.9),
    ([FAILED, UNSURE], 2, 2, "caution", 0.79),
    ([UNSURE, FAILED], 2, 1, "caution", 0.79),
    ([FAILED, error("refused")], 2, 2, "unverified", 0.0),
    ([UNSURE, error("refused")], 2, 1, "unverified", 0.79),
]


@pytest.mark.parametrize("row", TABLE)
def test_every_row_of_the_table_with_a_second_provider_on_a_retry(
    judged: Deployment, judges: ProviderServer, row: Row
) -> None:
    said, attempts, best, status, confidence = row
    _verifications(judges, *said)
    record = _solved(judged)
    assert (record.stage, record.attempt_count, record.best_attempt) == ("finished", attempts, best)
    assert (record.verification_status, record.verification_confidence) == (status, confidence)
    assert len({attempt.solution.provider for attempt in record.attempts}) == attempts
    assert record.enrichment is not None


def _first_time(instead: Callable[..., Any], then: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does one thing when it is called first, and another from then on."""
    left = [instead]

    def either(*given: Any, **named: Any) -> Any:
        return (left.pop() if left else then)(*given, **named)

    return either


def test_r20_every_step_repeated_after_its_effect_doubles_nothing(judged: Deployment, judges: ProviderServer) -> None:
    judged.machines.repeats = 2
    _verifications(judges, replies.failed(), replies.verify())
    record = _solved(judged, deep_evaluation=True)
    assert (record.attempt_count, record.verification_status) == (2, "verified")
    assert record.evaluation.state == "done"
    asked = [call.title for call in judges.calls]
    assert sorted(asked) == sorted(
        ["AnalyzeReply", "SolveReply", "VerifyReply", "SolveReply", "VerifyReply", "EnrichReply", "EvaluateReply"]
    )
    assert len(record.spends) == len(judges.calls)
    volume = stores.statistics().volume(TENANT, days=1)
    assert sum(volume[-1].statuses.values()) == 1
    assert stores.statistics().evaluations(TENANT)["done"] == 1


def test_a_retry_that_no_provider_can_make_ends_with_the_first_attempt(
    judged: Deployment, judges: ProviderServer
) -> None:
    solved = 0

    def once(asked: Any) -> Behaviour:
        nonlocal solved
        if asked.title == "VerifyReply":
            return success(replies.failed())
        if asked.title == "SolveReply":
            solved += 1
            return success(replies.solve()) if solved == 1 else error("day_quota", limit=1)
        return next(rule.behaviour for rule in reversed(judges.exchange._rules) if rule.fits(asked))

    judges.script(once)
    record = _solved(judged)
    assert (record.stage, record.attempt_count, record.verification_status) == ("finished", 1, "caution")


def test_the_very_same_problem_is_answered_from_what_was_verified(judged: Deployment, judges: ProviderServer) -> None:
    first = _solved(judged)
    before = len(judges.calls)
    again = _solved(judged)
    assert (again.retrieved_from, again.verification_status) == (first.id, "verified")
    assert "SolveReply" not in [call.title for call in judges.calls[before:]]


RUBY = replies.verify(independent_answer="Ruby")
EMERALD = replies.verify(independent_answer="an emerald")
FAILED_GEM = replies.failed(independent_answer="Ruby")


@pytest.mark.parametrize(
    ("said", "decided", "providers"),
    [
        ([RUBY, RUBY], ("unverified", "other_answer"), ["gemini", "claude"]),
        ([RUBY, EMERALD], ("verified", None), ["gemini", "claude"]),
        ([RUBY, FAILED_GEM], ("caution", None), ["gemini", "claude"]),
        ([RUBY, error("overloaded")], ("unverified", "overloaded"), ["gemini"]),
        ([FAILED_GEM], ("caution", None), ["gemini"]),
    ],
)
def test_a_judge_with_another_answer_in_words_passes_nothing_and_another_provider_is_asked_once(
    judged: Deployment,
    judges: ProviderServer,
    said: list[dict[str, Any] | Behaviour],
    decided: tuple[str, str | None],
    providers: list[str],
) -> None:
    _verifications(judges, *said)
    record = _verified(problem="Which green gem is named in the poem?", answer="Emerald")
    assert record.stage == "finished"
    assert [spend.provider for spend in record.spends] == providers
    verification = record.attempts[0].verification
    assert verification is not None
    assert (record.verification_status, verification.skip_reason) == decided


def test_three_judges_verify_each_attempt_and_a_split_majority_is_solved_once_more(
    judged: Deployment, judges: ProviderServer
) -> None:
    against = success(replies.failed(confidence=0.9, independent_answer="Sydney"))
    judges.rule(against, schema="VerifyReply", provider="openai")
    record = _solved(judged, judges=3)
    assert (record.stage, record.judges, record.attempt_count) == ("finished", 3, 2)
    for attempt in record.attempts:
        assert attempt.verification is not None
        assert [vote.passed for vote in attempt.verification.votes] == [True, True, False]
        assert (attempt.verification.passed, attempt.verification.split) == (True, True)
    assert record.verification_status == "caution"
    assert record.verification_confidence == pytest.approx(0.667, abs=0.001)


def test_what_fewer_judges_verified_does_not_answer_who_wants_several(
    judged: Deployment, judges: ProviderServer
) -> None:
    first = _solved(judged)
    assert first.verification_status == "verified"
    again = _solved(judged, judges=2)
    assert (again.retrieved_from, again.verification_status) == (None, "verified")
    assert _solved(judged, judges=2).retrieved_from == again.id


def test_what_would_not_be_verified_today_is_verified_anew_and_not_taken_from_the_store(
    judged: Deployment, judges: ProviderServer
) -> None:
    first = _solved(judged)

    def judged_before_the_rule(record: AnswerRecord) -> AnswerRecord:
        (attempt,) = record.attempts
        assert attempt.verification is not None
        verdict = attempt.verification.model_copy(update={"independent_answer": "Melbourne"})
        return record.model_copy(update={"attempts": (attempt.model_copy(update={"verification": verdict}),)})

    stores.answers().change(first.ref, judged_before_the_rule)
    again = _solved(judged)
    assert (again.retrieved_from, again.verification_status) == (None, "verified")
    assert again.attempts[0].verification is not None
    assert (again.attempts[0].verification.method, again.attempts[0].verification.independent_answer) == (
        "judge",
        "Canberra",
    )
    assert _solved(judged).retrieved_from == again.id


def test_a_picture_is_read_and_its_problem_solved(judged: Deployment, judges: ProviderServer) -> None:
    key = f"{TENANT}/images/problem"
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=b"\x89PNG\r\n\x1a\n" + bytes(64))
    record = _solved(judged, problem=None, image=ImageSource(s3_key=key))
    assert (record.problem, record.verification_status) == ("Name the capital of Australia.", "verified")
    assert judges.calls[0].images == 1


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (success(replies.image(readable=False, problem=None, obstacle="canary: it is blurred")), "blurred"),
        (error("refused"), "declined"),
    ],
)
def test_a_picture_that_nobody_can_read_says_why_in_the_record_and_nowhere_else(
    judged: Deployment, judges: ProviderServer, said: Behaviour, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key = f"{TENANT}/images/problem"
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=b"\x89PNG\r\n\x1a\n" + bytes(64))
    judges.rule(said, schema="ImageReply")
    record = _solved(judged, problem=None, image=ImageSource(s3_key=key))
    assert record.stage == "failed"
    assert record.failure is not None
    assert record.failure.startswith("The image could not be read")
    assert why in record.failure or why == "declined"
    assert "canary" not in "".join(capsys.readouterr())


def test_a_verification_that_never_came_back_is_unverified_with_its_reason(judged: Deployment) -> None:
    judged.machines.lost = frozenset({"verify"})
    record = _solved(judged)
    assert (record.stage, record.verification_status) == ("finished", "unverified")
    verification = record.attempts[-1].verification
    assert verification is not None
    assert verification.skip_reason == "timed_out"


@pytest.mark.parametrize("own_answer", [False, True])
def test_a_verification_that_broke_says_so_and_not_that_it_was_late(
    judged: Deployment, monkeypatch: pytest.MonkeyPatch, own_answer: bool
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise StoreError("Throttled.")

    stored = "finish" if own_answer else "set_verification"
    monkeypatch.setattr(Answers, stored, _first_time(broken, getattr(Answers, stored)))
    record = _verified() if own_answer else _solved(judged)
    verification = record.attempts[-1].verification
    assert verification is not None
    assert (record.verification_status, verification.skip_reason) == ("unverified", "overloaded")
    assert verification.error == NOT_CARRIED_OUT


@pytest.mark.parametrize("lost", ["retry", "verify", "enrich"])
def test_what_was_answered_is_returned_where_the_rest_of_the_way_breaks_off(
    judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    dead: set[str] = {"enrich"} if lost != "retry" else set()
    judged.machines.lost = frozenset(dead | ({"verify"} if lost == "verify" else set()))
    _verifications(judges, replies.failed() if lost == "retry" else replies.verify())
    solving = solve

    def killed(event: Any, context: Any) -> dict[str, Any]:
        if event.get("number") == 2:
            raise TimeoutError("Sandbox.Timedout")
        return solving(event, context)

    monkeypatch.setattr(answers, "solve", killed)
    record = _solved(judged, deep_evaluation=True)
    assert (record.stage, record.failure, record.attempt_count, record.best_attempt) == ("finished", None, 1, 1)
    assert record.verification_status == {"retry": "caution", "verify": "unverified", "enrich": "verified"}[lost]
    assert record.evaluation.state == "done"


def test_without_any_attempt_the_record_says_that_there_is_no_answer(judged: Deployment) -> None:
    judged.machines.lost = frozenset({"solve"})
    record = _solved(judged)
    assert (record.stage, record.attempt_count, record.evaluation.state) == ("failed", 0, "none")
    assert record.failure is not None
    assert "States.Timeout" in record.failure


def test_r13_a_judge_that_hangs_is_not_waited_for(judged: Deployment, judges: ProviderServer) -> None:
    _verified()  # loads the SDK
    judges.rule(hang(30), schema="VerifyReply")
    started = time.monotonic()
    record = _verified(seconds=1.5, problem="Name the capital of Austria.", answer="Vienna")
    assert time.monotonic() - started < 20  # the judge hangs for 30; the deadline itself is measured elsewhere
    assert record.verification_status == "unverified"
    verification = record.attempts[0].verification
    assert verification is not None
    assert verification.skip_reason == "timed_out"


def test_the_samples_of_steps_name_an_answer_that_is_not_there(deployment: Deployment) -> None:
    for handler, name in (
        (solve, "step_solve"),
        (verify, "step_verify"),
        (enrich, "step_enrich"),
        (fail, "step_fail"),
        (evaluate, "step_evaluate"),
    ):
        with pytest.raises(Exception, match="no answer with this id"):
            handler(event(name), Context())
