"""A summary of a source."""

from typing import Annotated

from pydantic import AfterValidator, Field

from touchstone.material.parts import not_blank
from touchstone.strict import Strict

MAX_SUMMARY_CHARS = 50_000
"""Longer than any summary that a person would read as one."""


class Summary(Strict):
    """A summary, as text or markdown."""

    text: Annotated[str, Field(max_length=MAX_SUMMARY_CHARS), AfterValidator(not_blank)]
