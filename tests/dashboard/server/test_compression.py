import pytest
from asgi import answer
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dashboard.server.answers import CompressedFiles

SCRIPT = "let answer = 42;\n" * 10_000


def encoding(address, path="/static/js/index.js"):
    app = Starlette(routes=[Route(path, lambda _: PlainTextResponse(SCRIPT))])
    response = answer(CompressedFiles(app), "GET", path, address=address)
    assert response.text == SCRIPT
    return response.headers.get("Content-Encoding")


@pytest.mark.parametrize("address", ["10.0.0.7", "2001:db8::7", "testclient"])
def test_scripts_travel_compressed_to_another_machine(address):
    assert encoding(address) == "gzip"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1"])
def test_scripts_stay_as_they_are_on_the_same_machine(address):
    assert encoding(address) is None


def test_what_holds_a_visitors_data_is_not_compressed():
    assert encoding("10.0.0.7", "/media/abc.html") is None
