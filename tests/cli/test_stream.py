"""Files larger than memory: evaluated in blocks of whole queries, to the same values."""

import csv
import io
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from drawing import IDS, scored_frames
from hypothesis import given
from hypothesis import strategies as st
from runs.written import PACKED

from metrics import Evaluation, UsageError, evaluate, read_runs
from metrics.scale.stream import Stream

MEASURES = ["RR", "Hits@2", "nDCG@3", "DR@2"]
TIES = ["input", "expected", "optimistic", "random:3", "noise:0.25"]
OPTIONS = [option for name in MEASURES for option in ("-m", name)]
OPTIONS += [option for name in TIES for option in ("--ties", name)]
RUN = "".join(f"q{q} Q0 d{d} {d} {0.9 - d // 3 / 10} t\n" for q in range(40) for d in range(q % 7 + 1))
QRELS = "".join(f"q{q} 0 d{d} {d % 3}\n" for q in range(44) for d in (q % 4, q % 5 + 4))
FIELDS = [line.split() for line in RUN.splitlines()]
POLICIES = [[], ["--missing", "skip"], ["--empty", "skip", "--precision", "within:0.1"]]
POLICIES += [["--missing", "skip", "--empty", "skip"], ["--unjudged", "leave_out", "--missing", "skip"]]
HEADER = "query_id,doc_id,score,relevance\n"


def small_blocks(patch, rows=200):
    """Parse 64 bytes at once and make blocks of a few rows, so that ties lie across what is parsed."""
    patch.setattr("metrics.runs.formats.format.BLOCK_BYTES", rows)
    patch.setattr("metrics.runs.formats.delimited._ATTEMPTS", (64, 256, 2**20))
    patch.setattr("metrics.runs.formats.parquet._BATCH_ROWS", 3)
    patch.setattr("metrics.runs.formats.delimited.BLOCK", 64)


@pytest.fixture
def run_both_ways(call, monkeypatch):
    """What the command gives, and what it gives with --stream: exit code, output, messages."""

    def run(*arguments):
        in_memory = call("evaluate", *arguments)
        small_blocks(monkeypatch, 800)
        return in_memory, call("evaluate", *arguments, "--stream")

    return run


WAYS = {
    "TREC": RUN,
    "CRLF": RUN.replace("\n", "\r\n"),
    "tabs": RUN.replace(" ", "\t"),
    "wide spaces": RUN.replace(" Q0 ", "  Q0\t").replace("t\n", "t \n"),
    "comments": "# made by hand\n" + RUN.replace("q17 Q0 d0", "# in between\nq17 Q0 d0"),
    "no end": RUN.removesuffix("\n"),
    "blank lines": "\n\n" + RUN.replace("q3 Q0 d0", "\nq3 Q0 d0"),
    "scores like words": RUN.replace("0.8 t", "+0.8 t"),
    "long rows": RUN.replace("q31 Q0", "q31 " + "Q" * 500),
    "MS MARCO": "".join(f"{f[0]} {f[2]} {int(f[3]) + 1}\n" for f in FIELDS),
    "CSV": "query_id,doc_id,score\n" + "".join(f"{f[0]},{f[2]},{f[4]}\n" for f in FIELDS),
    "quoted CSV": "query_id,doc_id,score,doc_text\n"
    + "".join(f'{f[0]},{f[2]},{f[4]},"a, ""b""\nc"\n' for f in FIELDS),
    "TSV": "topic\tdocid\tsim\tother\n" + "".join(f"{f[0]}\t{f[2]}\t{f[4]}\t1\n" for f in FIELDS),
}


@pytest.mark.parametrize("run_format", WAYS)
def test_a_stream_prints_the_same_text_for_each_list(run_both_ways, write, run_format):
    run, qrels = write("run.dat", WAYS[run_format]), write("qrels.txt", QRELS)
    in_memory, streamed = run_both_ways(run, "--qrels", qrels, "--per-query", "--format", "csv", *OPTIONS)
    assert streamed[:2] == (0, in_memory[1])


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_packed_stream_prints_the_same_text_too(run_both_ways, write, kind):
    run, qrels = write("run.trec", PACKED[kind](RUN.encode())), write("qrels.txt", QRELS)
    in_memory, streamed = run_both_ways(run, "--qrels", qrels, "--per-query", "--format", "csv", *OPTIONS)
    assert streamed[:2] == (0, in_memory[1])


