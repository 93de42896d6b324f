"""What material was made from: content pillars, that is concepts with their passages, or a text."""

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from touchstone.material.parts import PartId, Text, all_different
from touchstone.strict import Strict

MAX_PILLARS = 500
MAX_CHUNKS = 200
MAX_MARKDOWN_CHARS = 1_000_000


class Pillar(Strict):
    """A concept that the source teaches, with the passages that do. `weight`: how much it matters beside the others."""

    concept: Text
    chunks: Annotated[tuple[Text, ...], Field(max_length=MAX_CHUNKS)] = ()
    weight: Annotated[float, Field(gt=0.0, le=1_000.0)] = 1.0


class Source(Strict):
    """One document: its pillars, or its text as markdown, or both. `id` tells it from the others of an experiment."""

    id: PartId = "source"
    pillars: Annotated[tuple[Pillar, ...], Field(max_length=MAX_PILLARS)] = ()
    markdown: Annotated[str, Field(max_length=MAX_MARKDOWN_CHARS)] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.pillars and not (self.markdown or "").strip():
            raise PydanticCustomError("empty_source", "give its pillars or its markdown; it has neither")
        all_different((pillar.concept for pillar in self.pillars), of="concept")
        return self

    @property
    def text(self) -> str:
        """All of it as one text: the markdown where there is one, else each concept with its passages."""
        if self.markdown and self.markdown.strip():
            return self.markdown
        return "\n\n".join("\n".join((f"# {pillar.concept}", *pillar.chunks)) for pillar in self.pillars)
