"""Rankings through the API: made at the deadline, challenged while there is time, and then final for everybody."""

from typing import Any

import pytest

from tests.support import grading
from tests.support.api import Api, refusal
from tests.support.api_tasks import HOUR, OWNER, UNKNOWN, ApiTask, task_body
from tests.support.clocks import later
from tests.support.deployment import Deployment, deployed
from tests.support.providers import ProviderServer
from touchstone.oracle.challenge import MAX_REASON_CHARS

NOT_FOUND_BEFORE = {"substantiveness": 40}
"""What another provider reads in work that the first one found good: the penalty brings it down."""


@pytest.fixture
def contest(buyer: Api, judged: Deployment) -> ApiTask:
    """A contest of four that is not closed yet: Ann before Bob, and Cy eliminated. Dee failed the gate."""
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 90, by={"openai": NOT_FOUND_BEFORE})
    task.hand_in("bob", 80)
    task.hand_in("cy", {"substantiveness": 90, "credibility": 49, "completeness": 90, "depth": 90})
    task.hand_in("dee", 95, unsourced=True)
    return task


@pytest.fixture
def ranked(contest: ApiTask) -> ApiTask:
    """The same, ranked."""
    contest.pass_time()
    return contest


def test_a_contest_is_ranked_at_its_deadline_and_says_what_every_place_came_from(ranked: ApiTask) -> None:
    assert ranked.seen()["state"] == "challenge"
    assert ranked.ranking() == [("ann", 1), ("bob", 2)]
    assert ranked.own("cy")["standing"] == "eliminated"
    eliminated = ranked.feedback("cy", "scoring", party="bob")
    assert (eliminated["rank"], eliminated["eliminated_by"]) == (None, ["credibility"])
    assert eliminated["penalty_reasons"] == [{"dimension": "credibility", "score": 49, "factor": 49 / 60}]
    assert ranked.own("dee")["standing"] == "gate_failed"
    first = ranked.feedback("ann", "scoring", party="bob")
    assert (first["rank"], first["final_score"], first["risk_flags"]) == (1, 90.0, [])


def test_a6_where_the_order_decides_who_is_better_it_is_said_of_both_and_on_that_dimension(
    buyer: Api, judged: Deployment
) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 80, beside={"depth": "95|70"})
    task.hand_in("bob", 90)
    task.pass_time()
    for name, mean in (("ann", 82.5), ("bob", 90.0)):
        scoring = task.feedback(name, "scoring", party=OWNER)
        assert scoring["risk_flags"] == ["orders_disagree"]
        [unstable] = [one for one in scoring["dimension_scores"] if one["unstable"]]
        assert (unstable["dimension"], unstable["score"]) == ("depth", mean)


def test_a_challenge_that_finds_another_place_is_upheld_and_the_ranking_follows(
    ranked: ApiTask, judged: Deployment
) -> None:
    made = ranked.contest("bob", "ann")
    assert (made.status, made.json["state"], made.json["provider"]) == (202, "waiting", None)
    assert made.location == f"{ranked.path}/challenges"
    [seen] = ranked.challenges("ann")
    assert (seen["state"], seen["provider"], seen["challenger"]) == ("upheld", "openai", "bob")
    assert seen["new_total"] < 60
    assert ranked.ranking() == [("bob", 1)]
    assert ranked.own("ann")["standing"] == "eliminated"
    ranked.pass_time()
    assert (ranked.seen()["state"], ranked.seen()["winner"]) == ("final", ranked.ids["bob"])
    told = {event["kind"]: event["winner"] for event in judged.told()}
    assert told == {"task.closed": None, "result.final": ranked.ids["bob"], "payout.due": ranked.ids["bob"]}


