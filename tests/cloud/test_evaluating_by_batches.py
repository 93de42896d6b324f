"""Deep evaluations by a provider's batches, as deployed, beside a day that admits few of them.

`TOUCHSTONE_TEST_EVALUATIONS=1000` asks for so many, four times what the day admits.
"""

import os
from datetime import timedelta
from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.rehearsal import NOON, Rehearsal, rehearsal
from tests.support.waiting import eventually

SENT = int(os.environ.get("TOUCHSTONE_TEST_EVALUATIONS", "60"))
A_DAY = SENT // 4

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(600 + 2 * SENT)]

ADVANCE = "ProviderBatchesAdvance"
"""The function that carries a batch."""


def test_four_days_of_deep_evaluations_are_done_on_the_first_for_half_and_a_fresh_one_does_not_wait(
    cloud: Cloud, judge: JudgeServer
) -> None:
    with rehearsal(cloud, per_day=A_DAY) as here, cloud.functions.changed(ADVANCE):
        here.variables["TOUCHSTONE_BATCHES"] = "on"
        here.set_clock(NOON, *here.CLOCKED, ADVANCE)
        judge.arrange(quotas=[{"rpd": A_DAY, "model": here.model}])
        here.send(here.bodies(SENT))
        here.settled(SENT)
        assert _asked_at_once(here) == [], "what can wait asks nobody"
        # Each has waited an hour then, however long it took to send them.
        here.set_clock(NOON + timedelta(hours=1, minutes=15), "AnswersDrain", ADVANCE)
        here.drain()
        here.ask(1)
        eventually(lambda: here.states().get("done") == SENT + 1 or None, what="all of them", seconds=180.0 + SENT)
        batches = here.caller.get("v1/backlog")["batches"]
        assert {(one["of"], one["ended"]) for one in batches} == {("evaluation", "completed")}
        assert sum(one["questions"] for one in batches) == sum(one["answered"] for one in batches) == SENT
        cost, saved = (sum(one[name] for one in batches) for name in ("cost_usd", "saved_usd"))
        assert saved == pytest.approx(cost), "half of what it would have cost at once"
        assert len(_asked_at_once(here)) == 1
        here.assert_each_evaluated_once()


def _asked_at_once(here: Rehearsal) -> list[dict[str, Any]]:
    return [call for call in here.calls() if not call["by_batch"]]
