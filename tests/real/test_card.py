"""The card of a real model that is too small for any judging: no threshold is found, and it is said why.

`TOUCHSTONE_TEST_LABELS=40` takes all shipped labels (five minutes): by those it decides nothing at all.
"""

import asyncio
import json
import os
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.composition import judging
from functions.composition.labels import labels
from infra.layers import ROOT
from infra.local.tiny_judge import AT_ONCE, MODEL
from tests.support.api import Api
from tests.support.aws import in_process
from tests.support.deployment import deployed
from tests.support.pages import Visitor
from touchstone.answers.model import Verification
from touchstone.answers.panel import apply_thresholds
from touchstone.answers.verification import quick_verify
from touchstone.clock import Deadline
from touchstone.judges import Judges
from touchstone.records.labels import Label
from touchstone.statistics import JudgeKey

ROWS = [json.loads(line) for line in (ROOT / "events" / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
JUDGED = int(os.environ.get("TOUCHSTONE_TEST_LABELS", "12"))
"""Of the shipped labels: each takes about five seconds on a machine that does nothing else."""
SECONDS = 240.0


async def said_of(rows: list[dict[str, str]], judges: Judges) -> list[Verification]:
    """What the model says of each answer."""
    judge, seats = judges.get("compatible", "verify"), asyncio.Semaphore(AT_ONCE)

    async def ask(row: dict[str, str]) -> Verification:
        async with seats:
            found = await quick_verify(row["problem"], row["answer"], judge=judge, deadline=Deadline.after(SECONDS))
        return found.verification

    return list(await asyncio.gather(*map(ask, rows)))


def label_of(number: int, row: dict[str, str], said: Verification) -> Label:
    """The person's word for an answer, as it is stored beside the model's."""
    key = JudgeKey(model=MODEL, tier="verify", prompt_version=said.prompt_version, kind="quick_verify")
    verdict = None if said.passed is None else "right" if said.passed else "wrong"
    return Label(
        tenant="acme",
        kind="quick_verify",
        record_id=f"shipped-{number}",
        item="1",
        label=row["label"],
        verdict=verdict,
        confidence=None if verdict is None else said.confidence,
        judge=key,
        labelled_by="somebody",
        labelled_at=datetime(2026, 11, 21, tzinfo=UTC),
        sample="random",
    )


def check_silent(card: dict[str, Any], said: list[Verification], page: str) -> None:
    """No threshold is found, the page says so, and what lies below what the labels refute decides nothing.

    By all shipped labels it is refuted at the confidence that it tells most, so that no other is believed either.
    """
    threshold = card["threshold"]
    assert (threshold["confidence"], threshold["state"]) in {(None, "below_wanted"), (None, "not_enough_labels")}
    reasons = {
        "below_wanted": ("Never:", "Not below a confidence"),
        "not_enough_labels": ("Too few labels yet", "Labels do not show it"),
    }
    assert any(reason in page for reason in reasons[threshold["state"]])
    assert "What it says decides nothing." in page or "0.8 holds" in page
    if len(said) == len(ROWS):
        assert (threshold["state"], threshold["silent_below"]) == ("below_wanted", None)
    sure = judging.sure_judges("acme")
    for one in said:
        held = apply_thresholds(one, sure, "en")
        silent = threshold["silent_below"] or 1.1
        if one.passed is not None and threshold["state"] == "below_wanted" and one.confidence < silent:
            assert (held.passed, held.skip_reason) == (None, "unsure")
            assert held.error is not None
            assert f"by {threshold['labels']} labels people agree" in held.error
        assert held.sure_from is None, "nothing is believed for the labels' sake"


def check_card(rows: list[dict[str, str]], said: list[Verification], patch: pytest.MonkeyPatch) -> None:
    """Put the labels in beside what the model said, and hold its card and its page to them."""
    with in_process(patch), deployed(patch) as deployment:
        for number, (row, one) in enumerate(zip(rows, said, strict=True)):
            if one.prompt_version is not None:
                labels().put(label_of(number, row, one))
        (listed,) = Api(token=deployment.token("acme")).get("/v1/judges").json
        assert listed["model"] == MODEL
        card = Api(token=deployment.token("acme")).get(f"/v1/judges/{listed['id']}").json
        visitor = Visitor()
        visitor.sign_in(deployment.token("acme"))
        check_silent(card, said, visitor.open(f"/app/judges/{listed['id']}").text)


@pytest.mark.timeout(300 + 15 * JUDGED)
async def test_over_the_shipped_labels_no_threshold_is_found_and_the_page_says_why(
    judges: Judges, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ROWS[:JUDGED]
    said = await said_of(rows, judges)
    await asyncio.to_thread(check_card, rows, said, monkeypatch)  # functions run an event loop of their own
