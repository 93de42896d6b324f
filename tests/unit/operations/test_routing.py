"""Who solves which subject, where there are very many of them."""

import time

from touchstone.answers.providers import Rate
from touchstone.operations.routing import routing_report
from touchstone.records.routing_pins import Routing

SUBJECTS = 3_000
PROVIDERS = ("gemini", "openai", "anthropic")


def test_thousands_of_subjects_are_reported_in_time() -> None:
    rates = {(name, f"s{each}"): Rate(correct=500, decided=600) for each in range(SUBJECTS) for name in PROVIDERS}
    begun = time.process_time()
    report = routing_report(
        routing=Routing(pins={}, choices={}), everywhere={}, rates=rates, available=["gemini", "openai"]
    )
    assert time.process_time() - begun < 3  # seconds; three times that where each subject looks at the rates of all
    assert {len(subject.evidence) for subject in report.subjects} == {len(PROVIDERS)}
    assert len(report.subjects) == SUBJECTS
