"""Subjects pinned to a provider by hand."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from touchstone.answers.providers import ProviderChoice
from touchstone.errors import InputError
from touchstone.records import RoutingPins
from touchstone.records.routing_pins import NotedChoice, Pinned

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_a_pin_holds_until_it_is_replaced_or_taken_out(table: "Table") -> None:
    pins = RoutingPins(table)
    assert pins.read("acme").providers == {}
    for subject, provider in (("几何", "claude"), ("a#b", "openai"), ("a#b", "gemini")):
        pins.pin(tenant="acme", subject=subject, provider=provider)
    pins.pin(tenant="rival", subject="algebra", provider="openai")
    assert pins.read("acme").providers == {"几何": "claude", "a#b": "gemini"}
    pins.unpin(tenant="acme", subject="a#b")
    pins.unpin(tenant="acme", subject="never")
    assert pins.read("acme").providers == {"几何": "claude"}


@pytest.mark.parametrize("subject", ["", "x" * 65])
def test_a_subject_has_1_to_64_characters(table: "Table", subject: str) -> None:
    with pytest.raises(InputError):
        RoutingPins(table).pin(tenant="acme", subject=subject, provider="openai")


def test_a_pin_says_when_it_was_set_and_an_older_one_that_nobody_knows(table: "Table") -> None:
    RoutingPins(table, clock=lambda: NOON).pin(tenant="acme", subject="algebra", provider="openai")
    table.put_item(Item={"pk": "T#acme#ROUTING", "sk": "optics", "subject": "optics", "provider": "gemini"})
    found = RoutingPins(table).read("acme").pins
    assert found == {"algebra": Pinned(provider="openai", at=NOON), "optics": Pinned(provider="gemini", at=None)}


def test_a_choice_is_noted_once_and_the_next_says_what_was_before(table: "Table") -> None:
    moments = iter(NOON + timedelta(hours=hour) for hour in range(4))
    pins = RoutingPins(table, clock=lambda: next(moments))
    first, second = ProviderChoice(provider="openai", why="data"), ProviderChoice(provider="gemini", why="default")
    pins.note(tenant="acme", subject="a#b", choice=first, before=None)
    pins.note(tenant="acme", subject="a#b", choice=first, before=None)
    assert pins.read("acme").choices == {"a#b": NotedChoice(choice=first, since=NOON, before=None)}
    pins.note(tenant="acme", subject="a#b", choice=second, before=first)
    noted = pins.read("acme")
    assert noted.choices["a#b"] == NotedChoice(choice=second, since=NOON + timedelta(hours=2), before=first)
    assert noted.noted == {"a#b": second}
    assert noted.pins == {}
    assert pins.read("rival").choices == {}
