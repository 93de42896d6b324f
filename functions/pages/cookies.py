"""The cookies of the pages: their names, and which of a request's are looked at."""

from collections.abc import Mapping
from typing import Any

SESSION, LANGUAGE, THEME = "touchstone_session", "touchstone_language", "touchstone_theme"
"""Who is signed in, and what they chose."""
OF_THIS_HOST = "__Host-"
"""Before a cookie's name: a browser takes it from this very host over a secure connection alone, and for all its paths
(RFC 6265bis, 4.1.3.2), so that no sibling domain can plant one. It holds wherever the connection is secure, also where
a stage or a path stands in front, since our cookies are for `/` everywhere."""


def session_cookie(*, secure: bool) -> str:
    """The name of the cookie that says who is signed in, the only one that is looked at.

    A browser takes none of this host alone over a connection that is not secure, as on a laptop.
    """
    return f"{OF_THIS_HOST}{SESSION}" if secure else SESSION


def cookies_of(event: Mapping[str, Any]) -> dict[str, str]:
    """The cookies of a request. API Gateway takes them out of the headers; not every gateway does.

    Only spaces and tabs are taken off a name: a browser knows no other blank, and lets anybody plant a cookie that has
    one in front of `__Host-`.
    """
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    pairs = [*(event.get("cookies") or ()), *str(headers.get("cookie", "")).split(";")]
    named = ((name.strip(" \t"), value.strip(" \t")) for name, _, value in (pair.partition("=") for pair in pairs))
    return {name: value for name, value in named if name}
