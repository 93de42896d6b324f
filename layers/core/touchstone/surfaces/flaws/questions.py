"""Questions of a quiz that ask again what an earlier one has asked."""

from collections.abc import Iterator, Mapping

from touchstone.material import Question, Quiz
from touchstone.material.choices import alike
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.likeness import pairs, reading
from touchstone.surfaces.options import Key, shown, truth


def repeated(quiz: Quiz, keys: Mapping[str, Key]) -> Iterator[tuple[str, Flaw]]:
    """The questions (by id) that have the words and the key of an earlier one. Articles do not count.

    If a question differs in another word or two, it must also have the same choices: “Which is a mammal?” is not “Which
    is a sea mammal?”. Questions with other keys are none (“Which sentence is right?”), nor are questions about another
    word (`target`, `readings`).
    """
    texts = [reading(question.question_text) for question in quiz.questions]
    asked = [(one.kind, one.target, one.readings, _key(one, keys[one.id])) for one in quiz.questions]
    found = set[int]()
    for earlier, place in pairs(texts):
        if place in found or asked[earlier] != asked[place] or not asked[place][-1]:
            continue
        one, other = quiz.questions[earlier], quiz.questions[place]
        offered = [{alike(choice) for choice in keys[question.id].choices} for question in (one, other)]
        if texts[earlier].core == texts[place].core or (one.chosen and offered[0] == offered[1]):
            found.add(place)
            yield other.id, Flaw(label="REPEATED_QUESTION", values={"other": one.id})


def _key(question: Question, key: Key) -> set[str | bool]:
    """The key of a question as it is compared."""
    if question.chosen:
        return {alike(key.choices[place]) for place in key.right}
    if question.kind == "true_false":
        return {value for answer in question.answers if (value := truth(answer)) is not None}
    return {alike(shown(answer)) for answer in question.answers if shown(answer)}
