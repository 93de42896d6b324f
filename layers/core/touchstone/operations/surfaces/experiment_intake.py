"""Requests about experiments: run one, see its progress, read its report. A repeat meets the same record."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from touchstone.errors import ConflictError, NotFoundError
from touchstone.operations.jobs.files import JSON
from touchstone.operations.jobs.intake import BatchedIntake
from touchstone.operations.retention import RENEWED_AFTER
from touchstone.operations.surfaces.experiment_files import UPLOADS, ExperimentFiles, ReportFormat, digest_of_upload
from touchstone.records import Artifacts, Experiments, Pairs, new_ulid
from touchstone.references import Reference
from touchstone.surfaces.experiments.record import ExperimentRecord, ExperimentRequest, ExperimentView, set_to_now


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentIntake(BatchedIntake):
    """Accepts and shows one tenant's experiments."""

    experiments: Experiments
    pairs: Pairs
    artifacts: Artifacts
    files: Callable[[str], ExperimentFiles]

    def run(self, request: ExperimentRequest, *, key: str | None) -> ExperimentRecord:
        """Run an experiment; `key` is the sender's own."""
        experiment_id = self.new_id(key, called="experiment")
        content_key, content_hash = self._handed_in(request, experiment_id)
        record = self.experiments.create(
            ExperimentRecord(
                tenant=self.tenant,
                id=experiment_id,
                created_at=self.clock(),
                content_key=content_key,
                content_hash=content_hash,
                use_cache=request.use_cache,
                when=self.when(request.when),
            )
        )
        if record.finished_at is None:
            self.workflows().start("experiment", record.ref)
        return record

    def ask_now(self, experiment_id: str, *, pay_twice: bool) -> ExperimentRecord:
        """From now on, ask at once for an experiment that goes by batches; any other experiment stays as it is.

        Raises `ConflictError` if one of its batches is at a provider, unless `pay_twice` is set.
        """
        which = Reference(self.tenant, "experiment", experiment_id)
        record = self.experiments.get(which)
        if record.when == "now" or record.finished_at is not None:
            return record
        self.refuse_paid(record.batches, called="experiment", pay_twice=pay_twice)
        record = self.experiments.change(which, set_to_now)
        self.workflows().start("experiment", which, run=self.run_now())
        return record

    def view(self, experiment_id: str) -> ExperimentView:
        """An experiment with its progress."""
        return self.shown(self.experiments.get(Reference(self.tenant, "experiment", experiment_id)))

    def shown(self, record: ExperimentRecord) -> ExperimentView:
        """The view of an experiment's record."""
        progress = self.pairs.progress(record.ref)
        batches = self.made_batches(record.batches)
        if record.state != "done":
            return ExperimentView.of(record, progress, batches=batches)
        files = self.files(record.id)
        return ExperimentView.of(
            record, progress, conclusion=files.conclusion(), items_url=files.items_link(), batches=batches
        )

    def report(self, experiment_id: str, form: ReportFormat) -> str:
        """The report of an experiment. Raises `ConflictError` if there is no report yet."""
        record = self.experiments.get(Reference(self.tenant, "experiment", experiment_id))
        if record.state != "done":
            raise ConflictError(f"The experiment has no report: its state is {record.state}.")
        return self.files(experiment_id).report(form)

    def upload_link(self) -> tuple[str, str]:
        """The key under which to upload the file of an experiment, and a link for the upload that expires soon."""
        key = f"{self.tenant}/{UPLOADS}/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type=JSON)

    def _handed_in(self, request: ExperimentRequest, experiment_id: str) -> tuple[str, str]:
        """The key of the experiment's file, and the digest that tells this experiment from another."""
        if request.experiment is not None:
            text = request.experiment.model_dump_json()
            digest = hashlib.sha256(text.encode()).hexdigest()
            # The key holds the hash: a request that broke off leaves a file that no other content can be mistaken for.
            return self.files(experiment_id).put_content(text, digest), digest
        key = request.experiment_key or ""
        if not key.startswith(f"{self.tenant}/{UPLOADS}/"):
            raise NotFoundError("There is no uploaded file with this key; upload one first, and give the key of that.")
        self.artifacts.renew(tenant=self.tenant, key=key, older_than=RENEWED_AFTER)
        return key, digest_of_upload(key, self.artifacts.version(tenant=self.tenant, key=key))
