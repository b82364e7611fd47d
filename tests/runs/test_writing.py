"""A file is whole, or it is the old one."""

import errno
import os

import pytest

from metrics import UsageError
from metrics.runs import writing
from metrics.runs.writing import open_output, refuse_outputs


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, ValueError])
@pytest.mark.parametrize("old", ["old", None])
def test_whatever_ends_the_writing_leaves_what_was_there_alone(tmp_path, error, old):
    path = tmp_path / "out.csv"
    if old:
        path.write_text(old)
    with pytest.raises(error), open_output(path) as stream:  # noqa: PT012 it ends half-way
        stream.write(b"new" * 10_000)
        assert len(list(tmp_path.iterdir())) == 1 + bool(old)
        raise error
    assert [file.read_text() for file in tmp_path.iterdir()] == ([old] if old else [])


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end_leaves_what_was_there_alone(tmp_path, monkeypatch, step):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": ("pathlib.Path.replace",)}[step], fail)
    with pytest.raises(UsageError, match=r"out\.csv: cannot be written \(Input/output error\)"):  # noqa: SIM117
        with open_output(path) as stream:
            stream.write(b"new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_an_error_of_what_is_read_meanwhile_does_not_name_the_output(tmp_path):
    with pytest.raises(OSError, match=r"in\.parquet"), open_output(tmp_path / "out.parquet"):
        raise OSError(errno.EIO, "Input/output error", "in.parquet")
    assert not list(tmp_path.iterdir())


def test_nobody_else_reads_a_private_file_while_it_is_written(tmp_path):
    path = tmp_path / "private.csv"
    path.touch(0o600)
    with open_output(path) as stream:
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
        stream.write(b"new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_that_stdout_goes_to_is_added_to(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.write_bytes(b"before\n")
    with path.open("ab") as stdout:
        monkeypatch.setattr(writing, "_STDOUT", stdout.fileno())
        with open_output(path) as stream:
            stream.write(b"data\n")
    assert path.read_bytes() == b"before\ndata\n"


def test_a_link_is_followed(tmp_path):
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    with open_output(link) as stream:
        stream.write(b"followed")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"followed")


def test_every_output_is_looked_at_before_any_is_written(tmp_path):
    (tmp_path / "old.csv").touch()
    with pytest.raises(UsageError, match="does not exist"):
        refuse_outputs([tmp_path / "old.csv", tmp_path / "nowhere" / "new.csv"])


def test_inputs_are_looked_for_only_where_an_output_is_there(tmp_path):
    def inputs():
        raise AssertionError
        yield

    refuse_outputs([tmp_path / "new.csv"], inputs())
