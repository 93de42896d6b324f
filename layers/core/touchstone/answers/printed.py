"""Printed text in a picture, read on this machine by RapidOCR's models: free, and nobody is asked.

`TOUCHSTONE_OCR` says who reads a picture outside a deployment: `auto` (this module if the package's `ocr` is installed,
else a judge), `local` (this module, and a judge if it is not sure) or `judge`.

A text is taken only if the module is sure to have read all of it as it stands. It is never sure of a formula: a power,
a fraction or a root comes out as flat characters. So a picture is left to a judge if it has a formula, a drawing, a
line that the models are not sure of, or ink that belongs to no line.

RapidOCR: https://github.com/RapidAI/RapidOCR (Apache-2.0), with the models of PaddleOCR (Apache-2.0)
"""

import asyncio
import os
import re
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from touchstone.answers.model import MAX_PROBLEM_CHARS
from touchstone.errors import InputError, SettingsError
from touchstone.extras import is_installed, require_extras
from touchstone.judges.base import Image

if TYPE_CHECKING:
    import numpy as np

type WhoReads = Literal["auto", "local", "judge"]
type Unsure = Literal["no_text", "unclear", "formula", "unread", "too_long"]
"""Why the text that was read is not taken for the problem: there is no text, a line is not clear, there is a formula,
something beside the text is no text, or the text is too long."""

VARIABLE = "TOUCHSTONE_OCR"
SURE_FROM = 0.9
"""The least confidence of every line. Most lines of the bench that were read otherwise than printed were below it."""
MAX_PIXELS = 25_000_000
"""The most pixels of a picture as it is decoded: five hundred bytes of a PNG may hold a billion."""
MAX_SIDE = 2_000
"""The longest side, in pixels, of a picture that is read. A larger picture is made smaller."""
FIND_SIDE = 1_280
"""The longest side, in pixels, of the picture that lines are found on. They are read from the picture of up to
`MAX_SIDE`."""
MAX_LINES = 200
CONTRAST, MIDDLE = 64, 128
"""How much grey (0-255) ink differs from the paper at least, and the grey from which paper is light. Ink is darker on
light paper, and lighter on dark paper."""
MAX_UNREAD_INK = 0.015
"""The largest share of ink that may lie beside all lines: specks of a scan."""
PADDING = 0.35
"""How far a line reaches beyond its box, in heights of the box: descenders, and commas between two boxes."""
SAME_ROW, SMALLER = 0.5, 0.62
"""Boxes are in one row if they share half the height of the smaller one. A box whose height is less than 0.62 of
another's in its row is raised or stacked."""
THREADS = 2

WORDS: Mapping[Unsure, str] = MappingProxyType(
    {
        "no_text": "no text could be read in it.",
        "unclear": "a line of it is not clear.",
        "formula": "it has a formula.",
        "unread": "it shows more than lines of text.",
        "too_long": "it holds more than one problem can.",
    }
)

