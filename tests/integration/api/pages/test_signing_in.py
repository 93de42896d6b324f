"""Signing in and out: who may see a page, how long, and what a browser is told to allow it."""

import base64
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode

import pytest

from functions.composition.stores import table, tokens
from functions.pages.paths import safe_next
from functions.pages.rendering import ASSETS, asset, version
from functions.pages.site import answer
from functions.pages.visit import OF_THIS_HOST, PLACES, SESSION, cookies_of
from tests.support.api import Api
from tests.support.deployment import Context, Deployment
from tests.support.pages import FORM, Visitor
from tests.support.sinks import SaidAloud
from touchstone.clock import system_clock

STARTS = tuple(f"/{address}" for address, _ in PLACES)
PAGES = (*STARTS, "/app/answers/01JD7Z0000000000000000TASK")


def signed_out(visitor: Visitor) -> bool:
    """Whether the first page leads to where to sign in."""
    visitor.open("/")
    return visitor.at == "/app/sign-in"


@pytest.mark.parametrize("path", PAGES)
def test_whoever_is_not_signed_in_is_led_to_where_to_sign_in_and_sees_nothing(stranger: Visitor, path: str) -> None:
    page = stranger.open(path)
    assert (page.response.status, stranger.at) == (200, "/app/sign-in")
    assert "Sign in with a token of your tenant" in page.text
    assert not stranger.cookies
    assert stranger.open(path, format="json").response.status == 401


def test_a_token_opens_the_page_that_was_asked_for(stranger: Visitor, deployment: Deployment) -> None:
    page = stranger.sign_in(deployment.token("acme"), at="/app/answers")
    assert (page.response.status, stranger.at) == (200, "/app/answers")
    assert "acme, member" in page.text


@pytest.mark.parametrize("query", ["status=caution", "search=a..b%2F%2Fc&from=2026-11-01", "search=%E4%BB%A3&lang=zh"])
def test_signing_in_keeps_what_a_list_was_asked_for(stranger: Visitor, deployment: Deployment, query: str) -> None:
    form = stranger.open(f"/app/answers?{query}").forms[-1]
    page = stranger.send(form, token=deployment.token("acme"))
    assert page.response.status == 200
    fields = {
        name: given.get("value") for tag, given in page.elements if tag == "input" and (name := given.get("name"))
    }
    asked = dict(parse_qsl(query))
    assert fields["search"] == asked.get("search", "")
    assert fields["from"] == asked.get("from", "")
    assert any(given.get("value") == "caution" and "selected" in given for _, given in page.elements) is (
        "status" in asked
    )


@pytest.mark.parametrize("name", ["a%2520b", "%E4%BB%A3", "a%20b"])
def test_signing_in_leads_to_the_very_address_that_was_asked_for(
    stranger: Visitor, deployment: Deployment, name: str
) -> None:
    stranger.sign_in(deployment.token("acme"), at=f"/app/answers/{name}")
    assert stranger.at == f"/app/answers/{name}"


def test_a_wrong_token_is_refused_kindly_and_is_not_repeated(stranger: Visitor, warnings_printed: SaidAloud) -> None:
    page = stranger.sign_in("ts_" + "x" * 43, at="/app/answers")
    assert "This token is not valid. Ask an admin of your tenant for a new one." in page.text
    assert "x" * 43 not in page.response.body + warnings_printed()
    assert not stranger.cookies
    assert page.forms[-1].fields["next"] == "app/answers"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(stranger: Visitor, deployment: Deployment) -> None:
    token = deployment.token("acme")
    sent = {"content-type": FORM, "x-forwarded-proto": "https"}
    (cookie,) = Api().call("POST", "/app/sign-in", urlencode({"token": token}), headers=sent).cookies
    assert {"HttpOnly", "Secure", "SameSite=Strict", "Path=/", "Max-Age=43200"} <= {
        part.strip() for part in cookie.split(";")
    }
    assert cookie.startswith("__Host-touchstone_session=")
    assert "domain" not in cookie.lower()
    assert token not in cookie


def test_where_the_connection_is_not_secure_the_cookie_has_a_name_that_a_browser_takes(
    stranger: Visitor, deployment: Deployment
) -> None:
    stranger.headers["x-forwarded-proto"] = "http"
    assert stranger.sign_in(deployment.token("acme")).response.status == 200
    assert list(stranger.cookies) == [SESSION]
    assert not signed_out(stranger)


