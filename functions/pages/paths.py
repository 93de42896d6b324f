"""Which requests are for pages, and how one page leads to another."""

from urllib.parse import quote, urlencode

ROOT = "/"
BELOW = "/app/"
"""Every page but the first is below this address, so that no page and no route of the API can share one."""


def home(path: str) -> str:
    """The relative way from the page at `path` to the first page, ending in a slash.

    Links are relative, since a stage or a local cloud may put a path in front that no function is told of.
    """
    return "../" * (path.count("/") - 1) or "./"


def sign_in(path: str, following: str, *, refused: bool = False) -> str:
    """The relative way from the page at `path` to the one to sign in on, which then goes on to `following`."""
    asked = ({"next": following} if following else {}) | ({"refused": "1"} if refused else {})
    return f"{home(path)}app/sign-in" + (f"?{urlencode(asked)}" if asked else "")


def address(path: str) -> str:
    """The address, below the first page, of the page at `path`, of which a gateway decoded all but the percent sign."""
    return quote(path.lstrip("/"), safe="/%:@!$&'()*+,;=~")


def safe_next(asked: str) -> str:
    """Where to go after signing in: `asked` where it is a page of ours below the first one, else the first page."""
    inside = asked.isascii() and asked.startswith("app/") and ".." not in asked and "//" not in asked
    return asked if inside and "\\" not in asked and asked.isprintable() else ""
