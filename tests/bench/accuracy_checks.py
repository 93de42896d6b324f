"""Precision and recall of `equivalent` on labelled answers.

    uv run python -m tests.bench.accuracy_checks FOLDER [--list]

FOLDER holds the data sets named below, one folder each with a `cases.jsonl`; those that are missing are left out.
`--list` prints every row on which check and label disagree.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.checks import equivalent

SHOWN = 110
"""Characters of a text that are printed."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two answers and what people say of them. `doubtful`: the publishers' label is mathematically wrong."""

    id: str
    given: str
    expected: str
    same: bool
    doubtful: bool = False


type Row = dict[str, Any]


def rows(folder: Path, name: str) -> Iterator[Row]:
    """The rows of one data set."""
    path = folder / name / "cases.jsonl"
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def peers(folder: Path) -> Iterator[Case]:
    """The test suites of other graders."""
    for row in rows(folder, "math_equivalence_peer_tests"):
        yield Case(row["id"], row["pred"], row["gold"], row["expected"], row["label_doubtful"])


def word_problems(folder: Path) -> Iterator[Case]:
    """Whole model solutions of English word problems against the reference answer."""
    for row in rows(folder, "gsm8k_model_solutions"):
        yield Case(row["id"], row["solution"], row["reference_answer"], row["is_correct"])


def chinese_answers(folder: Path) -> Iterator[Case]:
    """Chinese answers in the forms in which pupils and models write them, right and off by one."""
    for row in rows(folder, "cmath"):
        answer = row["answer"]
        forms = (
            "{}",
            "答案是{}。",
            "答：一共{}个。",
            "所以，结果为：\\boxed{{{}}}",
            "{}个",
            "#### {}",
            "因此，一共是{}元。",
        )
        for form in forms:
            yield Case(row["id"], form.format(answer), answer, same=True)
            if re.fullmatch(r"\d+", answer):
                yield Case(row["id"], form.format(int(answer) + 1), answer, same=False)


def choices(folder: Path) -> Iterator[Case]:
    """Chinese multiple-choice solutions against the key."""
    for row in rows(folder, "gaokao_mcq_model_answers"):
        yield Case(row["id"], row["model_output"], row["standard_answer"], row["is_correct"])


def students(folder: Path) -> Iterator[Case]:
    """Wrong solutions of pupils, and their later right ones, against the reference solution."""
    for row in rows(folder, "student_step_errors"):
        yield Case(row["id"], "\n".join(row["student_steps"]), row["reference_solution"], same=False)
        if row["student_corrected"]:
            yield Case(row["id"], row["student_corrected"], row["reference_solution"], same=True)


SETS = {
    "math_equivalence_peer_tests": peers,
    "gsm8k_model_solutions": word_problems,
    "cmath": chinese_answers,
    "gaokao_mcq_model_answers": choices,
    "student_step_errors": students,
}


def report(name: str, cases: list[Case], *, listed: bool) -> None:
    """Print how the check does on one data set; doubtful rows count apart."""
    answers = [(case, equivalent(case.given, case.expected)) for case in cases]
    sure = Counter((answer, case.same) for case, answer in answers if not case.doubtful)
    said = sum(count for (answer, _), count in sure.items() if answer)
    same = sum(count for (_, label), count in sure.items() if label)
    right = sure[True, True] + sure[False, False]
    total = sum(sure.values())
    print(
        f"{name}: {total} rows · precision {_share(sure[True, True], said)} · recall {_share(sure[True, True], same)}"
        f" · accuracy {_share(right, total)} · undecided {sum(sure[None, label] for label in (True, False))}"
        f" · wrong True {sure[True, False]} · wrong False {sure[False, True]}"
        f" · doubtful labels apart {sum(case.doubtful for case in cases)}"
    )
    for case, answer in answers if listed else ():
        if answer is not case.same:
            doubt = ", doubtful label" if case.doubtful else ""
            print(f"  {case.id}: {answer}, label {case.same}{doubt} | {_short(case.expected)} | {_short(case.given)}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} ({part}/{whole})" if whole else "–"


def _short(text: str) -> str:
    text = text.replace("\n", "⏎")
    return text if len(text) <= SHOWN else f"… {text[-SHOWN:]}"


def main(arguments: list[str]) -> None:
    """Measure all data sets in the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", dest="listed", help="print every disagreement")
    options = parser.parse_args(arguments)
    for name, cases in SETS.items():
        report(name, list(cases(options.folder)), listed=options.listed)


if __name__ == "__main__":
    main(sys.argv[1:])
