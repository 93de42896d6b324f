"""Where an agent stands with a case: all that it takes to go on, in another process too."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from touchstone.audits.agent.bounds import Bounds
from touchstone.audits.case import BlindCase, Label
from touchstone.audits.sandbox.outcomes import Outcome
from touchstone.audits.sandbox.prove import ProofResult
from touchstone.errors import Unanswered
from touchstone.judges.conversing import Conversation
from touchstone.judges.spends import Spend
from touchstone.strict import Strict

type Why = Literal["concluded", "silent", "turns", "runs", "tokens", "time", "unanswered"]
"""Why an agent is done: it said so, it called nothing, it met a bound, or its model gave no turn."""


class ProofRun(Strict):
    """One script that was run. `number` counts from 1, `turn` is the turn that called for it.

    `option` is the label of the option that the agent said it proves, None where it only wanted to find out.
    """

    number: int
    turn: int
    path: str
    option: Label | None
    script: str
    result: ProofResult


class AgentConclusion(Strict):
    """What the agent says at its end. It counts for nothing: an option stands where its last script left it."""

    answer: str | None
    summary: str
    critique: str


class Ended(Strict):
    """Why and how the work on a case ended. `unanswered` is why the model gave no turn, None where that is not why.

    `until` is when it may be asked again (UTC), None where that is not known or does not matter.
    """

    why: Why
    sentence: str
    unanswered: Unanswered | None = None
    until: datetime | None = None


class AgentState(Strict):
    """A case, what was said of it and what was run for it. It holds nothing of the key, since the case does not.

    `files` are the scripts that the agent wrote, by their path. `silent` counts its latest turns without a call.
    `reminded` is whether it was told once what has no proof when it wanted to end. `tokens` and `seconds` are those of
    all turns so far.
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
        """The run that counts for an option: the last one it was given; None where there is none."""
        return next((run for run in reversed(self.runs) if run.option == label), None)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """What the run that counts for each option came to; an option without any is left out."""
        found = ((option.label, self.last_run(option.label)) for option in self.case.options)
        return {label: run.result.outcome for label, run in found if run is not None}

    @property
    def unproven(self) -> tuple[str, ...]:
        """The options that no run has shown to hold or not, in their order. Those that only count others need none."""
        outcomes = self.outcomes
        plain = (option.label for option in self.case.options if option.catch_all is None)
        return tuple(label for label in plain if outcomes.get(label) not in {"holds", "refuted"})

    def over(self, why: Why, sentence: str) -> "AgentState":
        """Ended, unless it is already."""
        return self if self.ended is not None else self.model_copy(update={"ended": Ended(why=why, sentence=sentence)})
