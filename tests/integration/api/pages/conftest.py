"""Somebody with a browser, before and after signing in."""

from typing import Any

import pytest
from botocore.client import BaseClient

from tests.support.deployed_audits import agent, demo, lambdas, wheels
from tests.support.deployment import Deployment
from tests.support.pages import Visitor

__all__ = ["agent", "demo", "lambdas", "reads", "stranger", "visitor", "wheels"]


@pytest.fixture
def stranger(deployment: Deployment) -> Visitor:
    """Somebody who is not signed in."""
    return Visitor()


@pytest.fixture
def visitor(deployment: Deployment) -> Visitor:
    """A member of the tenant acme, signed in."""
    someone = Visitor()
    assert someone.sign_in(deployment.token("acme")).response.status == 200
    return someone


@pytest.fixture
def reads(aws: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls of AWS so far, by their names; a test clears it before what it counts."""
    made: list[str] = []
    send = BaseClient._make_api_call  # type: ignore[attr-defined]

    def counted(self: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        made.append(operation)
        return send(self, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", counted)
    return made
