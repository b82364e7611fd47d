"""A real server, a real browser, and a page that fails on console errors and requests to other hosts."""

from contextlib import ExitStack
from types import SimpleNamespace

import postgresql
import pytest
from gated import gated
from pages import DESK, PATIENCE, opened_profile, settle
from playwright.sync_api import expect
from servers import TIESCOPE, free_port, running

expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def _server(tmp_path_factory):
    """A `tiescope app`: its address, and how to end it and start it again."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [*TIESCOPE, "app", "--port", str(port)]
    with ExitStack() as stack:

        def start():
            stack.close()
            folder = tmp_path_factory.mktemp("server")
            stack.enter_context(running(command, f"{address}/_stcore/health", folder))

        start()
        yield address, start


@pytest.fixture(scope="session")
def server(_server):
    """Address of a running `tiescope app`."""
    return _server[0]


@pytest.fixture
def restart(_server):
    """End the server and start it again, at the same address over the same library."""
    return _server[1]


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A server that lets in Ada and Bob, its library in PostgreSQL where there is one: address and folders."""
    folder = tmp_path_factory.mktemp("gated")
    with ExitStack() as stack:
        environment = {}
        if programs := postgresql.find():
            url = stack.enter_context(postgresql.serving(programs)).url("postgres")
            environment["TIESCOPE_DATABASE_URL"] = url
        options = ("--audit-log", str(folder / "audit.jsonl"))
        allowed = ("ada@example.org", "bob@example.org")
        address = stack.enter_context(gated(folder, allowed, *options, **environment))
        yield SimpleNamespace(address=address, folder=folder)


@pytest.fixture(scope="session")
def gated_server(people):
    """Address of a server that lets in ada@example.org and bob@example.org alone."""
    return people.address


@pytest.fixture(scope="session")
def profile(browser, server):
    """A browser profile for all pages."""
    with opened_profile(browser, server) as context:
        yield context


@pytest.fixture(scope="session")
def _other_profile(browser, server):
    with opened_profile(browser, server) as context:
        yield context


@pytest.fixture
def elsewhere(_other_profile):
    """A profile in which nothing is kept of pages of the other, or of an earlier test: another browser."""
    yield _other_profile
    _other_profile.clear_cookies()
    _other_profile.pages[0].evaluate("localStorage.clear()")


class PageWatch:
    """Collects what goes wrong in the pages of a test."""

    def __init__(self, server):
        self.server = server
        self.problems = []

    def follow(self, page, on_frame_sent):
        page.on("websocket", lambda socket: socket.on("framesent", on_frame_sent))
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        page.on("request", self._request)

    def _console(self, message):
        # On a page's own address Streamlit first asks for its health below that address, then at the root.
        is_health_probe = "/_stcore/" in message.location.get("url", "") and "404" in message.text
        if message.type == "error" and not is_health_probe:
            self.problems.append(f"console: {message.text} {message.location}")

    def _request(self, request):
        own = (self.server, self.server.replace("http:", "ws:"), "data:", "blob:")
        if not request.url.startswith(own):
            self.problems.append(f"request to another host: {request.url}")


@pytest.fixture
def new_page(server, profile):
    """Open pages, each a session of its own; at the end, none may have seen an error."""
    watch, pages = PageWatch(server), []

    def open_page(path="/", viewport=DESK, color_scheme="light", on_frame_sent=lambda _: None):
        page = profile.new_page()
        pages.append(page)
        watch.follow(page, on_frame_sent)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        page.goto(server + path)
        settle(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert watch.problems == []
