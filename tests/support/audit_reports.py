"""Reports of audits to vary in tests."""

from datetime import UTC, datetime
from typing import Any

from tests.support.audit_cases import case
from touchstone.audits.bundles import Target
from touchstone.audits.bundles.target import Manifest
from touchstone.audits.case import AuditCase
from touchstone.audits.report import AuditedCase, CaseSource, QualityReport, StoredProof, audited_case, quality_report
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS
from touchstone.audits.sandbox.result import Outcome
from touchstone.judges.spends import Spend

MADE_AT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
MANIFEST = Manifest(
    target=Target(requirement="tinylib==1.0"),
    version="1.0",
    python="cpython-3.13",
    platform="linux-x86_64",
    digest="0123456789abcdef",
    modules=("tinylib",),
)
REASONS: dict[Outcome, str] = {
    "holds": "The script ran to its end.",
    "refuted": "The target showed otherwise in line 2: TypeError: Box.__init__() got an unexpected keyword argument",
    "timeout": "The script was stopped after 30 s.",
}


def proof(label: str, outcome: Outcome, **changed: Any) -> StoredProof:
    fields: dict[str, Any] = {
        "label": label,
        "script": f"import tinylib\ntinylib.Box({label.lower()}=1)\n",
        "outcome": outcome,
        "reason": REASONS.get(outcome, "It proves nothing."),
        "stdout": "",
        "stderr": "",
        "exception": "TypeError: no such keyword" if outcome == "refuted" else None,
        "hidden_outcome": "error" if outcome in ("holds", "refuted") else None,
        "wall_seconds": 0.01,
        "cpu_seconds": 0.01,
        "trusted": False,
    }
    return StoredProof.model_validate(fields | changed)


def audited(of: AuditCase | None = None, /, *, outcomes: str = "hrr", **more: Any) -> AuditedCase:
    """A case whose plain options have these outcomes, one letter each; `-` for one that was not proved."""
    words: dict[str, Outcome] = {"h": "holds", "r": "refuted", "t": "timeout"}
    found = of or case()
    plain = [option.label for option in found.options if option.catch_all is None]
    proofs = [proof(label, words[letter]) for label, letter in zip(plain, outcomes, strict=True) if letter != "-"]
    return audited_case(found, proofs, **more)


def spend(**changed: Any) -> Spend:
    fields = {"purpose": "audit", "provider": "gemini", "model": "m", "prompt_version": "1"}
    tokens = {"input_tokens": 1000, "output_tokens": 200, "cost_usd": 0.01}
    return Spend.model_validate(fields | tokens | changed)


def report(*cases: AuditedCase, **changed: Any) -> QualityReport:
    fields: dict[str, Any] = {"limits": DEFAULT_LIMITS, "trusted": False, "made_at": MADE_AT}
    return quality_report(MANIFEST, cases or whole(), **(fields | changed))


def whole() -> tuple[AuditedCase, ...]:
    """A case of every rating."""
    at = CaseSource(file="benchmarks/boxes.yaml", line=3)
    return (
        audited(case(id="valid"), source=at, spends=[spend(), spend()]),
        audited(case(id="ambiguous"), outcomes="hhr", source=at, critique="`breadth` is taken as well."),
        audited(case(id="incorrect", ground_truth="B"), source=at, spends=[spend(cost_usd=0.005)]),
        audited(case(id="unproven"), outcomes="ht-", stopped="The limit of 8 proofs was reached."),
        audited(case(id="refuted", question="Which of these?\n\n    tinylib.Box()"), outcomes="rrr"),
    )
