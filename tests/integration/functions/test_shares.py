"""A2 through the doors: a tenant that sends without end is told `unverified`, and everyone else gets a verdict."""

from collections import Counter
from datetime import timedelta

import pytest

from functions.composition import stores
from functions.environment import environment
from tests.support import replies
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.events import TENANT
from tests.support.overrides import registry
from tests.support.providers import ProviderServer
from touchstone.budgets import next_reset
from touchstone.clock import OFFSET_VARIABLE, system_clock
from touchstone.errors import SettingsError
from touchstone.judges import load_registry

MODEL = load_registry(environ={}).model("gemini", "verify").name
PER_MINUTE = 6
SENT = 12


@pytest.fixture(autouse=True)
def _few_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quota that a test can meet."""
    models = {"models": {MODEL: {"per_day": 1000, "per_minute": PER_MINUTE}}}
    for name, value in registry(gemini=models).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def hours_before_the_reset(judged: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment of the day at which shares hold, whenever the tests run: in its last two hours the day's does not."""
    now = system_clock()
    if next_reset("gemini", now) - now < timedelta(hours=3):
        monkeypatch.setenv(OFFSET_VARIABLE, str(-timedelta(hours=6).total_seconds()))


def reasons(api: Api, *, count: int, start: int = 0) -> Counter[tuple[str, str | None]]:
    """Badges and skip reasons of so many verifications, none of which computation can decide."""
    views = [
        api.post("/v1/verifications", {"problem": f"Name the capital of country {n}.", "answer": "Canberra"}).json
        for n in range(start, start + count)
    ]
    return Counter((view["verification_status"], view["skip_reason"]) for view in views)


@pytest.mark.usefixtures("hours_before_the_reset")
def test_a2_a_tenant_that_sends_without_end_leaves_the_others_theirs(
    judged: Deployment, judges: ProviderServer
) -> None:
    judges.reply(replies.verify(), schema="VerifyReply")
    acme, rival = (Api(token=judged.token(name)) for name in ("acme", "rival"))
    assert reasons(acme, count=SENT) == {("verified", None): 3, ("unverified", "tenant_share"): SENT - 3}
    assert len(judges.calls) == 3
    assert reasons(rival, count=3) == {("verified", None): 3}
    assert reasons(rival, count=1, start=3) == {("unverified", "quota"): 1}
    assert len(judges.calls) == PER_MINUTE
    [shown] = [quota for quota in acme.get("/v1/budget").json["quotas"] if quota["tier"] == "verify"]
    assert (shown["used"], shown["left_this_minute"]) == (6, 0)
    assert shown["share"] == {"used": 3, "limit": 500, "per_minute": 3, "left_this_minute": 0}


def test_a2_one_tenant_alone_may_use_everything(judged: Deployment, judges: ProviderServer) -> None:
    alone = Api(token=judged.token(TENANT))
    assert reasons(alone, count=PER_MINUTE + 1) == {("verified", None): PER_MINUTE, ("unverified", "quota"): 1}
    [shown] = [quota for quota in alone.get("/v1/budget").json["quotas"] if quota["tier"] == "verify"]
    assert shown["share"] is None


@pytest.mark.parametrize("share", ["0", "-1", "1.5", "nan", "half"])
def test_a_share_that_cannot_be_is_named_with_its_variable(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, share: str
) -> None:
    monkeypatch.setenv("TOUCHSTONE_TENANT_SHARE", share)
    with pytest.raises(SettingsError, match=r"TOUCHSTONE_TENANT_SHARE must be"):
        environment()


def test_a_share_of_everything_binds_nobody(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_TENANT_SHARE", "1")
    for name in ("acme", "rival"):
        deployment.token(name)
    environment.cache_clear()
    assert environment().tenant_share == 1.0
    assert stores.tenants().several()
