"""The report of an audit as it is stored. When it is read, its computed parts are computed again and compared."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from touchstone.audits.bundles.target import Manifest
from touchstone.audits.case import AuditCase, Label
from touchstone.audits.sandbox.limits import MAX_SCRIPT_CHARS, Limits
from touchstone.audits.sandbox.result import Outcome, ProofResult
from touchstone.audits.verdict import OptionStanding, ProofStanding, Rating, Verdict, rate
from touchstone.errors import InputError
from touchstone.judges.spends import Spend, count_unpriced, known_cost
from touchstone.material.parts import all_different
from touchstone.strict import Strict, fault_sentence
from touchstone.version import __version__

WORDS: Mapping[ProofStanding, str] = {"holds": "holds", "refuted": "is refuted", "unproven": "is not proved"}


def summaries_of(case: AuditCase, options: Iterable[OptionStanding], reasons: Mapping[str, str]) -> list[str]:
    """The result of each option and its reason, in a sentence or two each.

    `reasons` holds the proofs' reasons by label.
    """
    computed = {option.label for option in case.options if option.catch_all is not None}
    parts: list[str] = []
    for option in options:
        why = "This follows from the other options." if option.label in computed else reasons.get(option.label)
        parts.append(f"{option.label} {WORDS[option.standing]}. {why or 'Nothing was run for it.'}")
    return parts


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


FORM: Literal[1] = 1
"""The version of the report's form. Raise it when the form changes, so that no report is misread."""
RATINGS: tuple[Rating, ...] = ("Incorrect", "Ambiguous", "Unproven", "Valid")
"""The ratings in the order in which a maintainer wants to see them."""
KEPT_CHARS = 20_000
"""How many characters are kept of each output of a proof: its beginning and its end."""
CUT = "\n[…]\n"


class CaseSource(Strict):
    """The definition of a case: its file, and the line (from 1) on which it begins."""

    file: str
    line: Annotated[int, Field(ge=1)]


class StoredProof(ProofResult):
    """The script that decided the option `label`, and its result."""

    label: Label
    script: Annotated[str, Field(max_length=MAX_SCRIPT_CHARS)]


def _reasons(proofs: Iterable[StoredProof]) -> dict[str, str]:
    return {proof.label: proof.reason for proof in proofs}


class AuditedCase(Strict):
    """The findings of an audit on one case.

    `missing` says what an Unproven case lacks, `change` what a maintainer should do, and `proof_summary` how each
    option came out. All three are computed, as the rating is. `critique` is what a model says of the case; None if no
    model did. `stopped` says why the work on the case ended before everything was tried; None if it did not. `spends`
    are the model calls that were paid for.
    """

    case: AuditCase
    source: CaseSource | None = None
    quality_rating: Rating
    selected_answer: Label | None
    options: tuple[OptionStanding, ...]
    missing: tuple[str, ...] = ()
    proof_summary: str
    change: str
    critique: str | None = None
    stopped: str | None = None
    proofs: tuple[StoredProof, ...] = ()
    spends: tuple[Spend, ...] = ()

    @property
    def summaries(self) -> list[str]:
        """The sentences of `proof_summary`, those about one option together."""
        return summaries_of(self.case, self.options, _reasons(self.proofs))

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each option's proof, by label. Options without a proof are left out."""
        return {proof.label: proof.outcome for proof in self.proofs}

    @model_validator(mode="after")
    def _follows_from_its_proofs(self) -> Self:
        all_different((proof.label for proof in self.proofs), of="proof")
        try:
            again = audited_case(self.case, self.proofs)
        except InputError as error:
            raise PydanticCustomError("no_such_option", "{why}", {"why": str(error).rstrip(".")}) from None
        by_the_earlier_rule = _by_the_earlier_rule(self, again)
        for field in ("quality_rating", "selected_answer", "options", "missing"):
            if by_the_earlier_rule and field in ("quality_rating", "missing"):
                continue
            if getattr(self, field) != getattr(again, field):
                raise PydanticCustomError(
                    "not_computed",
                    "{field} of case {id} is not what its proofs come to",
                    {"field": field, "id": self.case.id},
                )
        return self


