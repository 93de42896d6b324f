"""The state machines, as whatever starts one reaches them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from functions.environment import environment

if TYPE_CHECKING:
    from touchstone.workflows import Workflows


@cache
def workflows() -> Workflows:
    """The state machines."""
    from touchstone.workflows import Workflows, client

    return Workflows(
        sfn=client(),
        solve_arn=environment().solve_machine_arn,
        evaluate_arn=environment().evaluate_machine_arn,
        drain_arn=environment().drain_machine_arn,
        task_arn=environment().task_machine_arn,
        submission_arn=environment().submission_machine_arn,
        challenge_arn=environment().challenge_machine_arn,
        measure_arn=environment().measure_machine_arn,
        experiment_arn=environment().experiment_machine_arn,
        quiz_arn=environment().quiz_machine_arn,
        audit_arn=environment().audit_machine_arn,
    )
