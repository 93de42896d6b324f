"""Audits that are made again each week, whatever happens while the next one is begun."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from functions.audits import weekly
from functions.composition import stores
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployed_audits import RATINGS, WEEK, begun, ratings, settled
from tests.support.deployment import Context
from touchstone.audits.record import AuditRecord, followed
from touchstone.errors import StoreError
from touchstone.operations.audits import intake
from touchstone.records import WEEKLY

BEGUN, STUCK = {"begun": 1, "stuck": 0}, {"begun": 0, "stuck": 1}


def listed(demo: Api) -> list[str]:
    return [one["id"] for one in demo.get("/v1/audits").json["items"]]


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Have something happen once, just before it is kept which audit takes over."""

    def acting(*arguments: Any) -> AuditRecord:
        monkeypatch.setattr(intake, "followed", followed)
        act()
        return followed(*arguments)

    monkeypatch.setattr(intake, "followed", acting)


def test_one_that_broke_off_in_between_is_met_again_however_much_later(
    demo: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun(demo, weekly=True)

    def broken() -> None:
        raise StoreError("The store is away.")

    later(WEEK)
    meanwhile(monkeypatch, broken)
    assert weekly({}, Context()) == STUCK
    later(WEEK)
    assert weekly({}, Context()) == BEGUN
    settled()
    after = demo.get(path).json["followed_by"]
    assert sorted(listed(demo)) == sorted([path.rpartition("/")[2], after]), "no second one beside it"
    assert ratings(demo, f"/v1/audits/{after}") == RATINGS


def test_one_that_is_ended_while_the_next_is_begun_is_ended(demo: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    path = begun(demo, weekly=True)
    later(WEEK)
    meanwhile(monkeypatch, lambda: demo.call("DELETE", f"{path}/weekly"))
    assert weekly({}, Context()) == BEGUN
    view = demo.get(path).json
    assert (view["weekly"], view["followed_by"]) == (False, None)
    (after,) = set(listed(demo)) - {view["id"]}
    made = demo.get(f"/v1/audits/{after}").json
    assert (made["state"], made["weekly"], made["turns"]) == ("failed", False, 0)
    later(2 * WEEK)
    assert stores.audits().listed(WEEKLY, older_than=timedelta(0), limit=1) == ()
