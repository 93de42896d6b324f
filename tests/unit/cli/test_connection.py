"""Which deployment is talked to, and where a token may go."""

import stat
from pathlib import Path

import pytest

from tests.support.loopback import TOKEN
from touchstone.cli.deployment.connection import Connection, checked_token, checked_url, connection, forget, store
from touchstone.errors import InputError, SettingsError

URL = "https://abc.execute-api.eu-central-1.amazonaws.com"
OTHER = "ts_" + "b" * 43


def test_variables_name_the_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_API_URL", f" {URL}/ ")
    monkeypatch.setenv("TOUCHSTONE_TOKEN", TOKEN)
    assert connection() == Connection(url=URL, token=TOKEN)
    assert TOKEN not in repr(connection())


def test_without_settings_the_variables_to_set_are_named() -> None:
    with pytest.raises(SettingsError, match=r"TOUCHSTONE_API_URL and TOUCHSTONE_TOKEN.*touchstone login"):
        connection()


def test_an_address_without_a_token_asks_for_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_API_URL", URL)
    with pytest.raises(SettingsError, match=f"No token for {URL}: set TOUCHSTONE_TOKEN"):
        connection()


def test_what_login_kept_is_used_and_a_variable_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    path = store(Connection(url=URL, token=TOKEN))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert connection() == Connection(url=URL, token=TOKEN)
    monkeypatch.setenv("TOUCHSTONE_TOKEN", OTHER)
    assert connection() == Connection(url=URL, token=OTHER)


def test_a_stored_token_is_never_sent_to_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    store(Connection(url=URL, token=TOKEN))
    monkeypatch.setenv("TOUCHSTONE_API_URL", f"{URL}/")
    assert connection().token == TOKEN
    monkeypatch.setenv("TOUCHSTONE_API_URL", "https://elsewhere.example")
    with pytest.raises(SettingsError, match=r"No token for https://elsewhere\.example"):
        connection()


def test_a_token_that_others_can_read_is_not_used() -> None:
    path = store(Connection(url=URL, token=TOKEN))
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        connection()


def test_forgetting_removes_the_token(home: Path) -> None:
    path = store(Connection(url=URL, token=TOKEN))
    assert forget()
    assert not path.exists()
    assert not forget()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "abc",
        "ftp://x",
        "https://",
        "https://u:p@host",
        "https://h:port",
        "https://h\n.x",
        "http://[::1",
        "https://h/\x1b",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="must look like https://"):
        checked_url(url)


@pytest.mark.parametrize("host", ["example.org", "10.0.0.1", "localhost.example.org"])
def test_a_token_is_not_sent_in_the_open(host: str) -> None:
    with pytest.raises(InputError, match="must begin with https://"):
        checked_url(f"http://{host}")


@pytest.mark.parametrize("host", ["localhost:4566/_aws/execute-api/x", "127.0.0.1:80", "[::1]:80", "api.localhost"])
def test_this_machine_needs_no_encryption(host: str) -> None:
    assert checked_url(f"http://{host}/") == f"http://{host}"


@pytest.mark.parametrize("token", ["", "a b", "ts_é", "ts_\n", "x" * 513])
def test_what_cannot_be_a_token_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(InputError, match="begins with ts_") as caught:
        checked_token(token)
    assert not token or token not in str(caught.value)
