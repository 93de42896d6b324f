"""Asking for a deep evaluation, once more and once too often."""

from tests.support.house import House


def test_every_request_anew_starts_an_execution_and_a_repeat_of_it_none(house: House) -> None:
    (record,) = house.asked_for(1, state="none")
    intake = house.intake()
    for asked in range(1, 5):
        for _repeat in range(2):
            assert intake.evaluate(record.id).evaluation.state == "waiting"
        assert len(house.starts.runs) == asked
        # The first time nobody ever takes it; later it is given up at its only try.
        if asked > 1:
            house.evaluations.claim(record.ref)
        house.evaluations.fail(record.ref, failure="refused")
        house.clock.advance(minutes=1)