class QualityReport(Strict):
    """The findings of an audit. `trusted`: the proofs ran outside a sandbox, because somebody vouched for them.

    `cost_usd` leaves out the `unpriced_calls`, whose cost is not known; null if the cost of no call is known.
    """

    form: Literal[1] = FORM
    touchstone: str
    made_at: AwareDatetime
    target: Manifest
    limits: Limits
    trusted: bool
    totals: Mapping[Rating, int]
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced_calls: int = 0
    cases: tuple[AuditedCase, ...]

    @model_validator(mode="after")
    def _totals_of_its_cases(self) -> Self:
        all_different((one.case.id for one in self.cases), of="case")
        if dict(self.totals) != _totals(self.cases):
            raise PydanticCustomError("not_computed", "totals are not those of the cases")
        return self


def _by_the_earlier_rule(case: AuditedCase, again: AuditedCase) -> bool:
    """Whether a case has the rating of an earlier rule: a refuted key was Unproven if no other option holds.

    Under the present rule such a case is Incorrect.
    """
    none_holds = all(option.standing != "holds" for option in again.options)
    return none_holds and (case.quality_rating, again.quality_rating) == ("Unproven", "Incorrect")


def stored_proof(label: str, script: str, result: ProofResult) -> StoredProof:
    """A proof as a report stores it, with each output cut to `KEPT_CHARS`."""
    fields = result.model_dump(include=set(ProofResult.model_fields))
    for name in ("stdout", "stderr"):
        if len(text := fields[name]) > KEPT_CHARS:
            fields[name] = text[: KEPT_CHARS // 2] + CUT + text[-KEPT_CHARS // 2 :]
            fields[f"{name}_cut"] = True
    return StoredProof(label=label, script=script, **fields)


def audited_case(
    case: AuditCase,
    proofs: Iterable[StoredProof],
    *,
    source: CaseSource | None = None,
    critique: str | None = None,
    stopped: str | None = None,
    spends: Iterable[Spend] = (),
) -> AuditedCase:
    """The audited case that follows from `proofs`, which has at most one proof for an option.

    Raises InputError if a proof is for an option that the case does not have.
    """
    kept = tuple(proofs)
    verdict = rate(case, {proof.label: proof.outcome for proof in kept})
    return AuditedCase.model_construct(
        case=case,
        source=source,
        quality_rating=verdict.rating,
        selected_answer=verdict.selected_answer,
        options=verdict.options,
        missing=verdict.missing,
        proof_summary=" ".join(summaries_of(case, verdict.options, _reasons(kept))),
        change=change_of(case, verdict),
        critique=critique,
        stopped=stopped,
        proofs=kept,
        spends=tuple(spends),
    )


def quality_report(
    target: Manifest, cases: Iterable[AuditedCase], *, limits: Limits, trusted: bool, made_at: datetime
) -> QualityReport:
    """The report on `cases`, whose proofs ran against `target` within `limits`."""
    kept = tuple(cases)
    spends = [spend for one in kept for spend in one.spends]
    return QualityReport(
        touchstone=__version__,
        made_at=made_at,
        target=target,
        limits=limits,
        trusted=trusted,
        totals=_totals(kept),
        input_tokens=sum(spend.input_tokens for spend in spends),
        output_tokens=sum(spend.output_tokens for spend in spends),
        cost_usd=known_cost(spends),
        unpriced_calls=count_unpriced(spends),
        cases=kept,
    )


def report_json(report: QualityReport) -> str:
    """The whole report as JSON, which `read_report` reads."""
    return report.model_dump_json(indent=2) + "\n"


def read_report(data: bytes, *, name: str) -> QualityReport:
    """The report in `data`, which comes from a file called `name`.

    Raises InputError if it is no report, or if its ratings or totals do not follow from its proofs.
    """
    try:
        return QualityReport.model_validate_json(data)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise InputError(
            f"{name} is no quality_report.json that can be relied on: {fault_sentence(fault)}.", where=name
        ) from None


def _totals(cases: Iterable[AuditedCase]) -> dict[Rating, int]:
    counted = Counter(one.quality_rating for one in cases)
    return {rating: counted[rating] for rating in RATINGS}
