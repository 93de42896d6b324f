"""The queue of what to label: no verdict before the label, no thing twice, and no label in the wrong sample."""

from typing import Any

import pytest

from functions.composition import stores
from functions.composition.labels import labels
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Form, Page, Visitor, rows, signed_in, verified
from tests.support.records import an_answer, an_attempt, finished
from touchstone.answers.model import AnswerRecord, Verification
from touchstone.records import Role
from touchstone.statistics.sampling import pool_of

QUEUE = "/app/labelling"
SAYS = "the judge's own words"
JUDGE = "gemini-3.8-flash"


def judged(*, passed: bool = True, confidence: float = 0.82, tenant: str = "acme") -> AnswerRecord:
    """An answer that a judge decided, whose words nobody is to see before they have said what is so."""
    attempt = an_attempt(answer="Canberra", passed=passed, confidence=confidence)
    assert attempt.verification is not None
    said = {"model": JUDGE, "prompt_version": "0" * 16, "independent_answer": SAYS, "error": None}
    verification: Verification = attempt.verification.model_copy(update=said)
    attempt = attempt.model_copy(update={"verification": verification})
    record = an_answer(tenant=tenant, problem="Name the capital of Australia.")
    return finished(stores.answers(), record, attempt)


def asking(page: Page) -> Form | None:
    return next((form for form in page.forms if "place" in form.fields), None)


def queue(visitor: Visitor, **query: str) -> Page:
    page = visitor.open(QUEUE, **query)
    assert page.response.status == 200, page.text
    return page


def stored() -> list[Any]:
    return list(labels().page(tenant="acme", limit=100).items)


@pytest.fixture
def answered(deployment: Deployment) -> list[AnswerRecord]:
    """Twelve answers that a judge decided, some of each sample."""
    made = [judged() for _ in range(12)]
    assert {pool_of(f"{one.id}#1") for one in made} == {"random", "unsure"}
    return made


def test_a_card_without_a_label_says_so(visitor: Visitor, answered: list[AnswerRecord]) -> None:
    cards = [link for link in visitor.open("/app/judges").links if link.startswith("judges/")]
    said = visitor.open(f"/app/{cards[0]}").text
    assert "No label yet. Until labels show otherwise, 0.8 holds." in said
    assert "0 of 0" not in said


@pytest.mark.parametrize("sample", ["random", "unsure"])
def test_all_of_a_sample_is_labelled_once_and_no_verdict_is_shown_before(
    visitor: Visitor, answered: list[AnswerRecord], sample: str
) -> None:
    ours = {one.id for one in answered if pool_of(f"{one.id}#1") == sample}
    page, seen = queue(visitor, sample=sample), []
    while (form := asking(page)) is not None:
        place = form.fields["place"].partition(".")[0]
        assert "Name the capital of Australia." in page.text
        assert "Canberra" in page.text
        fresh = queue(visitor, sample=sample).response.body
        assert not any(hidden in fresh for hidden in (SAYS, "Verified", "0.82", "●", "You said"))
        seen.append(place)
        page = visitor.send(form, label="wrong")
        assert "You said: Wrong." in page.text
        assert f"{JUDGE} said: Right" in page.text
        assert "You disagree." in page.text
        assert ("title", "Confidence 0.82") in {pair for _, each in page.elements for pair in each.items()}
        assert f"answers/{place}#attempt-1" in page.links
    assert sorted(seen) == sorted(ours), "each once, and none of the other sample"
    assert {(one.record_id, one.label, one.sample) for one in stored()} == {(one, "wrong", sample) for one in ours}
    assert "Nothing is left to label here." in page.text
    assert asking(queue(visitor, sample=sample)) is None, "nor is any seen again"


def test_what_the_page_gives_programs_has_no_verdict_either(visitor: Visitor, answered: list[AnswerRecord]) -> None:
    (task,) = rows(queue(visitor, format="json"), "label_task")
    assert set(task) == {"kind", "record_id", "item", "problem", "answer", "steps", "expected"}
    body = queue(visitor, format="csv", table="label_task").response.body
    assert "Canberra" in body
    assert SAYS not in body


def test_two_people_may_label_one_thing_and_one_person_sees_it_once(visitor: Visitor, deployment: Deployment) -> None:
    record = judged()
    sample = str(pool_of(f"{record.id}#1"))
    form = asking(queue(visitor, sample=sample))
    assert form is not None
    visitor.send(form, label="right")
    other = signed_in(deployment)
    assert asking(queue(other, sample=sample)) is None, "somebody has labelled it"
    assert asking(queue(visitor, sample=sample, second="1")) is None, "it was them"
    second = asking(queue(other, sample=sample, second="1"))
    assert second is not None
    page = other.send(second, label="wrong")
    assert "People who say so: 1 of 2." in page.text
    assert asking(queue(other, sample=sample, second="1")) is None
    (label,) = stored()
    assert [one.label for one in label.words] == ["right", "wrong"]
    assert len({one.by for one in label.words}) == 2


def _named(name: str, role: Role = "member") -> tuple[Visitor, str]:
    """Somebody with a token of this name, and its id."""
    token, info = stores.tokens().issue(tenant="acme", role=role, name=name)
    someone = Visitor()
    someone.sign_in(token)
    return someone, info.id


