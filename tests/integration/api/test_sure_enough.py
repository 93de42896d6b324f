"""Labels decide from which confidence on a judge is relied on: from the label to the verdict, through the API."""

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.composition import judging, stores
from functions.composition.labels import labels
from tests.support import replies
from tests.support.api import Api
from tests.support.providers import ProviderServer
from tests.support.records import an_answer, an_attempt, finished
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds
from touchstone.records.labels import Label
from touchstone.records.thresholds import Thresholds
from touchstone.statistics import JudgeKey

CITY = "Which city is the capital of Australia? Question {}."
LABELS = 100


@pytest.fixture
def judges_of_answers(judges: ProviderServer) -> ProviderServer:
    """Judges that are sure to 0.85 of every answer."""
    judges.reply(replies.verify(confidence=0.85), schema="VerifyReply")
    return judges


def verify(api: Api, number: int) -> dict[str, Any]:
    body = {"problem": CITY.format(number), "answer": "Canberra"}
    # Later than it is, so that a busy machine has time enough.
    received_at = time.time_ns() // 1_000_000 + 60_000
    reply = api.call("POST", "/v1/verifications", json.dumps(body), received_at_ms=received_at)
    return dict(reply.json)


def label_many(judge: JudgeKey, *, agreed: int, confidence: float, sample: Any = "random") -> None:
    """Labels of `LABELS` verdicts, with so many of which people agree; the last one is left to the API."""
    for number in range(LABELS):
        labels().put(
            Label(
                tenant="acme",
                kind="quick_verify",
                record_id=f"record-{number}",
                item="1",
                label="right" if number < agreed else "wrong",
                verdict="right",
                confidence=confidence,
                judge=judge,
                labelled_by="somebody",
                labelled_at=datetime(2026, 11, 21, tzinfo=UTC),
                sample=sample,
            )
        )


def put(api: Api, answer_id: str, label: str, **more: Any) -> dict[str, Any]:
    path = f"/v1/labels/quick_verify/{answer_id}/1"
    reply = api.call("PUT", path, json.dumps({"label": label, **more}))
    assert reply.status == 200, reply.body
    return dict(reply.json)


def forget() -> None:
    """As if a minute had passed, in which a process keeps what it has read."""
    judging._kept_thresholds.cache_clear()


@pytest.mark.parametrize(("agreed", "sure_from"), [(LABELS, 0.95), (80, None)])
def test_below_its_threshold_another_provider_is_asked_and_at_last_nobody_decided(
    buyer: Api, judges_of_answers: ProviderServer, agreed: int, sure_from: float | None
) -> None:
    before = verify(buyer, 1)
    assert (before["verification_status"], before["method"]) == ("verified", "judge"), "without labels 0.8 holds"
    key = JudgeKey(**put(buyer, before["id"], "right", sample="random")["judge"])
    label_many(key, agreed=agreed, confidence=0.97)
    put(buyer, before["id"], "wrong")
    put(buyer, before["id"], "right")
    (card,) = [one for one in buyer.get("/v1/judges").json if one["model"] == key.model]
    assert card["threshold"] == sure_from
    assert card["threshold_state"] == ("found" if sure_from else "below_wanted")
    assert verify(buyer, 2)["verification_status"] == "verified", "this process has read them less than a minute ago"
    forget()
    asked = len(judges_of_answers.calls)
    found = verify(buyer, 3)
    whole = buyer.get(f"/v1/judges/{card['id']}").json
    (attempt,) = found["attempts"]
    (opinion,) = attempt["verification"]["opinions"]
    assert len(judges_of_answers.calls) == asked + 2
    assert (opinion["confidence"], opinion["sure_from"]["confidence"]) == (0.85, sure_from)
    assert opinion["sure_from"]["version"] == whole["threshold_version"]
    assert opinion["sure_from"]["card"] == card["id"]
    assert (found["verification_status"], attempt["verification"]["provider"]) == ("verified", "claude")
    # Its labels reach the judge that was not sure, and the one that decided.
    put(buyer, found["id"], "right")
    heard = {one["model"]: one["labels"] for one in buyer.get("/v1/judges").json}
    assert heard[key.model] == LABELS + 2
    assert sum(heard.values()) == LABELS + 3


def test_a_judge_that_is_sure_enough_by_its_labels_is_believed_below_0_8(
    buyer: Api, judges_of_answers: ProviderServer
) -> None:
    judges_of_answers.reply(replies.verify(confidence=0.7), schema="VerifyReply")
    before = verify(buyer, 1)
    assert before["verification_status"] == "caution"
    key = JudgeKey(**put(buyer, before["id"], "right")["judge"])
    label_many(key, agreed=LABELS, confidence=0.7)
    put(buyer, before["id"], "wrong")
    put(buyer, before["id"], "right")
    forget()
    found = verify(buyer, 2)
    assert found["verification_status"] == "verified"
    sure = found["attempts"][0]["verification"]["sure_from"]
    assert (sure["confidence"], sure["labels"], sure["wanted"]) == (0.7, LABELS + 1, 0.95)


