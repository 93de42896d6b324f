"""DIMENSIONS: what a task's submissions are judged by. They are made once, when the task is created, and locked.

Three dimensions are the same for every task, in our words. A judge adds one to three that this task needs, and says how
much each of them all counts. The weights keep the proportions that the judge gives, scaled here so that they sum to 1.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from touchstone.clock import Deadline
from touchstone.figures import percent
from touchstone.judges.base import Judge
from touchstone.judges.calls import JudgeReply, NotScored
from touchstone.judges.fence import Fenced, visible
from touchstone.judges.spends import Spend
from touchstone.oracle.judging import Judging
from touchstone.oracle.model import (
    DIMENSION_ID,
    FIXED,
    LEAST_DYNAMIC,
    MOST_DYNAMIC,
    WEIGHTS_TOLERANCE,
    Brief,
    Dimension,
)
from touchstone.packaged import own_table
from touchstone.text import normalised
from touchstone.text.language import Language

LEAST_WEIGHT = 0.05
"""Least share of the whole that one dimension may have. A band is about twenty points wide. At this weight a whole band
more or less moves the total by one point, the least that a reader of whole numbers sees."""
ASKED_PERCENT = 10
"""The least weight, of 100, that the judge is told to give each dimension. It is above `LEAST_WEIGHT` because the
judge's numbers seldom sum to 100: a weight near the bound could fall below it when they are scaled."""
MAX_NAME_CHARS = 60
MAX_DIMENSION_CHARS = 600
"""Longest description of a dimension, which every later prompt of the task repeats."""
SHOWN_ID_CHARS = 40
"""How many characters of an id a fault repeats. A valid id is no longer."""
MAX_OUTPUT_TOKENS = 2048


class DynamicDimension(JudgeReply):
    """A dimension that a judge adds. `weight` is in proportion to the other weights, on whatever scale."""

    id: str
    name: str
    description: str
    weight: float


class FixedWeights(JudgeReply):
    """How much the fixed dimensions count for this task, in proportion to the others."""

    substantiveness: float
    credibility: float
    completeness: float


class DimensionsReply(JudgeReply):
    """What a judge adds to the fixed dimensions, and how it weighs them. It has no word on what the fixed ones mean."""

    dynamic_dimensions: list[DynamicDimension]
    fixed_weights: FixedWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedDimensions:
    """The dimensions of a task, the fixed ones first, with the model that made them.

    `spends` are the judge calls that were paid for them.
    """

    dimensions: tuple[Dimension, ...]
    provider: str
    model: str
    spends: tuple[Spend, ...]


async def generate_dimensions(
    brief: Brief, *, judge: Judge, deadline: Deadline, use_cache: bool = True
) -> GeneratedDimensions | NotScored:
    """Make the four to six dimensions of a task, with weights that sum to 1.

    `NotScored`: no judge answered, or its dimensions broke the rules twice. A judge that fails raises nothing.
    """
    judging = Judging(brief=brief, judge=judge, deadline=deadline, use_cache=use_cache)
    fixed = _FIXED_WORDS[judging.language]
    found = await judging.ask(
        "dimensions",
        DimensionsReply,
        _faults,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        description=brief.description,
        criteria=list(brief.acceptance_criteria),
        fixed=[{"id": Fenced(key), "description": Fenced(one["description"])} for key, one in fixed.items()],
        least=LEAST_DYNAMIC,
        most=MOST_DYNAMIC,
        least_percent=ASKED_PERCENT,
        name_chars=MAX_NAME_CHARS,
    )
    if isinstance(found, NotScored):
        return found
    return GeneratedDimensions(
        dimensions=_dimensions(found.value, judging.language),
        provider=found.provider,
        model=found.model,
        spends=found.spends,
    )