_FORMULA = re.compile(
    r"[\^_\\√∛∑∏∫∂∞∠△⊥∥∈∉⊂⊆∪∩∅≤≥≠≈≡≌∽±′″¹²³⁴-⁹⁰₀-₉½⅓¼⅔¾Α-Ωα-ω{}|]"
    r"|[a-zA-Z]\d|\d[a-zA-Z]\b(?!\))"  # x2, 3x: which of them was raised is lost
    r"|\b[a-zA-Z]\s?[=+\-*/×÷<>(]|[=+\-*/×÷<>]\s?[a-zA-Z]\b"
    r"|\b(?:sin|cos|tan|log|ln|lim)\b",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """One line: its text, how sure the model is of it (0-1), and its box in pixels (left, top, right, bottom)."""

    text: str
    confidence: float
    box: tuple[float, float, float, float]

    @property
    def height(self) -> float:
        """The height of the box in pixels."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedText:
    """The text that was read.

    `unsure` is None if it is all of the picture's text, as it stands there; else it says why it may not be.
    `confidence` is that of the least sure line (0-1), None if there is no line.
    """

    text: str
    confidence: float | None
    unsure: Unsure | None


async def printed_problem(picture: Image, environ: Mapping[str, str] | None = None) -> PrintedText | None:
    """The text that is read here in a picture. None if a judge is to read the picture from the start.

    `environ` None means `os.environ`. Raises `SettingsError` if the setting is no known word, or if it wants the
    package's `ocr` and that is not installed.
    """
    given = (os.environ if environ is None else environ).get(VARIABLE, "").strip() or "auto"
    if given not in get_args(WhoReads.__value__):
        raise SettingsError(f"{VARIABLE} is {given!r}; set it to auto, local or judge.")
    if given == "judge" or (given == "auto" and not is_installed("ocr")):
        return None
    try:
        return await read_printed(picture)
    except InputError:  # bytes that are no picture here may be one to a judge
        return None


async def read_printed(picture: Image) -> PrintedText:
    """Read a picture on this machine, in a thread of its own.

    Raises `SettingsError` without the package's `ocr`, `InputError` for bytes that are no picture, or for a picture of
    more than `MAX_PIXELS`.
    """
    require_extras("ocr")
    return await asyncio.to_thread(_read, picture.data)


def left_to_a_judge(unsure: Unsure) -> str:
    """Why the picture is left to a judge, as a sentence for people."""
    return f"The picture is left to a judge: {WORDS[unsure]}"


def _read(data: bytes) -> PrintedText:
    pixels = _pixels(data)
    lines = _lines(pixels)
    if not lines:
        return PrintedText(text="", confidence=None, unsure="no_text")
    rows = _rows(lines)
    text = "\n".join("  ".join(line.text for line in row) for row in rows)
    confidence = min(line.confidence for line in lines)
    return PrintedText(text=text, confidence=confidence, unsure=_unsure(text, confidence, rows, lines, pixels))


def _unsure(
    text: str,
    confidence: float,
    rows: Sequence[Sequence[PrintedLine]],
    lines: Sequence[PrintedLine],
    pixels: "np.ndarray[Any, Any]",
) -> Unsure | None:
    if len(text) > MAX_PROBLEM_CHARS or len(lines) >= MAX_LINES:
        return "too_long"
    if _FORMULA.search(text) or any(_stacked(row) for row in rows):
        return "formula"
    if confidence < SURE_FROM:
        return "unclear"
    return "unread" if _unread_ink(pixels, lines) > MAX_UNREAD_INK else None


def _pixels(data: bytes) -> "np.ndarray[Any, Any]":
    """The picture as rows of blue, green and red: upright, on white, with sides of at most `MAX_SIDE`."""
    import numpy as np
    from PIL import Image as Pillow
    from PIL import ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning that the picture may be too large, which is checked below
            opened = Pillow.open(BytesIO(data))
            if opened.width * opened.height > MAX_PIXELS:
                raise InputError(
                    f"The image has {opened.width:,} by {opened.height:,} pixels; at most {MAX_PIXELS:,} are taken in "
                    "all. Make it smaller.",
                    where="image",
                )
            upright = ImageOps.exif_transpose(opened).convert("RGBA")
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Pillow.DecompressionBombError):
        raise InputError("The image is damaged, or no picture.", where="image") from None
    white = Pillow.new("RGBA", upright.size, "white")
    white.alpha_composite(upright)
    white.thumbnail((MAX_SIDE, MAX_SIDE))
    found: np.ndarray[Any, Any] = np.asarray(white.convert("RGB"))[:, :, ::-1]
    return found


@cache
def _engine() -> "tuple[Any, threading.Lock]":
    """The models, loaded once, with a lock: they take one picture at a time."""
    from rapidocr import RapidOCR

    params = {
        "Global.log_level": "critical",
        "Global.max_side_len": MAX_SIDE,
        "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "Det.max_candidates": MAX_LINES,
        "Det.limit_type": "max",  # a strip of two lines is not blown up to a page's height
        "Det.limit_side_len": FIND_SIDE,
    }
    return RapidOCR(params=params), threading.Lock()


def _lines(pixels: "np.ndarray[Any, Any]") -> list[PrintedLine]:
    engine, lock = _engine()
    with lock:
        found = engine(pixels)
    if found.boxes is None or not found.txts:
        return []
    return [
        PrintedLine(
            text=text,
            confidence=float(score),
            box=(
                float(box[:, 0].min()), float(box[:, 1].min()), float(box[:, 0].max()), float(box[:, 1].max()),
            ),
        )
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if text.strip()
    ]  # fmt: skip


def _rows(lines: Iterable[PrintedLine]) -> list[list[PrintedLine]]:
    """The lines in rows from the top down. Each row is in order from the left."""
    rows: list[list[PrintedLine]] = []
    for line in sorted(lines, key=lambda one: (one.box[1] + one.box[3]) / 2):
        if rows and _shared(rows[-1][-1], line) >= SAME_ROW:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda one: one.box[0]) for row in rows]


def _shared(a: PrintedLine, b: PrintedLine) -> float:
    """The height that two boxes share, as a part of the height of the smaller one."""
    overlap = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    return overlap / max(1.0, min(a.height, b.height))


def _stacked(row: Sequence[PrintedLine]) -> bool:
    """Whether a row has one box above another, or one much smaller than another: a fraction, a power, an index."""
    for a, b in combinations(row, 2):
        beside = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
        narrow = min(a.box[2] - a.box[0], b.box[2] - b.box[0])
        if beside > narrow / 2 or min(a.height, b.height) < SMALLER * max(a.height, b.height):
            return True
    return False


def _unread_ink(pixels: "np.ndarray[Any, Any]", lines: Iterable[PrintedLine]) -> float:
    """The share of ink that lies in no line's box, each box widened by `PADDING`."""
    import numpy as np

    grey = pixels.mean(axis=2)
    ground = float(np.median(grey))
    ink = grey < ground - CONTRAST if ground >= MIDDLE else grey > ground + CONTRAST
    whole = int(ink.sum())
    for line in lines:
        left, top, right, bottom = line.box
        reach = line.height * PADDING
        above, before = max(0, int(top - reach)), max(0, int(left - reach))
        ink[above : int(bottom + reach) + 1, before : int(right + reach) + 1] = False
    return int(ink.sum()) / whole if whole else 0.0
