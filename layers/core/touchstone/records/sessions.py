"""Sessions of people in a browser: begun with a token, stored only as a hash, and over when the token is."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.aws import Table
from touchstone.clock import Clock, system_clock
from touchstone.errors import UnauthenticatedError
from touchstone.records.keys import Key, listed_by_key
from touchstone.records.table import Action, read, transact
from touchstone.records.tokens import Identity, Tokens

LASTS = timedelta(hours=12)
"""How long a session lasts. A working day: a person who signs in in the morning is not asked again before the
evening."""
_SECRET_BYTES = 32
_WRITTEN = re.compile(r"[A-Za-z0-9_-]{43}")
_REFUSAL = "Sign in with a token to see this."


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A person who is signed in. `form_mark` stands in every form of this session and in no other (hexadecimal)."""

    identity: Identity
    form_mark: str


class Sessions:
    """The sessions of all tenants. Raises `StoreError` if the store fails."""

    def __init__(self, table: Table, *, clock: Clock = system_clock) -> None:
        self._table = table
        self._clock = clock
        self._tokens = Tokens(table, clock=clock)

    def begin(self, token: str, *, instead_of: str = "") -> tuple[str, datetime]:
        """Begin a session for the holder of `token`. Return its secret, which cannot be read again, and its end (UTC).

        The session whose secret is `instead_of` ends at the same moment, whoever it belongs to; empty: there was none.
        Raises `UnauthenticatedError` if `token` is not valid, always in the same words.
        """
        identity = self._tokens.resolve(token)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        ends = self._clock() + LASTS
        key = _key(secret)
        item = {
            **key,
            **listed_by_key(identity.tenant, key),
            "tenant": identity.tenant,
            "role": identity.role,
            "token_id": identity.token_id,
            "valid_until": ends.isoformat(),
            "expires_at": int(ends.timestamp()),
        }
        actions: list[Action] = [{"Put": {"Item": item}}, *_ending(instead_of)]
        transact(self._table, actions, "begin the session")
        return secret, ends

    def resolve(self, secret: str) -> Session:
        """The session of a secret. Raises `UnauthenticatedError` if there is none, or if it or its token is over."""
        if _WRITTEN.fullmatch(secret) is None:
            raise UnauthenticatedError(_REFUSAL)
        item = read(self._table, _key(secret), "the session")
        if item is None or datetime.fromisoformat(item["valid_until"]) <= self._clock():
            raise UnauthenticatedError(_REFUSAL)
        identity = Identity(tenant=item["tenant"], role=item["role"], token_id=item["token_id"])
        if not self._tokens.holds(identity):
            raise UnauthenticatedError(_REFUSAL)
        return Session(identity=identity, form_mark=form_mark(secret))

    def end(self, secret: str) -> None:
        """End a session now; nothing happens if there is none."""
        if actions := _ending(secret):
            transact(self._table, actions, "end the session")


def _ending(secret: str) -> list[Action]:
    return [] if _WRITTEN.fullmatch(secret) is None else [{"Delete": {"Key": _key(secret)}}]


def form_mark(secret: str) -> str:
    """The mark in the forms of a session. It follows from the secret, and the secret does not follow from it."""
    return hmac.new(secret.encode(), b"forms", hashlib.sha256).hexdigest()


def _key(secret: str) -> Key:
    return {"pk": f"SESSION#{hashlib.sha256(secret.encode()).hexdigest()}", "sk": "SESSION"}
