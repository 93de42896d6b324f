"""The result of a case that an agent solved, and the rating that follows from its scripts."""

from touchstone.audits.agent.state import AgentConclusion, AgentState, Ended, ProofRun
from touchstone.audits.case import AuditCase, Label
from touchstone.audits.report.model import AuditedCase, CaseSource, StoredProof, audited_case, stored_proof
from touchstone.audits.sandbox.result import Outcome
from touchstone.judges.conversing import Conversation
from touchstone.judges.spends import Spend
from touchstone.strict import Strict


class OptionProof(Strict):
    """The run that counts for one option; None if there was none."""

    label: Label
    run: ProofRun | None


class SolvedCase(Strict):
    """The result of solving a case. `conclusion` is what the agent said at its end; None if it did not conclude.

    `runs` are all scripts that were run, in order, including those of `options`. `conversation` is the transcript.
    """

    options: tuple[OptionProof, ...]
    conclusion: AgentConclusion | None
    ended: Ended
    runs: tuple[ProofRun, ...]
    conversation: Conversation
    turns: int
    tokens: int
    seconds: float
    spends: tuple[Spend, ...]

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each option's proof, by label. Options without a proof are left out."""
        return {option.label: option.run.result.outcome for option in self.options if option.run is not None}


def solved(state: AgentState) -> SolvedCase:
    """The result of a case that has ended. Raises ValueError if it has not."""
    if state.ended is None:
        raise ValueError("The case is still being solved.")
    return SolvedCase(
        options=tuple(
            OptionProof(label=option.label, run=state.last_run(option.label)) for option in state.case.options
        ),
        conclusion=state.conclusion,
        ended=state.ended,
        runs=state.runs,
        conversation=state.conversation,
        turns=state.turns,
        tokens=state.tokens,
        seconds=round(state.seconds, 3),
        spends=state.spends,
    )


def audited_of(case: AuditCase, found: SolvedCase, *, source: CaseSource | None = None) -> AuditedCase:
    """A case with the rating that follows from its scripts. The agent's own answer counts for nothing."""
    proofs: list[StoredProof] = [
        stored_proof(option.label, option.run.script, option.run.result)
        for option in found.options
        if option.run is not None
    ]
    critique = found.conclusion.critique.strip() if found.conclusion is not None else ""
    stopped = None if found.ended.why == "concluded" else found.ended.sentence
    return audited_case(case, proofs, source=source, critique=critique or None, stopped=stopped, spends=found.spends)
