"""Courses and learners that are put into a deployment, listed, shown and removed."""

import json
from pathlib import Path

from tests.support.commands import Command
from tests.support.loopback import Loopback, Reply

COURSE = "chapter,kind,hanzi,meaning_en\n1,word,你好,hello\n2,word,學習,to study\n"
LEARNERS = "learner,item,error_rate\nmei,學習,35%\nann,你好,0.5\n"
LEARNER = {"id": "mei", "ui_language": "en", "weak_points": 3, "updated_at": "2026-11-22T09:00:00Z"}
KEPT = {"id": "book", "title": "book", "chapters": 2, "words": 2, "patterns": 0, "updated_at": "2026-11-22T09:00:00Z"}


def test_a_table_is_put_as_a_course_under_its_own_name_or_another(
    online: Command, api: Loopback, tmp_path: Path
) -> None:
    (tmp_path / "book.csv").write_text(COURSE, encoding="utf-8")
    api.answer = lambda _: Reply(value=KEPT)
    result = online("curricula", "put", str(tmp_path / "book.csv"))
    assert (result.exit_code, result.stderr) == (0, "Kept as book: 2 chapters, 2 words.\n")
    online("curricula", "put", str(tmp_path / "book.csv"), "--id", "first/steps")
    assert [(asked.method, asked.path) for asked in api.asked] == [
        ("PUT", "/v1/curricula/book"),
        ("PUT", "/v1/curricula/first%2Fsteps"),
    ]
    sent = api.asked[0].document
    assert [chapter["vocabulary"][0]["hanzi"] for chapter in sent["chapters"]] == ["你好", "學習"]
    assert "id" not in sent


def test_every_learner_of_a_file_is_put(online: Command, api: Loopback, tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(LEARNERS, encoding="utf-8")
    api.answer = lambda asked: Reply(value=LEARNER | {"id": asked.path.rpartition("/")[2]})
    result = online("learners", "put", str(tmp_path / "all.csv"))
    assert result.stderr == "Kept mei: 1 weak point.\nKept ann: 1 weak point.\n"
    assert [asked.path for asked in api.asked] == ["/v1/learners/mei", "/v1/learners/ann"]
    assert api.asked[0].document["weak_points"] == [{"item": "學習", "error_rate": 0.35, "seen": 1}]
    shown = online("learners", "put", str(tmp_path / "all.csv"), "--json")
    assert [one["id"] for one in json.loads(shown.stdout)] == ["mei", "ann"]


def test_a_file_that_is_no_course_is_named_and_nothing_is_sent(online: Command, api: Loopback, tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text("chapter,kind,hanzi\n1,verb,學\n", encoding="utf-8")
    result = online("curricula", "put", str(tmp_path / "book.csv"))
    assert result.exit_code == 2
    assert "book.csv: Line 2, column kind" in result.stderr
    assert api.asked == []


def test_what_is_kept_is_listed_shown_and_removed(online: Command, api: Loopback) -> None:
    course = {"id": "book", "title": "Book", "chapters": [], "updated_at": KEPT["updated_at"]}
    api.script = [
        Reply(value={"items": [KEPT], "cursor": "next"}),
        Reply(value={"items": [LEARNER], "cursor": None}),
        Reply(value=course),
        Reply(value=LEARNER | {"weak_points": []}),
        Reply(status=204),
        Reply(status=204),
    ]
    listed = online("curricula", "list")
    assert "book" in listed.stdout
    assert "--cursor next" in listed.stderr
    assert "2026-11-22 09:00:00" in online("learners", "list").stdout
    assert json.loads(online("curricula", "show", "book").stdout) == course
    assert json.loads(online("learners", "show", "mei").stdout) == LEARNER | {"weak_points": []}
    assert online("curricula", "delete", "book").stderr == "Removed.\n"
    assert online("learners", "delete", "mei").stderr == "Removed.\n"
    assert [(asked.method, asked.path) for asked in api.asked[-2:]] == [
        ("DELETE", "/v1/curricula/book"),
        ("DELETE", "/v1/learners/mei"),
    ]
