"""What a stranger wrote, where a sentence about it names it."""


def shortened(text: str, most: int) -> str:
    """The text, or where it has more than `most` characters its beginning and an ellipsis, `most` in all."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
