"""A person in front of the pages, in the process: keeps cookies, follows links and sends forms, as a browser does."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from tests.support.api import Api, Response
from tests.support.deployment import Deployment
from touchstone.records import Role

FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class Form:
    """A form of a page: where it goes, and the fields that stand in it."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class Page(HTMLParser):
    """What is on a page: its text, its links, its forms, and every element."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self._words: list[str] = []
        self.feed(response.body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.elements.append((tag, found))
        match tag:
            case "a":
                self.links.append(found.get("href", ""))
            case "form":
                self.forms.append(Form(found.get("action", ""), found.get("method", "get")))
            case "input" | "textarea" if self.forms and "name" in found:
                self.forms[-1].fields[found["name"]] = found.get("value", "")

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    @property
    def text(self) -> str:
        """What can be read."""
        return " ".join(" ".join(self._words).split())


@dataclass(slots=True)
class Visitor:
    """Somebody with a browser."""

    cookies: dict[str, str] = field(default_factory=dict)
    at: str = "/"
    headers: dict[str, str] = field(default_factory=dict)

    def open(self, address: str, **query: Any) -> Page:
        """Go to an address, relative to where one is."""
        target = urlsplit(urljoin(self.at, address))
        asked = {**dict(parse_qsl(target.query)), **query}
        return self._go("GET", target.path, query=asked)

    def sign_in(self, token: str, *, at: str = "/") -> Page:
        """Open a page and sign in on it."""
        form = self.open(at).forms[-1]
        return self.send(form, token=token)

    def send(self, form: Form, **filled: str) -> Page:
        """Fill a form and send it; follows to where it leads."""
        page = self._go("POST", urljoin(self.at, form.action), fields={**form.fields, **filled})
        if page.response.status == 303:
            return self.open(page.response.headers["location"])
        return page

    def _go(
        self, method: str, path: str, *, query: dict[str, Any] | None = None, fields: dict[str, str] | None = None
    ) -> Page:
        sent = {"accept-language": "en", "x-forwarded-proto": "https", **self.headers}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if fields is not None:
            sent |= {
                "content-type": "application/x-www-form-urlencoded",
                "sec-fetch-site": "same-origin",
            } | self.headers
        body = None if fields is None else urlencode(fields)
        response = Api().call(method, path, body, query=query, headers=sent)
        for cookie in response.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        self.at = path
        if response.status == 303:
            return self.open(response.headers["location"])
        return Page(response)


def verified(caller: Api, problem: str, answer: str) -> str:
    said = caller.post("/v1/verifications", {"problem": problem, "answer": answer, "subject": "math"})
    assert said.status == 201
    answer_id: str = said.json["id"]
    return answer_id


def labelling(page: Page) -> Form:
    return next(form for form in page.forms if form.action.endswith("/label"))


def signed_in(deployment: Deployment, tenant: str = "acme", role: Role = "member") -> Visitor:
    someone = Visitor()
    assert someone.sign_in(deployment.token(tenant, role)).response.status == 200
    return someone


def rows(page: Page, table: str) -> list[dict[str, Any]]:
    """The rows of one table of a page that was opened as JSON."""
    return list(page.response.json[table]["rows"])
