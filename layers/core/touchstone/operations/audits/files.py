"""Where the files of an audit lie: its request and results (artifacts), and files that only its work needs (scratch).

A function that reads a bundle unpacks it once, and keeps it as long as it is asked about the same bundle.

artifacts/<tenant>/audits/<id>/<hash>.json, cases/<n>.json (the transcript), again/<n>.json, quality_*.{json,md}
scratch/<tenant>/audits/<id>/tasks/<n>.json, wanted/<n>.json, brought/<n>.json, <run>.jsonl, provider-batches.txt
bundles/<tenant>/<digest>/<sha256>.tar.gz, targets/<digest>.json
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from touchstone.audits.agent import AgentState, Library
from touchstone.audits.bundles.archive import unpack
from touchstone.audits.bundles.target import Target
from touchstone.audits.case_work import BatchTurn, CaseTask, RecheckState
from touchstone.audits.record import BundlePlace, KeptCases
from touchstone.audits.report import QualityReport, read_report
from touchstone.errors import NotFoundError, StoreError
from touchstone.operations.jobs.files import JSON, JobFiles, side_by_side
from touchstone.operations.jobs.waiting import OpenLine
from touchstone.records import Artifacts
from touchstone.whole_files import sha256_of

type AuditReportFormat = Literal["json", "md"]
REPORTS: dict[AuditReportFormat, tuple[str, str]] = {
    "json": ("quality_report.json", "application/json"),
    "md": ("quality_audit.md", "text/markdown; charset=utf-8"),
}
"""The formats of a report, each with its file name and content type."""
RENEWED_AFTER = timedelta(days=30)
"""A bundle is deleted 60 days after it was stored. A request renews a bundle of this age, so that it has at least 30
days left: longer than any audit takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFiles(JobFiles):
    """The files of one audit."""

    plural = "audits"
    parts = "tasks"

    def put_cases(self, cases: KeptCases) -> tuple[str, str]:
        """Store the cases of an audit as they were read. Return their key and their digest."""
        text = cases.model_dump_json()
        digest = hashlib.sha256(text.encode()).hexdigest()
        # The key holds the hash: a request that broke off leaves a file that no other content can be mistaken for.
        return self._put(f"{digest}.json", text, JSON), digest

    def cases(self, key: str) -> KeptCases:
        """The cases that were stored under a key."""
        return KeptCases.model_validate_json(self.artifacts.get_text(tenant=self.tenant, key=key))

    def task(self, number: int) -> CaseTask:
        """The task of a case. Raises `NotFoundError` if there is none, or none any more."""
        return self._task(number, CaseTask)

    def put_state(self, number: int, state: AgentState) -> None:
        """Store the agent's state in a case, including its transcript."""
        self._put(f"cases/{number}.json", state.model_dump_json(), JSON)

    def state(self, number: int) -> AgentState | None:
        """The agent's state in a case. None before its first turn."""
        return self._found(f"cases/{number}.json", AgentState)

    def put_again(self, number: int, again: RecheckState) -> None:
        """Store the present results of a case's proofs from an earlier audit."""
        self._put(f"again/{number}.json", again.model_dump_json(), JSON)

    def again(self, number: int) -> RecheckState | None:
        """The present results of a case's proofs from an earlier audit. None before any proof was run."""
        return self._found(f"again/{number}.json", RecheckState)

    def put_wanted(self, number: int, line: OpenLine) -> None:
        """Store the questions that a case has for a batch."""
        self._put_scratch(f"wanted/{number}.json", line.model_dump_json())

    def all_wanted(self, numbers: Iterable[int]) -> list[OpenLine | None]:
        """The questions that cases have for batches, in the order of `numbers`. None for a case whose file is gone."""
        return side_by_side(lambda number: self._scratched(f"wanted/{number}.json", OpenLine), numbers)

    def put_brought(self, number: int, brought: BatchTurn) -> None:
        """Store the first turn that a batch brought for a case."""
        self._put_scratch(f"brought/{number}.json", brought.model_dump_json())

    def brought(self, number: int) -> BatchTurn | None:
        """The first turn that a batch brought for a case. None if its file is gone."""
        return self._scratched(f"brought/{number}.json", BatchTurn)

    def put_report(self, form: AuditReportFormat, text: str) -> None:
        """Store a report."""
        name, content_type = REPORTS[form]
        self._put(name, text, content_type)

    def report(self, form: AuditReportFormat) -> str:
        """The text of a report. Raises `NotFoundError` before there is one."""
        return self._text(REPORTS[form][0])

    def report_bytes(self, form: AuditReportFormat) -> int:
        """The size of a report in bytes. Raises `NotFoundError` before there is one."""
        return self.artifacts.size(tenant=self.tenant, key=f"{self._folder}/{REPORTS[form][0]}")

    def report_link(self, form: AuditReportFormat) -> str:
        """A link to a report."""
        return self.artifacts.download_link(tenant=self.tenant, key=f"{self._folder}/{REPORTS[form][0]}")

    def quality_report(self) -> QualityReport:
        """The report as data. Raises `NotFoundError` before there is one."""
        return read_report(self.report("json").encode(), name=REPORTS["json"][0])


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFiles:
    """One tenant's bundles. The bundle of each target is noted, so that the same target always has the same bundle."""

    bundles: Artifacts
    tenant: str

    def known(self, target: Target) -> BundlePlace | None:
        """The place of the bundle of a target. None if the target was never installed, or its bundle was deleted since.

        A bundle that is asked for is renewed, so that no audit under way loses it.
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
        """Store an archive under its own digest, then store that it is the bundle of this target."""
        if not self.bundles.renew(tenant=self.tenant, key=place.key, older_than=RENEWED_AFTER):
            self.bundles.put_file(tenant=self.tenant, key=place.key, file=file)
        text = place.model_dump_json()
        self.bundles.put_text(tenant=self.tenant, key=self._target_key(target), text=text, content_type=JSON)

    def key_of(self, digest: str, sha256: str) -> str:
        """The key of the archive of a bundle."""
        return f"{self.tenant}/{digest}/{sha256}.tar.gz"

    def fetch(self, place: BundlePlace, file: Path) -> None:
        """Write the archive of a bundle into `file`."""
        self.bundles.get_file(tenant=self.tenant, key=place.key, file=file)

    def link(self, place: BundlePlace) -> str:
        """A link to the archive that is good for a quarter of an hour."""
        return self.bundles.download_link(tenant=self.tenant, key=place.key)

    def _target_key(self, target: Target) -> str:
        named = hashlib.sha256(target.model_dump_json().encode()).hexdigest()
        return f"{self.tenant}/targets/{named}.json"


type FilesOf = Callable[[str], AuditFiles]
"""Gives the files of the audit with this id."""


@dataclass(slots=True, weakref_slot=True)
class UnpackedBundles:
    """Keeps one unpacked bundle below `folder`: a function's disk has room for one large bundle.

    No code of it is run.
    """

    folder: Path
    _library: Library | None = None
    _sha256: str = ""

    def get(self, place: BundlePlace, fetch: Callable[[Path], None]) -> Library:
        """The library that the bundle at `place` holds; `fetch` writes its archive into a file. Raises `StoreError`."""
        if self._library is not None and self._sha256 == place.sha256:
            return self._library
        self._library = None
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder / "bundle", ignore_errors=True)  # before the new one: the disk has no room for both
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".fetched-") as scratch:
            file = Path(scratch) / "bundle.tar.gz"
            fetch(file)
            if sha256_of(file) != place.sha256:
                raise StoreError("The bundle that was fetched is not the one that was kept; it is safe to repeat.")
            bundle = unpack(file, self.folder / "bundle")
        manifest = bundle.manifest
        self._library = Library(bundle, title=f"{manifest.target.name} {manifest.version}")
        self._sha256 = place.sha256
        return self._library
