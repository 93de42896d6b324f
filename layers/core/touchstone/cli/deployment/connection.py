"""The address and token of the deployment that the command talks to, from the environment or `touchstone login`."""

import ipaddress
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from touchstone.cli.terminal.places import config_folder, read_document, write_private
from touchstone.errors import InputError, SettingsError

URL_VARIABLE = "TOUCHSTONE_API_URL"
TOKEN_VARIABLE = "TOUCHSTONE_TOKEN"  # noqa: S105 - the name of a variable that holds a token
READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
MAX_TOKEN_CHARS = 512
"""Longer than any token: a longer text was pasted by mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Address and token of a deployment's API. The token is a secret: it is sent to this address and shown nowhere."""

    url: str
    token: str = field(repr=False)


def connection(*, or_local: bool = False) -> Connection:
    """The deployment to talk to; variables go before what was stored. `or_local`: the command can do without.

    A stored token is sent only to the address with which it was stored. Raises `SettingsError` if the address or the
    token is missing, or if others can read the stored one, and `InputError` if either is malformed.
    """
    url = os.environ.get(URL_VARIABLE, "").strip()
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if url and token:
        return Connection(url=checked_url(url), token=checked_token(token))
    stored = _stored()
    if stored is None and not url:
        without = " With --local the command needs none." if or_local else ""
        raise SettingsError(
            f"No deployment is known: set {URL_VARIABLE} and {TOKEN_VARIABLE}, or run `touchstone login URL`.{without}"
        )
    if stored is None or (url and not token and checked_url(url) != stored.url):
        raise SettingsError(f"No token for {url}: set {TOKEN_VARIABLE}, or run `touchstone login {url}`.")
    return Connection(
        url=checked_url(url) if url else stored.url, token=checked_token(token) if token else stored.token
    )


def checked_url(url: str) -> str:
    """The address without a trailing slash.

    Raises `InputError` if it is no address, or if it begins with http and is not this machine: others could read along.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port  # raises for a port that is none
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or parts.username is not None or not url.isprintable():
        raise InputError(
            "The API's address must look like https://abc123.execute-api.eu-central-1.amazonaws.com.", where="url"
        )
    if parts.scheme == "http" and not is_this_machine(host):
        raise InputError(
            "The API's address must begin with https://: over http, others could read the token.", where="url"
        )
    return url.rstrip("/")


def checked_token(token: str) -> str:
    """The token unchanged. Raises `InputError` if it cannot be a token; the error does not repeat the text."""
    if not token or len(token) > MAX_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("The token is not one: it begins with ts_ and holds no spaces.", where="token")
    return token


def store(found: Connection) -> Path:
    """Store an address and its token for later commands, in a file that only the user can read. Return its path.

    Raises `StoreError`.
    """
    path = _path()
    write_private(path, {"url": found.url, "token": found.token})
    return path


def forget() -> bool:
    """Delete the stored address and token. Return whether there were any."""
    existed = _path().exists()
    _path().unlink(missing_ok=True)
    return existed


def _stored() -> Connection | None:
    path = _path()
    kept = read_document(path)
    if kept is None:
        return None
    if path.stat().st_mode & READABLE_BY_OTHERS:
        raise SettingsError(
            f"Others can read the token in {path}: run `chmod 600 {path}`, and have the token replaced."
        )
    return Connection(url=checked_url(str(kept.get("url", ""))), token=checked_token(str(kept.get("token", ""))))


def _path() -> Path:
    return config_folder() / "credentials.json"


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
