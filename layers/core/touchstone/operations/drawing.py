"""Which of a tenant's answers to label next: drawn from the newest ones, without a verdict that would sway anybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from touchstone.answers.labelling import KIND, judged_attempt
from touchstone.answers.model import ENDED
from touchstone.errors import ConflictError, NotFoundError
from touchstone.operations.reporting import View
from touchstone.records.list_query import beginning
from touchstone.records.table import MAX_KEYS
from touchstone.references import Reference
from touchstone.statistics.sampling import LabelCandidate, next_to_label

if TYPE_CHECKING:
    from touchstone.answers.model import AnswerRecord, Attempt
    from touchstone.judges.sureness import SureJudges
    from touchstone.records import Answers, Label, Labels
    from touchstone.records.answer_items import AnswerSummary
    from touchstone.statistics.tallies import JudgeKey

NEWEST = 500
"""Answers of which a sample is drawn: some 100 reads of the list; rates are of what judges say now."""
PAGE = 100
MOST_LOOKED_AT = 300
"""Verdicts that are looked at to find some to label: more than a pool of 500 answers holds."""
SHARED_AMONG = 8
"""So many of the first that were drawn are shared out among those who label at the same time."""
MOST_COMPARED = 60
"""Verdicts without a label of which the least sure are shown."""

type Drawn = Literal["random", "unsure"]


class LabelTask(View):
    """A verdict to label, without what the judge said: nobody is to be swayed by it. `item` is the attempt's number.

    `problem` and `answer` have at most 160 characters; `None` where there is no text.
    """

    kind: str
    record_id: str
    item: str
    created_at: datetime
    problem: str | None
    answer: str | None


class LabelTasks(View):
    """What to label next, the first one first; send each label with this `sample`.

    `drawn_from` are the verdicts on the newest answers, of which these are a random sample (for rates), or those that
    their judges were least sure of (for thresholds). Whatever was drawn for the one is never drawn for the other.
    `not_looked_at` is 0, or where there was none to label among the 300 that were looked at, how many are behind them.
    """

    sample: Drawn
    drawn_from: int
    not_looked_at: int = 0
    items: tuple[LabelTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnVerdict:
    """A verdict to label: an answer, and the number of the attempt. `distance` is how far its judges were from sure."""

    record: "AnswerRecord"
    number: int
    distance: float

    @property
    def attempt(self) -> "Attempt":
        """The attempt whose verdict it is."""
        return self.record.attempts[self.number - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What was drawn, the first one first; `drawn_from` and `not_looked_at` as in `LabelTasks`."""

    drawn_from: int
    not_looked_at: int
    found: tuple[DrawnVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labeller:
    """Who asks what to label next.

    `by` is the id of their token, None where nobody in particular asks. `second`: what others have labelled and they
    have not, in place of what nobody has. `skipped` are the names of what they do not want to see now (`name_of`).
    """

    by: str | None = None
    second: bool = False
    skipped: frozenset[str] = frozenset()

    def may_see(self, name: str, label: "Label | None") -> bool:
        """Whether a verdict with this label, None without one, may be drawn for them."""
        if name in self.skipped:
            return False
        if label is None:
            return not self.second
        return self.second and all(word.by != self.by for word in label.words)


ANYBODY = Labeller()


def label_tasks(
    answers: "Answers", labels: "Labels", *, tenant: str, sample: Drawn, count: int, sure: "SureJudges"
) -> LabelTasks:
    """At most `count` of the newest answers to label. Raises `StoreError`."""
    drawn = draw(answers, labels, tenant=tenant, sample=sample, count=count, sure=sure)
    return LabelTasks(
        sample=sample,
        drawn_from=drawn.drawn_from,
        not_looked_at=drawn.not_looked_at,
        items=tuple(map(_task, drawn.found)),
    )


def next_for(found: Sequence[DrawnVerdict], by: str) -> DrawnVerdict | None:
    """Which of the first that were drawn a person is shown: another one for each, mostly; None where there is none.

    People who label at the same time thus seldom label the same thing unless they want to. Which one it is follows from
    who they are and what it is called, not from anything in it, so that a random sample stays one.
    """
    first = found[:SHARED_AMONG]
    return min(
        first, key=lambda one: sha256(f"{by}#{name_of(one.record.id, one.number)}".encode()).digest(), default=None
    )


def name_of(record_id: str, number: int | str) -> str:
    """The name of a verdict among all of its tenant, by which it belongs to one of the two pools."""
    return f"{record_id}#{number}"


def draw(
    answers: "Answers",
    labels: "Labels",
    *,
    tenant: str,
    sample: Drawn,
    count: int,
    sure: "SureJudges",
    asks: Labeller = ANYBODY,
) -> Draw:
    """At most `count` of the newest answers to label, their records read whole. Raises `StoreError`.

    What it costs is bounded: six reads of the list, three of labels, and at most ten of records, a hundred at a time.
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
            distance = None if record is None else _distance(record, number, sample, sure)
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
    """A judge that was not sure enough may be the reason for which nobody decided."""
    undecided = summary.verification_status == "unverified"
    return LabelCandidate(name=name, confidence=None if undecided else summary.verification_confidence)


def _in_turn(candidates: list[LabelCandidate], sample: Drawn) -> list[LabelCandidate]:
    """Those of the sample, in the order in which they are looked at.

    Of the unsure, one that nobody decided and one that a judge did by turns: after a bad day no judge spoke of most of
    those that nobody decided, and they must not stand before all others.
    """
    ordered = next_to_label(candidates, sample=sample, count=len(candidates))
    if sample == "random":
        return ordered
    undecided = [one for one in ordered if one.confidence is None]
    decided = [one for one in ordered if one.confidence is not None]
    return [one for pair in zip_longest(undecided, decided) for one in pair if one is not None]


def _distance(record: "AnswerRecord", number: int, sample: Drawn, sure: "SureJudges") -> float | None:
    """How far the judges of an attempt were from being sure, by the nearest of them; 0 where they did not agree.

    None where there is nothing to label: nobody decided and no judge spoke, or, of the unsure, no judge spoke.
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
        LabelCandidate(name="", confidence=confidence, sure_from=_border(sure, judge)).distance
        for judge, confidence in said
    )


def _border(sure: "SureJudges", judge: "JudgeKey | None") -> float | None:
    threshold = None if judge is None or judge.model is None else sure.get((judge.model, judge.prompt_version))
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
