"""Asking for a deep evaluation, once more and once too often."""

from dataclasses import dataclass, field

from tests.integration.operations.conftest import House
from touchstone.operations.reception import Reception
from touchstone.records import RequestKeys
from touchstone.workflows import Workflows


@dataclass(frozen=True, kw_only=True)
class Starts(Workflows):
    """Executions by name: like the platform, it starts none a second time."""

    sfn: None = None  # type: ignore[assignment] # nothing is started for real
    runs: list[str] = field(default_factory=list)

    def evaluate(self, *, tenant: str, answer_id: str, run: str = "1") -> None:
        """Note a start."""
        assert (tenant, len(f"{answer_id}-{run}") <= 80) == ("acme", True)
        if run not in self.runs:
            self.runs.append(run)


def test_every_request_anew_starts_an_execution_and_a_repeat_of_it_none(house: House) -> None:
    (record,) = house.asked_for(1, state="none")
    starts = Starts()
    reception = Reception(
        tenant="acme",
        answers=house.answers,
        evaluations=house.evaluations,
        artifacts=house.artifacts,
        keys=RequestKeys(house.table),
        workflows=starts,
        clock=house.clock,
    )
    for asked in range(1, 5):
        for _repeat in range(2):
            assert reception.evaluate(record.id).evaluation.state == "waiting"
        assert len(set(starts.runs)) == asked
        # The first time nobody ever takes it; later it is given up at its only try.
        if asked > 1:
            house.evaluations.claim(tenant="acme", answer_id=record.id)
        house.evaluations.fail(tenant="acme", answer_id=record.id, failure="refused")
        house.clock.advance(minutes=1)
