import gzip

import pyarrow as pa
import pytest
from reading import QRELS, RUN, columns
from repository import SAMPLE
from runs.written import ENDS, PACKED

from metrics import Runs
from metrics.runs import File, read

READ_RUN = {
    "query_id": ["q1", "q1", "q2", "q1"],
    "doc_id": ["d2", "d1", "d1", "d3"],
    "score": [0.9, 0.9, -1.5, 2.0],
}
READ_QRELS = {
    "query_id": ["q1", "q2", "q1"],
    "doc_id": ["d1", "d1", "d3"],
    "relevance": [1.0, 0.0, 2.0],
}
WRITTEN = {
    "as is": lambda data: data,
    "with tabs": lambda data: data.replace(b" ", b"\t"),
    "with several spaces": lambda data: data.replace(b" ", b"   "),
    "with spaces and tabs mixed": lambda data: data.replace(b" ", b" \t "),
    "with spaces at both ends of a line": lambda data: b"  " + data.replace(b"\n", b" \n\t"),
    "with CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "with tabs and CRLF": lambda data: data.replace(b" ", b"\t").replace(b"\n", b"\r\n"),
    "with a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "with blank lines": lambda data: b"\n\n" + data.replace(b"\n", b"\n\n"),
    "with blank lines and CRLF": lambda data: b"\r\n" + data.replace(b"\n", b"\r\n \r\n"),
    "with lines of spaces": lambda data: b"  \n" + data.replace(b"\n", b"\n \t\n"),
    "without a last line end": lambda data: data.removesuffix(b"\n"),
    "after a page of blank lines": lambda data: b"\n" * 40 + data,
    "after a hundred thousand blank lines": lambda data: b"\n" * 100_000 + data,
    "packed by gzip": gzip.compress,
    "packed by gzip in two members": lambda data: (
        gzip.compress(data[:20], mtime=0) + gzip.compress(data[20:], mtime=0)
    ),
    "packed by zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "packed by zstd in two frames": lambda data: b"".join(
        pa.compress(part, codec="zstd", asbytes=True) for part in (data[:20], data[20:])
    ),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_run_is_read_however_it_is_written(written):
    assert columns(written(RUN)) == READ_RUN


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_judgments_are_read_however_they_are_written(written):
    assert columns(written(QRELS)) == READ_QRELS


@pytest.mark.parametrize("name", ["llm", "llm.csv", "llm.gz", "notes.pdf"])
def test_a_format_is_recognised_from_content_not_from_the_name(name):
    assert read(File(name, RUN)).format == "trec-run"
    assert read(File(name, QRELS)).format == "trec-qrels"


def test_a_large_run_is_read_across_blocks_in_file_order():
    lines = [f"q{n % 50} Q0 d{n} 1 {n % 7} t" for n in range(60_000)]
    table = columns("\n".join(lines).encode())
    assert table["doc_id"] == [f"d{n}" for n in range(60_000)]
    assert table["score"] == [n % 7 for n in range(60_000)]


def test_ids_stay_text():
    table = columns(b"007 Q0 1e5 1 1 t\n7 Q0 010 1 1 t\n7.0 Q0 true 1 1 t\n")
    assert table["query_id"] == ["007", "7", "7.0"]
    assert table["doc_id"] == ["1e5", "010", "true"]


def test_quotes_and_commas_in_a_trec_file_are_part_of_the_id():
    assert columns(b'q,1 Q0 "d1 1 1 t\nq,1 Q0 d"2" 2 1 t\n')["doc_id"] == ['"d1', 'd"2"']


def test_line_separators_of_unicode_do_not_end_a_line():
    assert columns("q Q0 a\u0085b 1 1 t\nq Q0 c\u2028d 2 1 t\n".encode())["doc_id"] == ["a\u0085b", "c\u2028d"]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("inf", float("inf")),
        ("-Infinity", -float("inf")),
        ("1e3", 1000),
        ("+.5", 0.5),
        ("0.1", 0.1),
        ("1e400", float("inf")),
        ("-7", -7),
    ],
)
def test_a_score_is_any_number_infinity_included(text, score):
    assert columns(f"q Q0 d 1 {text} t\n".encode())["score"] == [score]


def test_grades_may_be_negative_or_fractions():
    assert columns(b"q 0 a -2\nq 0 b 0.5\n")["relevance"] == [-2, 0.5]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("llm.trec.gz", "llm"),
        ("llm.run.zst", "llm"),
        ("LLM.TREC.GZ", "LLM"),
        ("bm25.v1.2.txt", "bm25.v1.2"),
        ("folder/llm.csv", "llm"),
        ("C:\\runs\\llm.tsv", "llm"),
        ("llm", "llm"),
    ],
)
def test_a_file_is_called_by_its_name_without_folder_and_known_endings(name, stem):
    assert File(name, b"").stem == stem


def test_a_file_from_disk_holds_the_bytes_on_disk():
    path = SAMPLE / "llm_rerankers.csv"
    from_disk, in_memory = File.open(path), File("llm_rerankers.csv", path.read_bytes())
    assert (from_disk.name, from_disk.sha256, from_disk.size) == (
        in_memory.name,
        in_memory.sha256,
        in_memory.size,
    )
    assert b"".join(from_disk.blocks()) == b"".join(in_memory.blocks()) == path.read_bytes()


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
    runs = Runs.from_sources(
        [read(File("llm.trec", RUN)), read(File("qrels", b"q1 1 d1 1\nq1 2 d1 2\n"))], "max"
    )
    assert runs.qrels.to_pylist() == [{"query_id": "q1", "doc_id": "d1", "relevance": 2.0}]