def test_a_session_that_a_sibling_domain_could_have_planted_is_none(visitor: Visitor, deployment: Deployment) -> None:
    (secret,) = visitor.cookies.values()
    for planted in (SESSION, f"\u2000{OF_THIS_HOST}{SESSION}", f"\x0b{OF_THIS_HOST}{SESSION}"):
        assert signed_out(Visitor(cookies={planted: secret})), planted
    own = f"{OF_THIS_HOST}{SESSION}"
    assert cookies_of({"cookies": [f"{own}=mine", f"{SESSION}=theirs"]})[own] == "mine"


def sessions_kept() -> int:
    """How many sessions are stored."""
    return sum(str(item["pk"]).startswith("SESSION#") for item in table().scan()["Items"])


def test_signing_in_again_ends_the_session_that_this_browser_had(visitor: Visitor, deployment: Deployment) -> None:
    before = dict(visitor.cookies)
    page = visitor.sign_in(deployment.token("rival"), at="/app/sign-in")
    assert "rival, member" in page.text
    assert sessions_kept() == 1
    assert signed_out(Visitor(cookies=before))
    visitor.sign_in("ts_" + "x" * 43, at="/app/sign-in")
    assert not signed_out(visitor), "a token that is refused ends nothing"


def test_neither_token_nor_session_is_stored(visitor: Visitor) -> None:
    (secret,) = visitor.cookies.values()
    items = table().scan()["Items"]
    assert secret not in str(items)
    assert any(str(item["pk"]).startswith("SESSION#") for item in items)


def test_a_session_ends_with_its_token(stranger: Visitor, deployment: Deployment) -> None:
    stranger.sign_in(deployment.token("acme"))
    for token in tokens().list("acme"):
        tokens().revoke(tenant="acme", token_id=token.id)
    assert signed_out(stranger)


def test_a_session_ends_when_its_token_does_and_after_half_a_day(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    from touchstone.errors import UnauthenticatedError
    from touchstone.records.sessions import Sessions
    from touchstone.records.tokens import Tokens

    now = system_clock()
    deployment.token("acme")
    store = table()
    token, _ = Tokens(store).issue(tenant="acme", role="reader", name="short", expires_at=now + timedelta(hours=1))
    secret, ends = Sessions(store).begin(token)
    assert ends - now >= timedelta(hours=12)
    with pytest.raises(UnauthenticatedError):
        Sessions(store, clock=lambda: now + timedelta(hours=2)).resolve(secret)
    lasting, _ = Tokens(store).issue(tenant="acme", role="reader", name="lasting")
    secret, ends = Sessions(store).begin(lasting)
    assert Sessions(store, clock=lambda: ends - timedelta(seconds=1)).resolve(secret).identity.tenant == "acme"
    with pytest.raises(UnauthenticatedError):
        Sessions(store, clock=lambda: ends).resolve(secret)


def test_signing_out_ends_the_session_also_for_a_copied_cookie(visitor: Visitor) -> None:
    copied = dict(visitor.cookies)
    form = next(form for form in visitor.open("/").forms if form.action.endswith("sign-out"))
    visitor.send(form)
    assert sessions_kept() == 0
    assert signed_out(visitor)
    visitor.cookies = copied
    assert signed_out(visitor)


def test_a_form_without_its_mark_or_from_another_site_does_nothing(visitor: Visitor, deployment: Deployment) -> None:
    form = next(form for form in visitor.open("/").forms if form.action.endswith("sign-out"))
    refused = visitor.send(form, form_mark="0" * 64)
    assert refused.response.status == 403
    assert "Back to the page" not in refused.text, "signing out has no page"
    visitor.at = "/"
    visitor.headers["sec-fetch-site"] = "cross-site"
    assert visitor.send(form).response.status == 403
    assert Visitor(headers={"sec-fetch-site": "cross-site"}).sign_in(deployment.token("acme")).response.status == 403
    visitor.headers.clear()
    assert not signed_out(visitor)


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        ("https://pages.example", True),
        ("https://evil.example", False),
        ("https://pages.example.evil.example", False),
        ("null", False),
    ],
)
def test_a_browser_that_tells_the_site_of_a_form_only_by_name_signs_nobody_in_from_another(
    deployment: Deployment, origin: str, *, let_in: bool
) -> None:
    sent = {"content-type": FORM, "host": "pages.example", "origin": origin}
    said = Api().call("POST", "/app/sign-in", urlencode({"token": deployment.token("acme")}), headers=sent)
    assert (said.status, bool(said.cookies)) == ((303, True) if let_in else (403, False))


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", "[]"),
        ("text/plain", urlencode({"token": "ts_" + "x" * 43})),
        (FORM, "token=" + "x" * 30_000),
    ],
)
def test_what_is_no_form_is_refused(deployment: Deployment, content_type: str, body: str) -> None:
    said = Api().call("POST", "/app/sign-in", body, headers={"content-type": content_type})
    assert (said.status, said.headers.get("location")) == (400, None)


