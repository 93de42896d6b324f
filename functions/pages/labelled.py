"""The things that labels are of, as a reader recognises them: what each belongs to, and its own words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from functions.composition.stores import answers, measurements, submissions, tasks
from functions.pages.measured import words_of_item
from touchstone.answers.labelling import KIND as ANSWER
from touchstone.answers.model import AnswerRecord
from touchstone.errors import NotFoundError
from touchstone.oracle.labelling import KIND as GATE
from touchstone.oracle.labelling import submission_ref
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.records.labels import Label
from touchstone.records.list_query import beginning
from touchstone.references import JobKind, Reference
from touchstone.surfaces.catalogue import text_of
from touchstone.surfaces.measurement import Measurement

type ThingName = tuple[str, str, str]
"""The kind of verdict, the record's id and the thing's name in the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledThing:
    """What a label is of.

    `about` is what the thing belongs to: the problem, the title of the source (without a source how the material
    begins), or who handed in for which task.
    `words` are the thing's own: the answer, the item, the criterion. Both are cut as in lists, and None if the record
    no longer has them.
    """

    about: str | None = None
    words: str | None = None


NOTHING = LabelledThing()


def name_of(label: Label) -> ThingName:
    """The name under which `things_of` has the thing of a label."""
    return label.kind, label.record_id, label.item


def things_of(tenant: str, labels: Sequence[Label]) -> Mapping[ThingName, LabelledThing]:
    """The things of these labels, by their names. Things whose records are gone are left out.

    Each kind of record is read at once, a hundred in one read; a kind that no label is of is not read.
    """
    at_gates = [label for label in labels if label.kind == GATE]
    of_items = [label for label in labels if label.kind not in {ANSWER, GATE}]
    at_answers = [label for label in labels if label.kind == ANSWER]
    return {
        **dict(_of_records(tenant, at_answers, "answer", answers(), _attempt)),
        **dict(_criteria(tenant, at_gates)),
        **dict(_of_records(tenant, of_items, "measurement", measurements(), _item)),
    }


class _Records[R](Protocol):
    """A store of records."""

    def find_many(self, *, tenant: str, which: Sequence[Reference]) -> dict[Reference, R]:
        """The existing records of these references."""
        ...


def readable[R](store: _Records[R], tenant: str, which: Sequence[Reference]) -> Mapping[Reference, R]:
    """The records of these references that exist and can be read: one that is spoilt costs a page its name alone."""
    if not which:
        return {}
    try:
        return store.find_many(tenant=tenant, which=which)
    except (ValidationError, NotFoundError):
        found: dict[Reference, R] = {}
        for one in which:
            with suppress(ValidationError, NotFoundError):
                found |= store.find_many(tenant=tenant, which=[one])
        return found


def _of_records[R](
    tenant: str,
    labels: Sequence[Label],
    kind: JobKind,
    store: _Records[R],
    thing: Callable[[R, Label], LabelledThing],
) -> Iterator[tuple[ThingName, LabelledThing]]:
    """The things of labels whose record is named by the label itself."""
    refs = {label.record_id: Reference(tenant, kind, label.record_id) for label in labels}
    found = readable(store, tenant, _different(refs.values()))
    for label in labels:
        if (record := found.get(refs[label.record_id])) is not None:
            yield name_of(label), thing(record, label)


def _attempt(record: AnswerRecord, label: Label) -> LabelledThing:
    answer = next((each.solution.answer for each in record.attempts if str(each.number) == label.item), None)
    return LabelledThing(about=_cut(record.problem), words=_cut(answer))


def _item(record: Measurement, label: Label) -> LabelledThing:
    words = next(
        (words_of_item(record, work, label.item) for work in record.metrics if work.metric == label.kind), None
    )
    request = record.request
    about = text_of(request.material) if request.source is None else _title(request.source.text)
    return LabelledThing(about=_cut(about), words=_cut(words))


def _title(text: str) -> str:
    """The first line of a source, as a rule its heading."""
    return next((line for each in text.splitlines() if (line := each.strip("# \t"))), text)


def _criteria(tenant: str, labels: Sequence[Label]) -> Iterator[tuple[ThingName, LabelledThing]]:
    names = {label.record_id: submission_ref(tenant, label.record_id) for label in labels}
    handed_in = readable(submissions(), tenant, _different(names.values()))
    asked = _different(Reference(tenant, "task", one.task_id) for one in names.values())
    found = {one.id: record for one, record in readable(tasks(), tenant, asked).items()}
    for label in labels:
        ref = names[label.record_id]
        if (task := found.get(ref.task_id)) is not None:
            yield name_of(label), _criterion(task, handed_in.get(ref), label.item)


def _criterion(task: Task, submission: Submission | None, item: str) -> LabelledThing:
    criteria = dict(enumerate(task.request.brief.acceptance_criteria, start=1))
    described = task.request.brief.description
    about = described if submission is None else f"{submission.submitter}: {described}"
    return LabelledThing(about=_cut(about), words=_cut(criteria.get(int(item)) if item.isdecimal() else None))


def _cut(text: str | None) -> str | None:
    return beginning(text) if text else None


def _different(which: Iterable[Reference]) -> list[Reference]:
    return list(dict.fromkeys(which))
