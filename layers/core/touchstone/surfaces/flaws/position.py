"""Key position: whether the keys of a quiz stand in one place so often that guessing it pays.

For each place, the number of keys in it is compared with what keys put anywhere at random would give: a sum of
independent draws, one a question, each 1 / (number of its choices). The exact tail of that distribution (Poisson
binomial; Chen & Liu 1997) takes the place of the chi-square test, which few questions do not bear, and says which place
it is. Statements are right or wrong; that is a place, too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from touchstone.material import Question, Quiz
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, truth

LEAST_QUESTIONS = 10
"""Of fewer questions no learner sees a pattern."""
CHANCE = 0.01
"""Largest chance, over all places of a quiz together, that keys put at random would stand in one so often."""
TIMES_EXPECTED = 1.5
"""… and at least so many times as often as expected: in a long quiz much less is beyond chance, and of no use."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A question with one key: where it stands, among how many places."""

    id: str
    place: str
    places: int


def position_flaws(quiz: Quiz, keys: Mapping[str, Key]) -> Iterator[tuple[str, Flaw]]:
    """The questions (by id) whose key stands in a place that has far more keys than by chance."""
    chosen = [
        _Placed(one.id, str(keys[one.id].right[0] + 1), len(one.choices))
        for one in quiz.questions
        if one.kind == "single_choice" and len(keys[one.id].right) == 1
    ]
    stated = [
        _Placed(one.id, "true" if value else "false", 2) for one in quiz.questions if (value := _truth(one)) is not None
    ]
    for placed in (chosen, stated):
        yield from _biased(placed)


def _truth(question: Question) -> bool | None:
    values = {truth(answer) for answer in question.answers}
    return values.pop() if question.kind == "true_false" and len(values) == 1 else None


def _biased(placed: Sequence[_Placed]) -> Iterator[tuple[str, Flaw]]:
    if len(placed) < LEAST_QUESTIONS:
        return
    times = Counter(one.place for one in placed)
    places = max(one.places for one in placed)
    for place, found in times.items():
        chances = [1 / one.places if not place.isdigit() or int(place) <= one.places else 0.0 for one in placed]
        expected = sum(chances)
        if found < TIMES_EXPECTED * expected or tail(chances, found) * places > CHANCE:
            continue
        values: dict[str, str | int] = {
            "times": found,
            "questions": len(placed),
            "place": place,
            "expected": round(expected),
        }
        for one in placed:
            if one.place == place:
                yield one.id, Flaw(label="KEY_POSITION", values=values)


def tail(chances: Sequence[float], least: int) -> float:
    """The probability that at least `least` of independent events with these probabilities happen."""
    exactly = [1.0] + [0.0] * len(chances)
    for number, chance in enumerate(chances, start=1):
        for events in range(number, 0, -1):
            exactly[events] = exactly[events] * (1 - chance) + exactly[events - 1] * chance
        exactly[0] *= 1 - chance
    return sum(exactly[least:])
