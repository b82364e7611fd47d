"""What is kept is the bytes that came, and is read as they were."""

import gc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from boards import QRELS, STRICT, board

from dashboard.library.boards import BoardSpec, Entry, make_board
from dashboard.library.schema import uploads
from dashboard.library.uploads import BLOCK, StoredFile, pack, unpack, uploaded_blocks
from metrics import FORMATS
from metrics.errors import LibraryError
from metrics.runs import File, read

FILES = sorted((Path(__file__).parents[2] / "runs" / "files").iterdir())
BY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@pytest.fixture
def keep():
    """Store a file, and find it again as a database would."""

    def again(file):
        frames = [pack(block) for block in uploaded_blocks(file)]
        return StoredFile(
            file.name,
            digest=file.sha256,
            uploaded_size=file.size,
            frames_of=lambda _: (frame for frame in frames),
        )

    return again


def bits(column):
    """Values, numbers as their bits: minus zero is not zero, and a missing number is itself."""
    values = column.to_pylist()
    numbers = any(isinstance(value, float) for value in values)
    return np.array(values, float).view("i8").tolist() if numbers else values


def description(source):
    """All that a source says."""
    ranks = source.origin.ranks()
    return (
        {name: bits(source.table[name]) for name in source.table.column_names},
        [str(kind) for kind in source.table.schema.types],
        *(source.format, dict(source.mapping), tuple(source.header), source.noted, source.kind, source.unused),
        *(source.tie_order, source.missing_score, None if ranks is None else ranks.to_pylist()),
        [(source.origin.line_of(row), source.origin.unit) for row in range(len(source.table))],
    )


@BY_FILE
def test_a_file_of_another_tool_comes_back_as_it_was_read(library, path):
    file = File(path.name, path.read_bytes())
    source = read(file)
    other_files = [File("run.trec", STRICT.encode()), File("judged.txt", QRELS.encode())]
    record = library.keep(make_board(BoardSpec.of([file, *other_files]), [source, *map(read, other_files)]))
    again = next(entry for entry in record.spec.entries if entry.file.sha256 == file.sha256)
    assert (again.file.name, again.file.size) == (path.name, len(file.data))
    assert b"".join(again.file.uploaded()) == file.data
    assert description(again.read()) == description(source)


def test_every_format_is_kept_by_a_test():
    formats = {read(File.open(path)).format for path in FILES}
    assert formats == {one.name for one in FORMATS} - {"parquet"}


def test_rows_of_the_database_are_zstd_of_4_mb_and_together_the_upload(library):
    size = 2 * BLOCK + 1
    lines = "".join(f"q,d{at:07},{at % 1000},1\n" for at in range(size // 16 + 1))
    large = board(large_csv=f"query_id,doc_id,score,relevance\n{lines}")
    (file,) = library.keep(large).spec.entries
    with library.database.reading() as connection:
        rows = connection.execute(uploads.select().order_by(uploads.c.position)).all()
    assert [row.position for row in rows] == [0, 1, 2]
    assert all(row.data.startswith(b"\x28\xb5\x2f\xfd") for row in rows)
    assert [len(unpack(row.data)) for row in rows[:-1]] == [BLOCK, BLOCK]
    assert sum(len(row.data) for row in rows) < large.files[0].size / 3
    stream = pa.input_stream(pa.BufferReader(b"".join(row.data for row in rows)), compression="zstd")
    assert stream.read() == b"".join(file.file.uploaded()) == large.files[0].data


def test_what_is_read_holds_no_bytes_of_its_file(keep):
    source = Entry(keep(File("held.trec", STRICT.encode()))).read()
    gc.collect()
    held = [one for one in gc.get_objects() if isinstance(one, StoredFile) and one.name == "held.trec"]
    assert not [one for one in held if one.data]
    assert [source.origin.line_of(row) for row in (0, 19)] == [1, 20]


def test_other_columns_can_be_chosen_of_what_is_kept(keep):
    file = File("t.csv", b"query_id,doc_id,score,second,kind\nq,d,1,2,x\nq,e,2,1,y\n")
    stored = keep(file)
    for choice in ({"score": "second"}, {"segment": "kind"}, {"doc_id": "kind"}, {"relevance": ""}):
        again = Entry(stored, tuple(choice.items())).read()
        assert description(again) == description(read(file, choice))


def test_a_file_that_changed_since_it_was_read_is_not_kept(library, tmp_path):
    path = tmp_path / "run.trec"
    path.write_text(STRICT)
    spec = BoardSpec.of([File.open(path), File("qrels.txt", QRELS.encode())])
    made = make_board(spec, [entry.read() for entry in spec.entries])
    assert made.spec.key
    path.write_text(STRICT.replace("q0", "q9"))
    with pytest.raises(LibraryError, match=r"run\.trec is not stored: it has changed since it was read"):
        library.keep(made)
    assert library.uploads() == []
