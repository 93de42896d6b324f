"""Reading a problem from a picture: what is taken for a picture, and what a judge may say of it."""

import base64

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from touchstone.answers.model import MAX_IMAGE_BYTES, MAX_PROBLEM_CHARS, ImageSource
from touchstone.answers.reading import ReadPicture, image, inline_image, read_image
from touchstone.clock import Deadline
from touchstone.errors import InputError, OverloadedError, TooLargeError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(8), "image/jpeg"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(8), "image/webp"),
        (b"GIF87a" + bytes(16), "image/gif"),
        (b"GIF89a" + bytes(16), "image/gif"),
    ],
)
def test_the_kind_of_a_picture_is_told_from_its_first_bytes(data: bytes, media_type: str) -> None:
    picture = image(data)
    assert (picture.media_type, picture.data) == (media_type, data)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n", "not known"),
        (b"%PDF-1.7 and more", "a PDF"),
        (b"PK\x03\x04 an archive", "ZIP"),
        (b"BM and some pixels", "BMP"),
        (b"II*\x00 a scan of a page", "TIFF"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00", "HEIC"),
        (b"  <svg xmlns='x'></svg>", "SVG"),
        (b"<!doctype html><html></html>", "HTML"),
        (b'{"problem": "text"}', "JSON"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "not known (it begins with 52 49 46 46"),
        (b"Solve x + 1 = 2 for x.", "not known"),
    ],
)
def test_what_is_no_picture_is_refused_by_what_it_is(data: bytes, named: str) -> None:
    with pytest.raises(InputError) as caught:
        image(data)
    assert named in str(caught.value)
    assert "PNG, JPEG, WebP or GIF" in str(caught.value)
    assert caught.value.where == "image"


def test_a_picture_may_be_as_large_as_the_limit_and_not_a_byte_more() -> None:
    assert image(PNG + bytes(MAX_IMAGE_BYTES - len(PNG))).media_type == "image/png"
    with pytest.raises(TooLargeError, match="4,194,305 bytes"):
        image(PNG + bytes(MAX_IMAGE_BYTES - len(PNG) + 1))


def _inline(text: str) -> ImageSource:
    return ImageSource(data_base64=text)


def test_a_picture_comes_as_base64_in_one_line_or_many_or_as_a_data_url() -> None:
    text = base64.b64encode(PNG).decode()
    for sent in (
        text,
        "\n".join(text[at : at + 10] for at in range(0, len(text), 10)),
        f"data:image/png;base64,{text}",
    ):
        assert inline_image(_inline(sent)).data == PNG


@pytest.mark.parametrize("text", ["not base64!", "AAA", "é"])
def test_garbled_base64_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not valid base64"):
        inline_image(_inline(text))


def test_a_huge_text_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(TooLargeError, match="at most 4,194,304"):
        inline_image(_inline("A" * (MAX_IMAGE_BYTES * 2)))


def test_a_key_in_s3_is_for_deployments() -> None:
    with pytest.raises(InputError, match="data_base64"):
        inline_image(ImageSource(s3_key="uploads/1.png"))


async def _read(*lines: Line) -> tuple[ReadPicture, Script]:
    script = Script({"read_image": lines})
    judge = script.judges().default("strong")
    assert judge is not None
    return await read_image(image(PNG), judge=judge, deadline=Deadline.after(5.0)), script


async def test_the_text_of_the_problem_is_read_and_the_call_is_accounted_for() -> None:
    reading, script = await _read(replies.image(problem="  Name the capital of Australia.\n"))
    assert (reading.problem, reading.obstacle) == ("Name the capital of Australia.", None)
    assert [spend.purpose for spend in reading.spends] == ["ocr"]
    assert script.asked[0].images == 1


@pytest.mark.parametrize(
    ("said", "obstacle"),
    [
        (replies.image(readable=False, obstacle="The exponent is blurred."), "The exponent is blurred."),
        (replies.image(readable=False, problem=None), "No problem could be read in the picture."),
        (replies.image(problem=None), "No problem could be read in the picture."),
        (replies.image(problem="  "), "No problem could be read in the picture."),
        (replies.image(problem="x" * (MAX_PROBLEM_CHARS + 1)), "one problem at a time"),
    ],
)
async def test_a_picture_that_cannot_be_read_gives_no_problem_but_a_reason(said: Line, obstacle: str) -> None:
    reading, _ = await _read(said)
    assert reading.problem is None
    assert reading.obstacle is not None
    assert obstacle in reading.obstacle
    assert len(reading.spends) == 1


async def test_a_judge_that_fails_is_an_error_of_its_own() -> None:
    with pytest.raises(OverloadedError):
        await _read(OverloadedError("Overloaded."))