@pytest.mark.parametrize("policies", POLICIES, ids=" ".join)
@pytest.mark.parametrize("form", ["csv", "table", "markdown"])
def test_a_stream_prints_the_same_means_and_counts_under_every_policy(run_both_ways, write, policies, form):
    run, qrels = write("run.trec", RUN), write("qrels.txt", QRELS)
    in_memory, streamed = run_both_ways(run, "--qrels", qrels, "--format", form, *OPTIONS, *policies)
    assert streamed[2] == in_memory[2]
    assert "4 of 44 queries have no rows" in streamed[2]
    if form == "csv":
        assert rows(streamed[1], rounding=True) == rows(in_memory[1])
    else:
        assert streamed[1] == in_memory[1]


def rows(text, *, rounding=False):
    """Records of a CSV, values as numbers; to hold against others that may differ in the last bits."""
    records = list(csv.DictReader(io.StringIO(text)))
    return [
        row | {"value": pytest.approx(value, rel=1e-14) if rounding else value}
        for row in records
        for value in [float(row["value"])]
    ]


@st.composite
def files(draw):
    """Runs of several rerankers, and judgments: queries without rows, nothing relevant or no judgments.

    Scores are as `scored_frames` has them; the last value says what is done about those that are missing.
    """
    table, missing_score = draw(scored_frames())
    if draw(st.booleans()):
        table = table.sort_values("query_id", kind="stable")
    judged = draw(st.lists(st.sampled_from(["q1", "Q1", "7", "absent"]), unique=True, min_size=1))
    documents = draw(st.lists(IDS, unique=True, min_size=1, max_size=3)) + table["doc_id"].to_list()[:2]
    grade = st.sampled_from([0, 1, 2])
    lines = [(query, name, draw(grade)) for query in judged for name in dict.fromkeys(documents)]
    judgments = "query_id\tdoc_id\trelevance\n" + "".join("{}\t{}\t{}\n".format(*line) for line in lines)
    return table, judgments, missing_score


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@given(files(), st.booleans(), st.sampled_from([1, 100, 1000]), st.sampled_from(["zero", "skip"]))
def test_parts_of_a_stream_merge_into_the_evaluation_of_the_whole(
    kind, table_and_judgments, apart, size, policy
):
    table, judgments, missing_score = table_and_judgments
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        run, qrels = Path(folder, f"run.{kind}"), Path(folder, "qrels.tsv") if apart else None
        getattr(table, f"to_{kind}")(run, index=False)
        if qrels is not None:
            qrels.write_text(judgments, encoding="utf-8", newline="")
        runs = read_runs([run], qrels, missing_score=missing_score)
        ties = [*TIES, "noise"]
        evaluation = evaluate(runs, MEASURES, ties, missing=policy, empty=policy)
        small_blocks(patch, size)
        stream = Stream([run], qrels, missing_score=missing_score)
        parts = stream.parts(lambda runs: evaluate(runs, MEASURES, ties, missing=policy, empty=policy))
        merged = Evaluation.merge(*parts)
    assert set(merged.scores.index) == set(evaluation.scores.index)
    assert len(merged.scores) == len(evaluation.scores)
    aligned = merged.scores.reindex(evaluation.scores.index)
    is_integral = aligned.columns.get_level_values("ties") == "noise"
    exact, expected = aligned.loc[:, ~is_integral], evaluation.scores.loc[:, ~is_integral]
    assert exact.to_numpy().tobytes() == expected.to_numpy().tobytes()
    integrals = evaluation.scores.loc[:, is_integral].to_numpy()
    assert aligned.loc[:, is_integral].to_numpy() == pytest.approx(integrals, abs=1e-13)
    assert merged.policies.to_dict("index") == evaluation.policies.to_dict("index")
    assert stream.policies.to_dict("index") == evaluation.policies.to_dict("index")


def test_rerankers_may_take_turns_within_a_query(run_both_ways, write):
    lines = [f"{name},q{q},d{d},{d // 2},{d % 2}" for q in range(9) for d in range(4) for name in "AB"]
    path = write("runs.csv", "reranker,query_id,doc_id,score,relevance\n" + "\n".join(lines))
    in_memory, streamed = run_both_ways(path, *OPTIONS)
    assert streamed == in_memory


def test_several_files_are_streamed_one_after_the_other(run_both_ways, write):
    runs = [write("a.trec", RUN), write("b.trec.gz", PACKED["gzip"](RUN.replace("0.9", "0.8").encode()))]
    in_memory, streamed = run_both_ways(
        *runs, "--qrels", write("qrels.txt", QRELS), "--per-query", "--format", "csv"
    )
    assert streamed[:2] == (0, in_memory[1])


AGAIN = RUN + "q3 Q0 late 9 0.1 t\n"


