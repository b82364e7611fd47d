import asyncio

import pytest
from asgi import answer, finish
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard.server import sign_ins
from dashboard.server.sign_ins import SignInGuard
from metrics.errors import LibraryError, UsageError

PERSONAL = ["/media/a.csv", "/_stcore/upload_file/session/a"]
PRIVATE = "private, no-store"


@pytest.fixture
def visit(monkeypatch):
    """Ask a guarded app of a server where people sign in; returns its answer."""

    def ask(method, path, is_required=lambda: True, claims=None):
        async def reply(_):
            answer = PlainTextResponse("here", media_type="text/html" if path == "/" else "text/plain")
            answer.set_cookie("_streamlit_user", "x", httponly=True)
            answer.set_cookie("kept", "y", secure=True)
            return answer

        monkeypatch.setattr(sign_ins, "is_sign_in_required", is_required)
        monkeypatch.setattr(sign_ins.admitted, "read_claims", lambda _: claims or {})
        app = Starlette(routes=[Route("/{path:path}", reply, methods=["GET", "PUT", "DELETE"])])
        return answer(SignInGuard(app), method, path)

    return ask


@pytest.mark.parametrize("path", ["/", *PERSONAL])
def test_pages_and_personal_files_are_kept_by_no_cache_wherever_they_come_from(visit, path):
    response = visit("GET", path, is_required=lambda: False)
    assert (response.status_code, response.headers["Cache-Control"]) == (200, PRIVATE)
    assert "Cache-Control" not in visit("GET", "/static/app.js").headers


@pytest.mark.parametrize(
    ("method", "path"), [("GET", PERSONAL[0]), ("PUT", PERSONAL[1]), ("DELETE", PERSONAL[1])]
)
def test_a_stranger_has_no_file_where_people_sign_in_or_that_cannot_be_told(visit, method, path):
    def fail():
        raise UsageError("The server's secrets file cannot be read.")

    for is_required in (lambda: True, fail):
        response = visit(method, path, is_required)
        assert response.status_code in (403, 404)
        assert response.headers["Cache-Control"] == PRIVATE


@pytest.mark.parametrize("is_https", [True, False])
def test_cookies_go_by_https_alone_where_people_sign_in_by_it(visit, monkeypatch, is_https):
    monkeypatch.setattr(sign_ins, "is_behind_https", lambda: is_https)
    user, kept = visit("GET", "/oauth2callback").headers.get_list("set-cookie")
    assert (user.count("; Secure"), "; HttpOnly" in user) == (int(is_https), True)
    assert kept.count("; Secure") == 1


def test_signing_out_without_the_library_is_reported_and_keeps_the_cookie(visit, monkeypatch):
    ended = []
    monkeypatch.setattr(sign_ins, "end_sign_in", ended.append)
    assert visit("GET", "/auth/logout", claims={"sub": "ada"}).status_code == 200
    assert visit("GET", "/auth/logout").status_code == 200
    assert ended == [{"sub": "ada"}]

    def fail(_):
        raise LibraryError("The library cannot be reached.")

    monkeypatch.setattr(sign_ins, "end_sign_in", fail)
    response = visit("GET", "/auth/logout", claims={"sub": "ada"})
    assert (response.status_code, "set-cookie" in response.headers) == (503, False)
    assert (
        response.text
        == "Signing out failed, so you are still signed in. The library cannot be reached. Then sign out again."
    )


LISTED = {"email": "ada@example.org"}


@pytest.mark.parametrize(
    ("claims", "hosts", "ended"),
    [
        ({}, "aaa", [0]),
        ({}, "abb", [1]),
        ({"email": "eve@example.org"}, "aaa", [0]),
        (LISTED, "aaa", []),
        (LISTED, "abca", [0]),
        (None, "aaab", []),
        (None, "baaaa", [1]),
    ],
)
def test_of_many_sockets_of_a_person_or_of_all_who_are_not_let_in_the_oldest_of_the_busiest_ends(
    monkeypatch, claims, hosts, ended
):
    async def follow_until_it_ends(_scope, receive, _send):
        opened.set()
        assert (await receive())["type"] == "websocket.disconnect"

    async def ended_sockets():
        guard, silence, sockets = SignInGuard(follow_until_it_ends), asyncio.Event(), []
        for host in hosts:
            opened.clear()
            scope = {"type": "websocket", "path": "/", "headers": [], "client": (host, 1)}
            sockets.append(asyncio.create_task(guard(scope, silence.wait, None)))
            await opened.wait()
        for _ in range(9):  # turns of the loop, which a socket needs to end
            await asyncio.sleep(0)
        places = [place for place, socket in enumerate(sockets) if socket.done()]
        for socket in sockets:
            socket.cancel()
        return places

    opened, forgotten = asyncio.Event(), []
    monkeypatch.setattr(sign_ins, "_MOST_STRANGERS", 2)
    monkeypatch.setattr(sign_ins, "_MOST_SOCKETS", 3)
    monkeypatch.setattr(sign_ins, "is_sign_in_required", lambda: claims is not None)
    monkeypatch.setattr(sign_ins.admitted, "read_claims", lambda _: claims)
    monkeypatch.setattr(sign_ins, "has_ended", lambda _: False)
    monkeypatch.setattr(
        sign_ins, "admitted_address", lambda claims: claims["email"] if claims == LISTED else None
    )
    monkeypatch.setattr(sign_ins, "forget_strangers", lambda: forgotten.append(1))
    assert finish(ended_sockets()) == ended
    assert len(forgotten) == (0 if claims in (LISTED, None) else 3)


@pytest.mark.parametrize("is_let_in", [True, False])
def test_a_page_gets_its_downloads_and_rows_only_while_admitted(monkeypatch, is_let_in):
    address = "ada@example.org" if is_let_in else None
    monkeypatch.setattr(sign_ins, "is_sign_in_required", lambda: True)
    monkeypatch.setattr(sign_ins.admitted, "read_claims", lambda _: {"email": "ada@example.org"})
    monkeypatch.setattr(sign_ins, "has_ended", lambda _: False)
    monkeypatch.setattr(sign_ins, "admitted_address", lambda _: address)
    monkeypatch.setattr(sign_ins, "forget_strangers", lambda: None)
    offered, received = ForwardMsg(), []
    offered.delta.new_element.download_button.deferred_file_id = "own"
    operations = [{"deferred_file": {"file_id": name}} for name in ("own", "another")]
    operations.append({"dataframe_chunk": {"source_id": "rows"}})
    messages = [BackMsg(backend_operation_request=operation) for operation in operations]
    requests = iter([BackMsg(rerun_script={"query_string": "q"}), *messages])

    async def app(_, receive, send):
        await send({"type": "websocket.send", "bytes": offered.SerializeToString()})
        received.extend([BackMsg.FromString((await receive())["bytes"]) for _ in range(4)])

    async def receive():
        return {"type": "websocket.receive", "bytes": next(requests).SerializeToString()}

    async def send(_):
        pass

    finish(SignInGuard(app)({"type": "websocket", "headers": []}, receive, send))
    rerun, *passed = received
    assert rerun.rerun_script.query_string == "q"
    passed = [message.backend_operation_request for message in passed]
    assert [request.WhichOneof("payload") for request in passed] == [*["deferred_file"] * 2, "dataframe_chunk"]
    ids = [
        passed[0].deferred_file.file_id,
        passed[1].deferred_file.file_id,
        passed[2].dataframe_chunk.source_id,
    ]
    assert ids == (["own", "", "rows"] if is_let_in else ["", "", ""])
