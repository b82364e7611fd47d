"""Folder, database and limits that the environment names."""

import pytest
from libraries import FIRST, on_disk

from dashboard.library.store import Library
from metrics.errors import LibraryError


def test_the_environment_names_folder_database_and_limits(monkeypatch, tmp_path, url):
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", url)
    monkeypatch.setenv("TIESCOPE_MAX_LIBRARY_MB", "7")
    library = Library.open()
    library.keep(FIRST)
    assert library.most == 7_000_000
    assert len(on_disk(tmp_path / "elsewhere")) == 2
    library.close()


@pytest.mark.parametrize("limit", ["x", "-1", "1.5", "1e3"])
def test_a_limit_that_is_no_number_is_told(monkeypatch, limit):
    monkeypatch.setenv("TIESCOPE_MAX_UPLOAD_MB", limit)
    with pytest.raises(LibraryError, match=f"TIESCOPE_MAX_UPLOAD_MB is '{limit}'. Give a whole number"):
        Library.open()
