"""How well printed problems are read on this machine: characters right, and what is left to a judge.

    uv run python -m tests.bench.ocr FOLDER [--rows N] [--list]

FOLDER holds the data sets named below. Each problem is set on a page by `tests.support.pictures` and read.
`sure` is the share of pictures that were not left to a judge, `right` the share of their characters that were read in
their order, spaces and the width of signs aside, `whole` the share of them without any difference, and `all right` the
share of characters of all pictures. Rows with a formula in TeX are set as they stand, backslashes and all: each must be
left to a judge.
`--list` prints each sure reading that is not whole.
"""

import argparse
import asyncio
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from tests.bench.accuracy_checks import rows
from tests.support.pictures import printed
from touchstone.answers.printed import PrintedText, read_printed
from touchstone.judges.base import Image

FORMULA = ("$", "\\")


def cmath(folder: Path) -> Iterator[str]:
    """Word problems of primary school, in Chinese."""
    yield from (row["question"] for row in rows(folder, "cmath"))


def gaokao(folder: Path) -> Iterator[str]:
    """Questions of the entrance examination, in Chinese and English, without formulas."""
    for row in rows(folder, "gaokao_mcq_model_answers"):
        if not any(sign in row["question"] for sign in FORMULA) and len(row["question"]) < LONGEST:
            yield row["question"]


def formulas(folder: Path) -> Iterator[str]:
    """Those with formulas."""
    for row in rows(folder, "gaokao_mcq_model_answers"):
        if any(sign in row["question"] for sign in FORMULA) and len(row["question"]) < LONGEST:
            yield row["question"]


LONGEST = 700
"""Characters on a page: longer ones would be set on several."""
SETS: tuple[tuple[str, Callable[[Path], Iterator[str]]], ...] = (
    ("cmath", cmath),
    ("gaokao", gaokao),
    ("gaokao with formulas", formulas),
)


@dataclass(slots=True)
class Counted:
    """What came of one set."""

    pictures: int = 0
    characters: int = 0
    right: int = 0
    sure: int = 0
    sure_characters: int = 0
    sure_right: int = 0
    whole: int = 0
    seconds: float = 0.0
    unsure: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, found: PrintedText) -> bool:
        """Count one picture; whether it was read whole."""
        wanted, given = ("".join(unicodedata.normalize("NFKC", each).split()) for each in (text, found.text))
        blocks = SequenceMatcher(None, wanted, given, autojunk=False).get_matching_blocks()
        right = sum(block.size for block in blocks)
        self.pictures += 1
        self.characters += len(wanted)
        self.right += right
        if found.unsure is not None:
            self.unsure[found.unsure] += 1
        else:
            self.sure += 1
            self.sure_characters += len(wanted)
            self.sure_right += right
            self.whole += wanted == given
        return wanted == given


def share(part: float, whole: float) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.2f} %" if whole else "-"


def main() -> int:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=200, help="how many of each set, 200 by default")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    for name, texts in SETS:
        counted = Counted()
        for text in islice(texts(options.folder), options.rows):
            picture = Image(media_type="image/png", data=printed(text))
            begun = time.perf_counter()
            found = asyncio.run(read_printed(picture))
            counted.seconds += time.perf_counter() - begun
            if not counted.add(text, found) and found.unsure is None and options.list:
                print(f"- {text!r}\n  {found.text!r}")
        reasons = ", ".join(f"{count} {reason}" for reason, count in counted.unsure.most_common()) or "none"
        print(
            f"{name}: {counted.pictures} pictures; sure {share(counted.sure, counted.pictures)}, "
            f"of these right {share(counted.sure_right, counted.sure_characters)}, "
            f"whole {share(counted.whole, counted.sure)}; all right {share(counted.right, counted.characters)}; "
            f"left to a judge: {reasons}; {counted.seconds / max(1, counted.pictures):.2f} s a picture"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
