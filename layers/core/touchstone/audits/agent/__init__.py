"""The agent that solves a case blind: it may look into the target, and it proves every option by running code."""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.audits.agent.bounds import Bounds as Bounds
    from touchstone.audits.agent.library import Library as Library
    from touchstone.audits.agent.results import SolvedCase as SolvedCase
    from touchstone.audits.agent.results import audited_of as audited_of
    from touchstone.audits.agent.results import solved as solved
    from touchstone.audits.agent.solving import begin as begin
    from touchstone.audits.agent.solving import open_solver as open_solver
    from touchstone.audits.agent.solving import reopened as reopened
    from touchstone.audits.agent.solving import solve as solve
    from touchstone.audits.agent.solving import take_turn as take_turn
    from touchstone.audits.agent.state import AgentState as AgentState
    from touchstone.audits.agent.workbench import Workbench as Workbench
    from touchstone.audits.agent.workbench import proving as proving

lazy_exports(__name__)
