"""How often proofs come to what was labelled by execution, and cases are rated as labelled.

    uv run python -m tests.bench.accuracy_audits FOLDER --cache CACHE [--out RESULTS] [--versions V,V] [--only WHAT]

FOLDER holds `adk_api_claims` and `adk_mcq_audit`, one folder each with a `cases.jsonl`. CACHE keeps the bundles (2 GB).
RESULTS (JSON Lines) keeps each proof as it is run, so that a run that was stopped goes on where it was. Every proof
imports the library anew, in seconds of processor time.
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.accuracy_checks import rows
from touchstone.audits.bundles import Bundles, Target
from touchstone.audits.case import AuditCase
from touchstone.audits.sandbox.bubblewrap import open_sandbox
from touchstone.audits.sandbox.prove import prove
from touchstone.audits.sandbox.result import Outcome, ProofResult
from touchstone.audits.verdict import rate

SHOWN = 160
"""Characters of a sentence that are printed."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A script for one version, and what it is labelled to come to."""

    key: str
    requirement: str
    code: str
    holds: bool


def claims(folder: Path, versions: list[str]) -> Iterator[Proof]:
    """Claims, each against every version: version by version, so that one bundle is in use at a time."""
    found = list(rows(folder, "adk_api_claims"))
    for version in versions:
        for row in found:
            label = row["holds"][version]
            yield Proof(f"{row['id']}@{version}", f"google-adk=={version}", row["code"], label)


def options(folder: Path) -> Iterator[Proof]:
    """Options of cases."""
    for row in rows(folder, "adk_mcq_audit"):
        for label, proof in row["proof"].items():
            yield Proof(f"{row['id']}/{label}", row["library"], proof["code"], proof["outcome"] == "ok")


def proved(proofs: list[Proof], cache: Path, out: Path | None) -> dict[str, dict[str, Any]]:
    """What each proof comes to, by its key: those that `out` has already, and the others run now."""
    done: dict[str, dict[str, Any]] = {}
    if out is not None and out.exists():
        done = {told["key"]: told for told in map(json.loads, out.read_text("utf-8").splitlines())}
    sandbox, bundles = open_sandbox(), Bundles(cache)
    for proof in proofs:
        if proof.key in done:
            continue
        bundle = bundles.build(Target(requirement=proof.requirement))
        started = time.monotonic()
        result: ProofResult = prove(proof.code, bundle, sandbox=sandbox)
        took = time.monotonic() - started
        told = {"key": proof.key, "seconds": took} | result.model_dump(exclude={"stdout", "stderr"})
        done[proof.key] = told
        if out is not None:
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
    return done


def report(name: str, proofs: list[Proof], done: dict[str, dict[str, Any]]) -> None:
    """Print how often outcome and label agree, and every disagreement."""
    wanted = {proof.key: "holds" if proof.holds else "refuted" for proof in proofs}
    wrong = [key for key, outcome in wanted.items() if done[key]["outcome"] != outcome]
    seconds = [done[key]["cpu_seconds"] for key in wanted]
    print(f"{name}: {len(wanted) - len(wrong)} of {len(wanted)} as labelled; outcomes ", end="")
    print(dict(Counter(done[key]["outcome"] for key in wanted)))
    print(f"    CPU beyond the import: median {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s")
    for key in wrong:
        print(f"    {key}: {done[key]['outcome']}, labelled {wanted[key]}: {done[key]['reason'][:SHOWN]!r}")


def ratings(folder: Path, done: dict[str, dict[str, Any]]) -> None:
    """Print how often cases are rated as labelled."""
    counted: Counter[tuple[str, str]] = Counter()
    for row in rows(folder, "adk_mcq_audit"):
        case = AuditCase.model_validate(
            {
                "id": row["id"],
                "question": row["question"],
                "options": [{"label": label, "text": text} for label, text in row["options"].items()],
                "ground_truth": row["correct_answer"],
            }
        )
        outcomes: dict[str, Outcome] = {label: done[f"{row['id']}/{label}"]["outcome"] for label in row["proof"]}
        verdict = rate(case, outcomes)
        counted[row["audit"], verdict.rating] += 1
        if verdict.rating != row["audit"]:
            print(f"    {row['id']}: {verdict.rating}, labelled {row['audit']}: {' '.join(verdict.missing)[:SHOWN]}")
    right = sum(count for (label, rating), count in counted.items() if label == rating)
    print(f"ratings: {right} of {counted.total()} as labelled; (label, rating) {dict(counted)}")


def main() -> int:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--versions", default="1.20.0,1.22.0,2.13.0")
    parser.add_argument("--only", choices=["claims", "cases"])
    given = parser.parse_args()
    if given.only != "cases":
        for version in given.versions.split(","):
            proofs = list(claims(given.folder, [version]))
            report(f"claims about {version}", proofs, proved(proofs, given.cache, given.out))
    if given.only != "claims":
        proofs = list(options(given.folder))
        done = proved(proofs, given.cache, given.out)
        report("options of cases", proofs, done)
        ratings(given.folder, done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
