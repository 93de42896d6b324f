"""Passages of a submission that speak to whoever grades it: where they are, and the submission without them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self, get_args

from pydantic import Field

from touchstone.oracle.folding import Folded
from touchstone.oracle.model import RiskFlag
from touchstone.strict import Strict
from touchstone.text.language import Language

type JudgedFlag = Literal["addresses_the_judge", "claims_a_verdict", "attacks_rivals"]
"""The flags that a judge may report. The others, prompt markers and hidden text, never reach a judge: fencing a text
removes them."""

NOTHING_LEFT: Mapping[Language, str] = {
    "en": "Without the passages that speak to whoever grades it, the submission says nothing.",
    "zh": "去掉对评分者说的话以后，提交内容没有任何实质内容。",
}
"""What is said of a submission that has nothing but such passages."""

_ORDER: tuple[RiskFlag, ...] = get_args(RiskFlag.__value__)


class Passage(Strict):
    """The place of such a passage in the submission as it was sent: from character `start` up to character `end`."""

    flag: RiskFlag
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]

    def moved(self, by: int) -> Self:
        """The same passage, in a text that has `by` more characters before it."""
        return self.model_copy(update={"start": self.start + by, "end": self.end + by})


def flags_of(passages: Iterable[Passage]) -> tuple[RiskFlag, ...]:
    """The flags of the passages, each once, in the order of `RiskFlag`."""
    found = {passage.flag for passage in passages}
    return tuple(flag for flag in _ORDER if flag in found)


def in_order(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages in the order of their places, each once."""
    return tuple(sorted(set(passages), key=lambda one: (one.start, one.end, one.flag)))


def seen_by_judges(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages without which a judge is shown another text: hidden characters never reach one (`judges.fence`)."""
    return tuple(passage for passage in passages if passage.flag != "hidden_text")


def cut_out(text: str, passages: Iterable[Passage], *, start: int = 0) -> str:
    """The text with the passages cut out.

    Passages count characters of the submission; `start` is the place in the submission where `text` begins.
    """
    kept = []
    at = 0
    for passage in sorted(passages, key=lambda one: one.start):
        kept.append(text[at : max(at, passage.start - start)])
        at = max(at, passage.end - start)
    return "".join((*kept, text[at:]))


def locate_quotes(quotes: Iterable[str], text: str) -> Iterator[tuple[int, int] | None]:
    """Find each quote in a text, even if white space and typography differ. Yield None for a quote that does not occur.

    To fold the longest text takes a second. It is folded once for all quotes, and not at all if each quote occurs
    exactly.
    """
    folded: Folded | None = None
    for quote in quotes:
        if (at := text.find(quote)) >= 0 and quote.strip():
            yield at, at + len(quote)
        elif sought := _line(Folded(quote)).strip():
            folded = folded or Folded(text)
            at = _line(folded).find(sought)
            yield folded.place(at, at + len(sought)) if at >= 0 else None
        else:
            yield None


def _line(folded: Folded) -> str:
    return folded.text.replace("\n", " ")


def found_by_judge(reported: Iterable[tuple[JudgedFlag, str]], text: str) -> tuple[Passage, ...]:
    """The passages that a judge reported, as places in the text. Quotes that do not occur in the text are left out."""
    flagged = list(reported)
    places = locate_quotes((quote for _, quote in flagged), text)
    return tuple(
        Passage(flag=flag, start=place[0], end=place[1])
        for (flag, _), place in zip(flagged, places, strict=True)
        if place is not None
    )


def steering_faults(quotes: Sequence[str], text: str) -> Iterator[str]:
    """Yield a sentence for each quote that a judge reported but that does not occur in the text."""
    for number, place in enumerate(locate_quotes(quotes, text), start=1):
        if place is None:
            yield f"The quote of steering passage {number} does not occur in the text; copy the passage of it exactly."
