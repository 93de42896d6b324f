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
from decimal import Decimal
from pathlib import Path
from typing import Any

from touchstone.checks import equivalent

SHOWN = 110
"""Characters of a text that are printed."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two answers and what people say of them. `left_out`: why the label says nothing of the two answers alone."""

    id: str
    given: str
    expected: str
    same: bool
    left_out: str = ""


type Row = dict[str, Any]


def rows(folder: Path, name: str) -> Iterator[Row]:
    """The rows of one data set."""
    path = folder / name / "cases.jsonl"
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def peers(folder: Path) -> Iterator[Case]:
    """The test suites of other graders, but for what an option of theirs decides, or their tolerance."""
    every = list(rows(folder, "math_equivalence_peer_tests"))
    labels: dict[tuple[str, str], set[bool]] = {}
    for row in every:
        labels.setdefault((row["gold"], row["pred"]), set()).add(row["expected"])
    for row in every:
        both = len(labels[row["gold"], row["pred"]]) > 1
        yield Case(row["id"], row["pred"], row["gold"], row["expected"], _left_out(row, labelled_both_ways=both))


def _left_out(row: Row, *, labelled_both_ways: bool) -> str:
    """Why a row of a peer's tests says nothing of what the check decides; "" where it does."""
    if row["label_doubtful"]:
        return "the publishers' label is mathematically wrong"
    if labelled_both_ways:
        options = {name: value for name, value in row["params"].items() if name not in ("match_types", "language")}
        return f"another row labels the same two texts the other way: the option {options} decides"
    gold, pred = row["gold"], row["pred"]
    if row["expected"] and any(_is_rounded(*pair) for pair in ((gold, pred), (pred, gold))):
        return "a rounded decimal counts as the exact value: the peer's tolerance decides"
    return ""


def _is_rounded(decimal: str, exact: str) -> bool:
    """Whether one side is a decimal of three places or more, and the other an irrational one."""
    places = re.findall(r"\d\.(\d{3,9})(?!\d)", decimal)
    return bool(places) and not re.search(r"\d\.\d{3}", exact) and bool(re.search(r"\\(?:pi|sqrt|cos|sin)|π|√", exact))


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


_TOLD = re.compile(r"【答案】\W*([A-H](?:[\s,，、和]*[A-H])*)(?![A-Za-z])")
"""The options that a solution says are its answer."""


def choices(folder: Path) -> Iterator[Case]:
    """Chinese multiple-choice solutions against the key.

    Left out are those that answer several options of which the publishers took the last: the label is of that one.
    """
    for row in rows(folder, "gaokao_mcq_model_answers"):
        told = {*"ABCDEFGH"}.intersection((_TOLD.findall(row["model_output"]) or [""])[-1])
        why = "the label is of one of the options that the text answers" if told > {row["model_answer"]} else ""
        yield Case(row["id"], row["model_output"], row["standard_answer"], row["is_correct"], why)


def students(folder: Path) -> Iterator[Case]:
    """Wrong solutions of pupils, and their later right ones, against the reference solution."""
    for row in rows(folder, "student_step_errors"):
        yield Case(row["id"], "\n".join(row["student_steps"]), row["reference_solution"], same=False)
        if row["student_corrected"]:
            yield Case(row["id"], row["student_corrected"], row["reference_solution"], same=True)


_DISPLAYED = re.compile(r"\\(?:mathrm|text)\s?\{\s?~?\s?([^{}]*?)\s?\}")
_LIKE = {"J": ("kJ", 1000), "kJ": ("J", -1000), "m": ("cm", -100), "km": ("m", -1000), "mm": ("m", 1000),
         "V": ("mV", -1000),
         "N": ("kN", 1000), "K": ("mK", -1000), "s": ("ms", -1000), "eV": ("keV", 1000), "atm": ("Pa", -101_325),
         "L": ("mL", -1000), "nm": ("m", 10**9), "C": ("mC", -1000)}  # fmt: skip
"""Another unit of the dimension, and by what the number is divided (negative: multiplied)."""
_OTHER = Decimal("1.37")