def test_a_form_that_is_no_text_is_refused_and_is_no_fault_of_ours(deployment: Deployment) -> None:
    event = {
        "version": "2.0",
        "rawPath": "/app/sign-in",
        "headers": {"content-type": FORM},
        "requestContext": {"http": {"method": "POST", "path": "/app/sign-in"}, "stage": "$default"},
        "body": base64.b64encode(b"token=\xff\xfe").decode(),
        "isBase64Encoded": True,
    }
    assert answer(event, Context())["statusCode"] == 400


def test_a_form_without_a_token_signs_nobody_in(deployment: Deployment) -> None:
    said = Api().call("POST", "/app/sign-in", "", headers={"content-type": FORM})
    assert (said.status, said.headers["location"], said.cookies) == (303, "../app/sign-in?refused=1", ())


@pytest.mark.parametrize(
    "asked",
    [
        "https://a.example",
        "app?/../..",
        "app/a//b?c",
        "//a.example",
        "app/../x",
        "app//x",
        "app/\\x",
        "javascript:x",
        "v1/answers",
        "app/\nx",
    ],
)
def test_signing_in_leads_nowhere_else(asked: str) -> None:
    assert safe_next(asked) == ""


def test_a_program_may_send_its_token_instead(stranger: Visitor, deployment: Deployment) -> None:
    stranger.headers["authorization"] = f"Bearer {deployment.token('acme')}"
    assert stranger.open("/app/answers", format="json").response.json["answers"] == {"rows": [], "cursor": None}
    stranger.headers["authorization"] = "Bearer ts_" + "x" * 43
    assert stranger.open("/app/answers", format="json").response.status == 401


@pytest.mark.parametrize("path", [*PAGES, "/app/nothing", "/app/static/style.css", "/app/static/chart.js"])
def test_nothing_on_a_page_may_run_or_come_from_elsewhere(visitor: Visitor, path: str) -> None:
    headers = visitor.open(path).response.headers
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("start", STARTS)
def test_every_link_of_a_page_leads_to_one(visitor: Visitor, start: str) -> None:
    for link in visitor.open(start).links:
        visitor.at = start
        if not link.startswith("#") and not link.endswith("swagger"):
            assert visitor.open(link).response.status == 200, link


@pytest.mark.parametrize("name", list(ASSETS))
def test_a_file_of_pages_is_kept_for_a_year_under_the_name_of_its_content_alone(stranger: Visitor, name: str) -> None:
    def kept(**query: str) -> str:
        found = stranger.open(f"/app/static/{name}", **query).response
        assert (found.status, found.body) == (200, asset(name))
        return found.headers["cache-control"]

    assert kept(v=version(name)) == "public, max-age=31536000, immutable"
    assert {kept(), kept(v=""), kept(v="0" * 12), kept(v=version(name) + "0")} == {"no-store"}


def test_every_file_that_a_page_loads_is_named_by_its_content(visitor: Visitor) -> None:
    loaded = [given.get("src") or given["href"] for tag, given in visitor.open("/app/rates").elements
              if tag == "script" or given.get("rel") == "stylesheet"]  # fmt: skip
    assert loaded
    for address in loaded:
        visitor.at = "/app/rates"
        assert visitor.open(address).response.headers["cache-control"].endswith("immutable")


def test_no_other_file_is_given(stranger: Visitor) -> None:
    assert stranger.open("/app/static/..%2fsite.py").response.status == 404
    assert stranger.open("/app/static/site.py").response.status == 404
