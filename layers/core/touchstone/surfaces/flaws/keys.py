"""Flaws of a key: none, one that nobody can choose, several where one is due."""

from collections.abc import Iterator

from touchstone.material import Question
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, shown, truth


def key_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """What keeps a question from having a right answer at all, or one right answer where one is due."""
    given = [answer for answer in dict.fromkeys(question.answers) if shown(answer)]
    if not given:
        yield Flaw(label="NO_KEY")
    if question.chosen:
        for answer in key.outside:
            yield Flaw(label="KEY_OUTSIDE_CHOICES", values={"answer": answer})
        if question.kind == "single_choice" and len(key.right) > 1:
            yield Flaw(label="SEVERAL_KEYS", values={"number": len(key.right)})
    elif question.kind == "true_false":
        values = {truth(answer) for answer in given}
        if None in values:
            unreadable = next(answer for answer in given if truth(answer) is None)
            yield Flaw(label="KEY_OUTSIDE_CHOICES", values={"answer": unreadable})
        if len(values - {None}) > 1:
            yield Flaw(label="SEVERAL_KEYS", values={"number": len(given)})
