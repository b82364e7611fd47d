import json
import time
from secrets import token_hex

import pytest
from opening import APP, FILES, PAGES, only
from streamlit import config
from streamlit.testing.v1 import AppTest

from dashboard import settings
from dashboard.access import sign_in
from dashboard.library.audit import AUDIT_LOG
from metrics.errors import LibraryError

AUTH = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": "4b1d0f6a9c3e7d2851f06a9b3c4d5e6f",
    "client_id": "tiescope",
    "client_secret": "of the provider",
    "server_metadata_url": "https://example.org/.well-known/openid-configuration",
}
ADA = {"is_logged_in": True, "email": "Ada@Example.org"}


def behind_the_gate():
    import streamlit as st  # noqa: PLC0415 this body is run alone

    from dashboard import boards as state  # noqa: PLC0415 this body is run alone
    from dashboard.access import sign_in  # noqa: PLC0415 likewise

    st.session_state["is_admitted"] = False
    sign_in.admit()
    st.session_state["is_admitted"] = True
    st.text(state.owner())
    sign_in.show_account()


@pytest.fixture
def visit(monkeypatch, tmp_path):
    """A session of a small app behind the gate, or of a page of ours."""
    before = config.get_option("server.address"), config.get_option("secrets.files")

    def run(user=None, auth=None, address="127.0.0.1", secrets=None, page=None, **environment):
        for name in (settings.ALLOW, settings.INSECURE):
            monkeypatch.setenv(name, environment.get(name, ""))
        config.set_option("server.address", address)
        file = tmp_path / "secrets.toml"
        if secrets is not None:
            file.write_text(secrets)
        config.set_option("secrets.files", [str(file)])
        session = AppTest.from_file(str(APP)) if page else AppTest.from_function(behind_the_gate)
        if page not in (None, "leaderboard"):
            session.switch_page(FILES[page])
        session.user = {"nonce": token_hex()} | user if user else {}
        if auth is not None:
            session.secrets = {"auth": auth}
        session.run()
        assert not session.exception, session.exception
        return session

    yield run
    for name, value in zip(("server.address", "secrets.files"), before, strict=True):
        config.set_option(name, value)


def owner(session):
    (text,) = session.text
    assert session.session_state["is_admitted"]
    return text.value


def closed(session):
    """Title and sentence of the page a visitor is stopped at."""
    assert not session.text
    assert not session.session_state.get("is_admitted")
    return session.title[0].value, session.markdown[0].value.replace("\\", "")


def test_secrets_that_cannot_be_read_let_nobody_in(visit):
    assert "cannot be read" in closed(visit(ADA, secrets="[auth"))[1]


def test_on_loopback_without_sign_in_there_is_one_owner_and_nothing_to_sign_out_of(visit):
    session = visit()
    assert owner(session) == ""
    assert not session.button


@pytest.mark.parametrize("address", [None, "0.0.0.0", "example.org"])  # noqa: S104 nothing is served
def test_where_others_reach_the_server_without_sign_in_each_session_is_a_stranger(visit, address):
    first, other = visit(address=address), visit(address=address)
    names = {owner(first), owner(other), owner(first.run())}
    assert len(names) == 2
    assert all(name.startswith("visitor:") and len(name) > 40 for name in names)


def test_insecure_has_one_owner_at_any_address_and_asks_nobody_to_sign_in(visit):
    assert owner(visit(auth=AUTH, address="::", TIESCOPE_INSECURE="1")) == ""


def test_who_is_signed_in_owns_under_the_address_in_lower_case_and_can_sign_out(visit):
    session = visit(ADA, AUTH, TIESCOPE_ALLOW="example.org")
    assert owner(session) == "ada@example.org"
    button = only(session.button)
    assert button.label == "Sign out"
    button.click().run()
    assert closed(session)[0] == "Sign in to TieScope"


@pytest.mark.parametrize(
    "user", [{}, ADA | {"is_logged_in": False}, ADA | {"is_logged_in": "yes"}, {"email": "ada@example.org"}]
)
def test_an_address_without_a_session_signed_in_stays_out(visit, user):
    session = visit(user, AUTH, TIESCOPE_ALLOW="ada@example.org")
    assert closed(session)[0] == "Sign in to TieScope"
    assert [button.label for button in session.button] == ["Sign in"]


