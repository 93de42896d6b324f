"""flashcard_coverage: do the cards teach the important concepts of the source, and how deeply?

Score: the mean of the concepts' depths (0-3), weighted by their pillars, as a percentage (0-100) of the greatest depth;
None if no concept could be judged. It is `quiz_coverage` asked of cards: see there for concepts and labels, and
`touchstone.surfaces.coverage` for the depths.
"""

from touchstone.material import Deck, Source
from touchstone.surfaces.coverage import CoverageEntry, depth_coverage
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import MetricResult


async def flashcard_coverage(deck: Deck, source: Source, measuring: Measuring) -> MetricResult:
    """Measure a deck against its source. Concepts whose call failed are unscored; the other concepts count."""
    entries = [CoverageEntry(id=one.id, asks=one.front, answers=(one.back,)) for one in deck.cards]
    return await depth_coverage("flashcard_coverage", entries, source, measuring)
