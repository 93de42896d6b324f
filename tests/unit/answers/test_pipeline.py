"""The whole job in one process: what a user gets for a request, whatever the judges do."""

import base64
import time
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from tests.support import replies
from tests.support.judges import MOMENT, Line, Script
from touchstone.answers.model import AnswerRecord, ImageSource, Solution, SolveRequest, Status, VerifyRequest
from touchstone.answers.pipeline import deep_evaluate, solve_and_verify, verify_answer
from touchstone.answers.providers import Preferences
from touchstone.answers.retrieval import EarlierSolution, near_keys, problem_key
from touchstone.clock import Deadline
from touchstone.errors import (
    ConflictError,
    DayQuotaError,
    InputError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
)

PROBLEM = "Name the capital of Australia."
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(32)).decode()
UNSURE = replies.verify(confidence=0.79)


def _script(**lines: Sequence[Line]) -> Script:
    return Script(
        {
            "read_image": [replies.image()],
            "analyze": [replies.analyze()],
            "solve": [replies.solve()],
            "verify": [replies.verify()],
            "enrich": [replies.enrich()],
            "evaluate": [replies.evaluate()],
            **{name.replace("__", "/"): line for name, line in lines.items()},
        }
    )


async def _verify(script: Script, **changes: Any) -> AnswerRecord:
    request = VerifyRequest(**({"problem": PROBLEM, "answer": "Canberra"} | changes))
    return await verify_answer(request, judges=script.judges(), clock=lambda: MOMENT)


async def _solve(script: Script, store: "_Store | None" = None, **changes: Any) -> AnswerRecord:
    request = SolveRequest(**({"problem": PROBLEM} | changes))
    return await solve_and_verify(request, judges=script.judges(), store=store, clock=lambda: MOMENT)


async def test_an_answer_of_ones_own_is_verified_and_kept_as_it_came() -> None:
    record = await _verify(_script(), steps="It is Canberra.", subject="geography", difficulty="easy", model="my-model")
    assert (record.kind, record.stage, record.tenant) == ("verify", "finished", "local")
    assert (record.verification_status, record.verification_confidence) == ("verified", 0.95)
    assert (record.subject, record.difficulty, record.language) == ("geography", "easy", "en")
    assert record.best is not None
    assert record.best.solution == Solution(
        answer="Canberra", steps="It is Canberra.", provider="caller", model="my-model"
    )
    assert (record.created_at, record.updated_at) == (MOMENT, MOMENT)
    assert record.cost_usd


@pytest.mark.parametrize(
    ("line", "status", "confidence"),
    [
        (replies.verify(independent_answer="Sydney", confidence=0.8), "verified", 0.8),
        (UNSURE | {"independent_answer": "Sydney"}, "caution", 0.79),
        (replies.failed(), "caution", 0.9),
        (OverloadedError("Overloaded."), "unverified", 0.0),
    ],
)
async def test_an_answer_of_ones_own_is_never_solved_again(line: Line, status: Status, confidence: float) -> None:
    script = _script(verify=[line])
    record = await _verify(script, answer="Sydney")
    assert (record.verification_status, record.verification_confidence) == (status, confidence)
    assert record.attempt_count == 1
    assert {asked.prompt for asked in script.asked} == {"verify"}


async def test_every_record_has_an_id_of_its_own_unless_one_is_given() -> None:
    first, second = [await _verify(_script()) for _ in range(2)]
    assert first.id != second.id
    request = VerifyRequest(problem=PROBLEM, answer="Canberra")
    judges = _script().judges()
    record = await verify_answer(request, judges=judges, tenant="school", answer_id="7", deadline=Deadline.after(30.0))
    assert (record.tenant, record.id) == ("school", "7")


@pytest.mark.parametrize("problem", [" ", "\n\t", "\u3000"])
async def test_a_blank_problem_is_refused(problem: str) -> None:
    with pytest.raises(InputError, match="blank"):
        await _verify(_script(), problem=problem)
    with pytest.raises(InputError, match="blank"):
        await _solve(_script(), problem=problem)


