"""What to label next: found also after a bad day and behind what is labelled, within a bounded number of reads."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.house import build
from tests.support.records import START, an_answer, an_attempt
from touchstone.answers.model import Attempt, JudgeVote
from touchstone.errors import SkipReason
from touchstone.judges.sureness import NO_THRESHOLDS
from touchstone.operations.labels import drawing
from touchstone.operations.labels.drawing import Drawn, LabelTasks, label_tasks
from touchstone.records import Answers, Label, Labels
from touchstone.records.ulids import derived_ulid
from touchstone.references import Reference
from touchstone.statistics.sampling import pool_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


class Shelf:
    """A tenant's answers of one day, and the labels of them."""

    def __init__(self, table: "Table") -> None:
        self.answers = build(table, {}).answers
        self.labels = Labels(table)
        self.read: list[str] = []
        self._many = 0

    def put(self, attempt: Attempt, *, status: Any = "verified") -> str:
        """An answer that has ended with this attempt; its id."""
        self._many += 1
        found = attempt.verification
        at = START + timedelta(seconds=self._many)
        record = an_answer(
            at=at,
            answer_id=derived_ulid(at, "acme", str(self._many)),
            kind="verify",
            stage="finished",
            attempts=(attempt,),
            best_attempt=1,
            verification_status=status,
            verification_confidence=None if found is None or found.passed is None else found.confidence,
        )
        return self.answers.create(record).id

    def judged(self, confidence: float) -> str:
        """An answer that a judge is so sure of."""
        return self.put(by_judge(an_attempt(confidence=confidence)))

    def skipped(self, why: SkipReason = "day_quota") -> str:
        """An answer for which no judge said anything."""
        return self.put(an_attempt(passed=None, skip_reason=why), status="unverified")

    def label(self, answer_id: str) -> None:
        """Have somebody label an answer."""
        self.labels.put(
            Label(
                tenant="acme",
                kind="quick_verify",
                record_id=answer_id,
                item="1",
                label="right",
                verdict="right",
                confidence=0.82,
                judge=None,
                labelled_by="somebody",
                labelled_at=START,
            )
        )

    def draw(self, sample: Drawn, count: int = 5) -> LabelTasks:
        """What to label next, and in `read` whose records were read for it."""
        self.read.clear()
        counting = _Counting(self.answers, self.read)
        return label_tasks(counting, self.labels, tenant="acme", sample=sample, count=count, thresholds=NO_THRESHOLDS)  # type: ignore[arg-type]


class _Counting:
    """The answers, and which of them were read whole."""

    def __init__(self, answers: Answers, read: list[str]) -> None:
        self.page = answers.page
        self._answers, self._read = answers, read

    def find_many(self, *, tenant: str, which: Sequence[Reference]) -> Any:
        self._read.extend(one.id for one in which)
        return self._answers.find_many(tenant=tenant, which=which)


@pytest.fixture
def shelf(table: "Table") -> Shelf:
    return Shelf(table)


def by_judge(attempt: Attempt, **fields: Any) -> Attempt:
    """The attempt as a judge with a name decided it."""
    assert attempt.verification is not None
    named = {"model": "gemini-3.8-flash", "prompt_version": "0" * 16}
    return attempt.model_copy(update={"verification": attempt.verification.model_copy(update=named | fields)})


def by_panel(*said: tuple[bool | None, float, SkipReason | None], **fields: Any) -> Attempt:
    """An attempt of which several judges said this, and none decided alone."""
    votes = tuple(
        JudgeVote(
            passed=passed,
            confidence=confidence,
            skip_reason=skip_reason,
            provider="claude",
            model=f"model-{number}",
            prompt_version="0" * 16,
        )
        for number, (passed, confidence, skip_reason) in enumerate(said)
    )
    return by_judge(an_attempt(passed=None), **{"model": None, "prompt_version": None, "votes": votes} | fields)


def drawn(found: LabelTasks) -> list[str]:
    return [one.record_id for one in found.items]


