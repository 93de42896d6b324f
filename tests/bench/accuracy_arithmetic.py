"""How often `first_arithmetic_error` is right, on labelled solutions in a folder outside the project.

    uv run python -m tests.bench.accuracy_arithmetic FOLDER

FOLDER holds the sets `mr_gsm8k_first_error`, `gsm8k_model_solutions`, `student_step_errors`, `bigbench_mistake` and
`mr_ben_first_error`, each with a `cases.jsonl`. Of every set: how many solutions were flagged, how many of those at the
step where people saw the first error, and each flag elsewhere in full, for a person to judge. Few of the errors that
people saw are false arithmetic, so that the share flagged is no recall.
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.checks import Finding, first_arithmetic_error


@dataclass
class Tally:
    """The figures of one set."""

    name: str
    labelled_wrong: int = 0
    labelled_right: int = 0
    flagged_wrong: int = 0
    at_human_step: int = 0
    flagged_right: int = 0
    elsewhere: list[str] = field(default_factory=list)

    def add(self, row: str, steps: Iterable[str], wrong_step: int | None) -> None:
        """Check one solution. `wrong_step` counts from 0; None: labelled right; -1: wrong, the step unknown."""
        found = next(self._flags(steps), None)
        self.labelled_right += wrong_step is None
        self.labelled_wrong += wrong_step is not None
        if found is None:
            return
        step, finding = found
        self.flagged_right += wrong_step is None
        self.flagged_wrong += wrong_step is not None
        self.at_human_step += step == wrong_step
        if step != wrong_step:
            self.elsewhere.append(f"{row} step {step} (people: {wrong_step}): {finding.detail}")

    @staticmethod
    def _flags(steps: Iterable[str]) -> Iterator[tuple[int, Finding]]:
        for place, step in enumerate(steps):
            finding = first_arithmetic_error(step)
            if finding is not None:
                yield place, finding

    def report(self) -> None:
        """Print the figures."""
        print(
            f"{self.name}: labelled wrong {self.labelled_wrong}, flagged {self.flagged_wrong}, "
            f"of those at the human step {self.at_human_step}; "
            f"labelled right {self.labelled_right}, flagged {self.flagged_right}"
        )
        for line in self.elsewhere:
            print(f"    {line}")


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


def main(folder: Path) -> None:
    """Measure all sets and print what was found."""
    start = time.perf_counter()
    tally = Tally("mr_gsm8k_first_error")
    for row in _rows(folder, tally.name):
        tally.add(row["id"], row["steps"], row["first_error_step"] - 1)
    tally.report()
    tally = Tally("gsm8k_model_solutions")
    for row in _rows(folder, tally.name):
        tally.add(row["id"], [row["solution"]], None if row["is_correct"] else -1)
    tally.report()
    tally = Tally("student_step_errors")
    for row in _rows(folder, tally.name):
        tally.add(row["id"], row["student_steps"], row["error_index"])
    tally.report()
    tally = Tally("reference solutions of the three sets above")
    for name in ("mr_gsm8k_first_error", "gsm8k_model_solutions", "student_step_errors"):
        for row in _rows(folder, name):
            tally.add(row["id"], [row["reference_solution"]], None)
    tally.report()
    tally = Tally("bigbench_mistake, multistep arithmetic")
    for row in _rows(folder, "bigbench_mistake"):
        if row["task"] == "multistep_arithmetic":
            tally.add(row["id"], row["steps"], row["mistake_index"])
    tally.report()
    tally = Tally("mr_ben_first_error")
    for row in _rows(folder, tally.name):
        tally.add(row["id"], row["steps"], None if row["first_error_step"] is None else row["first_error_step"] - 1)
    tally.report()
    print(f"{time.perf_counter() - start:.2f} s in all")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
