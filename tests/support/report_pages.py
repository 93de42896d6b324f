"""A page that is written to a file, read as a browser would: nothing of it may run, or come from elsewhere."""

from html.parser import HTMLParser

NEVER = frozenset({"script", "iframe", "object", "embed", "img", "a", "b", "link", "form", "input", "base"})
"""Elements that none of our reports has."""
EMPTY = frozenset({"meta"})
"""Elements of our pages that have no end."""


class ReportPage(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
