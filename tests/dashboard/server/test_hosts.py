import os

import pytest
from asgi import finish
from starlette.responses import PlainTextResponse

from dashboard.server.hosts import HostGuard
from dashboard.settings import ALLOW_HOST

NAME, PROXY = "gpu-box", "https://tiescope.example.org"
EVERYWHERE = "0.0.0.0"  # noqa: S104 not served
REDIRECT = '[auth]\nredirect_uri = "https://signed.example.org/oauth2callback"\n'


def ask(*headers, kind="http", scheme="http", arrival="192.168.1.5", declared=(NAME, PROXY)):
    """What a guarded app answers: a status and a text, or what is sent to a socket.

    Args:
        *headers: of the request, as "Name: value".
        kind: http or websocket.
        scheme: by which the request comes.
        arrival: address of this machine where it arrives.
        declared: hosts that the server was started for.
    """

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await PlainTextResponse("served")(scope, receive, send)
        else:
            await send({"type": "websocket.accept"})

    async def fail():
        pytest.fail("it was read")

    async def send(message):
        sent.append(message)

    sent = []
    pairs = [header.partition(": ")[::2] for header in headers]
    scope = {
        "type": kind,
        "method": "GET",
        "path": "/",
        "scheme": scheme.replace("http", "ws") if kind == "websocket" else scheme,
        "server": (arrival, 8501),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
    }
    finish(HostGuard(app, declared)(scope, fail, send))
    return (sent[0]["status"], sent[1]["body"].decode()) if kind == "http" else sent[0]["type"]


def is_served(*headers, **request):
    """Whether a page and a socket are served; they are alike."""
    socket = ask(*headers, kind="websocket", **request)
    status, _ = ask(*headers, **request)
    assert (status, socket) in {(200, "websocket.accept"), (403, "websocket.close")}
    return status == 200


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8501", "localhost:8501", "LOCALHOST:8501", "localhost", "localhost:9000", "[::1]:8501",
     "[0:0:0:0:0:0:0:1]:8501", "192.168.1.5:8501", "gpu-box:8501", "tiescope.example.org"],
)  # fmt: skip
def test_a_host_the_server_was_started_for_is_served(host):
    assert is_served(f"Host: {host}")


@pytest.mark.parametrize(
    "host",
    ["evil.example:8501", "127.0.0.1.evil.example:8501", "localhost.evil.example", "evil.example.org",
     "x.tiescope.example.org", "localhost.", "localhost:8501.evil", "evil@localhost:8501", "localhost@evil:8",
     "localhost:8501@evil", "localhost:0", "localhost:65536", "localhost:", "localhost/", "http://localhost:8501",
     "localhost, evil.example", "", " ", "*", "192.168.1.6:8501", "[::ffff:127.0.0.1]:8501", "::1", "[::1",
     "[localhost]", "[::ffff:c0a8:105]", "127.1", "2130706433", "0177.0.0.1", "0.0.0.0:8501", "localhost\x00",
     "l\xf6calhost", "testserver"],
)  # fmt: skip
def test_any_other_host_is_refused_unread_whatever_the_origin_says(host):
    assert not is_served(f"Host: {host}")
    assert not is_served(f"Host: {host}", f"Origin: http://{host}")


def test_a_request_names_its_host_and_its_origin_once():
    own = ("Host: localhost:8501", "Origin: http://localhost:8501")
    assert is_served(*own)
    assert not is_served()
    assert not is_served(own[0], *own)
    assert not is_served(*own, own[1])
    assert not is_served(*own, "Host: evil.example")


def test_a_refusal_says_which_host_was_asked_for_and_the_option_to_use():
    status, text = ask("Host: evil.example:8640")
    assert (status, text) == (
        403,
        "This server does not accept requests for evil.example:8640. "
        "Start it with --allow-host evil.example:8640.",
    )
    _, text = ask("Host: gpu-box", "Origin: https://gpu-box")
    assert "comes from a page on https://gpu-box, not on http://gpu-box." in text
    assert text.endswith("--allow-host https://gpu-box.")
    assert "<" not in ask("Host: <script>")[1]


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:3000", "http://localhost", "https://localhost:8501", "http://127.0.0.1:8501", "null", "",
     "http://evil.example:8501", "localhost:8501", "http://localhost:8501/", "http://localhost:8501.evil",
     "http://evil@localhost:8501", "file://", "ws://localhost:8501", PROXY],
)  # fmt: skip
def test_a_page_of_another_scheme_host_or_port_reads_nothing(origin):
    assert not is_served("Host: localhost:8501", f"Origin: {origin}")


