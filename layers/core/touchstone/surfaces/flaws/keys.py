"""Flaws of a key: none, one that nobody can choose, several where one is due."""

from collections.abc import Iterator

from touchstone.material import Question
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, bare, shown, truth

_YES_OR_NO = frozenset({"yes", "no"})
"""What answers a question, where a statement is to be called true or false."""


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
        outside = next((answer for answer in given if not _is_truth(answer, question)), None)
        if outside is not None:
            yield Flaw(label="KEY_OUTSIDE_CHOICES", values={"answer": outside})
        if len({truth(answer) for answer in given} - {None}) > 1:
            yield Flaw(label="SEVERAL_KEYS", values={"number": len(given)})


def _is_truth(answer: str, question: Question) -> bool:
    """Whether a key says true or false; yes and no do only where the question offers them as its choices."""
    said = shown(answer).strip(" .").casefold()
    if said in _YES_OR_NO:
        return said in {choice.strip(" .").casefold() for choice in bare(question.choices)}
    return truth(answer) is not None