@pytest.mark.parametrize("size", [1, 200, 10**6])
def test_a_query_that_comes_again_is_refused_with_file_line_and_query(call, write, monkeypatch, size):
    small_blocks(monkeypatch, size)
    run = write("run.trec", AGAIN)
    code, out, err = call("evaluate", run, "--qrels", write("qrels.txt", QRELS), "--stream")
    assert (code, out) == (2, "")
    end = 1 + max(at for at, fields in enumerate(FIELDS) if fields[0] == "q3")
    location = f"run.trec, line {len(FIELDS) + 1}"
    hint = "Sort the file by query, or read it whole (without --stream)."
    problem = f"rows of query 'q3' are not consecutive: they ended on line {end} and continue here"
    assert err == f"tiescope: {location}: {problem}. {hint}\n"


def test_a_query_of_a_reranker_that_comes_again_is_refused_with_both(call, write):
    text = "reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nB,q,a,1,1\nB,r,a,1,1\nA,q,b,1,1\n"
    run = write("runs.csv", text)
    _, _, err = call("evaluate", run, "--stream")
    assert "runs.csv, line 5: rows of query 'q' of 'A' are not consecutive: they ended on line 2" in err
    pd.read_csv(run).to_parquet(run.with_suffix(".parquet"))
    _, _, err = call("evaluate", run.with_suffix(".parquet"), "--stream")
    assert "runs.parquet, row 4: rows of query 'q' of 'A' are not consecutive: they ended on row 1" in err


def test_queries_of_equal_prints_are_told_apart(run_both_ways, write, monkeypatch):
    monkeypatch.setattr(
        "metrics.runs.formats.format.text_hashes", lambda texts: np.full(len(texts), 7, np.uint64)
    )
    in_memory, streamed = run_both_ways(write("run.trec", RUN), "--qrels", write("qrels.txt", QRELS))
    assert streamed == in_memory


def test_a_part_is_a_few_lists(write, monkeypatch):
    small_blocks(monkeypatch)
    stream = Stream([write("run.trec", RUN)], write("qrels.txt", QRELS))
    sizes = [part.policies["n_scored"].sum() for part in stream.parts(evaluate)]
    assert len(sizes) > 10
    assert max(sizes) < 6
    assert sum(sizes) == 44


BAD = {
    "a word as score": ("q30 Q0 d1 1 0.9 t", "q30 Q0 d1 1 high t"),
    "a field too few": ("q30 Q0 d1 1 0.9 t", "q30 Q0 d1 1 0.9"),
    "no UTF-8": ("q30 Q0 d1 1", "q30 Q0 \udcff 1"),
    "a document twice": ("q30 Q0 d1 ", "q30 Q0 d0 "),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("before", ["", "# first\n\n"])
def test_what_cannot_be_read_is_refused_in_the_same_words(run_both_ways, write, bad, before):
    text = (before + RUN.replace(*BAD[bad])).encode("utf-8", "surrogateescape")
    in_memory, streamed = run_both_ways(write("run.trec", text), "--qrels", write("qrels.txt", QRELS))
    assert in_memory[0] == streamed[0] == 2
    assert streamed == in_memory


@pytest.mark.parametrize(
    "text", ["q,a,1,1\nq,b,1\n", 'q,a,1,1\n"q,b,1,1\n' + "r,c,1,1\n" * 99, "q,,1,1\n", ",a,1,1\n"]
)
def test_a_table_that_cannot_be_read_is_refused_in_the_same_words(run_both_ways, write, text):
    in_memory, streamed = run_both_ways(write("run.csv", HEADER + text))
    assert in_memory[0] == 2
    assert streamed == in_memory


def test_repeated_documents_are_counted_over_all_blocks(run_both_ways, write):
    doubled = "".join(line + line.replace(" 0.9 ", " 2 ") for line in RUN.splitlines(keepends=True))
    arguments = [write("run.trec", doubled), "--qrels", write("qrels.txt", QRELS), "--repeated", "max"]
    in_memory, streamed = run_both_ways(*arguments)
    assert streamed[:2] == in_memory[:2]
    assert f"Repeated rows left out: {len(FIELDS)}," in in_memory[2]
    assert f"Total in the file: {len(FIELDS)}." in streamed[2]


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (RUN, "q1 0 d0 1\n", "39 of 40 queries have no judgments"),
        (RUN, "x 0 d0 1\n", "No query of the run is judged"),
        (RUN, "q1 0 x 1\n", "none is judged|contain no judged document"),
    ],
)
def test_what_is_left_out_is_said(run_both_ways, write, run, qrels, words):
    in_memory, streamed = run_both_ways(write("run.trec", run), "--qrels", write("qrels.txt", qrels))
    assert streamed[:2] == in_memory[:2]
    for stderr in (in_memory[2], streamed[2]):
        assert any(word in stderr for word in words.split("|"))


