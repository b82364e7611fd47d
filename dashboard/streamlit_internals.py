"""The places where the app needs what Streamlit keeps to itself; tried with 1.67.

Each has its reason here, and a test that fails where Streamlit has moved it. Nothing else in `dashboard` imports
from `streamlit.runtime`, `streamlit.web` or `streamlit.proto`.

- Messages of the socket (`BackMsg`, `ForwardMsg`): the server drops those that concern other visitors, and tells
  whose downloads a page offers. Streamlit asks for no sign-in there.
- Cookies: whose they are is asked for uploads and downloads, too, where Streamlit asks for an id alone.
- Sessions and uploads: limits a visitor, and what sessions that ended held is given back.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from streamlit import runtime
from streamlit.auth_util import get_cookie_with_chunks, get_origin_from_redirect_uri
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value, decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME

__all__ = [
    "USER_COOKIE_NAME",
    "BackMsg",
    "ForwardMsg",
    "browser_token",
    "bytes_by_session",
    "forget_expired_sessions",
    "forget_strangers",
    "get_origin_from_redirect_uri",
    "is_active_session",
    "session_id",
    "signed_claims",
]


def session_id() -> str | None:
    """Return the id of the session whose page is being drawn; None outside of one."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


def is_active_session(session: str) -> bool:
    """Return whether the page of a session is open."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def bytes_by_session() -> Counter[str]:
    """Return how much each session holds in files that it uploaded."""
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)  # noqa: S101 the only one there is; tells the type checker
    return Counter(
        {
            session: sum(len(file.data) for file in list(files.values()))
            for session, files in list(manager.file_storage.items())
        }
    )


def forget_expired_sessions() -> int:
    """Drop the sessions whose time is over, and all they hold; return how many.

    Streamlit looks for them when the next page opens or closes, and its loop keeps the last of them at hand until
    another visitor comes.
    """
    ended = _closed_sessions()._cache.expire()  # type: ignore[attr-defined]  # noqa: SLF001 there is no public way
    for _, information in ended:
        session = information.session
        session.shutdown()
        session.session_state.clear()
        session.flush_browser_queue()
        session._fragment_storage.clear()  # noqa: SLF001 likewise
    return len(ended)


def forget_strangers() -> None:
    """Drop the closed sessions of visitors who were not signed in: each holds three files, and nothing else."""
    storage = _closed_sessions()
    for information in storage.list():
        if information.session.matches_user_info({}):
            storage.delete(information.session.id)
            information.session.shutdown()


def _closed_sessions() -> MemorySessionStorage:
    """Return where Streamlit keeps the sessions of closed pages."""
    manager: Any = runtime.get_instance()._session_mgr  # noqa: SLF001 there is no public way
    storage: MemorySessionStorage = manager._session_storage  # noqa: SLF001 likewise
    return storage


def signed_claims(cookies: Mapping[str, str]) -> str | None:
    """Return what the cookies of a sign-in hold, as JSON; None unless this server signed them."""
    secret = get_cookie_secret()

    def read(name: str) -> bytes | None:
        return decode_signed_value(secret, name, cookies.get(name, "").encode("latin-1"))

    text = get_cookie_with_chunks(read, USER_COOKIE_NAME)
    return text.decode() if isinstance(text, bytes) else text


def browser_token(cookies: Mapping[str, str]) -> str | None:
    """Return the random token that a browser has for its forms, which it keeps until it is closed."""
    token, _ = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))
    return token.hex() if token else None
