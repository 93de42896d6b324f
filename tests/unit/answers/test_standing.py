"""What was verified once answers again only where its verdict would be given today."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support import replies
from tests.support.judges import Script
from touchstone.answers.answer_key import AnswerKey
from touchstone.answers.model import JudgeVote, Solution, SolveRequest, Verification
from touchstone.answers.pipeline import solve_and_verify
from touchstone.answers.retrieval import EarlierSolution, retrieve, retrieve_exact
from touchstone.judges.base import JudgeCount
from touchstone.judges.sureness import SureFrom

RIDDLE = "Which green gem is named in the poem?"
VERDICT = Verification(passed=True, confidence=0.95, method="judge", independent_answer="emerald")


class _Store:
    """One earlier solution, under whatever key."""

    def __init__(self, answer: str = "Emerald", *, problem: str = RIDDLE, **verdict: Any) -> None:
        changed = VERDICT.model_copy(update=verdict)
        self.earlier = EarlierSolution(
            answer_id="7",
            problem=problem,
            solution=Solution(answer=answer, provider="openai", model="m"),
            confidence=changed.confidence,
            verdict=changed,
        )

    async def exact(self, key: str) -> EarlierSolution | None:
        return self.earlier if key else None

    async def near(self, keys: Sequence[str]) -> Sequence[EarlierSolution]:
        return [self.earlier] if keys else []


def _vote(confidence: float, **changes: Any) -> JudgeVote:
    return JudgeVote(passed=True, confidence=confidence, independent_answer="emerald").model_copy(update=changes)


BY_LABELS = SureFrom(confidence=0.7, labels=212, wanted=0.95, card="c" * 16, version="v" * 8)
"""Labels ask less of the judge than the 0.8 that is asked without them."""
STANDING = [
    _Store(),
    _Store(independent_answer=None),
    _Store(confidence=0.8),
    _Store("12", independent_answer="12 gems"),
    _Store(method="proof", independent_answer="another form"),
    _Store(confidence=0.72, sure_from=BY_LABELS),
    _Store(confidence=0.76, votes=(_vote(0.8), _vote(0.72, sure_from=BY_LABELS))),
]
FALLEN = [
    _Store(independent_answer="Ruby"),
    _Store("翡翠", independent_answer="红宝石"),
    _Store("12", independent_answer="13"),
    _Store("x^2 + 1", independent_answer="x^2 - 1"),
    _Store(confidence=0.79),
    _Store(contradicted=True),
    _Store(passed=None),
    _Store(passed=False),
]


def _votes(*owns: str) -> tuple[JudgeVote, ...]:
    return tuple(JudgeVote(passed=True, confidence=0.95, independent_answer=own) for own in owns)


_SPLIT_VOTES = (*_votes("emerald", "an emerald"), JudgeVote(passed=False, confidence=0.5))


@pytest.mark.parametrize(
    ("store", "wanted", "answers"),
    [
        (_Store(), 1, True),
        (_Store(), "until_sure", True),
        (_Store(), 2, False),
        (_Store(method="proof"), 3, True),
        (_Store(votes=_votes("emerald", "an emerald")), 2, True),
        (_Store(votes=_votes("emerald", "an emerald")), 3, False),
        (_Store(votes=_votes("emerald", "Ruby")), 2, False),
        (_Store(votes=_votes("emerald", "Ruby")), 1, False),
        (_Store(votes=_SPLIT_VOTES, split=True), 3, False),
        (_Store(votes=_SPLIT_VOTES, split=True), 2, False),
        (_Store(votes=_SPLIT_VOTES, split=True), 1, False),
    ],
)
async def test_who_wants_several_judges_gets_no_verdict_of_fewer(
    store: _Store, wanted: JudgeCount, answers: bool
) -> None:
    assert (await retrieve_exact(RIDDLE, store, judges=wanted) is not None) == answers
    assert ((await retrieve(RIDDLE, store, judges=wanted)).exact is not None) == answers


@pytest.mark.parametrize("store", STANDING)
async def test_a_verdict_that_would_be_given_today_answers_at_once(store: _Store) -> None:
    assert await retrieve_exact(RIDDLE, store) == store.earlier
    script = Script({"analyze": [replies.analyze()], "enrich": [replies.enrich()]})
    record = await solve_and_verify(SolveRequest(problem=RIDDLE), judges=script.judges(), store=store)
    assert (record.retrieved_from, record.verification_status) == ("7", "verified")
    assert record.verification_confidence == store.earlier.confidence


@pytest.mark.parametrize("store", FALLEN)
async def test_one_that_would_not_be_is_neither_an_answer_nor_an_example(store: _Store) -> None:
    assert await retrieve_exact(RIDDLE, store) is None
    assert (await retrieve(RIDDLE, store)).examples == ()


async def test_the_problem_must_be_the_same_text() -> None:
    assert await retrieve_exact(RIDDLE, _Store(problem=RIDDLE.replace("green", "red"))) is None


async def test_where_only_a_confidence_is_kept_it_decides() -> None:
    store = _Store()
    for confidence, found in ((0.8, True), (0.79, False)):
        store.earlier = EarlierSolution(
            answer_id="7", problem=RIDDLE, solution=store.earlier.solution, confidence=confidence
        )
        assert (await retrieve_exact(RIDDLE, store) is not None) is found


async def test_without_algebra_what_needs_it_is_not_shown_to_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    async def missing(*_: object) -> None:
        raise ModuleNotFoundError

    def unloaded(*_: object) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr("touchstone.answers.checking.same_value", missing)
    assert await retrieve_exact(RIDDLE, _Store()) is None
    assert await retrieve_exact(RIDDLE, _Store(method="proof")) is not None
    monkeypatch.setattr("touchstone.answers.retrieval.meets", unloaded)
    assert await retrieve_exact(RIDDLE, _Store(), AnswerKey(expected=("Emerald",))) is None


async def test_what_a_key_decided_stands_for_that_key_alone() -> None:
    store = _Store(method="expected")
    assert await retrieve_exact(RIDDLE, store) is None
    answer = store.earlier.solution.answer
    assert await retrieve_exact(RIDDLE, store, AnswerKey(expected=(answer,))) == store.earlier
    assert await retrieve_exact(RIDDLE, store, AnswerKey(expected=("something else",))) is None


async def test_the_library_verifies_anew_what_would_not_be_verified_today() -> None:
    script = Script(
        {
            "analyze": [replies.analyze()],
            "solve": [replies.solve(answer="Emerald")],
            "verify": [replies.verify(independent_answer="emerald")],
            "enrich": [replies.enrich()],
        }
    )
    request = SolveRequest(problem=RIDDLE)
    record = await solve_and_verify(request, judges=script.judges(), store=_Store(independent_answer="Ruby"))
    assert (record.retrieved_from, record.verification_status) == (None, "verified")
    assert "gemini/verify" in script.prompts()
    record = await solve_and_verify(request, judges=script.judges(), store=_Store())
    assert record.retrieved_from == "7"
