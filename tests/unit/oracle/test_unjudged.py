"""Why a stage brought no result, in a stable word and in sentences."""

from touchstone.errors import OverloadedError
from touchstone.judges.calls import NotScored
from touchstone.oracle.model import Unjudged


def test_a_reply_that_broke_the_rules_is_told_by_its_faults_and_a_silent_judge_by_its_failure() -> None:
    broken = NotScored(reason="invalid_reply", faults=("One is missing.", "One is twice."), error=None, spends=())
    silent = NotScored(reason="overloaded", faults=(), error=OverloadedError("503"), spends=())
    assert Unjudged.of("gate", broken) == Unjudged(
        stage="gate", reason="invalid_reply", details=("One is missing.", "One is twice.")
    )
    assert Unjudged.of("reading", silent) == Unjudged(stage="reading", reason="overloaded", details=("503",))
