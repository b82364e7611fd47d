import pytest
from asgi import answer
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dashboard.server.middleware import SecurityHeaders


def headers(embedders=()):
    app = Starlette(routes=[Route("/runs", lambda _: PlainTextResponse("a page"))])
    return [answer(SecurityHeaders(app, embedders), "GET", path).headers for path in ("/runs", "/no/such/page")]


def test_other_sites_cannot_frame_sniff_or_learn_the_address_of_a_page():
    for page in headers():
        assert page["X-Frame-Options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in page["Content-Security-Policy"].split("; ")
        assert page["X-Content-Type-Options"] == "nosniff"
        assert page["Referrer-Policy"] == "same-origin"


def test_a_page_loads_nothing_from_another_host():
    policy = headers()[0]["Content-Security-Policy"]
    sources = {source for part in policy.split("; ") for source in part.split()[1:]}
    assert sources == {"'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"}


def test_a_site_that_was_named_may_show_it_and_no_other():
    page = headers(["https://wiki.example.org"])[0]
    assert "frame-ancestors 'self' https://wiki.example.org" in page["Content-Security-Policy"].split("; ")
    assert "X-Frame-Options" not in page


@pytest.mark.parametrize("origin", ["*", "wiki.example.org", "https://a.org; script-src *", "https://a.org/x"])
def test_the_command_refuses_what_is_no_origin(call, streamlit_calls, origin):
    code, _, err = call("app", "--embed", origin)
    assert (code, streamlit_calls) == (2, [])
    assert "--embed" in err
