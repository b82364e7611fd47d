"""An address that may be opened leads, by a redirect, to nothing else."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import pytest
from asgi import finish

from dashboard.access import server_files, settings, sign_in
from metrics.errors import UsageError

RUNS = "https://runs.example.org/2026/"


def refused(location, url=f"{RUNS}a.trec", header="Location"):
    response = SimpleNamespace(headers={header: location})
    try:
        finish(sign_in.refuse_elsewhere(None, None, SimpleNamespace(url=url, response=response)))
    except UsageError as error:
        return location not in str(error)
    return False


@pytest.fixture(autouse=True)
def _allowed(monkeypatch):
    monkeypatch.setenv(settings.ALLOW_PATHS, json.dumps(["/data", RUNS]))


@pytest.mark.parametrize("location", [f"{RUNS}b.trec", "b.trec", "deep/b.trec", "/2026/b.trec"])
def test_a_redirect_below_what_is_allowed_is_followed(location):
    assert not refused(location)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:8501/_stcore/metrics",
        "https://runs.example.org/secret/a.trec",
        "https://runs.example.org.evil.example/2026/a.trec",
        "https://evil@runs.example.org/2026/a.trec",
        "http://runs.example.org/2026/a.trec",
        "//evil.example/2026/a.trec",
        "../secret/a.trec",
        "/2026/%2e%2e/secret/a.trec",
        "b.trec?token=1",
        "file:///etc/passwd",
        "/data/a.trec",
    ],
)
@pytest.mark.parametrize("header", ["Location", "URI"])
def test_a_redirect_elsewhere_is_refused_and_not_told(location, header):
    assert refused(location, header=header)


@contextmanager
def serving(target):
    """The port of a server on which `run.trec` leads to a target, and what it was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(302 if self.path.endswith("run.trec") else 200)
            self.send_header("Location", target)
            self.send_header("Content-Length", "19")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(b"q Q0 d 1 0.5 secret")

        do_HEAD = do_GET  # noqa: N815 http.server asks for it

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port, asked
        finally:
            server.shutdown()
            thread.join()


def test_a_run_of_an_allowed_host_is_not_fetched_from_where_it_leads(monkeypatch, tmp_path):
    pytest.importorskip("aiohttp", reason="opens http; of no extra")
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(server_files, "identity", lambda: "ada@example.org")
    with serving("") as (inner_port, asked), serving(f"http://127.0.0.1:{inner_port}/secret.trec") as (port, _):
        monkeypatch.setenv(settings.ALLOW_PATHS, json.dumps([f"http://127.0.0.1:{port}/"]))
        with pytest.raises(UsageError, match="cannot be read"):
            server_files.score_path(f"http://127.0.0.1:{port}/run.trec", "", print)
    assert asked == []