def test_a_challenge_that_finds_the_same_place_is_rejected_and_everything_stands(
    buyer: Api, judged: Deployment
) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", 90)
    task.hand_in("bob", 80, by={"openai": {"depth": 89}})
    task.pass_time()
    before = [task.own(name) for name in task.ids]
    task.contest("bob", "bob")
    [seen] = task.challenges()
    assert (seen["state"], seen["provider"]) == ("rejected", "openai")
    assert seen["new_total"] > 80
    assert [task.own(name) for name in task.ids] == before
    assert task.ranking() == [("ann", 1), ("bob", 2)]


def test_without_a_second_provider_a_challenge_is_unresolved_and_says_so(
    aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, addresses = judges.led_here()
    only = {"ANTHROPIC_API_KEY": keys["ANTHROPIC_API_KEY"]}
    with deployed(monkeypatch, keys=only, **addresses) as here:
        task = ApiTask.created(Api(token=here.token("acme")), here)
        task.hand_in("ann")
        task.pass_time()
        task.contest(OWNER, "ann")
        [seen] = task.challenges()
        assert (seen["state"], seen["unscored"], seen["new_total"]) == ("unresolved", "misconfigured", None)
        assert task.ranking() == [("ann", 1)]


def test_what_is_final_does_not_move_any_more(ranked: ApiTask, buyer: Api) -> None:
    ranked.pass_time()
    everything = [ranked.seen(OWNER), *(ranked.own(name) for name in ranked.ids)]
    assert everything[0]["state"] == "final"
    deadline = task_body(seconds=9 * HOUR)["deadline"]
    refusal(buyer.call("PATCH", ranked.path, f'{{"deadline": "{deadline}"}}'), 409)
    refusal(ranked.offer("eve", text=grading.submission(readings=99)), 409)
    refusal(ranked.contest("bob", "ann"), 409)
    ranked.pass_time()
    assert [ranked.seen(OWNER), *(ranked.own(name) for name in ranked.ids)] == everything


def test_nothing_is_challenged_before_there_is_a_ranking_and_after_its_time(contest: ApiTask) -> None:
    refusal(contest.contest("bob", "ann"), 409)
    contest.pass_time()
    later(HOUR)
    assert contest.seen()["state"] == "challenge", "nobody made it final yet"
    refusal(contest.contest("bob", "ann"), 409)


def test_a_fastest_first_task_is_paid_and_cannot_be_challenged(buyer: Api, judged: Deployment) -> None:
    task = ApiTask.created(buyer, judged, "fastest_first")
    task.hand_in("ann")
    assert "path" in refusal(task.contest(OWNER, "ann"), 409)["detail"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"challenger": "stranger"}, 404),
        ({"submission_id": UNKNOWN}, 404),
        ({"submission_id": "../RECORD"}, 404),
        ({"challenger": " "}, 422),
        ({"reason": "\u200b"}, 422),
        ({"reason": "x" * (MAX_REASON_CHARS + 1)}, 413),
        ({"score": 100}, 422),
    ],
)
def test_a_challenge_that_cannot_be_is_refused(
    ranked: ApiTask, buyer: Api, changes: dict[str, Any], status: int
) -> None:
    body = {"challenger": "bob", "submission_id": ranked.ids["ann"], "reason": "It is thin."}
    refusal(buyer.post(f"{ranked.path}/challenges", body | changes), status)
    assert ranked.challenges() == []
    assert ranked.seen()["undecided_challenges"] == 0


def test_a_party_challenges_a_place_once_and_none_that_is_not_there(ranked: ApiTask, buyer: Api) -> None:
    refusal(ranked.contest("bob", "dee"), 409)
    body = {"challenger": "bob", "submission_id": ranked.ids["bob"], "reason": "Look again."}
    first, again = (buyer.post(f"{ranked.path}/challenges", body, key="k") for _ in range(2))
    assert (first.status, again.json) == (202, first.json)
    refusal(buyer.post(f"{ranked.path}/challenges", body | {"reason": "Another."}, key="k"), 422)
    refusal(ranked.contest("bob", "bob"), 409)
    assert ranked.contest("ann", "bob").status == 202
    assert len(ranked.challenges()) == 2
