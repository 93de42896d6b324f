"""What an answer adds to the counters: the one definition behind every aggregate about answers.

The counters of a tenant are at all times the sum of `contributions(record)` over its answers (`counters`). A rebuild
sums the same function again.

An attempt counts for its own model once its record is `finished` or `failed`. It is *decided* (`n`) if `passed` is True
or False, *correct* if True, and *skipped* if None. An attempt that was retrieved from an earlier solution counts for
nobody. The calls behind verdicts count for the judge that they were made to, once the record has ended. What people say
about verdicts is counted beside them (`labels`). Volume and spending fall on the UTC day on which the answer arrived,
scores on the UTC day of the deep evaluation. Money is counted in micro-dollars (for cards of judges in billionths of a
dollar) and scores in millionths, as integers: sums are exact.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import get_args

from touchstone.answers.labelling import CARDS_OF_CALLS, rated, verdicts_of
from touchstone.answers.model import ENDED, AnswerRecord, Attempt, DeepEvaluation, EvaluationState, Verification
from touchstone.judges.base import asks_in_turn
from touchstone.judges.spends import count_unpriced
from touchstone.records.counters import (
    PROVIDER,
    Increment,
    counted_tallies,
    counts_pk,
    deferred_pk,
    rate_sks,
    shard_of,
    summed,
)
from touchstone.records.judge_counts import calls_of, counts_of, judge_sk
from touchstone.records.keys import of_tenant
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.text import normalised as normalised_form

FIRST, RETRY = "first", "retry"
"""The prefixes of the sums of first attempts (their difficulty follows) and of all later attempts. Attempts that an
earlier release counted are in neither."""
MILLIONTHS = 1_000_000
DIMENSIONS = ("correctness", "completeness", "clarity", "pedagogy", "format", "overall")
MAX_SUGGESTIONS = 20
"""The most suggestions of one evaluation that are counted; with everything else they fit one transaction of 100
writes."""
_MAX_SUGGESTION_CHARS = 1_000
_MAX_APPROACH_CHARS = 4_000
_STATES: tuple[EvaluationState, ...] = get_args(EvaluationState.__value__)
COUNTED_STATES = tuple(state for state in _STATES if state != "none")


def contributions(record: AnswerRecord) -> tuple[Increment, ...]:
    """Everything that a record counts for now, one increment for each item."""
    found: dict[tuple[str, str], Increment] = {}
    for increment in _parts(record):
        key = (increment.pk, increment.sk)
        earlier = found[key].add if key in found else {}
        found[key] = Increment(pk=key[0], sk=key[1], add=summed(earlier, increment.add), labels=increment.labels)
    return tuple(found.values())


def suggestions_pk(tenant: str) -> str:
    """The partition of a tenant's improvement suggestions."""
    return of_tenant(tenant, "SUGGESTIONS")


def approaches_pk(tenant: str) -> str:
    """The partition of the better approaches found for a tenant."""
    return of_tenant(tenant, "APPROACHES")


def normalised(suggestion: str) -> str:
    """A suggestion's text in the form in which it is counted.

    Compatibility forms and white space are unified, and a closing full stop is removed.
    """
    text = " ".join(normalised_form(suggestion, "NFKC").split()).rstrip(".。!！;；")
    return text[:_MAX_SUGGESTION_CHARS]


def _parts(record: AnswerRecord) -> Iterator[Increment]:
    pk = counts_pk(record.tenant, shard_of(record.id))
    if record.stage in ENDED:
        yield Increment(pk=pk, sk=f"DAY#{record.created_at:%Y-%m-%d}", add=_volume(record))
        yield from _rates(record, pk)
        yield from counted_tallies(record.tenant, record.id, calls_of(record.spends, CARDS_OF_CALLS))
        for judge, tally in _verdicts(record):
            yield Increment(pk=pk, sk=judge_sk(judge), add=counts_of(tally))
    state = record.evaluation.state
    if state != "none":
        yield Increment(pk=pk, sk="EVALUATIONS", add={each: int(each == state) for each in COUNTED_STATES})
    if state == "deferred":
        cheap = {"cheap": 1} if record.evaluation.when == "cheap" else {}
        yield Increment(pk=deferred_pk(record.id), sk="DEFERRED", add={"deferred": 1, **cheap})
    if record.deep_evaluation is not None:
        yield from _evaluation(record, record.deep_evaluation, pk)


