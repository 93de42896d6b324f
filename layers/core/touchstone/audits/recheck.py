"""The stored proofs of a report, run again against another version of its target. No model is asked.

A case has drifted if one of its options stands otherwise than before: it is proved and was refuted, it is refuted and
held, or it is no longer proved. The new rating of such a case comes from scripts that were written for another version,
so the case should be solved again. All other cases stand as before, now proved for this version.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from touchstone.audits.bundles.target import Bundle, Manifest, Target
from touchstone.audits.drift import Drift, drift_of
from touchstone.audits.report.model import (
    AuditedCase,
    QualityReport,
    StoredProof,
    audited_case,
    quality_report,
    stored_proof,
)
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.prove import check_import, prove
from touchstone.audits.verdict import Rating
from touchstone.errors import InputError
from touchstone.strict import Strict

type Progress = Callable[[int, int], None]
"""Called with the number of proofs that are done and the number of all proofs."""


class Recheck(Strict):
    """The result of a recheck. `report` is on the new target, with the present outcomes; `before` is the old target."""

    before: Manifest
    report: QualityReport
    drifts: tuple[Drift, ...]

    def newly(self, rating: Rating) -> tuple[str, ...]:
        """The ids of the cases that have this rating now and had another one before."""
        return tuple(one.id for one in self.drifts if one.rating_now == rating != one.rating_before)


def check_same_library(before: Target, now: Target) -> None:
    """Raise InputError if the proofs are about another library than `now`: run against it, they could prove nothing."""
    if before.name != now.name:
        raise InputError(f"The proofs are about {before.name}; {now.name} is another library.", where="requirement")


def recheck(
    report: QualityReport,
    bundle: Bundle,
    *,
    sandbox: Sandbox,
    made_at: datetime,
    jobs: int = 1,
    progress: Progress = lambda _done, _total: None,
) -> Recheck:
    """Run every stored proof of `report` in `sandbox` against `bundle`, `jobs` of them at a time.

    Blocks until all are done. Each proof takes twice the import of the target, and a little more. Raises InputError if
    the target is another library or cannot be imported, and SettingsError if the sandbox cannot be made.
    """
    check_same_library(report.target.target, bundle.manifest.target)
    check_import(bundle, sandbox=sandbox)
    proofs = [proof for case in report.cases for proof in case.proofs]
    results = _run_again(proofs, report, bundle, sandbox=sandbox, jobs=jobs, progress=progress)
    cases: list[AuditedCase] = []
    drifts: list[Drift] = []
    for before in report.cases:
        now = audited_case(
            before.case,
            results[: len(before.proofs)],
            source=before.source,
            stopped=before.stopped,
            critique=before.critique,
        )
        del results[: len(before.proofs)]
        if (drift := drift_of(before, now)) is not None:
            drifts.append(drift)
            now = now.model_copy(update={"critique": None})  # it describes the options as they stood before
        cases.append(now)
    found = quality_report(bundle.manifest, cases, limits=report.limits, trusted=sandbox.trusted, made_at=made_at)
    return Recheck(before=report.target, report=found, drifts=tuple(drifts))


def _run_again(
    proofs: Sequence[StoredProof],
    report: QualityReport,
    bundle: Bundle,
    *,
    sandbox: Sandbox,
    jobs: int,
    progress: Progress,
) -> list[StoredProof]:
    """The proofs with their new results, in the same order."""

    def run(proof: StoredProof) -> StoredProof:
        result = prove(proof.script, bundle, sandbox=sandbox, limits=report.limits)
        return stored_proof(proof.label, proof.script, result)

    done: list[StoredProof] = []
    progress(0, len(proofs))
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="proof") as pool:
        running = pool.map(run, proofs)
        try:
            for result in running:
                done.append(result)
                progress(len(done), len(proofs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return done