def test_thresholds_follow_the_wanted_agreement_before_the_next_label(
    buyer: Api, judges_of_answers: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = verify(buyer, 1)
    key = JudgeKey(**put(buyer, before["id"], "right")["judge"])
    label_many(key, agreed=LABELS, confidence=0.85)
    put(buyer, before["id"], "wrong")
    put(buyer, before["id"], "right")

    def sure_from(number: int, wanted: str) -> Any:
        monkeypatch.setenv("TOUCHSTONE_AGREEMENT", wanted)
        forget()
        found = verify(buyer, number)["attempts"][0]["verification"]["sure_from"]
        return found and (found["confidence"], found["wanted"])

    assert sure_from(2, "0.95") == (0.8, 0.95)
    assert sure_from(3, "0.99") is None, "101 labels do not show 99 %"
    assert sure_from(4, "0.9") == (0.8, 0.9)
    # What is kept where the labels show nothing tells that, too, and by which agreement.
    monkeypatch.setenv("TOUCHSTONE_AGREEMENT", "0.99")
    put(buyer, before["id"], "wrong")
    put(buyer, before["id"], "right")
    assert sure_from(5, "0.99") is None
    assert sure_from(6, "0.95") == (0.8, 0.95)


@pytest.mark.parametrize("kept", ["none", "earlier"])
def test_whoever_reads_a_card_has_verifications_follow_it_without_another_label(
    buyer: Api, judges_of_answers: ProviderServer, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    before = verify(buyer, 1)
    key = JudgeKey(**put(buyer, before["id"], "right")["judge"])
    label_many(key, agreed=LABELS, confidence=0.85)
    place = {"pk": "T#acme#THRESHOLDS", "sk": "quick_verify"}
    assert "Item" in stores.table().get_item(Key=place)
    stores.table().delete_item(Key=place)  # as before an earlier release kept any
    if kept == "earlier":
        stores.table().put_item(Item={**place, "judges": "[]", "revision": "r"})
    monkeypatch.setenv("TOUCHSTONE_AGREEMENT", "0.9")
    (card,) = [one for one in buyer.get("/v1/judges").json if one["model"] == key.model]
    assert card["threshold"] == 0.8
    forget()
    sure = verify(buyer, 2)["attempts"][0]["verification"]["sure_from"]
    assert (sure["confidence"], sure["wanted"]) == (0.8, 0.9)
    stored = stores.table().get_item(Key=place)["Item"]
    buyer.get(f"/v1/judges/{card['id']}")
    assert stores.table().get_item(Key=place)["Item"] == stored, "what is kept already is not written again"


def test_reading_cards_without_labels_keeps_nothing(buyer: Api, judges_of_answers: ProviderServer) -> None:
    verify(buyer, 1)
    assert buyer.get("/v1/judges").json
    assert "Item" not in stores.table().get_item(Key={"pk": "T#acme#THRESHOLDS", "sk": "quick_verify"})


def test_a_card_and_the_rates_show_what_is_corrected_by_labels_beside_what_was_counted(buyer: Api) -> None:
    attempt = an_attempt(model="student")
    assert attempt.verification is not None
    judged_by = attempt.verification.model_copy(update={"model": "gemini-3.8-flash", "prompt_version": "0" * 16})
    for number in range(30):
        record = finished(stores.answers(), an_answer(), attempt.model_copy(update={"verification": judged_by}))
        put(buyer, record.id, "right" if number % 3 else "wrong", sample="random")
    (card,) = (one for one in buyer.get("/v1/judges").json if one["labels"])
    (rate,) = buyer.get(f"/v1/judges/{card['id']}").json["rates"]
    assert (rate["label"], rate["said"]["value"], rate["said"]["of"]) == ("right", 1.0, 30)
    # All thirty are labelled: what people say of them is what is so.
    assert (rate["corrected"]["method"], rate["corrected"]["rate"]) == ("ppi++", pytest.approx(2 / 3))
    (shown,) = buyer.get("/v1/statistics/rates").json["model_subject"]
    assert (shown["rate"], shown["corrected"]["rate"]) == (1.0, pytest.approx(2 / 3))
    assert shown["corrected"]["labels"] == 30


def test_whoever_labels_says_how_it_came_to_that(buyer: Api, judges_of_answers: ProviderServer) -> None:
    answer = verify(buyer, 1)["id"]
    assert put(buyer, answer, "right")["sample"] == "chosen"
    path = f"/v1/labels/quick_verify/{answer}/1"
    wrong = buyer.call("PUT", path, json.dumps({"label": "right", "sample": "best"}))
    assert wrong.status == 422


def test_without_labels_a_verification_reads_no_thresholds_twice_within_a_minute(
    buyer: Api, judges_of_answers: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(_: Thresholds, tenant: str, *, wanted: float) -> JudgeThresholds:
        assert wanted == 0.95
        read.append(tenant)
        return NO_THRESHOLDS

    monkeypatch.setattr(Thresholds, "read", counted)
    for number in range(3):
        assert verify(buyer, number)["verification_status"] == "verified"
    assert read == ["acme"]


def test_what_to_label_next_is_drawn_until_it_is_labelled_and_never_for_both(
    buyer: Api, judges_of_answers: ProviderServer
) -> None:
    made = {verify(buyer, number)["id"] for number in range(12)}

    def drawn(sample: str) -> list[str]:
        reply = buyer.get("/v1/labels/next", sample=sample, limit=20)
        assert reply.status == 200, reply.body
        found = reply.json
        assert (found["sample"], found["drawn_from"]) == (sample, 12)
        assert all(
            set(one) == {"kind", "record_id", "item", "created_at", "problem", "answer"} for one in found["items"]
        )
        return [one["record_id"] for one in found["items"]]

    at_random, unsure = drawn("random"), drawn("unsure")
    assert sorted(at_random + unsure) == sorted(made)
    assert drawn("random") == at_random
    for sample, first in (("random", at_random), ("unsure", unsure)):
        if first:
            assert put(buyer, first[0], "right", sample=sample)["sample"] == sample
            assert drawn(sample) == first[1:]
    assert buyer.get("/v1/labels/next", sample="chosen").status == 422
