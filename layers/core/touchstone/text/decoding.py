"""The text in the bytes of a file that somebody brings: UTF-8, or the encoding that a byte order mark names."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

ENCODINGS = {BOM_UTF8: "utf-8", BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
"""The encodings by their marks. Excel's "Unicode Text" and what PowerShell writes for `>` are UTF-16."""


def marked_text(data: bytes) -> tuple[bytes, str] | None:
    """The mark of a file (empty if it has none) and the text behind the mark; None if the file is no text.

    No encoding is guessed: a text without a mark is UTF-8. A text with U+0000 is none: UTF-16 without a mark has it.
    """
    mark = next(filter(data.startswith, ENCODINGS), b"")
    try:
        text = data.removeprefix(mark).decode(ENCODINGS.get(mark, "utf-8"))
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else (mark, text)


def decoded(data: bytes) -> str | None:
    """The text of a file without its mark; None as for `marked_text`."""
    found = marked_text(data)
    return None if found is None else found[1]


def encoded(mark: bytes, text: str) -> bytes:
    """The bytes of a file that begins with `mark` (empty for none)."""
    return mark + text.encode(ENCODINGS.get(mark, "utf-8"))
