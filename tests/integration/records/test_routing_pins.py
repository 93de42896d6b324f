"""Subjects pinned to a provider by hand."""

from typing import TYPE_CHECKING

import pytest

from touchstone.errors import InputError
from touchstone.records import RoutingPins

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


def test_a_pin_holds_until_it_is_replaced_or_taken_out(table: "Table") -> None:
    pins = RoutingPins(table)
    assert pins.all("acme") == {}
    for subject, provider in (("几何", "claude"), ("a#b", "openai"), ("a#b", "gemini")):
        pins.pin(tenant="acme", subject=subject, provider=provider)
    pins.pin(tenant="rival", subject="algebra", provider="openai")
    assert pins.all("acme") == {"几何": "claude", "a#b": "gemini"}
    pins.unpin(tenant="acme", subject="a#b")
    pins.unpin(tenant="acme", subject="never")
    assert pins.all("acme") == {"几何": "claude"}


@pytest.mark.parametrize("subject", ["", "x" * 65])
def test_a_subject_has_1_to_64_characters(table: "Table", subject: str) -> None:
    with pytest.raises(InputError):
        RoutingPins(table).pin(tenant="acme", subject=subject, provider="openai")
