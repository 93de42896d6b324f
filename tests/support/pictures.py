"""Pictures of printed problems, set in Noto Sans SC (SIL OFL 1.1) as `pylopdf-fonts-zh-cn` ships it."""

from collections.abc import Callable
from io import BytesIO

import pylopdf_fonts_zh_cn as fonts
from PIL import Image, ImageDraw, ImageFont

MARGIN, WIDTH, LEADING = 30, 1000, 1.6
type Draw = Callable[[ImageDraw.ImageDraw], None]


def font(size: int = 32, *, serif: bool = False) -> ImageFont.FreeTypeFont:
    """The type that problems are printed in."""
    return ImageFont.truetype(str(fonts.serif_path() if serif else fonts.sans_path()), size)


def page(
    text: str,
    *,
    size: int = 32,
    serif: bool = False,
    ground: str = "white",
    ink: str = "black",
    also: Draw | None = None,
) -> Image.Image:
    """A page with this text, broken into lines where it is too long; `also` draws on it."""
    type_ = font(size, serif=serif)
    lines = [line for paragraph in text.split("\n") for line in broken(paragraph, type_)]
    height = round(size * LEADING)
    found = Image.new("RGB", (WIDTH, 2 * MARGIN + height * max(1, len(lines))), ground)
    drawing = ImageDraw.Draw(found)
    for number, line in enumerate(lines):
        drawing.text((MARGIN, MARGIN + height * number), line, font=type_, fill=ink)
    if also is not None:
        also(drawing)
    return found


def broken(paragraph: str, type_: ImageFont.FreeTypeFont) -> list[str]:
    """The paragraph in lines that fit."""
    lines, line = [], ""
    for character in paragraph:
        if type_.getlength(line + character) > WIDTH - 2 * MARGIN:
            lines.append(line)
            line = ""
        line += character
    return [*lines, line]


def encoded(found: Image.Image, form: str = "PNG", **options: object) -> bytes:
    """The picture as a file."""
    file = BytesIO()
    found.save(file, form, **options)
    return file.getvalue()


def printed(text: str, **options: object) -> bytes:
    """The page as a PNG."""
    return encoded(page(text, **options))  # type: ignore[arg-type]
