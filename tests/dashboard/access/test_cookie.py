import json

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from dashboard import streamlit_internals
from dashboard.access import admitted as cookie
from dashboard.access.admitted import read_claims, sign_in_id, without_sign_in

SECRET, ORIGIN = "4b1d0f6a9c3e7d2851f06a9b3c4d5e6f", "https://tiescope.example"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
CLAIMS = {"iss": "provider", "sub": "ada", "iat": 1, "nonce": "n1", "origin": ORIGIN, "is_logged_in": True}


@pytest.fixture(autouse=True)
def _server(monkeypatch):
    """A server of this origin that signs with this secret."""
    monkeypatch.setattr(streamlit_internals, "get_cookie_secret", lambda: SECRET)
    monkeypatch.setattr(cookie, "get_origin_from_redirect_uri", lambda: ORIGIN)


def signed(text, name="_streamlit_user", secret=SECRET):
    return {name: create_signed_value(secret, name, text).decode()}


def test_claims_are_read_whole_or_in_parts_if_this_server_signed_them():
    text = json.dumps(CLAIMS)
    parts = signed("chunks-2") | signed(text[:40], "_streamlit_user_1") | signed(text[40:], "_streamlit_user_2")
    assert read_claims(signed(text)) == read_claims(parts) == CLAIMS
    strange = [
        {},
        {"_streamlit_user": "x"},
        signed(text, secret="another"),  # noqa: S106 of nobody
        {"_streamlit_user": signed(text, "_streamlit_xsrf")["_streamlit_xsrf"]},
        signed(json.dumps(CLAIMS | {"origin": "https://elsewhere.example"})),
    ]
    assert [read_claims(cookies) for cookies in strange] == [{}] * len(strange)


def test_two_sign_ins_within_a_second_are_distinct():
    page = {name: value for name, value in CLAIMS.items() if name != "origin"} | {"tokens": {}}
    assert sign_in_id(page) == sign_in_id(CLAIMS)
    assert sign_in_id(CLAIMS | {"nonce": "n2"}) != sign_in_id(CLAIMS)


def test_a_cookie_whose_signature_is_spelt_otherwise_is_the_same_sign_in():
    value = signed(json.dumps(CLAIMS))["_streamlit_user"]
    spellings = [{"_streamlit_user": value[:-1] + letter} for letter in LETTERS]
    accepted = [claims for claims in map(read_claims, spellings) if claims]
    assert len(accepted) > 1  # else a hash of the cookie's text would do
    assert {sign_in_id(claims) for claims in accepted} == {sign_in_id(CLAIMS)}


def test_a_header_without_its_sign_in_keeps_all_other_cookies():
    header = (
        b"_streamlit_xsrf=2|a|b|1; _streamlit_user=x; _streamlit_user_1=y; _streamlit_user_tokens=z; other=1"
    )
    assert without_sign_in(header) == b"_streamlit_xsrf=2|a|b|1; other=1"
