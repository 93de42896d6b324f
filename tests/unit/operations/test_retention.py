"""How long records are kept, as a deployment is told."""

import pytest

from touchstone.errors import SettingsError
from touchstone.operations.retention import RETAINED_KINDS, retention_of


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("", {}),
        ("  ", {}),
        ("365", dict.fromkeys(RETAINED_KINDS, 365)),
        ("answers=365,audits=90", {"answers": 365, "audits": 90}),
        (" answers = 30 , tasks=36500,", {"answers": 30, "tasks": 36_500}),
    ],
)
def test_days_are_said_for_all_kinds_or_by_kind_and_nothing_said_keeps_everything(
    text: str, days: dict[str, int]
) -> None:
    assert retention_of(text) == days


@pytest.mark.parametrize(
    "text",
    [
        *("29", "0", "-1", "36501", "9" * 5000, "1.5", "٣٠", "ever"),
        *(
            "answers",
            "answers=",
            "answers=29",
            "answers=40=2",
            "labels=40",
            "answers=40,answers=40",
            "answers=40;audits=40",
        ),
    ],
)
def test_what_is_no_retention_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        retention_of(text)
    said = str(refused.value)
    assert said.startswith("TOUCHSTONE_RETENTION_DAYS says ")
    assert "answers=365,audits=90" in said
    assert len(said) < 400
