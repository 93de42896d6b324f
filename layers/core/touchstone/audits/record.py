"""An audit as a deployment keeps it: what was asked, how far its cases are, and what they came to.

    waiting ─ target installed, cases listed ─> auditing ─ every case is over ─> done
       └─ the target cannot be installed or imported ─> failed

Each case is worked on turn by turn, each turn in a function of its own (`case_work`). Steps are pure; one that finds
its work done returns the very same record.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints

from touchstone.audits.agent.bounds import Bounds
from touchstone.audits.bundles.target import Manifest, Target
from touchstone.audits.case import AuditCase
from touchstone.audits.estimate import AuditEstimate
from touchstone.audits.recheck import Drift
from touchstone.audits.report import CaseSource
from touchstone.audits.sandbox.limits import Limits
from touchstone.audits.verdict import Rating
from touchstone.judges.spends import told_cost
from touchstone.parts import PartsProgress
from touchstone.references import Reference
from touchstone.strict import Strict

MAX_FILES = 100
MAX_FILE_CHARS = 1_000_000
"""Of one file of definitions: a request has six megabytes at most, and YAML takes seconds a megabyte."""
MAX_ALL_CHARS = 1_000_000
MAX_CASES = 1_000
"""What a function can hold at once to report on. A larger benchmark is audited by the command."""

type AuditState = Literal["waiting", "auditing", "done", "failed"]
type AuditKind = Literal["audit", "recheck"]
"""An audit solves what it must; a recheck runs stored proofs and asks no model."""


class DefinitionFile(Strict):
    """A file of definitions: its name, whose ending says what it is written in, and its text."""

    name: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,200}$")]
    text: Annotated[str, StringConstraints(max_length=MAX_FILE_CHARS)]


class AuditRequest(Strict):
    """A benchmark to be audited against a target.

    `provider` is who solves, null for Gemini's strongest model or whoever has a key. No turn is begun once the audit
    has cost `max_cost_usd`. `previous` is an earlier audit, whose proofs are run first: a case is solved again only
    where an option of it stands otherwise. `weekly`: audited again each week, with whatever version the requirement
    then comes to.
    """

    target: Target
    files: Annotated[tuple[DefinitionFile, ...], Field(min_length=1, max_length=MAX_FILES)]
    provider: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] | None = None
    bounds: Bounds = Bounds()
    limits: Limits = Limits()
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    previous: str | None = None
    weekly: bool = False


class RecheckRequest(Strict):
    """The target against which the stored proofs of an audit are run again. `also` null: as it was."""

    requirement: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    also: tuple[str, ...] | None = None


class AuditTerms(Strict):
    """On what terms an audit is made; see `AuditRequest`. `anew`: the target is resolved again, whatever is kept."""

    kind: AuditKind = "audit"
    target: Target
    provider: str | None = None
    bounds: Bounds = Bounds()
    limits: Limits = Limits()
    max_cost_usd: float | None = None
    previous: str | None = None
    anew: bool = False


class KeptCase(Strict):
    """A case of an audit, with its number from 1 and where it is defined."""

    number: int
    case: AuditCase
    source: CaseSource | None = None


class KeptCases(Strict):
    """All cases of an audit, in their order."""

    cases: tuple[KeptCase, ...]


class BundlePlace(Strict):
    """The bundle of an audit: what it is, where its archive lies, and the SHA-256 of that."""

    manifest: Manifest
    key: str
    sha256: str


class AuditPlan(Strict):
    """What an audit is about, known once its target was installed. `unchanged`: the target is what it was before."""

    place: BundlePlace
    cases: int
    estimate: AuditEstimate | None
    unchanged: bool = False


class AuditFindings(Strict):
    """What an audit came to: cases by rating, and what drifted since the audit before."""

    totals: Mapping[Rating, int]
    drifts: tuple[Drift, ...] = ()


class AuditRecord(Strict):
    """An audit as it is stored. Times are UTC.

    `content_key` is where its cases lie in the tenant's artifacts, and `content_hash` tells them from others. `found`
    is what it came to, `failure` why it came to nothing; both None before. `weekly`: to be made again each week, by the
    audit `followed_by` once that was begun. `cost_usd` is what all but the `unpriced_calls` cost, kept when it is over;
    None before, and in what ended earlier.
    """

    tenant: str
    id: str
    created_at: datetime
    terms: AuditTerms
    content_key: str
    content_hash: str
    weekly: bool = False
    place: BundlePlace | None = None
    plan: AuditPlan | None = None
    found: AuditFindings | None = None
    failure: str | None = None
    finished_at: datetime | None = None
    cost_usd: float | None = None
    unpriced_calls: int = 0
    followed_by: str | None = None

    @property
    def ref(self) -> Reference:
        """The reference to it."""
        return Reference(self.tenant, "audit", self.id)

    @property
    def state(self) -> AuditState:
        """How far it is."""
        if self.finished_at is not None:
            return "done" if self.failure is None else "failed"
        return "waiting" if self.plan is None else "auditing"


class AuditView(Strict):
    """An audit as its reader sees it.

    `version`, `bundle`, `cases` and `estimate` are null until the target was installed. `done` cases are over, after
    `turns` of the agent at `cost_usd` so far. `because` is the stable word for why the last try brought nothing; null
    where it did. `totals` are cases by rating and `drifts` what stands otherwise than before, once the state is `done`;
    from then on `report_url` and `page_url` are links to the report for programs and for people, whatever its size,
    good for a quarter of an hour.
    """

    id: str
    kind: AuditKind
    state: AuditState
    requirement: str
    version: str | None
    bundle: str | None
    cases: int | None
    done: int
    turns: int
    cost_usd: float | None
    unpriced_calls: int
    estimate: AuditEstimate | None
    because: str | None
    failure: str | None
    created_at: datetime
    finished_at: datetime | None
    totals: Mapping[Rating, int] | None
    drifts: tuple[Drift, ...]
    previous: str | None
    weekly: bool
    followed_by: str | None
    report_url: str | None
    page_url: str | None

    @classmethod
    def of(
        cls,
        record: AuditRecord,
        progress: PartsProgress,
        *,
        report_url: str | None = None,
        page_url: str | None = None,
    ) -> Self:
        """The view of an audit, with links to its reports where there are any."""
        plan, place = record.plan, record.place
        return cls(
            id=record.id,
            kind=record.terms.kind,
            state=record.state,
            requirement=record.terms.target.requirement,
            version=place.manifest.version if place else None,
            bundle=place.manifest.digest if place else None,
            cases=plan.cases if plan else None,
            done=progress.done,
            turns=progress.turns,
            cost_usd=told_cost(progress.cost_usd, progress.unpriced_calls),
            unpriced_calls=progress.unpriced_calls,
            estimate=plan.estimate if plan else None,
            because=progress.because if record.finished_at is None else None,
            failure=record.failure,
            created_at=record.created_at,
            finished_at=record.finished_at,
            totals=record.found.totals if record.found else None,
            drifts=record.found.drifts if record.found else (),
            previous=record.terms.previous,
            weekly=record.weekly,
            followed_by=record.followed_by,
            report_url=report_url,
            page_url=page_url,
        )


def placed(record: AuditRecord, place: BundlePlace) -> AuditRecord:
    """The audit with its bundle; the first one stays."""
    if record.place is not None or record.finished_at is not None:
        return record
    return record.model_copy(update={"place": place})


def planned(record: AuditRecord, plan: AuditPlan) -> AuditRecord:
    """The audit whose cases were listed; the first plan stays."""
    if record.plan is not None or record.finished_at is not None:
        return record
    return record.model_copy(update={"plan": plan})


def concluded(record: AuditRecord, found: AuditFindings, progress: PartsProgress, *, now: datetime) -> AuditRecord:
    """The audit with what it came to; the first conclusion stays."""
    if record.finished_at is not None:
        return record
    return record.model_copy(update={"found": found, "finished_at": now, **progress.paid})


def failed(record: AuditRecord, why: str, progress: PartsProgress, *, now: datetime) -> AuditRecord:
    """The audit that came to nothing, and why in a sentence."""
    if record.finished_at is not None:
        return record
    return record.model_copy(update={"failure": why, "finished_at": now, **progress.paid})


def followed(record: AuditRecord, audit_id: str) -> AuditRecord:
    """The audit that the week's next one took over from; the first one stays, and none does once that was ended."""
    if record.followed_by is not None or not record.weekly:
        return record
    return record.model_copy(update={"followed_by": audit_id})


def ended_weekly(record: AuditRecord) -> AuditRecord:
    """The audit that is not made again each week."""
    return record.model_copy(update={"weekly": False}) if record.weekly else record
