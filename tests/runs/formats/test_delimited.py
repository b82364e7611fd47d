"""TREC files and tables with a header; `test_round_trip` has what programs write."""

import gzip

import pyarrow as pa
import pytest
from reading import QRELS, RUN, TABLE, columns, refusal
from repository import SAMPLE
from runs.written import ENDS, PACKED

from metrics import Runs, UsageError, read_table
from metrics.runs import File, read

READ = {
    "query_id": ["q1", "q1", "q2", "q1"],
    "doc_id": ["d2", "d1", "d1", "d3"],
    "score": [0.9, 0.9, -1.5, 2.0],
    "relevance": [0.0, 1.0, 0.0, 2.0],
}
READ_QRELS = {"query_id": ["q1", "q2", "q1"], "doc_id": ["d1", "d1", "d3"], "relevance": [1.0, 0.0, 2.0]}
HEADER = b"query_id,doc_id,score,relevance\n"
WRITTEN = {
    "with spaces and tabs mixed": lambda data: data.replace(b" ", b" \t "),
    "with spaces at both ends of a line": lambda data: b"  " + data.replace(b"\n", b" \n\t"),
    "with tabs and CRLF": lambda data: data.replace(b" ", b"\t").replace(b"\n", b"\r\n"),
    "with lines of spaces": lambda data: b"\r\n" + data.replace(b"\n", b"\r\n \r\n"),
    "packed by gzip in two members": lambda data: (
        gzip.compress(data[:20], mtime=0) + gzip.compress(data[20:], mtime=0)
    ),
    "packed by zstd in two frames": lambda data: b"".join(
        pa.compress(part, codec="zstd", asbytes=True) for part in (data[:20], data[20:])
    ),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_runs_and_judgments_are_read_however_they_are_written(written):
    assert columns(written(RUN)) == {name: READ[name] for name in ("query_id", "doc_id", "score")}
    assert columns(written(QRELS)) == READ_QRELS


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("inf", float("inf")),
        ("-Infinity", -float("inf")),
        ("1e3", 1000),
        ("+.5", 0.5),
        ("1e400", float("inf")),
        ("1e-310", 1e-310),
        ("123456789.123456789", 123456789.123456789),
    ],
)
def test_a_score_is_any_number_infinity_included(text, score):
    assert columns(f"q Q0 d 1 {text} t\n".encode())["score"] == [score]
    assert columns(HEADER + f"q,a,{text},1\n".encode())["score"] == [score]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("LLM.TREC.GZ", "LLM"),
        ("llm.run.zst", "llm"),
        ("bm25.v1.2.txt", "bm25.v1.2"),
        ("folder/llm.csv", "llm"),
        ("C:\\runs\\llm.tsv", "llm"),
    ],
)
def test_a_file_is_called_by_its_name_without_folder_and_known_endings(name, stem):
    assert File(name, b"").stem == stem


def test_a_file_from_disk_has_the_hash_and_size_of_its_bytes():
    path = SAMPLE / "llm_rerankers.csv"
    from_disk, in_memory = File.open(path), File("llm_rerankers.csv", path.read_bytes())
    assert (from_disk.sha256, from_disk.size) == (in_memory.sha256, in_memory.size)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("end", ENDS)
def test_no_row_is_lost_wherever_what_is_read_at_once_ends(packed, end, monkeypatch):
    for module in ("files", "formats.delimited"):
        monkeypatch.setattr(f"metrics.runs.{module}.BLOCK", 64)
    for letters in range(1, 40):
        rows = [f"q Q0 d{row}{'x' * (row * letters % 23)} {row} 0.5 t" for row in range(40)]
        data = "".join(row + ENDS[end] for row in rows).encode()
        assert len(columns(PACKED[packed](data))["doc_id"]) == len(rows)


def test_the_second_field_of_judgments_is_not_read():
    sources = [read(File("llm.trec", RUN)), read(File("qrels", b"q1 1 d1 1\nq1 2 d1 2\n"))]
    runs = Runs.from_sources(sources, "max")
    assert runs.qrels.to_pylist() == [{"query_id": "q1", "doc_id": "d1", "relevance": 2.0}]


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff\r\n\r\n"])
def test_a_table_is_read_with_any_delimiter_line_end_and_start(mark, end, start):
    text = start + TABLE.decode().replace(",", mark).replace("\n", end)
    assert columns(text.encode()) == READ


def test_further_columns_of_numbers_are_kept_under_their_own_names():
    data = b"note,relevance,score,second,page,doc_id,query_id\nx,0,1,.5,1,a,q\ny,1,2,7,vi,b,q\n"
    source = read(File("t.csv", data))
    assert source.table["second"].to_pylist() == [0.5, 7]
    assert source.unused == ("note", "page")


@pytest.mark.parametrize("n_before", range(62, 66))
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_quoted_fields_keep_a_line_end_where_two_blocks_meet(monkeypatch, n_before, packed):
    for name in ("BLOCK", "_WHOLE_BLOCK"):
        monkeypatch.setattr(f"metrics.runs.formats.delimited.{name}", 64)
    start = HEADER + b'q,"'
    data = start + b"x" * (n_before - len(start)) + b'\r\nLF",2,0\r\nq,last,3,0\r\n'
    assert [text[-5:] for text in columns(packed(data))["doc_id"]] == ["x\r\nLF", "last"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [(b'q,a,3,fine\nq,b,2,"open\nq,c,1,fine\n', 3), (b'q,a,3,"one\nq,b,2,fine\nq,c,1,"two\nq,d,0,fine\n', 2)],
)
def test_a_quote_that_is_not_closed_is_refused_rather_than_rows_swallowed(rows, line):
    assert refusal(b"query_id,doc_id,score,title\n" + rows).line == line


def test_delimiters_and_lines_inside_quoted_column_names_do_not_end_them():
    assert columns(b'topic;docno;sim;"grade, 0, 1, 2, or 3"\n1;2;3;4\n')["score"] == [3]
    assert columns(b'query_id,doc_id,score,"two\nlines"\nq,a,1,x\n')["doc_id"] == ["a"]


def test_a_text_of_five_million_characters_beside_the_columns_is_read_past():
    data = b"query_id,doc_id,score,doc_text\nq,a,1," + b"x" * 5_000_000 + b"\nq,b,2,short\n"
    assert columns(data)["doc_id"] == ["a", "b"]


def test_grades_are_numbers_or_true_and_false_in_one_column():
    grades = {"true": 1, "False": 0, " YES ": 1, "no": 0, "t": 1, "F": 0, "2": 2, "0.5": 0.5, "-1": -1}
    rows = "".join(f"q,{place},1,{text}\n" for place, text in enumerate(grades))
    assert columns(HEADER + rows.encode())["relevance"] == [*grades.values()]


def test_a_header_alone_is_a_table_without_rows():
    assert columns(HEADER) == columns(HEADER.strip()) == {name: [] for name in READ}


@pytest.mark.parametrize("choice", [{"score": "nowhere"}, {"nothing": "score"}])
def test_a_chosen_column_that_does_not_exist_is_refused_by_name(write, choice):
    with pytest.raises(UsageError, match=r"nowhere|nothing"):
        read_table(write("t.csv", TABLE), columns=choice)
