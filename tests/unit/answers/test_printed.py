"""Printed problems in pictures, read by the real models on this machine; what is no plain text is left to a judge."""

import base64
import struct
import unicodedata
import zlib
from typing import Any

import pytest
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFilter

from tests.support import replies
from tests.support.judges import Script
from tests.support.pictures import encoded, font, page, printed
from touchstone import extras
from touchstone.answers.model import ImageSource, SolveRequest
from touchstone.answers.pipeline import solve_and_verify
from touchstone.answers.printed import PrintedText, printed_problem, read_printed
from touchstone.errors import InputError, SettingsError
from touchstone.judges.base import Image

APPLES = "小明有12个苹果，吃了5个，又买来8个。现在他有多少个苹果？"
LEAP = "How many days are there in a leap year?\nA. 364\nB. 365\nC. 366\nD. 367"
TRAIN = "一列火车长240米，每秒行驶20米，要通过一座长360米的大桥，从车头上桥到车尾离开桥，一共需要多少秒？"


async def read(data: bytes) -> PrintedText:
    return await read_printed(Image(media_type="image/png", data=data))


def characters(text: str) -> str:
    """Without spaces, and signs of one width: print does not tell them apart."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize(("text", "serif"), [(APPLES, False), (TRAIN, True), (LEAP, True)])
async def test_a_printed_problem_is_read_as_it_stands(text: str, serif: bool) -> None:
    found = await read(printed(text, serif=serif))
    assert (found.unsure, characters(found.text)) == (None, characters(text))
    assert found.confidence is not None
    assert 0.9 <= found.confidence <= 1.0
    assert found.text.count("\n") == (4 if text == LEAP else text == TRAIN), "lines stay lines, from the top down"


@pytest.mark.parametrize(
    "data",
    [
        printed(APPLES, ground="black", ink="white"),
        encoded(page(APPLES), "JPEG", quality=80),
        encoded(page(APPLES).convert("P"), "GIF"),
        encoded(page(APPLES).resize((3000, 3000 * page(APPLES).height // page(APPLES).width))),
    ],
    ids=["white on black", "JPEG", "GIF", "large"],
)
async def test_pictures_of_each_kind_are_read(data: bytes) -> None:
    found = await read(data)
    assert (found.unsure, characters(found.text)) == (None, characters(APPLES))


async def test_a_photograph_that_lies_on_its_side_is_turned_as_it_says() -> None:
    turned = page(APPLES).transpose(Pillow.Transpose.ROTATE_90)
    exif = Pillow.Exif()
    exif[0x0112] = 6  # the row at the top is at the right
    found = await read(encoded(turned, "JPEG", exif=exif.tobytes()))
    assert characters(found.text) == characters(APPLES)


async def test_a_row_is_read_from_the_left_though_its_right_half_stands_higher() -> None:
    row = Pillow.new("RGB", (1400, 120), "white")
    for words, place in (("小明有五个苹果。", (30, 36)), ("小红有三个梨。", (900, 28))):
        ImageDraw.Draw(row).text(place, words, font=font(), fill="black")
    assert characters((await read(encoded(row))).text) == characters("小明有五个苹果。小红有三个梨。")


async def test_what_is_transparent_is_paper() -> None:
    glass = Pillow.new("RGBA", (1000, 120), (0, 0, 0, 0))
    ImageDraw.Draw(glass).text((30, 30), "地球有几个卫星？", font=font(), fill="black")
    assert (await read(encoded(glass))).text == "地球有几个卫星？"


def squared(drawing: ImageDraw.ImageDraw) -> None:
    drawing.text((30, 90), "x", font=font(40), fill="black")
    drawing.text((56, 84), "2", font=font(22), fill="black")
    drawing.text((80, 90), "- 5 = 0", font=font(40), fill="black")


def halved(drawing: ImageDraw.ImageDraw) -> None:
    drawing.text((100, 84), "12", font=font(26), fill="black")
    drawing.line((95, 122, 140, 122), fill="black", width=2)
    drawing.text((100, 124), "35", font=font(26), fill="black")
    drawing.text((160, 100), "是多少", font=font(32), fill="black")


FORMULAS = [
    ("解方程\n\n\n", squared),
    ("计算\n\n\n", halved),
    ("求√16的值。", None),
    ("已知 f(x) = 3x + 1，求它的零点。", None),
]


@pytest.mark.parametrize(
    ("text", "also"),
    FORMULAS,
    ids=["a power", "a fraction", "a root", "a function"],
)
async def test_a_formula_is_left_to_a_judge(text: str, also: Any) -> None:
    assert (await read(printed(text, also=also))).unsure in {"formula", "unread"}


def triangle(drawing: ImageDraw.ImageDraw) -> None:
    drawing.polygon([(300, 130), (700, 130), (300, 330)], outline="black", width=3)


async def test_a_drawing_is_left_to_a_judge() -> None:
    assert (await read(printed("这个图形的面积是多少？\n\n\n\n\n\n", also=triangle))).unsure == "unread"


async def test_what_is_blurred_is_left_to_a_judge() -> None:
    blurred = page(TRAIN, size=20).filter(ImageFilter.GaussianBlur(3.5))
    assert (await read(encoded(blurred))).unsure in {"unclear", "no_text"}


async def test_an_empty_page_has_no_text() -> None:
    assert await read(printed("")) == PrintedText(text="", confidence=None, unsure="no_text")


def _bomb(side: int) -> bytes:
    """The beginning of a PNG that says it is so large."""
    header = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


@pytest.mark.parametrize("side", [7_000, 50_000])
async def test_a_picture_that_would_fill_the_memory_is_refused_before_it_is_decoded(side: int) -> None:
    with pytest.raises(InputError, match=r"pixels; at most 25,000,000|no picture"):
        await read(_bomb(side))


async def test_what_is_cut_off_is_refused() -> None:
    with pytest.raises(InputError, match="damaged"):
        await read(printed(APPLES)[:400])


async def solved(script: Script, data: bytes) -> Any:
    source = ImageSource(data_base64=base64.b64encode(data).decode())
    return await solve_and_verify(SolveRequest(image=source), judges=script.judges())


async def test_nobody_is_asked_to_read_what_is_printed() -> None:
    script = Script(
        {
            "read_image": [replies.image()],
            "analyze": [replies.analyze()],
            "solve": [replies.solve()],
            "verify": [replies.verify()],
            "enrich": [replies.enrich()],
        }
    )
    record = await solved(script, printed(APPLES))
    assert record.problem is not None
    assert characters(record.problem) == characters(APPLES)
    assert "read_image" not in [asked.prompt for asked in script.asked]
    assert "ocr" not in {spend.purpose for spend in record.spends}


async def test_a_judge_reads_what_has_a_formula() -> None:
    script = Script({"read_image": [replies.image(readable=False, obstacle="Blurred.")]})
    record = await solved(script, printed("求√16的值。"))
    assert [asked.prompt for asked in script.asked] == ["read_image"]
    assert record.failure == "The image could not be read: Blurred."


async def test_without_a_key_it_is_told_why_a_judge_would_be_needed() -> None:
    record = await solved(Script({}, providers=()), printed("求√16的值。"))
    assert record.failure is not None
    assert record.failure.startswith("The picture is left to a judge: it has a formula. ")


async def test_the_setting_says_who_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = Image(media_type="image/png", data=printed(APPLES))
    assert await printed_problem(picture, {"TOUCHSTONE_OCR": "judge"}) is None
    with pytest.raises(SettingsError, match="set it to auto, local or judge"):
        await printed_problem(picture, {"TOUCHSTONE_OCR": "tesseract"})
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "rapidocr" else object())
    assert await printed_problem(picture, {}) is None
    with pytest.raises(SettingsError, match=r"touchstone-verdicts\[ocr\]"):
        await printed_problem(picture, {"TOUCHSTONE_OCR": "local"})


async def test_what_only_a_judge_might_know_as_a_picture_is_left_to_it() -> None:
    assert await printed_problem(Image(media_type="image/png", data=b"\x89PNG\r\n\x1a\n" + bytes(40)), {}) is None
