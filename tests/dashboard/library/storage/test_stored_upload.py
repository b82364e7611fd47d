"""What comes back from Parquet is what was read from the file."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from boards import QRELS, STRICT
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from runs.written import PACKED, SAMPLE, WRITERS, as_parquet, written

from dashboard.library.boards import BoardSpec, make_board
from dashboard.library.entry import Entry
from dashboard.library.storage import stored_upload
from dashboard.library.storage.parquets import Parquets
from dashboard.library.storage.stored_upload import Profile, Reading
from metrics import FORMATS, evaluate
from metrics.errors import TieScopeError
from metrics.runs import File, read
from metrics.runs.columns import COLUMNS
from metrics.runs.findings import as_frame

FILES = sorted((Path(__file__).parents[3] / "runs" / "files").iterdir())
BY_NAME = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
MEASURES = ("RR", "nDCG@3", "AP")


@pytest.fixture(scope="module")
def keep(tmp_path_factory):
    """Keep a file as it was read, and find it again as another process would."""
    parquets = Parquets(tmp_path_factory.mktemp("kept"))

    def again(file, source):
        waiting = parquets.write(file, source)
        parquets.place(waiting, file.sha256)
        reading = Reading.from_json(json.loads(json.dumps(Reading.of(source).to_json())))
        return parquets.stored_upload(file.sha256, file.name, file.size, reading, waiting.digest)

    return again


def bits(column):
    """Values, numbers as their bits: minus zero is not zero, and a missing number is itself."""
    values = column.to_pylist()
    numbers = any(isinstance(value, float) for value in values)
    return np.array(values, float).view("i8").tolist() if numbers else values


def lines(source):
    return [(source.origin.line_of(row), source.origin.unit) for row in range(len(source.table))]


def description(source):
    """All that a source says, but for its ranks and the lines of its rows."""
    table = {name: bits(source.table[name]) for name in source.table.column_names}
    types = [str(kind) for kind in source.table.schema.types]
    metadata = (source.format, dict(source.mapping), tuple(source.header), source.noted, source.kind)
    return table, types, *metadata, source.unused


def ranks(source):
    rank_column = source.origin.ranks()
    return None if rank_column is None else rank_column.to_pylist()


def as_kept(keep, file, columns=()):
    """What was read of a file, and what is read of it once it is kept."""
    entry = Entry(file, tuple(columns))
    source = entry.read()
    return source, Entry(keep(file, source), entry.columns).read()


def outcome(source, file, columns=()):
    """What a board says, or why there is none."""
    try:
        board = make_board(BoardSpec((Entry(file, tuple(columns)),), "max"), [source])
        judged = board.runs.qrels is not None
        tables = [evaluate(board.runs, MEASURES).table] if judged else []
    except TieScopeError as error:
        return str(error)
    frames = [*tables, board.runs.findings.drop(columns=["line"])]
    return [frame.to_csv() for frame in frames], description(source)


def assert_alike(again, source):
    """Hold what comes back against what was read of a file."""
    assert description(again) == description(source)
    assert ranks(again) == ranks(source)
    places = lines(source)
    is_a_line_a_row = len(set(places)) == len(places)  # else several rows are made of one, and counted as rows
    assert lines(again) == (places if is_a_line_a_row else [(row + 1, "row") for row in range(len(places))])


BY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@BY_FILE
def test_a_file_of_another_tool_comes_back_as_it_was_read(library, path):
    file = File(path.name, path.read_bytes())
    source = read(file)
    other_files = [File("run.trec", STRICT.encode()), File("judged.txt", QRELS.encode())]
    record = library.keep(make_board(BoardSpec.of([file, *other_files]), [source, *map(read, other_files)]))
    again = next(entry for entry in record.spec.entries if entry.file.sha256 == file.sha256)
    assert again.file.name == path.name
    assert again.file.size == len(file.data)
    assert_alike(again.read(), source)


@BY_FILE
@pytest.mark.parametrize("packed", [packed for packed in PACKED if packed != "plain"])
def test_a_packed_file_of_another_tool_comes_back_as_it_was_read(keep, path, packed):
    file = File(path.name, PACKED[packed](path.read_bytes()))
    source, again = as_kept(keep, file)
    assert_alike(again, source)


def test_every_format_is_kept_by_a_test():
    formats = {read(File.open(path)).format for path in FILES} | {"parquet"}
    assert formats == {one.name for one in FORMATS}


@BY_NAME
@given(data=st.data())
def test_any_table_comes_back_as_it_was_read(keep, writer, data):
    _, content = data.draw(written(writer))
    file = File("file.dat", content)
    source, again = as_kept(keep, file)
    assert description(again) == description(source)
    assert ranks(again) == ranks(source)
    assert outcome(again, file) == outcome(source, file)


@BY_NAME
def test_ranks_that_are_only_compared_come_back(keep, writer):
    source, again = as_kept(keep, File("file.dat", writer.sample()))
    assert ranks(again) == ranks(source)


@pytest.mark.parametrize("score", ["inf", "-inf", "5e-324", "-0.0", "0.1", "1.7976931348623157e308", "1e22"])
def test_a_score_comes_back_to_the_last_bit(keep, score):
    source, again = as_kept(keep, File("run.trec", f"q Q0 d 1 {score} t\nq Q0 e 2 0.5 t\n".encode()))
    assert bits(again.table["score"]) == bits(source.table["score"])
    assert again.table["score"][0].as_py() == float(score)


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "from the first line": "q Q0 d 1 2 t\nq Q0 e 2 1 t\n",
        "below a header": "query_id,doc_id,score\nq,d,2\nq,e,1\n",
        "below blank lines": "\n\n\nq Q0 d 1 2 t\nq Q0 e 2 1 t\n",
        "below a comment": "# run\nq Q0 d 1 2 t\nq Q0 e 2 1 t\n",
    }.items(),
)
def test_rows_that_follow_one_by_one_come_back_with_their_lines(keep, name, text):
    source, again = as_kept(keep, File(name, text.encode()))
    assert lines(again) == lines(source)


def test_rows_that_do_not_follow_one_by_one_come_back_counted_as_rows(keep):
    source, again = as_kept(keep, File("t.csv", b'query_id,doc_id,score\n"q",d,2\n\n\nq,"e\nf",1\nq,g,0\n'))
    assert lines(source) == [(2, "line"), (5, "line"), (7, "line")]
    assert lines(again) == [(1, "row"), (2, "row"), (3, "row")]


# columns


TABLE = {
    "query_id": ["q1", "q1", "q2"],
    "doc_id": ["a", "b", "a"],
    "score": [0.5, 0.25, 1.0],
    "second": [1.0, 2.0, 3.5],
    "kind": ["x", "", "y é"],
    "answer": ["007", "x,y", "z"],
    "relevance": [1.0, 0.0, 2.0],
}
CHOICES = {
    "another score": {"score": "second"},
    "a text that was not read": {"segment": "kind"},
    "two texts that were not read": {"target_id": "answer", "query_text": "kind"},
    "ids that were not read": {"doc_id": "answer"},
    "numbers that were not read": {"latency": "second"},
    "no judgments": {"relevance": ""},
}
TABLES = {writer.name: writer for writer in WRITERS if writer.holds is None}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("mapping", CHOICES.values(), ids=CHOICES)
def test_other_columns_can_be_chosen_of_what_is_kept(keep, name, mapping):
    file = File("file.dat", TABLES[name].write(TABLE))
    before = keep(file, read(file))
    expected = read(file, mapping)
    assert description(before.read(mapping)) == description(expected)


def test_whole_numbers_can_be_chosen_as_names(keep):
    file = File("t.csv", b"query_id,doc_id,score,year\nq,d,1,2019\n")
    mapping = {"segment": "year"}
    assert description(keep(file, read(file)).read(mapping)) == description(read(file, mapping))


@pytest.mark.parametrize("name", TABLES)
def test_columns_that_were_chosen_stay_chosen(keep, name):
    columns = (("score", "second"), ("segment", "answer"))
    source, again = as_kept(keep, File("file.dat", TABLES[name].write(TABLE)), columns)
    assert description(again) == description(source)
    assert again.mapping["score"] == "second"


@pytest.mark.parametrize("wrong", [{"score": "nowhere"}, {"doc_id": ""}, {"score": "kind"}])
def test_columns_that_cannot_be_read_are_told_as_before(keep, wrong):
    file = File("t.csv", TABLES["CSV"].write(TABLE))
    with pytest.raises(TieScopeError) as expected:
        read(file, wrong)
    with pytest.raises(type(expected.value)) as caught:
        keep(file, read(file)).read(wrong)
    assert str(caught.value).split(":")[0].split(",")[0] == str(expected.value).split(":")[0].split(",")[0]


def test_ranks_read_as_scores_are_ranks_when_they_are_read_as_grades(keep):
    file = File("run.tsv", b"q\td\t1\nq\te\t2\n")
    mapping = {"relevance": "rank"}
    assert description(keep(file, read(file)).read(mapping))[0] == description(read(file, mapping))[0]


def test_all_columns_of_ours_are_kept(keep):
    names = [column.name for column in COLUMNS]
    row = ["m", "q", "d", "1.5", "0.1", "1", "t", "3", "0.25", "s", "why?", "because"]
    file = File("all.csv", (",".join(names) + "\n" + ",".join(row) + "\n").encode())
    source, again = as_kept(keep, file)
    assert description(again) == description(source)
    assert again.table.column_names == names


# the Parquet


def test_a_parquet_that_is_uploaded_is_not_packed_twice(keep):
    file = File("t.parquet", as_parquet(SAMPLE))
    with keep(file, read(file)).open_parquet() as stream:
        assert stream.read(4) == b"PAR1"


def test_a_kept_file_is_zstd(keep):
    file = File("run.trec", STRICT.encode())
    path = keep(file, read(file)).data
    meta = parquet.read_metadata(path).row_group(0)
    assert {meta.column(at).compression for at in range(meta.num_columns)} == {"ZSTD"}


def test_findings_come_back_word_for_word(keep):
    file = File("t.csv", b"query_id,doc_id,score,why\n1.0,d,2,text\n")
    source, again = as_kept(keep, file)
    assert len(source.noted) > 0
    assert as_frame(again.noted).equals(as_frame(source.noted))


def test_what_is_found_is_said_of_the_name_the_file_has_now(keep):
    file = File("t.csv", b"query_id,doc_id,score,why\nq,d,2,text\n")
    source = replace(keep(file, read(file)), name="new.csv").read({})
    assert [one.file for one in source.noted] == ["new.csv"]
    assert source.file == "new.csv"


# profiles


@pytest.mark.parametrize(
    ("scores", "filled"),
    {
        "equal": ((1, 1, 1), {12: 3}),
        "a bit apart": ((1, 1.0000000000000002), {0: 1, 23: 1}),
        "as far apart as can be": ((1.7e308, -1.7e308, 0), {0: 1, 12: 1, 23: 1}),
        "the least there is": ((5e-324, 0), {0: 1, 23: 1}),
        "infinite": (("inf", "-inf"), {}),
        "some infinite": (("inf", 1, 2), {0: 1, 23: 1}),
        "zero": ((0, "-0.0"), {12: 2}),
    }.values(),
)
def test_a_profile_counts_finite_scores_from_the_lowest_to_the_highest(scores, filled):
    rows = "".join(f"q Q0 d{at} 1 {score} t\n" for at, score in enumerate(scores))
    bars = Profile.of(read(File("run.trec", rows.encode()))).bars
    assert bars == tuple(filled.get(at, 0) for at in range(stored_upload.BARS))


def test_a_profile_tells_queries_depth_and_ties():
    text = "q Q0 a 1 1 t\nq Q0 b 2 1 t\nq Q0 c 3 0 t\nr Q0 a 1 1 t\n"
    profile = Profile.of(read(File("run.trec", text.encode())))
    assert (profile.queries, profile.depth, profile.tied) == (2, 3, 0.5)
    assert Profile.of(read(File("qrels.txt", QRELS.encode()))).tied is None