def normalized(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights in the same proportions, with a sum of 1, exact but for the rounding of floats (far below 1e-9).

    Each weight is divided by the largest first, so that no sum overflows, and then by the exact sum of the quotients
    (`math.fsum`). Equal weights stay equal. Raises `ValueError` unless there is at least one weight and all are finite
    and above 0.
    """
    if not weights or not all(math.isfinite(weight) and weight > 0.0 for weight in weights):
        raise ValueError("Weights must be finite and above 0.")
    largest = max(weights)
    parts = [weight / largest for weight in weights]
    total = math.fsum(parts)
    return tuple(part / total for part in parts)


def _dimensions(reply: DimensionsReply, language: Language) -> tuple[Dimension, ...]:
    fixed = [(key, one["name"], one["description"]) for key, one in _FIXED_WORDS[language].items()]
    fixed += [(added.id, _shown(added.name), visible(added.description).strip()) for added in reply.dynamic_dimensions]
    shares = normalized(list(_weights(reply).values()))
    return tuple(
        Dimension(id=key, name=name, description=description, weight=share)
        for (key, name, description), share in zip(fixed, shares, strict=True)
    )


def _weights(reply: DimensionsReply) -> dict[str, float]:
    """The weights as the judge gave them, by dimension id, the fixed ones first."""
    fixed = {key: getattr(reply.fixed_weights, key) for key in FIXED}
    return fixed | {added.id: added.weight for added in reply.dynamic_dimensions}


def _faults(reply: DimensionsReply) -> Iterator[str]:
    """Yield each fault of a judge's reply in one sentence; nothing if the reply obeys all rules."""
    added = reply.dynamic_dimensions
    if not LEAST_DYNAMIC <= len(added) <= MOST_DYNAMIC:
        yield f"There are {len(added)} dynamic dimensions; give {LEAST_DYNAMIC} to {MOST_DYNAMIC}."
    for key, times in Counter(one.id for one in added).items():
        if not re.fullmatch(DIMENSION_ID, key):
            yield (
                f"The id {_cut(key)} must be 2 to 40 lower-case Latin letters, digits and underscores, the first one a "
                "letter."
            )
        if key in FIXED:
            yield f"The id {key} belongs to a fixed dimension; a dynamic one needs an id and a meaning of its own."
        if times > 1:
            yield f"The id {_cut(key)} is there {times} times; every id must be different."
    names = Counter(_folded(one["name"]) for words in _FIXED_WORDS.values() for one in words.values())
    names.update(_folded(one.name) for one in added)
    for number, one in enumerate(added, start=1):
        yield from _faults_of_one(one, f"dynamic dimension {number}", taken=names[_folded(one.name)] > 1)
    yield from _faults_of_weights(_weights(reply))


def _faults_of_one(added: DynamicDimension, which: str, *, taken: bool) -> Iterator[str]:
    name, description = _shown(added.name), visible(added.description).strip()
    if not name:
        yield f"The name of {which} is blank."
    elif taken:
        yield f"The name of {which} is also that of another dimension; every name must be different."
    if len(name) > MAX_NAME_CHARS:
        yield f"The name of {which} has {len(name)} characters; at most {MAX_NAME_CHARS}."
    if not description:
        yield f"The description of {which} is blank."
    if len(description) > MAX_DIMENSION_CHARS:
        yield f"The description of {which} has {len(description)} characters; at most {MAX_DIMENSION_CHARS}."


def _faults_of_weights(weights: Mapping[str, float]) -> Iterator[str]:
    wrong = [key for key, weight in weights.items() if not weight > 0.0]
    for key in wrong:
        yield f"The weight of {_cut(key)} must be above 0."
    if wrong:
        return
    for key, share in zip(weights, normalized(list(weights.values())), strict=True):
        if share < LEAST_WEIGHT - WEIGHTS_TOLERANCE:  # a share of exactly so much may be rounded below it
            yield (
                f"The weight of {_cut(key)} is {percent(share, 1)} of all weights, too little to matter; give every "
                f"dimension at least {ASKED_PERCENT} of 100."
            )


def _cut(key: str) -> str:
    return f'"{_shown(key)[:SHOWN_ID_CHARS]}"'


def _shown(name: str) -> str:
    """A name or id on one line, as a reader sees it."""
    return " ".join(visible(name).split())


def _folded(name: str) -> str:
    """A name as it is read aloud: without case and without variants of characters."""
    return normalised(_shown(name), "NFKC").casefold()


_FIXED_WORDS: dict[str, dict[str, dict[str, str]]] = own_table(__file__)
"""The fixed dimensions in our words, in their order. A task keeps the words that it was created with."""
