"""Tasks at the command line: what is sent, what is shown of each stage, how it ends."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Command
from tests.support.loopback import Asked, Loopback, Reply, problem
from tests.support.oracle import (
    COMPARED,
    DEADLINE,
    NOW,
    SUBMISSION_ID,
    TASK_ID,
    a_request,
    a_submission,
    a_task,
    failed_gate,
    passed_gate,
    scoring,
    unjudged,
)
from touchstone.oracle import submission as steps
from touchstone.oracle.challenge import Challenge, ChallengeView
from touchstone.oracle.feedback import view_of
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task, ended, finalised, given_up, new_task, ranked, won
from touchstone.oracle.view import TaskView

BRIEF = {"description": "Compare three databases.", "acceptance_criteria": ["Names a source for each figure."]}
OTHER_ID = "01M7YCR9J0YEPNXK2F1F80QC0E"
OPTIONS = ("--owner", "buyer-1", "--path", "quality_first", "--deadline", "2030-01-31T12:00+01:00")
PLACES = (
    Place(submission_id=SUBMISSION_ID, rank=1, final_score=77.125),
    Place(submission_id=OTHER_ID, rank=None, final_score=None),
)
RANKED = ranked(ended(a_task(), now=DEADLINE), PLACES, now=DEADLINE)
CHALLENGE = Challenge(
    tenant="acme",
    task_id=TASK_ID,
    id=OTHER_ID,
    challenger="writer-1",
    submission_id=SUBMISSION_ID,
    reason="The figure has a source.",
    created_at=NOW,
)


def _task(task: Task, *, party: bool = False) -> dict[str, Any]:
    return TaskView.of(task, party=party).model_dump(mode="json")


def _submission(submission: Submission, task: Task) -> dict[str, Any]:
    view = view_of(submission, task, "author")
    assert view is not None
    return view.model_dump(mode="json")


def _challenge(**changes: Any) -> dict[str, Any]:
    return ChallengeView.of(CHALLENGE.model_copy(update=changes)).model_dump(mode="json")


def _passed() -> Submission:
    return steps.gated(a_submission(), passed_gate())


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "task.json").write_text(json.dumps(BRIEF))
    return str(tmp_path / "task.json")


@pytest.fixture
def work(tmp_path: Path) -> str:
    (tmp_path / "work.md").write_text("The harvest was good.")
    return str(tmp_path / "work.md")


def test_a_task_may_have_its_criteria_checked_by_several(online: Command, api: Loopback, file: str) -> None:
    drafting = _task(new_task(a_request(judges=3), tenant="acme", task_id=TASK_ID, now=NOW))
    api.answer = lambda _: Reply(status=202, value=drafting)
    assert online("tasks", "create", file, *OPTIONS, "--judges", "3").exit_code == 0
    (asked,) = api.asked
    assert asked.document["judges"] == 3


def test_a_task_is_created_from_a_file_and_options(online: Command, api: Loopback, file: str) -> None:
    drafting = _task(new_task(a_request(), tenant="acme", task_id=TASK_ID, now=NOW))
    api.answer = lambda _: Reply(status=202, value=drafting)
    result = online("tasks", "create", file, *OPTIONS, "--challenge-period", "2h")
    assert result.exit_code == 0
    for words in ("drafting", TASK_ID, "Names a source for each figure.", "buyer-1"):
        assert words in result.stdout
    assert result.stderr == "Its dimensions are not made yet.\n"
    (asked,) = api.asked
    assert (asked.method, asked.path) == ("POST", "/v1/tasks")
    assert asked.headers["idempotency-key"]
    assert asked.document == {
        "brief": {**BRIEF, "language": None},
        "path": "quality_first",
        "owner": "buyer-1",
        "deadline": "2030-01-31T11:00:00Z",
        "challenge_seconds": 7200,
    }
    assert json.loads(online("tasks", "create", file, *OPTIONS, "--json").stdout) == drafting


def test_a_task_is_waited_for_until_it_is_open(online: Command, api: Loopback, pauses: list[float], file: str) -> None:
    drafting = _task(new_task(a_request(), tenant="acme", task_id=TASK_ID, now=NOW))
    api.script = [Reply(status=202, value=drafting), Reply(value=drafting), Reply(value=_task(a_task()))]
    result = online("tasks", "create", file, *OPTIONS, "--wait")
    assert (result.exit_code, len(pauses)) == (0, 2)
    assert "open" in result.stdout
    assert "25%" in result.stdout
    assert [asked.path for asked in api.asked] == ["/v1/tasks", f"/v1/tasks/{TASK_ID}", f"/v1/tasks/{TASK_ID}"]
    api.answer = lambda asked: Reply(status=202 if asked.method == "POST" else 200, value=drafting)
    assert online("tasks", "create", file, *OPTIONS, "--wait", "--timeout", "1").exit_code == 0


def test_a_task_that_nobody_could_set_up_says_why(online: Command, api: Loopback, file: str) -> None:
    failed = given_up(new_task(a_request(), tenant="acme", task_id=TASK_ID, now=NOW), "No judge has a key.")
    api.answer = lambda _: Reply(status=202, value=_task(failed))
    result = online("tasks", "create", file, *OPTIONS, "--wait")
    assert result.exit_code == 3
    assert "No judge has a key." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", "FILE", *OPTIONS[:4]), "Give --deadline 3d"),
        (("create", "none.json", *OPTIONS), "none.json cannot be read"),
        (("deadline", TASK_ID, "tomorrow"), "'tomorrow' is no moment"),
        (("submit", TASK_ID, "BLANK", "--submitter", "w"), "says nothing that a reader would see"),
        (("submit", TASK_ID, "none.md", "--submitter", "w"), "none.md cannot be read"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_sent(
    online: Command, api: Loopback, tmp_path: Path, file: str, *, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "blank.md").write_text(" \n")
    places = {"FILE": file, "BLANK": str(tmp_path / "blank.md")}
    result = online("tasks", *(places.get(part, part) for part in arguments))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr
    assert api.asked == []


def test_tasks_are_listed(online: Command, api: Loopback) -> None:
    item = {
        "id": TASK_ID, "path": "quality_first", "owner": "buyer-1", "state": "open", "description": "Compare " * 20,
        "created_at": "2026-11-21T06:30:00Z", "deadline": "2026-11-28T06:30:00Z", "closed_at": None, "winner": None,
    }  # fmt: skip
    page = {"items": [item], "cursor": "next"}
    api.answer = lambda _: Reply(value=page)
    result = online("tasks", "list", "--limit", "1")
    assert (result.exit_code, result.stderr) == (0, "There are more: --cursor next\n")
    for words in (TASK_ID, "2026-11-28 06:30:00", "Compare Compare", "…"):
        assert words in result.stdout
    assert api.asked[0].query == {"limit": "1"}
    assert json.loads(online("tasks", "list", "--json").stdout) == page
    api.answer = lambda _: Reply(value={"items": [], "cursor": None})
    assert online("tasks", "list").stderr == "There are no tasks yet. The first comes by: touchstone tasks create\n"


def test_a_party_sees_the_ranking_with_unscored_finalists(online: Command, api: Loopback) -> None:
    page = {"items": [_submission(a_submission(), RANKED)], "cursor": None}
    api.answer = lambda asked: Reply(
        value=page if asked.path.endswith("submissions") else _task(RANKED, party="party" in asked.query)
    )
    result = online("tasks", "show", TASK_ID, "--party", "buyer-1")
    assert (result.exit_code, api.asked[0].query) == (0, {"party": "buyer-1"})
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["1", a_submission().submitter, SUBMISSION_ID, "77.12"] in lines
    assert ["unscored", "–", OTHER_ID, "–"] in lines, "one that was not among the newest goes by its id"
    assert "challenges until (UTC)" in result.stdout
    assert "closed (UTC)" in result.stdout
    others = online("tasks", "show", TASK_ID)
    assert "name one with --party" in others.stdout
    assert "77.12" not in others.stdout


def test_a_contest_that_nobody_won_says_so(online: Command, api: Loopback) -> None:
    nobody = finalised(ranked(ended(a_task(), now=DEADLINE), (), now=DEADLINE), now=DEADLINE + timedelta(hours=2))
    api.answer = lambda _: Reply(value=_task(nobody, party=True))
    result = online("tasks", "show", TASK_ID, "--party", "buyer-1")
    assert "nobody" in result.stdout
    assert "Nobody survived" in result.stderr


def test_a_deadline_is_moved(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(value=_task(a_task()))
    before = datetime.now(UTC)
    assert online("tasks", "deadline", TASK_ID, "3d").exit_code == 0
    assert online("tasks", "deadline", TASK_ID, "2030-01-31T12:00+01:00").exit_code == 0
    first, second = api.asked
    assert (first.method, first.path) == ("PATCH", f"/v1/tasks/{TASK_ID}")
    moved = datetime.fromisoformat(first.document["deadline"]) - before
    assert timedelta(days=3) <= moved < timedelta(days=3, minutes=1)
    assert second.document == {"deadline": "2030-01-31T11:00:00+00:00"}
    assert first.headers["idempotency-key"] != second.headers["idempotency-key"]
    api.answer = lambda _: problem(409, "The deadline has passed; it cannot be moved any more.")
    result = online("tasks", "deadline", TASK_ID, "3d")
    assert (result.exit_code, result.stderr) == (2, "Error: The deadline has passed; it cannot be moved any more.\n")


def test_work_is_handed_in_as_text(online: Command, api: Loopback, work: str) -> None:
    api.answer = lambda _: Reply(status=202, value=_submission(a_submission(), a_task()))
    result = online("tasks", "submit", TASK_ID, work, "--submitter", "writer-1")
    assert result.exit_code == 0
    assert "received" in result.stdout
    assert api.asked[0].path == f"/v1/tasks/{TASK_ID}/submissions"
    assert api.asked[0].document == {"submitter": "writer-1", "text": "The harvest was good."}
    assert online("tasks", "submit", TASK_ID, "-", "--submitter", "w", stdin="# 收成").exit_code == 0
    assert api.asked[1].document == {"submitter": "w", "text": "# 收成"}


def test_long_work_is_uploaded_first(online: Command, api: Loopback, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        if asked.path == "/v1/submission-files":
            return Reply(value={"text_key": "acme/uploads/1", "upload_url": f"{api.url}/put"})
        return Reply(status=202, value=_submission(a_submission(), a_task()))

    api.answer = answer
    (tmp_path / "long.md").write_text("收成好。" * 100_000)
    assert online("tasks", "submit", TASK_ID, str(tmp_path / "long.md"), "--submitter", "w").exit_code == 0
    place, put, handed_in = api.asked
    assert (place.path, put.method, put.path) == ("/v1/submission-files", "PUT", "/put")
    assert put.headers["content-type"] == "text/markdown"
    assert "authorization" not in put.headers
    assert len(put.body) == 1_200_000
    assert handed_in.document == {"submitter": "w", "text_key": "acme/uploads/1"}


def test_work_is_waited_for_until_it_is_judged(online: Command, api: Loopback, pauses: list[float], work: str) -> None:
    contest = a_task()
    looks = [a_submission(), a_submission(), _passed(), steps.scored(_passed(), scoring(45))]
    api.script = [Reply(status=202 if one is looks[0] else 200, value=_submission(one, contest)) for one in looks]
    result = online("tasks", "submit", TASK_ID, work, "--submitter", "writer-1", "--wait")
    assert (result.exit_code, len(pauses)) == (0, 3)
    assert api.asked[-1].path == f"/v1/tasks/{TASK_ID}/submissions/{SUBMISSION_ID}"
    assert api.asked[-1].query == {"party": "writer-1"}
    for words in ("gate passed", "suggestion (high)", "One source only. Compare a second one."):
        assert words in result.stdout
    assert "45" not in result.stdout, "no score of an open contest"


@pytest.mark.parametrize(
    ("submission", "code", "words"),
    [
        (steps.gated(a_submission(), failed_gate()), 1, ("gate failed", "One has none.", "Name it.")),
        (steps.given_up(a_submission(), unjudged("gate")), 3, ("unscored", "timed_out")),
        (steps.overtaken(a_submission()), 3, ("overtaken",)),
        (_passed(), 0, ("gate passed",)),
        (
            steps.scored(_passed(), scoring(80, credibility=45, risk_flags=("claims_a_verdict",))),
            0,
            (
                "scored",
                "53.44, band C",
                "× 0.75",
                "claims a verdict",
                "D, below expected",
                "The passage on credibility.",
            ),
        ),
    ],
)
def test_how_a_submission_stands_is_shown_and_is_the_exit_code(
    online: Command, api: Loopback, submission: Submission, code: int, words: tuple[str, ...]
) -> None:
    task = a_task("fastest_first")
    closed = won(task, OTHER_ID, now=NOW) if submission.state == "overtaken" else task
    view = _submission(submission, closed)
    api.answer = lambda _: Reply(value=view)
    result = online("tasks", "submission", TASK_ID, SUBMISSION_ID, "--party", "writer-1")
    assert result.exit_code == code
    for word in words:
        assert word in result.stdout
    asjson = online("tasks", "submission", TASK_ID, SUBMISSION_ID, "--party", "writer-1", "--json")
    assert (asjson.exit_code, json.loads(asjson.stdout)) == (code, view)


def test_a_ranked_submission_shows_what_the_contest_came_to(online: Command, api: Loopback) -> None:
    finalist = steps.compared(steps.scored(_passed(), scoring(80)), COMPARED)
    api.answer = lambda _: Reply(value=_submission(finalist, RANKED))
    result = online("tasks", "submission", TASK_ID, SUBMISSION_ID, "--party", "writer-1")
    assert result.exit_code == 0
    for words in ("ranked", "In the contest", "77.12", "Its passage on clarity.", "orders disagree"):
        assert words in result.stdout
    unsure = steps.compared(steps.scored(_passed(), scoring(80)), COMPARED[:2], uncompared=("clarity",))
    places = (Place(submission_id=SUBMISSION_ID, rank=None, final_score=None),)
    task = ranked(ended(a_task(), now=DEADLINE), places, now=DEADLINE)
    api.answer = lambda _: Reply(value=_submission(unsure, task))
    result = online("tasks", "submission", TASK_ID, SUBMISSION_ID, "--party", "writer-1")
    assert result.exit_code == 3
    assert ["unscored", "clarity"] in [line.split() for line in result.stdout.splitlines()]


def test_an_eliminated_submission_names_the_dimensions_that_did_it(online: Command, api: Loopback) -> None:
    out = steps.scored(_passed(), scoring(80, credibility=45))
    task = ranked(ended(a_task(), now=DEADLINE), (), now=DEADLINE)
    api.answer = lambda _: Reply(value=_submission(out, task))
    result = online("tasks", "submission", TASK_ID, SUBMISSION_ID, "--party", "writer-1")
    assert result.exit_code == 1
    for words in ("eliminated", "× 0.75, since credibility has 45"):
        assert words in result.stdout
    assert ["eliminated", "by", "credibility"] in [line.split() for line in result.stdout.splitlines()]


def test_submissions_are_listed_with_what_is_known_of_each(online: Command, api: Loopback) -> None:
    finalist = steps.compared(steps.scored(_passed(), scoring(80)), COMPARED)
    refused = steps.gated(a_submission(id=OTHER_ID), failed_gate())
    page = {"items": [_submission(one, RANKED) for one in (finalist, refused)], "cursor": None}
    api.answer = lambda _: Reply(value=page)
    result = online("tasks", "submissions", TASK_ID, "--party", "buyer-1")
    assert api.asked[0].query == {"party": "buyer-1", "limit": "20"}
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[2][-4:] == ["ranked", "80.00", "77.12", "1"]
    assert lines[3][-5:] == ["gate", "failed", "–", "–", "–"]
    assert json.loads(online("tasks", "submissions", TASK_ID, "--party", "b", "--json").stdout) == page
    api.answer = lambda _: Reply(value={"items": [], "cursor": None})
    assert "nothing that this party may see" in online("tasks", "submissions", TASK_ID, "--party", "b").stderr


def test_a_task_whose_id_is_none_is_not_found(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(status=404, value={"detail": "You have nothing with this name."})
    result = online("tasks", "submissions", "a/b", "--party", "b")
    assert (result.exit_code, result.stderr) == (2, "Error: You have nothing with this name.\n")


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"state": "upheld", "scoring": scoring(90)}, 0, "90.0"),
        ({"state": "rejected", "scoring": scoring(80)}, 1, "rejected"),
        ({"state": "unresolved", "failure": unjudged("scoring")}, 3, "timed_out"),
    ],
)
def test_a_ranking_is_challenged(
    online: Command, api: Loopback, changes: dict[str, Any], code: int, words: str
) -> None:
    decided = _challenge(decided_at=NOW, **changes)
    api.script = [
        Reply(status=202, value=_challenge()),
        Reply(value={"items": [{**decided, "id": TASK_ID, "state": "waiting"}, _challenge()]}),
        Reply(value={"items": [decided]}),
    ]
    arguments = ("tasks", "challenge", TASK_ID, SUBMISSION_ID, "--party", "writer-1", "--reason", "It has a source.")
    result = online(*arguments, "--wait")
    assert result.exit_code == code
    assert words in result.stdout
    assert api.asked[0].path == f"/v1/tasks/{TASK_ID}/challenges"
    assert api.asked[0].document == {
        "challenger": "writer-1",
        "submission_id": SUBMISSION_ID,
        "reason": "It has a source.",
    }
    assert api.asked[1].query == {"party": "writer-1"}
    api.script = [Reply(status=202, value=_challenge())]
    assert json.loads(online(*arguments, "--json").stdout) == _challenge()


def test_a_challenge_that_the_list_does_not_have_is_an_error(online: Command, api: Loopback) -> None:
    api.script = [Reply(status=202, value=_challenge()), Reply(value={"items": []})]
    result = online("tasks", "challenge", TASK_ID, SUBMISSION_ID, "--party", "w", "--reason", "r", "--wait")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "not in the task's list" in result.stderr


def test_challenges_are_listed(online: Command, api: Loopback) -> None:
    items = [_challenge(), _challenge(state="unresolved", failure=unjudged("scoring"))]
    api.answer = lambda _: Reply(value={"items": items})
    result = online("tasks", "challenges", TASK_ID, "--party", "buyer-1")
    assert (result.exit_code, api.asked[0].query) == (0, {"party": "buyer-1"})
    for words in ("waiting", "unresolved: timed_out", "The figure has a source."):
        assert words in result.stdout
    assert json.loads(online("tasks", "challenges", TASK_ID, "--party", "b", "--json").stdout) == {"items": items}
    api.answer = lambda _: Reply(value={"items": []})
    assert online("tasks", "challenges", TASK_ID, "--party", "b").stderr == "Nobody challenged it.\n"


@pytest.mark.parametrize(
    ("first", "arguments", "place"),
    [
        ("task", ("create", "FILE", *OPTIONS), f"show {TASK_ID}"),
        (
            "submission",
            ("submit", TASK_ID, "WORK", "--submitter", "Ann B"),
            f"submission {TASK_ID} {SUBMISSION_ID} --party 'Ann B'",
        ),
        (
            "challenge",
            ("challenge", TASK_ID, SUBMISSION_ID, "--party", "Ann B", "--reason", "r"),
            f"challenges {TASK_ID} --party 'Ann B'",
        ),
    ],
)
def test_whoever_stops_waiting_is_told_where_to_look(
    online: Command,
    api: Loopback,
    monkeypatch: pytest.MonkeyPatch,
    *,
    file: str,
    work: str,
    first: str,
    arguments: tuple[str, ...],
    place: str,
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("touchstone.cli.terminal.waiting.pause", interrupted)
    views = {
        "task": _task(new_task(a_request(), tenant="acme", task_id=TASK_ID, now=NOW)),
        "submission": _submission(a_submission(), a_task()),
        "challenge": _challenge(),
    }
    api.answer = lambda _: Reply(status=202, value=views[first])
    files = {"FILE": file, "WORK": work}
    result = online("tasks", *(files.get(part, part) for part in arguments), "--wait")
    assert result.exit_code == 130
    assert result.stderr == f"It goes on without you; see it with: touchstone tasks {place}\n"
