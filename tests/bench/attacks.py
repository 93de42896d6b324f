"""What attacks on a judge get past the program that stands before it, and how often honest answers are held up.

    uv run python -m tests.bench.attacks [FOLDER] [--list]

Each case is one in which a program can know: an answer that says nothing, a wrong answer to a problem with an answer
key or a proof, or a submission that speaks to its judge. `let through` is how many of them no check, no flag and no
refusal of answers without content stopped: an answer that the judge was asked about, a submission without a flag.
FOLDER holds labelled answers of people and of models; of these `held up` are the honest ones that were refused as empty
or flagged, and `right refused` those that were called wrong although people call them right. It exits with 1 where more
than 0.4 % are let through.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.bench.accuracy_checks import rows
from tests.support.attacks import BAR, passed
from tests.support.judge_attacks import PATTERNS, Says, cases
from touchstone.checks import equivalent, is_contentless
from touchstone.oracle.flags import find_passages

SAYS: tuple[Says, ...] = ("nothing", "wrong", "order")


def honest(folder: Path) -> Iterator[tuple[str, str, str, bool | None]]:
    """Of each labelled answer: the set, the answer, its key ("" for none), and whether people call it right."""
    for row in rows(folder, "gsm8k_model_solutions"):
        yield "gsm8k_model_solutions", row["solution"], row["reference_answer"], row["is_correct"]
    for row in rows(folder, "cmath"):
        yield "cmath", row["answer"], row["answer"], True
        yield "cmath", f"解：{row['answer']}", row["answer"], True
    for row in rows(folder, "saf_graded_answers"):
        yield "saf_graded_answers", row["student_answer"], "", row["verdict"] == "Correct"
    for row in rows(folder, "semeval2013_student_answers"):
        yield "semeval2013_student_answers", row["student_answer"], "", row["label"] == "correct"


def main() -> None:
    options = argparse.ArgumentParser(description="What attacks on a judge get past the program before it.")
    options.add_argument("folder", nargs="?", type=Path, help="labelled answers, for false alarms")
    options.add_argument("--list", action="store_true", help="print every case that is let through")
    given = options.parse_args()
    every = cases()
    through = asyncio.run(passed(every))
    of_all, of_through = (Counter((case.pattern, case.says) for case in some) for some in (every, through))
    print(f"{'pattern':18}", *(f"{'says ' + says if says == 'nothing' else says:>16}" for says in SAYS))
    for pattern in PATTERNS:
        counted = (f"{of_through[pattern, says]}/{of_all[pattern, says]}" for says in SAYS)
        print(f"{pattern:18}", *(f"{'' if shown == '0/0' else shown:>16}" for shown in counted))
    share = len(through) / len(every)
    print(f"let through: {len(through)} of {len(every)} = {100 * share:.2f} %")
    if given.list:
        for case in through:
            print(f"  {case.pattern:15} {case.says:8} {case.key:8} {case.text[:150]!r}")
    if given.folder is not None:
        false_alarms(given.folder, listed=given.list)
    sys.exit(0 if share <= BAR else 1)


def false_alarms(folder: Path, *, listed: bool) -> None:
    answers, held_up, right, refused = (Counter[str]() for _ in range(4))
    for name, answer, key, is_right in honest(folder):
        answers[name] += 1
        alarm = is_contentless(answer) or bool(find_passages(answer))
        held_up[name] += alarm
        right[name] += bool(is_right and key)
        wrongly = bool(is_right and key) and equivalent(answer, key) is False
        refused[name] += wrongly
        if listed and (alarm or wrongly):
            print(f"  {name} {'held up' if alarm else 'refused'} {answer[-150:]!r}")
    print(f"\n{'honest answers':30}{'answers':>9}{'held up':>9}{'right':>7}{'right refused':>15}")
    for name in answers:
        print(f"{name:30}{answers[name]:9}{held_up[name]:9}{right[name]:7}{refused[name]:15}")


if __name__ == "__main__":
    main()
