"""A person's browser before the deployed pages, and a tenant with something to see."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support.callers import Caller
from tests.support.served import served

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
PATIENCE_MS = 120_000
"""How long a person waits for what a page is to show: on a busy machine a page may take many seconds."""
type Opened = Callable[..., "Seen"]
type Browsing = Callable[[], AbstractContextManager[Opened]]


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
        self.page.set_default_timeout(PATIENCE_MS)
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
        with self.page.expect_navigation():
            self.page.locator("main form button").click()
        return self.page

    def keep(self, name: str) -> None:
        """Keep a picture of the page, where pictures are wanted."""
        folder = os.environ.get(SCREENSHOTS_VARIABLE)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@contextmanager
def started(chromium: str) -> Iterator[Browser]:
    """The browser at a path. No loop of asyncio can be run in the thread meanwhile: its own one is."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opening(browser: Browser, root: str) -> Iterator[Opened]:
    """Opens the pages at an address; in the end, nothing was complained of and no other host was asked."""
    contexts: list[BrowserContext] = []
    people: list[Seen] = []

    def start(*, language: str = "en-US", width: int = 1200, dark: bool = False, script: bool = True) -> Seen:
        context = browser.new_context(
            locale=language,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        people.append(Seen(context, root))
        return people[-1]

    yield start
    for context in contexts:
        context.close()
    assert [said for person in people for said in person.complaints] == []
    assert [url for person in people for url in person.asked if not url.startswith((root, "data:"))] == []


@contextmanager
def browsing(chromium: str) -> Iterator[Opened]:
    """Opens the pages of the deployment in this process, as `opening` does."""
    with served() as url, started(chromium) as browser, opening(browser, f"{url}/") as opened:
        yield opened


def set_aside(config: pytest.Config, items: list[pytest.Item], folder: Path) -> None:
    """Leave the tests of a folder out, where there is no browser."""
    ours = [item for item in items if folder in item.path.parents]
    config.hook.pytest_deselected(items=ours)
    items[:] = [item for item in items if folder not in item.path.parents]
