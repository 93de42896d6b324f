"""What the proofs of a case come to, in sentences that are computed and that no model wrote."""

from collections.abc import Iterable, Mapping

from touchstone.audits.case import AuditCase
from touchstone.audits.verdict import ProofStanding, Verdict

WORDS: Mapping[ProofStanding, str] = {"holds": "holds", "refuted": "is refuted", "unproven": "is not proved"}


def summary_of(case: AuditCase, verdict: Verdict, reasons: Mapping[str, str]) -> str:
    """What each option came to and why, a sentence or two each. `reasons` are those of the proofs, by label."""
    computed = {option.label for option in case.options if option.catch_all is not None}
    parts: list[str] = []
    for option in verdict.options:
        why = "This follows from the other options." if option.label in computed else reasons.get(option.label)
        parts.append(f"{option.label} {WORDS[option.standing]}. {why or 'Nothing was run for it.'}")
    return " ".join(parts)


def change_of(case: AuditCase, verdict: Verdict) -> str:
    """What a maintainer of the benchmark should change; empty for a Valid case."""
    by: dict[ProofStanding, list[str]] = {"holds": [], "refuted": [], "unproven": []}
    for option in verdict.options:
        by[option.standing].append(option.label)
    key = case.ground_truth
    match verdict.rating:
        case "Valid":
            return ""
        case "Incorrect" if verdict.selected_answer is None:
            left = (
                "no option holds"
                if not by["unproven"]
                else f"{_named(by['unproven'])} {_are(by['unproven'])} not proved"
            )
            return f"The key {key} is refuted, and {left}: correct its text, or make an option that holds the key."
        case "Incorrect":
            return f"Make {verdict.selected_answer} the key: it holds, and the key {key} is refuted."
        case "Ambiguous" if key in by["holds"]:
            others = [label for label in by["holds"] if label != key]
            also = f"{_named(others)} {'holds' if len(others) == 1 else 'hold'} as well as the key {key}"
            return f"{also}: ask for what sets {key} apart, or replace {_named(others)}."
        case "Ambiguous":
            state = "is refuted" if key in by["refuted"] else "is not proved"
            return f"{_named(by['holds'])} hold, and the key {key} {state}: ask for one of them, or replace the others."
        case "Unproven":
            proofs = f"Nothing can be said of the key before {_named(by['unproven'])} {_are(by['unproven'])} proved"
            return f"{proofs}; where no script can show it, ask for what can be run."


def _are(labels: list[str]) -> str:
    return "is" if len(labels) == 1 else "are"


def _named(labels: Iterable[str]) -> str:
    *most, last = labels
    return f"{', '.join(most)} and {last}" if most else last
