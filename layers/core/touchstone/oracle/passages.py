"""Passages of a submission that speak to whoever grades it: where they stand, and the submission without them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, Self, get_args

from pydantic import Field

from touchstone.oracle.folding import Folded, fold
from touchstone.oracle.model import RiskFlag
from touchstone.strict import Strict

type JudgedFlag = Literal["addresses_the_judge", "claims_a_verdict", "attacks_rivals"]
"""What a judge may report. Markers and hidden text do not reach it: they are removed where a text is fenced."""

_ORDER: tuple[RiskFlag, ...] = get_args(RiskFlag.__value__)


class Passage(Strict):
    """Where such a passage stands in the submission as it was sent: from character `start` up to `end`."""

    flag: RiskFlag
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]

    def moved(self, by: int) -> Self:
        """The same passage of a text that has so many characters before it."""
        return self.model_copy(update={"start": self.start + by, "end": self.end + by})


def flags_of(passages: Iterable[Passage]) -> tuple[RiskFlag, ...]:
    """The flags of passages, each once, in the order in which `RiskFlag` lists them."""
    found = {passage.flag for passage in passages}
    return tuple(flag for flag in _ORDER if flag in found)


def without(text: str, passages: Iterable[Passage], *, start: int = 0) -> str:
    """The text with the passages cut out. `start`: where it begins in the text that they are places of."""
    kept = []
    at = 0
    for passage in sorted(passages, key=lambda one: one.start):
        kept.append(text[at : max(at, passage.start - start)])
        at = max(at, passage.end - start)
    return "".join((*kept, text[at:]))


def located(quotes: Iterable[str], text: str) -> Iterator[tuple[int, int] | None]:
    """Where each quote stands in a text, though white space and typography differ; None for one that does not occur.

    The longest text takes a second to fold. It is done once for all quotes, and not where each stands there as it is.
    """
    folded: Folded | None = None
    for quote in quotes:
        if (at := text.find(quote)) >= 0 and quote.strip():
            yield at, at + len(quote)
        elif sought := _line(fold(quote)).strip():
            folded = folded or fold(text)
            at = _line(folded).find(sought)
            yield folded.place(at, at + len(sought)) if at >= 0 else None
        else:
            yield None


def _line(folded: Folded) -> str:
    return folded.text.replace("\n", " ")


def found_by_judge(reported: Iterable[tuple[JudgedFlag, str]], text: str) -> tuple[Passage, ...]:
    """The passages that a judge reported, as places in the text; those that do not occur in it are left out."""
    told = list(reported)
    places = located((quote for _, quote in told), text)
    return tuple(
        Passage(flag=flag, start=place[0], end=place[1])
        for (flag, _), place in zip(told, places, strict=True)
        if place is not None
    )


def steering_faults(quotes: Sequence[str], text: str) -> Iterator[str]:
    """A sentence for each quote that a judge reported and that does not occur in the text."""
    for number, place in enumerate(located(quotes, text), start=1):
        if place is None:
            yield f"The quote of steering passage {number} does not occur in the text; copy the passage of it exactly."
