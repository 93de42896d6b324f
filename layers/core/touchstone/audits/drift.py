"""How a case stands against another version of its target: the options that stand otherwise than before."""

from touchstone.audits.case import Label
from touchstone.audits.report.model import AuditedCase
from touchstone.audits.sandbox.result import Outcome
from touchstone.audits.verdict import ProofStanding, Rating
from touchstone.strict import Strict


class OptionDrift(Strict):
    """An option whose standing differs from its standing before.

    An outcome is null if the standing is computed from the outcomes of other options.
    """

    label: Label
    before: ProofStanding
    now: ProofStanding
    outcome_before: Outcome | None
    outcome_now: Outcome | None
    reason: str | None


class Drift(Strict):
    """A case with an option that drifted. It must be solved again."""

    id: str
    rating_before: Rating
    rating_now: Rating
    selected_before: Label | None
    selected_now: Label | None
    options: tuple[OptionDrift, ...]


def drift_of(before: AuditedCase, now: AuditedCase) -> Drift | None:
    """The options of a case that stand otherwise than before; None if there are none."""
    reasons = {proof.label: proof.reason for proof in now.proofs}
    options = [
        OptionDrift(
            label=new.label,
            before=old.standing,
            now=new.standing,
            outcome_before=old.outcome,
            outcome_now=new.outcome,
            reason=reasons.get(new.label),
        )
        for old, new in zip(before.options, now.options, strict=True)
        if old.standing != new.standing
    ]
    if not options:
        return None
    return Drift(
        id=before.case.id,
        rating_before=before.quality_rating,
        rating_now=now.quality_rating,
        selected_before=before.selected_answer,
        selected_now=now.selected_answer,
        options=tuple(options),
    )