def test_a_sign_in_that_runs_out_is_over_at_the_next_run_of_a_page_that_is_open(visit, monkeypatch):
    now = time.time()
    session = visit(ADA | {"iat": now}, AUTH, TIESCOPE_ALLOW="example.org")
    for days, is_in in ((29.9, True), (30.1, False), (-1, True)):
        monkeypatch.setattr(sign_in.time, "time", lambda days=days: now + days * 86_400)
        session.run()
        assert [title.value for title in session.title] == ([] if is_in else ["Sign in to TieScope"])
        assert bool(session.text) == is_in


def test_removal_from_the_allow_list_ends_open_pages_at_their_next_run(visit, monkeypatch):
    session = visit(ADA, AUTH, TIESCOPE_ALLOW="example.org")
    assert owner(session) == "ada@example.org"
    monkeypatch.setenv(settings.ALLOW, "eve@example.org")
    assert closed(session.run())[0] == "Not allowed in"


def test_the_audit_log_has_who_was_refused(visit, monkeypatch, tmp_path):
    monkeypatch.setenv(AUDIT_LOG, str(tmp_path / "audit.jsonl"))
    visit(ADA, AUTH, TIESCOPE_ALLOW="ada@example.net")
    (line,) = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert json.loads(line) | {"time": ""} == {"time": "", "who": "Ada@Example.org", "action": "refused"}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_the_app_is_the_sign_in_page_alone_to_a_stranger(visit, page):
    session = visit(auth=AUTH, address=None, page=page, TIESCOPE_ALLOW="ada@example.org")
    assert closed(session)[0] == "Sign in to TieScope"
    assert [button.label for button in session.button] == ["Sign in"]
    assert not session.sidebar.children
    assert not session.metric
    assert not session.dataframe


@pytest.mark.parametrize(
    ("user", "named"),
    [(ADA, "Ada@Example.org"), ({"is_logged_in": True}, "a person without an e-mail address")],
)
def test_an_identity_that_is_not_on_the_list_is_told_which_and_stays_out(visit, user, named):
    session = visit(user, AUTH, TIESCOPE_ALLOW="ada@example.net")
    title, why = closed(session)
    assert title == "Not allowed in"
    assert named in why.replace("\u2060", "")
    assert [button.label for button in session.button] == ["Sign out"]


@pytest.mark.parametrize(
    ("allow", "auth", "message"),
    [
        ("", AUTH, "The allow-list is empty"),
        (" , ", AUTH, "The allow-list is empty"),
        ("not an address", AUTH, "'not an address' is neither an e-mail address nor a domain"),
        ("example.org", None, "no [auth] section"),
        ("example.org", {}, "[auth] has no redirect_uri, cookie_secret"),
        ("example.org", AUTH | {"cookie_secret": "short"}, "cookie_secret must have"),
        ("example.org", "yes", "auth is not a section"),
    ],
)
def test_sign_in_set_up_in_part_lets_nobody_in(visit, allow, auth, message):
    title, why = closed(visit(ADA, auth, TIESCOPE_ALLOW=allow))
    assert title == "Sign-in is not set up"
    assert message in why


def test_without_authlib_nobody_comes_in(visit, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install 'tiescope[sign-in]'" in closed(visit(ADA, AUTH, TIESCOPE_ALLOW="example.org"))[1]


def test_a_sign_in_that_was_ended_is_over_at_the_next_run_of_a_page_that_is_open(visit):
    first, second = ({**ADA, "nonce": name} for name in ("first", "second"))
    session, other = (visit(user, AUTH, TIESCOPE_ALLOW="example.org") for user in (first, second))
    sign_in.end_sign_in(first)
    assert closed(session.run())[0] == "You are signed out"
    assert [button.label for button in session.button] == ["Sign in"]
    assert owner(other.run()) == "ada@example.org"


def test_nobody_is_let_in_while_it_cannot_be_told_which_sign_ins_have_ended(visit, monkeypatch):
    def fail(_):
        raise LibraryError("The library cannot be reached.")

    session = visit(ADA, AUTH, TIESCOPE_ALLOW="example.org")
    monkeypatch.setattr(sign_in, "has_ended", fail)
    title, why = closed(session.run())
    assert title == "Sign-ins cannot be checked"
    assert "The library cannot be reached." in why
