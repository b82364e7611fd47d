import asyncio
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import uvicorn
from servers import TIESCOPE, free_port, running
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from dashboard.server.connections import TimedProtocol, allow_messages

PATIENCE = 60
SECONDS = 1_000
"""What a server of a test gives a request by its clock, which tests set forward."""
COMPLETE = b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n"
UNREAD = b"PUT /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
HALF = b"GET /page HTTP/1.1\r\nHost: localhost\r\nX-Half: "
HASTE = "from dashboard.server.connections import TimedProtocol as T; T.seconds = 2; "


async def _echo(websocket):
    await websocket.accept()
    async for text in websocket.iter_text():
        await websocket.send_text(text)


async def _echo_large(websocket):
    allow_messages(websocket.scope, 1_000)
    await _echo(websocket)


async def _read(request):
    READING.set()
    return PlainTextResponse(str(len(await request.body())))


async def _answer_unread(_):
    return PlainTextResponse("a page")


async def _stall(_):
    STALLED.set()
    GO_ON.wait(PATIENCE)
    return PlainTextResponse("at last")


READING, STALLED, GO_ON = threading.Event(), threading.Event(), threading.Event()
ROUTES = [
    Route("/stall", _stall),
    Route("/page", _answer_unread, methods=["GET", "PUT"]),
    Route("/read", _read, methods=["PUT"]),
    WebSocketRoute("/socket", _echo),
    WebSocketRoute("/large", _echo_large),
]


