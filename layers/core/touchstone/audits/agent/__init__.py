"""The agent that solves a case blind: it may look into the target, and proves every option by running code."""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.audits.agent.bounds import Bounds
    from touchstone.audits.agent.library import Library
    from touchstone.audits.agent.solving import Solved, begin, open_solver, reopened, solve, solved, take_turn
    from touchstone.audits.agent.state import AgentState
    from touchstone.audits.agent.workbench import Workbench, proving

__getattr__ = Face(
    __name__,
    {
        "bounds": ("Bounds",),
        "library": ("Library",),
        "solving": (
            "Solved",
            "begin",
            "open_solver",
            "reopened",
            "solve",
            "solved",
            "take_turn",
        ),
        "state": ("AgentState",),
        "workbench": (
            "Workbench",
            "proving",
        ),
    },
)

__all__ = [
    "AgentState",
    "Bounds",
    "Library",
    "Solved",
    "Workbench",
    "begin",
    "open_solver",
    "proving",
    "reopened",
    "solve",
    "solved",
    "take_turn",
]