async def test_a_problem_is_analysed_solved_verified_and_enriched() -> None:
    script = _script()
    record = await _solve(script)
    assert (record.kind, record.stage, record.verification_status) == ("solve", "finished", "verified")
    assert (record.subject, record.difficulty, record.knowledge_points) == ("geography", "easy", ("capital cities",))
    assert record.best is not None
    assert record.best.solution.answer == "Canberra"
    assert record.enrichment is not None
    assert [spend.purpose for spend in record.spends] == ["analyze", "solve", "verify", "enrich"]
    assert all(spend.latency_ms > 0 for spend in record.spends), "how long each took is told on its judge's card"
    assert script.prompts() == ["claude/analyze", "claude/solve", "gemini/verify", "claude/enrich"]
    assert record.deep_evaluation_wanted
    assert record.evaluation.state == "none"


# verifications in order ─> attempts made, the one returned, its badge: the table of routing, end to end
TABLE: list[tuple[list[Line], int, int, Status]] = [
    ([replies.verify(confidence=0.8)], 1, 1, "verified"),
    ([RefusedError("No.")], 1, 1, "unverified"),
    ([UNSURE, replies.verify()], 2, 2, "verified"),
    ([replies.failed(), replies.verify()], 2, 2, "verified"),
    ([replies.failed(), replies.failed()], 2, 1, "caution"),
    ([replies.failed(), UNSURE], 2, 2, "caution"),
    ([UNSURE, replies.failed()], 2, 1, "caution"),
    ([replies.failed(), RefusedError("No.")], 2, 2, "unverified"),
    ([UNSURE, RefusedError("No.")], 2, 1, "unverified"),
]


@pytest.mark.parametrize(("verifications", "attempts", "best", "status"), TABLE)
async def test_every_row_of_the_table_with_a_second_provider_on_a_retry(
    verifications: list[Line], attempts: int, best: int, status: Status
) -> None:
    script = _script(verify=verifications)
    record = await _solve(script)
    assert (record.attempt_count, record.best_attempt, record.verification_status) == (attempts, best, status)
    assert record.best is not None
    assert record.best.verification is not None
    assert record.verification_confidence == record.best.verification.confidence
    solvers = [attempt.solution.provider for attempt in record.attempts]
    assert len(set(solvers)) == attempts
    (enriching,) = [asked for asked in script.asked if asked.prompt == "enrich"]
    assert ("Nobody has confirmed this solution" in enriching.system) == (status != "verified")


async def test_the_providers_that_are_preferred_solve() -> None:
    script = _script()
    request = SolveRequest(problem=PROBLEM)
    preferences = Preferences(pins={"geography": "openai"})
    record = await solve_and_verify(request, judges=script.judges(), preferences=preferences)
    assert record.attempts[0].solution.provider == "openai"


async def test_a_retry_that_nobody_can_make_leaves_the_first_attempt_with_its_verdict() -> None:
    spent = DayQuotaError("The day is spent.")
    script = _script(claude__solve=[replies.solve(), spent], solve=[spent], verify=[replies.failed()])
    record = await _solve(script)
    assert (record.stage, record.attempt_count, record.verification_status) == ("finished", 1, "caution")


async def test_where_nobody_can_solve_it_there_is_no_answer_and_no_badge() -> None:
    record = await _solve(_script(solve=[DayQuotaError("The day is spent.")]))
    assert (record.stage, record.verification_status, record.attempts) == ("failed", None, ())
    assert record.failure is not None
    assert "The day is spent." in record.failure
    assert [spend.purpose for spend in record.spends] == ["analyze"]


async def test_without_any_key_it_says_which_to_set() -> None:
    record = await _solve(Script({}, providers=()))
    assert record.stage == "failed"
    assert record.failure is not None
    assert "GEMINI_API_KEY" in record.failure
    pictured = await _solve(Script({}, providers=()), problem=None, image=ImageSource(data_base64=PNG))
    assert pictured.failure == record.failure


@pytest.mark.parametrize("name", ["analyze", "enrich"])
async def test_an_answer_does_not_depend_on_what_surrounds_it(name: Literal["analyze", "enrich"]) -> None:
    record = await _solve(_script(**{name: [RefusedError("No.")]}))
    assert (record.stage, record.verification_status) == ("finished", "verified")
    assert (record.subject is None) is (name == "analyze")
    assert (record.enrichment is None) is (name == "enrich")


async def test_what_the_caller_says_of_the_subject_stays() -> None:
    assert (await _solve(_script(), subject="history")).subject == "history"


async def test_a_picture_is_read_first() -> None:
    script = _script(read_image=[replies.image(problem="澳大利亚的首都是哪座城市？")])
    record = await _solve(script, problem=None, image=ImageSource(data_base64=PNG))
    assert (record.problem, record.language) == ("澳大利亚的首都是哪座城市？", "zh")
    assert record.verification_status == "verified"
    assert record.spends[0].purpose == "ocr"
    assert "解答题目原文所问" in next(asked.system for asked in script.asked if asked.prompt == "solve")


