"""How often the checks of script, pinyin and language are right on labelled texts.

    uv run python -m tests.bench.accuracy_script FOLDER [--list]

FOLDER holds the data sets named below, one folder each with a `cases.jsonl`; those that are missing are left out.
`--list` prints every row on which check and label disagree. A text counts as flagged with one finding or more.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.bench.accuracy_checks import rows
from touchstone.checks import Finding, find_language_mismatch, find_pinyin_errors, find_simplified

SHOWN = 60
"""Characters of a text that are printed."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and whether it should be flagged. `hanzi`: the characters that a pinyin text is for."""

    id: str
    text: str
    flagged: bool
    hanzi: str | None = None


type Cases = Callable[[Path], Iterator[Case]]
type Check = Callable[[Case], list[Finding]]


def simplified(folder: Path) -> Iterator[Case]:
    """Sentences in Simplified characters that are written otherwise in Traditional ones."""
    for row in rows(folder, "ud_chinese_gsd_pairs"):
        if row["simplified"] != row["traditional"]:
            yield Case(row["id"], row["simplified"], flagged=True)


def taiwanese(folder: Path) -> Iterator[Case]:
    """Sentences that Taiwanese wrote; those in which another tool too sees Simplified characters are slips."""
    for row in rows(folder, "cc0_taiwan_sentences"):
        yield Case(row["id"], row["sentence"], flagged=row["peer_label"] in ("simplified", "mixed"))


def traditional(folder: Path) -> Iterator[Case]:
    """Other Traditional texts: treebank sentences and encyclopedia paragraphs with their questions."""
    for name, columns in (
        ("ud_chinese_gsd_pairs", ("traditional",)),
        ("ud_chinese_pud", ("traditional",)),
        ("drcd_traditional", ("context", "question", "answer")),
    ):
        for row in rows(folder, name):
            for column in columns:
                yield Case(row["id"], row[column], flagged=False)


def words(folder: Path) -> Iterator[Case]:
    """Dictionary words, labelled by another tool; those that it does not know or calls mixed are left out."""
    for row in rows(folder, "cedict_words"):
        if row["peer_label"] in ("traditional", "simplified", "both"):
            yield Case(row["id"], row["hanzi"], flagged=row["peer_label"] == "simplified")


def ambiguous(folder: Path) -> Iterator[Case]:
    """Words with a character of both scripts, in both scripts."""
    for row in rows(folder, "opencc_ambiguous_phrases"):
        yield Case(row["id"], row["simplified"], flagged=not row["same_text"])
        yield Case(row["id"], row["traditional"], flagged=False)


def half_converted(folder: Path) -> Iterator[Case]:
    """The same words in Traditional characters, but for that one."""
    for row in rows(folder, "opencc_ambiguous_phrases"):
        written = row["traditional"].replace(row["right_form"], row["char"])
        if not row["same_text"] and written != row["simplified"]:
            yield Case(row["id"], written, flagged=True)


def conversions(folder: Path) -> Iterator[Case]:
    """The converter's own test cases: what it makes of a text for Taiwan, and for the mainland."""
    for row in rows(folder, "opencc_testcases"):
        for name, text in row["expected"].items():
            if name in ("s2tw", "s2twp", "t2tw"):
                yield Case(row["id"], text, flagged=False)
            elif name in ("t2s", "tw2s", "tw2sp") and text != row["input"]:
                yield Case(row["id"], text, flagged=True)


def peers(folder: Path) -> Iterator[Case]:
    """Inputs of other libraries' tests: tone marks and an explicit neutral tone are right, all else is not."""
    for row in rows(folder, "pinyin_peer_tests"):
        marked = re.search(r"[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]|^·", row["input"])
        yield Case(row["id"], row["input"], flagged=marked is None)


def spoken(folder: Path) -> Iterator[Case]:
    """Words with their pinyin."""
    for row in rows(folder, "cedict_words"):
        for pinyin in row["pinyin"].split("/"):
            yield Case(row["id"], pinyin, flagged=False, hanzi=row["hanzi"])


def polyphones(folder: Path) -> Iterator[Case]:
    """Characters with several readings and the one that people heard, by tone number: as right as any, but for that."""
    for row in rows(folder, "g2pm_polyphones"):
        yield Case(row["id"], row["pinyin_number"], flagged=False, hanzi=row["char"])


