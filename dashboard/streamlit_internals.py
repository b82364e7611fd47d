"""All uses of Streamlit's internals, tested with 1.67.

A test fails if Streamlit moves one of them. No other module imports from `streamlit.runtime` or
`streamlit.proto`.

- Socket messages (`BackMsg`, `ForwardMsg`): the server drops messages that affect other visitors and records
  which downloads a page offers. Streamlit requires no sign-in for them.
- Command: `tiescope app` serves as `streamlit run` does.
- Cookies: uploads and downloads check who is signed in. Streamlit checks only an ID.
- Sessions and uploads: limits per visitor, and the release of what ended sessions held.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlit import runtime
from streamlit.auth_util import get_cookie_with_chunks, get_origin_from_redirect_uri
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web import cli
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value, decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME

# What other modules import from Streamlit by way of this one.
__all__ = ["USER_COOKIE_NAME", "BackMsg", "ForwardMsg", "get_origin_from_redirect_uri"]


def run_app(script: Path, options: Sequence[str]) -> None:
    """Serve a script as `streamlit run` does."""
    cli.main(["run", str(script), *options])


def session_id() -> str | None:
    """Return the ID of the current session; None outside a session."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


def is_active_session(session: str) -> bool:
    """Return whether the page of a session is open."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def bytes_by_session() -> Counter[str]:
    """Return the bytes of each session's uploaded files."""
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)  # noqa: S101 the only one there is; tells the type checker
    return Counter(
        {
            session: sum(len(file.data) for file in list(files.values()))
            for session, files in list(manager.file_storage.items())
        }
    )


def forget_expired_sessions() -> None:
    """Drop expired sessions and all they hold.

    Streamlit only looks for them when a page opens or closes, and its event loop keeps a reference to the last
    of them.
    """
    for _, information in _closed_sessions()._cache.expire():  # type: ignore[attr-defined]  # noqa: SLF001 has no public equivalent
        session = information.session
        session.shutdown()
        session.session_state.clear()
        session.flush_browser_queue()
        session._fragment_storage.clear()  # noqa: SLF001 likewise


def forget_strangers() -> None:
    """Drop the closed sessions of visitors who were not signed in, each of which holds three open files."""
    storage = _closed_sessions()
    for information in storage.list():
        if information.session.matches_user_info({}):
            storage.delete(information.session.id)
            information.session.shutdown()


def _closed_sessions() -> MemorySessionStorage:
    """Return Streamlit's storage of closed sessions."""
    manager: Any = runtime.get_instance()._session_mgr  # noqa: SLF001 has no public equivalent
    storage: MemorySessionStorage = manager._session_storage  # noqa: SLF001 likewise
    return storage


def signed_claims(cookies: Mapping[str, str]) -> str | None:
    """Return the claims in the sign-in cookies as JSON; None unless this server signed them."""
    secret = get_cookie_secret()

    def read(name: str) -> bytes | None:
        return decode_signed_value(secret, name, cookies.get(name, "").encode("latin-1"))

    text = get_cookie_with_chunks(read, USER_COOKIE_NAME)
    return text.decode() if isinstance(text, bytes) else text


def browser_token(cookies: Mapping[str, str]) -> str | None:
    """Return the random XSRF token of a browser, which lives until the browser closes."""
    token, _ = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))
    return token.hex() if token else None
