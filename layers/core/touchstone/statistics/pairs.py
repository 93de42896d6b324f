"""The scores of the same items under two variants, with the source of each item."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from touchstone.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPair:
    """One item's scores under both variants, in any one unit; None for a score that is missing.

    An item is the smallest thing that both variants have. It is a question if both variants have the same questions. If
    each has questions of its own, it is the whole source, with the score of what each variant made of it.
    """

    source: str
    a: float | None
    b: float | None


def pair_items(
    *, a: Mapping[str, float | None], b: Mapping[str, float | None], sources: Mapping[str, str]
) -> tuple[ItemPair, ...]:
    """The items of two variants, paired by id, each with its source document.

    An unscored item is kept with a score of None. Raises `InputError` if one variant lacks an item, since the
    comparison would be unpaired, and if an item has no source.
    """
    for name, lacking in (("A", sorted(b.keys() - a.keys())), ("B", sorted(a.keys() - b.keys()))):
        if lacking:
            raise InputError(
                f"Variant {name} lacks {len(lacking)} of the other's items ({lacking[0]!r} first): give both variants "
                "the same items, with no score where there is none.",
                where=lacking[0],
            )
    for item in a:
        if item not in sources:
            raise InputError(f"Item {item!r} has no source document: name the one it was made from.", where=item)
    return tuple(ItemPair(source=sources[item], a=score, b=b[item]) for item, score in a.items())


def differences_by_source(pairs: Iterable[ItemPair]) -> list[list[float]]:
    """The differences B less A of the items with both scores: one list for each source, sorted by source name.

    Raises `InputError` if a score is not finite.
    """
    held: defaultdict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.a is not None and pair.b is not None:
            if not math.isfinite(pair.b - pair.a):
                raise InputError(f"A score of source {pair.source!r} is not a finite number.", where=pair.source)
            held[pair.source].append(pair.b - pair.a)
    return [held[source] for source in sorted(held)]
