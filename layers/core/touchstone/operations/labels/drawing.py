"""The choice of a tenant's answers to label next, from the newest ones, shown without the judge's verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from touchstone.answers.labelling import KIND, judged_attempt
from touchstone.answers.model import ENDED
from touchstone.aws import MAX_KEYS
from touchstone.errors import ConflictError, NotFoundError
from touchstone.operations.reports.budgets import View
from touchstone.records.list_query import beginning
from touchstone.references import Reference
from touchstone.statistics.sampling import LabelCandidate, next_to_label

if TYPE_CHECKING:
    from touchstone.answers.model import AnswerRecord, Attempt
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.records import Answers, Label, Labels
    from touchstone.records.answer_items import AnswerSummary
    from touchstone.statistics.tallies import JudgeKey

NEWEST = 500
"""The newest answers from which a sample is drawn. Reading them takes five pages of the list. The rates are meant to
show what judges say now."""
PAGE = 100
MOST_LOOKED_AT = 300
"""How many verdicts are looked at to find some to label: more than a pool of 500 answers holds."""
SHARED_AMONG = 8
"""The first drawn verdicts, this many, are shared among the people who label at the same time."""
MOST_COMPARED = 60
"""How many verdicts without a label are compared to show the least sure of them."""

type Drawn = Literal["random", "unsure"]


class LabelTask(View):
    """A verdict to label. It does not show what the judge said, so that the judge does not influence the label.

    `item` is the number of the attempt. `problem` and `answer` have at most 160 characters, null if there is no text.
    """

    kind: str
    record_id: str
    item: str
    created_at: datetime
    problem: str | None
    answer: str | None


class LabelTasks(View):
    """The verdicts to label next, in order. Send each label with this `sample`.

    `drawn_from` is the number of verdicts on the newest answers from which the list was drawn. The list is a random
    sample of them (for rates), or those that their judges were least sure of (for thresholds). A verdict that is drawn
    for rates is never drawn for thresholds, and the other way round. If none of the 300 verdicts that were looked at
    needs a label, `not_looked_at` is the number of verdicts that come after them; otherwise it is 0.
    """

    sample: Drawn
    drawn_from: int
    not_looked_at: int = 0
    items: tuple[LabelTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnVerdict:
    """A verdict to label: an answer's record and the number of an attempt.

    `distance` is how far its judges were from sure.
    """

    record: "AnswerRecord"
    number: int
    distance: float

    @property
    def attempt(self) -> "Attempt":
        """The attempt that the verdict is about."""
        return self.record.attempts[self.number - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The drawn verdicts in order; `drawn_from` and `not_looked_at` as in `LabelTasks`."""

    drawn_from: int
    not_looked_at: int
    found: tuple[DrawnVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labeller:
    """The person who asks what to label next.

    `by` is the id of the person's token, None for nobody in particular. `second`: the person wants verdicts that others
    have labelled and they have not, instead of verdicts without a label. `skipped` are the names (`name_of`) of
    verdicts that the person does not want to see now.
    """

    by: str | None = None
    second: bool = False
    skipped: frozenset[str] = frozenset()

    def may_see(self, name: str, label: "Label | None") -> bool:
        """Whether a verdict may be drawn for this person; `label` is its label, None if it has none."""
        if name in self.skipped:
            return False
        if label is None:
            return not self.second
        return self.second and all(word.by != self.by for word in label.words)


UNNAMED_LABELLER = Labeller()


def label_tasks(
    answers: "Answers", labels: "Labels", *, tenant: str, sample: Drawn, count: int, thresholds: "JudgeThresholds"
) -> LabelTasks:
    """At most `count` of the newest answers to label, for display. Raises `StoreError`."""
    drawn = draw(answers, labels, tenant=tenant, sample=sample, count=count, thresholds=thresholds)
    return LabelTasks(
        sample=sample,
        drawn_from=drawn.drawn_from,
        not_looked_at=drawn.not_looked_at,
        items=tuple(map(_task, drawn.found)),
    )


def next_for(found: Sequence[DrawnVerdict], by: str) -> DrawnVerdict | None:
    """The verdict that a person is shown, chosen from the first drawn ones. None if there is none.

    Different people mostly get different verdicts, so that people who label at the same time seldom label the same one
    unless they want to. The choice depends only on the person and the verdict's name, not on its content, so that a
    random sample stays random.
    """
    first = found[:SHARED_AMONG]
    return min(
        first, key=lambda one: sha256(f"{by}#{name_of(one.record.id, one.number)}".encode()).digest(), default=None
    )


def name_of(record_id: str, number: int | str) -> str:
    """The name of a verdict, unique in its tenant. It decides to which of the two pools the verdict belongs."""
    return f"{record_id}#{number}"


def draw(
    answers: "Answers",
    labels: "Labels",
    *,
    tenant: str,
    sample: Drawn,
    count: int,
    thresholds: "JudgeThresholds",
    asks: Labeller = UNNAMED_LABELLER,
) -> Draw:
    """At most `count` of the newest answers to label, with their whole records. Raises `StoreError`.

    The cost is bounded: five pages of the list, three reads of labels, and at most ten of records, each of a hundred
    records.
    """
    newest = [one for one in _newest(answers, tenant) if one.stage in ENDED]
    verdicts = {name_of(one.id, number): (one, number) for one in newest for number in range(1, one.attempt_count + 1)}
    candidates = _in_turn([_candidate(name, summary) for name, (summary, _) in verdicts.items()], sample)
    looked_at = [verdicts[one.name] for one in candidates[:MOST_LOOKED_AT]]
    said = labels.of_things(tenant=tenant, kind=KIND, things=[(one.id, str(number)) for one, number in looked_at])
    waiting = [
        (Reference(tenant, "answer", one.id), number)
        for one, number in looked_at
        if asks.may_see(name_of(one.id, number), said.get((one.id, str(number))))
    ]
    enough = count if sample == "random" else max(count, MOST_COMPARED)
    found: list[DrawnVerdict] = []
    at_once = enough
    while waiting and len(found) < enough:
        chunk, waiting = waiting[:at_once], waiting[at_once:]
        records = answers.find_many(tenant=tenant, which=[which for which, _ in chunk])
        for which, number in chunk:
            record = records.get(which)
            distance = None if record is None else _distance(record, number, sample, thresholds)
            if record is not None and distance is not None:
                found.append(DrawnVerdict(record=record, number=number, distance=distance))
        at_once = min(2 * at_once, MAX_KEYS)
    del found[enough:]
    if sample == "unsure":
        found.sort(key=lambda one: one.distance)
    return Draw(
        drawn_from=len(verdicts),
        not_looked_at=0 if found else max(0, len(candidates) - MOST_LOOKED_AT),
        found=tuple(found[:count]),
    )


def _newest(answers: "Answers", tenant: str) -> "Iterator[AnswerSummary]":
    cursor: str | None = None
    for _ in range(NEWEST // PAGE):
        page = answers.page(tenant=tenant, limit=PAGE, cursor=cursor)
        yield from page.items
        cursor = page.cursor
        if cursor is None:
            return


def _candidate(name: str, summary: "AnswerSummary") -> LabelCandidate:
    """The candidate of a verdict. An undecided one counts as unsure: its judge may not have been sure enough."""
    undecided = summary.verification_status == "unverified"
    return LabelCandidate(name=name, confidence=None if undecided else summary.verification_confidence)


def _in_turn(candidates: list[LabelCandidate], sample: Drawn) -> list[LabelCandidate]:
    """The candidates of the sample, in the order in which they are looked at.

    For the sample `unsure`, undecided and decided verdicts alternate: after a day of failures most undecided verdicts
    have no judge's opinion, and they must not come before all others.
    """
    ordered = next_to_label(candidates, sample=sample, count=len(candidates))
    if sample == "random":
        return ordered
    undecided = [one for one in ordered if one.confidence is None]
    decided = [one for one in ordered if one.confidence is not None]
    return [one for pair in zip_longest(undecided, decided) for one in pair if one is not None]


def _distance(record: "AnswerRecord", number: int, sample: Drawn, thresholds: "JudgeThresholds") -> float | None:
    """How far the judges of an attempt were from being sure: the distance of the nearest one; 0 if they disagreed.

    None if there is nothing to label: nobody decided and no judge spoke, or, for the sample `unsure`, no judge spoke.
    """
    try:
        judged = judged_attempt(record, str(number))
    except (ConflictError, NotFoundError):
        return None
    found = record.attempts[number - 1].verification
    said: list[tuple[JudgeKey | None, float | None]] = [(vote.judge, vote.confidence) for vote in judged.votes]
    if found is not None and found.method == "judge" and judged.verdict is not None and not (said and not judged.judge):
        said.append((judged.judge, judged.confidence))
    if not said:
        return 0.0 if sample == "random" and judged.verdict is not None else None
    if found is not None and found.votes and (found.split or found.skip_reason in {"split", "unsure"}):
        return 0.0
    return min(
        LabelCandidate(name="", confidence=confidence, sure_from=_border(thresholds, judge)).distance
        for judge, confidence in said
    )


def _border(thresholds: "JudgeThresholds", judge: "JudgeKey | None") -> float | None:
    threshold = None if judge is None or judge.model is None else thresholds.get((judge.model, judge.prompt_version))
    return None if threshold is None else threshold.confidence or threshold.silent_below


def _task(drawn: DrawnVerdict) -> LabelTask:
    record = drawn.record
    return LabelTask(
        kind=KIND,
        record_id=record.id,
        item=str(drawn.number),
        created_at=record.created_at,
        problem=None if record.problem is None else beginning(record.problem),
        answer=beginning(drawn.attempt.solution.answer),
    )