def test_queries_that_a_reranker_lacks_are_counted(run_both_ways, write):
    text = "reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nB,q,a,1,1\nB,r,a,1,1\n"
    in_memory, streamed = run_both_ways(write("runs.csv", text))
    assert streamed[1] == in_memory[1]
    assert "A: 1 of 2 queries has no rows" in streamed[2]


def test_a_table_without_a_row_misses_every_query(run_both_ways, write):
    in_memory, streamed = run_both_ways(
        write("run.csv", "query_id,doc_id,score\n"), "--qrels", write("qrels.txt", QRELS)
    )
    assert streamed == in_memory
    assert "44 of 44 queries have no rows" in streamed[2]


@pytest.mark.parametrize(
    ("name", "text", "options", "words"),
    [
        ("run.json", '[{"query_id": "q", "doc_id": "d", "score": 1, "relevance": 1}]', [], "read in blocks"),
        ("run.csv", HEADER + "q,a,1,1\n", ["--per-query"], "--format csv"),
        ("run.csv", HEADER + "q,a,1,1\n", ["--column", "query_id=nix"], "chosen columns: nix"),
        ("run.csv", HEADER + "q,a,1,1\n", ["-m", "Foo"], "'Foo'"),
        ("run.trec", RUN, [], "--qrels"),
        ("run.csv", "reranker,query_id,doc_id,score,relevance\n", [], "No run is given"),
    ],
)
def test_what_a_stream_cannot_do_is_refused_with_what_to_do(call, write, name, text, options, words):
    code, out, err = call("evaluate", write(name, text), "--stream", *options)
    assert (code, out) == (2, "")
    assert words in err


def test_two_runs_of_one_name_are_refused(write):
    runs = [write("a.trec", RUN), write("a.csv", "reranker,query_id,doc_id,score\na,q1,d1,1\n")]
    stream = Stream(runs, write("qrels.txt", QRELS))
    with pytest.raises(UsageError, match=r"a\.csv: there are two runs named 'a'"):
        list(stream.parts(evaluate))


def test_values_go_to_a_file_as_they_come(call, write, tmp_path):
    arguments = [
        "evaluate",
        write("run.csv", HEADER + "q,a,1,1\n"),
        "--stream",
        "--per-query",
        "--format",
        "csv",
    ]
    printed = call(*arguments)[1]
    assert call(*arguments, "-o", tmp_path / "out.csv")[:2] == (0, "")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == printed
    code, _, err = call(*arguments, "-o", tmp_path / "nowhere" / "out.csv")
    assert code == 2
    assert "cannot be written" in err


def test_a_stream_may_be_larger_than_the_limit(call, write, monkeypatch):
    run, qrels = write("run.trec", RUN), write("qrels.txt", QRELS)
    monkeypatch.setattr("metrics.runs.files.MAX_BYTES", len(RUN) - 1)
    assert "larger than" in call("evaluate", run, "--qrels", qrels)[2]
    assert call("evaluate", run, "--qrels", qrels, "--stream")[0] == 0


MEASURED = """
import sys
from dashboard import cli
from metrics.cli import output
from metrics.scale import dask

def most():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = most()
try:
    cli.main()
finally:
    print((most() - before) // 1024, file=sys.stderr)
"""
N_QUERIES, DEPTH = 30_000, 100


@pytest.fixture(scope="module")
def three_million_rows(tmp_path_factory):
    """A packed run and its judgments."""
    folder = tmp_path_factory.mktemp("large")
    run, qrels = folder / "run.trec.zst", folder / "qrels.txt"
    lines = b"".join(
        b"\1 Q0 a-long-name-of-a-document-%d-of-\1 %d %d t\n" % (d, d, -d // 5) for d in range(DEPTH)
    )
    with pa.CompressedOutputStream(str(run), "zstd") as stream:
        for query in range(N_QUERIES):
            stream.write(lines.replace(b"\1", b"%d" % query))
    qrels.write_text(
        "".join(f"{q} 0 a-long-name-of-a-document-{q % DEPTH}-of-{q} 1\n" for q in range(N_QUERIES))
    )
    return run, qrels


@pytest.mark.skipif(sys.platform != "linux", reason="the most memory is read from /proc")
@pytest.mark.parametrize("options", [[], ["--per-query"]], ids=["means", "lists"])
def test_three_million_rows_take_less_memory_than_a_third_of_their_file(three_million_rows, tmp_path, options):
    run, qrels = three_million_rows
    out = tmp_path / "out.csv"
    arguments = [
        "evaluate",
        run,
        "--qrels",
        qrels,
        "--stream",
        "--format",
        "csv",
        "-m",
        "RR",
        "-o",
        out,
        *options,
    ]
    command = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 our own
    assert int(process.stderr.splitlines()[-1]) < 80
    assert len(out.read_text().splitlines()) == 1 + 4 * (N_QUERIES if options else 1)