class Server(uvicorn.Server):
    """A small app, served in a thread, whose clock can be set forward once a request has begun."""

    def __init__(self, base, **limits):
        self._loop, self._changed = asyncio.new_event_loop(), threading.Condition()
        self._loop.time = lambda time=self._loop.time: time() + self._ahead
        self._ahead, self._waiting = 0, {}
        attributes = {"seconds": SECONDS, "_timers": self._waiting, "_follow": self._follow(base)}
        super().__init__(
            uvicorn.Config(
                Starlette(routes=ROUTES),
                http=type("Protocol", (base,), attributes | limits),
                ws="websockets-sansio",
                ws_ping_interval=None,
                log_level="critical",
            )
        )

    def _follow(self, base):
        def follow(connection):
            with self._changed:
                base._follow(connection)  # noqa: SLF001 tests wait for what it does
                self._changed.notify_all()

        return follow

    def run(self, sockets):
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self.serve(sockets))

    def wait(self, seconds):
        """Let time pass, once a connection waits."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting, PATIENCE)
        self._loop.call_soon_threadsafe(self._set_forward, seconds)

    def _set_forward(self, seconds):
        self._ahead += seconds


@contextmanager
def serving(base=TimedProtocol, **limits):
    """A port where a small app is served, and a function that lets time pass there."""
    server = Server(base, **limits)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield listener.getsockname()[1], server.wait
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def sending(port, data):
    """A connection that has sent so much."""
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
    connection.sendall(data)
    return connection


def answers(connection):
    """All that comes until the server closes the connection."""
    parts = []
    try:
        while part := connection.recv(2**16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("data", [b"", b"GET", HALF])
def test_a_connection_that_does_not_finish_a_request_is_closed(data):
    with serving() as (port, wait), sending(port, data) as connection:
        wait(SECONDS)
        assert answers(connection) == b""


@pytest.mark.parametrize(("first", "second"), [(COMPLETE, HALF), (UNREAD, b"half")])
def test_a_connection_that_was_answered_finishes_the_next_request_or_is_closed(first, second):
    with serving() as (port, wait), sending(port, first) as connection:
        answer = b""
        while not answer.endswith(b"a page"):
            part = connection.recv(2**16)
            assert part
            answer += part
        connection.sendall(second)
        wait(SECONDS)
        assert answers(connection) == b""


def test_headers_that_come_letter_by_letter_win_no_time():
    with serving() as (port, wait), sending(port, HALF) as connection:
        for _ in range(10):
            connection.sendall(b"x")
            wait(SECONDS / 10)
        assert answers(connection) == b""


def test_what_goes_on_is_not_closed():
    head = b"PUT /read HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"
    with (
        serving() as (port, wait),
        connect(f"ws://127.0.0.1:{port}/socket") as websocket,
        sending(port, head + b"half") as upload,
    ):
        assert READING.wait(PATIENCE)
        with sending(port, HALF) as half:
            wait(SECONDS)
            assert answers(half) == b""  # the others have been there for longer
        websocket.send("still here")
        assert websocket.recv(PATIENCE) == "still here"
        upload.sendall(b"-done")
        assert answers(upload).endswith(b"\r\n\r\n9")


@pytest.mark.parametrize(("path", "limit"), [("socket", 100), ("large", 1_000)])
def test_a_socket_takes_messages_up_to_its_limit_whole_or_in_parts(path, limit):
    with serving(max_message=100) as (port, _):
        for message in ("x" * (limit + 1), ["x" * limit, "x"]):
            with connect(f"ws://127.0.0.1:{port}/{path}") as websocket:
                websocket.send("x" * limit)
                assert websocket.recv(PATIENCE) == "x" * limit
                with pytest.raises(ConnectionClosedError, match="1009"):  # noqa: PT012 as it sends, or after
                    websocket.send(message)
                    websocket.recv(PATIENCE)


def test_of_many_that_wait_the_oldest_are_closed_and_who_asks_is_answered():
    with serving(max_waiting=20) as (port, _), ExitStack() as stack:
        waiting = [stack.enter_context(sending(port, HALF)) for _ in range(50)]
        assert httpx.get(f"http://127.0.0.1:{port}/page", timeout=PATIENCE).text == "a page"
        assert [answers(connection) for connection in waiting[:30]] == [b""] * 30
        waiting[-1].sendall(b"\r\nConnection: close\r\n\r\n")
        assert answers(waiting[-1]).endswith(b"a page")


def test_all_who_asked_while_the_server_was_busy_are_answered_however_many():
    with serving(max_waiting=20) as (port, _), ExitStack() as stack:
        stack.enter_context(sending(port, b"GET /stall HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert STALLED.wait(PATIENCE)
        asking = [stack.enter_context(sending(port, COMPLETE)) for _ in range(50)]
        GO_ON.set()
        assert {connection.recv(2**16)[:15] for connection in asking} == {b"HTTP/1.1 200 OK"}


def test_the_server_may_open_as_many_files_as_the_system_lets_it():
    code = (
        "import resource as r; from dashboard.server.connections import allow_many_files as a; "
        "r.setrlimit(r.RLIMIT_NOFILE, (100, 300)); a(); print(r.getrlimit(r.RLIMIT_NOFILE))"
    )
    command = [sys.executable, "-c", code]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 our own
    assert completed.stdout.strip() == "(300, 300)"


def test_an_answer_of_two_packets_does_not_wait_for_the_browser_in_between():
    class Recording(TimedProtocol):
        def connection_made(self, transport):
            super().connection_made(transport)
            options.append(
                transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            )

    options = []
    with serving(Recording) as (port, _):
        assert httpx.get(f"http://127.0.0.1:{port}/page", timeout=PATIENCE).text == "a page"
    assert [bool(option) for option in options] == [True]


def test_six_hundred_waiting_connections_do_not_block_others(tmp_path):
    port = free_port()
    health = f"http://127.0.0.1:{port}/_stcore/health"
    command = [TIESCOPE[0], HASTE + TIESCOPE[1], "app", "--port", str(port)]
    with running(command, health, tmp_path, {"TIESCOPE_HOME": str(tmp_path)}), ExitStack() as stack:
        waiting = [stack.enter_context(sending(port, HALF)) for _ in range(600)]
        assert httpx.get(health, timeout=PATIENCE).text == "ok"
        assert {answers(connection) for connection in waiting} == {b""}
