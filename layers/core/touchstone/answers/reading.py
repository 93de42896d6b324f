"""OCR: the text of a problem in a picture."""

import base64
from dataclasses import dataclass
from typing import Literal

from touchstone.answers.model import MAX_IMAGE_BYTES, MAX_PROBLEM_CHARS, ImageSource
from touchstone.clock import Deadline
from touchstone.errors import InputError, TooLargeError
from touchstone.judges.base import Image, Judge, JudgeQuestion
from touchstone.judges.calls import JudgeReply, ask
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend, spends_of
from touchstone.text.language import Language

type MediaType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]

MAX_OUTPUT_TOKENS = 8192
"""Room for a full page of problems with its figures described, and for thinking."""
MAX_BASE64_CHARS = MAX_IMAGE_BYTES * 3 // 2
"""The most characters of an image as text. More is too large however it is broken into lines: base64 takes 4/3 of the
bytes, and line ends a little more."""
SHORTEST_IMAGE = 12
"""The bytes that a signature takes. Nothing shorter is a picture."""

_OTHER_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"BM", "a BMP picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"<svg", "an SVG picture"),
    (b"<?xml", "an XML document"),
    (b"<!DOCTYPE", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"{", "JSON"),
)


class ImageReply(JudgeReply):
    """What a judge reads in a picture."""

    readable: bool
    problem: str | None
    obstacle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPicture:
    """The result of reading a picture.

    `problem` is None if the picture shows no problem that can be read; `obstacle` then says why, for people. That is an
    answer of the judge, paid like any other, and no failure.
    """

    problem: str | None
    obstacle: str | None
    spends: tuple[Spend, ...]


def image(data: bytes) -> Image:
    """The picture in these bytes. Its kind is told by its first bytes, not by a name.

    Raises `TooLargeError` above `MAX_IMAGE_BYTES`, `InputError` for bytes that are no PNG, JPEG, WebP or GIF.
    """
    if len(data) > MAX_IMAGE_BYTES:
        raise _too_large(len(data))
    media_type = _media_type(data)
    if media_type is None:
        raise InputError(
            f"The image is {_kind(data)}; send a PNG, JPEG, WebP or GIF picture of the problem.", where="image"
        )
    return Image(media_type=media_type, data=data)


def inline_image(source: ImageSource) -> Image:
    """The picture that a request carries itself, as base64 or a `data:` URL.

    Raises `InputError` if the text is no base64 or no picture, and for a key in S3, which only a deployment can read.
    Raises `TooLargeError` above `MAX_IMAGE_BYTES`.
    """
    if source.data_base64 is None:
        raise InputError("The image is in S3; outside a deployment, give its bytes in data_base64.", where="image")
    text = source.data_base64
    if text.startswith("data:"):
        text = text.partition(",")[2]
    if len(text) > MAX_BASE64_CHARS:
        raise _too_large(len(text) // 4 * 3)
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        raise InputError("The image is not valid base64.", where="image") from None
    return image(data)


async def read_image(
    picture: Image, *, judge: Judge, deadline: Deadline, language: Language | None = None, use_cache: bool = True
) -> ReadPicture:
    """Read the problem in a picture. Raises `JudgeError` or `LimitError`.

    `language` is that of the prompt only (None: English); the problem's text keeps its own language.
    """
    question = JudgeQuestion(
        prompt=prompt_of(__package__, "read_image", language or "en"),
        reply_type=ImageReply,
        images=(picture,),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        use_cache=use_cache,
    )
    reply = await ask(judge, question, deadline=deadline)
    problem, obstacle = _outcome(reply.value)
    return ReadPicture(problem=problem, obstacle=obstacle, spends=spends_of(reply, "ocr"))


def _too_large(size: int) -> TooLargeError:
    return TooLargeError(
        f"The image has {size:,} bytes; at most {MAX_IMAGE_BYTES:,} are taken. Make it smaller or crop it.",
        where="image",
    )


def _outcome(said: ImageReply) -> tuple[str | None, str | None]:
    text = (said.problem or "").strip()
    if not said.readable or not text:
        return None, said.obstacle or "No problem could be read in the picture."
    if len(text) > MAX_PROBLEM_CHARS:
        return None, f"The picture holds more than {MAX_PROBLEM_CHARS:,} characters; send one problem at a time."
    return text, None


def _media_type(data: bytes) -> MediaType | None:
    if len(data) < SHORTEST_IMAGE:
        return None
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _kind(data: bytes) -> str:
    """What the bytes seem to be, as a phrase."""
    if not data:
        return "empty"
    if data[4:8] == b"ftyp":
        return "a HEIC or AVIF picture or a video"
    for signature, kind in _OTHER_KINDS:
        if data.lstrip()[: len(signature)].lower() == signature.lower():
            return kind
    return f"of a kind that is not known (it begins with {data[:8].hex(' ')})"
