"""Contests of a deployed stack, from their creation to a result that does not move: all of them side by side."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.callers import Caller, refusal, said
from tests.support.cloud import Cloud
from tests.support.contests import OWNER, SOON, Contest, Listener, listening, machine, side_by_side
from tests.support.overrides import clock_at
from tests.support.waiting import eventually

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(900)]

A_TRY = 3
"""Calls of one try at a question that a judge does not answer, before it waits for half a minute."""
MOVED_SECONDS = 60.0
"""To a deadline that a contest is to be ready before, however busy the machine is."""
TO_CHALLENGE = 20
"""Seconds in which a ranking may be challenged: as long as it takes to ask for it on a busy machine."""
WHOLE = {"ann": 83, "bob": 87, "cy": 77, "dee": 67}
"""Readings in the contest whose scores are looked for where they must not be."""
TOTALS = ("83.0", "87.0", "77.0", "67.0", "66.25", "54.1")
SAID = ("is plain to see", "It is thin", "Compare a fourth", "Name a source for each")
"""What judges and challengers say, which is for people."""
FIELDS = re.compile(r'\\?"\w*(score|scores|band|total|penalty|rank|eliminated\w*)\\?":|"evidence\\?": ?\\?"')
"""A field by which anything would tell of scores."""


@dataclass(kw_only=True)
class Arena:
    """One tenant's contests, by what they show.

    Whoever has the `turn` keeps the functions busy. What is busy side by side has to be started, which takes the local
    cloud far longer than all the work does.
    """

    cloud: Cloud
    caller: Caller
    listener: Listener
    since: float
    turn: threading.Lock = field(default_factory=threading.Lock)
    contests: dict[str, Contest] = field(default_factory=dict)
    noted: dict[str, Any] = field(default_factory=dict)

    def open(self, name: str, **changes: Any) -> Contest:
        """A new contest under a name."""
        self.contests[name] = Contest.opened(self.caller, **changes)
        return self.contests[name]

    def fail(self, contest: Contest, title: str, *, about: str, times: int) -> None:
        """Let the judge be overloaded when it is asked for this reply about a part of a contest, so many times."""
        fits = {"schema_title": title, "prompt": f"(?s)(?=.*{contest.mark})(?=.*{about})"}
        self.cloud.judge.rule({"kind": "overloaded"}, times=times, **fits)

    def failed(self, contest: Contest) -> int:
        """How often the judge was overloaded when it was asked about a contest."""
        return sum(call["behaviour"] == "overloaded" for call in self.cloud.judge.calls(text=contest.mark))

    def executions(self) -> Iterator[str]:
        """All that the executions of the oracle's machines were given and said."""
        for kind in ("Task", "Submission", "Challenge"):
            runs = self.cloud.machines.get_paginator("list_executions")
            for page in runs.paginate(stateMachineArn=machine(self.cloud, kind)):
                yield from (self._told_by(run["executionArn"]) for run in page["executions"])

    def _told_by(self, arn: str) -> str:
        found = self.cloud.machines.describe_execution(executionArn=arn)
        history = self.cloud.machines.get_paginator("get_execution_history")
        pages = history.paginate(executionArn=arn, includeExecutionData=True)
        events = [event for page in pages for event in page["events"]]
        return json.dumps([found.get("input"), found.get("output"), events], default=str)


@pytest.fixture(scope="module")
def arena(cloud: Cloud) -> Iterator[Arena]:
    """Every contest of this module, brought to its end."""
    cloud.judge.arrange(reset=True)
    with listening(cloud) as listener:
        here = Arena(cloud=cloud, caller=cloud.tenant("arena"), listener=listener, since=time.time() - 1)
        side_by_side(*(lambda run=run: run(here) for run in RUNS))
        yield here