def misheard(folder: Path) -> Iterator[Case]:
    """The same with the next row's reading, which almost never fits."""
    found = list(rows(folder, "g2pm_polyphones"))
    for row, other in pairwise(found):
        if row["pinyin_number"][:-1] != other["pinyin_number"][:-1]:
            yield Case(row["id"], other["pinyin_number"], flagged=True, hanzi=row["char"])


def running(folder: Path) -> Iterator[Case]:
    """Pinyin of whole sentences, without spaces; those with foreign words are left out."""
    for name in ("ud_chinese_gsd_pairs", "ud_chinese_pud"):
        for row in rows(folder, name):
            if not re.search(r"[A-Za-z]{2}", row["traditional"]):
                yield Case(row["id"], row["pinyin"], flagged=False)


def english(folder: Path) -> Iterator[Case]:
    """Sentences in English and in Chinese for an English reader."""
    for row in rows(folder, "ud_chinese_pud"):
        yield Case(row["id"], row["english"], flagged=False)
        yield Case(row["id"], row["traditional"], flagged=True)
    for row in rows(folder, "opentriviaqa"):
        yield Case(row["id"], row["question"], flagged=False)


def chinese(folder: Path) -> Iterator[Case]:
    """The same for a Chinese reader."""
    for row in rows(folder, "ud_chinese_pud"):
        yield Case(row["id"], row["english"], flagged=True)
        yield Case(row["id"], row["traditional"], flagged=False)
    for row in rows(folder, "drcd_traditional"):
        yield Case(row["id"], row["question"], flagged=False)


def by_script(case: Case) -> list[Finding]:
    """Findings of the script check."""
    return find_simplified(case.text)


def by_pinyin(case: Case) -> list[Finding]:
    """Findings of the pinyin check, by itself and against the characters."""
    return find_pinyin_errors(case.text) + (find_pinyin_errors(case.text, case.hanzi) if case.hanzi else [])


def by_reading(case: Case) -> list[Finding]:
    """Findings of the pinyin check that concern the reading."""
    return [finding for finding in find_pinyin_errors(case.text, case.hanzi) if finding.rule == "wrong_reading"]


SETS: dict[str, tuple[Cases, Check]] = {
    "Simplified sentences": (simplified, by_script),
    "Taiwanese sentences": (taiwanese, by_script),
    "other Traditional texts": (traditional, by_script),
    "dictionary words": (words, by_script),
    "ambiguous words": (ambiguous, by_script),
    "half converted words": (half_converted, by_script),
    "converter's test cases": (conversions, by_script),
    "pinyin: peers' cases": (peers, by_pinyin),
    "pinyin: words": (spoken, by_pinyin),
    "pinyin: readings heard": (polyphones, by_reading),
    "pinyin: readings of another character": (misheard, by_reading),
    "pinyin: running text": (running, by_pinyin),
    "for an English reader": (english, lambda case: find_language_mismatch(case.text, "en")),
    "for a Chinese reader": (chinese, lambda case: find_language_mismatch(case.text, "zh-Hant")),
}


def report(name: str, cases: list[Case], check: Check, *, listed: bool) -> None:
    """Print how often what should be flagged is, and what should not."""
    answers = [(case, check(case)) for case in cases]
    wrong = [case for case, _ in answers if case.flagged]
    found = sum(case.flagged and bool(findings) for case, findings in answers)
    alarms = sum(not case.flagged and bool(findings) for case, findings in answers)
    print(f"{name}: flagged {_share(found, len(wrong))} · wrongly flagged {_share(alarms, len(cases) - len(wrong))}")
    for case, findings in answers if listed else ():
        if bool(findings) is not case.flagged:
            shown = ", ".join(
                f"{finding.rule} {case.text[slice(*finding.span)]} → {finding.suggestion}" for finding in findings[:3]
            )
            print(f"  {case.id}: {shown or case.text[:SHOWN]}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} ({part}/{whole})" if whole else "–"


def main(arguments: list[str]) -> None:
    """Measure all data sets in the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", dest="listed", help="print every disagreement")
    options = parser.parse_args(arguments)
    for name, (cases, check) in SETS.items():
        report(name, list(cases(options.folder)), check, listed=options.listed)


if __name__ == "__main__":
    main(sys.argv[1:])
