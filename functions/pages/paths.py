"""The paths of the pages, and the relative addresses by which one page leads to another."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

ROOT = "/"
BELOW = "/app/"
"""Every page except the first is below this path, so that no page and no route of the API have the same address."""


def home(path: str) -> str:
    """The relative address of the first page, from the page at `path`. It ends in a slash.

    Links are relative, since a stage or a local cloud may put a path in front that no function knows.
    """
    return "../" * (path.count("/") - 1) or "./"


def sign_in(path: str, following: str, *, refused: bool = False) -> str:
    """The relative address of the sign-in page, from the page at `path`. After signing in it leads to `following`."""
    asked = ({"next": following} if following else {}) | ({"refused": "1"} if refused else {})
    return f"{home(path)}app/sign-in" + (f"?{urlencode(asked)}" if asked else "")


def address(path: str, query: Mapping[str, str] | None = None) -> str:
    """The address, relative to the first page, of the page at `path` with this query.

    A gateway has decoded everything in `path` except the percent sign, so it is encoded again here.
    """
    return quote(path.lstrip("/"), safe="/%:@!$&'()*+,;=~") + (f"?{urlencode(query)}" if query else "")


def safe_next(asked: str) -> str:
    """The address to go to after signing in: `asked` if it is a page of ours below the first one, else the first page.

    The first page is "".
    """
    path = asked.partition("?")[0]
    inside = asked.isascii() and path.startswith("app/") and ".." not in path and "//" not in path
    return asked if inside and "\\" not in asked and asked.isprintable() else ""
