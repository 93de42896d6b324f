"""Where the files of an audit lie: what was asked and what came of it, and what only serves the work.

A bundle is unpacked once where a function looks into it, and kept for as long as the function is asked of the same.

artifacts/<tenant>/audits/<id>/<hash>.json, cases/<n>.json (the transcript), again/<n>.json, quality_*.{json,md}
scratch/<tenant>/audits/<id>/tasks/<n>.json, <run>.jsonl
bundles/<tenant>/<digest>/<sha256>.tar.gz, targets/<digest>.json
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from touchstone.audits.agent import AgentState, Library
from touchstone.audits.bundles.archive import digest_of, unpack
from touchstone.audits.bundles.target import Target
from touchstone.audits.case_work import Again, CaseTask
from touchstone.audits.record import BundlePlace, KeptCases
from touchstone.audits.report import QualityReport, read_report
from touchstone.errors import NotFoundError, StoreError
from touchstone.operations.jobs.files import JSON, JobFiles
from touchstone.records import Artifacts

type AuditReportFormat = Literal["json", "md"]
REPORTS: dict[AuditReportFormat, tuple[str, str]] = {
    "json": ("quality_report.json", "application/json"),
    "md": ("quality_audit.md", "text/markdown; charset=utf-8"),
}
"""The forms of a report: its file, and as what it is sent."""
LINK_SECONDS = 900
RENEWED_AFTER = timedelta(days=30)
"""A bundle is forgotten 60 days after it was stored: one that is asked for has 30 left, longer than any audit takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFiles(JobFiles):
    """The files of one audit."""

    audit_id: str

    @property
    def _folder(self) -> str:
        return f"{self.tenant}/audits/{self.audit_id}"

    def put_cases(self, cases: KeptCases) -> tuple[str, str]:
        """Keep the cases of an audit as they were read: the key of them, and their digest."""
        text = cases.model_dump_json()
        digest = hashlib.sha256(text.encode()).hexdigest()
        # Under its own hash: what was put by a request that broke off is nobody else's.
        return self._put(f"{digest}.json", text, JSON), digest

    def cases(self, key: str) -> KeptCases:
        """The cases that were kept under a key."""
        return KeptCases.model_validate_json(self.artifacts.get_text(tenant=self.tenant, key=key))

    def task(self, number: int) -> CaseTask:
        """What the work on a case needs. Raises `NotFoundError` for one that is not there, or no more."""
        return CaseTask.model_validate_json(self.scratch.get_text(tenant=self.tenant, key=self._task_key(number)))

    def put_state(self, number: int, state: AgentState) -> None:
        """Keep where the agent stands with a case, its transcript among it."""
        self._put(f"cases/{number}.json", state.model_dump_json(), JSON)

    def state(self, number: int) -> AgentState | None:
        """Where the agent stands with a case, None before its first turn."""
        return self._found(f"cases/{number}.json", AgentState)

    def put_again(self, number: int, again: Again) -> None:
        """Keep what an earlier audit's proofs of a case come to now."""
        self._put(f"again/{number}.json", again.model_dump_json(), JSON)

    def again(self, number: int) -> Again | None:
        """What an earlier audit's proofs of a case come to now, None before any was run."""
        return self._found(f"again/{number}.json", Again)

    def put_report(self, form: AuditReportFormat, text: str) -> None:
        """Keep a report."""
        name, content_type = REPORTS[form]
        self._put(name, text, content_type)

    def report(self, form: AuditReportFormat) -> str:
        """A report. Raises `NotFoundError` before there is one."""
        return self._text(REPORTS[form][0])

    def report_bytes(self, form: AuditReportFormat) -> int:
        """How long a report is. Raises `NotFoundError` before there is one."""
        return self.artifacts.size(tenant=self.tenant, key=f"{self._folder}/{REPORTS[form][0]}")

    def report_link(self, form: AuditReportFormat) -> str:
        """A link to a report."""
        return self.artifacts.download_link(tenant=self.tenant, key=f"{self._folder}/{REPORTS[form][0]}")

    def quality_report(self) -> QualityReport:
        """The report as it was computed. Raises `NotFoundError` before there is one."""
        return read_report(self.report("json").encode(), name=REPORTS["json"][0])

    def _task_key(self, number: int) -> str:
        return f"{self._folder}/tasks/{number}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFiles:
    """One tenant's bundles. What a target came to is kept, so that the same one is the same bundle."""

    bundles: Artifacts
    tenant: str

    def known(self, target: Target) -> BundlePlace | None:
        """Where the bundle of a target lies, None where it was never installed, or has been forgotten since.

        What is asked for is kept anew, so that no audit under way loses it.
        """
        named = self._target_key(target)
        try:
            text = self.bundles.get_text(tenant=self.tenant, key=named)
        except NotFoundError:
            return None
        place = BundlePlace.model_validate_json(text)
        kept = [self.bundles.renew(tenant=self.tenant, key=key, older_than=RENEWED_AFTER) for key in (place.key, named)]
        return place if all(kept) else None

    def keep(self, target: Target, place: BundlePlace, file: Path) -> None:
        """Keep an archive under its own digest, and then that this is what the target came to."""
        if not self.bundles.renew(tenant=self.tenant, key=place.key, older_than=RENEWED_AFTER):
            self.bundles.put_file(tenant=self.tenant, key=place.key, file=file)
        text = place.model_dump_json()
        self.bundles.put_text(tenant=self.tenant, key=self._target_key(target), text=text, content_type=JSON)

    def key_of(self, digest: str, sha256: str) -> str:
        """Where the archive of a bundle lies."""
        return f"{self.tenant}/{digest}/{sha256}.tar.gz"

    def fetch(self, place: BundlePlace, file: Path) -> None:
        """Write the archive of a bundle into `file`."""
        self.bundles.get_file(tenant=self.tenant, key=place.key, file=file)

    def link(self, place: BundlePlace) -> str:
        """A link to the archive that is good for a quarter of an hour."""
        return self.bundles.download_link(tenant=self.tenant, key=place.key, seconds=LINK_SECONDS)

    def _target_key(self, target: Target) -> str:
        named = hashlib.sha256(target.model_dump_json().encode()).hexdigest()
        return f"{self.tenant}/targets/{named}.json"


type FilesOf = Callable[[str], AuditFiles]
"""The files of the audit that has this id."""


@dataclass(slots=True, weakref_slot=True)
class UnpackedBundles:
    """Keeps one bundle below `folder`, as a function's disk has room for one large one. Nothing of it is run."""

    folder: Path
    _library: Library | None = None
    _sha256: str = ""

    def get(self, place: BundlePlace, fetch: Callable[[Path], None]) -> Library:
        """The library that the bundle at `place` holds; `fetch` writes its archive into a file. Raises `StoreError`."""
        if self._library is not None and self._sha256 == place.sha256:
            return self._library
        self._library = None
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder / "bundle", ignore_errors=True)  # first: the disk has no room for both
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".fetched-") as scratch:
            file = Path(scratch) / "bundle.tar.gz"
            fetch(file)
            if digest_of(file) != place.sha256:
                raise StoreError("The bundle that was fetched is not the one that was kept; it is safe to repeat.")
            bundle = unpack(file, self.folder / "bundle")
        manifest = bundle.manifest
        self._library = Library(bundle, title=f"{manifest.target.name} {manifest.version}")
        self._sha256 = place.sha256
        return self._library