def _volume(record: AnswerRecord) -> dict[str, int]:
    status = record.verification_status if record.stage == "finished" else "failed"
    spent = sum(round((spend.cost_usd or 0.0) * MILLIONTHS) for spend in record.spends)
    counts = {f"status_{status}": 1, "spend_micro_usd": spent, "unpriced": count_unpriced(record.spends)}
    by_batch = [spend for spend in record.spends if spend.line_id is not None]
    if by_batch:
        saved = sum(round((spend.saved_usd or 0.0) * MILLIONTHS) for spend in by_batch)
        counts |= {"batched": len(by_batch), "saved_micro_usd": saved}
    for attempt in record.attempts:
        if attempt.verification is not None and attempt.verification.passed is None:
            counts = summed(counts, {f"skip_{attempt.verification.skip_reason or 'unknown'}": 1})
    return counts


def _rates(record: AnswerRecord, pk: str) -> Iterator[Increment]:
    for attempt in record.attempts:
        if attempt.verification is not None and (rated_as := rated(record, attempt)) is not None:
            tally = _tally(attempt.verification)
            which = _which(record, attempt, tally)
            for sk in rate_sks(rated_as):
                yield Increment(pk=pk, sk=sk, add=tally | (which if sk.startswith(PROVIDER) else {}))


def _which(record: AnswerRecord, attempt: Attempt, tally: Mapping[str, int]) -> dict[str, int]:
    """What an attempt of ours counts for the choice of a provider: a first attempt by its difficulty, or a retry.

    Retries are counted apart, since a retry sees the problems that others failed at.
    """
    if record.kind != "solve" or not tally["n"]:
        return {}
    name = f"{FIRST}#{record.difficulty or ''}" if attempt.number == 1 else RETRY
    return {f"{name}#n": tally["n"], f"{name}#correct": tally["correct"]}


def _verdicts(record: AnswerRecord) -> Iterator[tuple[JudgeKey, CardTally]]:
    """What judges said about the attempts, whether it decided or not."""
    for attempt in record.attempts:
        said = list(verdicts_of(attempt.verification))
        together = tuple(sorted(verdict for _, verdict in said))
        # Judges that were asked in turn until one was sure are no panel: a later judge answers only if the first was
        # not sure.
        panels = {together: 1} if not asks_in_turn(record.judges) and len(together) > 1 else {}
        for judge in dict(said):
            yield judge, CardTally(panels=panels)
        for judge, verdict in said:
            yield judge, CardTally(said={verdict: 1})


def _tally(verification: Verification) -> dict[str, int]:
    passed = verification.passed
    return {"n": int(passed is not None), "correct": int(passed is True), "skipped": int(passed is None)}


def _evaluation(record: AnswerRecord, evaluation: DeepEvaluation, pk: str) -> Iterator[Increment]:
    sums = {f"sum_{name}": round(getattr(evaluation, name) * MILLIONTHS) for name in DIMENSIONS}
    yield Increment(pk=pk, sk=f"DAY#{evaluation.evaluated_at:%Y-%m-%d}", add={"evaluations": 1, **sums})
    counted = dict.fromkeys(filter(None, map(normalised, evaluation.improvement_suggestions)))
    suggestions = suggestions_pk(record.tenant)
    for text in list(counted)[:MAX_SUGGESTIONS]:
        key = hashlib.sha256(text.encode()).hexdigest()
        yield Increment(pk=suggestions, sk=key, add={"count": 1}, labels={"text": text, "gsi3pk": suggestions})
    if evaluation.better_approach is not None:
        text = evaluation.better_approach[:_MAX_APPROACH_CHARS]
        yield Increment(pk=approaches_pk(record.tenant), sk=record.id, add={"count": 1}, labels={"text": text})
