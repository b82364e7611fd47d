import asyncio
from types import SimpleNamespace

import pytest
from asgi import answer, finish
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dashboard import streamlit_internals
from dashboard.server import uploads
from dashboard.server.uploads import UploadGuard

MEGABYTE = 10**6


@pytest.fixture
def files(monkeypatch):
    """What the server holds: pages of Ada, Bob and another; a visitor may hold 2 MB, the server 3."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    instance = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: instance)
    visitors = {"mine": "ada", "mine too": "ada", "theirs": "bob", "unnamed": "unnamed"}
    monkeypatch.setattr(uploads, "is_admitted", visitors.__contains__)
    monkeypatch.setattr(uploads, "visitor_of", visitors.get)
    monkeypatch.setenv("TIESCOPE_MAX_VISITOR_MB", "2")
    monkeypatch.setenv("TIESCOPE_MAX_VISITORS_MB", "3")
    return manager


@pytest.fixture
def put(files):
    """Upload so many bytes; returns the status and what is said."""

    async def keep(request):
        session, name = request.path_params["session"], request.path_params["name"]
        data = await request.body()
        files.add_file(session, UploadedFileRec(name, name, "text/plain", data))
        return PlainTextResponse("kept", 204)

    app = Starlette(routes=[Route("/_stcore/upload_file/{session}/{name}", keep, methods=["PUT"])])
    guard = UploadGuard(app)

    def put(session, name, n_bytes):
        response = answer(guard, "PUT", f"/_stcore/upload_file/{session}/{name}", b"x" * n_bytes)
        return response.status_code, response.text

    return put


def test_a_page_that_was_not_let_in_uploads_nothing(put, files):
    assert put("stranger", "a", 1)[0] == 403
    assert files.file_storage == {}


def test_a_visitor_holds_no_more_than_the_limit_and_has_room_again_once_a_file_goes(put, files):
    assert put("mine", "a", MEGABYTE)[0] == 204
    status, message = put("mine", "b", MEGABYTE + 1)
    assert (status, list(files.file_storage["mine"])) == (413, ["a"])
    assert "2 MB of uploads of one visitor (TIESCOPE_MAX_VISITOR_MB)" in message
    files.remove_file("mine", "a")
    assert put("mine", "b", MEGABYTE + 1)[0] == 204


def test_all_pages_of_somebody_who_signed_in_share_a_limit_also_once_one_is_closed(put, files, monkeypatch):
    assert put("mine", "a", 2 * MEGABYTE)[0] == 204
    monkeypatch.setattr(uploads, "visitor_of", lambda session: {"mine too": "ada"}.get(session, session))
    assert put("mine too", "b", 1)[0] == 413
    assert put("unnamed", "c", MEGABYTE // 2)[0] == 204
    files.remove_session_files("mine")
    assert put("mine too", "b", 1)[0] == 204


def test_all_pages_together_hold_no_more_than_the_server_s_limit(put, files):
    assert put("mine", "a", 2 * MEGABYTE)[0] == 204
    status, message = put("theirs", "b", MEGABYTE + 1)
    assert (status, "TIESCOPE_MAX_VISITORS_MB" in message) == (413, True)
    files.remove_session_files("mine")
    assert put("theirs", "b", MEGABYTE + 1)[0] == 204


class Upload:
    """An upload that goes on as its bytes come."""

    def __init__(self, guard, session, n_announced):
        self.chunks, self.sent = asyncio.Queue(), []
        headers = [(b"content-length", str(n_announced).encode())]
        scope = {
            "type": "http",
            "method": "PUT",
            "path": f"/_stcore/upload_file/{session}/a",
            "headers": headers,
        }
        self.task = asyncio.create_task(guard(scope, self.chunks.get, self.send))

    async def send(self, message):
        self.sent.append(message)

    async def arrive(self, n_bytes, *, more=True):
        self.chunks.put_nowait({"type": "http.request", "body": b"x" * n_bytes, "more_body": more})
        await settle()

    @property
    def status(self):
        """None while it goes on."""
        return self.sent[0]["status"] if self.sent else None

    @property
    def text(self):
        return self.sent[1]["body"].decode()


class Uploads:
    """Uploads to a guard that go on side by side."""

    def __init__(self, seconds=60):
        route = Route("/_stcore/upload_file/{session}/{name}", self.read, methods=["PUT"])
        self.guard = UploadGuard(Starlette(routes=[route]), seconds)
        self.n_read = 0

    async def read(self, request):
        async for chunk in request.stream():
            self.n_read += len(chunk)
        return PlainTextResponse("kept", 204)

    async def begin(self, session, n_announced):
        upload = Upload(self.guard, session, n_announced)
        await settle()
        return upload


async def settle():
    """Let all tasks go on as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.usefixtures("files")
