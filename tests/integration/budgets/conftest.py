"""What the tests of the budgets share."""

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from botocore.client import BaseClient

from tests.support.clocks import StandingClock
from touchstone.budgets.quotas import Quotas

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> StandingClock:
    """Noon in California, eight in the evening in UTC."""
    return StandingClock(NOON)


@pytest.fixture
def quotas(table: "Table", clock: StandingClock) -> Quotas:
    """Quotas in the empty table."""
    return Quotas(table, clock=clock)


@pytest.fixture
def one_request_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """DynamoDB serialises the requests on an item; moto checks a condition and writes in two steps."""
    lock, send = threading.Lock(), BaseClient._make_api_call  # type: ignore[attr-defined]

    def serialised(self: BaseClient, *arguments: Any) -> Any:
        with lock:
            return send(self, *arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", serialised)
