import pytest
from asgi import finish
from streamlit.proto.BackMsg_pb2 import BackMsg

from dashboard.server.middleware import MessageGuard

OF_ALL = [
    {"clear_cache": True},
    {"set_run_on_save": True},
    {"load_git_info": True},
    {"debug_shutdown_runtime": True},
    {"backend_operation_request": {"install_skills": {}}},
    {"backend_operation_request": {"dismiss_skills_nudge": {}}},
]
OF_ONES_OWN = [
    {"rerun_script": {"query_string": "data=x"}},
    {"stop_script": True},
    {"app_heartbeat": True},
    {"file_urls_request": {"request_id": "a"}},
    {"backend_operation_request": {"deferred_file": {"file_id": "a"}}},
]


def passed(*messages):
    """What the app behind the guard receives of a socket."""
    given = iter([*messages, {"type": "websocket.disconnect"}])
    received = []

    async def app(_, receive, __):
        while (message := await receive())["type"] != "websocket.disconnect":
            received.append(message)

    async def receive():
        return next(given)

    finish(MessageGuard(app)({"type": "websocket"}, receive, None))
    return received


def sent(fields):
    return {"type": "websocket.receive", "bytes": BackMsg(**fields).SerializeToString()}


@pytest.mark.parametrize("fields", OF_ALL, ids=str)
def test_messages_about_all_visitors_or_the_server_are_dropped(fields):
    own = sent(OF_ONES_OWN[0])
    assert passed(sent(fields), own) == [own]


@pytest.mark.parametrize("fields", OF_ONES_OWN, ids=str)
def test_a_message_of_ones_own_page_passes(fields):
    assert passed(sent(fields)) == [sent(fields)]


@pytest.mark.parametrize("message", [{"bytes": b"\xff"}, {"text": "hello"}, {"bytes": b""}, {"bytes": None}])
def test_what_is_no_message_is_left_to_streamlit(message):
    assert passed({"type": "websocket.receive"} | message) == [{"type": "websocket.receive"} | message]
