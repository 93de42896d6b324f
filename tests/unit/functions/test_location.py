"""What a path says, whichever way a gateway passes it on."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.api.requests import decoded_part
from functions.pages.paths import address
from tests.support.api import decoded

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=12)


@given(NAMES | st.sampled_from(["%", "%25", "a%41", "%2F", "100 %"]))
def test_a_name_is_decoded_once_whichever_way_a_gateway_passes_it_on(name: str) -> None:
    sent = quote(name, safe="")
    assert (decoded_part(sent), decoded_part(decoded(sent))) == (name, name)


@pytest.mark.parametrize("sent", ["app/answers/a%20b", "app/answers/a%3Fb", "app/answers/a%2525b", "app/tasks/x:y"])
def test_a_page_leads_back_to_the_address_that_was_asked_for(sent: str) -> None:
    assert address("/" + decoded(sent)) == sent
