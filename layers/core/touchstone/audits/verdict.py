"""The rating of a case, computed from the outcomes of its proofs alone. Nothing that anybody says of them counts.

| proved to hold | ground truth | rating |
|---|---|---|
| exactly one, all others refuted | is that one | Valid |
| more than one | any | Ambiguous |
| one other, or none | refuted | Incorrect |
| anything else | | Unproven |

The first row that fits counts. So a case is Ambiguous if several options hold and the ground truth is not among them.
If every option is refuted the case is Incorrect: for example, an API was removed, and no answer is left.

"None of the above" is not proved but computed. It holds exactly if every other option is refuted, and is refuted as
soon as one holds. "All of the above" holds exactly if every other option holds, and is refuted as soon as one is
refuted. If it holds and is the ground truth, it is the one answer, because the others are parts of it. A proof of such
an option counts for nothing.
"""

from collections.abc import Mapping
from typing import Literal

from touchstone.audits.case import AuditCase, BlindCase, CatchAll, Label
from touchstone.audits.sandbox.result import Outcome
from touchstone.errors import InputError
from touchstone.strict import Strict

type Rating = Literal["Valid", "Ambiguous", "Incorrect", "Unproven"]
type ProofStanding = Literal["holds", "refuted", "unproven"]

_MISSING: dict[Outcome | None, str] = {
    None: "nothing was run for it",
    "error": "its script failed by its own fault",
    "vacuous": "its script asks nothing of the target that decides its end",
    "timeout": "its script was stopped for its time",
    "blocked": "its script met a bound of the sandbox",
}


class OptionStanding(Strict):
    """Where one option stands.

    `outcome` is that of its proof; None if no script was run, or if its proof does not count.
    """

    label: Label
    standing: ProofStanding
    outcome: Outcome | None = None


class Verdict(Strict):
    """The verdict on a case by its proofs.

    `selected_answer` is the label of the one option that holds; None if none or several hold. `missing` says in
    sentences what an Unproven case lacks; it is empty for any other.
    """

    rating: Rating
    selected_answer: Label | None
    options: tuple[OptionStanding, ...]
    missing: tuple[str, ...] = ()


def rate(case: AuditCase, outcomes: Mapping[str, Outcome]) -> Verdict:
    """The verdict on `case`, given the outcome of each option's proof by label.

    An option that is left out has no proof. Raises InputError if `outcomes` names an option that the case does not
    have.
    """
    labels = {option.label for option in case.options}
    if strangers := sorted(outcomes.keys() - labels):
        raise InputError(f"Case {case.id} has no option {strangers[0]!r}; it has {', '.join(sorted(labels))}.")
    options = standings(case, outcomes)
    standing = {option.label: option.standing for option in options}
    holding = [label for label, where in standing.items() if where == "holds"]
    whole = [option.label for option in case.options if option.catch_all == "all" and option.label in holding]
    answers = whole or holding
    rating: Rating = "Unproven"
    if answers == [case.ground_truth]:
        rating = "Unproven" if "unproven" in standing.values() else "Valid"
    elif len(holding) > 1:
        rating = "Ambiguous"
    elif standing[case.ground_truth] == "refuted":
        rating = "Incorrect"
    return Verdict(
        rating=rating,
        selected_answer=answers[0] if len(answers) == 1 else None,
        options=options,
        missing=_missing(case, standing, outcomes) if rating == "Unproven" else (),
    )


def standings(case: AuditCase | BlindCase, outcomes: Mapping[str, Outcome]) -> tuple[OptionStanding, ...]:
    """Where each option stands, in the order of the case. The key is not needed for this."""
    plain: dict[str, OptionStanding] = {}
    for option in case.options:
        if option.catch_all is None:
            outcome = outcomes.get(option.label)
            standing: ProofStanding = outcome if outcome == "holds" or outcome == "refuted" else "unproven"  # noqa: PLR1714
            plain[option.label] = OptionStanding(label=option.label, standing=standing, outcome=outcome)
    found = [each.standing for each in plain.values()]
    return tuple(
        plain.get(option.label) or OptionStanding(label=option.label, standing=_computed(option.catch_all, found))
        for option in case.options
    )


def _computed(catch_all: CatchAll | None, others: list[ProofStanding]) -> ProofStanding:
    wanted: ProofStanding = "holds" if catch_all == "all" else "refuted"
    contrary: ProofStanding = "refuted" if catch_all == "all" else "holds"
    if contrary in others:
        return "refuted"
    return "holds" if others and all(standing == wanted for standing in others) else "unproven"


def _missing(
    case: AuditCase, standing: Mapping[str, ProofStanding], outcomes: Mapping[str, Outcome]
) -> tuple[str, ...]:
    proofs = [each.label for each in case.options if each.catch_all is None and standing[each.label] == "unproven"]
    return tuple(f"Option {label} is not proved either way: {_MISSING[outcomes.get(label)]}." for label in proofs)
