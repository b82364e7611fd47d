"""What cannot be read is refused with the file, the line and the value."""

import gzip

import pyarrow as pa
import pytest
from reading import RUN, TABLE, refusal

from metrics import ReadError, TieScopeError, read_runs
from metrics.runs import File, Runs, read

HEADER = "query_id,doc_id,score,relevance\n"
SPACES = ["q Q0 d1 1 0.5 t", "q Q0 d2 2 {} t", "q Q0 d3 3 0.1 t"]
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (PNG, "PNG"),
        (b"%PDF-1.7\n1 0 obj", "PDF"),
        (b"PK\x03\x04rest of it", "ZIP or Excel"),
        (b"\x00\x01\x02\x03 binary", "binary"),
        (b"", "empty"),
        (b" \n\t\r\n ", "empty"),
        (b"\xef\xbb\xbf\n", "empty"),
        (gzip.compress(b"", mtime=0), "empty"),
        (TABLE.decode().encode("utf-16"), "UTF-16"),
        (gzip.compress(gzip.compress(RUN, mtime=0), mtime=0), "binary"),
        (b"q1,d1,0.5,1\nq1,d2,0.4,0\n", "q1, d1, 0.5, 1"),
        (b"q1 Q0 d1 1 0.5\nq1 Q0 d2 2 0.4\n", "5 fields"),
        (b"just some words\n", "3 fields"),
    ],
)
def test_what_is_no_run_at_all_is_refused_by_name(data, words):
    error = refusal(data, "upload.csv")
    assert error.file == "upload.csv"
    assert str(error).startswith("upload.csv")
    assert words in str(error)


PACKED = {"gzip": gzip.compress(RUN * 500, mtime=0), "zstd": pa.compress(RUN * 500, codec="zstd", asbytes=True)}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("cut", [4, 8, 20, 60])
def test_a_packed_file_cut_short_is_refused_as_damaged(kind, cut):
    error = refusal(PACKED[kind][:-cut], "run.gz")
    assert str(error).startswith(f"run.gz: damaged {kind}")


def test_a_gzip_file_with_a_changed_byte_is_refused_as_damaged():
    data = bytearray(PACKED["gzip"])
    data[-6] ^= 1
    assert "damaged gzip" in str(refusal(bytes(data)))


@pytest.mark.parametrize("value", ["high", "NaN", "-nan", "0,5", "1_000", "0x10", "None", "true"])
@pytest.mark.parametrize(("before", "line"), [("", 2), ("\n\n", 4), ("\r\n \r\n", 4), ("\ufeff", 2)])
def test_a_trec_score_that_is_no_number_is_named_with_its_line(value, before, line):
    end = "\r\n" if "\r" in before else "\n"
    error = refusal((before + end.join(SPACES)).format(value).encode(), "llm.trec")
    assert (error.file, error.line) == ("llm.trec", line)
    assert value.strip("-").lower() in str(error).lower()


FAULTY = [
    "q,b,high,1",
    "q,b,NaN,1",
    "q,b,,1",
    "q,b,1,maybe",
    ",b,1,1",
    "q,,1,1",
    "q,b,1",
    "q,b,1,1,1",
]


@pytest.mark.parametrize("row", FAULTY)
@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", 2),
        ("q,a,1,1\n", 3),
        ("\n\nq,a,1,1\n\n", 6),
        ('q,"two\nlines",1,1\n', 4),
        ('q,"three\n\nlines",1,1\n"q\nq",a,1,1\n\n', 8),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_faulty_row_is_named_with_its_line_whatever_stands_before_it(row, before, line, end):
    text = f"{HEADER}{before}{row}\nq,z,1,1\n".replace("\n", end)
    assert refusal(text.encode(), "t.csv").line == line


@pytest.mark.parametrize("start", ["\n", "\r\n\r\n", "\ufeff\n\n\n"])
def test_lines_before_the_header_count(start):
    lines = start.count("\n")
    assert refusal(f"{start}{HEADER}q,a,1,1\nq,b,x,1\n".encode()).line == lines + 3


def test_a_faulty_row_far_into_a_large_file_is_named_with_its_line():
    rows = "".join(f"q,d{n},1,1\n" for n in range(150_000))
    assert refusal(f"{HEADER}{rows}q,z,bad,1\n".encode()).line == 150_002
    assert refusal(f"{HEADER}{rows}q,z,1\n".encode()).line == 150_002


def test_a_faulty_row_after_a_very_long_text_is_named_with_its_line():
    text = "query_id,doc_id,score,doc_text\nq,a,1," + "x" * 200_000 + "\nq,b,bad,x\n"
    assert refusal(text.encode()).line == 3


@pytest.mark.parametrize("row", ["q Q0 d2 2 0.5", "q Q0 d2 2 0.5 my tag", "q"])
def test_a_trec_line_with_too_few_or_many_fields_is_named_with_its_line(row):
    text = "\n".join([SPACES[0], "", row, SPACES[2], "q Q0 d4 4 0.1 t"])
    error = refusal(text.encode(), "llm.trec")
    assert error.line == 3
    assert f"{len(row.split())} fields where 6 are expected" in str(error)


@pytest.mark.parametrize(("before", "line"), [("", 2), ("q,a,1,1\n", 3), ('q,"a\nb",1,1\n\n', 5)])
def test_text_that_is_not_utf8_is_named_with_its_line(before, line):
    error = refusal((HEADER + before + "q,caf\u00e9,1,1\n").encode("latin-1"), "t.csv")
    assert error.line == line
    assert "UTF-8" in str(error)


@pytest.mark.parametrize(
    ("header", "missing"),
    [("query_id,doc_id,note", "score"), ("query_id,score", "doc_id"), ("doc_id,score", "query_id")],
)
def test_a_table_that_lacks_a_column_says_which_and_what_it_has(header, missing):
    error = refusal(f"{header}\n1,2,3\n".encode(), "t.csv")
    assert error.line == 1
    assert f"no {missing} column among {', '.join(header.split(','))}" in str(error)


def test_two_columns_of_one_name_are_refused():
    error = refusal(b"query_id,doc_id,score,score\nq,a,1,2\n")
    assert "'score'" in str(error)


@pytest.mark.parametrize(
    ("data", "first", "second"),
    [
        (b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nr Q0 a 1 3 t\n\nq Q0 a 3 1 t\n", 1, 5),
        (HEADER.encode() + b'q,b,1,1\n"q",a,1,1\nr,a,1,1\nq,"a",2,1\n', 3, 5),
        (b"q 0 a 1\nq 0 b 0\nq 0 a 1\n", 1, 3),
    ],
    ids=["run", "table", "judgments"],
)
def test_a_document_twice_in_one_list_is_refused_with_both_lines(data, first, second):
    with pytest.raises(ReadError, match=rf"'a'.*'q'.*first on line {first}\b") as caught:
        Runs.from_sources([read(File("f", data))])
    assert caught.value.line == second


def test_a_document_of_two_lists_or_two_rerankers_is_no_repetition():
    data = b"reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nB,q,a,1,1\nA,r,a,1,1\n"
    assert Runs.from_sources([read(File("f", data))]).rerankers == ["A", "B"]


@pytest.mark.parametrize("name", ["nothing.trec", "."])
def test_a_missing_file_or_a_folder_is_refused_by_its_path(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(ReadError) as caught:
        read_runs([path])
    assert str(path) in str(caught.value)


def test_a_path_that_no_system_allows_is_refused():
    with pytest.raises(TieScopeError):
        read_runs(["a\0b.trec"])
