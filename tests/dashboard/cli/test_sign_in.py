import os
import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import settings
from dashboard.access.admission import is_allowed, is_loopback, parse_allow_list
from metrics.errors import UsageError

COMPLETE_AUTH = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": "4b1d0f6a9c3e7d2851f06a9b3c4d5e6f",
    "client_id": "tiescope",
    "client_secret": "of the provider",
    "server_metadata_url": "https://example.org/.well-known/openid-configuration",
}
EVERYWHERE = "0.0.0.0"  # noqa: S104 refused, or handed to a Streamlit that is not started
ADDRESSES = st.from_regex(r"[a-z0-9.+_-]{1,8}@[a-z0-9-]{1,8}(\.[a-z0-9-]{1,8}){1,2}", fullmatch=True)


def section(**changed):
    values = {key: value for key, value in (COMPLETE_AUTH | changed).items() if value is not None}
    return "\n".join(["[auth]", *(f'{key} = "{value}"' for key, value in values.items())])


@pytest.fixture
def secrets(write, tmp_path):
    (tmp_path / ".streamlit").mkdir()

    def save(text):
        return write(".streamlit/secrets.toml", text)

    return save


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1", "localhost", "LOCALHOST"])
def test_loopback_is_what_only_this_machine_reaches(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        EVERYWHERE,
        "::",
        "192.168.0.7",
        "127.0.0.1.example.org",
        "localhost.example.org",
        "127.1",
        "unix://s",
    ],
)
def test_any_other_address_is_not_loopback(host):
    assert not is_loopback(host)


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.168.0.7", "example.org", ""])
def test_an_address_others_reach_is_refused_with_all_that_is_missing(call, streamlit_calls, host):
    code, out, err = call("app", "--host", host)
    assert (code, out, streamlit_calls) == (2, "", [])
    assert f"Others can reach {host or 'every address of this machine'}, so" in err
    message = [
        *COMPLETE_AUTH,
        "[auth]",
        ".streamlit/secrets.toml",
        "--allow ADDRESS",
        "TIESCOPE_ALLOW",
        "--insecure",
    ]
    assert not [part for part in message if part not in err]
    assert "Authlib" not in err


@pytest.mark.parametrize("key", COMPLETE_AUTH)
def test_a_key_that_secrets_lack_is_named_with_the_file(call, streamlit_calls, secrets, key):
    for value in (None, "", " "):
        secrets(section(**{key: value}))
        code, _, err = call("app", "--host", EVERYWHERE, "--allow", "example.org")
        assert (code, streamlit_calls) == (2, [])
        assert f".streamlit/secrets.toml, [auth] has no {key}. To serve" in err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"redirect_uri": "http://localhost:8501/"}, "redirect_uri must end in /oauth2callback"),
        ({"cookie_secret": "change me"}, "cookie_secret must have at least 32 random characters"),
    ],
)
def test_a_value_that_cannot_work_or_protect_is_refused(call, streamlit_calls, secrets, wrong, message):
    secrets(section(**wrong))
    code, _, err = call("app", "--host", EVERYWHERE, "--allow", "example.org")
    assert (code, streamlit_calls) == (2, [])
    assert message in err


@pytest.mark.parametrize("package", ["authlib", "httpx"])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    call, streamlit_calls, secrets, monkeypatch, package
):
    secrets(section())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else sys)
    code, _, err = call("app", "--host", EVERYWHERE, "--allow", "example.org")
    assert (code, streamlit_calls) == (2, [])
    assert "Authlib is not installed (pip install 'tiescope[sign-in]'). To serve" in err


@pytest.mark.parametrize("host", ["127.0.0.1", EVERYWHERE])
def test_sign_in_without_an_allow_list_is_refused_on_every_address(call, streamlit_calls, secrets, host):
    secrets(section())
    code, _, err = call("app", "--host", host)
    assert (code, streamlit_calls) == (2, [])
    assert "no address is allowed to sign in (give --allow" in err


def test_an_allow_list_without_sign_in_is_refused_on_loopback_too(call, streamlit_calls):
    code, _, err = call("app", "--allow", "ada@example.org")
    assert (code, streamlit_calls) == (2, [])
    assert "Sign-in is not set up" in err


@pytest.mark.parametrize("host", ["127.0.0.1", EVERYWHERE])
def test_with_sign_in_and_an_allow_list_the_app_is_served_and_told_who_may_enter(
    call, streamlit_calls, secrets, host
):
    secrets(section())
    code, _, err = call("app", "--host", host, "--allow", "Ada@Example.org", "--allow", "EXAMPLE.NET")
    assert (code, len(err.splitlines()), len(streamlit_calls)) == (0, int(host == EVERYWHERE), 1)
    assert "insecure" not in err
    assert os.environ[settings.ALLOW] == "ada@example.org,@example.net"
    assert os.environ[settings.INSECURE] == "0"


def test_the_allow_list_comes_from_the_command_or_else_the_environment(
    call, streamlit_calls, secrets, monkeypatch
):
    secrets(section())
    monkeypatch.setenv(settings.ALLOW, " ada@example.org, ,@example.net")
    assert call("app", "--host", EVERYWHERE)[0] == 0
    assert os.environ[settings.ALLOW] == "ada@example.org,@example.net"
    assert call("app", "--host", EVERYWHERE, "--allow", "bob@example.org")[0] == 0
    assert os.environ[settings.ALLOW] == "bob@example.org"
    assert len(streamlit_calls) == 2


