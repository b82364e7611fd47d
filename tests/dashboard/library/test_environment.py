"""Folder, database and limits that the environment names."""

import os

import pytest
from libraries import FIRST, stored

from dashboard.library.store import Library
from metrics.errors import LibraryError


def test_the_environment_names_folder_database_and_limits(monkeypatch, tmp_path, url):
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", url)
    monkeypatch.setenv("TIESCOPE_MAX_LIBRARY_MB", "7")
    library = Library.open()
    library.keep(FIRST)
    assert library.most == 7_000_000
    assert len(stored(library)) == 2
    library.close()


def test_other_accounts_of_the_machine_cannot_read_the_library(monkeypatch, tmp_path):
    home = tmp_path / "new"
    monkeypatch.setenv("TIESCOPE_HOME", str(home))
    umask = os.umask(0)
    try:
        library = Library.open()
        library.keep(FIRST)
        modes = {path.name: path.stat().st_mode & 0o777 for path in [home, *home.iterdir()]}
        library.close()
    finally:
        os.umask(umask)
    names = {"library.db", "library.db-wal", "library.db-shm"}
    assert modes == dict.fromkeys(names, 0o600) | {"new": 0o700}


@pytest.mark.parametrize("limit", ["x", "-1", "1.5", "1e3"])
def test_a_limit_that_is_no_number_is_told(monkeypatch, limit):
    monkeypatch.setenv("TIESCOPE_MAX_UPLOAD_MB", limit)
    with pytest.raises(LibraryError, match=f"TIESCOPE_MAX_UPLOAD_MB is '{limit}'. Give a whole number"):
        Library.open()
