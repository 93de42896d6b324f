"""An audit as a deployment keeps it: the request, the progress of its cases, and the result.

    waiting ─ target installed, cases listed ─> auditing ─ every case is over ─> done
       └─ the target cannot be installed or imported ─> failed

Each case is worked on turn by turn, each turn in a function invocation of its own (`case_work`). Steps are pure. A step
that finds its work done returns the very same record.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints

from touchstone.attempts import When
from touchstone.audits.agent.bounds import Bounds
from touchstone.audits.bundles.target import Manifest, Target
from touchstone.audits.case import AuditCase
from touchstone.audits.drift import Drift
from touchstone.audits.estimate import AuditEstimate
from touchstone.audits.report import CaseSource
from touchstone.audits.sandbox.limits import Limits
from touchstone.audits.verdict import Rating
from touchstone.judges.batches.record import BatchesMade, ProviderBatch
from touchstone.judges.spends import cost_to_show
from touchstone.parts import PartedRecord, PartsProgress
from touchstone.references import Reference
from touchstone.strict import Strict

MAX_FILES = 100
MAX_FILE_CHARS = 1_000_000
"""Longest file of definitions: a request has six megabytes at most, and reading YAML takes seconds a megabyte."""
MAX_ALL_CHARS = 1_000_000
MAX_CASES = 1_000
"""Most cases of an audit in a deployment, because a function must hold all of them at once to report on them. A larger
benchmark is audited by the command."""

type AuditState = Literal["waiting", "auditing", "done", "failed"]
type AuditKind = Literal["audit", "recheck"]
"""An audit solves the cases that need it. A recheck runs stored proofs and asks no model."""


class DefinitionFile(Strict):
    """A file of definitions: its name, whose extension gives the format, and its text."""

    name: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,200}$")]
    text: Annotated[str, StringConstraints(max_length=MAX_FILE_CHARS)]


class AuditRequest(Strict):
    """A benchmark to be audited against a target.

    `provider` is who solves; null means Gemini's strongest model, or another provider that has a key. No turn begins
    once the audit has cost `max_cost_usd` US dollars. `previous` is the id of an earlier audit, whose proofs are run
    first. A case is then solved again only if the standing of one of its options changed. `weekly` repeats the audit
    each week with the version that the requirement then resolves to.

    `when` is how first turns are asked for. `now` asks at once. `cheap` asks through a provider's batches, which cost
    part of the price and take days; if there are no batches, it asks at once. All later turns are asked for at once.
    """

    target: Target
    files: Annotated[tuple[DefinitionFile, ...], Field(min_length=1, max_length=MAX_FILES)]
    provider: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] | None = None
    bounds: Bounds = Bounds()
    limits: Limits = Limits()
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    previous: str | None = None
    weekly: bool = False
    when: When = "now"


class RecheckRequest(Strict):
    """The target against which the stored proofs of an audit are run again.

    `also` null means the distributions of the old target.
    """

    requirement: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    also: tuple[str, ...] | None = None


class AuditTerms(Strict):
    """The terms of an audit, see `AuditRequest`. `anew`: the target is resolved again, even if a lock of it is kept."""

    kind: AuditKind = "audit"
    target: Target
    provider: str | None = None
    bounds: Bounds = Bounds()
    limits: Limits = Limits()
    max_cost_usd: float | None = None
    previous: str | None = None
    anew: bool = False
    when: When = "now"


class KeptCase(Strict):
    """A case of an audit, with its number from 1 and where it is defined."""

    number: int
    case: AuditCase
    source: CaseSource | None = None


class KeptCases(Strict):
    """All cases of an audit, in their order."""

    cases: tuple[KeptCase, ...]


class BundlePlace(Strict):
    """The bundle of an audit: its manifest, the key of its archive in the store, and the archive's SHA-256."""

    manifest: Manifest
    key: str
    sha256: str


class AuditPlan(Strict):
    """What is known of an audit once its target is installed.

    `unchanged`: the target is the same as in the earlier audit.
    """

    place: BundlePlace
    cases: int
    estimate: AuditEstimate | None
    unchanged: bool = False