def _whole(arena: Arena) -> None:
    """Ranked, challenged twice, final; one mends its work, one comes as a file, one is eliminated."""
    with arena.turn:
        contest = arena.open("whole", challenge_seconds=TO_CHALLENGE)
        contest.enter("ann", WHOLE["ann"])
        arena.noted["failed gate"] = contest.enter("bob", WHOLE["bob"], unsourced=True)
        upload = said(arena.caller.send("POST", "v1/submission-files"), 200)
        _put(upload["upload_url"], contest.text("cy", WHOLE["cy"]))
        contest.taken("cy", text_key=upload["text_key"])
        contest.enter("dee", WHOLE["dee"])
        contest.enter("eli", {"substantiveness": 88, "credibility": 49, "completeness": 72, "depth": 56})
        contest.enter("bob", WHOLE["bob"], by={"openai": {"substantiveness": 41}})
        contest.all_judged()
    arena.noted["open"] = list(_documents(contest))
    arena.noted["told while open"] = arena.listener.heard(contest.id)
    with arena.turn:
        contest.close()
        arena.noted["ranking"] = contest.ranking()
        arena.noted["asked"] = [contest.challenge(*each).status_code for each in (("ann", "bob"), ("dee", "cy"))]
        arena.noted["stranger"] = contest.challenge("stranger", "ann")
    contest.reached("final")


def _put(url: str, text: str) -> None:
    reply = httpx.put(url, content=text.encode(), headers={"content-type": "text/markdown"}, timeout=60)
    assert reply.status_code == 200, reply.text


def _documents(contest: Contest) -> Iterator[tuple[str, str]]:
    """What every route that reads says of a contest to every party, by what was asked."""
    for party in (OWNER, *contest.ids, "stranger"):
        for place in ("", "/submissions", "/challenges", *(f"/submissions/{each}" for each in contest.ids.values())):
            reply = contest.caller.send("GET", f"{contest.path}{place}", params={"party": party})
            yield f"{party} {place}", reply.text
    yield "nobody", contest.caller.send("GET", contest.path).text
    yield "list", contest.caller.send("GET", "v1/tasks").text


def _none(arena: Arena) -> None:
    with arena.turn:
        contest = arena.open("none")
        contest.enter("ann", 45)
        contest.enter("bob", 90, unsourced=True)
        contest.close()


def _sole(arena: Arena) -> None:
    with arena.turn:
        contest = arena.open("sole")
        contest.enter("ann", {"substantiveness": 55, "credibility": 90, "completeness": 90, "depth": 90})
        contest.enter("bob", 49)
        contest.close()


def _tie(arena: Arena) -> None:
    """Two that are read alike, and everything that carries it comes twice, before the end and at the end."""
    with arena.turn:
        contest = arena.open("tie")
        contest.hand_in("late", 70)
        for name in ("first", "second"):
            contest.hand_in(name, 80)
        contest.start_again(arena.cloud, "again")
        contest.all_judged()
        said(contest.move(SOON), 200)
        contest.start_again(arena.cloud, "and-again")
        contest.reached("final")


def _misread(arena: Arena) -> None:
    """At the deadline nobody can compare Dee on one dimension: each reply about it breaks the rules."""
    with arena.turn:
        contest = arena.open("misread")
        contest.enter("ann", 80)
        contest.enter("dee", 85, beside={"depth": "false"})
        contest.enter("bob", 75)
    said(contest.move(SOON), 200)
    contest.reached("final")


def _overloaded(arena: Arena) -> None:
    """The judge is overloaded while the deadline passes, and a submission in work waits for it."""
    with arena.turn:
        contest = arena.open("overloaded")
        contest.enter("ann", 80)
        arena.fail(contest, "GateReply", about="by bob", times=A_TRY)
        contest.hand_in("bob", 90)
        eventually(lambda: arena.failed(contest) == A_TRY, what="a try at Bob's gate")
        said(contest.move(SOON), 200)
        arena.noted["waits"] = (contest.reached("scoring")["ranking"], contest.own("bob")["standing"])
    contest.reached("final")


def _later(arena: Arena) -> None:
    """Its deadline is moved later: the machine that wakes at the old one closes nothing."""
    with arena.turn:
        old = time.time() + MOVED_SECONDS
        contest = arena.open("later", seconds=MOVED_SECONDS)
        said(contest.move(3600.0), 200)
        contest.enter("ann", 80, beside={"depth": "95|70"})
    eventually(lambda: time.time() > old + 1, what="the deadline that was", pause=0.5)
    arena.noted["after the old deadline"] = contest.seen()["state"]
    with arena.turn:
        contest.enter("bob", 90)
        contest.close()


