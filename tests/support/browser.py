"""A person's browser before the deployed pages, and a tenant with something to see."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

from tests.support.callers import Caller

SCREENSHOTS_VARIABLE = "TOUCHSTONE_SCREENSHOTS"
"""A folder in which a picture of each page is kept, where it is set."""
FLAGS = (
    "--no-sandbox",  # CI runs as root, where Chromium's own cannot be had
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""With what Chromium is started."""
type Opened = Callable[..., "Seen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class School:
    """A tenant, and the ids of what it has."""

    caller: Caller
    measurement: str
    quiz: str
    experiment: str
    contest: str
    audit: str


class Seen:
    """A person's browser: what they open, and whatever the browser complains of or asks elsewhere."""

    def __init__(self, context: BrowserContext, root: str) -> None:
        self.page: Page = context.new_page()
        self.root = root
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address: str = "") -> Page:
        """Open a page below the first one."""
        self.page.goto(self.root + address)
        return self.page

    def sign_in(self, token: str, address: str = "") -> Page:
        """Sign in on the way to a page."""
        self.open(address)
        self.page.get_by_label(re.compile("Token|令牌")).fill(token)
        self.page.locator("main form button").click()
        return self.page

    def keep(self, name: str) -> None:
        """Keep a picture of the page, where pictures are wanted."""
        folder = os.environ.get(SCREENSHOTS_VARIABLE)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
