"""A task to be created: its file, with the options laid over it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from touchstone.cli.files.task_files import TaskOptions, task_request
from touchstone.errors import InputError

NOW = datetime(2026, 11, 21, 6, 30, tzinfo=UTC)
BRIEF: dict[str, Any] = {"description": "Compare three databases.", "acceptance_criteria": ["Names its sources."]}
WHOLE = TaskOptions(owner="buyer", path="quality_first", deadline="3d")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "task.json"


def _written(file: Path, **fields: Any) -> str:
    file.write_text(json.dumps(BRIEF | fields))
    return str(file)


def test_a_brief_becomes_a_task_by_the_options(file: Path) -> None:
    found = task_request(_written(file, language="en"), WHOLE, now=NOW)
    assert found.brief.model_dump(mode="json") == {**BRIEF, "language": "en"}
    assert (found.owner, found.path, found.deadline) == ("buyer", "quality_first", NOW + timedelta(days=3))
    assert found.challenge_seconds == 72 * 3600


def test_the_file_says_what_no_option_does(file: Path) -> None:
    source = _written(file, owner="f", path="fastest_first", deadline="2027-01-31T12:00Z", challenge_period="30m")
    found = task_request(source, TaskOptions(), now=NOW)
    assert (found.owner, found.path, found.challenge_seconds) == ("f", "fastest_first", 1800)
    assert found.deadline == datetime(2027, 1, 31, 12, tzinfo=UTC)
    over = TaskOptions(owner="o", path="quality_first", deadline="1h", challenge_period="0s")
    found = task_request(source, over, now=NOW)
    assert (found.owner, found.path, found.challenge_seconds) == ("o", "quality_first", 0)
    assert found.deadline == NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("fields", "options", "words"),
    [
        ({}, {}, "Give --owner NAME, or owner in "),
        ({"owner": "o"}, {}, "Give --path fastest_first or quality_first, or path in "),
        ({"owner": "o", "path": "fastest_first"}, {}, "Give --deadline 3d, or deadline in "),
        ({"path": "best"}, {}, "path must be 'fastest_first' or 'quality_first'"),
        ({"dimensions": []}, {}, "there is no field dimensions; those of a task are description"),
        ({"acceptance_criteria": []}, {}, "acceptance_criteria needs at least 1"),
        (
            {"owner": "o" * 129, "path": "fastest_first", "deadline": "1d"},
            {},
            "owner may have at most 128 characters",
        ),
        ({}, {"deadline": "soon"}, "'soon' is no moment"),
        ({}, {"deadline": "2027-01-31T12:00"}, "has no time zone"),
        ({}, {"challenge_period": "3"}, "'3' is no duration"),
        ({}, {"challenge_period": "31d"}, "challenge_seconds must be at most"),
    ],
)
def test_what_is_missing_or_wrong_is_one_sentence(
    file: Path, fields: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    given = TaskOptions(**({"owner": "o", "path": "quality_first", "deadline": "3d"} | options if options else {}))
    with pytest.raises(InputError) as caught:
        task_request(_written(file, **fields), given, now=NOW)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
