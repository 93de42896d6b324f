"""What the sender of a file calls its lines."""

from typing import Annotated

from pydantic import Field

MAX_REFERENCE_CHARS = 256

type LineName = Annotated[str, Field(max_length=MAX_REFERENCE_CHARS)] | None
"""The sender's own name for a line, returned with its result."""