def test_who_announces_much_and_sends_nothing_stops_nobody():
    async def upload():
        uploads = Uploads()
        stalled = [await uploads.begin(page, 1_900_000) for page in ("mine", "mine too", "theirs") * 5]
        other = await uploads.begin("unnamed", 2 * MEGABYTE)
        await other.arrive(2 * MEGABYTE, more=False)
        return {upload.status for upload in stalled}, other.status

    assert finish(upload()) == ({None}, 204)


@pytest.mark.usefixtures("files")
def test_arrived_bytes_count_and_an_upload_ends_at_the_limit():
    async def upload():
        uploads = Uploads()
        first, second = [await uploads.begin(page, 1_500_000) for page in ("mine", "mine too")]
        await first.arrive(MEGABYTE)
        await second.arrive(MEGABYTE)
        refused = await uploads.begin("mine", 1)
        assert (first.status, second.status, refused.status) == (None, None, 413)
        await second.arrive(1)
        assert (second.status, "TIESCOPE_MAX_VISITOR_MB" in second.text) == (413, True)
        other = await uploads.begin("theirs", 2 * MEGABYTE)
        await other.arrive(2 * MEGABYTE)
        await first.arrive(1)
        assert (first.status, "TIESCOPE_MAX_VISITORS_MB" in first.text) == (413, True)
        await other.arrive(0, more=False)
        return other.status, uploads.n_read

    assert finish(upload()) == (204, 4 * MEGABYTE)


@pytest.mark.usefixtures("files")
def test_an_upload_of_which_nothing_comes_ends_and_gives_back_its_room():
    async def upload():
        uploads = Uploads(seconds=0.01)
        stalled = await uploads.begin("mine", 1_500_000)
        await stalled.arrive(1_500_000)
        await stalled.task
        again = await uploads.begin("mine", 2 * MEGABYTE)
        return stalled.status, (b"connection", b"close") in stalled.sent[0]["headers"], again.status

    assert finish(upload()) == (408, True, None)


@pytest.mark.usefixtures("files")
def test_a_visitor_has_a_hundred_uploads_on_their_way_at_most():
    async def upload():
        uploads = Uploads()
        *_, hundredth, next_one = [await uploads.begin("mine", 1) for _ in range(101)]
        other = await uploads.begin("theirs", 1)
        return hundredth.status, next_one.status, other.status

    assert finish(upload()) == (None, 429, None)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("headers", [{}, {"transfer-encoding": "chunked"}, {"content-length": "-1"}])
def test_an_upload_of_unknown_length_is_refused_unread(headers):
    async def fail(*_):
        pytest.fail("it was read")

    async def upload():
        scope = {
            "type": "http",
            "method": "PUT",
            "path": "/_stcore/upload_file/mine/a",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        sent = []

        async def send(message):
            sent.append(message)

        await UploadGuard(fail)(scope, None, send)
        return sent[0]["status"]

    assert finish(upload()) == 411


@pytest.mark.parametrize(("is_sign_in_required", "status"), [(True, 404), (False, 200)])
def test_statistics_are_for_servers_without_sign_in(monkeypatch, is_sign_in_required, status):
    monkeypatch.setattr(uploads, "is_sign_in_required", lambda: is_sign_in_required)
    app = Starlette(routes=[Route("/_stcore/metrics", lambda _: PlainTextResponse("cache_memory_bytes 1"))])
    assert answer(UploadGuard(app), "GET", "/_stcore/metrics").status_code == status
