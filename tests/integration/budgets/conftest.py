"""What the tests of the budgets share."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

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