def _lost(arena: Arena) -> None:
    """All that carries it is stopped; past its deadline a sweep takes it up again."""
    with arena.turn:
        deadline = time.time() + MOVED_SECONDS
        contest = arena.open("lost", seconds=MOVED_SECONDS)
        contest.enter("ann", 80)
        arena.fail(contest, "GateReply", about="by bob", times=A_TRY)
        contest.hand_in("bob", 90)
        eventually(lambda: arena.failed(contest) == A_TRY, what="a try at Bob's gate")
        for arn, status in contest.executions(arena.cloud).items():
            if status == "RUNNING":
                arena.cloud.machines.stop_execution(executionArn=arn)
    eventually(lambda: time.time() > deadline + 1, what="the deadline", pause=0.5)
    arena.noted["lost"] = (contest.seen()["state"], contest.own("bob")["standing"])
    later = clock_at(datetime.now(UTC) + timedelta(minutes=30))
    with arena.turn, arena.cloud.functions.changed("AnswersSweep", variables=later):
        arena.noted["swept"] = arena.cloud.functions.run("AnswersSweep", {"source": "schedule"})
    contest.reached("final")


RUNS: tuple[Callable[[Arena], None], ...] = (
    _overloaded, _lost, _later, _misread, _whole, _tie, _none, _sole,
)  # fmt: skip
"""The longest first."""


def test_work_that_failed_its_gate_is_mended_and_takes_part(arena: Arena) -> None:
    failed = arena.noted["failed gate"]
    assert failed["standing"] == "gate_failed"
    [check] = failed["feedback"][0]["criteria_checks"]
    assert check["revision_hint"] == "Name a source for each figure."
    contest = arena.contests["whole"]
    assert (contest.own("bob")["revision"], contest.calls(arena.cloud, "GateReply")) == (2, 6)


def test_a_ranking_says_who_is_where_and_why(arena: Arena) -> None:
    contest = arena.contests["whole"]
    assert arena.noted["ranking"] == [("bob", 1), ("ann", 2), ("cy", 3), ("dee", 4)]
    assert contest.own("eli")["standing"] == "eliminated"
    eliminated = contest.feedback("eli", "scoring", party=OWNER)
    assert (eliminated["rank"], eliminated["eliminated_by"]) == (None, ["credibility"])
    assert [one["dimension"] for one in eliminated["penalty_reasons"]] == ["credibility"]


def test_an_upheld_challenge_moves_the_ranking_and_a_rejected_one_does_not(arena: Arena) -> None:
    contest = arena.contests["whole"]
    assert arena.noted["asked"] == [202, 202]
    refusal(arena.noted["stranger"], 404)
    upheld, rejected = contest.challenges()
    assert [(one["state"], one["provider"]) for one in (upheld, rejected)] == [
        ("upheld", "openai"),
        ("rejected", "openai"),
    ]
    assert contest.ranking() == [("ann", 1), ("cy", 2), ("dee", 3)]
    assert contest.own("bob")["standing"] == "eliminated"
    told = arena.listener.told(contest.id, least=3)
    assert told["payout.due"]["winner"] == told["result.final"]["winner"] == contest.ids["ann"]


def test_what_is_final_is_refused_every_change(arena: Arena) -> None:
    contest = arena.contests["whole"]
    before = [contest.seen(), *(contest.own(name) for name in contest.ids)]
    assert before[0]["state"] == "final"
    refusal(contest.move(3600), 409)
    refusal(contest.send("eve", text=contest.text("eve", 99)), 409)
    refusal(contest.challenge("ann", "cy"), 409)
    assert [contest.seen(), *(contest.own(name) for name in contest.ids)] == before


def test_no_route_and_no_event_shows_a_score_before_the_deadline(arena: Arena) -> None:
    assert len(arena.noted["open"]) > 50
    for asked, text in arena.noted["open"]:
        assert not FIELDS.search(text), f"{asked}: {text}"
        # Not in a time: 01:16:54.123 holds a total's digits, too.
        assert not [total for total in TOTALS if re.search(rf"(?<![:\d]){re.escape(total)}(?!\d)", text)], asked
        assert SAID[0] not in text, asked
    assert arena.noted["told while open"] == []


def test_no_log_no_execution_and_no_event_ever_holds_a_score_or_a_text(arena: Arena) -> None:
    lines = list(arena.cloud.logged(arena.since))
    lines += [("executions", line) for line in arena.executions()]
    lines += [("bus", json.dumps(event)) for event in arena.listener.heard()]
    assert {"executions", "bus"} < {where for where, _ in lines}, "nothing was looked at"
    for text in (*(each.mark for each in arena.contests.values()), *SAID):
        assert [where for where, line in lines if text in line] == [], text
    told = [(where, line) for where, line in lines if "Oracle" in where or where in {"executions", "bus"}]
    assert [line for _, line in told if FIELDS.search(line)] == []
    # Logs hold latencies and costs, which may look like a total; what machines and the bus are given holds neither.
    passed_on = [line for where, line in told if where in {"executions", "bus"}]
    assert [line for line in passed_on if re.search(r"(?<![:\d])66\.25(?!\d)", line)] == []


