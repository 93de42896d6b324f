"""One request for a page: who asks, in which language, and in which form the page is given."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import parse_qsl, urlencode

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.shared.cookies import Cookie, SameSite

from functions.api.requests import ALLOWED
from functions.composition.stores import sessions, tokens
from functions.pages import paths, rendering
from functions.pages.charts import Chart
from functions.pages.tables import PageTable, as_csv, as_json, cut
from functions.pages.words import Language, PageTexts, language_for, words
from touchstone.errors import ForbiddenError, InputError
from touchstone.json_places import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from touchstone.records import Identity, Role
    from touchstone.records.sessions import Session

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


type Theme = Literal["auto", "light", "dark"]
type Format = Literal["html", "csv", "json"]
type Page = Response[str]

CHOSEN_LANGUAGE = "lang"
"""The field of an address that chooses the language of the pages. The field `language` filters a list's records."""
FOR, SPREADSHEET = "for", "spreadsheet"
"""The field of an address, and its value, that asks for a CSV with a byte order mark. Without the mark Excel reads
Chinese as Latin letters; a program that does not expect it would read it as a part of the first heading."""
CHOICE_SECONDS = 365 * 24 * 3600
PLACES = (
    ("", "overview.title"),
    ("app/answers", "answers.title"),
    ("app/measurements", "measurements.title"),
    ("app/quizzes", "quizzes.title"),
    ("app/rates", "rates.title"),
    ("app/trends", "trends.title"),
    ("app/quotas", "quotas.title"),
    ("app/experiments", "experiments.title"),
    ("app/tasks", "tasks.title"),
    ("app/audits", "audits.title"),
    ("app/judges", "judges.title"),
    ("app/labelling", "labelling.title"),
)
"""The entries of the navigation in order: the address of a page, and the key of its name."""
MAX_FORM_BYTES = 20_000
ABOUT_CHARS = 60
"""The most characters of a record's name in a title: a tab shows fewer, and a screen reader says them all."""
MARK_FIELD = "form_mark"


router = Router()
"""The routes of all pages. It holds the current request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """The content of a page: a template, its tables and charts, and the other values that the template needs.

    `facts` are tables of the values that the template shows in another form; CSV and JSON get them as tables. `about`
    names the record of the page in the title of its window or tab, so that two of a kind are told apart there.
    """

    title: str
    about: str = ""
    template: str = "listing.html"
    tables: Sequence[PageTable] = ()
    facts: Sequence[PageTable] = ()
    charts: Sequence[Chart] = ()
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request. `session` is None if nobody is signed in, or if a program asks with a token (see `identity`)."""

    path: str
    query: Mapping[str, str]
    language: Language
    theme: Theme
    secure: bool
    identity: Identity | None = None
    session: Session | None = None

    @property
    def words(self) -> PageTexts:
        """The texts in the language of this visit."""
        return words(self.language)

    @property
    def home(self) -> str:
        """The relative address of the first page."""
        return paths.home(self.path)

    @property
    def places(self) -> Sequence[tuple[str, str]]:
        """The entries of the navigation."""
        return PLACES

    def is_at(self, address: str) -> bool:
        """Whether this page is the one at `address`, or one below it."""
        here = self.path.lstrip("/")
        return here == address or (address != "" and here.startswith(f"{address}/"))

    @property
    def format(self) -> Format:
        """The form in which the page is wanted. Raises `InputError` for an unknown form."""
        match self.query.get("format", "html"):
            case "html" | "csv" | "json" as known:
                return known
            case _:
                raise InputError("A page can be had as html, csv or json.", where="format")

    @property
    def tenant(self) -> str:
        """The tenant whose records are shown. Raises `TypeError` for a stranger's visit."""
        return self._let_in.tenant

    @property
    def token_id(self) -> str:
        """The id of the token behind the visit. Raises `TypeError` for a stranger's visit."""
        return self._let_in.token_id

    @property
    def _let_in(self) -> Identity:
        if self.identity is None:
            raise TypeError("Nobody was let in")
        return self.identity

    @property
    def session_cookie(self) -> str:
        """The name of the cookie that says who is signed in."""
        return session_cookie(secure=self.secure)

    def trace_at(self, record_id: str, *, asked: bool) -> str | None:
        """The address of a record's trace; None if no judge was `asked`, or if this visitor may not read traces."""
        return f"{self.home}app/traces/{record_id}" if asked and self.may("admin") else None

    def may(self, role: Role) -> bool:
        """Whether the person who is signed in may send the forms that need this role. A program has no forms."""
        return self.session is not None and self.session.identity.role in ALLOWED[role]

    @property
    def form_mark(self) -> str:
        """The secret mark in every form of this session. Raises `ForbiddenError` for a program, which has no forms."""
        if self.session is None:
            raise ForbiddenError("A form is sent from a page on which you signed in; programs use the API.")
        return self.session.form_mark

    def show(self, view: PageView, *, status: HTTPStatus = HTTPStatus.OK) -> Page:
        """The page as HTML, one of its tables as CSV, or all of its tables as JSON."""
        match self.format:
            case "html":
                return self.page(view, status=status)
            case "csv":
                table = self._chosen([*view.tables, *view.facts])
                headers = {"Content-Disposition": f'attachment; filename="{table.name}.csv"'}
                if table.next is not None:  # RFC 8288: a program finds the rows after these
                    headers["Link"] = f'<{self.at(cursor=table.next)}>; rel="next"'
                text = BYTE_ORDER_MARK * (self.query.get(FOR) == SPREADSHEET) + as_csv(table)
                return _response(status, "text/csv; charset=utf-8", text, headers)
            case "json":
                return _response(status, "application/json", as_json([*view.tables, *view.facts]))

    def page(self, view: PageView, *, status: HTTPStatus = HTTPStatus.OK) -> Page:
        """The page as HTML. Cookies keep the language and theme that the address chose for the next pages."""
        text = rendering.render(
            view.template,
            self.words,
            title=self.words(view.title),
            about=cut(" ".join(view.about.split()), ABOUT_CHARS),
            tables=view.tables,
            facts=view.facts,
            charts=[chart.data for chart in view.charts],
            visit=self,
            **view.given,
        )
        answer = _response(status, "text/html; charset=utf-8", text)
        answer.cookies.extend(self._choices())
        return answer

    def at(self, **changed: str | None) -> str:
        """The relative address of this page with its query changed. Fields that are None or empty are left out."""
        kept = {**self.query, **changed}
        return "?" + urlencode({name: value for name, value in kept.items() if value})

    def cookie(self, name: str, value: str, *, seconds: int) -> Cookie:
        """A cookie that no script can read, and that a browser sends with no request from another site."""
        return Cookie(
            name, value, path="/", secure=self.secure, http_only=True, max_age=seconds, same_site=SameSite.STRICT_MODE
        )

    def _chosen(self, tables: Sequence[PageTable]) -> PageTable:
        wanted = self.query.get("table") or (tables[0].name if tables else "")
        for table in tables:
            if table.name == wanted:
                return table
        raise InputError(f"This page has the tables {', '.join(each.name for each in tables)}.", where="table")

    def _choices(self) -> list[Cookie]:
        chosen: dict[str, str] = {LANGUAGE: self.language} if CHOSEN_LANGUAGE in self.query else {}
        chosen |= {THEME: self.theme} if "theme" in self.query else {}
        return [self.cookie(name, value, seconds=CHOICE_SECONDS) for name, value in chosen.items()]


