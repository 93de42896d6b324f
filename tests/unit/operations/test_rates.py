"""Rates and routing of very many subjects: a part at a time, each below what a function may answer."""

import json
from typing import Any

import pytest

from touchstone.answers.providers import Rate
from touchstone.errors import InputError
from touchstone.operations.reports.rates import MOST, rates_page, rates_report
from touchstone.operations.reports.routing import routing_report
from touchstone.records.lists import is_cursor_of
from touchstone.records.routing_pins import Routing
from touchstone.records.statistics import Rates, Tally

MOST_BYTES = 6_000_000
"""What a function may answer."""
UGLY = "\u0001" * 64
"""Each character is six of JSON."""
ONE = Tally(decided=3, correct=2, skipped=1)
SUBJECTS = 2_500


def rates(subjects: int, name: str = "", model: str = "m") -> Rates:
    return Rates(
        provider_subject={("openai", f"{name}{each:05}"): ONE for each in range(subjects)},
        model_subject={(model, f"{name}{each:05}"): ONE for each in range(subjects)},
        model_difficulty={(model, each): ONE for each in ("easy", "hard")},
    )


def every_part(cursor: str | None = None, **how: Any) -> list[dict[str, Any]]:
    """The parts of a report, read from the first to the last."""
    found = [rates_report(rates(SUBJECTS), tenant="acme", cursor=cursor, **how).model_dump()]
    while found[-1]["cursor"] is not None:
        found.append(rates_report(rates(SUBJECTS), tenant="acme", cursor=found[-1]["cursor"], **how).model_dump())
    return found


def test_an_ordinary_tenant_has_all_rates_in_one_response() -> None:
    report = rates_report(rates(300), tenant="acme")
    assert report.cursor is None
    sizes = [len(each) for each in (report.provider_subject, report.model_subject, report.model_difficulty)]
    assert sizes == [300, 300, 2]
    assert [rate.of for rate in report.model_subject] == sorted(rate.of for rate in report.model_subject)


def test_names_with_characters_that_nobody_writes_are_told_one_after_the_other() -> None:
    pairs = [("a", "b\0\0c"), ("a\0", "\0c"), ("a\0\0b", "c"), ("a\x1fb", "c"), ("a", "b\x1fc")]
    tallies, found, cursor = dict.fromkeys(pairs, ONE), [], None
    for _ in pairs:
        page = rates_page(tallies, scope="s", limit=1, cursor=cursor)
        found += [(rate.name, rate.of) for rate in page.items]
        cursor = page.cursor
    assert (found, cursor) == (sorted(pairs), None)


@pytest.mark.parametrize("limit", [MOST, 700])
def test_the_parts_of_a_report_have_every_rate_once_and_in_order(limit: int) -> None:
    parts = every_part(limit=limit)
    kinds = ("provider_subject", "model_subject", "model_difficulty")
    assert all(sum(len(part[kind]) for kind in kinds) <= limit for part in parts)
    for kind in kinds:
        found = [(rate["name"], rate["of"]) for part in parts for rate in part[kind]]
        assert found == sorted(getattr(rates(SUBJECTS), kind)), kind


def test_a_response_stays_below_what_a_function_may_answer_whatever_the_names_are() -> None:
    report = rates_report(rates(SUBJECTS, UGLY, UGLY * 2), tenant="acme", cursor=None)
    behind = rates_report(rates(SUBJECTS, UGLY, UGLY * 2), tenant="acme", cursor=report.cursor)
    third = rates_report(rates(SUBJECTS, UGLY, UGLY * 2), tenant="acme", cursor=behind.cursor)
    routed = routing_report(
        tenant="acme",
        routing=Routing(pins={}, choices={}),
        everywhere={},
        rates={
            (name, f"{UGLY}{each:05}"): Rate(correct=2, decided=3)
            for each in range(SUBJECTS) for name in ("claude", "gemini", "openai")
        },
        available=["openai"],
    )  # fmt: skip
    for each in (report, behind, third, routed):
        assert len(json.dumps(each.model_dump(mode="json"))) < MOST_BYTES


def test_a_cursor_is_good_in_its_own_list_alone() -> None:
    cursor = rates_report(rates(9), tenant="acme", limit=3).cursor
    assert cursor is not None
    for wrong, tenant in ((cursor, "rival"), ("nonsense", "acme")):
        with pytest.raises(InputError, match="does not belong to this list"):
            rates_report(rates(9), tenant=tenant, cursor=wrong)
    page = rates_page(rates(9).model_subject, scope="one", limit=3, cursor=None)
    assert page.cursor is not None
    assert (is_cursor_of("one", page.cursor), is_cursor_of("other", page.cursor)) == (True, False)


def test_what_is_added_or_removed_meanwhile_moves_no_other() -> None:
    found = dict(rates(6).model_subject)
    page = rates_page(found, scope="one", limit=3, cursor=None)
    del found["m", "00002"]
    found["m", "00000a"] = ONE
    rest = rates_page(found, scope="one", limit=9, cursor=page.cursor)
    assert [rate.of for rate in rest.items] == ["00003", "00004", "00005"]
    assert rest.cursor is None
