"""Flaws of keys: none, one that nobody can choose, several where one is due, keys that favour one place.

For each place, the number of keys in it is compared with the number that keys put at random would give. That number is
a sum of independent draws, one for each question, each with the chance 1 / (number of its choices). The exact tail of
its distribution (Poisson binomial; Chen & Liu 1997) is used and not the chi-square test, which is not valid for few
questions and does not say which place it is. For statements, true and false are the places.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from touchstone.material import Question, Quiz
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, bare, shown, truth

_YES_OR_NO = frozenset({"yes", "no"})
"""Words that answer a question. They do not answer a statement, which is true or false."""


def key_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """The flaws that keep a question from having a right answer, or exactly one right answer if one is due."""
    given = [answer for answer in dict.fromkeys(question.answers) if shown(answer)]
    if not given:
        yield Flaw(label="NO_KEY")
    if question.chosen:
        for answer in key.outside:
            yield Flaw(label="KEY_OUTSIDE_CHOICES", values={"answer": answer})
        if question.kind == "single_choice" and len(key.right) > 1:
            yield Flaw(label="SEVERAL_KEYS", values={"number": len(key.right)})
    elif question.kind == "true_false":
        outside = next((answer for answer in given if not _is_truth(answer, question)), None)
        if outside is not None:
            yield Flaw(label="KEY_OUTSIDE_CHOICES", values={"answer": outside})
        if len({truth(answer) for answer in given} - {None}) > 1:
            yield Flaw(label="SEVERAL_KEYS", values={"number": len(given)})


def _is_truth(answer: str, question: Question) -> bool:
    """Whether a key says true or false. Yes and no do so only if the question offers them as its choices."""
    said = shown(answer).strip(" .").casefold()
    if said in _YES_OR_NO:
        return said in {choice.strip(" .").casefold() for choice in bare(question.choices)}
    return truth(answer) is not None


LEAST_QUESTIONS = 10
"""In fewer questions no learner sees a pattern."""
CHANCE = 0.01
"""The largest chance that keys put at random would stand in one place so often, over all places of a quiz together."""
TIMES_EXPECTED = 1.5
"""The keys must also stand in the place at least this many times as often as expected. In a long quiz much less is
beyond chance, but is of no use to a learner."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A question with one key: the place of the key, and the number of places."""

    id: str
    place: str
    places: int


def position_flaws(quiz: Quiz, keys: Mapping[str, Key]) -> Iterator[tuple[str, Flaw]]:
    """The questions (by id) whose key stands in a place that has far more keys than chance would give."""
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
