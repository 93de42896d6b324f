"""The result of a proof, as it is stored and as a sandbox sends it. Whoever reads it runs nothing."""

from typing import Literal

from touchstone.strict import Strict

type Outcome = Literal["holds", "refuted", "error", "vacuous", "timeout", "blocked"]
"""`holds`: the script ran to its end, and cannot without the target. `refuted`: the target itself showed otherwise.

`error`: the script's own fault, or the script changed what it was to be judged by. `vacuous`: it ends the same with the
target hidden or with an empty module in its place, or it asks nothing of the target that decides its end, or what it
asserts never ran, or failed and was caught. `timeout`: it was stopped for its time. `blocked`: it met another bound of
the sandbox. The last four prove nothing either way."""


class ProofResult(Strict):
    """The outcome of one proof, and the facts that explain it to a reader.

    `reason` is a sentence. `exception` is the type and message of the exception that ended the script; None if there
    was none. `hidden_outcome` is the outcome without the target; None if the script was not run without it, because it
    neither holds nor refutes. Seconds are those of the run with the target, without its import. `trusted`: the script
    was hardly separated from its host, because the caller trusts it.
    """

    outcome: Outcome
    reason: str
    stdout: str
    stdout_cut: bool = False
    stderr: str
    stderr_cut: bool = False
    exception: str | None = None
    hidden_outcome: Outcome | None = None
    wall_seconds: float
    cpu_seconds: float
    trusted: bool