@pytest.mark.parametrize("place", ["environment", "configuration", "home"])
def test_secrets_are_found_where_streamlit_looks(call, streamlit_calls, write, tmp_path, monkeypatch, place):
    for folder in ("home/.streamlit", ".streamlit"):
        (tmp_path / folder).mkdir(parents=True)
    if place == "home":
        write("home/.streamlit/secrets.toml", section())
    else:
        elsewhere = write("elsewhere.toml", section())
        if place == "environment":
            monkeypatch.setenv("STREAMLIT_SECRETS_FILES", str(elsewhere))
        else:
            write(".streamlit/config.toml", '[secrets]\nfiles = ["elsewhere.toml"]')
    assert call("app", "--host", EVERYWHERE, "--allow", "example.org")[0] == 0
    assert len(streamlit_calls) == 1


@pytest.mark.parametrize("text", ["[auth", "auth = 1", b"\xff"])
def test_secrets_that_cannot_be_read_are_refused_on_loopback_too(call, streamlit_calls, secrets, text):
    secrets(text)
    code, _, err = call("app")
    assert (code, streamlit_calls) == (2, [])
    assert ".streamlit/secrets.toml" in err


def test_insecure_serves_to_everybody_with_one_line_of_warning(call, streamlit_calls):
    code, out, err = call("app", "--host", EVERYWHERE, "--insecure")
    assert (code, out, len(streamlit_calls), err.count("--insecure")) == (0, "", 1, 1)
    assert "sign-in is off. Anybody who can reach 0.0.0.0 can see and change everything." in err
    assert (os.environ[settings.ALLOW], os.environ[settings.INSECURE]) == ("", "1")


def test_insecure_holds_for_one_start_only(call, streamlit_calls, monkeypatch):
    monkeypatch.setenv(settings.INSECURE, "1")
    assert call("app", "--host", EVERYWHERE)[0] == 2
    assert call("app")[0] == 0
    assert (os.environ[settings.INSECURE], len(streamlit_calls)) == ("0", 1)


def test_insecure_and_an_allow_list_contradict(call, streamlit_calls, monkeypatch):
    assert call("app", "--host", EVERYWHERE, "--insecure", "--allow", "example.org")[0] == 2
    monkeypatch.setenv(settings.ALLOW, "example.org")
    code, _, err = call("app", "--host", EVERYWHERE, "--insecure")
    assert (code, streamlit_calls) == (2, [])
    assert "--insecure lets everybody in" in err


@pytest.mark.parametrize(
    "text",
    ["ada", "@", "*", "*@example.org", "ada@", "ada@@example.org", "ada@eve@example.org", "@ada@example.org",
     "ada lovelace@example.org", "ada@exam\nple.org", "\u0430da@example.org", "ada@exämple.org", "exämple.org",
     "\u212ate@example.org", "example..org", "ada@example.org;eve@example.org", "ada@example.org\x00"],
)  # fmt: skip
def test_an_entry_that_is_no_address_and_no_domain_is_refused_by_name(call, streamlit_calls, text):
    with pytest.raises(UsageError, match="neither an e-mail address nor a domain"):
        parse_allow_list([text])
    if "\x00" not in text:
        assert call("app", "--allow", text)[0] == 2
    assert not streamlit_calls


def test_the_allow_list_is_lower_case_in_order_and_without_repeats():
    entries = ["Ada@Example.org", " ", "Example.NET", "@example.net", "ada@example.org", ""]
    assert parse_allow_list(entries) == ("ada@example.org", "@example.net")


@given(address=ADDRESSES, other=ADDRESSES)
def test_an_address_lets_in_itself_in_any_case_and_no_other(address, other):
    entries = parse_allow_list([address])
    assert is_allowed(address.upper(), verified=True, entries=entries)
    assert is_allowed(other, verified=True, entries=entries) == (other == address)


@given(address=ADDRESSES, other=ADDRESSES)
def test_a_domain_lets_in_its_own_addresses_and_no_others(address, other):
    entries = parse_allow_list([address.partition("@")[2]])
    assert is_allowed(address.upper(), verified=True, entries=entries)
    assert is_allowed(other, verified=True, entries=entries) == (
        other.partition("@")[2] == address.partition("@")[2]
    )


@given(letter=st.characters(), position=st.integers(0, 15))
def test_one_more_letter_anywhere_is_another_address(letter, position):
    address = "ada@example.org"
    other = address[:position] + letter + address[position:]
    assert not is_allowed(other, verified=True, entries=("ada@example.org",))


@given(letter=st.characters(exclude_characters=string.printable))
def test_letters_that_only_look_or_fold_like_asciis_let_nobody_in(letter):
    for name in (f"{letter}@example.org", f"ada@example.{letter}org", f"ada{letter}@example.org"):
        assert not is_allowed(name, verified=True, entries=("k@example.org", "s@example.org", "@example.org"))


@pytest.mark.parametrize(
    "address",
    [None, "", 7, ["ada@example.org"], "ada", "@example.org", "ada@sub.example.org", "ada@notexample.org",
     "ada@example.org.", "ada@example.org@example.org", "eve@evil.org,ada@example.org", " ada@example.org",
     "ada@example.org\n", '"ada"@example.org'],
)  # fmt: skip
def test_what_is_not_one_plain_address_of_the_list_is_refused(address):
    assert not is_allowed(address, verified=True, entries=("ada@example.org", "@example.org"))


@pytest.mark.parametrize(
    ("verified", "comes_in"),
    [(True, True), (None, True), ("true", True), (False, False), ("false", False), ("", False), (0, False)],
)
def test_an_address_the_provider_says_is_not_verified_is_refused(verified, comes_in):
    assert is_allowed("ada@example.org", verified, ("ada@example.org",)) == comes_in
