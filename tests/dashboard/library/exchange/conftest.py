"""Board files leave nothing on the disk."""

import pytest


@pytest.fixture(autouse=True)
def disk(tmp_path, monkeypatch):
    """Where anything temporary would be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())
