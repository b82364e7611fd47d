"""A library and a memory of their own for the boards of a test."""

import pytest

from dashboard import cache
from dashboard.library.loaded import LoadedBoards
from dashboard.library.store import Library
from dashboard.settings import INSECURE


@pytest.fixture
def library(tmp_path, monkeypatch):
    """An empty library that every page of the test opens, of one owner; and memory without boards."""
    new_library, loaded = Library(tmp_path / "library"), LoadedBoards()
    monkeypatch.setenv(INSECURE, "1")
    monkeypatch.setattr(cache, "open_library", lambda: new_library)
    monkeypatch.setattr(cache, "loaded_boards", lambda: loaded)
    yield new_library
    new_library.close()
