"""The line of evaluations that wait for a batch, gathered window by window: each question once, tenant by tenant."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from touchstone.clock import Deadline
from touchstone.operations.provider_batches import gathering
from touchstone.operations.provider_batches.gathering import SECONDS_FOR_A_BATCH, GatheredQuestions, Gathering
from touchstone.records import PendingEvaluation

WINDOW = 4
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
LONG = SECONDS_FOR_A_BATCH + 600


class _Waiting:
    """Questions of two tenants by turns; a result begins with the question that it was asked for behind."""

    def __init__(self, count: int) -> None:
        self.questions = [
            PendingEvaluation(
                tenant=f"t{number % 2}",
                answer_id=f"a{number:03}",
                request_id=f"r{number:03}",
                requested_at=NOON + timedelta(seconds=number),
                state="deferred",
                due=None,
            )
            for number in range(count)
        ]

    def oldest_cheap(self, *, limit: int, behind: str | None = None) -> tuple[PendingEvaluation, ...]:
        return tuple([one for one in self.questions if behind is None or one.request_id >= behind][:limit])


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Looks at so many waiting questions; the questions of each tenant as they were gathered, window by window."""
    monkeypatch.setattr(gathering, "MOST_READ", WINDOW)

    async def look(count: int, *, seconds: float = LONG, without_money: frozenset[str] = frozenset()) -> Any:
        groups: list[tuple[str, list[str]]] = []

        async def of_tenant(
            _self: Any, context: Any, waiting: Sequence[PendingEvaluation], _deadline: Deadline, stopped: set[str]
        ) -> GatheredQuestions:
            groups.append((context.tenant, [one.request_id for one in waiting]))
            stopped |= without_money & {context.tenant}
            return GatheredQuestions(batches=1, questions=len(waiting))

        monkeypatch.setattr(Gathering, "_of_tenant", of_tenant)
        nothing: Any = None
        evaluations: Any = _Waiting(count)
        leases: Any = SimpleNamespace(acquire=lambda *_, **__: "lease", release=lambda _: None)
        context: Any = lambda tenant: SimpleNamespace(tenant=tenant)  # noqa: E731 - typed as the part that is used
        looked = await Gathering(evaluations=evaluations, leases=leases, context=context, workflows=nothing).run(
            owner="run-1", deadline=Deadline.after(seconds)
        )
        return looked, groups

    return look


@pytest.mark.parametrize("count", [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW - 1, 2 * WINDOW, 3 * WINDOW])
async def test_every_question_is_gathered_once_and_in_order(gathered: Any, count: int) -> None:
    looked, groups = await gathered(count)
    for tenant in (0, 1):
        expected = [f"r{number:03}" for number in range(tenant, count, 2)]
        assert [one for name, group in groups for one in group if name == f"t{tenant}"] == expected
    assert (looked.questions, looked.batches) == (count, len(groups))


async def test_a_tenant_that_may_not_go_on_is_passed_over_in_every_window_to_come(gathered: Any) -> None:
    _, groups = await gathered(3 * WINDOW, without_money=frozenset({"t0"}))
    assert [name for name, _ in groups].count("t0") == 1
    assert [one for name, group in groups for one in group if name == "t1"] == [f"r{n:03}" for n in range(1, 12, 2)]


async def test_without_time_for_a_batch_nothing_is_gathered(gathered: Any) -> None:
    looked, groups = await gathered(3 * WINDOW, seconds=SECONDS_FOR_A_BATCH)
    assert (looked, groups) == (GatheredQuestions(), [])