def test_without_a_survivor_there_is_no_winner_and_nothing_is_paid(arena: Arena) -> None:
    contest = arena.contests["none"]
    assert (contest.seen()["winner"], contest.ranking()) == (None, [])
    assert (contest.own("ann")["standing"], contest.own("bob")["standing"]) == ("eliminated", "gate_failed")
    told = arena.listener.told(contest.id, least=2)
    assert set(told) == {"task.closed", "result.final"}
    assert told["result.final"]["winner"] is None


def test_one_survivor_wins_on_its_own_score(arena: Arena) -> None:
    contest = arena.contests["sole"]
    assert contest.ranking() == [("ann", 1)]
    scoring = contest.feedback("ann", "scoring")
    assert scoring["final_score"] == contest.feedback("ann", "individual_scoring")["penalized_total"]
    assert scoring["penalty_reasons"][0]["dimension"] == "substantiveness"
    assert contest.calls(arena.cloud, "HorizontalReply") == 0
    assert arena.listener.told(contest.id, least=3)["payout.due"]["winner"] == contest.ids["ann"]


def test_of_equals_the_earlier_wins_and_whatever_is_delivered_twice_is_asked_and_told_once(arena: Arena) -> None:
    contest = arena.contests["tie"]
    assert contest.ranking() == [("first", 1), ("second", 2), ("late", 3)]
    asked = {title: contest.calls(arena.cloud, title) for title in ("GateReply", "IndividualReply", "HorizontalReply")}
    assert asked == {"GateReply": 3, "IndividualReply": 3, "HorizontalReply": 4 * 2}
    assert set(arena.listener.told(contest.id, least=3)) == {"task.closed", "result.final", "payout.due"}


def test_a_finalist_that_nobody_could_compare_is_unscored_and_the_others_are_ranked(arena: Arena) -> None:
    contest = arena.contests["misread"]
    assert contest.ranking() == [("ann", 1), ("bob", 2), ("dee", None)]
    assert contest.own("dee")["standing"] == "unscored"
    scoring = contest.feedback("dee", "scoring", party="bob")
    assert (scoring["unscored"], scoring["final_score"], scoring["rank"]) == (["depth"], None, None)
    assert contest.seen()["winner"] == contest.ids["ann"]


def test_a_judge_that_is_away_at_the_deadline_is_waited_for(arena: Arena) -> None:
    contest = arena.contests["overloaded"]
    assert arena.noted["waits"] == (None, "received")
    assert contest.ranking() == [("bob", 1), ("ann", 2)]
    assert arena.failed(contest) == A_TRY


def test_a_deadline_that_is_moved_later_holds(arena: Arena) -> None:
    contest = arena.contests["later"]
    assert arena.noted["after the old deadline"] == "open"
    assert contest.seen()["state"] == "final"
    assert contest.ranking() == [("bob", 1), ("ann", 2)]
    first = next(status for arn, status in contest.executions(arena.cloud).items() if arn.endswith(f":{contest.id}-1"))
    assert first == "SUCCEEDED", "it was told that another one carries the task"


def test_a6_where_the_order_decides_who_is_better_the_mean_counts_and_it_is_said_of_both(arena: Arena) -> None:
    contest = arena.contests["later"]
    for name, mean in (("ann", 82.5), ("bob", 90.0)):
        scoring = contest.feedback(name, "scoring", party=OWNER)
        assert scoring["risk_flags"] == ["orders_disagree"]
        assert [one["dimension"] for one in scoring["dimension_scores"] if one["unstable"]] == ["depth"]
        [depth] = [one for one in scoring["dimension_scores"] if one["dimension"] == "depth"]
        assert depth["score"] == mean


def test_r3_a_contest_whose_machines_were_stopped_is_taken_up_by_the_sweep(arena: Arena) -> None:
    contest = arena.contests["lost"]
    assert arena.noted["lost"] == ("open", "received")
    assert arena.noted["swept"]["restarted"] >= 2
    assert contest.ranking() == [("bob", 1), ("ann", 2)]