def of_pool(ids: Sequence[str], sample: Drawn) -> list[str]:
    return [one for one in ids if pool_of(f"{one}#1") == sample]


def test_after_a_bad_day_the_unsure_are_found_behind_what_no_judge_spoke_of(shelf: Shelf) -> None:
    unsure = of_pool([shelf.judged(0.82) for _ in range(12)], "unsure")
    reasons: tuple[SkipReason, ...] = ("day_quota", "timed_out")
    for number in range(150):
        shelf.skipped(reasons[number % 2])
    found = shelf.draw("unsure", count=20)
    assert sorted(drawn(found)) == sorted(unsure)
    assert unsure, "the pool has some"
    assert found.not_looked_at == 0


def test_what_a_check_decided_is_not_called_unsure(shelf: Shelf) -> None:
    for _ in range(12):
        shelf.put(by_judge(an_attempt(confidence=1.0), method="proof", model=None, derivation=("2 + 2 = 4",)))
    assert shelf.draw("unsure", count=20).items == ()
    assert shelf.draw("random", count=20).items != (), "rates count proofs, too"


@pytest.mark.parametrize(
    "panel",
    [
        by_panel((True, 0.99, None), (False, 0.99, None), split=True),
        by_panel((True, 0.55, "unsure"), (False, 0.5, "unsure"), (True, 0.99, None), skip_reason="split", split=True),
        by_panel((True, 0.55, "unsure"), (True, 0.5, "unsure"), skip_reason="unsure"),
        by_panel((True, 0.99, None), (True, 0.99, None), (False, 0.99, None), passed=True, confidence=0.66, split=True),
    ],
)
def test_a_panel_that_did_not_agree_comes_before_a_judge_near_its_threshold(shelf: Shelf, panel: Attempt) -> None:
    judged = [shelf.judged(0.81) for _ in range(12)]
    panels = [shelf.put(panel, status="unverified") for _ in range(12)]
    found = drawn(shelf.draw("unsure", count=20))
    first = of_pool(panels, "unsure")
    assert first, "the pool has some"
    assert sorted(found[: len(first)]) == sorted(first)
    assert sorted(found[len(first) :]) == sorted(of_pool(judged, "unsure"))


def test_a_panel_of_which_one_judge_spoke_is_as_unsure_as_that_one(shelf: Shelf) -> None:
    sure = [
        shelf.put(by_panel((True, 0.99, None), (None, 0.0, "timed_out"), skip_reason="timed_out"), status="unverified")
        for _ in range(8)
    ]
    near = [shelf.judged(0.81) for _ in range(8)]
    found = drawn(shelf.draw("unsure", count=20))
    many = len(of_pool(near, "unsure"))
    assert sorted(found[:many]) == sorted(of_pool(near, "unsure"))
    assert sorted(found[many:]) == sorted(of_pool(sure, "unsure"))


@pytest.mark.parametrize("sample", ["random", "unsure"])
def test_all_of_a_store_that_does_not_grow_can_be_labelled(shelf: Shelf, sample: Drawn) -> None:
    left = set(of_pool([shelf.judged(0.82) for _ in range(150)], sample))
    assert len(left) > 60, "more than were once looked at"
    while left:
        found = shelf.draw(sample, count=20)
        new = set(drawn(found))
        assert new, f"{len(left)} are left to label"
        assert new <= left
        left -= new
        for answer_id in new:
            shelf.label(answer_id)
    last = shelf.draw(sample)
    assert (last.items, last.not_looked_at, shelf.read) == ((), 0, []), "what is labelled is known without its record"


@pytest.mark.parametrize("sample", ["random", "unsure"])
def test_reads_are_bounded_and_what_was_not_looked_at_is_told(
    shelf: Shelf, sample: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "MOST_LOOKED_AT", 10)
    skipped = of_pool([shelf.skipped() for _ in range(60)], sample)
    found = shelf.draw(sample)
    assert (found.items, len(shelf.read)) == ((), 10)
    assert found.not_looked_at == len(skipped) - 10 > 0