def visit(*, at_least: Role = "reader") -> Visit:
    """The visit of a person who is signed in, or of a program that sends a token as it does to the API.

    Raises `UnauthenticatedError` for anybody else, and `ForbiddenError` for a role below `at_least`.
    """
    this_visit = anonymous_visit()
    session, identity = _known(this_visit)
    if identity.role not in ALLOWED[at_least]:
        raise ForbiddenError(f"This needs the role {at_least}; you are signed in with the role {identity.role}.")
    return replace(this_visit, identity=identity, session=session)


def anonymous_visit() -> Visit:
    """The visit of the request's sender, who need not be signed in."""
    event = router.current_event
    cookies = cookies_of(event.raw_event)
    query = dict(event.query_string_parameters or {})
    theme = query.get("theme") or cookies.get(THEME)
    return Visit(
        path=event.path,
        query=query,
        language=language_for(query.get(CHOSEN_LANGUAGE) or cookies.get(LANGUAGE), _header(event, "accept-language")),
        theme=next((known for known in get_args(Theme.__value__) if known == theme), "auto"),
        secure=_header(event, "x-forwarded-proto") == "https",
    )


def form(mark: str | None) -> dict[str, str]:
    """The fields of a form that was sent from one of our pages.

    `mark` is the mark in every form of the session; None if there is no session yet. Raises `ForbiddenError` if the
    form came from elsewhere, and `InputError` if the body is not a form.
    """
    event = router.current_event
    if not _from_here(event):
        raise ForbiddenError("This form came from another site; open the page here and send it again.")
    try:
        body = event.decoded_body or ""
    except UnicodeDecodeError:  # a gateway passes any bytes on as base64
        raise InputError("A form in UTF-8 is expected.", where="body") from None
    if len(body) > MAX_FORM_BYTES or _header(event, "content-type") != "application/x-www-form-urlencoded":
        raise InputError(f"A form of at most {MAX_FORM_BYTES:,} bytes is expected.", where="body")
    fields = dict(parse_qsl(body, keep_blank_values=True))
    if mark is not None and not hmac.compare_digest(fields.get(MARK_FIELD, "").encode(), mark.encode()):
        raise ForbiddenError("This form is no longer good; open the page again and send it from there.")
    return fields


def redirect(address: str, *cookies: Cookie) -> Page:
    """A response that leads the browser to a relative address, by GET, and sets these cookies."""
    answer = _response(HTTPStatus.SEE_OTHER, "text/html; charset=utf-8", "", {"Location": address})
    answer.cookies.extend(cookies)
    return answer


def secret_of(this_visit: Visit) -> str:
    """The secret of the session that a visitor's browser sends; empty if it sends none."""
    return cookies_of(router.current_event.raw_event).get(this_visit.session_cookie, "")


def _known(this_visit: Visit) -> tuple[Session | None, Identity]:
    scheme, _, token = _header(router.current_event, "authorization").partition(" ")
    if scheme.lower() == "bearer":
        return None, tokens().resolve(token.strip())
    session = sessions().resolve(secret_of(this_visit))
    return session, session.identity


def _from_here(event: Any) -> bool:
    """Whether a request comes from one of our pages, as the browser says.

    A browser that does not say so outright (an older one, or any over an insecure connection) names the site that a
    form comes from, or "null". A request that says neither comes from a program.
    """
    said, origin = _header(event, "sec-fetch-site"), _header(event, "origin")
    if said:
        return said == "same-origin"
    return not origin or origin.partition("://")[2].lower() == _header(event, "host").lower()


def _header(event: Any, name: str, default: str = "") -> str:
    return str(event.headers.get(name) or default)


def _response(status: HTTPStatus, content_type: str, body: str, headers: Mapping[str, str] | None = None) -> Page:
    return Response(
        status_code=status.value,
        content_type=content_type,
        body=body,
        headers={**rendering.HEADERS, **(headers or {})},
        cookies=[],
    )