def textbooks(folder: Path) -> Iterator[Case]:
    """Numbers with their units as textbooks print them, in other forms of the same value, and of 1.37 times it."""
    for row in rows(folder, "scibench_units"):
        number, unit = Decimal(row["number"]), row["unit"]
        printed = f"{row['number']} {unit}"
        for place, form in enumerate(_forms(number, unit)):
            yield Case(f"{row['id']}/{place}", form, printed, same=True)
        for place, form in enumerate(_forms(number * _OTHER, unit)):
            yield Case(f"{row['id']}/{place} times {_OTHER}", form, printed, same=False)


def _forms(number: Decimal, unit: str) -> Iterator[str]:
    """A number with its unit, in ways that textbooks, pupils and models write it."""
    plain = f"{number:f}".removeprefix("+")
    bare = _undressed(unit)
    mantissa, _, power = f"{number:e}".partition("e")
    mantissa, power = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa, str(int(power))
    raised = power.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    yield f"{plain} {unit}"
    yield f"{plain} {bare}"
    yield f"{plain}0 {unit}" if "." in plain else f"{plain}.0 {unit}"
    yield f"+{plain} {bare}" if number > 0 else plain.replace("-", "−") + f" {bare}"
    yield f"The answer is {plain} {unit}."
    yield f"The answer is {plain} {bare}."
    yield rf"\boxed{{{plain}\ {unit.replace('$', '')}}}"
    yield f"Therefore the value is found.\nFinal Answer: ${plain}$ {unit}"
    yield f"所以答案是{plain} {bare}。"
    yield f"{number:,f} {bare}"
    if not unit.lstrip("$ ").startswith("10^"):
        yield f"{mantissa}e{power} {bare}"
        yield f"{mantissa}E{power} {unit}"
        yield rf"{mantissa} \times 10^{{{power}}} {unit}"
        yield rf"${mantissa} \times 10^{{{power}}}$ {bare}"
        yield f"{mantissa}×10{raised} {bare}"
    if bare in _LIKE:
        other, by = _LIKE[bare]
        yield f"{number / by if by > 0 else number * -by:f} {other}"


def _undressed(unit: str) -> str:
    """The unit without signs of mathematics and upright type, its exponents raised."""
    text = _DISPLAYED.sub(r" \1", unit.replace("$", "")).replace("~", " ")
    for command, sign in ((r"\cdot", "·"), (r"^{\circ}", "°"), (r"^\circ", "°"), (r"\Omega", "Ω"), (r"\mu ", "μ")):
        text = text.replace(command, sign)
    text = re.sub(r"10\s?\^", "× 10^", text)
    text = re.sub(r"\{\s*\}", "", text)
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    text = re.sub(r"\^\{?(-?\d+)\}?", lambda power: power[1].translate(raised), text)
    text = re.sub(r"\s*([·/])\s*", r"\1", " ".join(text.split()))
    return text.replace("° ", "°").replace("μ ", "μ")


SETS = {
    "math_equivalence_peer_tests": peers,
    "gsm8k_model_solutions": word_problems,
    "cmath": chinese_answers,
    "gaokao_mcq_model_answers": choices,
    "student_step_errors": students,
    "scibench_units": textbooks,
}


def report(name: str, cases: list[Case], *, listed: bool) -> None:
    """Print how the check does on one data set, and which rows are left out of the count, and why."""
    answers = [(case, equivalent(case.given, case.expected)) for case in cases]
    sure = Counter((answer, case.same) for case, answer in answers if not case.left_out)
    said = sum(count for (answer, _), count in sure.items() if answer)
    same = sum(count for (_, label), count in sure.items() if label)
    right = sure[True, True] + sure[False, False]
    total = sum(sure.values())
    print(
        f"{name}: {total} rows · precision {_share(sure[True, True], said)} · recall {_share(sure[True, True], same)}"
        f" · accuracy {_share(right, total)} · undecided {sum(sure[None, label] for label in (True, False))}"
        f" · wrong True {sure[True, False]} · wrong False {sure[False, True]}"
    )
    for label in (True, False):
        print(f"  label {label}: " + " · ".join(f"{answer} {sure[answer, label]}" for answer in (True, False, None)))
    for case, answer in answers:
        if case.left_out:
            print(f"  left out {case.id} (label {case.same}, check {answer}): {case.left_out}")
    for case, answer in answers if listed else ():
        if answer is not case.same and not case.left_out:
            print(f"  {case.id}: {answer}, label {case.same} | {_short(case.expected)} | {_short(case.given)}")


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
