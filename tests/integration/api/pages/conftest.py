"""Somebody with a browser, before and after signing in."""

import pytest

from tests.support.deployment import Deployment
from tests.support.pages import Visitor


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
