"""The pictures of pages: each page of the site is among those of which pictures are taken, and is there."""

from functions.pages.site import site
from tests.bench.pictures import addresses
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.everything import own_one_of_everything
from tests.support.pages import Visitor
from tests.support.providers import ProviderServer

NO_PICTURES = ("/app/static/", "/app/sign-")
"""What is no page, and the page on which a browser signs in."""


def test_a_picture_is_taken_of_every_page(judged: Deployment, judges: ProviderServer) -> None:
    api: Api = own_one_of_everything(judged, judges, "acme")
    assert api.post("/v1/verifications", {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}).status == 201
    found = addresses(api)
    visitor = Visitor()
    visitor.sign_in(str(api.token))
    assert {name: visitor.open(at).response.status for name, at in found.items()} == dict.fromkeys(found, 200)
    rules = [each.rule for each in (*site._static_routes, *site._dynamic_routes) if each.method == "GET"]
    pages = [rule for rule in rules if not rule.pattern.lstrip("^").startswith(NO_PICTURES)]
    assert len(pages) > len(NO_PICTURES)
    assert [rule for rule in pages if not any(rule.fullmatch(address) for address in found.values())] == []
