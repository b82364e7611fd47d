"""A client that is no browser: speaks to a server as Streamlit's front end would, and asks what it likes."""

import urllib.error
import urllib.request
from contextlib import contextmanager

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

BOUNDARY = "-----tiescope"


@contextmanager
def opened_session(server):
    """The id of a session whose page has been drawn, and stays open."""
    address = server.replace("http", "ws") + "/_stcore/stream"
    with connect(address, subprotocols=["streamlit"], max_size=None) as socket:
        socket.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        session = None
        for data in socket:
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "new_session":
                session = message.new_session.initialize.session_id
            if message.WhichOneof("type") == "script_finished":
                break
        yield session


def status(server, path, method="GET", content=None, **headers):
    """The status a server answers with."""
    request = urllib.request.Request(server + path, content, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def upload_status(server, session, n_bytes):
    """The status of an upload, with the token that the server gives to anybody."""
    with urllib.request.urlopen(f"{server}/_stcore/health", timeout=20) as response:
        cookie = response.headers.get("Set-Cookie", "")
    token = cookie.partition("=")[2].partition(";")[0]
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"; filename="a.trec"\r\n\r\n'
    content = head.encode() + b"x" * n_bytes + f"\r\n--{BOUNDARY}--\r\n".encode()
    return status(
        server,
        f"/_stcore/upload_file/{session}/a",
        "PUT",
        content,
        **{
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Cookie": cookie.partition(";")[0],
            "X-Xsrftoken": token,
        },
    )
