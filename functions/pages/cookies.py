"""The cookies of the pages: their names, and how they are read from a request."""

from collections.abc import Mapping
from typing import Any

SESSION, LANGUAGE, THEME = "touchstone_session", "touchstone_language", "touchstone_theme"
"""The names of the cookies that say who is signed in, and which language and theme they chose."""
OF_THIS_HOST = "__Host-"
"""The prefix of a cookie's name with which a browser accepts it only from this very host, over a secure connection and
for all paths (RFC 6265bis, 4.1.3.2), so that no sibling domain can plant one. It works on every secure connection, even
if a stage or a path stands in front, since our cookies are always for `/`."""


def session_cookie(*, secure: bool) -> str:
    """The name of the cookie that says who is signed in; no other name is read.

    Over an insecure connection, as on a laptop, a browser accepts no cookie with the prefix `__Host-`.
    """
    return f"{OF_THIS_HOST}{SESSION}" if secure else SESSION


def cookies_of(event: Mapping[str, Any]) -> dict[str, str]:
    """The cookies of a request, by name. API Gateway takes them out of the headers; not every gateway does.

    Only spaces and tabs are stripped from a name. A browser knows no other blank, and lets anybody plant a cookie with
    another blank in front of `__Host-`: stripped, it would pass for one of ours.
    """
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    pairs = [*(event.get("cookies") or ()), *str(headers.get("cookie", "")).split(";")]
    named = ((name.strip(" \t"), value.strip(" \t")) for name, _, value in (pair.partition("=") for pair in pairs))
    return {name: value for name, value in named if name}
