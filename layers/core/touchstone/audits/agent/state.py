"""The agent's state for a case: all that is needed to continue, in another process too."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from touchstone.audits.agent.bounds import Bounds
from touchstone.audits.case import BlindCase, Label
from touchstone.audits.sandbox.result import Outcome, ProofResult
from touchstone.errors import Unanswered
from touchstone.judges.conversing import Conversation
from touchstone.judges.spends import Spend
from touchstone.strict import Strict

type Why = Literal["concluded", "silent", "turns", "runs", "tokens", "time", "unanswered"]
"""Why the work of an agent ended: the agent concluded, it made no calls (`silent`), it met a bound, or its model gave
no turn (`unanswered`)."""


class ProofRun(Strict):
    """One script that was run. `number` counts from 1; `turn` is the turn that called for it.

    `option` is the label of the option that the script proves, by the agent's word; None if the agent only explored.
    """

    number: int
    turn: int
    path: str
    option: Label | None
    script: str
    result: ProofResult


class AgentConclusion(Strict):
    """The agent's last words. They count for nothing: the last script for an option decides where it stands."""

    answer: str | None
    summary: str
    critique: str


class Ended(Strict):
    """Why and how the work on a case ended. `unanswered` says why the model gave no turn; None if it ended otherwise.

    `until` is when the model may be asked again (UTC); None if that is not known or does not matter.
    """

    why: Why
    sentence: str
    unanswered: Unanswered | None = None
    until: datetime | None = None


class AgentState(Strict):
    """A case, its conversation and its runs. It holds nothing of the key, because the case does not.

    `files` are the scripts that the agent wrote, by path. `silent` counts its latest turns without a call. `reminded`:
    when it wanted to end, it was told once which options have no proof. `tokens` and `seconds` are totals of all turns
    so far.
    """

    case: BlindCase
    bounds: Bounds
    conversation: Conversation
    files: Mapping[str, str] = {}
    runs: tuple[ProofRun, ...] = ()
    turns: int = 0
    silent: int = 0
    reminded: bool = False
    tokens: int = 0
    seconds: float = 0.0
    spends: tuple[Spend, ...] = ()
    conclusion: AgentConclusion | None = None
    ended: Ended | None = None

    def last_run(self, label: str) -> ProofRun | None:
        """The run that counts for an option: the last one with its label. None if there is none."""
        return next((run for run in reversed(self.runs) if run.option == label), None)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of the run that counts for each option, by label. Options without a run are left out."""
        found = ((option.label, self.last_run(option.label)) for option in self.case.options)
        return {label: run.result.outcome for label, run in found if run is not None}

    @property
    def unproven(self) -> tuple[str, ...]:
        """The options that no run has proved or refuted, in their order.

        Options that only say how many others hold need no run and are left out.
        """
        outcomes = self.outcomes
        plain = (option.label for option in self.case.options if option.catch_all is None)
        return tuple(label for label in plain if outcomes.get(label) not in {"holds", "refuted"})

    def with_end(self, why: Why, sentence: str) -> "AgentState":
        """The state with this end; unchanged if it has ended already."""
        return self if self.ended is not None else self.model_copy(update={"ended": Ended(why=why, sentence=sentence)})
