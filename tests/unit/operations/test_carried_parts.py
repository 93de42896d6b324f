"""A job with parts is started again once nobody carries it, and not while a part of it waits for its next try."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.clocks import StandingClock
from touchstone.attempts import LEASE
from touchstone.operations.jobs.restarts import BROKEN_OFF, GIVEN_UP_AFTER, PartedJob
from touchstone.parts import PartsProgress
from touchstone.references import Reference
from touchstone.surfaces.experiments.record import ExperimentRecord

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
STALLED = timedelta(minutes=10)
SECOND = timedelta(seconds=1)
WHICH = Reference("acme", "experiment", "e")


@pytest.mark.parametrize(
    ("until", "at", "retry", "finished", "restarted"),
    [
        (None, None, None, False, True),
        (None, None, None, True, False),
        (-STALLED, -LEASE - STALLED, -STALLED, False, True),
        (-STALLED + SECOND, None, None, False, False),
        (None, -LEASE - STALLED + SECOND, None, False, False),
        (None, None, -STALLED + SECOND, False, False),
        (-STALLED, -LEASE - STALLED, timedelta(hours=6), False, False),
    ],
)
def test_it_is_started_again_where_no_part_is_at_work_or_put_off(
    *, until: timedelta | None, at: timedelta | None, retry: timedelta | None, finished: bool, restarted: bool
) -> None:
    def moment(ago: timedelta | None) -> datetime | None:
        return None if ago is None else NOON + ago

    progress = SimpleNamespace(until=moment(until), at=moment(at))
    parts: Any = SimpleNamespace(progress=lambda _: progress, last_retry_at=lambda _: moment(retry))
    record = SimpleNamespace(finished_at=NOON if finished else None)
    store: Any = SimpleNamespace(get=lambda _: record, unfinished=lambda **_: [])
    job: PartedJob[Any, Any, Any] = PartedJob(
        store=store, parts=parts, stalled_after=STALLED, clock=StandingClock(NOON)
    )
    assert job.swept("experiment").machine_input(WHICH) == ({} if restarted else None)


@pytest.mark.parametrize(("age", "ends"), [(GIVEN_UP_AFTER, False), (GIVEN_UP_AFTER + SECOND, True)])
def test_one_whose_steps_break_off_for_two_weeks_ends_and_says_so_with_what_it_cost(
    age: timedelta, *, ends: bool
) -> None:
    record = ExperimentRecord(tenant="acme", id="e", created_at=NOON - age, content_key="e.json", content_hash="0")

    def change(_: Reference, step: Callable[[ExperimentRecord], ExperimentRecord]) -> ExperimentRecord:
        nonlocal record
        record = step(record)
        return record

    store: Any = SimpleNamespace(change=change, unfinished=lambda **_: [])
    parts: Any = SimpleNamespace(progress=lambda _: PartsProgress(cost_usd=0.5, unpriced_calls=2))
    job: PartedJob[Any, Any, Any] = PartedJob(
        store=store, parts=parts, stalled_after=STALLED, clock=StandingClock(NOON)
    )
    assert job.swept("experiment").end_if_hopeless(WHICH) == ends
    found = (record.failure, record.finished_at, record.cost_usd, record.unpriced_calls)
    assert found == ((BROKEN_OFF, NOON, 0.5, 2) if ends else (None, None, None, 0))
