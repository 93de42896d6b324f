"""A deployment's tasks: stores in moto, judges that follow opinions, one clock that is moved by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.support.deaths import DiedError, Dying
from tests.support.market import Market
from tests.support.opinions import Opinions
from tests.support.records import HandClock
from touchstone.records import (
    Artifacts,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Dying:
    """A place at which a process dies."""

    def die(*_: object, **__: object) -> None:
        raise DiedError

    @contextmanager
    def within(kind: Any, method: str) -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(kind, method, die)
            try:
                yield
            except DiedError:
                return
            raise AssertionError(f"{kind.__name__}.{method} was not called")

    return within


@pytest.fixture
def market(table: "Table") -> Market:
    """No tasks yet; judges have no bad word for anybody."""
    s3 = boto3.client("s3", region_name="us-east-1")
    for bucket in ("artifacts", "scratch"):
        s3.create_bucket(Bucket=bucket)
    opinions = Opinions()
    return Market(
        table=table,
        clock=HandClock(),
        artifacts=Artifacts(lambda: s3, "artifacts"),
        scratch=Artifacts(lambda: s3, "scratch"),
        opinions=opinions,
        script=opinions.script(),
    )