def test_an_answer_says_who_labelled_it_by_names_to_whom_they_are_listed(deployment: Deployment) -> None:
    record = judged()
    deployment.tenant("acme")
    (ann, anns), (bob, bobs), (cy, cys) = _named("ann's <laptop>"), _named("bob"), _named("cy")
    for who, label in ((ann, "right"), (bob, "wrong"), (cy, "right")):
        form = next(each for each in who.open(f"/app/answers/{record.id}").forms if each.action.endswith("/label"))
        who.send(form, label=label)
    stores.tokens().revoke(tenant="acme", token_id=bobs)
    deployment.table.delete_item(Key={"pk": "T#acme", "sk": f"TOKEN#{cys}"})
    chief, _ = _named("chief", "admin")
    reader, _ = _named("reader", "reader")
    for language in ("en", "zh"):
        shown = chief.open(f"/app/answers/{record.id}", lang=language)
        assert all(name in shown.text for name in ("ann's <laptop>", "bob", cys)), "one that is gone has its id"
        assert not any(each in shown.text for each in (anns, bobs))
        assert "<laptop>" not in shown.response.body
        own = ann.open(f"/app/answers/{record.id}", lang=language).text
        assert all(each in own for each in ("ann's <laptop>", bobs, cys))
        assert "bob" not in own
        others = reader.open(f"/app/answers/{record.id}", lang=language).text
        assert all(each in others for each in (anns, bobs, cys))


def test_nobody_reads_a_verdict_by_naming_a_thing_that_they_have_not_labelled(visitor: Visitor) -> None:
    record = judged()
    page = queue(visitor, sample=str(pool_of(f"{record.id}#1")), done=f"{record.id}.1")
    assert asking(page) is not None, "it is still to be labelled"
    assert not any(hidden in page.response.body for hidden in ("said:", "●", f"answers/{record.id}"))


def test_what_is_skipped_comes_last_and_nothing_is_stored(visitor: Visitor, answered: list[AnswerRecord]) -> None:
    page, skipped = queue(visitor), []
    while (form := asking(page)) is not None:
        skipped.append(form.fields["place"])
        page = visitor.send(form, label="skip")
    assert len(set(skipped)) == len(skipped) > 1
    assert "What is left you have skipped." in page.text
    assert stored() == []
    again = next(link for link in page.links if link.startswith("?") and "skipped" not in link and "format" not in link)
    assert asking(visitor.open(f"{QUEUE}{again}")) is not None


def test_a_label_counts_for_the_sample_of_its_draw_alone(visitor: Visitor) -> None:
    record = judged()
    sample = str(pool_of(f"{record.id}#1"))
    form = asking(queue(visitor, sample=sample))
    assert form is not None
    other = "unsure" if sample == "random" else "random"
    assert visitor.send(form, label="right", sample=other).response.status == 400
    visitor.at = QUEUE
    for wrong in ({"sample": "chosen"}, {"place": "nonsense"}, {"label": "splendid"}, {"label": ""}):
        assert visitor.send(form, **({"label": "right"} | wrong)).response.status == 400, wrong
        visitor.at = QUEUE
    assert stored() == []


def test_progress_tells_how_many_labels_are_still_needed(visitor: Visitor) -> None:
    record = judged()
    sample = str(pool_of(f"{record.id}#1"))
    needed = 30 if sample == "random" else 93
    (row,) = rows(queue(visitor, sample=sample, format="json"), "label_progress")
    assert (row["model"], row["labels"], row["needed"], row["still_needed"]) == (JUDGE, 0, needed, needed)
    form = asking(queue(visitor, sample=sample))
    assert form is not None
    page = visitor.send(form, label="right")
    assert f"Labels still needed: {needed - 1}" in page.text
    assert ("progress", {"id": "label-progress", "max": str(needed), "value": "1"}) in page.elements


def test_a1_labels_are_given_by_members_from_a_page_and_only_of_their_tenant(
    visitor: Visitor, rival: Api, deployment: Deployment
) -> None:
    record = judged()
    sample = str(pool_of(f"{record.id}#1"))
    form = asking(queue(visitor, sample=sample))
    assert form is not None
    assert visitor.send(form, label="right", form_mark="").response.status == 403
    program = Visitor(headers={"authorization": f"Bearer {deployment.token('acme')}"}, at=QUEUE)
    assert program.send(form, label="right").response.status == 403
    reader = signed_in(deployment, role="reader")
    page = queue(reader, sample=sample)
    assert asking(page) is None
    assert "Labels are given by members" in page.text
    theirs = verified(rival, "Compute 2 + 2.", "4")
    for query in ({}, {"done": f"{theirs}.1"}, {"skipped": f"{theirs}.1"}):
        for each in ("random", "unsure"):
            assert theirs not in queue(visitor, sample=each, **query).response.body.replace(f"{theirs}.1", "")
            assert "Compute 2 + 2." not in queue(visitor, sample=each, **query).text
    fresh = asking(queue(visitor, sample=sample))
    assert fresh is not None
    foreign = visitor.send(fresh, label="right", place=f"{theirs}.1", sample=str(pool_of(f"{theirs}#1")))
    assert foreign.response.status == 404
    assert stored() == []


def test_a7_markup_in_a_problem_is_text(visitor: Visitor, acme: Api) -> None:
    hostile = "<script>alert(1)</script> =1+1"
    place = verified(acme, hostile, hostile)
    sample = str(pool_of(f"{place}#1"))
    page = queue(visitor, sample=sample)
    if asking(page) is not None:  # where a judge said something of it
        assert hostile in page.text
    assert "<script>alert" not in page.response.body


def test_the_reads_of_the_queue_are_bounded(visitor: Visitor, reads: list[str], answered: list[AnswerRecord]) -> None:
    found = []
    for more in (0, 100):
        for _ in range(more):
            judged()
        queue(visitor)
        reads.clear()
        queue(visitor)
        found.append(len(reads))
        assert reads.count("GetItem") <= 3, "one to know who asks, what their token is called, and no record by itself"
        assert set(reads) <= {"GetItem", "BatchGetItem", "Query"}
    assert found[1] <= found[0] + 3, "a page of the list more, and a read of labels"