def test_default_ports_need_not_be_written():
    for headers in (["localhost", "http://localhost:80"], ["localhost:80", "http://localhost"]):
        assert is_served(f"Host: {headers[0]}", f"Origin: {headers[1]}")
    assert is_served("Host: gpu-box:443", "Origin: https://gpu-box", scheme="https")


def test_a_declared_origin_is_required_whatever_the_proxy_says():
    for host in ("tiescope.example.org", "tiescope.example.org:443", "tiescope.example.org:8501"):
        for scheme in ("http", "https"):
            assert is_served(f"Host: {host}", f"Origin: {PROXY}", scheme=scheme)
            assert not is_served(f"Host: {host}", "Origin: http://tiescope.example.org", scheme=scheme)
            assert not is_served(f"Host: {host}", f"Origin: {PROXY}:8443", scheme=scheme)


def test_pages_of_a_declared_name_come_by_the_scheme_that_was_asked():
    assert is_served("Host: gpu-box", "Origin: https://gpu-box", scheme="https")
    assert not is_served("Host: gpu-box", "Origin: http://gpu-box", scheme="https")
    assert not is_served("Host: gpu-box:8501", "Origin: http://gpu-box")


def test_a_name_that_is_declared_with_a_port_has_pages_at_that_port_alone():
    request = {"declared": ["gpu-box:9000"]}
    for scheme in ("http", "https"):
        assert is_served("Host: gpu-box:9000", f"Origin: {scheme}://gpu-box:9000", **request)
        assert not is_served("Host: gpu-box:9000", f"Origin: {scheme}://gpu-box:9001", **request)
    assert not is_served("Host: gpu-box:9001", "Origin: http://gpu-box:9001", **request)


@pytest.mark.parametrize(
    ("arrival", "host"),
    [("::ffff:10.0.0.7", "10.0.0.7"), ("2001:db8::7", "[2001:DB8:0::7]"), ("10.0.0.7", "10.0.0.7:8501")],
)
def test_the_address_of_arrival_is_served(arrival, host):
    assert is_served(f"Host: {host}", f"Origin: http://{host}", arrival=arrival)
    assert not is_served(f"Host: {host}", arrival="10.0.0.8")


def test_the_command_passes_host_declared_hosts_and_redirect_to_the_app(call, streamlit_calls, write, tmp_path):
    assert call("app", "--host", "LOCALHOST")[0] == 0
    assert os.environ[ALLOW_HOST] == "LOCALHOST"
    assert call("app", "--host", "::1")[0] == 0
    assert os.environ[ALLOW_HOST] == "LOCALHOST"
    (tmp_path / ".streamlit").mkdir()
    write(".streamlit/secrets.toml", REDIRECT)
    options = ["--allow-host", PROXY, "--allow-host", NAME]
    code, _, err = call("app", "--host", EVERYWHERE, "--insecure", *options)
    assert code == 0
    assert os.environ[ALLOW_HOST] == f"{PROXY} {NAME} https://signed.example.org"
    assert f"localhost, the IP addresses of this machine, {PROXY}, {NAME}, https://signed.example.org." in err
    assert "Add other host names with --allow-host." in err
    assert "--browser.serverAddress=localhost" in streamlit_calls[-1]


@pytest.mark.parametrize(
    "host",
    ["*", "*.example.org", "https://a.org/x", "ftp://a.org", "a b", "a.org:99999", "0.0.0.0/0", "é.org", ""],
)
def test_the_command_refuses_what_is_not_a_host(call, streamlit_calls, host):
    code, _, err = call("app", "--allow-host", host)
    assert (code, streamlit_calls) == (2, [])
    assert "--allow-host" in err
