"""Results of boards: kept while a page shows their board and a while after, forgotten then."""

import pickle
import time
from collections import deque
from collections.abc import Callable, Hashable
from functools import wraps
from hashlib import blake2b
from inspect import signature
from itertools import chain
from threading import Lock
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast

import streamlit as st

from dashboard.streamlit_internals import session_id


class Keyed(Protocol):
    """A board, or what is shown of one."""

    @property
    def key(self) -> Hashable:
        """What tells it from others: a text of a board; of what is shown, what has the board's as `key`."""


P = ParamSpec("P")
R = TypeVar("R")
KeyedT = TypeVar("KeyedT", bound=Keyed)

_SECONDS = 600
"""How long a board that a page left stays, for a visitor who comes back."""
_MOST_BYTES = 2**25
"""Bytes of boards that stay for who may come back; those of the page closed last stay, however many."""


class _Visit(NamedTuple):
    """What a page that was closed had shown.

    Attributes:
        end: when it was forgotten.
        keys: of the boards and of their files.
    """

    end: float
    keys: frozenset[str]


class BoardResults:
    """What is kept of each board, and which sessions use it."""

    def __init__(self) -> None:
        """Keep nothing."""
        self._forgetters: dict[str, dict[Callable[..., object], dict[tuple[Hashable, ...], None]]] = {}
        self._bytes: dict[str, int] = {}
        self._keys_by_session: dict[str, set[str]] = {}
        self._ended: deque[str] = (
            deque()
        )  # a session may end inside the garbage collector, which waits for no lock
        self._visits: list[_Visit] = []
        self._lock = Lock()

    def note(self, key: str, forget: Callable[..., object], *arguments: Hashable, max_entries: int = 1) -> None:
        """Have it noted that a session uses a board, and how something kept of it is forgotten.

        Args:
            key: of the board, or of a file of it.
            forget: forgets it.
            arguments: of that call.
            max_entries: how many results of such calls are kept at most; of older calls there is none.
        """
        with self._lock:
            calls = self._forgetters.setdefault(key, {}).setdefault(forget, {})
            calls.pop(arguments, None)
            calls[arguments] = None
            if len(calls) > max_entries:
                del calls[next(iter(calls))]
        session = session_id()
        if session is None:
            return
        keys = self._keys_by_session.get(session)
        if keys is None:
            keys = self._keys_by_session[session] = set()
            _await_end(session)
        keys.add(key)

    def weigh(self, key: str, n_bytes: int) -> None:
        """Say how large a board is."""
        self._bytes[key] = n_bytes

    def end(self, session_id: str) -> None:
        """Have it noted that a session ended."""
        self._ended.append(session_id)

    def release(self) -> int:
        """Forget what no session uses and none may come back for; return of how many boards and files."""
        with self._lock:
            now = time.monotonic()
            while self._ended:
                keys = self._keys_by_session.pop(self._ended.popleft(), set())
                self._visits.append(_Visit(now, frozenset(keys)))
            left = frozenset[str]().union(*(visit.keys for visit in self._visits))
            used = frozenset[str]().union(*map(frozenset, list(self._keys_by_session.values())))
            self._visits = self._remembered(now, used)
            released = left - used.union(*(visit.keys for visit in self._visits))
            forgetters = [self._forgetters.pop(key, {}) for key in released]
        for key in released:
            self._bytes.pop(key, None)
        for forget, calls in chain.from_iterable(of_key.items() for of_key in forgetters):
            for arguments in calls:
                forget(*arguments)
        return len(released)

    def _remembered(self, now: float, used: frozenset[str]) -> list[_Visit]:
        """Return the visits whose boards stay: the last, those that are not long ago nor too large with it."""
        remembered: list[_Visit] = []
        n_bytes, counted = 0, used
        for visit in reversed(self._visits):
            n_bytes += sum(self._bytes.get(key, 0) for key in visit.keys - counted)
            counted |= visit.keys
            if now - visit.end > _SECONDS or (remembered and n_bytes > _MOST_BYTES):
                break
            if visit.keys:
                remembered.insert(0, visit)
        return remembered


board_results = BoardResults()
"""Those of all boards of this server."""


@st.cache_resource(scope="session", show_spinner=False, on_release=board_results.end)
def _await_end(session_id: str) -> str:
    return session_id


def cached_for_board(
    *, show_spinner: str | bool, max_entries: int
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: a function's results are kept as by `st.cache_resource`, as long as their board is.

    The function takes the key of the board, or what has it as `key`, first, and all arguments by position.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = st.cache_resource(show_spinner=show_spinner, max_entries=max_entries)(function)
        is_hashed = [not name.startswith("_") for name in signature(function).parameters]

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            hashed = [value if is_key else None for value, is_key in zip(args, is_hashed, strict=False)]
            board_results.note(
                str(getattr(args[0], "key", args[0])), cached.clear, *hashed, max_entries=max_entries
            )
            return cached(*args, **kwargs)

        return call

    return decorate


def cached_by_key(
    *, show_spinner: str | bool, max_entries: int
) -> Callable[[Callable[Concatenate[KeyedT, P], R]], Callable[Concatenate[KeyedT, P], R]]:
    """Return a decorator: results of a function of a board, or of what is shown of it, are kept with it.

    They are told apart by the `key` of the first argument and by the others, all given by position, those whose
    names begin with _ left out.
    """

    def decorate(function: Callable[Concatenate[KeyedT, P], R]) -> Callable[Concatenate[KeyedT, P], R]:
        is_hashed = [not name.startswith("_") for name in signature(function).parameters][1:]

        def compute(
            key: Hashable,  # noqa: ARG001 this and the next are what Streamlit keys by
            hashed: tuple[Hashable, ...],  # noqa: ARG001
            _arguments: tuple[Any, ...],
        ) -> R:
            return cast("Callable[..., R]", function)(*_arguments)

        # Streamlit tells functions apart by these names
        compute.__module__, compute.__qualname__ = function.__module__, function.__qualname__
        kept = cached_for_board(show_spinner=show_spinner, max_entries=max_entries)(compute)

        @wraps(function)
        def call(keyed: KeyedT, /, *args: P.args, **_: P.kwargs) -> R:
            hashed = tuple(value for value, is_key in zip(args, is_hashed, strict=True) if is_key)
            return kept(keyed.key, hashed, (keyed, *args))

        return call

    return decorate


def content_digest(*values: object) -> str:
    """Return what tells these values from others, by what they hold; they can be pickled."""
    return blake2b(pickle.dumps(values, protocol=5), digest_size=16).hexdigest()
