"""Cached results of boards, forgotten once no session uses the board and another was closed since."""

import asyncio
import logging
import pickle
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from hashlib import blake2b
from inspect import signature
from operator import attrgetter
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from dashboard.streamlit_internals import forget_expired_sessions, session_id

_LOG = logging.getLogger(__name__)
_SECONDS = 5
"""Interval between looks for ended sessions."""

P = ParamSpec("P")
R = TypeVar("R")


class BoardResults:
    """Which results are cached for which board, and which boards open sessions use."""

    def __init__(self) -> None:
        self._calls: dict[Callable[..., object], dict[tuple[Hashable, ...], str]] = {}
        self._sessions: list[set[str]] = []
        self._ended: deque[frozenset[str]] = deque()
        self._last: frozenset[str] = frozenset()
        self._left: set[str] = set()
        self._lock = Lock()

    def note(
        self, key: str, forget: Callable[..., object], *arguments: Hashable, max_entries: int | None = None
    ) -> None:
        """Record that this session uses a board and that `forget(*arguments)` drops a result of it.

        `max_entries` is the number of results that the cache behind `forget` holds.
        """
        with self._lock:
            calls = self._calls.setdefault(forget, {})
            calls.pop(arguments, None)
            calls[arguments] = key
            if max_entries is not None and len(calls) > max_entries:
                del calls[next(iter(calls))]
            if session_id() is not None:
                boards = _session_boards()
                if not any(boards is session for session in self._sessions):
                    self._sessions.append(boards)
                boards.add(key)

    def leave(self, boards: set[str]) -> None:
        """Record that a session ended. The garbage collector may call this, so it takes no lock."""
        self._ended.append(frozenset(boards))
        boards.clear()

    def release(self) -> None:
        """Forget the results of boards whose last session ended.

        Those of the session that ended last stay, for a visitor who returns.
        """
        with self._lock:
            while self._ended:
                self._last = self._ended.popleft() or self._last
                self._left |= self._last
            self._sessions = [boards for boards in self._sessions if boards]
            released = self._left.difference(self._last, *self._sessions)
            self._left -= released
            unused = [
                (forget, arguments)
                for forget, calls in self._calls.items()
                for arguments, key in calls.items()
                if key in released
            ]
            for forget, arguments in unused:
                del self._calls[forget][arguments]
        for forget, arguments in unused:
            forget(*arguments)


board_results = BoardResults()
"""The results of all boards on this server."""


@st.cache_resource(scope="session", show_spinner=False, on_release=board_results.leave)
def _session_boards() -> set[str]:
    return set()


@dataclass(frozen=True)
class _Keyed:
    """The first argument of a cached function, hashed by its key."""

    key: Hashable
    value: Any = field(default=None, compare=False)


def cached_by_key(
    *, max_entries: int, show_spinner: str | bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return `st.cache_resource` for functions of a board, of a view of one, or of a key (a text or a tuple).

    The first argument is hashed by its `key`. All arguments are positional; those named `_...` are not hashed.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        is_hidden = [name.startswith("_") for name in signature(function).parameters][1:]

        @st.cache_resource(
            show_spinner=show_spinner, max_entries=max_entries, hash_funcs={_Keyed: attrgetter("key")}
        )
        @wraps(function)
        def compute(keyed: _Keyed, *args: Any) -> R:  # noqa: ANN401 those of the function
            return function(keyed.value, *args)  # type: ignore[call-arg]  # positional

        @wraps(function)
        def call(*args: P.args, **_: P.kwargs) -> R:
            value, *arguments = args
            key = value if isinstance(value, str | tuple) else value.key  # type: ignore[attr-defined]
            hashed = [None if hide else other for other, hide in zip(arguments, is_hidden, strict=True)]
            board_results.note(
                str(getattr(key, "key", key)), compute.clear, _Keyed(key), *hashed, max_entries=max_entries
            )
            return compute(_Keyed(key, value), *arguments)

        return call

    return decorate


def content_digest(*values: object) -> str:
    """Return a hash of the content of picklable values."""
    return blake2b(pickle.dumps(values, protocol=5), digest_size=16).hexdigest()


@asynccontextmanager
async def forget_ended_sessions(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Drop expired sessions while the server runs.

    Streamlit keeps a session for `server.disconnectedSessionTTL` seconds after its page closed, and only checks
    when another page opens or closes.
    """
    task = asyncio.create_task(forget_repeatedly())
    try:
        yield {}
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def forget_repeatedly() -> None:
    """Drop expired sessions at intervals; log the first failure."""
    is_logged = False
    while True:
        await asyncio.sleep(_SECONDS)
        try:
            forget_expired_sessions()
            board_results.release()
        except Exception:  # noqa: BLE001 whatever it is, the next look may succeed
            if not is_logged:
                _LOG.exception("The memory of closed sessions could not be freed. TieScope will try again.")
            is_logged = True
