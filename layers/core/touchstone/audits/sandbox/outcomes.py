"""What one proof comes to."""

from typing import Literal

type Outcome = Literal["holds", "refuted", "error", "vacuous", "timeout", "blocked"]
"""`holds`: the script ran to its end, and cannot without the target. `refuted`: the target itself showed otherwise.

`error`: the script's own fault, or it changed what it was to be judged by. `vacuous`: it ends the same with the target
hidden. `timeout`: it was stopped for its time. `blocked`: it met another bound of the sandbox. The last four prove
nothing either way.
"""
