"""Who solves which subject, where there are very many of them."""

from collections.abc import Iterator
from typing import Any

from touchstone.answers.providers import Rate
from touchstone.operations.reports.rates import MOST
from touchstone.operations.reports.routing import routing_report
from touchstone.records.routing_pins import Routing

SUBJECTS = 3_000
PROVIDERS = ("gemini", "openai", "anthropic")


class Counted(dict[tuple[str, str], Rate]):
    """Rates that count how often all of them are looked at."""

    times = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        self.times += 1
        return super().__iter__()

    def items(self) -> Any:
        self.times += 1
        return super().items()


def test_thousands_of_subjects_are_reported_without_each_looking_at_the_rates_of_all() -> None:
    rates = Counted(
        {(name, f"s{each}"): Rate(correct=500, decided=600) for each in range(SUBJECTS) for name in PROVIDERS}
    )
    report = routing_report(
        tenant="acme",
        routing=Routing(pins={}, choices={}),
        everywhere={},
        rates=rates,
        available=["gemini", "openai"],
        limit=SUBJECTS,
    )
    assert 0 < rates.times < 10
    assert {len(subject.evidence) for subject in report.subjects} == {len(PROVIDERS)}
    assert len(report.subjects) == SUBJECTS


def test_subjects_come_a_part_at_a_time_each_once() -> None:
    rates = {("openai", f"s{each:04}"): Rate(correct=5, decided=6) for each in range(SUBJECTS)}
    found: list[str] = []
    cursor: str | None = None
    while cursor is not None or not found:
        report = routing_report(
            tenant="acme",
            routing=Routing(pins={}, choices={}),
            everywhere={"music": "openai"},
            rates=rates,
            available=["openai"],
            cursor=cursor,
        )
        assert len(report.subjects) <= MOST
        found += [each.subject for each in report.subjects]
        cursor = report.cursor
    assert found == ["music", *(of for _, of in rates)]
