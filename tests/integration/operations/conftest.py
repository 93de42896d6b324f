"""What operations work with: stores in moto, judges in memory, one clock that is moved by hand."""

from typing import TYPE_CHECKING

import pytest

from tests.support import replies
from tests.support.house import House, build

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def house(table: "Table") -> House:
    """The stores, empty; the judges evaluate whatever they are shown."""
    return build(table, {"evaluate": [replies.evaluate()]})
