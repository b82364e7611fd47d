"""Time for tests of what the library stores."""

from datetime import timedelta

import pytest

from dashboard.library.storage import board_methods, board_rows, upload_methods, upload_rows
from dashboard.library.storage.schema import now


@pytest.fixture
def calendar(monkeypatch):
    """Time that goes on by a minute whenever it is asked for."""
    start = now()
    times = (start + timedelta(minutes=at) for at in range(10_000))
    for module in (board_rows, board_methods, upload_rows, upload_methods):
        monkeypatch.setattr(module, "now", lambda: next(times))
