"""Requests about audits: make one, run its proofs again, see its progress, read its report, repeat it weekly."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from pydantic import ValidationError

from touchstone.audits.bundles.target import Target
from touchstone.audits.loading import LoadedCase, load_text
from touchstone.audits.recheck import check_same_library
from touchstone.audits.record import (
    MAX_ALL_CHARS,
    MAX_CASES,
    AuditRecord,
    AuditRequest,
    AuditTerms,
    AuditView,
    DefinitionFile,
    KeptCase,
    KeptCases,
    RecheckRequest,
    ended_weekly,
    followed,
    hastened,
)
from touchstone.audits.report import CaseSource
from touchstone.errors import ConflictError, InputError, LimitError, TooLargeError, TouchstoneError
from touchstone.operations.audits.files import AuditReportFormat, FilesOf
from touchstone.operations.jobs.files import MAX_REPORT_BYTES
from touchstone.operations.jobs.intake import BatchedIntake
from touchstone.operations.jobs.sweep import MOST, SweptJobs
from touchstone.parts import PartsProgress, failed
from touchstone.records import WEEKLY, Audits, Cases
from touchstone.references import Reference
from touchstone.strict import fault_sentence

MOST_TOLD = 20
"""How many faults of definitions one refusal names."""
MAX_UNFINISHED = 20
"""How many unfinished audits a tenant may have. Each may hold four functions and four sandboxes, which no spending
ceiling limits."""
LOOKED_AT = 100
"""How many of the newest audits are read to count the unfinished ones."""
ENDED_WEEKLY = "It was ended while it was being begun that the audit is made again each week."


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditIntake(BatchedIntake):
    """Accepts and shows one tenant's audits.

    Every method raises `NotFoundError` for a record that the tenant does not have, and `StoreError` if the request is
    to be repeated. A method that begins an audit at somebody's request raises `LimitError` if the tenant has too many
    unfinished audits.
    """

    audits: Audits
    cases: Cases
    files: FilesOf

    def audit(self, request: AuditRequest, *, key: str | None) -> AuditRecord:
        """Audit a benchmark; `key` is the sender's own.

        Raises `InputError` for faulty definitions, each fault with its file, line and field, and `ConflictError` if the
        audit `previous` has no report.
        """
        kept = _cases_in(request.files)
        if request.previous is not None:
            self._reported(request.previous)
        terms = AuditTerms(
            target=request.target,
            provider=request.provider,
            bounds=request.bounds,
            limits=request.limits,
            max_cost_usd=request.max_cost_usd,
            previous=request.previous,
            when=self.when(request.when),
        )
        return self._started(self._kept(kept, terms, weekly=request.weekly, key=key, kind="audit"))

    def recheck(self, audit_id: str, request: RecheckRequest, *, key: str | None) -> AuditRecord:
        """Run the stored proofs of an audit against another version of its target; no model is asked.

        Raises `ConflictError` if the audit has no report, and `InputError` if the requirement is not valid or is of
        another library.
        """
        before = self._reported(audit_id)
        also = before.terms.target.also if request.also is None else request.also
        try:
            target = Target(requirement=request.requirement, also=also)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            raise InputError(f"{fault_sentence(fault)}.", where=str(fault["loc"][0])) from None
        check_same_library(before.terms.target, target)
        terms = AuditTerms(kind="recheck", target=target, limits=before.terms.limits, previous=audit_id)
        kept = self.files(audit_id).cases(before.content_key)
        return self._started(self._kept(kept, terms, weekly=False, key=key, kind="recheck"))

    def next_of(self, before: AuditRecord) -> AuditRecord:
        """Begin the audit that follows a weekly audit. A repeat, whenever it comes, meets the same audit.

        If somebody has just ended the weekly repetition of `before`, the new audit is stored as failed and not started.
        """
        previous = before.id if before.state == "done" else before.terms.previous
        terms = before.terms.model_copy(update={"previous": previous, "anew": True})
        kept = self.files(before.id).cases(before.content_key)
        record = self._kept(kept, terms, weekly=True, key=before.id, kind="weekly-audit")
        before = self.audits.change(
            before.ref, lambda one: followed(one, record.id)
        )  # before the start: if the start fails, the sweep starts it
        if before.followed_by != record.id:
            self.audits.change(record.ref, ended_weekly)
            nothing = PartsProgress()
            return self.audits.change(record.ref, lambda one: failed(one, ENDED_WEEKLY, nothing, now=self.clock()))
        return self._started(record)

    def ask_now(self, audit_id: str, *, pay_twice: bool) -> AuditRecord:
        """From now on, ask at once for the first turns of an audit that uses batches; any other audit stays as it is.

        Raises `ConflictError` if one of its batches is at a provider, unless `pay_twice` is set.
        """
        record = self.audits.get(self._ref(audit_id))
        if record.when == "now" or record.finished_at is not None:
            return record
        self.refuse_paid(record.batches, called="audit", pay_twice=pay_twice)
        record = self.audits.change(record.ref, hastened)
        self.workflows().start("audit", record.ref, run=self.run_now())
        return record

    def view(self, audit_id: str) -> AuditView:
        """An audit with its progress."""
        return self.shown(self.audits.get(self._ref(audit_id)))

    def shown(self, record: AuditRecord) -> AuditView:
        """The view of an audit record."""
        progress, batches = self.cases.progress(record.ref), self.made_batches(record.batches)
        if record.state != "done":
            return AuditView.of(record, progress, batches=batches)
        files = self.files(record.id)
        report_url, page_url = files.report_link("json"), files.report_link("md")
        return AuditView.of(record, progress, report_url=report_url, page_url=page_url, batches=batches)

    def end_weekly(self, audit_id: str) -> AuditRecord:
        """End the weekly repetition of an audit and of all audits that followed it. Return the last of them."""
        record = self.audits.change(self._ref(audit_id), ended_weekly)
        while record.followed_by is not None:
            record = self.audits.change(self._ref(record.followed_by), ended_weekly)
        return record

    def report(self, audit_id: str, form: AuditReportFormat) -> str:
        """The report of an audit.

        Raises `ConflictError` if there is no report yet, or if it is too large for a reply.
        """
        self._reported(audit_id)
        files = self.files(audit_id)
        if (size := files.report_bytes(form)) > MAX_REPORT_BYTES:
            link = {"json": "report_url", "md": "page_url"}[form]
            raise ConflictError(f"The report has {size:,} bytes, too many for a reply: read it by the audit's {link}.")
        return files.report(form)

    def _ref(self, audit_id: str) -> Reference:
        return Reference(self.tenant, "audit", audit_id)

    def _reported(self, audit_id: str) -> AuditRecord:
        record = self.audits.get(self._ref(audit_id))
        if record.state != "done":
            raise ConflictError(f"The audit has no report: its state is {record.state}.")
        return record

    def _kept(self, kept: KeptCases, terms: AuditTerms, *, weekly: bool, key: str | None, kind: str) -> AuditRecord:
        audit_id = self.new_id(key, called=kind)
        if kind != "weekly-audit" and self.audits.find(self._ref(audit_id)) is None:
            self._check_room()
        content_key, content_hash = self.files(audit_id).put_cases(kept)
        return self.audits.create(
            AuditRecord(
                tenant=self.tenant,
                id=audit_id,
                created_at=self.clock(),
                terms=terms,
                content_key=content_key,
                content_hash=content_hash,
                weekly=weekly,
            )
        )

    def _check_room(self) -> None:
        """Raise `LimitError` if the tenant has as many unfinished audits as it may have."""
        page = self.audits.page(tenant=self.tenant, limit=LOOKED_AT)
        unfinished = sum(one.finished_at is None for one in page.items)
        if unfinished >= MAX_UNFINISHED:
            raise LimitError(f"{unfinished} audits are at work, which is the most: wait until one is over.", until=None)

    def _started(self, record: AuditRecord) -> AuditRecord:
        if record.finished_at is None:
            self.workflows().start("audit", record.ref)
        return record


def _cases_in(files: tuple[DefinitionFile, ...]) -> KeptCases:
    """The cases that the files define.

    Raises `InputError` with the place of every fault, `TooLargeError` for too many.
    """
    size = sum(len(file.text) for file in files)
    if size > MAX_ALL_CHARS:
        raise TooLargeError(f"The definitions have {size:,} characters; {MAX_ALL_CHARS:,} are taken. Split them.")
    faults: list[str] = []
    found: dict[str, LoadedCase] = {}
    for file in files:
        loaded = load_text(file.text, name=file.name)
        faults += [str(fault) for fault in loaded.faults]
        for one in loaded.cases:
            if found.setdefault(one.case.id, one) is not one:
                faults.append(f"{one.file}:{one.line}: The id {one.case.id[:64]!r} is there twice.")
    if faults:
        more = f" … and {len(faults) - MOST_TOLD} more" if len(faults) > MOST_TOLD else ""
        raise InputError("; ".join(faults[:MOST_TOLD]) + more, where="files")
    if not found:
        raise InputError("There are no cases in what was sent.", where="files")
    if len(found) > MAX_CASES:
        raise TooLargeError(f"There are {len(found):,} cases; {MAX_CASES:,} are taken at once. Split them.")
    cases = enumerate(found.values(), start=1)
    return KeptCases(
        cases=tuple(
            KeptCase(number=number, case=one.case, source=CaseSource(file=str(one.file), line=one.line))
            for number, one in cases
        )
    )


WEEK = timedelta(days=6)
"""How old a weekly audit's end must be for its successor to begin. A younger one was made late, and is left to the next
run."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyAudits:
    """Begins the weekly audits: each follows the audit of the week before, whose proofs are run first."""

    audits: Audits
    intake: Callable[[str], AuditIntake]

    def run(self) -> SweptJobs:
        """Begin all weekly audits that are due; `restarted` counts those that were begun."""
        started = [self._begun(one) for one in self.audits.listed(WEEKLY, older_than=WEEK, limit=MOST)]
        return SweptJobs(restarted=started.count(True), stuck=started.count(False))

    def _begun(self, one: Reference) -> bool | None:
        try:
            before = self.audits.get(one)
            if not before.weekly or before.followed_by is not None:
                return None
            self.intake(one.tenant).next_of(before)
        except TouchstoneError:
            logger.error("The week's audit after %s could not be begun", one.id)  # noqa: TRY400 - the words add nothing
            return False
        return True
