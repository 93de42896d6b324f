"""Tokens and tenants: shown once, stored hashed, ended for good."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.support.records import START, HandClock
from tests.support.store_faults import refusing
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError, UnauthenticatedError
from touchstone.records import Identity, Role, Tenants, Tokens, new_ulid

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def tenants(table: "Table", clock: HandClock) -> Tenants:
    tenants = Tenants(table, clock=clock)
    tenants.create(tenant="acme", name="Acme School")
    tenants.create(tenant="rival", name="Rival School")
    return tenants


@pytest.fixture
def tokens(table: "Table", tenants: Tenants, clock: HandClock) -> Tokens:
    return Tokens(table, clock=clock)


@pytest.mark.parametrize("role", ["admin", "member", "reader"])
def test_a_token_says_who_it_belongs_to(tokens: Tokens, role: Role) -> None:
    token, info = tokens.issue(tenant="acme", role=role, name="ci")
    assert tokens.resolve(token) == Identity(tenant="acme", role=role, token_id=info.id)
    assert tokens.list("acme") == (info,)
    assert tokens.list("rival") == ()


def test_names_are_told_of_a_tenant_s_own_tokens_revoked_ones_too(tokens: Tokens) -> None:
    (_, kept), (_, ended), (_, theirs) = (
        tokens.issue(tenant=tenant, role="member", name=name)
        for tenant, name in (("acme", "ci"), ("acme", "old"), ("rival", "theirs"))
    )
    tokens.revoke(tenant="acme", token_id=ended.id)
    ids = [kept.id, ended.id, theirs.id, new_ulid(START), "ann"]
    assert tokens.names_of(tenant="acme", ids=ids) == {kept.id: "ci", ended.id: "old"}
    assert tokens.names_of(tenant="acme", ids=()) == {}


def test_tokens_are_random_and_only_their_hash_is_stored(tokens: Tokens, table: "Table") -> None:
    issued = [tokens.issue(tenant="acme", role="member", name="ci")[0] for _ in range(20)]
    assert len(set(issued)) == 20
    assert all(token.startswith("ts_") and len(token) == 46 for token in issued)
    stored = json.dumps(table.scan()["Items"], default=str)
    assert not any(token.removeprefix("ts_") in stored for token in issued)


@pytest.mark.parametrize(
    "token", ["", "ts_", "ts_" + "A" * 43, "xx_" + "A" * 43, "ts_" + "A" * 44, "ts_" + "é" * 43, "ts_#\x00" * 99]
)
def test_what_is_no_token_is_refused_in_the_same_words(tokens: Tokens, token: str) -> None:
    revoked, info = tokens.issue(tenant="acme", role="admin", name="old")
    tokens.revoke(tenant="acme", token_id=info.id)
    with pytest.raises(UnauthenticatedError) as ended:
        tokens.resolve(revoked)
    with pytest.raises(UnauthenticatedError) as garbled:
        tokens.resolve(token)
    assert str(ended.value) == str(garbled.value)


def test_a_token_ends_at_its_time_whether_or_not_the_table_has_cleared_it(tokens: Tokens, clock: HandClock) -> None:
    token, info = tokens.issue(tenant="acme", role="admin", name="trial", expires_at=START + timedelta(hours=1))
    clock.advance(minutes=59, seconds=59)
    assert tokens.resolve(token).tenant == "acme"
    clock.advance(seconds=1)
    with pytest.raises(UnauthenticatedError):
        tokens.resolve(token)
    assert tokens.list("acme") == (info,)


def test_a_token_that_has_ended_before_it_begins_is_refused(tokens: Tokens) -> None:
    with pytest.raises(InputError):
        tokens.issue(tenant="acme", role="admin", name="late", expires_at=START)


def test_a_revoked_token_ends_at_once_and_stays_listed(tokens: Tokens, clock: HandClock) -> None:
    token, info = tokens.issue(tenant="acme", role="admin", name="ci")
    clock.advance(days=1)
    revoked = tokens.revoke(tenant="acme", token_id=info.id)
    assert revoked.revoked_at == clock()
    with pytest.raises(UnauthenticatedError):
        tokens.resolve(token)
    clock.advance(days=1)
    assert tokens.revoke(tenant="acme", token_id=info.id) == revoked
    assert tokens.list("acme") == (revoked,)


@pytest.mark.parametrize("token_id", ["", "nonsense", pytest.param(new_ulid(START), id="nobody's")])
def test_what_is_not_there_cannot_be_revoked(tokens: Tokens, token_id: str) -> None:
    with pytest.raises(NotFoundError):
        tokens.revoke(tenant="acme", token_id=token_id)


def test_another_tenants_token_cannot_be_revoked(tokens: Tokens) -> None:
    token, info = tokens.issue(tenant="acme", role="admin", name="ci")
    with pytest.raises(NotFoundError):
        tokens.revoke(tenant="rival", token_id=info.id)
    assert tokens.resolve(token).tenant == "acme"


def test_a_store_that_fails_is_not_a_bad_token(tokens: Tokens, table: "Table") -> None:
    token, _ = tokens.issue(tenant="acme", role="admin", name="ci")
    with refusing(table.meta.client, "GetItem", "InternalServerError"), pytest.raises(StoreError):
        tokens.resolve(token)


def test_no_token_without_a_tenant(tokens: Tokens, table: "Table") -> None:
    before = table.scan()["Count"]
    with pytest.raises(NotFoundError):
        tokens.issue(tenant="nobody", role="admin", name="ci")
    assert table.scan()["Count"] == before


def test_tenants_are_created_once(tenants: Tenants) -> None:
    assert tenants.get("acme").name == "Acme School"
    with pytest.raises(ConflictError):
        tenants.create(tenant="acme", name="Another")
    with pytest.raises(InputError):
        tenants.create(tenant="Acme!", name="Another")
    with pytest.raises(NotFoundError):
        tenants.get("nobody")
    assert tenants.get("acme").created_at == START
    assert tenants.ids() == ("acme", "rival")
