"""What another tool writes is read as it was meant: rows, order, and scores to the last bit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.written import BOM, ENDS, PACKED, SAMPLE, WORDS, WRITERS, trec_qrels, trec_run, written

from metrics.runs import File, read

NUMBERS = ("score", "score_std", "relevance", "latency", "rank", "second")
FILES = Path(__file__).parent / "files"
BY_NAME = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)


def as_read(source):
    """{column: values}, numbers as their bits."""
    return bits(source.table.to_pydict())


def bits(table):
    return {
        name: np.array(values, float).view("i8").tolist()
        if name in NUMBERS
        else [value or None for value in values]
        for name, values in table.items()
    }


def expected(writer, table):
    return bits(writer.expected(table))


@BY_NAME
@settings(max_examples=20)
@given(data=st.data())
def test_a_table_reads_back_as_it_was_written(writer, data):
    table, file = data.draw(written(writer))
    source = read(File("file.dat", file))
    assert source.format == writer.format
    assert as_read(source) == expected(writer, table)
    assert source.table.column_names == list(writer.expected(table))
    assert writer.holds or not source.unused


@BY_NAME
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("mark", [b"", BOM], ids=["without a byte order mark", "with a byte order mark"])
def test_every_format_is_read_packed_from_disk_and_memory_and_with_either_line_end(
    writer, packed, end, mark, write
):
    data = PACKED[packed]((mark if writer.text else b"") + writer.sample(ENDS[end]))
    for file in (File("file.dat", data), File.open(write("upload.dat", data))):
        source = read(file)
        assert (source.format, as_read(source)) == (writer.format, expected(writer, SAMPLE))


@BY_NAME
@pytest.mark.parametrize("name", ["run", "run.json", "run.parquet", "run.csv.gz", "run.pdf"])
def test_every_format_is_recognised_whatever_the_file_is_called_and_without_a_last_line_end(writer, name):
    source = read(File(name, writer.sample().removesuffix(b"\n")))
    assert (source.format, as_read(source)) == (writer.format, expected(writer, SAMPLE))


@pytest.mark.parametrize("name", [writer.name for writer in WRITERS if writer.text])
@pytest.mark.parametrize("start", [b"\n\n", b" \r\n\t\n", b"\n" * 100_000], ids=["LF", "CRLF", "many"])
def test_every_text_may_begin_with_blank_lines(name, start):
    writer = next(writer for writer in WRITERS if writer.name == name)
    assert as_read(read(File("file.dat", start + writer.sample()))) == expected(writer, SAMPLE)


@pytest.mark.parametrize("start", ["[x", "{x", "#", '"', "'", "PAR1", "-", "\\"])
@pytest.mark.parametrize("mark", [" ", "\t"])
@given(end=WORDS)
def test_a_query_id_may_begin_like_another_format(start, mark, end):
    table = SAMPLE | {"query_id": [start + end] * 4}
    for lines, columns in ((trec_run, "score"), (trec_qrels, "relevance")):
        columns_read = read(File("file.dat", lines(table, mark=mark))).table.to_pydict()
        assert columns_read == {name: table[name] for name in ("query_id", "doc_id", columns)}


@pytest.mark.parametrize("name", ["query_id", "qid", "docid", "-ITEMID"])
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize("mark", [" ", "\t"])
def test_an_id_may_be_spelled_like_a_column(name, column, mark):
    table = SAMPLE | {column: [name, *SAMPLE[column][1:]]}
    for lines, number in ((trec_run, "score"), (trec_qrels, "relevance")):
        columns = read(File("file.dat", lines(table, mark=mark))).table.to_pydict()
        assert columns == {key: table[key] for key in ("query_id", "doc_id", number)}


ANSERINI = {
    "query_id": ["264014", "264014", "264014", "1030303", "1030303"],
    "doc_id": ["7120365", "0042871", "7120366", "8726436", "8726433"],
    "score": [14.582199, 14.5822, 13.0, 22.018499, 22.018499],
}
NESTED = {
    "query_id": ["q_1", "q_1", "q_1", "q_2", "q_2"],
    "doc_id": ["d_12", "d_25", "d_11", "d_25", "d_12"],
}
PANDAS = {
    "reranker": ["BM25", "BM25", "LLM"],
    "query_id": ["q/1", "q/1", "q/1"],
    "doc_id": ["https://a.example/é", 'say "b"', "c\nd"],
    "score": [12.25, 0.1, 1e-10],
    "relevance": [1.0, 0.0, 1.0],
    "latency": [0.25, 0.25, np.nan],
}
AS_OTHERS_WRITE = {
    "letor.txt": (
        "letor",
        {
            "query_id": ["10032", "10032", "10033"],
            "doc_id": ["GX029-35-5894638", "GX030-77-6315042", "GX140-98-13566007"],
            "relevance": [2.0, 0.0, 1.0],
        },
    ),
    "colbert.tsv": (
        "colbert",
        {
            "query_id": ["q1", "q1", "q1", "q2"],
            "doc_id": ["d1", "d2", "d3", "d4"],
            "score": [12.5, 12.5, 9.25, 8.0],
        },
    ),
    "rank-eval.json": ("rank-eval", {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [7.5, 7.5]}),
    "hits-by-query.json": (
        "json-hits",
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d4"], "score": [0.5, 0.5, 0.25]},
    ),
    "ranked-cells.csv": (
        "ranked-cells",
        {
            "query_id": ["q1", "q1", "q1", "q2", "q2", "q2", "q3", "q3"],
            "doc_id": ["d7", "d2", "d9", "d4", "d1", "d8", "d5", "d6"],
            "score": [-1.0, -2.0, -3.0, -1.0, -2.0, -3.0, -1.0, -2.0],
        },
    ),
    "anserini.trec": ("trec-run", ANSERINI),
    "terrier.res": (
        "trec-run",
        {
            "query_id": ["351", "351", "352"],
            "doc_id": ["FT944-5308", "FBIS4-41991", "LA012590-0115"],
            "score": [23.349751, 23.349751, -4.5e-05],
        },
    ),
    "nist.qrels": (
        "trec-qrels",
        {
            "query_id": ["401", "401", "401", "402"],
            "doc_id": ["FBIS3-10009", "FBIS3-10059", "LA121290-0007", "FT933-1201"],
            "relevance": [0, 2, -1, 1],
        },
    ),
    "msmarco-qrels.tsv": (
        "trec-qrels",
        {"query_id": ["300674", "125705"], "doc_id": ["7067032", "7067056"], "relevance": [1, 1]},
    ),
    "msmarco-run.tsv": (
        "ranked",
        {
            "query_id": ["188714", "188714", "188714", "1082792", "1082792"],
            "doc_id": ["1000052", "1000084", "1742", "4391433", "0391434"],
            "score": [-1, -2, -3, -1, -2],
        },
    ),
    "beir-qrels.tsv": (
        "beir-qrels",
        {
            "query_id": ["PLAIN-2", "PLAIN-2", "0", "3"],
            "doc_id": ["MED-2427", "MED-10", "31715818", "014717500"],
            "relevance": [2, 1, 1, 0],
        },
    ),
    "ranx-run.json": ("nested-json", NESTED | {"score": [0.9, 0.9, 1e-07, 2.0, -1.5]}),
    "ranx-qrels.json": ("nested-json", NESTED | {"relevance": [5, 3, 0, 6, 1]}),
    "pytrec_eval-run.json": ("nested-json", NESTED | {"score": [0.9, 0.9, 1e-07, 2.0, -1.5]}),
    "mteb-predictions.json": (
        "mteb-predictions",
        {
            "query_id": ["7", "7", "8", "9", "9"],
            "doc_id": ["d1", "d2", "d1", "d3", "d1"],
            "score": [0.9, 0.9, 0.25, 2, -1.5],
            "segment": ["en/dev", "en/dev", "en/test", "de/test", "de/test"],
            "reranker": ["org/rerank-s"] * 5,
        },
    ),
    "pandas-records.json": ("json", PANDAS),
    "pandas-lines.jsonl": ("jsonl", PANDAS),
    "pandas.csv": ("table", PANDAS),
    "excel.csv": (
        "table",
        {
            "query_id": ["Frage 1", "Frage 1", "007"],
            "doc_id": ["Größe; Maß", 'sagt "ja"', "zwei\nZeilen"],
            "score": [0.5, 0.5, 3],
            "relevance": [1, 0, 1],
        },
    ),
    "rankllm-answers.jsonl": (
        "listwise",
        {
            "query_id": ["264014"] * 3 + ["1030303"] * 2,
            "doc_id": ["7120365", "0042871", "7120366", "8726436", "8726433"],
            "score": [2, 1, 3, 0, 2],
            "query_text": ["what is bm25"] * 3 + ["why"] * 2,
            "doc_text": ["BM25 is a function.", "It scores.", "So does it.", "Because.", "Just so."],
            "candidates.score": [14.582199, 14.5822, 13.0, 22.018499, 22.018499],
        },
    ),
    "rankgpt-answers.json": (
        "listwise",
        {
            "query_id": ["7"] * 3,
            "doc_id": ["d7", "d2", "d4"],
            "score": [2, 0, 3],
            "rank": [1, 2, 3],
            "query_text": ["Which year?"] * 3,
            "doc_text": ["In 1991.", "In 1992.", "Nobody knows."],
            "hits.score": [9.5, 8.5, 7.5],
        },
    ),
    "preferences.csv": (
        "preferences",
        {"query_id": ["q1"] * 3, "doc_id": ["d7", "d2", "d4"], "score": [1.5, 0, 1.5]},
    ),
    "answers.tsv": (
        "answers",
        {"query_id": ["q1"] * 3, "doc_id": ["d7", "d2", "d4"], "score": [3, 2, 0]},
    ),
    "grade-probabilities.jsonl": (
        "grade-probabilities",
        {
            "query_id": ["q1"] * 2,
            "doc_id": ["d7", "d2"],
            "score": [0.75, 1.5],
            "score_std": [0.1875**0.5, 0.5],
            "argmax_grade": [1, 1],
        },
    ),
    "tracin.csv": (
        "table",
        {
            "query_id": ["(Drug:7, treats, Disease:2)"] * 3,
            "doc_id": [
                "(Drug:7, binds, Gene:1)",
                "(Gene:1, causes, Disease:2)",
                "(Drug:9, treats, Disease:2)",
            ],
            "score": [0.8134765625, 0.8134765625, -2.5e-05],
            "relevance": [1, 1, 0],
        },
    ),
    "ranks.csv": (
        "table",
        {
            "query_id": ["q1", "q1", "q2"],
            "doc_id": ["a", "b", "c"],
            "relevance": [0, 1, 1],
            "score": [-1, -2, -1],
        },
    ),
    "ranking-results.json": (
        "json",
        {
            "query_id": [query for query in ("q0", "q1", "q2") for _ in "abc"],
            "doc_id": list("abc") * 3,
            "score": [2, 2, 1] * 3,
            "relevance": [0, 1, 0] * 3,
        },
    ),
    "documents-by-query.json": (
        "json-lists",
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["d2", "d1", "d3"], "score": [-1, -2, -1]},
    ),
}


@pytest.mark.parametrize("name", AS_OTHERS_WRITE)
def test_a_file_of_another_tool_is_read_as_that_tool_means_it(name):
    source = read(File.open(FILES / name))
    format_name, table = AS_OTHERS_WRITE[name]
    assert (source.format, as_read(source)) == (format_name, bits(table))


def test_every_file_of_another_tool_is_read_by_a_test():
    assert {path.name for path in FILES.iterdir()} == set(AS_OTHERS_WRITE)


FRAME = pd.DataFrame(PANDAS)
STORED = {
    "pandas": FRAME,
    "pandas without an index": FRAME.reset_index(drop=True),
    "pandas with a filtered index": pd.concat([FRAME.assign(score=0), FRAME]).iloc[3:],
    "pandas with categories": FRAME.astype(dict.fromkeys(["reranker", "query_id", "doc_id"], "category")),
    "pandas with objects": FRAME.astype(dict.fromkeys(["reranker", "query_id", "doc_id"], object)),
    "pandas with truth values": FRAME.astype({"relevance": bool}),
    "pandas with whole grades": FRAME.astype({"relevance": "Int8"}),
}


@pytest.mark.parametrize("frame", STORED.values(), ids=STORED)
def test_a_frame_that_pandas_stores_as_parquet_reads_back(frame, tmp_path):
    frame.to_parquet(tmp_path / "run.parquet")
    source = read(File.open(tmp_path / "run.parquet"))
    assert (source.format, as_read(source)) == ("parquet", bits(PANDAS))


@pytest.mark.parametrize(
    "text", [pa.large_string(), pa.string_view(), pa.dictionary(pa.uint32(), pa.large_string())]
)
def test_a_table_that_polars_stores_as_parquet_reads_back(text, write):
    writer = next(writer for writer in WRITERS if writer.format == "parquet")
    data = writer.write(PANDAS, text=text, compression="zstd")
    assert as_read(read(File.open(write("run.parquet", data)))) == bits(PANDAS)