class AuditFindings(Strict):
    """The result of an audit: the number of cases by rating, and the cases that drifted since the earlier audit."""

    totals: Mapping[Rating, int]
    drifts: tuple[Drift, ...] = ()


class AuditRecord(PartedRecord):
    """An audit as it is stored; its parts are its cases.

    `found` is the result, None before the end and if there is none. `weekly`: it is made again each week, by the audit
    `followed_by` once that one was begun. `hastened`: its cases are asked about at once, whatever its terms say.
    """

    terms: AuditTerms
    weekly: bool = False
    hastened: bool = False
    place: BundlePlace | None = None
    plan: AuditPlan | None = None
    found: AuditFindings | None = None
    followed_by: str | None = None

    @property
    def ref(self) -> Reference:
        """The reference to the audit."""
        return Reference(self.tenant, "audit", self.id)

    @property
    def when(self) -> When:
        """How first turns are asked for from now on: at once (`now`), or through batches (`cheap`)."""
        return "now" if self.hastened else self.terms.when

    @property
    def state(self) -> AuditState:
        """The state of the audit, as the fields of the record determine it."""
        if self.finished_at is not None:
            return "done" if self.failure is None else "failed"
        return "waiting" if self.plan is None else "auditing"


class AuditView(Strict):
    """An audit and its progress.

    `version`, `bundle`, `cases` and `estimate` are null until the target was installed. `done` is the number of
    finished cases; `turns` is the number of turns of the agent so far, and `cost_usd` their cost in US dollars so far.
    `because` is the stable word for why the last try brought nothing, null if it brought something. Once the state is
    `done`, `totals` holds the number of cases by rating, and `drifts` the cases that differ from the earlier audit.
    From then on, `report_url` and `page_url` lead to the report for programs and for people, however large it is; the
    links are valid for a quarter of an hour. `when` is how first turns are asked for. `batches` says what is in
    providers' batches for this audit, null if there was never anything.
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
    when: When = "now"
    batches: BatchesMade | None = None

    @classmethod
    def of(
        cls,
        record: AuditRecord,
        progress: PartsProgress,
        *,
        report_url: str | None = None,
        page_url: str | None = None,
        batches: Sequence[ProviderBatch] = (),
    ) -> Self:
        """The view of an audit, with the links to its reports if there are any."""
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
            cost_usd=cost_to_show(progress.cost_usd, progress.unpriced_calls),
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
            when=record.when,
            batches=BatchesMade.of(batches),
        )


def placed(record: AuditRecord, place: BundlePlace) -> AuditRecord:
    """The audit with its bundle. The first bundle stays."""
    if record.place is not None or record.finished_at is not None:
        return record
    return record.model_copy(update={"place": place})


def planned(record: AuditRecord, plan: AuditPlan) -> AuditRecord:
    """The audit with its cases listed. The first plan stays."""
    if record.plan is not None or record.finished_at is not None:
        return record
    return record.model_copy(update={"plan": plan})


def hastened(record: AuditRecord) -> AuditRecord:
    """The audit whose cases are asked about at once from now on. The very same record if that is so already."""
    if record.finished_at is not None or record.when == "now":
        return record
    return record.model_copy(update={"hastened": True, "carried_until": None})


def concluded(record: AuditRecord, found: AuditFindings, progress: PartsProgress, *, now: datetime) -> AuditRecord:
    """The audit with its findings. The first conclusion stays."""
    if record.finished_at is not None:
        return record
    return record.model_copy(update={"found": found, "finished_at": now, **progress.paid})


def followed(record: AuditRecord, audit_id: str) -> AuditRecord:
    """The weekly audit with the id of the next week's audit, which took over from it.

    The first id stays. Nothing changes if the weekly audits were ended.
    """
    if record.followed_by is not None or not record.weekly:
        return record
    return record.model_copy(update={"followed_by": audit_id})


def ended_weekly(record: AuditRecord) -> AuditRecord:
    """The audit that will not be made again each week."""
    return record.model_copy(update={"weekly": False}) if record.weekly else record