@pytest.mark.parametrize(
    ("line", "failure", "spends"),
    [
        (replies.image(readable=False, obstacle="The exponent is blurred."), "The exponent is blurred.", 1),
        (RefusedError("It declined."), "It declined.", 0),
    ],
)
async def test_a_picture_that_cannot_be_read_is_no_answer(line: Line, failure: str, spends: int) -> None:
    record = await _solve(_script(read_image=[line]), problem=None, image=ImageSource(data_base64=PNG))
    assert (record.stage, record.problem, record.verification_status) == ("failed", None, None)
    assert record.failure is not None
    assert failure in record.failure
    assert len(record.spends) == spends


async def test_what_is_no_picture_is_refused_before_anything_is_asked() -> None:
    script = _script()
    with pytest.raises(InputError, match="a PDF"):
        await _solve(script, problem=None, image=ImageSource(data_base64=base64.b64encode(b"%PDF-1.7 text").decode()))
    assert script.asked == []


class _Store:
    def __init__(self, problem: str) -> None:
        solution = Solution(answer="Canberra", steps="It is Canberra.", provider="openai", model="m")
        self._earlier = EarlierSolution(answer_id="42", problem=problem, solution=solution, confidence=0.9)

    async def exact(self, key: str) -> EarlierSolution | None:
        return self._earlier if problem_key(self._earlier.problem) == key else None

    async def near(self, keys: Sequence[str]) -> Sequence[EarlierSolution]:
        return [self._earlier] if set(near_keys(self._earlier.problem)) & set(keys) else []


async def test_a_problem_that_was_verified_before_is_answered_at_once() -> None:
    script = _script()
    record = await _solve(script, _Store(PROBLEM))
    assert (record.verification_status, record.verification_confidence) == ("verified", 0.9)
    assert record.retrieved_from == "42"
    assert record.best is not None
    assert record.best.verification is not None
    assert record.best.verification.method == "retrieved"
    assert {asked.prompt for asked in script.asked} == {"analyze", "enrich"}


async def test_a_retrieved_answer_can_be_declined() -> None:
    script = _script()
    record = await _solve(script, _Store(PROBLEM), use_retrieved=False)
    assert record.retrieved_from is None
    assert "solve" in {asked.prompt for asked in script.asked}


async def test_a_near_identical_problem_is_shown_and_not_copied() -> None:
    problem = (
        "Name the capital city of Australia, say in which of its territories it lies, since which year it has been the "
        "seat of the parliament, and which two larger cities had wanted to become the capital before it was chosen."
    )
    script = _script()
    record = await _solve(script, _Store(problem.replace("chosen", "founded")), problem=problem)
    assert record.retrieved_from is None
    assert "founded" in next(asked.user for asked in script.asked if asked.prompt == "solve")


async def test_nobody_waits_longer_than_the_deadline() -> None:
    started = time.perf_counter()
    request = SolveRequest(problem=PROBLEM)
    record = await solve_and_verify(request, judges=_script(solve=[30.0]).judges(), deadline=Deadline.after(0.2))
    assert time.perf_counter() - started < 15.0
    assert record.stage == "failed"


async def test_a_finished_answer_is_evaluated_afterwards() -> None:
    script = _script()
    record = await _solve(script)
    evaluated = await deep_evaluate(record, judges=script.judges(), clock=lambda: MOMENT)
    assert evaluated.deep_evaluation is not None
    assert evaluated.deep_evaluation.overall == pytest.approx(0.7)
    assert evaluated.evaluation.state == "done"
    assert [spend.purpose for spend in evaluated.spends][-1] == "evaluate"


async def test_an_evaluation_that_cannot_be_made_is_an_error_and_no_score() -> None:
    record = await _solve(_script())
    with pytest.raises(RefusedError):
        await deep_evaluate(record, judges=_script(evaluate=[RefusedError("No.")]).judges())
    with pytest.raises(MisconfiguredError, match="GEMINI_API_KEY"):
        await deep_evaluate(record, judges=Script({}, providers=()).judges())
    failed = await _solve(_script(solve=[RefusedError("No.")]))
    with pytest.raises(ConflictError, match="no answer"):
        await deep_evaluate(failed, judges=_script().judges())
