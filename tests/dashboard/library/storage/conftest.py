"""Time for tests of what the library stores."""

from datetime import timedelta

import pytest

from dashboard.library import store
from dashboard.library.storage import rows


@pytest.fixture
def calendar(monkeypatch):
    """Time that goes on by a minute whenever it is asked for."""
    start = rows.now()
    times = (start + timedelta(minutes=at) for at in range(10_000))
    for module in (rows, store):
        monkeypatch.setattr(module, "now", lambda: next(times))
