"""Labels: one a thing, counted exactly once whoever gives, changes or removes it, and whatever breaks in between."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.records import START, HandClock, a_spend, an_answer, an_attempt, finished
from touchstone.errors import ConflictError, InputError, StoreError
from touchstone.records import Answers, Artifacts, Label, Labels, Statistics
from touchstone.records.belongings import Belongings
from touchstone.records.counters import COUNT_SHARDS
from touchstone.records.judge_counts import counts_of, judge_of, judge_sk, tally_of
from touchstone.records.labels import MAX_PEOPLE, item_of, tallies_of
from touchstone.statistics import CardTally, JudgeKey, VerdictCells, judge_card, label_tally
from touchstone.statistics.tallies import JudgedVote, RatedAs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

JUDGE = JudgeKey(model="gemini-3.8-flash", tier="verify", prompt_version="0" * 16, kind="quick_verify")
SAID = (("a", "right"), ("b", "wrong"), ("c", "right"))
SOMEBODY = "01M7YCR9J0YEPNXK2F1F80QC0E"
ANSWER = "01M7YCR9J0YEPNXK2F1F80QC0C"


@pytest.fixture
def labels(table: "Table") -> Labels:
    return Labels(table, pause=lambda _: None)


@pytest.fixture
def statistics(table: "Table", artifacts: Artifacts, clock: HandClock) -> Statistics:
    return Statistics(table, artifacts, clock=clock)


def a_label(item: str = "1", label: str = "right", **fields: Any) -> Label:
    """A label of an attempt that a judge called right, with a confidence of 0.9."""
    given: dict[str, Any] = {
        "tenant": "acme",
        "kind": "quick_verify",
        "record_id": ANSWER,
        "verdict": "right",
        "confidence": 0.9,
        "judge": JUDGE,
        "labelled_by": "01M7YCR9J0YEPNXK2F1F80QC0D",
        "labelled_at": START,
    }
    return Label(item=item, label=label, **(given | fields))


def total(*labels: Label) -> CardTally:
    return sum((tallies_of(one)[JUDGE] for one in labels), CardTally())


def test_a_label_counts_for_its_judge_and_its_kind(labels: Labels, statistics: Statistics) -> None:
    one, other = a_label("1"), a_label("2", "wrong")
    assert (labels.put(one), labels.put(other)) == (one, other)
    assert statistics.judges("acme") == {JUDGE: total(one, other)}
    assert statistics.labels("acme") == {"quick_verify": 2}
    assert labels.of_record(tenant="acme", kind="quick_verify", record_id=ANSWER) == {"1": one, "2": other}
    assert statistics.judges("rival") == {}
    assert labels.of_record(tenant="rival", kind="quick_verify", record_id=ANSWER) == {}


def test_labelling_again_replaces_and_taking_back_leaves_no_trace(labels: Labels, statistics: Statistics) -> None:
    named = {"tenant": "acme", "kind": "quick_verify", "record_id": ANSWER, "item": "1"}
    labels.put(a_label())
    labels.put(a_label(label="wrong"))
    assert statistics.judges("acme") == {JUDGE: total(a_label(label="wrong"))}
    assert statistics.labels("acme") == {"quick_verify": 1}
    assert labels.remove(**named)
    assert not labels.remove(**named)
    assert statistics.judges("acme") == {JUDGE: CardTally()}
    assert statistics.labels("acme") == {}


def test_a_repeat_is_the_first_label_and_somebody_elses_word_is_theirs(labels: Labels, statistics: Statistics) -> None:
    first = labels.put(a_label())
    assert labels.put(a_label(labelled_at=START + timedelta(hours=1))) == first
    both = labels.put(a_label(labelled_by=SOMEBODY))
    assert [one.by for one in both.people] == [first.labelled_by, SOMEBODY]
    assert statistics.judges("acme") == {JUDGE: total(both)}
    assert statistics.labels("acme") == {"quick_verify": 1}


def test_of_several_people_the_most_decide_and_each_may_think_again(labels: Labels, statistics: Statistics) -> None:
    said = [labels.put(a_label(label=label, labelled_by=by)) for by, label in SAID]
    assert [one.label for one in said] == ["right", "wrong", "right"]  # of one against one, what was said last
    found = judge_card(statistics.judges("acme")[JUDGE])
    assert (found.labels, found.people.count, found.people.of) == (1, 1, 3)
    labels.put(a_label(label="right", labelled_by="b"))
    assert judge_card(statistics.judges("acme")[JUDGE]).people.value == 1.0
    assert labels.remove(tenant="acme", kind="quick_verify", record_id=ANSWER, item="1")
    assert statistics.judges("acme") == {JUDGE: CardTally()}


def test_the_word_of_one_person_too_many_is_refused(labels: Labels) -> None:
    for number in range(MAX_PEOPLE):
        labels.put(a_label(labelled_by=f"person {number}"))
    with pytest.raises(ConflictError, match="20 people"):
        labels.put(a_label(labelled_by="one more"))


def test_a_label_of_an_earlier_release_counts_as_it_did_until_it_is_given_again(
    labels: Labels, statistics: Statistics
) -> None:
    labels.put(a_label(confidence=0.99))
    assert statistics.judges("acme")[JUDGE].levels == {}
    again = labels.put(a_label(confidence=0.99, sample="random"))
    assert (again.sample, again.people) == ("random", ())
    found = statistics.judges("acme")[JUDGE]
    assert (found.levels, found.sampled) == ({(1, "count"): 1, (1, "right"): 1}, {("right", "right"): 1})
    assert labels.put(a_label(label="wrong", confidence=0.99, sample="chosen")).sample == "random"


def test_a_label_corrects_the_rates_that_its_verdict_counts_for(labels: Labels, statistics: Statistics) -> None:
    rated_as = RatedAs(provider="claude", model="opus", subject="math", difficulty="hard")
    labels.put(a_label("1", "wrong", sample="random", rated_as=rated_as))
    labels.put(a_label("2", "right", sample="chosen", rated_as=rated_as))
    rates = statistics.rates("acme")
    for found in (
        rates.provider_subject["claude", "math"],
        rates.model_subject["opus", "math"],
        rates.model_difficulty["opus", "hard"],
    ):
        assert (found.drawn, found.chosen) == (VerdictCells(judge_only=1), VerdictCells(both=1))


def test_judges_that_were_not_sure_enough_get_their_labels_too(labels: Labels, statistics: Statistics) -> None:
    other = JudgeKey(model="claude-opus-5", tier="verify", prompt_version="0" * 16, kind="quick_verify")
    labels.put(a_label(label="wrong", votes=(JudgedVote(verdict="wrong", confidence=0.7, judge=other),)))
    found = statistics.judges("acme")
    assert (found[JUDGE].cells, found[other].cells) == ({("right", "wrong"): 1}, {("wrong", "wrong"): 1})


def test_a_thing_that_nobody_judged_has_a_label_and_counts_for_no_card(labels: Labels, statistics: Statistics) -> None:
    labels.put(a_label(verdict=None, confidence=None, judge=None))
    assert (statistics.judges("acme"), statistics.labels("acme")) == ({}, {"quick_verify": 1})


def test_many_who_label_the_same_things_at_once_count_each_once(labels: Labels, statistics: Statistics) -> None:
    def say(number: int) -> Label:
        return labels.put(a_label(str(number % 3), ("right", "wrong")[number % 2], labelled_by=f"token {number}"))

    with ThreadPoolExecutor(max_workers=6) as people:
        list(people.map(say, range(24)))
    kept = labels.of_record(tenant="acme", kind="quick_verify", record_id=ANSWER)
    assert statistics.judges("acme") == {JUDGE: total(*kept.values())}
    assert statistics.labels("acme") == {"quick_verify": 3}


def test_somebody_who_labels_in_between_is_counted_and_then_replaced(
    labels: Labels, statistics: Statistics, table: "Table"
) -> None:
    rivals = [a_label(label="wrong", labelled_by="a rival")]

    def meanwhile(**_: Any) -> None:
        if rivals:
            labels.put(rivals.pop())

    table.meta.client.meta.events.register("before-call.dynamodb.TransactWriteItems", meanwhile)
    mine = labels.put(a_label())
    assert [(one.by, one.label) for one in mine.people] == [("a rival", "wrong"), (mine.labelled_by, "right")]
    assert labels.of_record(tenant="acme", kind="quick_verify", record_id=ANSWER) == {"1": mine}
    assert statistics.judges("acme") == {JUDGE: total(mine)}


def test_a_label_that_others_change_each_time_is_refused_and_counts_nothing(
    labels: Labels, statistics: Statistics, table: "Table"
) -> None:
    theirs = Labels(table, pause=lambda _: None)
    says: list[str] = []

    def meanwhile(**_: Any) -> None:
        if len(says) % 2 == 0:  # the write of mine, and not theirs in between
            says.append("theirs")
            theirs.put(a_label(label=("right", "wrong")[len(says) % 4 // 2], labelled_by="a rival"))
            says.append("mine")

    table.meta.client.meta.events.register("before-call.dynamodb.TransactWriteItems", meanwhile)
    with pytest.raises(StoreError, match="others each time"):
        labels.put(a_label())
    kept = labels.of_record(tenant="acme", kind="quick_verify", record_id=ANSWER)["1"]
    assert kept.labelled_by == "a rival"
    assert statistics.judges("acme") == {JUDGE: total(kept)}


def test_labels_are_listed_newest_first_a_page_at_a_time(labels: Labels) -> None:
    made = [a_label(str(number), labelled_at=START + timedelta(minutes=number)) for number in (1, 2, 3)]
    for one in made:
        labels.put(one)
    labels.put(a_label(tenant="rival"))
    first = labels.page(tenant="acme", limit=2)
    rest = labels.page(tenant="acme", limit=2, cursor=first.cursor)
    assert (*first.items, *rest.items) == tuple(reversed(made))
    assert rest.cursor is None
    with pytest.raises(InputError):
        labels.page(tenant="rival", cursor=first.cursor)


def test_what_belongs_to_a_tenant_names_the_labels_of_a_record_once(labels: Labels, table: "Table") -> None:
    for minute, record_id in enumerate((ANSWER, ANSWER.replace("0C", "0D"), ANSWER)):
        moment = START + timedelta(minutes=minute)
        labels.put(a_label(str(minute), record_id=record_id, labelled_at=moment))
    found = [pk for pk in Belongings(table).partitions("acme") if "#LABEL#" in pk]
    assert len(found) == len(set(found)) == 2


def test_cards_take_as_many_reads_with_10_labels_as_with_1000(
    labels: Labels, statistics: Statistics, table: "Table"
) -> None:
    calls: Counter[str] = Counter()

    def reads() -> dict[str, int]:
        calls.clear()
        assert statistics.judges("acme")[JUDGE].cells
        return dict(calls)

    for number in range(10):
        labels.put(a_label(str(number)))
    table.meta.client.meta.events.register("before-call.dynamodb", lambda model, **_: calls.update([model.name]))
    few = reads()
    with table.batch_writer() as batch:
        for number in range(10, 1_000):
            batch.put_item(Item=item_of(a_label(str(number))))
    statistics.rebuild("acme")
    assert reads() == few == {"Query": COUNT_SHARDS}
    assert statistics.labels("acme") == {"quick_verify": 1_000}


def test_cards_counted_again_from_answers_and_labels_are_the_same(
    labels: Labels, answers: Answers, statistics: Statistics
) -> None:
    for number in range(4):
        record = finished(answers, an_answer(), an_attempt(), spends=[a_spend(), a_spend(failure="unreadable")])
        labels.put(a_label(record_id=record.id, label=("right", "wrong")[number % 2]))
        labels.put(a_label(record_id=record.id, label="right"))
    before, cards = statistics.counters("acme"), statistics.judges("acme")
    assert cards[JUDGE].unreadable == 4
    assert cards[JUDGE].cells == {("right", "right"): 4}
    statistics.rebuild("acme")
    assert statistics.judges("acme") == cards

    def counted(counters: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
        return {key: {name: value for name, value in item.items() if value} for key, item in counters.items()}

    assert counted(statistics.counters("acme")) == counted(before)


def test_calls_count_for_the_judge_that_they_were_made_to(answers: Answers, statistics: Statistics) -> None:
    calls = [
        a_spend(latency_ms=500.0),
        a_spend(line_id="line-1", saved_usd=0.0001),
        a_spend(cached=True, cost_usd=0.0),
        a_spend(failure="timed_out"),
        a_spend(purpose="evaluate", model="strong"),
        a_spend(purpose="solve", model="strong"),
    ]
    finished(answers, an_answer(), an_attempt(), spends=calls)
    found = statistics.judges("acme")
    evaluating = JudgeKey(model="strong", tier="evaluate", prompt_version="0" * 16, kind="deep_evaluation")
    assert set(found) == {JUDGE, evaluating}
    # The first call is that of the attempt itself, which is of no known duration.
    assert (found[JUDGE].answered, found[JUDGE].cached, found[JUDGE].failed) == (3, 1, 1)
    assert (found[JUDGE].latency_us, found[JUDGE].cost_nano_usd) == (500_000, 4 * 123_000)
    assert judge_card(found[JUDGE]).calls.latency_ms == 500.0, "neither a batch's call nor an untimed one took no time"


def test_an_answer_without_an_end_counts_no_calls_yet(answers: Answers, statistics: Statistics) -> None:
    record = answers.create(an_answer())
    answers.add_attempt(record.ref, attempt=an_attempt(), spends=[a_spend()])
    assert statistics.judges("acme") == {}


def test_a_store_that_fails_is_said_to_fail(labels: Labels, table: "Table") -> None:
    table.delete()
    with pytest.raises(StoreError):
        labels.put(a_label())


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.builds(
        JudgeKey,
        model=WORDS,
        tier=st.none() | WORDS.filter(bool),
        prompt_version=st.none() | WORDS.filter(bool),
        kind=WORDS,
    )
)
def test_whose_counters_they_are_is_read_back_from_their_key(key: JudgeKey) -> None:
    assert judge_of(judge_sk(key)) == key


@given(st.lists(st.tuples(st.none() | WORDS, WORDS, st.none() | st.floats(0, 1)), max_size=12))
def test_a_tally_is_read_back_from_the_attributes_of_its_item(rows: list[tuple[str | None, str, float | None]]) -> None:
    tally = sum((label_tally(*row) for row in rows), CardTally(flips=2, both_orders=5, cost_nano_usd=7))
    item = {"pk": "T#acme#COUNTS#0", "sk": "JUDGE#", **counts_of(tally)}
    assert tally_of(item) == tally
