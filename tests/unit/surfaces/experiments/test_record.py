"""An experiment as a record: steps are pure, and it ends once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.quizzes import experiment
from touchstone.parts import PartsProgress, failed
from touchstone.surfaces.experiments.estimate import Estimate
from touchstone.surfaces.experiments.record import (
    ExperimentPlan,
    ExperimentRecord,
    ExperimentRequest,
    ExperimentView,
    concluded,
    planned,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
PLAN = ExperimentPlan(
    name="chunking",
    surface="quiz",
    a="merged_chunks",
    b="docling_chunks",
    pairs=2,
    sources=2,
    estimate=Estimate(pairs=2, calls=(8, 8), cost_usd=None),
)
PAID = PartsProgress(done=2, cost_usd=0.5, unpriced_calls=1)
RECORD = ExperimentRecord(tenant="acme", id="e", created_at=NOW, content_key="acme/e.json", content_hash="0")


def test_an_experiment_goes_from_waiting_to_its_end_and_no_further() -> None:
    assert RECORD.state == "waiting"
    measuring = planned(RECORD, PLAN)
    assert (measuring.state, planned(measuring, PLAN)) == ("measuring", measuring)
    done = concluded(measuring, "a_better", "A is better.", PAID, now=LATER)
    assert (done.state, done.verdict, done.headline, done.finished_at) == ("done", "a_better", "A is better.", LATER)
    assert (done.cost_usd, done.unpriced_calls) == (0.5, 1)
    assert concluded(done, "b_better", "No.", PAID, now=LATER) is done
    assert failed(done, "No.", PAID, now=LATER) is done
    broken = failed(RECORD, "It is no experiment.", PAID, now=LATER)
    assert (broken.state, broken.failure, planned(broken, PLAN)) == ("failed", "It is no experiment.", broken)


@pytest.mark.parametrize("fields", [{}, {"experiment": experiment(1), "experiment_key": "k"}, {"experiment_key": ""}])
def test_exactly_one_of_an_experiment_and_its_key_is_given(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExperimentRequest.model_validate(fields)


def test_a_reader_sees_how_far_it_is_and_why_it_waits() -> None:
    progress = PartsProgress(done=1, cost_usd=0.25, at=NOW, until=LATER, because="quota")
    view = ExperimentView.of(planned(RECORD, PLAN), progress)
    assert (view.state, view.done, view.pairs, view.cost_usd, view.because) == ("measuring", 1, 2, 0.25, "quota")
    assert (view.name, view.a, view.b, view.conclusion) == ("chunking", "merged_chunks", "docling_chunks", None)
    ended = ExperimentView.of(failed(RECORD, "No.", PAID, now=LATER), progress)
    assert (ended.state, ended.because, ended.failure, ended.pairs) == ("failed", None, "No.", None)
