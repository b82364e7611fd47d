import asyncio
from types import SimpleNamespace

import pytest
from asgi import answer, finish
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dashboard.server import uploads
from dashboard.server.uploads import UploadGuard

MEGABYTE = 10**6


@pytest.fixture
def files(monkeypatch):
    """What the server holds; pages `mine` and `theirs` were let in, and a page may hold 2 MB, the server 3."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    instance = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(uploads.runtime, "get_instance", lambda: instance)
    monkeypatch.setattr(uploads, "is_admitted", {"mine", "theirs"}.__contains__)
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


def test_a_page_holds_no_more_than_its_limit_and_has_room_again_once_a_file_goes(put, files):
    assert put("mine", "a", MEGABYTE)[0] == 204
    status, message = put("mine", "b", MEGABYTE + 1)
    assert (status, list(files.file_storage["mine"])) == (413, ["a"])
    assert "2 MB of uploads a page (TIESCOPE_MAX_VISITOR_MB)" in message
    files.remove_file("mine", "a")
    assert put("mine", "b", MEGABYTE + 1)[0] == 204


def test_all_pages_together_hold_no_more_than_the_server_s_limit(put, files):
    assert put("mine", "a", 2 * MEGABYTE)[0] == 204
    status, message = put("theirs", "b", MEGABYTE + 1)
    assert (status, "TIESCOPE_MAX_VISITORS_MB" in message) == (413, True)
    files.remove_session_files("mine")
    assert put("theirs", "b", MEGABYTE + 1)[0] == 204


@pytest.mark.usefixtures("files")
def test_what_is_on_its_way_counts_as_held():
    async def never(*_):
        statuses.append("passed")
        await asyncio.Event().wait()

    async def upload_twice():
        guard = UploadGuard(never)
        scope = {
            "type": "http",
            "method": "PUT",
            "path": "/_stcore/upload_file/mine/a",
            "headers": [(b"content-length", b"1500000")],
        }

        async def send(message):
            statuses.append(message.get("status"))

        first = asyncio.create_task(guard(scope, None, send))
        await asyncio.sleep(0)
        await guard(scope, None, send)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second = asyncio.create_task(guard(scope, None, send))
        await asyncio.sleep(0)
        second.cancel()

    statuses = []
    finish(upload_twice())
    assert [status for status in statuses if status] == ["passed", 413, "passed"]


@pytest.mark.usefixtures("files")
def test_an_upload_that_breaks_off_is_no_error_and_gives_back_its_room():
    async def break_off(*_):
        raise ClientDisconnect

    guard = UploadGuard(break_off)
    for _ in range(3):
        scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/mine/a"}
        finish(guard(scope | {"headers": [(b"content-length", b"1500000")]}, None, None))


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
