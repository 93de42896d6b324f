"""Bearer tokens: each is shown once, is stored only as its hash, and has one tenant and one role."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from touchstone.aws import ConditionFailedError, read_many
from touchstone.errors import ConflictError, InputError, NotFoundError, UnauthenticatedError
from touchstone.records.keys import LEAVING, Key, of_tenant, profile_key
from touchstone.records.table import Action, Item, OfTable, partition, read, transact
from touchstone.records.ulids import is_ulid, new_ulid

type Role = Literal["admin", "member", "reader"]

PREFIX = "ts_"
"""The prefix of a token, by which people and scanners for leaked secrets recognise it."""
_SECRET_BYTES = 32
_WRITTEN = re.compile(r"ts_[A-Za-z0-9_-]{43}")
_MAY_HAVE_TOKENS = f"attribute_exists(pk) AND attribute_not_exists({LEAVING})"
_REFUSAL = "The token is missing or not valid; ask an admin of your tenant for a new one."
"""The same words whatever is wrong with a token, so that nobody can learn anything by trying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The sender of a request."""

    tenant: str
    role: Role
    token_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """A token as it is listed, without the token itself. `expires_at` None: never; `revoked_at` None: not revoked."""

    id: str
    tenant: str
    role: Role
    name: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class Tokens(OfTable):
    """The tokens of all tenants. Raises `StoreError` if the store fails."""

    def issue(self, *, tenant: str, role: Role, name: str, expires_at: datetime | None = None) -> tuple[str, TokenInfo]:
        """Make a token. Return it and its entry in the list; the token cannot be shown again.

        Raises `NotFoundError` if there is no such tenant, `ConflictError` if it is being deleted, `InputError` for an
        end that has passed.
        """
        now = self._clock()
        if expires_at is not None and expires_at <= now:
            raise InputError("A token's end must lie in the future.", where="expires_at")
        token = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        info = TokenInfo(
            id=new_ulid(now),
            tenant=tenant,
            role=role,
            name=name,
            created_at=now,
            expires_at=expires_at,
            revoked_at=None,
        )
        digest = _digest(token)
        listed = {**_listed_key(tenant, info.id), **_item_of(info), "digest": digest}
        looked_up: Item = {**_lookup_key(digest), "tenant": tenant, "role": role, "token_id": info.id}
        if expires_at is not None:
            # The table's TTL removes the item some time after its end; `valid_until` decides.
            looked_up |= {"valid_until": expires_at.isoformat(), "expires_at": int(expires_at.timestamp())}
        actions: list[Action] = [
            {"ConditionCheck": {"Key": profile_key(tenant), "ConditionExpression": _MAY_HAVE_TOKENS}},
            {"Put": {"Item": listed}},
            {"Put": {"Item": looked_up}},
        ]
        try:
            transact(self._table, actions, "issue the token")
        except ConditionFailedError:
            if read(self._table, profile_key(tenant), "the tenant") is None:
                raise NotFoundError(f"There is no tenant {tenant}.") from None
            raise ConflictError(f"The tenant {tenant} is being deleted and gets no token any more.") from None
        return token, info

    def resolve(self, token: str) -> Identity:
        """The identity behind a token. Raises `UnauthenticatedError`, always in the same words."""
        if _WRITTEN.fullmatch(token) is None:
            raise UnauthenticatedError(_REFUSAL)
        item = read(self._table, _lookup_key(_digest(token)), "the token")
        if item is None or _passed(item, self._clock()):
            raise UnauthenticatedError(_REFUSAL)
        return Identity(tenant=item["tenant"], role=item["role"], token_id=item["token_id"])

    def holds(self, identity: Identity) -> bool:
        """Whether the token behind an identity is still valid: neither revoked nor past its end."""
        item = read(self._table, _listed_key(identity.tenant, identity.token_id), "the token")
        return item is not None and "revoked_at" not in item and not _passed(item, self._clock())

    def names_of(self, *, tenant: str, ids: Iterable[str]) -> dict[str, str]:
        """The names of a tenant's tokens with these ids, also of revoked tokens; a token that is gone is left out."""
        keys = [_listed_key(tenant, each) for each in ids if is_ulid(each)]
        return {item["token_id"]: _info_of(item).name for item in read_many(self._table, keys, "the tokens")}

    def list(self, tenant: str) -> tuple[TokenInfo, ...]:
        """A tenant's tokens, oldest first, revoked and expired ones included."""
        return tuple(map(_info_of, self._listed(tenant)))

    def remove_all(self, tenant: str) -> int:
        """Remove every token of a tenant, so that nobody gets in any more. Return how many there were."""
        removed = 0
        for item in self._listed(tenant):
            keys: tuple[Key, ...] = (_lookup_key(item["digest"]), _listed_key(tenant, item["token_id"]))
            transact(self._table, [{"Delete": {"Key": key}} for key in keys], "remove the token")
            removed += 1
        return removed

    def revoke(self, *, tenant: str, token_id: str) -> TokenInfo:
        """Revoke a token now; a repeat changes nothing. Raises `NotFoundError` if this tenant has no such token."""
        key = _listed_key(tenant, token_id)
        item = read(self._table, key, "the token")
        if item is None:
            raise _missing()
        if "revoked_at" in item:
            return _info_of(item)
        moment = self._clock().isoformat()
        mark = {
            "Key": key,
            "UpdateExpression": "SET revoked_at = if_not_exists(revoked_at, :now)",
            "ExpressionAttributeValues": {":now": moment},
        }
        transact(self._table, [{"Update": mark}, {"Delete": {"Key": _lookup_key(item["digest"])}}], "revoke the token")
        return _info_of({**item, "revoked_at": moment})

    def _listed(self, tenant: str) -> Iterator[Item]:
        return partition(self._table, "the tokens", of_tenant(tenant), begins="TOKEN#")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _lookup_key(digest: str) -> Key:
    return {"pk": f"TOKEN#{digest}", "sk": "TOKEN"}


def _listed_key(tenant: str, token_id: str) -> Key:
    if not is_ulid(token_id):
        raise _missing()
    return {"pk": of_tenant(tenant), "sk": f"TOKEN#{token_id}"}


def _missing() -> NotFoundError:
    return NotFoundError("There is no token with this id.")


def _passed(item: Item, now: datetime) -> bool:
    return "valid_until" in item and datetime.fromisoformat(item["valid_until"]) <= now


def _item_of(info: TokenInfo) -> Item:
    item: Item = {
        "token_id": info.id,
        "tenant": info.tenant,
        "role": info.role,
        "name": info.name,
        "created_at": info.created_at.isoformat(),
    }
    return item if info.expires_at is None else item | {"valid_until": info.expires_at.isoformat()}


def _info_of(item: Item) -> TokenInfo:
    return TokenInfo(
        id=item["token_id"],
        tenant=item["tenant"],
        role=item["role"],
        name=item["name"],
        created_at=datetime.fromisoformat(item["created_at"]),
        expires_at=_moment(item, "valid_until"),
        revoked_at=_moment(item, "revoked_at"),
    )


def _moment(item: Item, name: str) -> datetime | None:
    return datetime.fromisoformat(item[name]) if name in item else None
