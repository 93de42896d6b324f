"""Ids for the parts of material that came without any."""

from typing import Any


def numbered(parts: list[Any]) -> list[Any]:
    """The parts, each with an id: its own (a number is read as a text), or its number from 1."""
    return [
        {**part, "id": str(number if part.get("id") is None else part["id"])} if isinstance(part, dict) else part
        for number, part in enumerate(parts, start=1)
    ]
